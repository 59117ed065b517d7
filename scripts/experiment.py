#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Experiments of docs/experiments, each one command; they compare settings of the product's own code with `hbg ab`.

    scripts/experiment.py transfer [--blocks N] [--visible]     does a smaller launch transfer pay; calls or bytes?
    scripts/experiment.py cold     [--blocks N]                 what makes a first run slow, one cause removed at a time
    scripts/experiment.py streams  [--blocks N]                 whose stream sets: one pair, each slot's, each run's

Options: --hbg PATH of the command (build/hbg), --json FILE for all results, --no-gate to keep blocks whose conditions were bad.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = "bgemm task_num=100 tile=16"
SIZES = (256, 17536, 22144, 51584, 56192)


def run_ab(o, a, b, span, counter=None, blocks=None):
    """Compare two devices on one workload; the result file as a dictionary, and the exit status."""
    command = "{hbg} run {work} --rounds {{rounds}} --replay off --device {device}"
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        words = [o.hbg, "ab", "-a", command.format(hbg=o.hbg, work=WORK, device=a), "-b", command.format(hbg=o.hbg, work=WORK, device=b),
                 "--span", span, "--blocks", str(blocks or o.blocks), "--json", result.name]
        if counter:
            words += ["--expect-differs", counter]
        if o.no_gate:
            words.append("--no-gate")
        done = subprocess.run(words, capture_output=True, text=True)
        text = pathlib.Path(result.name).read_text()
    found = json.loads(text) if text else {"verdict": "INVALID", "why": (done.stderr.strip() or done.stdout.strip()).splitlines()[-1]}
    found["exit"] = done.returncode
    return found


def row(name, found):
    """One line of a table: verdict, effect with its interval, levels, half width."""
    outcome = (found.get("series") or [{}])[0].get("outcome")
    if not outcome or outcome.get("low") is None:
        return f"| {name} | {found['verdict']}: {found.get('why') or 'no interval'} | | | |"
    return (f"| {name} | {found['verdict']} | {100 * outcome['effect']:+.1f} % [{100 * outcome['low']:+.1f}, {100 * outcome['high']:+.1f}] | "
            f"{outcome['level_a'] / 1e3:.3g} | {outcome['level_b'] / 1e3:.3g} |")


def table(title, rows):
    print(f"\n{title}\n\n| pair | verdict | effect, 95 % | A, us | B, us |\n| --- | --- | --- | --- | --- |")
    for line in rows:
        print(line, flush=True)


def transfer(o):
    span = "chip.run.prepare_execution"
    device = "cpu:workers=1,memory=discrete,depth=1,pad_bytes={},pad_copies={}".format
    kept = {}

    def pair(a, b, copies_a=1, copies_b=1, blocks=None):
        name = f"{a:,} B in {copies_a} -> {b:,} B in {copies_b}"
        kept[name] = run_ab(o, device(a, copies_a), device(b, copies_b), span, "copies" if copies_a != copies_b else "bytes", blocks)
        return row(name, kept[name])

    table("Bytes: the launch transfer padded", [pair(SIZES[0], size) for size in SIZES[1:]] + [pair(51584, 17536), pair(56192, 22144)])
    table("Calls: equal bytes, more copies", [pair(size, size, 1, copies) for size in (17536, 51584) for copies in (2, 3)])
    unified = "cpu:workers=1,depth=1,pad_bytes={}".format
    refused = run_ab(o, unified(17536), unified(51584), span, "bytes")
    kept["unified"] = refused
    print(f"\nUnified memory, where nothing travels: {refused['verdict']}: {refused.get('why', '')}")
    if o.visible:
        for blocks in (10, 40, 100):
            low, high = 9, 23                   # powers of two: not visible, visible
            while high - low > 1:
                middle = (low + high) // 2
                found = run_ab(o, device(256, 1), device(1 << middle, 1), "chip.run", None, blocks)      # large copies go on behind prepare
                kept[f"{1 << middle} bytes at {blocks} blocks"] = found
                print(row(f"{blocks} blocks: 256 B -> {1 << middle:,} B", found), flush=True)
                if found["verdict"] == "SLOWER":
                    high = middle
                else:
                    low = middle
            print(f"{blocks} blocks: visible from {1 << high:,} bytes on, of powers of two", flush=True)
    return kept


def last_spans(trace, names):
    """How long each of these spans took in the last run of a trace, us."""
    found = {}
    for line in pathlib.Path(trace).read_text().splitlines():
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if words.get("name") in names:
            found[words["name"]] = int(words["dur"]) / 1e3
    return found


def cold(o):
    """The first run of a process with one cause of its slowness removed at a time; causes take turns, a process each."""
    causes = ("nothing", "device", "threads", "program", "buffers", "pages", "all")
    names = ("chip.run", "chip.run.bind", "chip.run.bind.args", "chip.run.bind.build", "chip.run.bind.upload", "chip.run.prepare_execution",
             "chip.run.runner_run", "chip.run.validate")
    program = pathlib.Path(o.hbg).parent / "cold_bench"
    if (program.parent / "CMakeCache.txt").exists():        # of an installed command there is none
        made = subprocess.run(["cmake", "--build", program.parent, "--target", "cold_bench"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode:
            sys.exit(f"{made.stdout}\n{program} cannot be built")
    elif not program.exists():
        sys.exit(f"{program} is not there: name the command of a build folder with --hbg")
    taken = {cause: {name: [] for name in names} for cause in causes}
    with tempfile.TemporaryDirectory() as folder:
        for block in range(o.blocks):
            for cause in causes[block % len(causes):] + causes[:block % len(causes)]:
                trace = pathlib.Path(folder) / "trace"
                trace.unlink(missing_ok=True)
                subprocess.run([program, trace, cause], check=True)
                for name, us in last_spans(trace, names).items():
                    taken[cause][name].append(us)
    print(f"\nMedians of {o.blocks} processes, us\n\n| span | " + " | ".join(causes) + " |\n| --- |" + " --- |" * len(causes))
    for name in names:
        print(f"| `{name}` | " + " | ".join(f"{statistics.median(taken[cause][name]):.1f}" for cause in causes) + " |")
    print("\nOf `chip.run` less than with nothing removed, us: median of the differences within a turn, and their quartiles\n")
    for cause in causes[1:]:
        less = [a - b for a, b in zip(taken["nothing"]["chip.run"], taken[cause]["chip.run"])]
        low, middle, high = statistics.quantiles(less, n=4)
        print(f"* {cause}: {middle:.0f} [{low:.0f}, {high:.0f}]")
    return taken


def streams(o):
    device = "cpu:workers=1,memory=discrete,depth=1,stream_threads=1,streams={}".format
    kept, rows = {}, {}
    for span in ("chip.run", "chip.run.runner_run.device_wall"):
        for a, b in (("pair", "slot"), ("slot", "run"), ("pair", "run")):
            name = f"{span}: {a} -> {b}"
            kept[name] = run_ab(o, device(a), device(b), span)
            rows.setdefault(span, []).append(row(f"{a} -> {b}", kept[name]))
    for span, lines in rows.items():
        table(f"`{span}`", lines)
    return kept


def main():
    experiments = {"transfer": transfer, "cold": cold, "streams": streams}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=experiments)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--visible", action="store_true")
    parser.add_argument("--no-gate", action="store_true")
    parser.add_argument("--hbg", default=str(ROOT / "build/hbg"))
    parser.add_argument("--json")
    o = parser.parse_args()
    if not pathlib.Path(o.hbg).exists():
        sys.exit(f"{o.hbg} is not there: build it with `make`, or name it with --hbg")
    kept = experiments[o.experiment](o)
    if o.json:
        pathlib.Path(o.json).write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
