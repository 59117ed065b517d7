#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg list` has every workload with its parameters, `hbg list WORKLOAD` says of each parameter what it means, and with --tensors it
says of each tensor what a file of it holds."""
import ast
import os
import re
import subprocess
import tempfile

HBG = os.environ["HBG"]
SMALL = {
    "vector": ["n=1000"],
    "matmul": ["m=70", "n=45", "k=90"],
    "bgemm": ["task_num=8", "tile=12"],
    "stencil": ["rows=50", "columns=40"],
    "cholesky": ["n=40", "tile=16"],
    "paged_attention": ["batch=2", "heads=4", "context_len=40", "dtype=bf16"],
    "decoder": ["layers=2", "hidden=24", "ffn=40", "context=30"],
    "gp": ["predict=1998,1999"],
}


def listed(*arguments, status=0):
    done = subprocess.run([HBG, "list", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == status and (status == 0) == (done.stderr == ""), (arguments, done.returncode, done.stderr)
    return done.stderr if status else done.stdout


def check_tensors(name, params, folder):
    """What is listed is what is written: names, types, shapes; and what is `in` or `inout` can be given."""
    lines = listed(name, "--tensors", *params).splitlines()
    found = [re.fullmatch(r"    (\w+) +(in|out|inout) +(b?[fiu]\d+) +(\([\d, ]*\))  numpy: (\S+)", line).groups() for line in lines]
    assert found and len({line.index("(") for line in lines}) == 1, lines
    paths = {tensor: os.path.join(folder, tensor + ".npy") for tensor, *_ in found}
    run = [HBG, "run", name, *params, "--rounds", "1", "--warmup", "0"]
    subprocess.run([*run, "--out-npy", ",".join(f"{tensor}={path}" for tensor, path in paths.items())], check=True, capture_output=True, timeout=60)
    for tensor, _, dtype, shape, descr in found:
        with open(paths[tensor], "rb") as file:
            header = ast.literal_eval(file.read()[10:].split(b"\n")[0].decode())
        assert header["shape"] == ast.literal_eval(shape) and header["descr"] == descr, (tensor, header, shape, descr)
        assert descr == ("<u2" if dtype == "bf16" else f"<{dtype[0]}{int(dtype[1:]) // 8}"), (tensor, dtype, descr)
    given = [f"{tensor}={paths[tensor]}" for tensor, access, *_ in found if access != "out"]
    subprocess.run([*run, *given], check=True, capture_output=True, timeout=60)
    assert listed(name, "--tensors", *params, *given).splitlines() == lines


def main():
    everything = listed()
    parts = [part.split("\n") for part in everything.strip().split("\n\n")]
    assert len(parts) >= 8 and max(len(line) for line in everything.splitlines()) <= 130, everything
    for name, doc, *params in parts:
        short = " ".join(params).split()
        lines = listed(name).rstrip("\n").split("\n")
        assert lines.pop() == f"    tensors: hbg list {name} --tensors", lines
        assert lines[:2] == [name, doc], (lines, doc)
        assert [line.split()[0] for line in lines[2:]] == short, (lines, short)
        for line in lines[2:]:
            assert re.fullmatch(r"    \w+=\S* +\S.{3,}", line) and len(line) <= 150, line
        with tempfile.TemporaryDirectory() as folder:
            check_tensors(name, SMALL[name], folder)
    with tempfile.TemporaryDirectory() as folder:
        check_tensors("decoder", ["shape=dsv4"], folder)
    assert "(512, 512)" in listed("matmul", "--tensors")
    assert listed("--tensors", status=2) == "hbg list: --tensors shows those of one workload, and its name is missing\n"
    assert listed("matmul", "--tensors", "q=1", status=2).startswith("hbg list: workload matmul has no parameter `q`; ")
    assert listed("matmul", "m=1", status=2) == "hbg list: `m=1` is one argument too many\n"


main()
