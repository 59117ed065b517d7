# SPDX-License-Identifier: Apache-2.0
"""mutation.py - break copies of the tree in one place at a time, and see which suites notice: what mutate_submit.py and mutate_sched.py share.

A suite is a test of tests/, named as in ctest. It has noticed a mutant when it does not build, fails, or does not end. All work happens
in copies of the tree below a temporary folder, one a job, each of which is built once and then again for what a mutant changes.
"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import resource
import shutil
import subprocess
import tempfile
import typing

ROOT = pathlib.Path(__file__).resolve().parents[1]
COPIED = ("CMakeLists.txt", "cmake", "include", "src", "tests", "bench", "tools", "workloads", "examples", "docs", "LICENSE")
FLAGS = ("-DCMAKE_BUILD_TYPE=Release", "-DHBG_OPTIMIZE=-O1 -w", "-DHBG_DEBUG=ON", "-DHBG_WERROR=OFF", "-DHBG_BUILD_EXAMPLES=OFF")


class Mutant(typing.NamedTuple):
    path: str               # of the file
    name: tuple             # what is broken; of one file no two are named alike
    text: str               # all of the file, broken
    suites: tuple           # those that may notice


def source(path):
    return (ROOT / path).read_text()


class Copy:
    def __init__(self, folder, flags, scales, timeout_s):
        self.tree, self.build, self.scales, self.timeout_s = folder / "tree", folder / "build", scales, timeout_s
        self.tree.mkdir(parents=True)
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, self.tree / name)
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build, *FLAGS, *flags, *launcher], check=True, stdout=subprocess.DEVNULL)

    def passes(self, suite):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        target = "test_" + suite.replace("/", "_")
        if subprocess.run(["cmake", "--build", self.build, "-j1", "--target", target], **quiet).returncode != 0:
            return False
        no_core = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            return subprocess.run([self.build / "tests" / suite], timeout=self.timeout_s, preexec_fn=no_core, cwd=self.build,
                                  env={**os.environ, "HBG_TEST_SCALE": str(self.scales[suite])}, **quiet).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def noticed_by(self, mutant, all_suites):
        """The suites that notice; where not all of them are asked for, the first one ends the search."""
        noticed, broken = [], self.tree / mutant.path
        original = broken.read_text()
        broken.write_text(mutant.text)
        try:
            for suite in mutant.suites:
                if not self.passes(suite):
                    noticed.append(suite)
                    if not all_suites:
                        break
        finally:
            broken.write_text(original)
        return noticed


def try_all(mutants, scales, flags=(), jobs=1, timeout_s=120, all_suites=True):
    """Yields (mutant, names of the suites that noticed) in order. scales: HBG_TEST_SCALE of each suite."""
    needed = sorted({suite for mutant in mutants for suite in mutant.suites})
    with tempfile.TemporaryDirectory(prefix="hbg-mutate-") as folder:
        copies = queue.Queue()
        for i in range(jobs):
            copy = Copy(pathlib.Path(folder) / str(i), flags, scales, timeout_s)
            broken = [suite for suite in needed if not copy.passes(suite)]
            if broken:
                raise SystemExit(f"without any mutation these fail: {' '.join(broken)}")
            copies.put(copy)

        def attempt(mutant):
            copy = copies.get()
            try:
                return copy.noticed_by(mutant, all_suites)
            finally:
                copies.put(copy)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            yield from zip(mutants, pool.map(attempt, mutants))


def arguments(doc):
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="mutants whose file or name matches")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of these each N-th alone: a sample")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name the mutants and try none")
    return parser.parse_args()
