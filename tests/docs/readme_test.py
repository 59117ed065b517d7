#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme_test.py - the example in README.md is examples/01_hello.c, word for word, and it compiles and runs in C and in C++.

Without HBG_BUILD the texts are compared and nothing is compiled.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("HBG_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
EXAMPLE = "examples/01_hello.c"
LANGUAGES = (("CC", "cc", "c11", "hello.c"), ("CXX", "c++", "c++17", "hello.cpp"))


def first_block(text):
    """The first fenced block of C in a Markdown text."""
    found = re.search(r"^```c\n(.*?)^```$", text, re.S | re.M)
    if not found:
        sys.exit("README.md has no block of C")
    return found.group(1)


def check_same(block, source):
    """None, or where the two differ."""
    left, right = block.splitlines(), source.splitlines()
    for number, pair in enumerate(zip(left, right), 1):
        if pair[0] != pair[1]:
            return f"line {number} of the example is\n    {pair[0]}\nin README.md and\n    {pair[1]}\nin {EXAMPLE}"
    return None if len(left) == len(right) else f"README.md has {len(left)} lines of {EXAMPLE}, which has {len(right)}"


def sanitizer_flags(library):
    """What a program needs that is linked with a sanitized library."""
    names = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    return [f"-fsanitize={flag}" for flag, mark in (("address", "__asan_init"), ("thread", "__tsan_init")) if mark in names] or (
        ["-fsanitize=undefined"] if "__ubsan_" in names else [])


def compile_and_run(block, build):
    flags = sanitizer_flags(f"{build}/libhbg.so")
    with tempfile.TemporaryDirectory() as folder:
        for variable, otherwise, standard, name in LANGUAGES:
            source, program = f"{folder}/{name}", f"{folder}/{name}.out"
            pathlib.Path(source).write_text(block)
            subprocess.run([os.environ.get(variable, otherwise), f"-std={standard}", "-Wall", "-Wextra", "-Werror", *flags, f"-I{ROOT}/include",
                            source, "-o", program, f"-L{build}", f"-Wl,-rpath,{build}", "-lhbg"], check=True)
            done = subprocess.run([program], capture_output=True, text=True)
            if done.returncode or "done: 100 tasks, y[99999] = 199998" not in done.stdout:
                sys.exit(f"the example as {standard} ended with {done.returncode} and printed: {done.stdout}{done.stderr}")


def main():
    source = (ROOT / EXAMPLE).read_text()
    block = first_block((ROOT / "README.md").read_text())
    if check_same(block.replace("100000", "100001", 1), source) is None or check_same(block + "x\n", source) is None:
        sys.exit("a changed example was not noticed")
    difference = check_same(block, source)
    if difference:
        sys.exit(difference)
    build = os.environ.get("HBG_BUILD")
    if build:
        compile_and_run(block, build)
    else:
        print("HBG_BUILD is not set: nothing was compiled")


main()
