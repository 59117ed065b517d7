#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg list` has every workload with its parameters, and `hbg list WORKLOAD` says of each parameter what it means."""
import os
import re
import subprocess

HBG = os.environ["HBG"]


def listed(*arguments):
    done = subprocess.run([HBG, "list", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def main():
    everything = listed()
    parts = [part.split("\n") for part in everything.strip().split("\n\n")]
    assert len(parts) >= 7 and max(len(line) for line in everything.splitlines()) <= 130, everything
    for name, doc, *params in parts:
        short = " ".join(params).split()
        lines = listed(name).rstrip("\n").split("\n")
        assert lines[:2] == [name, doc], (lines, doc)
        assert [line.split()[0] for line in lines[2:]] == short, (lines, short)
        for line in lines[2:]:
            assert re.fullmatch(r"    \w+=\S* +\S.{3,}", line) and len(line) <= 150, line


main()
