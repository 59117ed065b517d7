#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg bench`: every case is there, the JSON has its shape, and a wrong command line is refused. No clock is judged."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HBG = os.environ["HBG"]
ARGS = {f"args={count}": target for count, target in enumerate((15, 25, 38, 50, 62))}
GRAPHS = ("chain", "independent", "wavefront", "cholesky", "tree", "random")
CASES = {
    "submit": {(name, 1): target for name, target in
               {**ARGS, "cholesky": 55, "gemm": 50, "wavefront": 50, "layered": None, "tasks=1000": None, "tasks=10000": None, "tasks=100000": None,
                "whole, tiles, whole": None, "transposed": None, "reshaped": None, "reshaped, askew": None,
                "1000 x 1000": None}.items()},
    "bind": {(name, 1): target for name, target in
             {"tasks=0": 1500, "tasks=100": 6000, "tasks=1000": 45000, "tasks=10000": 450000, "tasks=100000": 5000000,
              "replay": 1060, "empty run": 5000}.items()},
    "dispatch": {**{(name, 1): target for name, target in zip(GRAPHS, (4, 4, 4, 4.5, 4, 4))},
                 ("layered", 1): None, ("decoder", 1): None,
                 **{(name, 2): target for name, target in zip(GRAPHS, (5, 4.5, 14, 12, 9, 22))}, ("layered", 2): None, ("decoder", 2): None},
}
SHAPES = {"shape=qwen3": (40000, 6000, 2000, None), "shape=dsv4": (180000, 70000, 2000, None)}
CASES["replay"] = {
    ("submission", 1): 92, ("submission=64", 1): 316, ("submission=256", 1): 1084, ("node", 1): 90,
    **{(f"{shape} {way}", 1): target for shape, targets in SHAPES.items() for way, target in zip(("first", "warm", "program", "plain"), targets)},
    **{(name, workers): target for workers in (1, 2) for name, target in (("device node", None), ("device plain", None), ("device node / plain", 1.3))},
    ("tail", 2): None,
}
MADE = {"submit": set(CASES["submit"]), "bind": {(f"tasks={n}", 1) for n in (100, 1000, 10000, 100000)}, "dispatch": set(),
        "replay": {(name, 1) for name in ("submission", "submission=64", "submission=256", "shape=qwen3 warm", "shape=dsv4 warm")}}
CASES = {bench: {(name, runtime, workers): target for (name, workers), target in cases.items()
                 for runtime in ("hbg", "hbg, made") if runtime == "hbg" or (name, workers) in MADE[bench]}
         for bench, cases in CASES.items()}
PATTERNS = {"trivial": (0.22, 0.4), "no_comm": None, "stencil_1d": (0.22, 0.4), "stencil_1d_periodic": None, "dom": (0.25, 0.5), "tree": (0.35, 0.6),
            "fft": (0.5, 0.6), "all_to_all": None, "nearest": (1.2, 1.8), "spread": None, "random_nearest": None}
CASES["metg"] = {(name, f"hbg, {way}", 2): targets and targets[i > 0] for name, targets in PATTERNS.items() for i, way in enumerate(("again", "anew", "made"))}
UNITS = {"submit": "ns/task", "bind": "ns", "dispatch": "ns/task", "metg": "us", "replay": "ns"}


def run(*arguments):
    return subprocess.run([HBG, "bench", *arguments], capture_output=True, text=True, timeout=300)


def read_json(text):
    return json.loads(text, parse_constant=lambda word: sys.exit(f"{word} is no JSON"))


def check_machine(machine):
    assert machine["cpus"] >= 1
    for name in ("kernel", "compiler", "library"):
        assert machine[name], (name, machine)
    assert {"model", "governor", "round_trip_after_ns"} <= set(machine)
    assert (machine["round_trip_ns"] is None) == (machine["cpus"] == 1), machine


def check_result(bench, result):
    assert result["unit"] == ("ratio" if "/" in result["case"] else UNITS[bench])
    assert result["p10"] <= result["median"] <= result["p90"], result
    assert result["p10"] > 0 or result["case"] == "tail", result        # a difference of two runs
    assert result["reps"] >= 3
    assert result["target"] == CASES[bench][result["case"], result["runtime"], result["workers"]], result
    assert ("cold" in result) == (bench == "dispatch") and result.get("cold", 1) > 0, result
    assert ("curve" in result) == (bench == "metg"), result
    curve = [point["granularity"] for point in result.get("curve", ())]
    assert bench != "metg" or (curve and min(curve) > 0), result


def check_bench(bench):
    done = run(bench, "--quick", "--json", "-", *(["--steps", "20"] if bench == "metg" else []))      # short: a busy machine needs long tasks
    assert done.returncode == 0 and done.stderr == "", (bench, done.returncode, done.stderr)
    outcome = read_json(done.stdout)
    assert outcome["bench"] == bench and outcome["quick"] is True
    check_machine(outcome["machine"])
    found = [(result["case"], result["runtime"], result["workers"]) for result in outcome["results"]]
    assert found == list(CASES[bench]), (bench, found)
    for result in outcome["results"]:
        check_result(bench, result)


def check_one_case(folder):
    path = os.path.join(folder, "one.json")
    done = run("dispatch", "--quick", "--case", "tree", "--json", path)
    assert done.returncode == 0 and done.stderr == "", done
    lines = [line for line in done.stdout.splitlines() if line.startswith("tree ")]
    assert len(lines) == 2 and "target" in done.stdout, done.stdout
    done = run("bind", "--quick", "--case", "tasks=1000")       # targets stand as they are, not as powers of ten
    assert re.search(r"^tasks=1000 +hbg +1 +\d+ +\d+ +\d+ +45000 +[\d.]+ +-$", done.stdout, re.M), done.stdout
    assert "\ntargets are for a quiet machine of two cores; " in done.stdout, done.stdout
    assert all(line.split()[-3] in ("4", "9") for line in lines), lines
    with open(path, encoding="utf-8") as file:
        outcome = read_json(file.read())
    assert [(result["case"], result["workers"]) for result in outcome["results"]] == [("tree", 1), ("tree", 2)]


def check_all(folder):
    """One case in every bench that has it, in one file, and what is drawn of it."""
    path, plots = os.path.join(folder, "all.json"), os.path.join(folder, "plots")
    done = run("all", "--quick", "--case", "tree", "--steps", "20", "--json", path)
    assert done.returncode == 0 and done.stderr == "" and "dispatch, ns/task" in done.stdout and "metg, us" in done.stdout, done
    with open(path, encoding="utf-8") as file:
        outcome = read_json(file.read())
    assert outcome["bench"] == "all" and outcome["machine"]["load"] >= 0 and outcome["machine"]["begun"].startswith("20"), outcome["machine"]
    counts = {bench["bench"]: len(bench["results"]) for bench in outcome["benches"]}
    assert set(counts) == set(CASES) | {"real"} and counts["real"] == 0 and counts["dispatch"] == 2 and counts["metg"] == 3 and counts["submit"] == 0, counts
    script = os.path.join(os.environ["HBG_SOURCE"], "scripts", "plot_bench.py")
    drawn = subprocess.run([sys.executable, script, path, plots], capture_output=True, text=True, check=True).stdout.split()
    assert {os.path.basename(name) for name in drawn} == {"dispatch-1.svg", "dispatch-2.svg", "metg-2.svg", "efficiency.svg"}, drawn
    for name in drawn:
        root = xml.etree.ElementTree.parse(name).getroot()
        assert root.tag.endswith("svg") and len(root) > 5, name
    assert len(root.findall("{*}polyline")) == 3, name          # efficiency.svg: hbg again, anew, made


def check_real():
    """One plan, right to the last digits but a few, and what OpenBLAS does alone where it is there."""
    done = run("real", "--quick", "--case", "cholesky 2048/256", "--json", "-")
    assert done.returncode == 0 and done.stderr == "", done
    outcome = read_json(done.stdout)
    rows = {(result["case"], result["runtime"]): result for result in outcome["results"]}
    blas = outcome["machine"]["blas"]
    assert set(rows) == {("cholesky 2048/256", "hbg, again"), ("cholesky 2048/256", "hbg, anew"), *([("gemm 2048/2048", "OpenBLAS, one thread")] if blas else [])}
    for result in rows.values():
        assert result["unit"] == "GFLOP/s" and result["median"] > 0 and result["target"] is None and ("of_peak" in result) == bool(blas), result


def check_metg():
    """Another body and other sizes; without a program of theirs, other runtimes are named and left out."""
    done = run("metg", "--quick", "--case", "spread", "--kernel", "memory", "--width", "4", "--steps", "50", "--radix", "9")
    rows = re.findall(r"^spread +hbg, (again|anew) +2 +[\d.]+ ", done.stdout, re.M)
    assert done.returncode == 0 and done.stderr == "" and rows == ["again", "anew"], done
    rivals = os.path.join(os.path.dirname(HBG), "rivals")
    missing = [name for name in ("openmp", "libomp", "tbb", "starpu") if not os.path.exists(os.path.join(rivals, name))]
    done = run("metg", "--quick", "--case", "tree", "--steps", "50", "--rivals")
    assert done.returncode == 0 and (f"without {', '.join(missing)}" in done.stderr if missing else done.stderr == ""), done


def check_refusals(folder):
    for arguments, word in (
            ([], "is needed"), (["submit", "bind"], "too many"), (["sumbit"], "submit"),
            (["submit", "--case"], "--case"), (["submit", "--qick"], "--quick"), (["submit", "--quick=1"], "no value"),
            (["metg", "--kernel", "spin"], "memory"), (["bind", "--steps", "9"], "metg"), (["metg", "--width", "0"], "--width")):
        done = run(*arguments)
        assert done.returncode == 2 and word in done.stderr and not done.stdout, (arguments, done)
        assert done.stderr.count("\n") == 1, done.stderr
    for bench, word in (("submit", "args=0; args=1;"), ("dispatch", "has chain; independent;"), ("all", "real has cholesky 2048/32;")):
        done = run(bench, "--quick", "--case", "nope")
        assert done.returncode == 2 and "there is no case `nope`" in done.stderr and word in done.stderr and not done.stdout, done
        assert done.stderr.count("args=0") == (bench != "dispatch") and done.stderr.count("\n") == (7 if bench == "all" else 2), done.stderr
    done = run("submit", "--quick", "--json", os.path.join(folder, "missing", "x.json"))
    assert done.returncode == 1 and "x.json" in done.stderr, done


for name in CASES:
    check_bench(name)
with tempfile.TemporaryDirectory() as scratch:
    check_one_case(scratch)
    check_metg()
    check_real()
    check_all(scratch)
    check_refusals(scratch)
