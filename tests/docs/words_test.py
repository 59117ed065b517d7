#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""words_test.py - what stands in backticks in a document exists in the tree.

Every Markdown file is read. What stands between backticks, outside of code blocks, is taken apart:

* a path exists, in the tree, beside the document, or below src/, include/ or tests/; a pattern matches something
* `hbg COMMAND` is a command, its options and parameters are those of the command and of its workloads; `make TARGET` is a target
* `--option` is an option of some command; `key=value` is a key of a device, a workload or the build, and a tensor
  where the value is a .npy file
* HBG_E_NAME is a status, hbg_name is declared in a public header, struct and enum names are defined
* any other word occurs somewhere in the sources; of commands of other programs only the paths are looked at

Beside that: docs/image-format.md has a row for each field of each wire struct, and no other rows.

Before the documents a row of wrong words is tried, each of which must be noticed, and a row of right ones.
"""
import fnmatch
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("HBG_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
SOURCES = (".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".in", ".txt", ".json", ".map")
EXTRA_SOURCES = ("Makefile", ".ci/run", ".gitignore")
SKIPPED = ("build", "build-", ".git", "out")
BUILT = ("build", "build/hbg", "build/test", "build/demo.trace", "libhbg.so", "libhbg.a", "hbg.pc", "build/hbg_*.deb")         # what a build or an installation makes
NEVER_A_PATH = ("in/out", "<stdatomic.h>", "string.h")                                  # of the C library
OUTSIDE = ("ctest", "cmake", "cc", "apt-get", "taskset", "ulimit")                      # commands of others: only their paths are looked at
PLACES = ("", "src", "include", "tests")
PATH = re.compile(r"^<?[\w.*+-]+(/[\w.*+-]+)+/?>?$|^<?[\w*-]+\.(c|h|cpp|md|py|sh|cmake|csv|txt|json)>?$")
WIRE = ("hbg__image_head", "hbg__task_record", "hbg__submission", "hbg_view_arg", "hbg_layout", "hbg__launch", "hbg__slot", "hbg__activation", "hbg__event_core", "hbg__event", "hbg__kernel_table", "hbg__kernel_entry")


class Tree:
    """All that a word can be compared with."""

    def __init__(self):
        self.files = []
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [f for f in folders if not f.startswith(SKIPPED)]
            self.files += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
        self.folders = {str(parent) for f in self.files for parent in pathlib.PurePath(f).parents}
        self.text = {f: (ROOT / f).read_text(errors="replace") for f in self.files if f.endswith(SOURCES) or f in EXTRA_SOURCES}
        self.text.pop("tests/docs/words_test.py", None)         # the wrong words below are not in the tree
        self.words = set(re.findall(r"\w+", "\n".join(self.text.values())))
        self.names = {os.path.basename(f) for f in self.files} | {os.path.basename(f) for f in self.folders}
        self.public = set(re.findall(r"\w+", self.all_of("include/")))
        self.statuses = {"HBG_" + name for name in re.findall(r"X\(-?\d+, (\w+),", self.text["include/hbg/status.h"])}
        self.options = set(re.findall(r'\{ "(--[a-z-]+)"', self.all_of("tools/", "bench/")))
        self.commands = set(re.findall(r'^    \{ "([a-z]+)", hbg__cmd_', self.text["tools/main.c"], re.M))
        self.targets = set(re.findall(r"^([a-z]+):", self.text["Makefile"], re.M))
        self.device_keys = set(re.findall(r'hbg__option_\w+\(set, "(\w+)"', self.text["src/platform/cpu/cpu.c"]))
        self.params = {name for text in (t for f, t in self.text.items() if fnmatch.fnmatch(f, "workloads/*/inputs.c"))
                       for name in re.findall(r'"(\w+)=[^"]*"', text)}
        self.tensors = set(re.findall(r'hbg_setup_tensor\(s, "(\w+)"', self.all_of("workloads/")))

    def all_of(self, *prefixes):
        return "\n".join(text for f, text in self.text.items() if f.startswith(prefixes))

    def has_path(self, path, document):
        path = path.strip("<>").rstrip("/").replace("...", "*").replace("NN", "*")
        if path in BUILT:
            return True
        for place in (os.path.dirname(document), *PLACES):
            full = os.path.normpath(os.path.join(place, path))
            if full in self.folders or full in self.files:
                return True
            if "*" in path and any(fnmatch.fnmatch(f, full.replace("**/", "*")) for f in self.files):
                return True
        if "/" not in path and any(fnmatch.fnmatch(f, f"{os.path.dirname(document)}/*/{path}") for f in self.files):
            return True                 # a file below the document's folder
        # the name of a test in ctest
        return any(f"tests/{path}_{kind}" in self.files for kind in ("test.c", "test.py", "test.sh", "model.cpp")) or f"{path}.c" in self.files


def check_assignment(tree, word):
    key = word.split("=")[0].removeprefix("-D").split(":")[-1]
    if word.endswith(".npy"):
        return None if key in tree.tensors else f"{key} is a tensor of no workload"
    known = key in tree.device_keys or key in tree.params or (key.startswith("HBG_") and key in tree.words) or key in ("key", "NAME")
    return None if known else f"{key} is a key of no device, workload or build"


def check_hbg(tree, words):
    if len(words) > 1 and words[1].strip("|") and not set(words[1].split("|")) <= tree.commands | {"COMMAND"}:
        return f"there is no command hbg {words[1]}"
    for word in words[2:]:
        if word.startswith("--"):
            if word not in tree.options:
                return f"there is no option {word}"
        elif "=" in word and check_assignment(tree, word.strip("[]")):
            return check_assignment(tree, word.strip("[]"))
    return None


def check_name(tree, word, tagged):
    """An identifier, perhaps of a family: hbg_setup_*. Tagged: behind struct or enum, which internal headers define as well."""
    bare = re.sub(r"\(\)?$|\(\.\.\)$", "", word)
    family = bare.endswith("*")
    found = (lambda names: any(n.startswith(bare[:-1]) for n in names)) if family else (lambda names: bare in names)
    if bare.startswith("HBG_E_") or bare == "HBG_TIMEOUT":
        return None if found(tree.statuses) else f"{bare} is no status"
    if bare.startswith("hbg_") and not bare.startswith("hbg__") and not tagged:
        return None if found(tree.public) else f"no public header declares {bare}"
    return None if found(tree.words) else f"no source has the word {bare}"


def check(tree, span, document):
    """None, or what is wrong with the words between two backticks."""
    words = span.split()
    if not words or span in NEVER_A_PATH or not re.search(r"[A-Za-z_]", span):
        return None
    if words[0] == "hbg" or words[0].endswith("/hbg"):
        return check_hbg(tree, words)
    if words[0] == "make" and len(words) > 1:
        return None if words[1] in tree.targets else f"there is no target {words[1]}"
    if len(words) == 1 and PATH.match(span):
        return None if tree.has_path(span, document) else f"there is no {span}"
    for word in words:
        if re.match(r"^--[a-z]+$", word) and len(words) == 1:
            if word not in tree.options:
                return f"there is no option {word}"
        elif re.match(r"^[\w:.-]+=[\w.,|]*$", word) and not word.startswith("--"):
            wrong = check_assignment(tree, word)
            if wrong:
                return wrong
        elif PATH.match(word.strip(",;")):
            if not tree.has_path(word.strip(",;"), document):
                return f"there is no {word}"
        else:
            for name in re.findall(r"[A-Za-z_]\w*\*?(?:\(\.?\.?\))?", word):
                wrong = None if name in tree.names or words[0] in OUTSIDE else check_name(tree, name, words[0] in ("struct", "enum"))
                if wrong:
                    return wrong
    return None


def spans(text):
    """(line, words) of everything between backticks outside of code blocks."""
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"(?<=\n\n)(?:(?:    .*)?\n)+", lambda m: "\n" * m.group().count("\n"), text)
    for found in re.finditer(r"``(.+?)``|`([^`]+)`", text):
        yield text.count("\n", 0, found.start()) + 1, " ".join((found.group(1) or found.group(2)).split())


def fields_of(tree, name):
    text = re.sub(r"/\*.*?\*/", "", tree.all_of("include/hbg/kernel.h", "src/image/layout.h", "src/core/kernel_table.h", "src/trace/event.h"), flags=re.S)
    body = re.search(r"^struct %s \{(.*?)\};" % name, text, re.S | re.M).group(1)
    parts = [part.strip() for declaration in body.split(";") for part in declaration.split(",") if part.strip()]
    return [re.search(r"(\w+)(?:\[.*?\])?$", part).group(1) for part in parts]


def check_fields(tree, text):
    """Rows of docs/image-format.md against the structs: a list of what is wrong."""
    wrong = []
    sections = re.split(r"^### ", text, flags=re.M)[1:]
    for name in WIRE:
        section = next((s for s in sections if re.search(r"\b%s\b" % name, s.split("\n")[0])), None)
        if section is None:
            wrong.append(f"struct {name} has no section")
            continue
        rows = re.findall(r"^\| (\w+) \|", section, re.M)
        structs = [other for other in WIRE if re.search(r"\b%s\b" % other, section.split("\n")[0])]
        known = {field for other in structs for field in fields_of(tree, other)}
        wrong += [f"struct {name}: no row for {field}" for field in fields_of(tree, name) if field not in rows]
        wrong += [f"struct {name}: there is no field {row}" for row in rows if row not in known | {"field"}]
    return wrong


WRONG = ("src/graph/nowhere.c", "docs/*.nothing", "hbg frobnicate", "hbg run gp --nothing", "hbg run gp tiles=3", "hbg run gp nothing=n.npy", "make nothing", "--nothing",
         "HBG_E_NOTHING", "hbg_nothing", "hbg_nothing()", "hbg__nothing", "struct hbg_nothing", "cpu:nothings=4", "nothings_at_all",
         "tests/nothing_test.c", "hbg_nothing_*", "HBG_NOTHING_AT_ALL", "unit/graph/nothing")
RIGHT = ("src/graph/submit.c", "src/**/*.c", "hbg run gp --verify", "hbg run gp tile=64", "hbg run matmul a=a.npy --out-npy c=c.npy", "make test", "--verify", "HBG_E_REGION", "hbg_submit",
         "hbg_run_sync()", "hbg__append", "struct hbg_region", "cpu:memory=discrete", "programs_registered", "unit/graph/view", "hbg_setup_*",
         "<hbg/hbg.h>", "HBG_VERIFY_REPLAY", "build/hbg", "-DHBG_BUILD_TESTS=OFF")


def try_checks(tree):
    missed = [span for span in WRONG if check(tree, span, "README.md") is None]
    refused = [f"{span} ({check(tree, span, 'README.md')})" for span in RIGHT if check(tree, span, "README.md")]
    if missed or refused:
        sys.exit(f"wrong words that were not noticed: {missed}; right words that were refused: {refused}")
    if list(spans("a `b\nc` d\n\n    `no`\n\n```\n`no`\n```\n`e`\n")) != [(1, "b c"), (9, "e")]:
        sys.exit("words between backticks are not found as they should be")
    format_text = (ROOT / "docs/image-format.md").read_text()
    without = format_text.replace("| epoch |", "| epoche |", 1)
    if without == format_text or len(check_fields(tree, without)) != 2:
        sys.exit("a field that was renamed in docs/image-format.md was not noticed")


def main():
    tree = Tree()
    try_checks(tree)
    wrong = [f"docs/image-format.md: {sentence}" for sentence in check_fields(tree, (ROOT / "docs/image-format.md").read_text())]
    count = 0
    for document in sorted(f for f in tree.files if f.endswith(".md")):
        for line, span in spans((ROOT / document).read_text()):
            count += 1
            problem = check(tree, span, document)
            if problem:
                wrong.append(f"{document}:{line}: `{span}`: {problem}")
    print(f"{count} words and phrases in documents")
    if wrong:
        sys.exit("\n".join(wrong))


main()
