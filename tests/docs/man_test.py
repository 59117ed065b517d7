#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page has every command of `hbg --help`, every option of each `hbg COMMAND --help`, and nothing besides; groff reads it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HBG, SOURCE = os.environ["HBG"], pathlib.Path(os.environ["HBG_SOURCE"])


def said(*arguments):
    return subprocess.run([HBG, *arguments], capture_output=True, text=True, check=True).stdout


def sections(page):
    """{command: its section}"""
    commands = page.split(".SH COMMANDS\n", 1)[1].split("\n.SH ", 1)[0]
    parts = re.split(r"^\.SS (\w+)\n", commands, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def options_of(section):
    return set(re.findall(r'^\.B[IR]? "?(--[a-z-]+)', section.replace("\\-", "-"), re.M))


def differences(page):
    known = set(re.findall(r"^  ([a-z]+) ", said("--help"), re.M))
    found = sections(page)
    wrong = [f"command {name} is in one of help and page alone" for name in known ^ set(found)]
    for name in known & set(found):
        wanted = set(re.findall(r"^  (--[a-z-]+)", said(name, "--help"), re.M))
        wrong += [f"option {option} of {name} is in one of help and page alone" for option in wanted ^ options_of(found[name])]
        if not re.search(rf"^\.BR? \"?hbg {name}\b", page.split(".SH DESCRIPTION")[0], re.M):
            wrong.append(f"command {name} is not in the synopsis")
    return wrong


def main():
    page = (SOURCE / "docs/hbg.1.in").read_text()
    for changed in (page.replace(".SS info\n", ".SS inform\n"), page.replace("\\-\\-rounds", "\\-\\-turns"), page.replace(".B \\-\\-quick\n", "")):
        if not differences(changed):
            sys.exit("a changed page was not noticed")
    wrong = differences(page)
    if wrong:
        sys.exit("\n".join(wrong))
    if not shutil.which("groff"):
        print("skipped: there is no groff; the page and the command's helps agree, and nobody read it")
        sys.exit(77)
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True, check=True)
    if done.stderr:
        sys.exit(done.stderr)


main()
