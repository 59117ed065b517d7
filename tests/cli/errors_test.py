#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad command lines and bad tables: the exit status, one sentence on standard error, nothing on standard output."""
import os
import re
import resource
import subprocess
import tempfile

HBG = os.environ["HBG"]

MISUSES = [
    (["frob"], "hbg: there is no command `frob`; known are list, run,"),
    (["rnu", "gp"], "hbg: there is no command `rnu`; did you mean `run`?"),
    (["list", "all"], "hbg list: there is no workload `all`; known are vector, matmul,"),
    (["list", "gp", "all"], "hbg list: `all` is one argument too many"),
    (["list", "--long"], "hbg list: there is no option `--long`; known are --tensors"),
    (["version", "1"], "hbg version: `1` is one argument too many"),
    (["info", "1"], "hbg info: `1` is one argument too many"),
    (["run"], "hbg run: a workload is needed; `hbg list` shows them"),
    (["run", "choleski"], "hbg run: there is no workload `choleski`; did you mean `cholesky`?"),
    (["run", "sorting"], "hbg run: there is no workload `sorting`; known are vector, matmul, bgemm,"),
    (["run", "vector", "--round", "3"], "hbg run: there is no option `--round`; did you mean `--rounds`?"),
    (["run", "vector", "--rounds"], "hbg run: option --rounds needs a value"),
    (["run", "vector", "--rounds", "0"], "hbg run: --rounds: `0` is not between 1 and 1000000000"),
    (["run", "vector", "--rounds", "-1"], "hbg run: --rounds: `-1` is not a whole number of 0 or more"),
    (["run", "vector", "--warmup", "x"], "hbg run: --warmup: `x` is not a whole number of 0 or more"),
    (["run", "vector", "--warmup", "1000000001"], "hbg run: --warmup: `1000000001` is not between 0 and 1000000000"),
    (["run", "vector", "--seed", "1.5"], "hbg run: --seed: `1.5` is not a whole number of 0 or more"),
    (["run", "vector", "--rounds", "1", "--rounds", "2"], "hbg run: option --rounds is given twice"),
    (["run", "vector", "--verify", "--verify"], "hbg run: option --verify is given twice"),
    (["info", "--device=cpu", "--device", "cpu"], "hbg info: option --device is given twice"),
    (["bench", "submit", "--quick", "--quick"], "hbg bench: option --quick is given twice"),
    (["run", "vector", "n=1", "n=1"], "hbg run: parameter n is given twice"),
    (["run", "vector", "n=+5"], "hbg run: vector: parameter n: `+5` is not a whole number"),
    (["run", "vector", "scale=+1"], "hbg run: vector: parameter scale: `+1` is not a number"),
    (["run", "vector", "--trace", "-"], "hbg run: --trace: `-` is no file"),
    (["run", "vector", "depth=2"], "hbg run: workload vector has no parameter `depth`; "),
    (["run", "vector", "--verify", "--device", "null:workers=2"], "hbg run: the device null calls no kernels: there is nothing to verify"),
    (["run", "vector", "--replay", "maybe"], "hbg run: --replay: `maybe` is none of on, compare, off"),
    (["run", "vector", "--exclusive", "--wait", "5"], "hbg run: the value of --wait stands behind an equals sign: --wait=5\n"),
    (["bench", "bind", "--exclusive", "--wait", "0.5"], "hbg bench: the value of --wait stands behind an equals sign: --wait=0.5\n"),
    (["run", "vector", "--verify=1"], "hbg run: option --verify takes no value"),
    (["run", "vector", "--out", "-"], "hbg run: workload vector reports no table: --out has nothing to write"),
    (["run", "gp", "--json", "-", "--out", "-"], "hbg run: --json and --out name the same file"),
    (["run", "vector", "m=1"], "hbg run: workload vector has no parameter `m`; "),
    (["run", "matmul", "a=mine.c"], "hbg run: workload matmul has no parameter `a`; known are m, n, k, tile, k_tile; a tensor takes a file whose name ends in .npy\n"),
    (["run", "vector", "blok=1"], "hbg run: workload vector has no parameter `blok`; did you mean `block`?"),
    (["run", "vector", "n"], "hbg run: `n` is no parameter: name=value is needed"),
    (["run", "vector", "=1"], "hbg run: `=1` is no parameter: name=value is needed"),
    (["run", "vector", "n=many"], "hbg run: vector: parameter n: `many` is not a whole number"),
    (["run", "vector", "n=-1"], "hbg run: vector: n must be at least 0"),
    (["run", "vector", "n=9223372036854775807"], "hbg run: vector: tensor x is larger than the address space"),
    (["run", "vector", "n=9223372036854775808"], "hbg run: vector: parameter n: `9223372036854775808` is out of range"),
    (["run", "vector", "block=0"], "hbg run: vector: block must be at least 1"),
    (["run", "vector", "scale=nan"], "hbg run: vector: parameter scale: `nan` is not a number"),
    (["run", "bgemm", "task_num=5"], "hbg run: bgemm: task_num must be a multiple of grid_k"),
    (["run", "bgemm", "tile=0"], "hbg run: bgemm: tile must be between 1 and 32768"),
    (["run", "cholesky", "tile=-4"], "hbg run: cholesky: tile must be between 1 and 32768"),
    (["run", "cholesky", "n=2147483648"], "hbg run: cholesky: n must be between 0 and 2147483647"),
    (["run", "stencil", "rate=0.3"], "hbg run: stencil: rate must be between 0 and 0.25"),
    (["run", "paged_attention", "dtype=f16"], "hbg run: paged_attention: dtype must be f32 or bf16"),
    (["run", "paged_attention", "kv_heads=3"], "hbg run: paged_attention: heads must be a multiple of kv_heads"),
    (["run", "paged_attention", "heads=1024"], "hbg run: paged_attention: heads times head_dim must be at most 65536"),
    (["run", "paged_attention", "spread=-1"], "hbg run: paged_attention: spread must be between 0 and 2147483647"),
    (["run", "decoder", "kv_heads=3"], "hbg run: decoder: heads must be a multiple of kv_heads"),
    (["run", "decoder", "head_dim=31"], "hbg run: decoder: head_dim must be even: its elements are turned in pairs"),
    (["run", "decoder", "page=2000"], "hbg run: decoder: page must be between 1 and 1024"),
    (["run", "decoder", "subgraph=2"], "hbg run: decoder: subgraph must be 0 or 1"),
    (["run", "decoder", "shape=qwen"], "hbg run: decoder: shape must be custom, qwen3 or dsv4\n"),
    (["run", "decoder", "shape="], "hbg run: decoder: shape must be custom, qwen3 or dsv4\n"),
    (["run", "decoder", "shape=qwen3", "subgraph=2"], "hbg run: decoder: subgraph must be 0 or 1"),
    *[(["run", "decoder", "shape=dsv4", f"{name}=1"], f"hbg run: decoder: {name} means nothing with shape=dsv4, whose tasks are given\n")
      for name in ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "context", "batch", "tile", "page", "splits")],
    (["run", "decoder", "shape=custom", "layers=0"], "hbg run: decoder: layers must be between 1 and 4096"),
    (["run", "gp", "noise=-1"], "hbg run: gp: noise must not be negative"),
    (["run", "gp", "trend_length=0"], "hbg run: gp: trend_length must be above zero"),
    (["run", "gp", "predict="], "hbg run: gp: predict: entry 1, ``, is empty where a number is needed"),
    (["run", "gp", "predict=1998,,1999"], "hbg run: gp: predict: entry 2, ``, is empty where a number is needed"),
    (["run", "gp", "predict=1998,soon"], "hbg run: gp: predict: entry 2, `soon`, is not a number"),
    (["run", "gp", "predict=inf"], "hbg run: gp: predict: entry 1, `inf`, is not a finite number"),
    (["run", "gp", "data=nowhere.csv"], "hbg run: gp: the table `nowhere.csv` cannot be opened: No such file"),
    (["run", "gp", "data=/"], "hbg run: gp: the table `/` cannot be opened: Is a directory"),
    (["run", "gp", "data="], "hbg run: gp: the table `` cannot be opened: "),
    (["run", "gp", "data=/dev/zero"], "hbg run: gp: the table `/dev/zero` cannot be opened: it is no regular file"),
    (["run", "gp", "x=year"], "hbg run: gp: mauna_loa_co2.csv: line 1: there is no column `year`; "),
    (["run", "vector", "n=10", "--device", "cpv"], "hbg run: vector: device: HBG_E_OPTION: "),
    (["run", "vector", "n=10", "--device", "cpu:worker=2"], "hbg run: vector: device: HBG_E_OPTION: "),
    (["run", "vector", "n=10", "--device", "cpu:workers=0"], "hbg run: vector: device: HBG_E_OPTION: "),
    (["run", "vector", "n=10", "--device", "cpu:depth=17"], "hbg run: vector: device: HBG_E_OPTION: "),
    (["info", "--device", "cpu:depth=17"], "hbg info: cpu:depth=17: HBG_E_OPTION: "),
    (["info", "--device", "cpu:pin=7"], "hbg info: cpu:pin=7: HBG_E_OPTION: "),
]
TABLES = [
    (b"", "line 1: the file is empty"),
    (b"t,v\n", "line 1: no row follows the header"),
    (b"t,v\n1,2\n", "line 2: this is the only row"),
    (b"t,v\n1,2\n2,text\n", "line 3: column `v`: `text` is not a number"),
    (b"t,v\n1,2\n2,NaN\n", "line 3: column `v`: `NaN` is not a finite number"),
    (b"t,v\n1,2\n2\n", "line 3: it has 1 field where the header has 2"),
    (b"a,a\n1,2\n3,4\n", "line 1: columns 1 and 2 are both called `a`"),
    (b"t\n1\n2\n", "line 1: the header names one column"),
    (b"t,v\n1,2\n2,\x003\n", "line 3: it holds a zero byte"),
]


def run(arguments):
    return subprocess.run([HBG, *arguments], capture_output=True, text=True, timeout=60)


def expect(arguments, status, sentence, stdout_empty=True):
    done = run(arguments)
    what = f"hbg {' '.join(arguments)}: status {done.returncode}, standard error:\n{done.stderr}"
    assert done.returncode == status, f"status {status} is expected: {what}"
    assert done.stderr.startswith(sentence), f"{sentence!r} is expected: {what}"
    assert done.stderr.count("\n") == 1, f"one line is expected: {what}"
    assert not stdout_empty or done.stdout == "", f"standard output holds: {done.stdout!r}"


def misuses():
    for arguments, sentence in MISUSES:
        expect(arguments, 2, sentence, stdout_empty=arguments[0] != "info" or len(arguments) == 2)


def bad_tables():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.csv")
        for content, sentence in TABLES:
            with open(path, "wb") as file:
                file.write(content)
            expect(["run", "gp", f"data={path}"], 2, f"hbg run: gp: {path}: {sentence}")


def outputs_that_cannot_be_written():
    expect(["run", "vector", "n=10", "--json", "/nowhere/o.json"], 1, "hbg run: `/nowhere/o.json` cannot be written: No such file")
    expect(["trace", "/dev/zero"], 1, "hbg trace: `/dev/zero` cannot be read: it is a device")
    expect(["run", "gp", "--out", "/"], 1, "hbg run: `/` cannot be written: Is a directory")
    expect(["run", "vector", "n=10", "--json", "/dev/full"], 1, "hbg run: `/dev/full` was not written whole: No space left",
           stdout_empty=False)
    expect(["run", "gp", "--out", "/dev/full"], 1, "hbg run: `/dev/full` was not written whole: No space left", stdout_empty=False)
    with open("/dev/full", "w") as full:
        for arguments in (["list"], ["version"], ["version", "--json"], ["devices", "--json"], ["info"], ["run", "vector", "n=10"], ["run", "vector", "n=10", "--json", "-"]):
            done = subprocess.run([HBG, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            assert done.returncode == 1 and "not written whole: No space left" in done.stderr, (arguments, done.returncode, done.stderr)


def small():
    """A process whose files may have 2,000 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))


def files_that_may_not_grow():
    """Larger than that: the sentence says why, the old file stays, nothing is left beside it."""
    with tempfile.TemporaryDirectory() as folder:
        for arguments, name in ((["describe", "matmul", "--format", "json", "--out", "f"], "`f`"), (["run", "vector", "--out-npy", "z=f"], "`f`"),
                                (["describe", "matmul"], "standard output"), (["run", "vector", "n=10", "--trace", "f"], "the trace `f`")):
            with open(os.path.join(folder, "f"), "w") as file:
                file.write("old")
            with open(os.path.join(folder, "text"), "w") as text:
                done = subprocess.run([HBG, *arguments], cwd=folder, stdout=text, stderr=subprocess.PIPE, text=True, timeout=60, preexec_fn=small)
            assert done.returncode == 1 and f"{name} was not written whole" in done.stderr, (arguments, done.returncode, done.stderr)
            assert "File too large" in done.stderr, (arguments, done.stderr)
            assert sorted(os.listdir(folder)) == ["f", "text"], os.listdir(folder)
            assert "trace" in name or open(os.path.join(folder, "f")).read() == "old", arguments


def help_is_no_error():
    for arguments in (["--help"], ["help"], ["-h"], ["run", "--help"], ["list", "-h"], ["info", "--help"], ["version", "--help"]):
        done = run(arguments)
        assert done.returncode == 0 and "usage" in done.stdout and done.stderr == "", arguments
    assert "exit status: 0 " in run(["--help"]).stdout
    done = run([])
    assert done.returncode == 2 and "usage" in done.stderr and done.stdout == ""
    assert run(["--version"]).stdout == run(["version"]).stdout != ""


def help_stands_in_columns():
    """Of each command all options are explained in one column, in lines that a terminal has room for."""
    for command in re.findall(r"^  ([a-z]+) ", run(["--help"]).stdout, re.M):
        text = run([command, "--help"]).stdout
        options = re.findall(r"^  (--.*)", text, re.M)
        columns = {re.match(r"--\S+(?: \S+)?  +", option).end() for option in options}
        assert len(columns) <= 1, (command, columns, text)
        for line in text.split("\n")[text.count("\n") - len(options):]:
            assert len(line) <= 110, line
        for line in re.findall(r"^ {4,}\S.*", text, re.M):
            assert len(line) - len(line.lstrip()) == columns.copy().pop() + 2, line
    columns = re.search(r"^case +workers .*$", run(["bench", "dispatch", "--quick", "--case", "chain"]).stdout, re.M).group().split()
    explained = run(["bench", "--help"]).stdout
    assert all(re.search(rf"^(\w+, )*{column}\b", explained, re.M) for column in columns), columns


if __name__ == "__main__":
    for test in (misuses, bad_tables, outputs_that_cannot_be_written, files_that_may_not_grow, help_is_no_error, help_stands_in_columns):
        test()
        print("ok", test.__name__)
