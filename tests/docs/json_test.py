#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/json.md has every key that the commands write, with its type, and none that no command writes.

The commands are run, on small cases chosen so that each key is written. Before that changed tables are tried, which must be noticed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HBG, SOURCE = os.environ["HBG"], pathlib.Path(os.environ["HBG_SOURCE"])
KIND = {"integer": int, "number": (int, float), "string": str, "truth": bool, "list": list, "object": dict, "null": type(None)}
NOT_HERE = {                            # what needs OpenBLAS, a program of one's own or a build that misses
    "hbg bench --json": r".*\.of_peak",
    "hbg trace --json": r"user\[\]\..*",
    "hbg run --json": r"explain\.(built_again|bodies_missed_first)\[\]\..*",
}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(text):
    """{heading: {path: type}} with the shapes in capitals put in."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        rows, shape = [], ""
        for line in section.splitlines():
            begins = re.match(r"([A-Z]{2,})[:;]", line)
            shape = begins[1] + "." if begins else shape
            if not line.startswith("| `"):
                continue
            names, kind, _, meaning = cells(line)
            first = None
            for name in re.findall(r"`([^`]+)`", names):
                first = first or shape + name
                rows.append((first.rpartition(".")[0] + name if name.startswith(".") else shape + name, kind, meaning))
        own, shapes = {}, {}
        for path, kind, meaning in rows:
            shape = re.match(r"([A-Z]+)(\..+)", path)
            if shape:
                shapes.setdefault(shape[1], {})[shape[2]] = kind
        for path, kind, meaning in rows:
            if re.match(r"[A-Z]+\.", path):
                continue
            word = re.match(r"[A-Z]{2,}\b", meaning if kind == "list" else kind)
            put = shapes.get(word[0], {}) if word else {}
            own[path] = "object" if kind in shapes else kind
            own.update({path + ("[]" if kind == "list" else "") + rest: k for rest, k in put.items()})
        heading = section.splitlines()[0].split("`")[1]
        found[heading] = own
    return found


def written(value, path, into):
    """{path: values} of all keys."""
    if isinstance(value, dict):
        for key, inner in value.items():
            at = f"{path}.{key}" if path else key
            into.setdefault(at, []).append(inner)
            written(inner, at, into)
    elif isinstance(value, list):
        for inner in value:
            written(inner, path + "[]", into)
    return into


def fits(value, kind):
    return any(isinstance(value, KIND[word]) and not (isinstance(value, bool) and word in ("integer", "number")) for word in re.split(r", | or ", kind))


def differences(heading, table, outputs):
    wrong, seen = [], set()
    for output in outputs:
        for path, values in written(output, "", {}).items():
            known = path if path in table else re.sub(r"[^.]+$", "NAME", path)
            if known not in table and re.search(r"\.parts\.", path):         # names of spans have dots
                known = re.sub(r"\.parts\..*", ".parts.NAME", path)
            if known not in table:
                wrong.append(f"{heading} writes `{path}`, which has no row")
                continue
            seen.add(known)
            wrong += [f"{heading}: `{path}` is {value!r:.40}, no {table[known]}" for value in values if not fits(value, table[known])][:1]
    return wrong + [f"{heading} never writes `{path}`, which has a row" for path in table if path not in seen and not re.fullmatch(NOT_HERE.get(heading, ""), path)]


def outputs(folder):
    """{heading: what its command wrote}"""
    count = [0]

    def run(*arguments, option="--json", status=0, **more):
        count[0] += 1
        path = os.path.join(folder, f"{count[0]}.json")
        done = subprocess.run([HBG, *arguments, option, path], capture_output=True, text=True, cwd=folder, **more)
        if done.returncode != status:
            sys.exit(f"hbg {arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(pathlib.Path(path).read_text())

    def said(*arguments, **more):
        return json.loads(subprocess.run([HBG, *arguments, "--json"], capture_output=True, text=True, check=True, **more).stdout)

    small = ["decoder", "layers=3", "hidden=32", "heads=4", "kv_heads=2", "head_dim=8", "ffn=64", "context=64", "batch=1", "tile=16", "page=16", "splits=2"]
    trace = os.path.join(folder, "trace")
    runs = [run("run", *small, "--rounds", "5", "--explain", "--verify", "--trace", trace, "--trace-level", "task"), run("run", "gp", "--rounds", "1", "--warmup", "0"),
            run("run", "cholesky", "n=64", "tile=16", "--verify", "--rounds", "2"), run("run", "cholesky", "n=64", "tile=16", "dominance=0", status=1)]
    smi = os.path.join(folder, "nvidia-smi")
    pathlib.Path(smi).write_text("#!/bin/sh\n[ ${1#--query-gpu} = $1 ] || echo 0, GPU-0, 1, 1, 1, 1, 0x0\n")
    os.chmod(smi, 0o755)
    state = dict(os.environ, XDG_STATE_HOME=folder, PATH=folder + ":" + os.environ["PATH"])
    state.pop("CUDA_VISIBLE_DEVICES", None)
    exact = ("ab", "-a", "echo 1", "--metric", "[0-9]", "--blocks", "2", "--rounds", "1", "--no-gate")
    compared = [run(*exact, "--aa", env=state), run(*exact, "-b", "echo 2", env=state),
                run("ab", "-a", "sleep .01", "-b", "sleep .011", "--blocks", "1", "--rounds", "1", "--no-gate"),
                run("ab", "-a", f"sleep .1; {HBG} run vector n=1000 --rounds 40", "-b", f"sleep .1; {HBG} run vector n=1001 --rounds 40", "--span", "chip.run",
                    "--no-gate", "--blocks", "2", "--expect-differs", "tasks", status=3)]
    benches = [run("bench", *line, "--quick") for line in (("submit",), ("dispatch", "--case", "tree"), ("metg", "--case", "tree", "--steps", "50"), ("all", "--case", "tree", "--steps", "20"))]
    locks = dict(os.environ, HBG_LOCK_DIR=folder)
    holder = subprocess.Popen([HBG, "ab", "-a", "sleep 9", "-b", "sleep 8", "--exclusive"], env=locks, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        devices = said("devices", env=locks)
        if devices["platforms"][0]["held"]:
            break
        time.sleep(.02)
    holder.terminate()
    holder.wait()
    return {
        "hbg run --json": runs,
        "hbg describe --format json": [run("describe", *small, "--format", "json", "--open", "--limit", "100000", option="--out"),
                                       run("describe", "vector", "n=100", "--format", "json", option="--out")],
        "hbg trace --json": [run("trace", trace)],
        "hbg trace --critical-path --json": [run("trace", trace, "--critical-path")],
        "hbg bench --json": benches, "hbg ab --json": compared, "hbg devices --json": [devices], "hbg version --json": [said("version")],
    }


def all_differences(text, wrote):
    found = tables(text)
    wrong = [f"{heading} has no section" for heading in wrote if heading not in found] + [f"{heading} is not run here" for heading in found if heading not in wrote]
    for heading in found.keys() & wrote.keys():
        wrong += differences(heading, found[heading], wrote[heading])
    return wrong


def main():
    text = (SOURCE / "docs/json.md").read_text()
    with tempfile.TemporaryDirectory() as folder:
        wrote = outputs(folder)
    for before, after in (("| `rounds_ns` |", "| `rounds_nanoseconds` |"), ("| `min`, `.median`", "| `min`, `.middle`"), ("| `seed` | integer |", "| `seed` | string |"),
                          ("## `hbg version --json`", "## `hbg info --json`"), ("`share` | number", "`share` | string")):
        if before not in text or not all_differences(text.replace(before, after), wrote):
            sys.exit(f"a changed table was not noticed: {after}")
    wrong = all_differences(text, wrote)
    if wrong:
        sys.exit("\n".join(wrong))


main()
