#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""40 runs, two in flight: each is prepared while the one before executes, and none is on the device with another; so says the trace, of whole
runs and of each core's tasks. The same with one in flight, of which it must not say so."""
import collections
import os
import re
import subprocess
import sys
import tempfile

HBG = os.environ["HBG"]
ROUNDS = 40
# A run takes several of the slices of time that a busy machine keeps the thread waiting for that prepares the next one: shorter runs are over by then.
STENCIL = ["stencil", "rows=256", "columns=256", "tile=64", "steps=400"]
FIELD = re.compile(r"(\w+)=(\S+)")


def hbg(*arguments):
    return subprocess.run([HBG, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240)


def traced(folder, device, *options):
    trace = os.path.join(folder, "trace")
    run = hbg("run", *STENCIL, "--rounds", str(ROUNDS), "--verify", "--device", device, "--trace", trace, *options)
    if run.returncode != 0:
        sys.exit(f"{device}: {run.stderr}")
    return trace


def fields(line):
    return dict(FIELD.findall(line))


def check_cores(trace):
    """No core has tasks of two runs at one time."""
    cores = collections.defaultdict(list)
    for line in open(trace):
        if " name=chip.run.runner_run.device_wall.task " not in line:
            continue
        f = fields(line)
        cores[f["core"]].append((int(f["ts"]), int(f["ts"]) + int(f["dur"]), f["inv"]))
    if not cores:
        sys.exit("the trace has no tasks")
    for core, tasks in cores.items():
        tasks.sort()
        for before, after in zip(tasks, tasks[1:]):
            if after[0] < before[1]:
                sys.exit(f"core {core}: tasks of runs {before[2]} and {after[2]} overlap: {before} {after}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for device in ("cpu:workers=1", "cpu:workers=2,memory=discrete", "cpu:workers=2,depth=3"):
            trace = traced(folder, device)
            told = hbg("trace", trace, "--assert-overlap")
            if told.returncode != 0:
                sys.exit(f"{device}: {told.stderr}{told.stdout.splitlines()[-1]}")
        trace = traced(folder, "cpu:workers=2,depth=1")
        told = hbg("trace", trace, "--assert-overlap")
        if told.returncode == 0 or " in 0 the later one was prepared" not in told.stdout:
            sys.exit(f"one run in flight overlaps: {told.stdout.splitlines()[-1]}")
        check_cores(traced(folder, "cpu:workers=2", "--trace-level", "task"))


main()
