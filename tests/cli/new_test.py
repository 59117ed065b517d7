#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg new`: what it writes builds against the installed library, and against a build tree, without a warning, in C and in C++, and verifies."""
import os
import pathlib
import resource
import subprocess
import tempfile

HBG, BUILD = os.environ["HBG"], os.environ["HBG_BUILD"]
REFUSED = [
    (["Mine"], "hbg new: `Mine` is no name of a workload: it begins with a small letter"),
    (["a b"], "hbg new: `a b` is no name of a workload"),
    (["../mine"], "hbg new: `../mine` is no name of a workload"),
    (["1st"], "hbg new: `1st` is no name of a workload"),
    ([""], "hbg new: `` is no name of a workload"),
    (["x" * 41], f"hbg new: `{'x' * 41}` is longer than 40 letters"),
    (["test"], "hbg new: `test` is a name that CMake or hbg uses itself"),
    ([], "hbg new: a name is needed"),
    (["a", "b"], "hbg new: `b` is one argument too many"),
    (["a", "--c++"], "hbg new: there is no option `--c++`"),
]


def new(folder, *arguments, **more):
    return subprocess.run([HBG, "new", *arguments], capture_output=True, text=True, cwd=folder, timeout=60, **more)


def quietly(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0 and "warning" not in done.stdout.lower(), (command, done.stdout)


def check_builds(folder, command, name, *options):
    """The lines that it prints do what they say, from a build tree and from a prefix that CMake does not search by itself."""
    done = subprocess.run([command, "new", name, *options], capture_output=True, text=True, cwd=folder, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    tree = f"{folder}/{name}"
    source = next(path for path in os.listdir(tree) if path.startswith(name))
    lines = pathlib.Path(tree, source).read_text().splitlines()
    assert 50 <= len(lines) <= 80 and not any("@" in line or "SPDX" in line for line in lines), len(lines)
    printed = [line for line in done.stdout.splitlines() if line.startswith("    ")]
    assert len(printed) == 2 and printed[0].startswith(f"    cmake -S {name} ") and printed[1].endswith(f" run {name}/build/{name}.so --verify"), done.stdout
    quietly("sh", "-e", "-c", f"cd '{folder}'\n" + "\n".join(printed))
    for arguments in (["--device", "cpu:workers=2"], ["n=0"], ["n=12345", "block=1000", "a=0.5", "--device", "cpu:memory=discrete"]):
        done = subprocess.run([HBG, "run", f"{tree}/build/{name}.so", "--verify", "--rounds", "3", *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and "verified                 yes" in done.stdout and done.stderr == "", (arguments, done.stdout, done.stderr)
    done = subprocess.run([HBG, "run", f"{tree}/build/{name}.so", "block=0"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and done.stderr == f"hbg run: {name}: n must be at least 0 and block at least 1\n", done.stderr


def check_refused(folder):
    for arguments, sentence in REFUSED:
        done = new(folder, *arguments)
        assert done.returncode == 2 and done.stderr.startswith(sentence) and done.stderr.count("\n") == 1 and done.stdout == "", (arguments, done.stderr)
    pathlib.Path(f"{folder}/kept").mkdir()
    pathlib.Path(f"{folder}/file").write_text("mine")
    for there in ("kept", "file"):
        done = new(folder, there)
        assert done.returncode == 1 and done.stderr == f"hbg new: the folder `{there}` cannot be made: File exists; take another name, or remove it\n", done.stderr
    # a file that cannot be written whole: nothing is left behind
    done = new(folder, "large", restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert done.returncode == 1 and done.stderr.startswith("hbg new: `large/large.c` was not written whole: "), (done.returncode, done.stderr)
    assert sorted(os.listdir(folder)) == ["file", "kept"] and os.listdir(f"{folder}/kept") == [], os.listdir(folder)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_refused(folder)
    with tempfile.TemporaryDirectory() as folder:
        prefix = f"{folder}/the prefix"
        quietly("cmake", "--install", BUILD, "--prefix", prefix)
        check_builds(folder, f"{prefix}/bin/hbg", "mine")
        check_builds(folder, f"{prefix}/bin/hbg", "mine_too", "--cxx")
        check_builds(folder, HBG, "mine_at_last")


main()
