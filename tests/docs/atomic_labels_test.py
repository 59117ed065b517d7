#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""atomic_labels_test.py - the comments on atomic operations are complete and agree with each other.

A label is a comment that begins "X1 release, pairs with X2 in function() ...: reason". Checked over src/, without src/atomic:

* a label is used once, and its order is the order of the operation behind it;
* each partner exists in the function that is named, and names the label back;
* every ordered operation has a label, or a comment that refers to one, on its line or in the lines above it;
* every relaxed operation has a comment with "relaxed" there;
* nothing but src/atomic is used: no <stdatomic.h>, no _Atomic, no builtin of the compiler.

Before that, each rule is broken once on purpose in a small text and must be noticed.
"""
import pathlib
import re
import sys

ORDERS = "acquire|release|acq_rel|seq_cst"
OPERATION = re.compile(r"\bhbg__(?:load|store|exchange|cas|fetch_\w+?)_(relaxed|%s)(?:32|64)\b" % ORDERS)
LABEL = re.compile(r"/\*\s*([A-Z][0-9]+) (%s), pairs with (.*?)[:;.]" % ORDERS, re.S)
PARTNERS = re.compile(r"((?:[A-Z][0-9]+(?:,| and|, and)? )+)in (\w+)\(\)")
FUNCTION = re.compile(r"^[A-Za-z_][\w\s\*()]*?\b(\w+)\(", re.M)
FOREIGN = re.compile(r"<stdatomic\.h>|<atomic>|\b_Atomic\b|\b__atomic_\w+|\b__sync_\w+|\batomic_\w+\s*\(|\bmemory_order_\w+|\b__ATOMIC_\w+")
LINES_ABOVE = 8


class Label:
    def __init__(self, place, function, order, partners):
        self.place, self.function, self.order, self.partners = place, function, order, partners


def function_at(text, offset):
    """Name of the function whose head is the last one at the left margin before offset."""
    name = ""
    for head in FUNCTION.finditer(text, 0, offset):
        if not text[head.start():].startswith(("#", "/*", "typedef")):
            name = head.group(1)
    return name


def read_labels(path, text, labels, problems):
    for match in LABEL.finditer(text):
        name, order, clause = match.groups()
        place = "%s:%d" % (path, text.count("\n", 0, match.start()) + 1)
        partners = {}
        for group, function in PARTNERS.findall(" ".join(clause.split())):
            for partner in re.findall(r"[A-Z][0-9]+", group):
                partners[partner] = function
        if not partners:
            problems.append("%s: %s names no partner as \"X1 in function()\"" % (place, name))
        if name in labels:
            problems.append("%s: %s is a label of %s already" % (place, name, labels[name].place))
        operation = OPERATION.search(text, match.end())
        if operation is None or operation.group(1) != order:
            problems.append("%s: %s says %s, the operation behind it does not" % (place, name, order))
        labels[name] = Label(place, function_at(text, match.start()), order, partners)


def check_pairs(labels, problems):
    for name, label in labels.items():
        for partner, function in label.partners.items():
            other = labels.get(partner)
            if other is None:
                problems.append("%s: %s pairs with %s, which is nowhere" % (label.place, name, partner))
                continue
            if other.function != function:
                problems.append("%s: %s looks for %s in %s(); it is in %s()" % (label.place, name, partner, function, other.function))
            if name not in other.partners:
                problems.append("%s: %s pairs with %s, which does not name it back (%s)" % (label.place, name, partner, other.place))


def comments_near(lines, index):
    """The comment text on the line and in the lines above it, up to the start of the function."""
    first = index
    while first > 0 and index - first < LINES_ABOVE and lines[first] not in ("{", "}"):
        first -= 1
    return " ".join(re.findall(r"/\*.*?\*/", "\n".join(lines[first:index + 1]), re.S))


def check_operations(path, text, labels, problems):
    lines = text.split("\n")
    inside_comment = False
    for index, line in enumerate(lines):
        code = re.sub(r"/\*.*?\*/", "", line)
        if inside_comment:
            if "*/" not in code:
                continue
            code = code.split("*/", 1)[1]
            inside_comment = False
        if "/*" in code:
            code = code.split("/*", 1)[0]
            inside_comment = True
        foreign = FOREIGN.search(code)
        if foreign:
            problems.append("%s:%d: %s goes past src/atomic" % (path, index + 1, foreign.group().strip()))
        for operation in OPERATION.finditer(code):
            near = comments_near(lines, index)
            place = "%s:%d" % (path, index + 1)
            if operation.group(1) == "relaxed":
                if "relaxed" not in near:
                    problems.append("%s: no comment says why this is relaxed" % place)
            elif not any(name in labels for name in re.findall(r"\b[A-Z][0-9]+\b", near)):
                problems.append("%s: no label for this %s operation" % (place, operation.group(1)))


def check(sources):
    """Problems of {path: text}."""
    labels, problems = {}, []
    for path, text in sources.items():
        read_labels(path, text, labels, problems)
    check_pairs(labels, problems)
    for path, text in sources.items():
        check_operations(path, text, labels, problems)
    return problems, len(labels)


GOOD = """
static void put(struct box *b)
{
    hbg__store_relaxed32(&b->x, 1);     /* relaxed: X1 publishes it. */
    /* X1 release, pairs with X2 in get(): publishes x. */
    hbg__store_release32(&b->full, 1);
}

static int get(struct box *b)
{
    /* X2 acquire, pairs with X1 in put(): what was put. */
    return hbg__load_acquire32(&b->full);
}
"""


def self_test():
    assert check({"a": GOOD}) == ([], 2), check({"a": GOOD})
    broken = {
        "does not name it back": GOOD.replace("pairs with X1 in put()", "pairs with X2 in get()"),
        "which is nowhere": GOOD.replace("pairs with X2 in get()", "pairs with X3 in get()"),
        "; it is in": GOOD.replace("X1 in put()", "X1 in get()"),
        "the operation behind it does not": GOOD.replace("load_acquire32", "load_seq_cst32"),
        "is a label of": GOOD + GOOD.replace("put(struct", "put2(struct"),
        "names no partner": GOOD.replace("pairs with X2 in get():", "pairs with the reader:"),
        "no label for this": GOOD + "static int look(struct box *b)\n{\n    return hbg__load_acquire32(&b->full);\n}\n",
        "<stdatomic.h> goes past": "#include <stdatomic.h>\n" + GOOD,
        "_Atomic goes past": GOOD + "static _Atomic int n;\n",
        "__atomic_fetch_add goes past": GOOD + "static int more(int *n)\n{\n    return __atomic_fetch_add(n, 1, 5);\n}\n",
        "__sync_synchronize goes past": GOOD + "static void fence(void)\n{\n    __sync_synchronize();\n}\n",
        "atomic_load( goes past": GOOD + "static int look(int *n)\n{\n    return atomic_load(n);\n}\n",
        "why this is relaxed": GOOD.replace("/* relaxed: X1 publishes it. */", ""),
    }
    for sentence, text in broken.items():
        problems, _ = check({"a": text})
        assert any(sentence in problem for problem in problems), (sentence, problems)


def main():
    self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    sources = {}
    for path in sorted((root / "src").rglob("*.[ch]")):
        if "atomic" not in path.relative_to(root / "src").parts:
            sources[str(path.relative_to(root))] = path.read_text(encoding="utf-8")
    problems, count = check(sources)
    for problem in problems:
        print(problem)
    print("%d labels, %d problems" % (count, len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
