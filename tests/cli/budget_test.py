#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions a submitted and an executed task costs, counted by callgrind: no more than bench/budget.txt allows, and a twentieth.

    budget_test.py           compares; a budget that is more than a tenth too large is a fault as well: it would hide what comes later
    budget_test.py --write   writes the column of this build anew

Clocks play no part, so this holds on a busy machine. It is skipped where valgrind is missing, with sanitizers, and with another compiler
than the one that the budget names.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

OVER, UNDER = 1.05, 0.9
SOURCE = pathlib.Path(os.environ.get("HBG_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BUDGET = SOURCE / "bench" / "budget.txt"
BENCH = pathlib.Path(os.environ.get("HBG_BUILD") or SOURCE / "build" / "test", "tests", "bench", "budget_bench")


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def read_total(path):
    return int(re.search(r"^totals: (\d+)", path.read_text(), re.M).group(1))


def count(folder):
    """(build, compiler, {case: instructions a task})"""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--zero-before=hbg__budget_measure", "--dump-after=hbg__budget_measure",
                           f"--callgrind-out-file={folder}/out", str(BENCH)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    build, compiler = done.stdout.splitlines()[0].split(" ", 1)
    counts = {}
    for i, line in enumerate(done.stdout.splitlines()[1:]):
        name, tasks = line.split(": ")
        one, more = (read_total(folder / f"out.{2 * i + n}") for n in (1, 2))
        counts[name] = (more - one) / int(tasks)
    return build, compiler, counts


def read_budget():
    """(compiler, {case: {build: instructions}})"""
    text = BUDGET.read_text()
    compiler = re.search(r"^compiler: (.+)$", text, re.M).group(1)
    rows = re.findall(r"^((?:submit|repeat|execute) \S+) +([\d.]+) +([\d.]+)$", text, re.M)
    return compiler, {name: {"release": float(release), "checked": float(checked)} for name, release, checked in rows}


def write(build, counts):
    text = BUDGET.read_text()
    _, budget = read_budget()
    for name, value in counts.items():
        row = {**budget.get(name, {"release": 0.0, "checked": 0.0}), build: value}
        line = f"{name:<22}{row['release']:>9.1f}{row['checked']:>9.1f}"
        text, found = re.subn(rf"^{re.escape(name)} .*$", line, text, flags=re.M)
        text += "" if found else line + "\n"
    BUDGET.write_text(text)


def faults(counts, allowed, build):
    wrong = [f"{name}: in one of bench/budget.txt and budget_bench alone" for name in counts.keys() ^ allowed.keys()]
    for name in counts.keys() & allowed.keys():
        share = counts[name] / allowed[name][build]
        if share > OVER or share < UNDER:
            wrong.append(f"{name}: {counts[name]:.1f} instructions a task, the budget of a {build} build is {allowed[name][build]:.1f}")
    return wrong


def try_faults():
    """What is compared notices a task that costs more, one that costs less, and a case without a row."""
    allowed = {"a": {"release": 100.0, "checked": 200.0}}
    for counts, build, number in (({"a": 104.0}, "release", 0), ({"a": 106.0}, "release", 1), ({"a": 206.0}, "checked", 0), ({"a": 89.0}, "release", 1), ({}, "release", 1)):
        assert len(faults(counts, allowed, build)) == number, (counts, build)


def main():
    try_faults()
    if not shutil.which("valgrind"):
        skip("there is no valgrind (apt-get install valgrind)")
    if not BENCH.exists():
        skip("budget_bench is not built here: sanitizers change what is counted")
    compiler, allowed = read_budget()
    with tempfile.TemporaryDirectory() as folder:
        build, own, counts = count(pathlib.Path(folder))
    for name, value in counts.items():
        print(f"{name:<22}{value:9.1f}  budget {allowed.get(name, {}).get(build, 0):9.1f}")
    if sys.argv[1:] == ["--write"]:
        write(build, counts)
    elif own != compiler:
        skip(f"built by {own}, and the budget is that of {compiler}")
    elif faults(counts, allowed, build):
        sys.exit("\n".join(faults(counts, allowed, build)))


main()
