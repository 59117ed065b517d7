#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four processes at once on two processors, four different workloads at a time until each has run on each device: every run ends in
time, verified."""
import json
import os
import subprocess
import sys

HBG = os.environ["HBG"]
PROCESSES, ROUNDS, TIMEOUT_S = 4, 20, 240
SMALL = {
    "vector": ["n=65536", "block=1024"], "matmul": ["m=96", "n=96", "k=96", "tile=32"], "bgemm": ["task_num=16", "tile=16"],
    "stencil": ["rows=96", "columns=96", "tile=32", "steps=8"], "cholesky": ["n=192", "tile=32"], "paged_attention": ["batch=4", "heads=2", "context_len=128"],
    "gp": [],
}
DEVICES = ["cpu:workers=2", "cpu:workers=2,memory=discrete", "cpu:workers=8", "cpu:workers=1"]


def names():
    listed = subprocess.run([HBG, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line and not line.startswith(" ")]


def two_processors():
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[:2])


def start(workload, device):
    command = [HBG, "run", workload, *SMALL.get(workload, []), "--rounds", str(ROUNDS), "--warmup", "1", "--verify", "--device", device, "--json", "-"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=two_processors)


def main():
    workloads = names()
    missing = [name for name in workloads if name not in SMALL]
    if missing:
        sys.exit(f"no small parameters are known here for {', '.join(missing)}")
    for shift in range(len(workloads)):         # at each time four different workloads, each workload once on each device
        running = []
        for p in range(PROCESSES):
            workload = workloads[(shift + 2 * p) % len(workloads)]
            running.append((workload, start(workload, DEVICES[p])))
        for workload, process in running:
            out, err = process.communicate(timeout=TIMEOUT_S)
            if process.returncode != 0:
                sys.exit(f"{workload}: status {process.returncode}: {err}")
            told = json.loads(out)
            if told["verified"] is not True or told["rounds"] != ROUNDS:
                sys.exit(f"{workload}: not verified in {ROUNDS} rounds: {out}")


main()
