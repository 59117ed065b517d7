#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg run`: every workload verifies on every cpu device with the same bits, and the JSON says what it must."""
import csv
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

HBG = os.environ["HBG"]
DEVICES = [f"cpu:workers={workers},memory={memory}" for workers in (1, 2, 8) for memory in ("unified", "discrete")]
WORKLOADS = [
    ["vector", "n=100003", "block=4096"],
    ["vector", "n=0"],
    ["matmul", "m=70", "n=45", "k=90", "tile=20", "k_tile=25"],
    ["matmul", "m=33", "n=64", "k=0", "tile=16"],
    ["bgemm", "task_num=24", "tile=20", "loop=3", "grid_k=4"],
    ["bgemm", "task_num=24", "tile=20", "loop=3", "grid_k=4", "scope=0"],
    ["stencil", "rows=70", "columns=45", "tile=16", "steps=9"],
    ["stencil", "rows=17", "columns=33", "tile=16", "steps=4", "rate=0.25"],
    ["stencil", "rows=5", "columns=3", "tile=1", "steps=3"],
    ["stencil", "rows=40", "columns=40", "steps=0"],
    ["cholesky", "n=150", "tile=32"],
    ["cholesky", "n=64", "tile=128"],
    ["paged_attention", "batch=3", "heads=6", "kv_heads=2", "head_dim=20", "block_size=16", "context_len=70", "spread=70"],
    ["paged_attention", "batch=4", "heads=4", "head_dim=33", "block_size=7", "context_len=40", "spread=30", "dtype=bf16"],
    ["paged_attention", "batch=2", "context_len=0"],
    ["decoder", "shape=dsv4"],
    ["decoder", "layers=3", "hidden=33", "heads=6", "kv_heads=3", "head_dim=10", "ffn=70", "context=40", "batch=3", "tile=16", "page=7", "splits=3"],
    ["decoder", "layers=1", "hidden=20", "heads=1", "kv_heads=1", "head_dim=2", "ffn=1", "context=0", "batch=1", "tile=64", "splits=5"],
    ["gp", "tile=100"],
]
TIMES = ("build_ns", "upload_ns", "bind_ns", "launch_to_done_ns", "device_ns", "queued_ns", "run_ns")

# of the bundled table with the default parameters, computed with 36 decimal digits
LIKELIHOOD = -87.033695998697694
PREDICTIONS = {
    1998.0: (365.189559314369825, 0.207170619065155),
    1998.5: (366.645902590072890, 0.438507117607510),
    2000.0: (368.493319055816733, 0.811947362895325),
    2002.5: (372.974235913942727, 1.121841809751480),
}


def run(*arguments):
    return subprocess.run([HBG, "run", *arguments], capture_output=True, text=True, timeout=300)


def run_json(*arguments):
    done = run(*arguments, "--json", "-")
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    assert done.stderr == "", (arguments, done.stderr)
    return json.loads(done.stdout, parse_constant=lambda word: sys.exit(f"{word} is no JSON"))


def check_outcome(outcome, workload, device, rounds):
    assert outcome["workload"] == workload[0] and outcome["device"] == device
    for assignment in workload[1:]:
        name, value = assignment.split("=")
        assert str(outcome["parameters"][name]) == value
    assert outcome["verified"] is True and outcome["rounds"] == rounds
    assert outcome["max_abs_error"] >= 0
    for name in TIMES:
        times = outcome[name]
        assert times["min"] <= times["median"] <= times["p90"], (name, times)
        assert times["first"] >= 0
    assert isinstance(outcome["counters"], dict) and outcome["counters"]["runs"] == rounds + 2
    assert outcome["replayed"] in (0, rounds)
    if "memory=discrete" in device and outcome["tasks"]:
        assert outcome["upload_copies"] >= 1 and outcome["upload_bytes"] > 0
    if "memory=unified" in device:
        assert outcome["upload_copies"] == 0, outcome["upload_copies"]


def every_device_same_bits():
    for workload in WORKLOADS:
        seen = set()
        for device in DEVICES:
            for replay in ("on", "off"):
                outcome = run_json(*workload, "--device", device, "--verify", "--rounds", "5", "--replay", replay)
                check_outcome(outcome, workload, device, 5)
                assert outcome["replayed"] == (5 if replay == "on" else 0)
                seen.add((outcome["digest"], outcome["tasks"], outcome["edges"], outcome["max_abs_error"]))
        assert len(seen) == 1, (workload, seen)


def a_hundred_rounds():
    """Built and replayed on several workers, the same bits every time."""
    for workload in WORKLOADS:
        for replay in ("on", "off"):
            outcome = run_json(*workload, "--device", "cpu:workers=4,memory=discrete", "--verify", "--rounds", "100", "--replay", replay)
            check_outcome(outcome, workload, "cpu:workers=4,memory=discrete", 100)


def subgraphs_leave_the_same_bits():
    """The layers of the decoder as subgraphs, and their tasks one by one."""
    for workload in (workload for workload in WORKLOADS if workload[0] == "decoder"):
        seen = {run_json(*workload, f"subgraph={subgraph}", "--device", device, "--verify", "--rounds", "5")["digest"]
                for device in DEVICES for subgraph in (0, 1)}
        assert len(seen) == 1, (workload, seen)


def shapes_for_measuring():
    """Bodies are recorded once; the kernels are empty, and with --verify they are not."""
    for shape, tasks, bodies, submissions in (("qwen3", 11087, 1, 40), ("dsv4", 1131, 7, 20)):
        base = ["decoder", f"shape={shape}"]
        told = run_json(*base, "--rounds", "2", "--explain")
        assert (told["tasks"], told["verified"], told["parameters"]["shape"]) == (tasks, False, shape), told
        assert (told["explain"]["bodies_recorded"], told["explain"]["bodies_replayed"]) == (bodies, submissions - bodies), told
        plain = run_json(*base, "subgraph=0", "--rounds", "2", "--verify", "--explain")
        assert (plain["tasks"], plain["verified"], plain["explain"]["bodies_recorded"]) == (tasks, True, 0), plain
        with tempfile.TemporaryDirectory() as folder:
            first, again, verified = (os.path.join(folder, name + ".npy") for name in ("first", "again", "verified"))
            run_json(*base, "--rounds", "1", "--out-npy", f"keys={first}")
            run_json(*base, f"keys={first}", "--rounds", "1", "--seed", "2", "--out-npy", f"keys={again}")
            told = run_json(*base, f"keys={first}", "--rounds", "1", "--verify", "--out-npy", f"keys={verified}")
            assert told["digest"] == plain["digest"], (told, plain)
            first, again, verified = (open(path, "rb").read() for path in (first, again, verified))
            assert first == again != verified, shape


def explained():
    """--explain: what was built and recorded, and what was replayed."""
    base = ["decoder", *WORKLOADS[-3][1:], "--rounds", "4", "--warmup", "1", "--explain"]
    told = run_json(*base)["explain"]
    assert (told["pure"], told["built"], told["replayed"], told["built_again"]) == (True, 1, 4, []), told
    assert (told["bodies_recorded"], told["bodies_replayed"], told["bodies_missed"]) == (1, 2, 0), told
    told = run_json(*base, "--replay", "off")["explain"]
    assert (told["pure"], told["built"], told["replayed"]) == (False, 5, 0), told
    assert (told["bodies_recorded"], told["bodies_replayed"]) == (1, 14), told
    text = run(*base).stdout
    assert re.search(r"\nruns +1 built, 4 replayed\n  built +1: there was no recording\nbodies +1 recorded, 2 replayed, in these builds\ndefinitions +1 uploaded, ", text), text
    assert "--replay says so" in run(*base, "--replay", "off").stdout
    off, compared = (run_json("bgemm", "--rounds", "8", "--warmup", "0", "--verify", "--replay", way) for way in ("off", "compare"))
    assert off["digest"] == compared["digest"] and off["counters"]["builds_repeated"] == 0 < compared["counters"]["builds_repeated"], (off, compared)
    text = run("bgemm", "--rounds", "8", "--replay", "compare", "--explain").stdout
    assert re.search(r"\n  compared +\d+ of these: the calls were those of the build before, and nothing was made\n", text), text
    text = run("vector", "n=1000", "--explain").stdout
    assert "\nruns " in text and "bodies" not in text and "\nruns " not in run("vector", "n=1000").stdout, text
    assert "explain" not in run_json("vector", "n=1000")


def seeds():
    one, again, two = (run_json("vector", "n=1000", "--verify", "--rounds", "1", "--seed", seed) for seed in ("7", "7", "8"))
    assert one["digest"] == again["digest"] != two["digest"]
    assert one["seed"] == 7
    assert "seed                     7" in run("vector", "n=10", "--seed", "7").stdout


def without_verify():
    outcome = run_json("vector", "n=10", "--rounds", "1", "--warmup", "0")
    assert outcome["verified"] is False and outcome["max_abs_error"] is None
    assert outcome["run_ns"]["first"] > 0 and outcome["run_ns"]["median"] is None


def gp_against_known_values():
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "out.csv")
        predict = "predict=" + ",".join(str(time) for time in PREDICTIONS)
        outcome = run_json("gp", predict, "--out", table, "--verify")
        assert outcome["results"]["n"] == 468
        assert abs(outcome["results"]["log_marginal_likelihood"] - LIKELIHOOD) < 1e-7
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        assert [float(row["time"]) for row in rows] == list(PREDICTIONS)
        for row, shown in zip(rows, outcome["results"]["table"]):
            mean, deviation = PREDICTIONS[float(row["time"])]
            assert abs(float(row["mean"]) - mean) < 1e-8 and abs(float(row["deviation"]) - deviation) < 1e-8
            assert float(row["mean"]) == shown["mean"] and float(row["deviation"]) == shown["deviation"]
    text = run("gp", predict).stdout
    assert "log marginal likelihood  -87.033696\n" in text
    assert "     1998.5000     366.64590    0.43850712\n" in text


def gp_on_own_table():
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "own.csv")
        with open(table, "w") as file:
            file.write("note,level,year\n" + "".join(f"n{i},{(i * 37) % 11},{2000 + i / 4}\n" for i in range(70)))
        outcome = run_json("gp", f"data={table}", "x=year", "y=level", "tile=16", "predict=2001.1,2030", "season_amplitude=0", "--verify")
        assert outcome["results"]["n"] == 70 and outcome["verified"] is True
        assert len(outcome["results"]["table"]) == 2


def json_file_and_text():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "o.json")
        done = run("cholesky", "n=40", "tile=16", "--verify", "--json", path)
        assert done.returncode == 0 and "verified                 yes" in done.stdout
        with open(path) as file:
            assert json.load(file)["residual"] < 1e-14


def text_lists_what_was_asked():
    """Parameters that are not at their defaults, and every run that the verdict speaks of."""
    text = run("bgemm", "task_num=24", "tile=20", "--verify", "--rounds", "3", "--warmup", "1").stdout
    assert "workload                 bgemm task_num=24 tile=20, the others at their defaults\n" in text, text
    assert "rounds                   3, 3 of them replayed, after 1 to warm up, and 2 that are built after them\n" in text, text
    assert "the same bits in all 6 runs\n" in text, text
    text = run("vector", "--rounds", "1", "--replay", "off").stdout
    assert "workload                 vector with its defaults\n" in text, text
    assert "rounds                   1, 0 of them replayed, after 2 to warm up\n" in text, text
    text = run("gp").stdout
    assert all(len(line) <= 110 for line in text.splitlines()), text


def seconds(text, label):
    """The first time of the line of that label."""
    found = re.search(rf"^{label} .*?([\d.]+) (ns|us|ms|s)\b", text, re.M)
    assert found, (label, text)
    return float(found[1]) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[found[2]]


def run_both(*arguments):
    """The text and the JSON of one call."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "o.json")
        text = run(*arguments, "--json", path).stdout
        with open(path) as file:
            return text, json.load(file)


def times_of_runs_in_flight():
    """The wait behind the run before is no device time, and the text tells it apart."""
    for depth in (1, 2):
        text, outcome = run_both("bgemm", "--device", f"cpu:workers=1,depth={depth}")
        median = {name: outcome[name]["median"] for name in TIMES}
        assert outcome["depth"] == depth and abs(seconds(text, "device time") / median["device_ns"] * 1e9 - 1) < 0.01, (text, outcome)
        assert outcome["device_ns"]["min"] * outcome["rounds"] <= outcome["rounds_ns"], outcome     # one executes at a time
        assert median["device_ns"] + outcome["queued_ns"]["min"] <= median["launch_to_done_ns"] <= median["run_ns"], outcome
        shown = "\nqueued  " in text
        assert shown == (depth > 1 or median["queued_ns"] * 100 > median["run_ns"]), (text, outcome)
        assert not shown or abs(seconds(text, "queued") / median["queued_ns"] * 1e9 - 1) < 0.01, (text, outcome)


def copies_lie_between_launch_and_start():
    """Large arguments travel behind the launch: with one run in flight the text tells of that time as well. Where a busy machine keeps the host waiting before
    its launch they have arrived by then: so in one of several tries."""
    for _ in range(10):
        text, outcome = run_both("vector", "n=2000000", "--device", "cpu:workers=1,depth=1,memory=discrete")
        large = outcome["queued_ns"]["median"] * 100 > outcome["run_ns"]["median"]
        assert large == ("\nqueued  " in text), (text, outcome)
        if large:
            return
    raise AssertionError((text, outcome))


def failing_kernel():
    done = run("cholesky", "n=64", "tile=16", "dominance=0", "--json", "-")
    assert done.returncode == 1
    assert "cholesky: run: HBG_E_KERNEL: " in done.stderr and "potrf" in done.stderr and "returned 2" in done.stderr, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["status"] == "HBG_E_KERNEL" and outcome["verified"] is False
    assert outcome["error"]["name"] == "potrf" and outcome["error"]["code"] == 2 and outcome["error"]["step"] == "run"


def progress_on_a_terminal():
    terminal, slave = pty.openpty()
    arguments = [HBG, "run", "vector", "n=1000", "--verify", "--json", "-"]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=slave, text=True, timeout=60)
    os.close(slave)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert done.returncode == 0 and json.loads(done.stdout)["verified"] is True
    assert "inputs .." in shown and "reference .." in shown, repr(shown)
    assert shown.endswith("\r\033[K"), repr(shown)


def info():
    done = subprocess.run([HBG, "info", "--device", "cpu:workers=3"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    for label in ("hbg", "machine", "cpus", "cpu quota", "page", "device", "device says"):
        assert re.search(f"^{label} {{2,}}\\S", done.stdout, re.MULTILINE), (label, done.stdout)
    assert re.search(r": 3 workers, unified memory, \d+ MiB of address space", done.stdout), done.stdout
    with open(HBG, "rb") as file:
        program = file.read()
    if b"__asan_init" in program or b"__tsan_init" in program:      # their shadow memory alone is larger
        return
    limited = subprocess.run(["bash", "-c", 'ulimit -v 4000000; "$HBG" info'], capture_output=True, text=True, timeout=60)
    assert limited.returncode == 0 and "limited to 4,096,000,000 bytes" in limited.stdout, limited.stdout
    reserved = re.search(r"unified memory, (\d+) MiB of address space reserved an arena", limited.stdout)
    assert reserved and 1 <= int(reserved.group(1)) <= 4096000000 >> 29, limited.stdout
    for workload in WORKLOADS:      # eight workers' stacks, arenas, and what the BLAS takes for each thread
        for memory in ("unified", "discrete"):
            command = 'ulimit -v 1500000; "$HBG" run "$@" --verify --rounds 3 --device cpu:workers=8,memory=' + memory
            done = subprocess.run(["bash", "-c", command, "bash", *workload], capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, (workload, memory, done.stdout, done.stderr)


def interrupted_run_keeps_old_files():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        with open(path, "w") as file:
            file.write("earlier")
        done = subprocess.Popen([HBG, "run", "gp", "--rounds", "100000", "--json", path, "--out", os.path.join(folder, "new.csv")],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        done.send_signal(signal.SIGINT)
        assert done.wait(timeout=60) != 0
        with open(path) as file:
            assert file.read() == "earlier"
        assert os.listdir(folder) == ["result.json"], os.listdir(folder)


if __name__ == "__main__":
    for test in (every_device_same_bits, a_hundred_rounds, subgraphs_leave_the_same_bits, shapes_for_measuring, explained, seeds, without_verify, gp_against_known_values, gp_on_own_table, json_file_and_text,
                 text_lists_what_was_asked, times_of_runs_in_flight, copies_lie_between_launch_and_start, failing_kernel, progress_on_a_terminal, interrupted_run_keeps_old_files, info):
        test()
        print("ok", test.__name__)
