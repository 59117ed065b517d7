#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four processes at once on two processors, four different workloads at a time until each has run on each device: every run ends in
time, verified. The same with --exclusive: they run one after the other, as their traces say, also when the first one is killed, and leave
no lock."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HBG = os.environ["HBG"]
PROCESSES, ROUNDS, TIMEOUT_S = 4, 20, 240
SMALL = {
    "vector": ["n=65536", "block=1024"], "matmul": ["m=96", "n=96", "k=96", "tile=32"], "bgemm": ["task_num=16", "tile=16"],
    "stencil": ["rows=96", "columns=96", "tile=32", "steps=8"], "cholesky": ["n=192", "tile=32"], "paged_attention": ["batch=4", "heads=2", "context_len=128"],
    "decoder": ["layers=3", "hidden=64", "ffn=96", "context=60"], "gp": [],
}
DEVICES = ["cpu:workers=2", "cpu:workers=2,memory=discrete", "cpu:workers=8", "cpu:workers=1"]


def names():
    listed = subprocess.run([HBG, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line and not line.startswith(" ")]


def two_processors():
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[:2])


def start(workload, device, *options):
    command = [HBG, "run", workload, *SMALL.get(workload, []), "--rounds", str(ROUNDS), "--warmup", "1", "--verify", "--device", device, "--json", "-", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=two_processors)


def finish(workload, process):
    out, err = process.communicate(timeout=TIMEOUT_S)
    if process.returncode != 0:
        sys.exit(f"{workload}: status {process.returncode}: {err}")
    told = json.loads(out)
    if told["verified"] is not True or told["rounds"] != ROUNDS:
        sys.exit(f"{workload}: not verified in {ROUNDS} rounds: {out}")


def four_at_once(workloads):
    for shift in range(len(workloads)):         # at each time four different workloads, each workload once on each device
        running = []
        for p in range(PROCESSES):
            workload = workloads[(shift + 2 * p) % len(workloads)]
            running.append((workload, start(workload, DEVICES[p])))
        for workload, process in running:
            finish(workload, process)


# ---- one after the other ----

def interval(trace):
    """From the begin of the first span to the end of the last one, nanoseconds of the clock that all processes share."""
    with open(trace) as file:
        spans = [tuple(map(int, found.groups())) for found in re.finditer(r" ts=(\d+) dur=(\d+) ", file.read())]
    return min(ts for ts, _ in spans), max(ts + dur for ts, dur in spans)


def overlapping(intervals):
    ordered = sorted(intervals)
    return [(one, next) for one, next in zip(ordered, ordered[1:]) if next[0] < one[1]]


def lock():
    told = subprocess.run([HBG, "devices", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(platform for platform in json.loads(told)["platforms"] if platform["name"] == "cpu")


def start_endless():
    """A command that has the device."""
    process = subprocess.Popen([HBG, "run", "vector", "n=4096", "--rounds", "20000000", "--exclusive"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + TIMEOUT_S
    while not (holder := lock()["holder"]) or holder["pid"] != process.pid:
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"it has not got the device: {process.poll()}, {holder}")
        time.sleep(0.01)
    return process


def one_after_the_other(workloads, folder):
    os.environ["HBG_LOCK_DIR"] = locks = os.path.join(folder, "locks")
    for shift in range(len(workloads)):
        first = start_endless() if shift % 2 == 0 else None
        running, traces = [], [os.path.join(folder, f"{shift}.{p}.trace") for p in range(PROCESSES)]
        for p in range(PROCESSES):
            workload = workloads[(shift + 2 * p) % len(workloads)]
            running.append((workload, start(workload, DEVICES[p], "--exclusive", "--wait", "--trace", traces[p])))
        if first:
            time.sleep(0.1)
            if early := [workload for workload, process in running if process.poll() is not None]:
                sys.exit(f"while another one had the device, {early} ended")
            killed = time.monotonic_ns()
            first.send_signal(signal.SIGKILL)
            first.communicate()
        for workload, process in running:
            finish(workload, process)
        intervals = [interval(trace) for trace in traces]
        if overlapping(intervals) or (first and min(intervals)[0] < killed):
            sys.exit(f"{[workload for workload, _ in running]} overlap: {sorted(intervals)}")
        if lock()["held"] or os.listdir(locks):
            sys.exit(f"a lock is left: {lock()}, {os.listdir(locks)}")


def main():
    workloads = names()
    missing = [name for name in workloads if name not in SMALL]
    if missing:
        sys.exit(f"no small parameters are known here for {', '.join(missing)}")
    assert overlapping([(0, 5), (9, 12), (4, 6)]) and not overlapping([(0, 5), (9, 12), (5, 6)])
    four_at_once(workloads)
    with tempfile.TemporaryDirectory() as folder:
        one_after_the_other(workloads, folder)


main()
