#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ab_memory_test.py - `hbg ab` remembers what A against A came to: for one host and one configuration, whole or not at all, and never at the cost of a comparison."""
import html
import json
import os
import re

from ab_test import TEXT, expect, run_parts, seal

LINE = (*TEXT, "--blocks", "6")
SHORT = (*TEXT, "--blocks", "2")
UNKNOWN = "not known for this host and configuration: --aa measures it"


def floor(done):
    """What the report says behind "noise floor"."""
    found = re.findall(r"^noise floor +(.*)$", done.stdout, re.M)
    expect(len(found) <= 1, "one line of the noise floor", done)
    return found[0] if found else None


def kept(f):
    return sorted((f.path / "state/hbg/aa").glob("*"))


def remembers(f):
    a, b = f.made(1, .01), f.made(1.05, .01)
    expect(floor(f.ab("-a", a, "-b", b, *LINE)) == UNKNOWN and not (f.path / "state").exists(), "a plain comparison measures none and keeps none")
    own = floor(f.ab("-a", a, "-b", b, *LINE, "--aa", "--out", "own.json"))
    expect(own.endswith(" %, the half width of A against A") and len(kept(f)) == 1, f"--aa prints its own, and keeps it: {own}, {kept(f)}")
    result = json.loads((f.path / "own.json").read_text())
    memory = json.loads(kept(f)[0].read_text())
    expect(result["noise_floor_from"] == "series" and result["remembered"] is None and result["configuration"] == kept(f)[0].stem, "where the floor is from")
    expect(memory["remembered"]["noise_floor"] == result["noise_floor"] and memory["remembered"]["runs"] == 1, "the same number is kept")
    expect([c["seed"] for c in memory["remembered"]["controls"]] == ["2"] and memory["remembered"]["measured"] > 1.7e9, "with seed and date")

    done = f.ab("-a", a, "-b", b, *LINE, "--out", "later.json", "--page", "later.html")
    expect(re.fullmatch(re.escape(own.split(" %")[0]) + r" %, from A against A of \d{4}-\d\d-\d\d \d\d:\d\d UTC \(6 blocks, 1 round a batch, seed 2\)", floor(done)), "it is told later", done)
    expect(floor(done) in html.unescape((f.path / "later.html").read_text()), "and on the page")
    result = json.loads((f.path / "later.json").read_text())
    expect(result["noise_floor_from"] == "remembered" and result["remembered"] == memory["remembered"] and result["verdict"] == "SLOWER", "and in the file", done)
    expect(result["noise_floor"] == memory["remembered"]["noise_floor"] and len(result["series"]) == 1, "and it took no longer", done)
    for nowhere in ("/proc/none", str(f.path / "empty")):
        f.ab("--recheck", "later.json", "--json", "again.json", XDG_STATE_HOME=nowhere)
        expect(f.ab("--recheck", "later.json", XDG_STATE_HOME=nowhere).stdout == done.stdout, "--recheck needs the file alone")
        expect((f.path / "again.json").read_text() == (f.path / "later.json").read_text(), "and writes it again")
    expect(floor(f.ab("-a", a, "-b", f.made(.9, .01), *LINE)).startswith(own.split(" %")[0]), "another B has the same floor")
    f.ab("-a", b, "--aa", *LINE)
    expect(len(kept(f)) == 2 and floor(f.ab("-a", b, "-b", a, *LINE)).split(" %")[0] != own.split(" %")[0], "another A has its own, of A alone as well")
    expect([p for p in kept(f) if not re.fullmatch(r"[0-9a-f]{16}\.json", p.name)] == [], f"nothing else is left there: {kept(f)}")


def configurations(f):
    """What changes the configuration, and what does not."""
    (f.path / "prog.sh").write_text("#!/bin/sh\nexec sh made.sh \"$1\"\n")
    (f.path / "prog.sh").chmod(0o755)
    a, b = (f.made(level, .01).replace("sh made.sh", "./prog.sh") for level in (1, 1.05))
    f.ab("-a", a, "--aa", *SHORT, OMP_NUM_THREADS="1")

    def told(*more, arm=a, line=SHORT, **variables):
        return floor(f.ab("-a", arm, "-b", b, *line, *more, **{"OMP_NUM_THREADS": "1", **variables})) != UNKNOWN

    expect(told() and told("--seed", "7") and told("--margin", "5") and told("--timeout", "99") and told(HOME="/proc"), "what does not change it")
    for name, known in {
        "blocks": told(line=(*TEXT, "--blocks", "3")), "rounds": told(line=(*TEXT[:3], "--rounds", "2", "--blocks", "2")), "sizing": told(line=(*TEXT, "--resolve", "99")),
        "cold": told("--warmup", "1"), "mean": told("--mean"), "cool-down": told("--cool-down", "1"), "metric": told(line=("--no-gate", "--rounds", "1", "--blocks", "2")),
        "environment": told(OMP_NUM_THREADS="2"), "preload": told(LD_BIND_NOW="1"), "an assignment": told(arm="X=1 " + a), "a word": told(arm=a + " x"),
    }.items():
        expect(not known, f"{name} is another configuration")
    (f.path / "prog.sh").write_text("#!/bin/sh\nexec sh  made.sh \"$1\"\n")
    expect(not told(), "other bytes of the program")
    f.ab("-a", f.made(1, .01), "--aa", *SHORT)
    line = ("-a", f.made(1, .01), "-b", f.made(1.05, .01), *SHORT)
    expect(floor(f.ab(*line)) != UNKNOWN, "a script that is named")
    (f.path / "made.sh").write_text((f.path / "made.sh").read_text() + "# another one\n")
    expect(floor(f.ab(*line)) == UNKNOWN, "other bytes of it")


def invalid(f):
    """A against A that differs twice makes later comparisons INVALID, until --aa finds otherwise."""
    calm = f.made(1, .01, seed="calm")
    order = []
    for seed in (1, 2):                         # a control takes the seed after it
        f.ab("-a", calm, "--aa", "--seed", seed, *LINE, "--json", "calm.json", "--no-memory")
        order += [batch["arm"] for batch in json.loads((f.path / "calm.json").read_text())["series"][0]["batches"]]
    expect(not (f.path / "state").exists(), "--no-memory keeps nothing")
    a, b = f.made(1, .001, seed="odd"), f.made(3, .01)
    for n, arm in enumerate(order):             # behind two first runs of each arm
        path = f.path / a.split("'")[1] / str(n + 4)
        path.write_text(path.read_text().replace("time: 1.", "time: 1.5").replace("time: 0.", "time: 1.4") if arm == "B" else path.read_text())
    done = f.ab("-a", a, "--aa", *LINE, "--json", "-", wanted=3)
    result = json.loads(done.stdout)
    expect(result["verdict"] == "INVALID" and "differed twice" in result["why"] and len(result["series"]) == 2, "it differs twice", done)
    memory = json.loads(kept(f)[0].read_text())["remembered"]
    expect(memory["invalid_runs"] == memory["runs"] == 1 and [c["seed"] for c in memory["controls"]] == ["2", "3"], "both are logged", done)

    done = f.ab("-a", a, "-b", b, *LINE, "--out", "out.json", wanted=3)
    expect("\nINVALID: A against A of this configuration differed twice before" in done.stdout and floor(done) is None, "a later comparison is INVALID", done)
    expect("differed twice before: this comparison is INVALID already" in done.stdout.split("\nINVALID")[0], "it is said before the time is spent", done)
    expect(len(re.findall(r"seed [23], before: it excludes 0", done.stdout)) == 2, "with both of them", done)
    result = json.loads((f.path / "out.json").read_text())
    expect(result["noise_floor"] is None and result["series"][0]["outcome"]["verdict"] == "SLOWER", "what was found is kept", done)
    expect(f.ab("--recheck", "out.json", wanted=3, XDG_STATE_HOME="/proc/none").stdout == done.stdout, "--recheck says the same")
    (f.path / "other.json").write_text(seal((f.path / "out.json").read_text().replace('"seed": "3",\n        "effect"', '"seed": "4",\n        "effect"').replace('"verdict": "INVALID"', '"verdict": "SLOWER"', 1)))
    expect("`verdict` does not follow" in f.ab("--recheck", "other.json", wanted=1).stderr, "a verdict that does not follow from it")
    expect("\nSLOWER" in f.ab("-a", a, "-b", b, *LINE, "--no-memory").stdout, "--no-memory looks for nothing")

    f.ab("-a", a, "--aa", *LINE, "--seed", "9")
    done = f.ab("-a", a, "-b", b, *LINE)
    expect("\nSLOWER" in done.stdout and floor(done).endswith("; the last of 2, 1 INVALID)"), "measured anew it counts, and the other one is told", done)


def bad_files(f):
    a, b = f.made(1, .01), f.made(1.05, .01)
    f.ab("-a", a, "--aa", *SHORT)
    path = kept(f)[0]
    good = path.read_text()

    def told(sentence):
        done = f.ab("-a", a, "-b", b, *SHORT)
        expect(floor(done) == UNKNOWN and "\nINCONCLUSIVE: 2 blocks" in done.stdout, f"{sentence}: the comparison goes on", done)
        expect(done.stderr == f"hbg ab: `{path}` is not used: {sentence}\n", f"{sentence}: one sentence", done)

    for sentence, text in {
        "it is damaged": ("", good[:-1], good[:len(good) // 2], good.replace('"runs": 1', '"runs": 2'), seal(good.replace('"runs": 1', '"runs": 0')), "\0" + good,
                          seal(good.replace('"noise_floor": 0', '"noise_floor": -1')), seal(re.sub(r'"controls": \[.*?\]', '"controls": []', good, flags=re.S)),
                          seal(good.replace('"measured"', '"when"'))),
        "it is none of A against A, or of another hbg": ("{}", seal(good.replace("hbg-aa 1", "hbg-aa 2")), "[1, 2]", '"text"'),
        "it is of another configuration": (seal(good.replace('"metric"', '"metrics"')), seal(good.replace('"gate",\n', '"gates",\n'))),
    }.items():
        for each in text:
            expect(each != good, "something was changed")
            path.write_text(each)
            told(sentence)
    path.write_text(good + " " * (1 << 20))
    told("it is too large")
    path.unlink()
    os.mkfifo(path)
    told("it is no plain file")
    path.unlink()
    (f.path / "elsewhere").write_text(good)
    path.symlink_to(f.path / "elsewhere")
    told("it cannot be opened: it is a link")
    f.ab("-a", a, "--aa", *SHORT)
    expect(path.is_file() and not path.is_symlink() and (f.path / "elsewhere").read_text() == good, "a link is replaced, and not followed")
    path.unlink()
    path.mkdir()
    done = f.ab("-a", a, "--aa", *SHORT)
    expect("it is no plain file" in done.stderr and "is not remembered: `" in done.stderr and done.stderr.count("\n") == 2 and kept(f) == [path], "a folder in its place", done)
    path.rmdir()
    if os.geteuid() == 0:
        path.write_text(good)
        os.chown(path, 12345, 12345)
        told("it is another user's")


def nowhere(f):
    """No place to keep it: one sentence, and the comparison is what it is."""
    (f.path / "file").write_text("")
    line = ("-a", f.made(1, .01), "-b", f.made(1.05, .01), *SHORT)

    def found(done):
        return re.findall(r"^(?:INCONCLUSIVE|A against A|effect|noise).*", done.stdout, re.M)

    usual = f.ab(*line, "--aa", "--no-memory")
    expect(not usual.stderr and not (f.path / "state").exists(), "--no-memory says nothing", usual)
    for sentence, variables in {
        "`/proc/none/hbg/aa` cannot be written: ": {"XDG_STATE_HOME": "/proc/none"},
        f"`{f.path}/file/hbg/aa` cannot be written: ": {"XDG_STATE_HOME": str(f.path / "file")},
        "`/proc/.local/state/hbg/aa` cannot be written: ": {"XDG_STATE_HOME": None, "HOME": "/proc"},
        "neither XDG_STATE_HOME nor HOME names a folder for it": {"XDG_STATE_HOME": "relative", "HOME": None},
    }.items():
        done = f.ab(*line, "--aa", **variables)
        expect(done.stderr.startswith(f"hbg ab: A against A is not remembered: {sentence}") and done.stderr.count("\n") == 1, f"{sentence}", done)
        expect(found(done) == found(usual), f"{sentence}: and nothing else is different", done)
        expect(not f.ab(*line, **variables).stderr, f"{sentence}: nothing to find, and nothing said")
    f.ab(*line, "--aa", XDG_STATE_HOME="relative", HOME=str(f.path / "home"))
    expect(len(list((f.path / "home/.local/state/hbg/aa").glob("*.json"))) == 1 and not (f.path / "relative").exists(), "a relative XDG_STATE_HOME is none, and HOME is next")
    for folder in ("home", "home/.local/state/hbg/aa"):
        expect((f.path / folder).stat().st_mode & 0o777 == 0o700, "folders are for this user alone")


if __name__ == "__main__":
    run_parts(remembers, configurations, invalid, bad_files, nowhere)
