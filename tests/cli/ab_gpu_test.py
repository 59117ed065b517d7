#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ab_gpu_test.py - `hbg ab` looks at GPUs through nvidia-smi: between processes alone, and whatever that program does, the comparison goes on.

The nvidia-smi of this test is a script that answers the queries of the real one's manual, and notes when it began and ended.
"""
import html
import json
import os
import pathlib
import re
import time

from ab_test import TEXT, expect, gone, run_parts, seal

FAKE = """\
#!/bin/sh
echo "$(date +%s.%N) begin" >> "{folder}/looks"
calls=$(grep -c begin "{folder}/looks")
{before}
case "$*" in
"--query-gpu=index,uuid,clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_throttle_reasons.active --format=csv,noheader,nounits") {gpus} ;;
"--query-compute-apps=pid,gpu_uuid,used_memory --format=csv,noheader,nounits") {processes} ;;
*) echo "Field \\"?\\" is not a valid field to query."; exit 2 ;;
esac
status=$?
echo "$(date +%s.%N) end" >> "{folder}/looks"
exit $status
"""
ONE = "echo '0, GPU-aa, 1980, 2619, 119.45, 41, 0x0000000000000004'"
SHORT = (*TEXT, "--blocks", "2")


class Smi:
    """A folder with the fake, put at the beginning of PATH."""

    def __init__(self, f, gpus=ONE, processes=":", before=""):
        self.f, self.looks, self.bin = f, f.path / "looks", f.path / "bin"
        self.looks.write_text("")
        self.bin.mkdir(exist_ok=True)
        path = self.bin / "nvidia-smi"
        path.write_text(FAKE.format(folder=f.path, gpus=gpus, processes=processes, before=before))
        path.chmod(0o755)

    def ab(self, *arguments, wanted=0, **variables):
        return self.f.ab(*arguments, wanted=wanted, **{"PATH": f"{self.bin}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": None, **variables})

    def calls(self):
        return self.looks.read_text().count("begin")


def arms(f):
    return "-a", f.made(1, .01), "-b", f.made(1.05, .01)


def told(done):
    """The lines of GPUs in the report: {label: [line, ..]}"""
    lines, label = {}, None
    for line in done.stdout.split("\nconditions ")[1].splitlines()[1:]:
        label = line[:22].strip() or label
        lines.setdefault(label, []).append(line[23:])
    return {label: lines[label] for label in lines if label and label.startswith("GPU")}


def looks(f):
    two = f"{ONE}; echo '1, GPU-bb, 345, [N/A], [Not Supported], [Unknown Error], [N/A]'"
    smi = Smi(f, gpus=two, processes=f"echo '{os.getpid()}, GPU-bb, 512'; echo '999999999, GPU-bb, [N/A]'; echo '5, GPU-of-nobody, 1'")
    done = smi.ab(*arms(f), *SHORT[:-1], "6", "--out", "out.json", "--page", "page.html")
    result = json.loads((f.path / "out.json").read_text())
    expect(told(done) == {"GPU 0": ["1980 MHz, 2619 MHz of memory, 119 W, 41 degrees", "never throttled in 48 looks"],
                          "GPU 1": ["345 MHz", "whether it was throttled is not told in 48 looks", "others on it in 48 of 48 looks: at most 2 processes with 512 MiB"]}, f"{told(done)}", done)
    expect(re.search(rf"^held +GPU 1: process {os.getpid()}, user \S+, 512 MiB: .*python.*\n +held|^held +GPU 1: process {os.getpid()}, ", done.stdout, re.M), "who works on them", done)
    expect(re.search(r"^GPUs +looked at between processes; a look takes \d+ ms$", done.stdout, re.M), "what a look takes", done)
    batch = result["series"][0]["batches"][5]["gpus"]
    expect([(g["moment"], g["index"]) for g in batch] == [("start", 0), ("start", 1), ("end", 0), ("end", 1)], "a process a batch: before and behind it", done)
    expect(batch[0] == {"moment": "start", "index": 0, "sm_mhz": 1980, "memory_mhz": 2619, "watts": 119.45, "celsius": 41, "throttle": 4, "others": 0, "others_mib": 0}, "all of it is kept")
    expect(batch[1] == {"moment": "start", "index": 1, "sm_mhz": 345, "memory_mhz": None, "watts": None, "celsius": None, "throttle": None, "others": 2, "others_mib": 512}, "null is what is not told")
    expect(["GPU 0", "GPU-aa"] in result["host"] and ["GPU 1", "GPU-bb"] in result["host"] and 0 < result["declared"]["gpu_look_s"] < 5, "which they are")
    expect("GPU 0 1980 MHz 119 W 41 degrees, GPU 1 345 MHz</title>" in (f.path / "page.html").read_text() and "never throttled in 48 looks" in html.unescape((f.path / "page.html").read_text()), "on the page")
    expect(smi.calls() == 2 * (2 + 24 * 2), f"two first looks, and two a batch: {smi.calls()}")

    before = smi.calls()
    expect(f.ab("--recheck", "out.json", "--json", "again.json").stdout == done.stdout and smi.calls() == before, "--recheck says the same, and looks at none")
    expect((f.path / "again.json").read_text() == (f.path / "out.json").read_text(), "and writes the same")
    text = (f.path / "out.json").read_text()
    old = json.loads(text)
    for series in old["series"]:
        for batch in series["batches"]:
            del batch["gpus"]
    for key in ("remembered", "configuration", "noise_floor_from", "surroundings"):
        del old[key]
    del old["declared"]["gpu_look_s"]
    (f.path / "old.json").write_text(seal(json.dumps(old, indent=2) + "\n"))
    expect("GPU 0 " not in f.ab("--recheck", "old.json").stdout.split("conditions")[1], "a file of before is read as it is")
    for before, after in (('"moment": "end"', '"moment": "and"'), ('"sm_mhz": 1980', '"sm_khz": 1980'), ('"index": 1', '"index": -1')):
        (f.path / "bad.json").write_text(seal(text.replace(before, after)))
        expect("is missing or wrong" in f.ab("--recheck", "bad.json", wanted=1).stderr, after)


def between(f):
    """No look while a round is timed; half way there is one where there is a place for it."""
    (f.path / "round.sh").write_text("date +%s.%N >> runs\nsleep .02\n[ $1 = 1 ] || for i in $(seq $1); do echo time: $i.$2 ms; done\ndate +%s.%N >> runs\n")
    line = ("--no-gate", "--blocks", "1")
    for name, words, more, moments in (("processes", "1 {}", ("--rounds", "5"), ["start", "middle", "end"]), ("one process", "1 {}", ("--rounds", "1", "--cool-down", "100"), ["start", "end"]),
                                       ("rounds inside", "40 {}; sleep .1", ("--rounds", "30", "--metric", "time: ([0-9.]+) ms"), ["start", "end"])):
        smi = Smi(f, before="sleep .03")
        (f.path / "runs").write_text("")
        smi.ab("-a", "sh round.sh " + words.format(1), "-b", "sh round.sh " + words.format(2), *line, *more, "--json", "out.json")
        result = json.loads((f.path / "out.json").read_text())
        expect(all([g["moment"] for g in b["gpus"]] == moments for b in result["series"][0]["batches"]), f"{name}: {moments}")
        stamps = [float(t) for t in (f.path / "runs").read_text().split()]
        runs = list(zip(stamps[::2], stamps[1::2]))
        seen = [float(line.split()[0]) for line in smi.looks.read_text().splitlines()]
        expect(len(seen) == 4 * (2 + 4 * len(moments)) and len(runs) >= 8, f"{name}: {len(seen)} {len(runs)}")
        expect(not [1 for begin, end in zip(seen[::2], seen[1::2]) for first, last in runs if begin < last and first < end], f"{name}: a look inside of a round")
        if "--cool-down" in more:
            expect(all(min(first - end for end in seen[1::2] if end < first) > .1 for first, _ in runs[4:]), f"{name}: the pause is behind the look")
        expect(result["declared"]["projected_s"] > 4 * len(moments) * result["declared"]["gpu_look_s"] > 4 * len(moments) * .06, f"{name}: looks are in the projected time")


def throttled(f):
    for bits, words in ((0x8, "hardware slowdown"), (0x20, "software thermal slowdown"), (0x48, "hardware slowdown, hardware thermal slowdown"), (0x80, "power brake")):
        smi = Smi(f, gpus=f"{ONE}; echo '2, GPU-cc, 1, 1, 1, 90, 0x{bits:016x}'")
        gated = [word for word in SHORT if word != "--no-gate"]
        done = smi.ab(*arms(f), *gated, wanted=3)
        expect(f"block 1 dropped: GPU 2 was throttled: {words}\n" in done.stdout and "\nINVALID: 1 of 1 blocks were dropped" in done.stdout, f"{bits:x} drops a block", done)
        done = smi.ab(*arms(f), *SHORT)
        expect(told(done)["GPU 2"] == ["1 MHz, 1 MHz of memory, 1 W, 90 degrees", f"throttled in 16 of 16 looks: {words}"] and "0 dropped" in done.stdout, "--no-gate tells of it", done)
    smi = Smi(f, gpus="echo \"0, GPU-aa, $((1000 + calls)), 2, 3, 4, $([ $calls = 9 ] && echo 0x8 || echo 0x117)\"")
    done = smi.ab(*arms(f), *SHORT, "--json", "-")
    bits = [g["throttle"] for b in json.loads(done.stdout)["series"][0]["batches"] for g in b["gpus"]]
    expect(bits.count(8) == 1 and set(bits) == {8, 0x117}, f"other bits are kept, and drop nothing: {bits}")


def trouble(f):
    """Whatever nvidia-smi does: the comparison has the same verdict, and the report says what was wrong."""
    plain = f.ab(*arms(f), *SHORT, PATH=os.environ["PATH"])
    failed = "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure\"; exit 9"
    for name, answer, sentence in (("no driver", failed, "nvidia-smi: it ended with status 9: NVIDIA-SMI has failed because it couldn't communicate"), ("no device", "echo No devices were found", "it tells of none: No devices were found"),
                                   ("nothing", ":", "it tells of none: nothing"), ("garbage", "head -c 5000 /dev/urandom", "it tells of none"), ("a signal", "kill -SEGV $$", "was ended by signal 11"),
                                   ("garbage that fails", "head -c 5000 /dev/urandom; exit 1", "ended with status 1"), ("an error", "echo 'libnvidia-ml.so: wrong' >&2; exit 12", "status 12: libnvidia-ml.so: wrong"),
                                   ("a hang", "sleep 77{pid}", "it ran for more than 0.5 s")):
        smi = Smi(f, gpus=answer.replace("{pid}", str(os.getpid())))
        begin = time.time()
        done = smi.ab(*arms(f), *SHORT, "--timeout", ".5", "--out", "out.json")
        expect(time.time() - begin < 30 and gone(f"77{os.getpid()}"), f"{name}: nothing hangs")
        expect(list(told(done)) == ["GPUs"] and sentence in told(done)["GPUs"][0], f"{name}: {told(done)}", done)
        expect(re.search("^effect.*", done.stdout, re.M)[0] == re.search("^effect.*", plain.stdout, re.M)[0] and "GPU" not in done.stderr, f"{name}: the same result", done)
        expect(f.ab("--recheck", "out.json").stdout == done.stdout and smi.calls() <= 2, f"{name}: asked no more")
    expect(not told(plain) and "GPU" not in plain.stdout, "no nvidia-smi, no word", plain)
    newer = FAKE.replace("clocks_throttle_reasons", "clocks_event_reasons").replace('\\"?\\"', '\\"clocks_throttle_reasons.active\\"')
    smi = Smi(f)
    (smi.bin / "nvidia-smi").write_text(newer.format(folder=f.path, gpus=ONE, processes=":", before=""))
    done = smi.ab(*arms(f), *SHORT)
    expect(told(done)["GPU 0"][1] == "never throttled in 16 looks", "the newer name of the reasons", done)
    smi = Smi(f, processes="exit 3")
    result = json.loads(smi.ab(*arms(f), *SHORT, "--json", "-").stdout)
    expect({g["others"] for b in result["series"][0]["batches"] for g in b["gpus"]} == {None}, "processes that are not told")
    smi = Smi(f, gpus="echo '0, GPU-1, 1e308, 9e307, 1e308, 1e308, 0x0'")
    done = smi.ab(*arms(f), *SHORT)
    expect(done.returncode == 0 and told(done)["GPU 0"][0] == "tells neither clocks nor power nor temperature", "numbers that are none", done)
    smi = Smi(f, before="exec yes")
    done = smi.ab(*arms(f), *SHORT)
    expect(done.returncode == 0 and told(done)["GPUs"][0].startswith("nvidia-smi: it "), "one that prints without an end", done)
    for hidden in ("", "-1"):
        smi = Smi(f)
        expect(not told(smi.ab(*arms(f), *SHORT, CUDA_VISIBLE_DEVICES=hidden)) and not smi.calls(), f"CUDA_VISIBLE_DEVICES={hidden}: not asked")
    (smi.bin / "nvidia-smi").chmod(0o644)
    expect(not told(smi.ab(*arms(f), *SHORT)), "a file that is no program")


def later(f):
    """What begins well and goes wrong: two calls a look, two first looks."""
    smi = Smi(f, before="[ $calls -ne 9 ] || exit 1")
    done = smi.ab(*arms(f), *SHORT)
    expect(told(done) == {"GPU 0": ["1980 MHz, 2619 MHz of memory, 119 W, 41 degrees", "never throttled in 15 looks"]}, "a look that fails is one look", done)
    smi = Smi(f, before="[ $calls -lt 10 ] || { echo Unable to determine the device handle; exit 15; }")
    done = smi.ab(*arms(f), *SHORT, "--out", "out.json")
    expect(told(done)["GPUs"] == ["nvidia-smi: not asked any more from block 1, batch 3 on: it ended with status 15: Unable to determine the device handle"], "after three it is not asked", done)
    expect(f.ab("--recheck", "out.json").stdout == done.stdout, "--recheck")
    marker = f"78{os.getpid()}"
    smi = Smi(f, before=f"[ $calls -lt 7 ] || sleep {marker}")
    begin = time.time()
    done = smi.ab(*arms(f), *SHORT, "--timeout", "1")
    expect(told(done)["GPUs"] == ["nvidia-smi: not asked any more from block 1, batch 1 on: it ran for more than 1 s"] and smi.calls() == 7, "after one that hangs it is not asked", done)
    expect(time.time() - begin < 20 and gone(marker), "and it is gone")


if __name__ == "__main__":
    run_parts(looks, between, throttled, trouble, later)
