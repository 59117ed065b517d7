#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg run --trace` and `hbg trace`: the tables hold what the records say, and a log that is not whole is told of."""
import collections
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
    assert text.count("cold\n") >= 2, text
    # the two runs behind the rounds, which are built and none of which is warm
    built = [r for r in told["rounds"] if r.get("name") == "built"]
    assert [r["invocation"] for r in built] == [ROUNDS + WARMUP + 1, ROUNDS + WARMUP + 2] and not any("name" in r for r in told["rounds"][:-2])
    assert re.search(r"\nprogram vector \([0-9a-f]{16}\): 2 runs named built, none of them warm\n +run 8 +run 9\n", text) and text.count("cold  built\n") == 2, text
    assert not re.search(r" -  ", text.split("named built")[1].split("\nrounds")[0]), text
    assert "7 runs, none of them warm\n" in hbg("trace", path, "--skip", "7").stdout


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
    assert said(cut, "at least 1 record is lost: 1 torn", "1 of 1 session has no end")["records"] == middle
    torn = "".join(lines[:middle]) + lines[middle][:70] + "".join(lines[middle + 1:])
    assert said(torn, "1 record is lost: 1 torn")["lost"] == 1
    gone = "".join(lines[:middle]) + "".join(lines[middle + 3:])
    assert said(gone, "3 records are lost: 0 torn")["lost"] == 3
    headless = "".join(lines[1:])
    assert said(headless, "1 record is lost", "1 of 1 session has")["unfinished"] == 1
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
            (["trace", path, "--run", "1"], "--critical-path is missing"),
            (["trace", path, "--critical-path", "--run", "0"], "--run: `0` is not between 1 and"),
            (["trace", path, "--flows", "1"], "--perfetto FILE is missing"),
            (["trace", path, "--page", "-", "--flows", "1"], "--perfetto FILE is missing"),
            (["trace", path, "--critical-path", "--rounds"], "--rounds adds to the phases"),
            (["trace", path, "--critical-path", "--tree"], "--tree adds to the phases"),
            (["trace", path, "--json", "-", "--tree"], "--tree adds to the text"),
            (["trace", path, "--page", "-", "--skip", "1"], "nothing of what is asked for looks at that"),
            (["trace", path, "--critical-path", "--run", "1", "--skip", "1"], "nothing of what is asked for looks at that"),
            (["run", "vector", "--trace-level", "run"], "--trace FILE is missing"),
            (["run", "vector", "--trace", path + "-", "--trace-level", "runs"], "did you mean `run`")):
        assert sentence in hbg(*arguments, status=2).stderr, arguments
    assert "cannot be read: No such file" in hbg("trace", os.path.join(folder, "nothing"), status=2).stderr
    assert "cannot be written" in hbg("run", "vector", "--trace", "/nowhere/at/all", status=1).stderr


def check_environment(folder):
    hbg("run", "vector", "n=1000", "--rounds", "1", HBG_TRACE="run", HBG_TRACE_TO=os.path.join(folder, "by-%p"))
    (name,) = [f for f in os.listdir(folder) if f.startswith("by-")]
    records = read(os.path.join(folder, name))
    assert name == "by-" + records[0]["pid"] and {r["name"] for r in records} == {"trace.begin", "chip.run", "trace.end"}
    errors = hbg("run", "vector", "n=1000", "--rounds", "1", HBG_TRACE="run").stderr
    assert errors.count("[STRACE] ") == len(records), errors


def encode(text):
    kept = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/:,+")
    return "".join(chr(c) if c in kept else f"%{c:02X}" for c in text.encode())


class Log:
    """A trace that never was."""

    def __init__(self):
        self.lines = []
        self.add("trace.begin", 0, 0, invocation=0, depth=0)

    def add(self, name, ts, dur, invocation=1, depth=3, tid=7, **notes):
        text = "".join(f" {key}={encode(str(value))}" for key, value in notes.items())
        self.lines.append(f"[STRACE] v=1 pid=7 tid={tid} inv={invocation} prog=00000000000000ff depth={depth} name={encode(name)} ts={ts} dur={dur} dev=1 seq={len(self.lines)}{text} ;\n")

    def run(self, invocation, begin, walls, end, executed):
        self.add("chip.run", begin, end - begin, invocation, 0, slot=0, status="HBG_OK", program="p")
        self.add("chip.run.runner_run.device_wall", walls[0], walls[1] - walls[0], invocation, 2, slot=0, accepted=walls[0], executed=executed, skipped=0)

    def task(self, task, kernel, core, start, length, ready, producers, invocation=1):
        more = {"producers": producers} if producers else {}
        self.add("chip.run.runner_run.device_wall.task", start, length, invocation, task=task, kernel=kernel, core=core, dispatched=start, ready=ready, **more)

    def write(self, path):
        self.add("trace.end", 99999, 0, invocation=0, depth=0, emitted=len(self.lines), dropped=0)
        open(path, "w").write("".join(self.lines))


def check_path(folder):
    """A(10) -> B(20) -> D(5), A -> C(30) -> D on two cores, a gap of 1 before each, 2 before the first and 3 after the last."""
    path = os.path.join(folder, "four")
    log = Log()
    log.run(1, 900, (1000, 1053), 1100, 4)
    log.task(0, "A", 0, 1002, 10, 1000, "")
    log.task(1, "B", 0, 1013, 20, 1012, "0")
    log.task(2, "C", 1, 1014, 30, 1012, "0")
    log.task(3, "D", 0, 1045, 5, 1044, "2,1")
    log.write(path)
    told = json.loads(hbg("trace", path, "--critical-path", "--json", "-").stdout)
    assert (told["makespan_ns"], told["floor_ns"], told["work_ns"]) == (53, 45, 65)
    assert [t["slack_ns"] for t in told["tasks"]] == [0, 10, 0, 0]
    assert told["blame"] == {"kernels_ns": 45, "scheduler_ns": 3, "start_ns": 2, "end_ns": 3}
    assert [(s["task"], s["after"], s["gap_ns"]) for s in told["path"]] == [(0, "start", 2), (2, "data", 2), (3, "data", 1)]
    # the same on one core: C waits for the core that B is on, and the blame is the makespan again
    log = Log()
    log.run(1, 900, (1000, 1070), 1100, 4)
    for task, kernel, start, length, ready, producers in ((0, "A", 1001, 10, 1000, ""), (1, "B", 1012, 20, 1011, "0"), (2, "C", 1033, 30, 1011, "0"), (3, "D", 1064, 5, 1063, "2,1")):
        log.task(task, kernel, 0, start, length, ready, producers)
    log.write(path)
    told = json.loads(hbg("trace", path, "--critical-path", "--json", "-").stdout)
    assert sum(told["blame"].values()) == told["makespan_ns"] == 70 and told["blame"]["kernels_ns"] == told["work_ns"] == 65
    assert [s["after"] for s in told["path"]] == ["start", "data", "core", "data"]
    # a submission, 1, whose nodes are 3 and 4; it takes no time of its own, and 2 waits for it
    log = Log()
    log.run(1, 900, (1000, 1060), 1100, 4)
    log.task(0, "A", 0, 1000, 10, 1000, "")
    log.task(3, "B", 0, 1010, 20, 1010, "0")
    log.task(4, "C", 0, 1030, 10, 1030, "3")
    log.add("chip.run.runner_run.device_wall.submission", 1010, 30, task=1, subgraph="body", nodes=2, ready=1040, producers="4")
    log.task(2, "D", 0, 1040, 20, 1040, "1")
    log.write(path)
    told = json.loads(hbg("trace", path, "--critical-path", "--json", "-").stdout)
    assert (told["makespan_ns"], told["floor_ns"], told["work_ns"]) == (60, 60, 60) and all(t["slack_ns"] == 0 for t in told["tasks"])
    assert [(s["task"], s["after"]) for s in told["path"]] == [(0, "start"), (3, "data"), (4, "data"), (2, "data")]
    log = Log()
    log.run(1, 900, (1000, 1060), 1100, 2)
    log.task(0, "A", 0, 1000, 10, 1000, "1")
    log.task(1, "B", 0, 1010, 20, 1010, "0")
    log.write(path)
    assert "a task is told of before one that it waits for" in hbg("trace", path, "--critical-path", status=1).stderr
    # a task whose record was lost on the device
    log = Log()
    log.run(1, 900, (1000, 1070), 1100, 2)
    log.task(1, "B", 0, 1012, 20, 1011, "0")
    log.write(path)
    assert "records of its tasks are missing" in hbg("trace", path, "--critical-path", status=1).stderr
    assert "not in the trace" in hbg("trace", path, "--critical-path", "--run", "9", status=1).stderr


def check_real_path(path):
    """Of what really ran: the blame is the makespan, to the nanosecond, and the floor is no more than it."""
    for device in ("cpu:workers=1", "cpu:workers=2", "cpu:workers=4,memory=discrete"):
        hbg("run", "cholesky", "n=256", "tile=32", "--device", device, "--trace", path, "--trace-level", "task", "--rounds", "3")
        for run in ("1", "3", "5"):
            told = json.loads(hbg("trace", path, "--critical-path", "--run", run, "--json", "-").stdout)
            assert sum(told["blame"].values()) == told["makespan_ns"] and told["floor_ns"] <= told["makespan_ns"], (device, told["blame"])
            assert sum(s["gap_ns"] + s["kernel_ns"] for s in told["path"]) + told["blame"]["end_ns"] == told["makespan_ns"]
            assert len(told["tasks"]) == 120 and min(t["slack_ns"] for t in told["tasks"]) == 0


def shape(path):
    """How many tasks ran of each kernel, and how many stand on the longest chain, by the records of the first run."""
    depth, kernels, submissions = {}, collections.Counter(), 0
    for line in open(path):
        kind = re.search(r" inv=1 .* name=chip\.run\.runner_run\.device_wall\.(\w+) ", line)
        if not kind:
            continue
        notes = dict(note.split("=", 1) for note in line.split()[1:-1])
        before = max([depth[p] for p in notes.get("producers", "").split(",") if p], default=0)
        if kind[1] == "task":
            kernels[notes["kernel"]] += 1
        submissions += kind[1] == "submission"
        depth[notes["task"]] = before + (kind[1] == "task")
    return kernels, max(depth.values()), submissions


def check_subgraphs(path, folder):
    """The layers of a decoder as subgraphs have the critical path of their tasks submitted one by one."""
    events = os.path.join(folder, "events.json")
    shapes = []
    for subgraph in (0, 1):
        hbg("run", "decoder", "layers=3", "hidden=64", "ffn=96", "context=60", f"subgraph={subgraph}", "--trace", path, "--trace-level", "task", "--rounds", "3")
        shapes.append(shape(path))
        told = json.loads(hbg("trace", path, "--critical-path", "--json", "-").stdout)
        assert sum(told["blame"].values()) == told["makespan_ns"] and told["floor_ns"] <= told["makespan_ns"]
        assert len(told["tasks"]) == sum(shapes[-1][0].values()) and min(t["slack_ns"] for t in told["tasks"]) == 0
        assert {t.get("subgraph", "") for t in told["tasks"]} == ({"", "decoder layer"} if subgraph else {""})
        hbg("trace", path, "--perfetto", events, "--page", os.path.join(folder, "page.html"))
        shown = json.load(open(events))["traceEvents"]
        check_nesting(shown)
        assert sum(e["ph"] == "b" for e in shown) == sum(e["ph"] == "e" for e in shown) == (7 * 3 if subgraph else 0)
    assert shapes[0][:2] == shapes[1][:2] and (shapes[0][2], shapes[1][2]) == (0, 3), shapes
    for subgraph in (0, 1):
        hbg("run", "decoder", "shape=dsv4", f"subgraph={subgraph}", "--trace", path, "--trace-level", "task", "--rounds", "3")
        shapes.append(shape(path))
    assert shapes[2][:2] == shapes[3][:2] and (shapes[2][2], shapes[3][2]) == (0, 20) and sum(shapes[3][0].values()) == 1131, shapes
    hbg("run", "decoder", "layers=3", "hidden=64", "ffn=96", "context=60", "--trace", path, "--trace-level", "task", "--rounds", "3")
    assert " in decoder layer " in hbg("trace", path, "--critical-path").stdout


def check_together(path, folder):
    """The critical path and the files beside it come from one call."""
    page, events = os.path.join(folder, "page.html"), os.path.join(folder, "events.json")
    text = hbg("trace", path, "--critical-path", "--page", page, "--perfetto", events).stdout
    assert "makespan" in text and open(page).read().startswith("<!DOCTYPE html>") and json.load(open(events))["traceEvents"], text


def overlap(path, runs, status, waited=0):
    """Runs as (prepare begin, prepare end, accepted, device begin, device end), each of which waits first for one before it."""
    log = Log()
    for number, (begin, prepared, accepted, start, end) in enumerate(runs, 1):
        log.add("chip.run", begin, end + 50 - begin, number, 0, slot=number % 2, status="HBG_OK", program="p")
        log.add("chip.run.bind", begin, waited + 10, number, 1)
        if waited:
            log.add("chip.run.bind.wait", begin, waited, number, 2)
        log.add("chip.run.prepare_execution", begin + 10, prepared - begin - 10, number, 1)
        notes = {} if accepted is None else {"accepted": accepted}
        log.add("chip.run.runner_run.device_wall", start, end - start, number, 2, slot=number % 2, executed=1, skipped=0, **notes)
    log.write(path)
    return hbg("trace", path, "--assert-overlap", "--skip", "1", status=status).stdout.split("overlap: ")[1]


def check_overlap(path, folder):
    file = os.path.join(folder, "pipeline")
    piped = [(100 * n, 100 * n + 40, 100 * n + 100, 100 * n + 101, 100 * n + 199) for n in range(1, 9)]
    assert overlap(file, piped, 0).startswith("6 pairs of warm runs; in 6 the later"), overlap(file, piped, 0)
    one_by_one = [(100 * n, 100 * n + 40, 100 * n + 41, 100 * n + 42, 100 * n + 90) for n in range(1, 9)]
    assert "in 0 the later" in overlap(file, one_by_one, 1)
    waiting = [(100 * n, 100 * n + 95, 100 * n + 96, 100 * n + 97, 100 * n + 189) for n in range(1, 9)]
    assert "in 0 the later" in overlap(file, waiting, 1, waited=90)
    assert "in 6 the later" in overlap(file, waiting, 0, waited=70)
    for early in ((500, 540, 580, 590, 699), (500, 540, 590, 601, 699)):         # on the device, accepted, while the one before was
        assert "; 0 lack" in overlap(file, piped[:4] + [early] + piped[5:], 1)
    assert "; 1 lacks" in overlap(file, piped[:4] + [(500, 540, None, 601, 699)] + piped[5:], 1)
    assert "0 pairs" in overlap(file, piped[:2], 1)
    swapped = piped[:3] + [piped[3][:2] + piped[4][2:], piped[4][:2] + piped[3][2:]] + piped[5:]      # launched in another order than prepared
    assert overlap(file, swapped, 0).startswith("6 pairs of warm runs; in 5 the later")
    overlap(file, piped, 0)
    lines = open(file).read().splitlines(True)
    cancelled = [line.replace("status=HBG_OK", "status=HBG_E_CANCELLED") if " inv=5 " in line else line for line in lines if not (" inv=5 " in line and "device_wall" in line)]
    cancelled = [re.sub(r"seq=\d+", f"seq={number}", line) for number, line in enumerate(cancelled)]
    cancelled[-1] = re.sub(r"emitted=\d+", f"emitted={len(cancelled)}", cancelled[-1])
    open(file, "w").writelines(cancelled)
    told = hbg("trace", file, "--assert-overlap", "--skip", "1", status=0).stdout
    assert "overlap: 5 pairs of warm runs; in 4 the later" in told and "0 lack" in told, told       # one that was cancelled behind others was on no device
    hbg("run", "vector", "n=10000", "--device", "cpu:depth=1", "--trace", path)
    assert "do not overlap" in hbg("trace", path, "--assert-overlap", status=1).stderr


def check_nesting(events):
    """Spans of a lane lie beside or inside each other."""
    lanes = {}
    for e in events:
        if e["ph"] == "X":
            lanes.setdefault((e["pid"], e["tid"]), []).append((round(e["ts"] * 1000), -round(e["dur"] * 1000), e["name"]))
    for lane in lanes.values():
        open_until = []
        for begin, length, name in sorted(lane):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or begin - length <= open_until[-1], name
            open_until.append(begin - length)
    return len(lanes)


def check_perfetto(path, folder):
    out = os.path.join(folder, "events.json")
    done = hbg("trace", path, "--perfetto", out, "--flows", "7")
    assert re.match(r"hbg trace: 7 of \d+ edges are drawn\n$", done.stderr), done.stderr
    events = json.load(open(out), parse_constant=lambda word: sys.exit(f"{word} is no JSON"))["traceEvents"]
    assert check_nesting(events) >= 4
    names = {e["args"]["name"] for e in events if e["ph"] == "M"}
    assert {"pipeline slot 0", "scheduler", "core 0"} <= names, names
    assert sum(e["ph"] == "s" for e in events) == sum(e["ph"] == "f" for e in events) == 7
    counters = [e["args"] for e in events if e["ph"] == "C"]
    assert counters[-1] == {"running": 0, "ready": 0, "waiting": 0} and all(v >= 0 for c in counters for v in c.values())
    assert not any(e["ph"] == "s" for e in json.loads(hbg("trace", path, "--perfetto", "-").stdout)["traceEvents"])
    # names that JSON would trip over
    nasty = 'a "quoted"\\ name\nwith lines; % = [STRACE] and \u00e9\u20ac'
    log = Log()
    for thread in range(8):
        for i in range(100):
            log.add("ext.t." + nasty, 1000 * i, 900, 0, 0, 10 + thread, note=nasty)
            log.add("ext.t.inner", 1000 * i + 100, 300, 0, 1, 10 + thread)
    log.write(path)
    events = json.loads(hbg("trace", path, "--perfetto", "-").stdout)["traceEvents"]
    assert check_nesting(events) == 8
    outer = [e for e in events if e["name"] == "ext.t." + nasty]
    assert len(outer) == 800 and all(e["args"] == {"note": nasty} for e in outer)
    assert trace_json(path)["user"][0]["name"] == "ext.t." + nasty


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
        check_path(folder)
        check_real_path(path)
        check_subgraphs(path, folder)
        check_together(path, folder)
        check_perfetto(path, folder)
        check_overlap(path, folder)
        hbg("run", "vector", "n=10000", "--trace", path, "--trace-level", "run")
        assert {r["depth"] for r in read(path)} == {"0"}


sys.exit(main())
