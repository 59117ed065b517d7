#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg run --trace` and `hbg trace`: the tables hold what the records say, and a log that is not whole is told of."""
import json
import os
import re
import subprocess
import sys
import tempfile

HBG = os.environ["HBG"]
ROUNDS, WARMUP = 5, 2
HEAD = re.compile(r"^\[STRACE\] v=1 pid=(\d+) tid=\d+ inv=(\d+) prog=[0-9a-f]{16} depth=(\d+) name=(\S+) ts=(\d+) dur=(\d+) dev=1 seq=(\d+)( \S+=\S*)* ;$")


def hbg(*arguments, status=0, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HBG_TRACE")} | more
    done = subprocess.run([HBG, *arguments], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def read(path):
    records = []
    for line in open(path):
        found = HEAD.match(line)
        assert found, line
        records.append(dict(zip(("pid", "inv", "depth", "name", "ts", "dur", "seq"), found.groups())))
    return records


def trace_json(path, *arguments, status=0):
    return json.loads(hbg("trace", path, "--json", "-", *arguments, status=status).stdout)


def durations(records, name, invocations):
    return sorted(int(r["dur"]) for r in records if r["name"] == name and int(r["inv"]) in invocations)


def check_tables(path):
    records, told = read(path), trace_json(path)
    assert (told["records"], told["lost"], told["torn"], told["unfinished"]) == (len(records), 0, 0, 0)
    program = told["programs"][0]
    assert (program["name"], program["rounds"], program["cold"]) == ("vector", ROUNDS + WARMUP, 2)
    assert [r["cold"] for r in told["rounds"][:4]] == [True, True, False, False]
    warm = range(3, ROUNDS + WARMUP + 1)
    total = sum(durations(records, "chip.run", warm))
    for phase in program["phases"]:
        values = durations(records, phase["name"], warm)
        assert phase["warm"] == len(values) == ROUNDS and phase["count"] == ROUNDS + WARMUP
        assert phase["first_ns"] == durations(records, phase["name"], [1])[0]
        assert (phase["min_ns"], phase["median_ns"], phase["p90_ns"]) == (values[0], values[2], values[4])
        assert abs(phase["share"] - sum(values) / total) < 1e-12
    names = [p["name"] for p in program["phases"]]
    assert names[:5] == ["chip.run", "chip.run.bind", "chip.run.bind.args", "chip.run.bind.build", "chip.run.bind.upload"], names
    assert trace_json(path, "--skip", "4")["programs"][0]["cold"] == 4
    everything = trace_json(path, "--skip", "0")["programs"][0]["phases"][0]
    assert everything["warm"] == ROUNDS + WARMUP and everything["min_ns"] == durations(records, "chip.run", range(1, 8))[0]
    text = hbg("trace", path, "--rounds", "--tree").stdout
    assert "program vector (" in text and "device_wall" in text and "\nrounds\n" in text and "alloc_bytes=" in text, text
    assert text.count("cold\n") >= 4, text


def check_damage(path, folder):
    whole = open(path).read()
    lines = whole.splitlines(keepends=True)
    damaged = os.path.join(folder, "damaged")

    def said(text, *sentences):
        open(damaged, "w").write(text)
        errors = hbg("trace", damaged, status=1).stderr
        for sentence in sentences:
            assert sentence in errors, (sentence, errors)
        return trace_json(damaged, status=1)

    middle = len(lines) // 2
    cut = "".join(lines[:middle]) + lines[middle][:40]
    assert said(cut, "at least 1 record is lost: 1 torn", "1 of 1 sessions have no end")["records"] == middle
    torn = "".join(lines[:middle]) + lines[middle][:70] + "".join(lines[middle + 1:])
    assert said(torn, "1 record is lost: 1 torn")["lost"] == 1
    gone = "".join(lines[:middle]) + "".join(lines[middle + 3:])
    assert said(gone, "3 records are lost: 0 torn")["lost"] == 3
    headless = "".join(lines[1:])
    assert said(headless, "1 record is lost", "1 of 1 sessions")["unfinished"] == 1
    open(damaged, "w").write("a line of something else\n")
    assert "holds no record" in hbg("trace", damaged, status=1).stderr
    # text of others between the records is passed over, and a session may follow another
    open(damaged, "w").write("first\n" + whole.replace("\n", "\nsomebody else says this\n") + whole)
    told = trace_json(damaged)
    assert told["records"] == 2 * len(lines) and told["programs"][0]["cold"] == 4


def check_refusals(path, folder):
    for arguments, sentence in (
            (["trace"], "a trace is needed"),
            (["trace", path, path], "one trace at a time"),
            (["trace", path, "--skip", "x"], "--skip: `x` is not a whole number"),
            (["run", "vector", "--trace-level", "run"], "--trace FILE is missing"),
            (["run", "vector", "--trace", path + "-", "--trace-level", "runs"], "did you mean `run`")):
        assert sentence in hbg(*arguments, status=2).stderr, arguments
    assert "cannot be read: No such file" in hbg("trace", os.path.join(folder, "nothing"), status=1).stderr
    assert "cannot be written" in hbg("run", "vector", "--trace", "/nowhere/at/all", status=1).stderr


def check_environment(folder):
    hbg("run", "vector", "n=1000", "--rounds", "1", HBG_TRACE="run", HBG_TRACE_TO=os.path.join(folder, "by-%p"))
    (name,) = [f for f in os.listdir(folder) if f.startswith("by-")]
    records = read(os.path.join(folder, name))
    assert name == "by-" + records[0]["pid"] and {r["name"] for r in records} == {"trace.begin", "chip.run", "trace.end"}
    errors = hbg("run", "vector", "n=1000", "--rounds", "1", HBG_TRACE="run").stderr
    assert errors.count("[STRACE] ") == len(records), errors


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        for _ in range(2):              # the second one takes the place of the first
            hbg("run", "vector", "n=10000", "--device", "cpu:memory=discrete", "--rounds", str(ROUNDS), "--warmup", str(WARMUP), "--trace", path)
        check_tables(path)
        check_damage(path, folder)
        check_refusals(path, folder)
        check_environment(folder)
        hbg("run", "bgemm", "task_num=8", "--trace", path, "--trace-level", "task", "--rounds", "1")
        assert sum(r["name"].endswith(".task") for r in read(path)) > 8
        assert not any("device_wall." in p["name"] for p in trace_json(path)["programs"][0]["phases"])
        hbg("run", "vector", "n=10000", "--trace", path, "--trace-level", "run")
        assert {r["depth"] for r in read(path)} == {"0"}


sys.exit(main())
