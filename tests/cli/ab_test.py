#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ab_test.py - `hbg ab`: verdicts on commands whose times are made up by a seed, failures, signals, result files.

The made command counts its runs in a file and prints times that were drawn for that run by a seed, so that a comparison gives the same
verdict on any machine.
"""
import html.parser
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HBG = os.environ["HBG"]
MADE = """\
read n < count
echo $((n + 1)) > count
[ -e "$1/$n" ] || { echo "made to fail" >&2; exit 1; }
while read line; do echo "$line"; done < "$1/$n"
"""
RUNS = 260


class Folder:
    """A folder with the made command; each comparison counts from 0."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        (self.path / "made.sh").write_text(MADE)

    def made(self, level, noise, seed="s", rounds=1, mode="text", fails=()):
        """A command whose n-th run prints what stands in the n-th file of a folder, and fails where there is none."""
        folder = self.path / f"{level}_{noise}_{seed}_{rounds}_{mode}"
        if not folder.exists():
            folder.mkdir()
            for n in range(RUNS):
                if n not in fails:
                    (folder / str(n)).write_text(self.output(random.Random(f"{seed} {n}"), level, noise, rounds, mode) + "\n")
        return f"sh made.sh '{folder.name}'"

    @staticmethod
    def output(chance, level, noise, rounds, mode):
        batch = level * (1 + noise * chance.gauss(0, 1))
        times = [batch * (1 + .01 * chance.gauss(0, 1)) for _ in range(rounds)] if rounds > 1 else [batch]
        if mode == "json":
            return json.dumps({"rounds": [{"ns": t} for t in times], "bytes": 512 if level < 1.01 else 1024, "same": 7})
        return "\n".join(f"time: {t!r} ms" for t in times)

    def ab(self, *arguments, wanted=0, **variables):
        """`hbg ab`, which finds what it remembers in this folder, and looks at no GPU; a variable that is None is not there."""
        (self.path / "count").write_text("0\n")
        variables = {**os.environ, "XDG_STATE_HOME": str(self.path / "state"), "CUDA_VISIBLE_DEVICES": "", **variables}
        done = subprocess.run([HBG, "ab", *map(str, arguments)], capture_output=True, text=True, cwd=self.path, timeout=100,
                              env={name: value for name, value in variables.items() if value is not None})
        if done.returncode != wanted:
            sys.exit(f"hbg ab {arguments}: exit status {done.returncode} instead of {wanted}\n{done.stdout}\n{done.stderr}")
        if "no change" in done.stdout:
            sys.exit("nothing is ever called no change")
        return done


TEXT = ("--metric", "time: ([0-9.]+) ms", "--no-gate", "--rounds", "1")


def expect(condition, sentence, done=None):
    if not condition:
        sys.exit(f"{sentence}\n{done.stdout if done else ''}\n{done.stderr if done else ''}")


def verdicts(f):
    for level, noise, verdict in ((1.05, .01, "SLOWER"), (.95, .01, "FASTER"), (1.003, .004, "EQUIVALENT"), (1.003, .08, "INCONCLUSIVE")):
        done = f.ab("-a", f.made(1, noise), "-b", f.made(level, noise), *TEXT, "--out", "out.json")
        expect(done.stdout.split("\n\n")[1].startswith(verdict + ":"), f"{level} with noise of {noise} is {verdict}", done)
        result = json.loads((f.path / "out.json").read_text())
        outcome = result["series"][0]["outcome"]
        expect(outcome["low"] <= level - 1 <= outcome["high"], f"the interval holds {level}", done)
        batches = result["series"][0]["batches"]
        orders = {"".join(b["arm"] for b in batches[i:i + 4]) for i in range(0, 40, 4)}
        expect(len(batches) == 40 and orders == {"ABBA", "BAAB"} and all(b["padding"] % 16 == 0 for b in batches), "ten blocks, ABBA or BAAB")
        expect(len({b["padding"] for b in batches}) > 10, "the padding changes")
        if verdict == "INCONCLUSIVE":
            expect("blocks would reach the margin" in done.stdout and "half width" in done.stdout, "it says how many blocks are needed", done)
    slow = ("-a", f.made(1, .01), "-b", f.made(1.05, .01), *TEXT, "--blocks", "6")
    f.ab(*slow, "--expect", "faster", wanted=1)
    f.ab(*slow, "--expect", "not-slower", wanted=1)
    f.ab(*slow, "--expect", "equivalent", wanted=1)
    done = f.ab(*slow, "--higher-is-better", "--expect", "faster")
    expect("\nFASTER" in done.stdout, "more is better", done)
    f.ab("-a", f.made(1, .001), "-b", f.made(1.003, .001), *TEXT, "--blocks", "6", "--expect", "not-slower")
    done = f.ab(*slow[:-1], "5")
    expect("\nINCONCLUSIVE: 5 blocks are fewer than the 6" in done.stdout, "five blocks are too few", done)


def control_and_sizing(f):
    done = f.ab("-a", f.made(1, .01), "-b", f.made(1.05, .01), *TEXT, "--blocks", "6", "--aa")
    expect("noise floor" in done.stdout and "A against A" in done.stdout, "the control is told", done)
    often = [5, 9, 13]
    broken = ("-a", f.made(1, .01, seed="gone", fails=often), "-b", f.made(1.05, .01, seed="gone", fails=often), *TEXT, "--aa")
    done = f.ab(*broken, "--out", "gone.json", wanted=3)
    expect(re.search(r"^A against A +not run, the comparison is INVALID$", done.stdout, re.M), "a control that is not run is told", done)
    result = json.loads((f.path / "gone.json").read_text())
    expect(result["control_why"] == "not run, the comparison is INVALID" and len(result["series"]) == 1, "and in the file", done)
    expect(f.ab("--recheck", "gone.json", wanted=3).stdout == done.stdout, "and by --recheck")
    done = f.ab("-a", f.made(1, .01), "--aa", *TEXT, "--blocks", "6", "--json", "-")
    result = json.loads(done.stdout)
    expect(result["verdict"] in ("EQUIVALENT", "INCONCLUSIVE") and result["series"][0]["control"] and 0 < result["noise_floor"] < .05, "A alone")
    done = f.ab("-a", f.made(1, .02), "-b", f.made(1.01, .02), *TEXT, "--resolve", "1", "--json", "-")
    result = json.loads(done.stdout)
    expect(result["declared"]["pilot"] == 8 and result["declared"]["blocks"] > 8 and result["series"][0]["outcome"]["df"] == 7, "the pilot sizes the comparison", done)
    expect(len(result["series"][0]["batches"]) == 4 * result["declared"]["blocks"] and result["series"][0]["outcome"]["half"] <= .0101, "and its half width is reached", done)


def metrics(f):
    rounds = ("-a", f.made(1, .01, rounds=40, mode="json"), "-b", f.made(1.05, .01, rounds=40, mode="json"), "--metric", "json:rounds.ns", "--no-gate", "--blocks", "6")
    slow = [word.replace("sh made.sh", "sleep .1; sh made.sh") for word in rounds]
    done = f.ab(*slow, "--json", "-", "--expect-differs", "json:bytes")
    result = json.loads(done.stdout)
    batch = result["series"][0]["batches"][0]
    expect(result["verdict"] == "SLOWER" and len(batch["rounds"]) == 38 and len(batch["cold"]) == 2 and result["declared"]["inner"], "rounds inside a process", done)
    expect(result["series"][0]["outcome"]["counter_b"] == 1024 and result["series"][0]["outcome"]["design_effect"] > 1, "counter and design effect", done)
    done = f.ab(*slow[:-1], "1", "--expect-differs", "json:same", wanted=3)
    expect("\nINVALID: the arms do not differ in what is tested" in done.stdout, "the manipulation check", done)
    few = ("-a", "sleep .1; " + f.made(1, .01, rounds=20), "-b", "sleep .1; " + f.made(1.05, .01, rounds=20), *TEXT[:3])
    expect("a batch needs 30" in f.ab(*few, wanted=2).stderr, "twenty rounds are too few")
    expect("a process takes" in f.ab(*rounds, "--rounds", "30", wanted=2).stderr, "a process that is too short")
    count = "sleep .1; for i in $(seq {rounds}); do echo time: $i.%d ms; done"
    done = f.ab("-a", count % 1, "-b", count % 2, *TEXT[:3], "--rounds", "50", "--warmup", "3", "--blocks", "1", "--json", "-")
    result = json.loads(done.stdout)
    expect(len(result["series"][0]["batches"][3]["rounds"]) == 50 and len(result["series"][0]["batches"][3]["cold"]) == 3, "{rounds}", done)
    count = "for i in $(seq {rounds}); do sleep .002; echo time: $i.%d ms; done"
    done = f.ab("-a", count % 1, "-b", count % 2, *TEXT[:3], "--blocks", "1", "--json", "-")
    expect(json.loads(done.stdout)["declared"]["rounds"] >= 30, "{rounds} without a number is calibrated", done)
    done = f.ab("-a", f.made(100, 0), "-b", f.made(103, 0), *TEXT, "--blocks", "6")
    expect("\nDETERMINISTIC" in done.stdout and "exactly 3 (" in done.stdout, "times to the digit", done)
    done = f.ab("-a", f"{HBG} run vector --device sim:seed=1 n=100 --rounds 40", "-b", f"{HBG} run vector --device sim:seed=1 n=100 --rounds 41", "--span", "chip.run.nothing", wanted=3)
    expect("its trace has no span `chip.run.nothing`" in done.stderr, "a span that is not there", done)
    done = f.ab("-a", f"sleep .1; {HBG} run vector n=1000 --rounds 40", "-b", f"sleep .1; {HBG} run vector n=1001 --rounds 40", "--span", "chip.run.bind", "--no-gate", "--blocks", "1", "--json", "-")
    result = json.loads(done.stdout)
    expect({"chip.run.bind.args", "chip.run.bind.build"} <= set(result["series"][0]["batches"][0]["parts"]), "spans inside of it", done)
    shown = [value for name, value in result["a"] if name in ("first run", "second run")]
    expect(len(shown) == 2 and all(re.match(r"[0-9.]+ (us|ms|s), ", value) for value in shown), "first runs have a unit in each number", done)
    expect(result["declared"]["metric"] == "span chip.run.bind" and result["declared"]["inner"] and len(result["series"][0]["batches"][0]["rounds"]) == 40, "a span of each round, and not of the two that are built behind them", done)


def failures(f):
    a, b = f.made(2, .01), f.made(2.1, .01)
    for command, sentence in (("echo oh >&2; exit 3", "ended with status 3: oh"), ("kill -SEGV $$", "was ended by signal 11"), ("no-such-command-at-all", "ended with status 127"),
                              ("echo hello", "nothing of its output matches"), ("echo time: 0 ms", "only numbers above 0"), ("sleep 20", "ran for more than 0.3 s")):
        done = f.ab("-a", "echo time: 1 ms", "-b", command, *TEXT, "--timeout", ".3", "--out", "none.json", wanted=3)
        expect(done.stderr.startswith("hbg ab: INVALID: B: ") and sentence in done.stderr and not (f.path / "none.json").exists(), f"{command}: {sentence}", done)
    done = f.ab("-a", "echo time: 1 ms", "-b", "echo time: a1 ms", "--metric", "time: (.*) ms", wanted=3)
    expect("`a1`, which is no number" in done.stderr, "a match that is no number", done)
    done = f.ab("-a", f.made(1, .01, fails=[9]), "-b", f.made(1.05, .01, fails=[9]), *TEXT)
    expect("\nSLOWER" in done.stdout and "1 dropped" in done.stdout and "made to fail" in done.stdout, "a block with a failure is replaced", done)
    often = [5, 12, 18]
    done = f.ab("-a", f.made(1, .01, seed="often", fails=often), "-b", f.made(1.05, .01, seed="often", fails=often), *TEXT, wanted=3)
    ran = re.search(r"\nINVALID: 3 of (\d+) blocks were dropped, of 10 planned; it stopped\n", done.stdout)
    expect(ran and 3 <= int(ran[1]) <= 5, "three of ten are too many, and it is said how many ran", done)
    for option in ("--out", "--json", "--page"):
        done = f.ab("-a", "touch ran", "-b", "touch  ran", *TEXT, option, "nowhere/x", wanted=1)
        expect("`nowhere/x` cannot be written" in done.stderr and not (f.path / "ran").exists(), f"{option}: refused before anything runs", done)
    for arguments, sentence in (((), "two commands are needed"), (("-a", a), "two commands are needed"), (("-a", a, "-b", a), "the arms do not differ"), (("-a", a, "-b", b, "more"), "one argument too many"),
                                (("-a", a, "-b", b, "--blocks", "0"), "--blocks"), (("-a", a, "-b", b, "--margin", "0"), "--margin"), (("-a", a, "-b", b, "--metric", "("), "is no expression"),
                                (("-a", a, "-b", b, "--metric", "wall", "--span", "x"), "both say"), (("-a", a, "-b", b, "--blocks", "6", "--resolve", "3"), "both say"),
                                (("-a", a, "-b", b, "--expect", "fastr"), "did you mean `faster`"), (("-a", a, "-b", b, "--out", "x", "--json", "x"), "x"),
                                (("--simulate", "--recheck", "x"), "--recheck means nothing beside --simulate"), (("-a", a, "-b", b, "--expect-differs", "wall"), "no counter")):
        done = f.ab(*arguments, wanted=2)
        expect(sentence in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {sentence}", done)
    for option in ("-a", "-b", "--metric", "--span", "--blocks", "--resolve", "--rounds", "--warmup", "--margin", "--seed", "--expect-differs", "--cool-down", "--timeout", "--out"):
        done = f.ab("--recheck", "x", option, "1", wanted=2)
        expect(done.stderr == f"hbg ab: {option} means nothing beside --recheck, which judges what a file holds; --expect, --json and --page may stand there\n", f"--recheck {option}", done)
    for option in ("--mean", "--higher-is-better", "--aa", "--no-memory", "--no-gate", "--exclusive", "--wait", "--wait=3"):
        expect(f"{option.split('=')[0]} means nothing beside --recheck" in f.ab("--recheck", "x", option, wanted=2).stderr, f"--recheck {option}")
    for option in (("--expect", "faster"), ("--margin", "3"), ("--json", "x"), ("--no-gate",)):
        expect(f"hbg ab: {option[0]} means nothing beside --simulate" in f.ab("--simulate", *option, wanted=2).stderr, f"--simulate {option}")
    done = f.ab("-a", "X=1 Y=2 true", "-b", "X=2 Y=3 true", "--no-gate", "--blocks", "1", "--rounds", "1")
    expect("2 things: an effect is not attributable to one cause" in done.stdout, "two variables", done)
    for label in ("first", "second"):
        expect(len(re.findall(rf"^    {label} run  +[0-9.]{{1,6}} (us|ms|s)$", done.stdout, re.M)) == 2, f"{label} runs have their unit, and few digits", done)


def running(marker):
    """Processes that sleep for so long: the word is in the command of hbg as well."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "cmdline").read_bytes() and (folder / "comm").read_text() in ("sleep\n", "sh\n"):
                found.append(folder.name)
        except OSError:
            pass
    return found


def gone(marker):
    for _ in range(50):
        if not running(marker):
            return True
        time.sleep(.1)
    return False


def nothing_left(f):
    marker = f"51{os.getpid()}"
    f.ab("-a", "true", "-b", f"sleep {marker} & sleep {marker}", "--timeout", ".3", wanted=3)
    expect(gone(marker), "a group whose time is over is gone")
    f.ab("-a", f"sleep {marker} & true", "-b", f"sleep {marker} & :", "--no-gate", "--blocks", "1", "--rounds", "1")
    expect(gone(marker), "what a shell leaves running is gone")
    for number in (signal.SIGINT, signal.SIGTERM):
        (f.path / "kept.json").write_text("old")
        child = subprocess.Popen([HBG, "ab", "-a", f"sleep {marker}", "-b", f"sleep  {marker}0", "--out", "kept.json"], cwd=f.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not running(marker):
            time.sleep(.02)
        child.send_signal(number)
        _, errors = child.communicate(timeout=20)
        expect(child.returncode == -number and "interrupted: nothing is written" in errors, f"signal {number}: {child.returncode} {errors}")
        expect(gone(marker) and (f.path / "kept.json").read_text() == "old", "no child, and the old file")


def holders(f):
    """Who takes a device while it runs is told with the time, and who has it before without; by --recheck as well."""
    lock, wait, taken = f.path / "locks/cpu.0.lock", f.path / "wait", f.path / "taken"
    others = []

    def take():
        while not wait.exists():
            time.sleep(.01)
        others.append(subprocess.Popen([HBG, "ab", "-a", "sleep 9", "-b", "sleep 8", "--exclusive"], cwd=f.path, env={**os.environ, "HBG_LOCK_DIR": str(lock.parent)},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        while not lock.exists() or not lock.read_text():
            time.sleep(.01)
        taken.write_text("")

    # the seventh run asks for a holder and waits for it; four first runs and two batches come before
    (f.path / "hold.sh").write_text("n=$(cat count); echo $((n + 1)) > count\n[ $n != 6 ] || touch wait\nwhile [ -e wait ] && [ ! -e taken ]; do sleep .01; done\n")
    for before, when in ((True, ""), (False, "from block 1, batch 3 on: ")):
        taken.unlink(missing_ok=True)
        wait.unlink(missing_ok=True)
        holding = threading.Thread(target=take)
        holding.start()
        if before:
            wait.write_text("")
            holding.join()
        done = f.ab("-a", "sh hold.sh; echo time: 1 ms", "-b", "sh hold.sh; echo time: 2 ms", *TEXT, "--blocks", "1", "--out", "out.json", HBG_LOCK_DIR=str(lock.parent))
        holding.join()
        others[-1].terminate()
        others[-1].wait()
        held = re.findall(r"^held +cpu.0: (.*)$", done.stdout, re.M)
        expect(len(held) == 1 and held[0].startswith(f"{when}user ") and f"process {others[-1].pid}, " in held[0], f"{held}", done)
        expect(f.ab("--recheck", "out.json").stdout == done.stdout, "--recheck says the same")


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.count, self.outside = {}, []

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.outside += [value for name, value in attributes if name in ("src", "href")]


def seal(text):
    """With the checksum that its bytes have, so that what else is checked shows."""
    head, tail = text[:-20], text[-4:]
    value = 0xcbf29ce484222325
    for byte in (head + tail).encode():
        value = (value ^ byte) * 0x100000001b3 % 2 ** 64
    return f"{head}{value:016x}{tail}"


def leaves(text):
    """Of each key the first, the middle and the last value below it, as places in the text."""
    found, key = {}, None
    for m in re.finditer(r'"(\w+)":|"[^"\n]+"|-?[0-9][0-9.e+-]*|true|false|null', text):
        if m[1]:
            key = m[1]
        else:
            found.setdefault(key, []).append(m.span())
    return {(key, place) for key, places in found.items() for place in (places[0], places[len(places) // 2], places[-1])}


def other(leaf):
    """Another value of the same kind: one digit, letter or flag differs."""
    if leaf in ("true", "false", "null"):
        return {"true": "false", "false": "true", "null": "0"}[leaf]
    at = next((i for i, c in enumerate(leaf) if c.isdigit()), 1)
    return leaf[:at] + ("7" if leaf[at] != "7" else "3") + leaf[at + 1:]


def damage(f):
    f.ab("-a", f.made(1, .01), "-b", f.made(1.05, .01), *TEXT, "--blocks", "6", "--out", "out.json")
    text = (f.path / "out.json").read_text()
    expect(seal(text) == text and text.endswith('"\n}\n'), "the checksum is that of all bytes but its own digits")

    def recheck(damaged, sentence):
        expect(damaged != text, f"something was changed for {sentence}")
        (f.path / "damaged.json").write_text(damaged)
        done = f.ab("--recheck", "damaged.json", wanted=1)
        expect(sentence in done.stderr and done.stderr.count("\n") == 1, f"a damaged file: {sentence}", done)

    sample = leaves(text)
    expect({"verdict", "why", "a", "metric", "causes", "outputs_equal", "seed", "rounds", "load", "checksum"} <= {key for key, _ in sample}, "all kinds of leaves")
    for key, (begin, end) in sorted(sample):
        recheck(text[:begin] + other(text[begin:end]) + text[end:], "it is damaged: " if key != "format" else "no result of")
    for at in (*range(0, len(text), len(text) // 20), len(text) - 1):     # cut anywhere, the last line end as well; and one byte more
        recheck(text[:at], "it is ")
        recheck(text[:at] + " " + text[at:], "it is ")

    for sentence, damaged in {
        "`verdict` does not follow": text.replace('"verdict": "SLOWER"', '"verdict": "FASTER"'),
        "`effect` does not follow": text.replace('"effect": 0.0', '"effect": 0.1'),
        "`expectation_met` does not follow": text.replace('"expectation_met": true', '"expectation_met": false'),
        "`batches` is missing": text.replace('"batches"', '"batch"'),
        "`slot` is missing or wrong": text.replace('"slot": 3', '"slot": 4', 1),
        "(hbg-ab 1), whose checksum leaves out": text.replace('"hbg-ab 2"', '"hbg-ab 1"'),
    }.items():
        recheck(seal(damaged), sentence)
    digits = repr(json.loads(text)["series"][0]["batches"][0]["rounds"][0])
    recheck(text.replace(f" {digits}", f" {digits[:-1]}", 1), "its bytes do not have its checksum")
    recheck("", "it is empty")
    recheck("{}", "no result of")
    expect("cannot be read" in f.ab("--recheck", "nowhere.json", wanted=2).stderr, "a file that is not there")


def files(f):
    done = f.ab("-a", f.made(1, .01), "-b", f.made(1.05, .01, seed="<&>"), *TEXT, "--blocks", "6", "--out", "out.json", "--page", "page.html")
    again = f.ab("--recheck", "out.json")
    expect(done.stdout == again.stdout, "--recheck prints the same", again)
    f.ab("--recheck", "out.json", "--json", "again.json", "--page", "again.html")
    expect((f.path / "again.json").read_text() == (f.path / "out.json").read_text(), "and writes the same")
    for what, status in (("faster", 1), ("equivalent", 1), ("not-slower", 1), ("slower", 2)):
        done = f.ab("--recheck", "out.json", "--expect", what, "--json", "expected.json", wanted=status)
        if status == 1:
            expect(f"{what}: not met" in f.ab("--recheck", "out.json", "--expect", what, wanted=1).stdout, "the expectation is honoured")
            expect(json.loads((f.path / "expected.json").read_text())["declared"]["expect"] == what, "and written")
            f.ab("--recheck", "expected.json", wanted=1)
    f.ab("-a", f.made(1, .01), "-b", f.made(.95, .01), *TEXT, "--blocks", "6", "--out", "fast.json")
    expect("faster: met" in f.ab("--recheck", "fast.json", "--expect", "faster").stdout, "an expectation that is met")
    page = (f.path / "page.html").read_text()
    expect(page == (f.path / "again.html").read_text() and "http" not in page and "<script" not in page and "&lt;&amp;>" in page, "one page, self-contained")
    reader = Reader()
    reader.feed(page)
    expect(reader.count["svg"] == 3 and reader.count["circle"] >= 24 + 6 + 1 and reader.count["rect"] >= 24 and not reader.outside, f"what is drawn: {reader.count}")

    done = f.ab("-a", f.made(1, .01), "-b", f.made(1.05, .01, seed="<&>"), *TEXT, "--blocks", "6", "--out", "out.json", "--seed", "2")
    expect("attempt 1: SLOWER, seed 1, 6 blocks, effect +" in done.stdout, "attempts are logged", done)
    broken = ("-a", f.made(1, .01, seed="broken", fails=range(4, RUNS)), "-b", f.made(1.05, .01, seed="broken", fails=range(4, RUNS)), *TEXT, "--blocks", "1", "--out", "broken.json")
    f.ab(*broken, wanted=3)
    expect("attempt 1: INVALID, seed 1, 0 blocks\n" in f.ab(*broken, wanted=3).stdout, "an attempt without an effect")


def labels(page):
    """Of a page the labels of its axes and the tips of what is drawn."""
    drawn = page.split("<h2>Report</h2>")[0]
    return re.findall(r'text-anchor="end">([^<]*)</text>', drawn), re.findall(r"<title>([^<]*)</title>", drawn.split("</head>")[1])


def pages(f):
    """Whatever the unit, the labels of a page are those of the report, and no zero is negative."""
    span = ("-a", f"sleep .1; {HBG} run vector n=100000 --rounds 40", "-b", f"sleep .1; {HBG} run vector n=100001 --rounds 40", "--span", "chip.run.bind")
    for name, line in {"wall": ("-a", "sleep .02", "-b", "sleep .021"), "span": span}.items():
        f.ab(*line, "--no-gate", "--blocks", "2", "--page", f"{name}.html")
        axes, tips = labels((f.path / f"{name}.html").read_text())
        expect(axes and tips and not [text for text in axes + tips if re.search(r"\de[+-]|-0(\.0*)?( |,|$|\])", text)], f"{name}: {axes} {tips}")
        times = [text for text in axes if not text.endswith("%")]
        expect(times and all(re.fullmatch(r"0|[0-9.]+ (us|ms|s)", text) for text in times), f"{name}: {times}")
        batches = [text for text in tips if re.match(r"block \d+, batch \d+, [AB]:", text)]
        number = r"[0-9.]+ (us|ms|s)"
        expect(len(batches) == 8 and all(re.search(rf": {number}, \d+ rounds? from {number} to {number}", text) for text in batches), f"{name}: {batches}")
    made = ("-a", f.made(12345678, .01), "-b", f.made(12345999, .01), *TEXT, "--blocks", "6", "--page", "made.html")
    done = f.ab(*made)
    axes, tips = labels((f.path / "made.html").read_text())
    expect(not re.search(r"\de[+-]", " ".join(axes + tips) + re.search("^levels.*$", done.stdout, re.M)[0]), f"large numbers: {axes} {tips}", done)
    expect("-0.00 " not in done.stdout.replace(",", " ").replace("]", " "), "no zero is negative", done)


def paths(f):
    """A path of JSON that leads nowhere is told with what there is instead."""
    one = f"{HBG} run vector n=1000 --rounds 2 --json -"
    for path, sentence in {
        "device_ns.medan": "no number at `device_ns.medan`: `device_ns` has the keys first, min, median, p90",
        "rounds.ns": "no number at `rounds.ns`: `rounds` is a number",
        "device_ns": "no number at `device_ns`: `device_ns` has the keys first, min, median, p90",
        "workload": "no number at `workload`: `workload` is a string",
        "nothing": "no number at `nothing`: it has the keys workload, parameters, device, ",
    }.items():
        done = f.ab("-a", one, "-b", one.replace("1000", "1001"), "--metric", f"json:{path}", wanted=3)
        expect(sentence in done.stderr and len(done.stderr) < 320 and done.stderr.count("\n") == 1, f"{path}: {sentence}", done)
    done = f.ab("-a", "echo '[{\"x\": [1]}]'", "-b", "echo  '[{\"x\": [1]}]'", "--metric", "json:y", "--aa", wanted=3)
    expect("no number at `y`: element 0 has the key x" in done.stderr, "inside of an array", done)
    done = f.ab("-a", one, "-b", one.replace("1000", "1001"), "--metric", "json:device_ns.median", "--no-gate", "--blocks", "1", "--json", "-")
    expect(json.loads(done.stdout)["series"][0]["batches"][0]["rounds"], "the path of the manual page is one", done)
    source = os.environ["HBG_SOURCE"]
    for document in ("docs/ab.md", "docs/hbg.1.in"):
        expect("json:device_ns.median" in pathlib.Path(source, document).read_text(), f"{document} names a path that there is")


def simulation(f):
    done = f.ab("--simulate", "--blocks", "8")
    lines = [line for line in done.stdout.split("an effect of")[0].splitlines() if line.endswith("%")]
    powers = [line.split() for line in done.stdout.split("noncentral t\n")[1].splitlines()]
    expect(len(powers) == 4 and all(abs(float(line[1]) - float(line[3])) <= 5 for line in powers), "power is what theory says", done)
    expect(len(lines) == 9 and all(float(line.split()[-2]) <= 6.5 for line in lines), "nine machines, few false alarms", done)


def run_parts(*parts):
    for part in parts:
        with tempfile.TemporaryDirectory() as path:
            begin = time.time()
            part(Folder(path))
            print(f"{part.__name__}: {time.time() - begin:.1f} s")


if __name__ == "__main__":
    run_parts(verdicts, control_and_sizing, metrics, failures, nothing_left, holders, damage, files, pages, paths, simulation)
