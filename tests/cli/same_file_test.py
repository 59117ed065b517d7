#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs of one command that are one file, or an input, are refused before anything runs, whatever way leads to the file."""
import os
import subprocess
import tempfile

HBG = os.environ["HBG"]
VECTOR = ["run", "vector", "n=10", "block=5", "--rounds", "1"]
GP = ["run", "gp", "--rounds", "1"]


def hbg(folder, *arguments, stdout=subprocess.PIPE):
    return subprocess.run([HBG, *arguments], cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60)


def refused(folder, sentence, *arguments):
    before = {name: os.stat(os.path.join(folder, name), follow_symlinks=False) for name in os.listdir(folder)}
    done = hbg(folder, *arguments)
    assert done.returncode == 2 and done.stdout == "", (arguments, done.returncode, done.stdout, done.stderr)
    assert done.stderr == f"hbg {arguments[0]}: {sentence}\n", (arguments, done.stderr)
    after = {name: os.stat(os.path.join(folder, name), follow_symlinks=False) for name in os.listdir(folder)}
    assert {n: (s.st_ino, s.st_size, s.st_mtime_ns) for n, s in before.items()} \
        == {n: (s.st_ino, s.st_size, s.st_mtime_ns) for n, s in after.items()}, arguments


def outputs(folder):
    refused(folder, "--json and --out name the same file, `f`", *GP, "--json", "f", "--out", "f")
    refused(folder, "--json and --out name the same file: `f` and `./f`", *GP, "--json", "f", "--out", "./f")
    refused(folder, "--json and --out-npy z name the same file, `f`", *VECTOR, "--json", "f", "--out-npy", "z=f")
    refused(folder, "--json and --trace name the same file: `f` and `.//f`", *VECTOR, "--json", "f", "--trace", ".//f")
    os.environ.update(HBG_TRACE="run", HBG_TRACE_TO="./f")
    refused(folder, "--json and HBG_TRACE_TO name the same file: `f` and `./f`", *VECTOR, "--json", "f")
    del os.environ["HBG_TRACE"], os.environ["HBG_TRACE_TO"]
    refused(folder, "--trace and --out-npy z name the same file, `f`", *VECTOR, "--trace", "f", "--out-npy", "z=f")
    refused(folder, "--out-npy z and --out-npy x name the same file: `f` and `sub/../f`", *VECTOR, "--out-npy", "z=f,x=sub/../f")
    refused(folder, "--json and --out name the same file: standard output", *GP, "--json", "-", "--out", "-")
    refused(folder, "--json and --out-npy z name the same file: `dangling` and `nothing`", *VECTOR, "--json", "dangling", "--out-npy", "z=nothing")
    refused(folder, "--json and --out-npy z name the same file: `there` and `soft`", *VECTOR, "--json", "there", "--out-npy", "z=soft")
    refused(folder, "--json and --out-npy z name the same file: `there` and `hard`", *VECTOR, "--json", "there", "--out-npy", "z=hard")
    refused(folder, "--json and --trace name the same file: `there` and `soft`", *VECTOR, "--json", "there", "--trace", "soft")


def inputs(folder):
    assert hbg(folder, *VECTOR, "--out-npy", "x=x.npy").returncode == 0
    assert hbg(folder, *VECTOR, "--trace", "t").returncode == 0
    os.symlink("x.npy", os.path.join(folder, "same.npy"))
    os.link(os.path.join(folder, "t"), os.path.join(folder, "same-trace"))
    with open(os.path.join(folder, "t.csv"), "w") as file:
        file.write("t,v\n1,2\n2,3\n3,1\n")
    refused(folder, "--out-npy z and the input x name the same file, `x.npy`", *VECTOR, "x=x.npy", "--out-npy", "z=x.npy")
    refused(folder, "--json and the input x name the same file: `same.npy` and `x.npy`", *VECTOR, "x=x.npy", "--json", "same.npy")
    refused(folder, "--out and the input data name the same file, `t.csv`", *GP, "data=t.csv", "--out", "t.csv")
    refused(folder, "--out and the input x name the same file, `x.npy`", "describe", "vector", "n=10", "x=x.npy", "--out", "x.npy")
    for option in ("--json", "--perfetto", "--page"):
        refused(folder, f"{option} and the input trace name the same file: `same-trace` and `t`", "trace", "t", option, "same-trace")
    refused(folder, "--json and --page name the same file, `p`", "trace", "t", "--json", "p", "--page", "p")
    with open(os.path.join(folder, "text"), "w") as text:
        for arguments in ([*VECTOR, "--json", "text"], ["bench", "submit", "--quick", "--json", "text"]):
            done = hbg(folder, *arguments, stdout=text)
            assert done.returncode == 2 and done.stderr == f"hbg {arguments[0]}: --json and standard output name the same file, `text`\n", done.stderr
    assert os.path.getsize(os.path.join(folder, "text")) == 0


def different_files(folder):
    """What only looks alike is written."""
    assert hbg(folder, *VECTOR, "--json", "/dev/null", "--out-npy", "z=/dev/null", "--trace", "/dev/null", stdout=subprocess.DEVNULL).returncode == 0
    done = hbg(folder, *VECTOR, "--json", "a", "--out-npy", "z=sub/a", "--trace", "A")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert {"a", "A"} <= set(os.listdir(folder)) and os.listdir(os.path.join(folder, "sub")) == ["a"]


def links_stay(folder):
    """A link stays one: its file is replaced, or made where it leads to none."""
    for name, target in (("soft", "there"), ("dangling", "nothing"), ("far", os.path.join(folder, "sub", "far-away"))):
        path = os.path.join(folder, name)
        if name == "far":
            os.symlink(target, path)
        done = hbg(folder, *VECTOR, "--json", name)
        assert done.returncode == 0, done.stderr
        assert os.readlink(path) == target and '"vector"' in open(path).read(), name
    os.symlink("nowhere/f", os.path.join(folder, "lost"))
    os.symlink("round", os.path.join(folder, "round"))
    for name, why in (("lost", "No such file or directory"), ("round", "Too many levels of symbolic links")):
        done = hbg(folder, *VECTOR, "--json", name)
        assert done.returncode == 1 and done.stderr == f"hbg run: `{name}` cannot be written: {why}\n", done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "sub"))
        with open(os.path.join(folder, "there"), "w") as file:
            file.write("old")
        os.symlink("there", os.path.join(folder, "soft"))
        os.symlink("nothing", os.path.join(folder, "dangling"))
        os.link(os.path.join(folder, "there"), os.path.join(folder, "hard"))
        for test in (outputs, inputs, different_files, links_stay):
            test(folder)
            print("ok", test.__name__)


if __name__ == "__main__":
    main()
