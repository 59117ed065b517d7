#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hbg sim: every scenario over some seeds, every mode, wrong command lines; one seed has one trace; each workload on a simulated device that is poisoned."""
import os
import re
import subprocess
import sys
import tempfile

HBG = os.environ["HBG"]
SEEDS = int(os.environ.get("HBG_TEST_SCALE", "100")) * 4
SCENARIOS = ("graphs", "spill", "failures", "cancels", "pairs", "stops", "faults")


def run(*arguments, environment=None):
    return subprocess.run([HBG, *arguments], capture_output=True, text=True, env={**os.environ, **(environment or {})})


def check(condition, done):
    if not condition:
        sys.exit(f"{done.args}: status {done.returncode}\n{done.stdout}{done.stderr}")


def main():
    done = run("sim", "all", "--seeds", f"1..{SEEDS}")
    check(done.returncode == 0 and done.stderr == "", done)
    check(re.findall(r"^(\w+) +(\d+) schedules, 0 failed$", done.stdout, re.M) == [(name, str(SEEDS)) for name in SCENARIOS], done)
    for mode in ("random", "few", "round", "all"):
        done = run("sim", "graphs", "--seeds", "5..9", "--mode", mode, "--workers", "64")
        check(done.returncode == 0 and "5 schedules, 0 failed" in done.stdout, done)
    with tempfile.TemporaryDirectory() as folder:               # another process, the same trace
        traces = []
        for name in ("first", "second"):
            path = os.path.join(folder, name)
            done = run("run", "cholesky", "--rounds", "2", "--device", "sim:workers=8,seed=7", environment={"HBG_TRACE": "task", "HBG_TRACE_TO": path})
            check(done.returncode == 0, done)
            with open(path) as trace:
                traces.append(re.sub(r"\b(pid|tid|wall)=\d+", "", trace.read()))
        check(traces[0] == traces[1] and traces[0].count("\n") > 100, done)
    for spec in ("sim:stop_worker=1,stop_step=100", "sim:workers=1,stop_worker=0,stop_step=50"):      # for ever: a wait ends all the same
        done = run("run", "vector", "n=65536", "--rounds", "1", "--warmup", "0", "--device", spec)
        check(done.returncode == 1 and "HBG_TIMEOUT" in done.stderr and "crashed" not in done.stderr, done)
    for wrong, status in ((("sim",), 2), (("sim", "graph"), 2), (("sim", "graphs", "--seeds", "9..5"), 2), (("sim", "graphs", "--seeds", "x"), 2),
                          (("sim", "graphs", "--mode", "rnd"), 2), (("sim", "graphs", "--workers", "65"), 2), (("sim", "graphs", "spill"), 2)):
        done = run(*wrong)
        check(done.returncode == status and done.stderr.startswith("hbg sim: "), done)
    smaller = {"bgemm": ("task_num=20", "tile=32"), "stencil": ("steps=10",), "vector": ("n=65536", "block=4096"),
               "decoder": ("layers=2", "context=100")}
    for number, name in enumerate(("vector", "matmul", "bgemm", "stencil", "cholesky", "paged_attention", "decoder", "gp")):
        spec = f"sim:workers={number + 1},seed={number},memory=discrete,poison=1,mode={('random', 'few')[number % 2]}"
        done = run("run", name, *smaller.get(name, ()), "--rounds", "1", "--verify", "--device", spec)
        check(done.returncode == 0 and "verified" in done.stdout, done)
    for seed in range(4):               # a model by its tasks: every task at the right time, once
        spec = f"sim:workers={2 + seed},seed={seed},poison=1,mode={('random', 'few', 'round', 'all')[seed]}"
        done = run("run", "decoder", "shape=dsv4", f"subgraph={seed % 3 % 2 ^ 1}", "--rounds", "1", "--verify", "--device", spec)
        check(done.returncode == 0 and "verified                 yes" in done.stdout, done)


main()
