#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg info` says which of the optional packages this build has and which it went without, and what opening a device says."""
import os
import pathlib
import re
import subprocess

HBG, BUILD = os.environ["HBG"], os.environ["HBG_BUILD"]
# of the build's cache: all of these were found, and what is said with them and without
PACKAGES = {
    "hwloc": (("HBG_HWLOC_INCLUDE", "HBG_HWLOC_LIBRARY"), "HBG_USE_HWLOC", "of workers by hwloc", "built without hwloc (libhwloc-dev)"),
    "OpenBLAS": (("HBG_CBLAS_INCLUDE", "HBG_LAPACKE_INCLUDE", "HBG_OPENBLAS_LIBRARY", "HBG_LAPACKE_LIBRARY"), "HBG_USE_OPENBLAS",
                 "OpenBLAS and LAPACKE", "built without OpenBLAS (libopenblas-dev, liblapacke-dev)"),
}


def main():
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", pathlib.Path(BUILD, "CMakeCache.txt").read_text(), re.M))
    done = subprocess.run([HBG, "info"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    for name, (parts, option, with_it, without_it) in PACKAGES.items():
        have = cache[option] == "ON" and all(not cache.get(part, "NOTFOUND").endswith("NOTFOUND") for part in parts)
        assert (with_it in done.stdout) == have and (without_it in done.stdout) != have, (name, have, done.stdout)
    if re.search(r"OpenBLAS and LAPACKE", done.stdout):
        cores = {name: subprocess.run([HBG, "info"], capture_output=True, text=True, timeout=60, env=os.environ | {"OPENBLAS_CORETYPE": name}).stdout for name in ("Prescott", "Core2")}
        assert all(f"kernels for {name}\n" in said for name, said in cores.items()), cores
    for line in ("machine", "cpus", "memory", "device", "device says"):
        assert re.search(rf"^{line} +\S", done.stdout, re.M), (line, done.stdout)


main()
