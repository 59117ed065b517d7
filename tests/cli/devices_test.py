#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hbg devices, and --exclusive with its --wait: what is offered is what can be opened, one at a time has a device, and all see who."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HBG, BUILD = os.environ["HBG"], pathlib.Path(os.environ["HBG_BUILD"])
ENDLESS = ["run", "vector", "n=4096", "--rounds", "20000000", "--exclusive"]
SHORT = ["run", "vector", "n=4096", "--rounds", "2"]
NOBODY = 65534


class Machine:
    """A command with a folder of locks of its own, and maybe another user."""

    def __init__(self, folder, command=HBG, user=None, **environment):
        self.command, self.user = [str(command)], user
        self.environment = {**os.environ, "HBG_LOCK_DIR": str(folder), **environment}

    def start(self, *words):
        as_user = {"user": self.user, "extra_groups": [], "umask": 0o077} if self.user else {}
        return subprocess.Popen(self.command + list(words), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", **as_user)

    def run(self, *words):
        process = self.start(*words)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def platforms(self):
        status, out, err = self.run("devices", "--json")
        assert (status, err) == (0, ""), (status, err)
        return {platform["name"]: platform for platform in json.loads(out)["platforms"]}

    def holder(self):
        return self.platforms()["cpu"]["holder"]

    def endless(self):
        """A command that has the device; it was seen to have it."""
        process = self.start(*ENDLESS)
        deadline = time.monotonic() + 30
        while not (holder := self.holder()) or holder["pid"] != process.pid:
            assert process.poll() is None and time.monotonic() < deadline, (process.poll(), holder)
            time.sleep(0.01)
        return process


def end(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


def refused(done, sentence, status=1):
    assert done[0] == status and re.fullmatch(sentence, done[2]), (sentence, done)
    assert done[1] == "", done


def what_is_offered(machine):
    platforms = machine.platforms()
    status, text, err = machine.run("devices")
    assert (status, err) == (0, "") and list(platforms)[:2] == ["cpu", "null"], platforms
    for name, platform in platforms.items():
        assert platform["available"] and platform["why"] is None and platform["workers"] >= 1 and platform["depth"] >= 1, platform
        assert re.search(rf"^{name} +{platform['workers']} workers ", text, re.M), text
        for option in platform["options"]:
            preset = f" ({option['default']})" if option["default"] else ""
            assert re.search(rf"^  {option['key']} +{re.escape(option['values'] + preset)}$", text, re.M), (option, text)
        spec = name + ":" + ",".join(f"{option['key']}={option['default']}" for option in platform["options"] if option["default"])
        assert machine.run("run", "vector", "n=4096", "--rounds", "1", "--device", spec)[0] == 0, spec
    assert "cpu.0                    held by nobody\n" in text and platforms["cpu"]["held"] is False, text


def one_at_a_time(machine):
    holder = machine.endless()
    told = machine.holder()
    assert told["user"] == subprocess.run(["id", "-un"], stdout=subprocess.PIPE, text=True).stdout.strip() and abs(told["since"] - time.time()) < 60
    assert told["command"] == " ".join(machine.command + ENDLESS), told
    who = rf"cpu\.0 is held by user {told['user']}, process {holder.pid}, since [-0-9: ]+: {re.escape(told['command'])}"
    waits = rf"hbg run: waits for cpu\.0, held by user [^\n]*\n"
    assert f"held by user {told['user']}, process {holder.pid}, " in machine.run("devices")[1]
    refused(machine.run(*SHORT, "--exclusive"), rf"hbg run: HBG_E_BUSY: {who}; --wait waits for it\n")
    refused(machine.run(*SHORT, "--exclusive", "--device", "null"), rf"hbg run: HBG_E_BUSY: {who}; --wait waits for it\n")
    refused(machine.run("bench", "submit", "--exclusive"), rf"hbg bench: HBG_E_BUSY: {who}; --wait waits for it\n")
    start = time.monotonic()
    refused(machine.run(*SHORT, "--exclusive", "--wait=0.3"), rf"{waits}hbg run: HBG_TIMEOUT: {who}\n")
    assert 0.3 <= time.monotonic() - start < 10
    assert machine.run(*SHORT)[0] == 0          # who does not ask for it is not kept out
    waiting = machine.start(*SHORT, "--exclusive", "--wait")
    time.sleep(0.2)
    assert waiting.poll() is None
    end(holder)
    out, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 0 and re.fullmatch(waits, err), err
    assert machine.holder() is None and os.listdir(machine.environment["HBG_LOCK_DIR"]) == []


def misuses(machine):
    refused(machine.run(*SHORT, "--wait"), r"hbg run: --wait says how long to wait for the device, and --exclusive is missing\n", 2)
    refused(machine.run("bench", "submit", "--wait=1"), r"hbg bench: --wait says how long .*\n", 2)
    refused(machine.run(*SHORT, "--exclusive", "--wait=soon"), r"hbg run: --wait: `soon` is not a number\n", 2)
    refused(machine.run(*SHORT, "--exclusive", "--wait=-1"), r"hbg run: --wait: `-1` is negative\n", 2)
    refused(machine.run(*SHORT, "--exclusive=1"), r"hbg run: option --exclusive takes no value\n", 2)
    refused(machine.run(*SHORT, "--exclusive", "--device", "cqu"), r"hbg run: [^\n]*there is no device \"cqu\"[^\n]*\n", 2)
    refused(machine.run("devices", "cpu"), r"hbg devices: `cpu` is one argument too many\n", 2)
    refused(Machine("/nonexistent/locks").run(*SHORT, "--exclusive"), r"hbg run: HBG_E_DEVICE: --exclusive: the folder of locks, /nonexistent/locks, cannot be made: .*\n")


def two_users(work):
    """Each sees, and is kept out by, the other; and what a killed one has left is in nobody's way."""
    if os.geteuid() != 0:
        print("not root: locks of two users were not tried")
        return
    shutil.copy(HBG, work / "hbg")
    shutil.copy(BUILD / "libhbg.so.0", work / "libhbg.so.0")
    for path in work, work / "hbg", work / "libhbg.so.0":
        path.chmod(0o755)
    (work / "open").mkdir()
    (work / "open").chmod(0o1777)
    folder = work / "open" / "locks"
    users = [Machine(folder, work / "hbg", user, LD_LIBRARY_PATH=str(work)) for user in (NOBODY, None)]
    if users[0].run("list")[0] != 0:
        print("the command does not run as another user here: locks of two users were not tried")
        return
    for one, other in (users, users[::-1], users):
        holder = one.endless()
        assert other.holder()["pid"] == holder.pid
        refused(other.run(*SHORT, "--exclusive"), rf"hbg run: HBG_E_BUSY: cpu\.0 is held by user \S+, process {holder.pid}, .*\n")
        end(holder)
        assert other.platforms()["cpu"]["held"] is False
        assert other.run(*SHORT, "--exclusive")[0] == 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        machine = Machine(work / "locks")
        what_is_offered(machine)
        one_at_a_time(machine)
        misuses(machine)
        two_users(work)


main()
