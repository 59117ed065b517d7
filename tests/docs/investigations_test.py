#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""investigations_test.py - every investigation has the headings of docs/investigations/TEMPLATE.md, in their order, a date and a verdict.

The template without one of its headings, and without a date, is tried first and must be refused.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("HBG_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
FOLDER = ROOT / "docs/investigations"


def headings(text):
    return re.findall(r"^## (.+)$", text, re.M)


def check(text, wanted):
    """None, or what is missing."""
    found = headings(text)
    if [h for h in found if h in wanted] != wanted:
        return f"its headings are {found} and should be {wanted}"
    if not re.search(r"^Date: \d{4}-\d{2}-\d{2}$", text, re.M):
        return "it has no line such as Date: 2026-11-30"
    if not re.search(r"^Verdict: \S.*$", text, re.M):
        return "it has no verdict"
    if not re.match(r"# \S", text):
        return "it has no title"
    return None


def main():
    template = (FOLDER / "TEMPLATE.md").read_text()
    wanted = headings(template)
    good = re.sub(r"^Date:$", "Date: 2026-11-30", template, flags=re.M)
    for wrong in (good.replace("## Unmeasured\n", ""), good.replace("## Question", "## Questions"), template, good.replace("Verdict: ", "")):
        if check(wrong, wanted) is None:
            sys.exit("an investigation without what it needs was not noticed")
    if check(good, wanted):
        sys.exit(f"the template itself is refused: {check(good, wanted)}")
    problems = {path.name: check(path.read_text(), wanted) for path in sorted(FOLDER.glob("*.md")) if path.name != "TEMPLATE.md"}
    wrong = [f"docs/investigations/{name}: {problem}" for name, problem in problems.items() if problem]
    print(f"{len(problems)} investigations")
    if wrong:
        sys.exit("\n".join(wrong))


main()
