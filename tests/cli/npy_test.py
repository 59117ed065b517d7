#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors as files of numpy: numpy reads what `hbg run --out-npy` writes and writes what query=q.npy reads, and what does not fit is refused.

numpy is looked for in this interpreter and in that of the system, whose package scripts/setup.sh installs.
"""
import json
import os
import subprocess
import sys
import tempfile

SYSTEM = "/usr/bin/python3"
try:
    import numpy
except ImportError:
    if os.path.exists(SYSTEM) and "HBG_NPY_SYSTEM" not in os.environ:
        os.execve(SYSTEM, [SYSTEM, *sys.argv], {**os.environ, "HBG_NPY_SYSTEM": "1"})
    print("numpy is missing (scripts/setup.sh installs it): nothing was tested")
    sys.exit(0)

HBG = os.environ["HBG"]
SMALL = {
    "vector": ["n=1000", "block=64"],
    "matmul": ["m=70", "n=45", "k=90", "tile=20", "k_tile=25"],
    "bgemm": ["task_num=8", "tile=12"],
    "stencil": ["rows=40", "columns=33", "tile=16", "steps=5"],
    "cholesky": ["n=60", "tile=16"],
    "paged_attention": ["batch=3", "heads=4", "kv_heads=2", "head_dim=24", "block_size=8", "context_len=50", "spread=50"],
    "decoder": ["layers=2", "hidden=48", "heads=4", "kv_heads=2", "head_dim=12", "ffn=80", "context=37", "batch=3", "tile=20", "page=8", "splits=3"],
    "gp": ["tile=100"],
}
TENSORS = {         # in, inout; out
    "vector": ("x y", "z"), "matmul": ("a b bias", "c"), "bgemm": ("a b c", ""), "stencil": ("u", "result"), "cholesky": ("a", ""),
    "paged_attention": ("lengths block_table query key_cache value_cache", "out"),
    "decoder": ("table x key_pages value_pages norm1 wqkv wo norm2 w13 w2", "out"), "gp": ("times values t", "prediction deviation likelihood"),
}
INOUT = {("bgemm", "c"), ("cholesky", "a"), ("decoder", "key_pages"), ("decoder", "value_pages")}


def run(*arguments):
    return subprocess.run([HBG, "run", *arguments], capture_output=True, text=True, timeout=120)


def run_json(*arguments):
    done = run(*arguments, "--verify", "--rounds", "2", "--json", "-")
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return json.loads(done.stdout)


def expect_refused(status, sentence, *arguments):
    done = run(*arguments, "--rounds", "1")
    assert done.returncode == status and done.stderr.startswith(f"hbg run: {sentence}"), (arguments, done.returncode, done.stderr)
    assert done.stderr.count("\n") == 1 and done.stdout == "", (arguments, done.stdout, done.stderr)


def write_all(workload, parameters, folder, *more):
    names = " ".join(TENSORS[workload]).split()
    files = {name: os.path.join(folder, f"{name}.npy") for name in names}
    outcome = run_json(workload, *parameters, *more, "--out-npy", ",".join(f"{name}={path}" for name, path in files.items()))
    return outcome, files


def round_trip_of_every_workload():
    """All inputs written, given again under another seed: the same results, bit for bit."""
    for workload, parameters in SMALL.items():
        for more in ([], ["dtype=bf16"]) if workload == "paged_attention" else ([],):
            with tempfile.TemporaryDirectory() as folder:
                first, files = write_all(workload, parameters, folder, *more)
                assert sorted(os.listdir(folder)) == sorted(os.path.basename(path) for path in files.values())
                given = [f"{name}={files[name]}" for name in TENSORS[workload][0].split() if (workload, name) not in INOUT]
                for path in files.values():
                    numpy.save(path, numpy.load(path))          # as numpy writes them
                if any((workload, name) in INOUT for name in files):
                    again = run_json(workload, *parameters, *given)
                else:
                    again = run_json(workload, *parameters, *more, *given, "--seed", "99")
                assert first["digest"] == again["digest"], (workload, more)
                assert first["tasks"] == again["tasks"], workload


def numpy_agrees():
    """numpy computes from the files what the runs computed."""
    with tempfile.TemporaryDirectory() as folder:
        _, files = write_all("matmul", SMALL["matmul"], folder)
        a, b, bias, c = (numpy.load(files[name]) for name in ("a", "b", "bias", "c"))
        assert a.dtype == numpy.float32 and a.shape == (70, 90) and c.shape == (70, 45) and bias.shape == (45,)
        assert numpy.allclose(c, numpy.maximum(0, a.astype("f8") @ b + bias), atol=1e-4)
        assert (numpy.load(files["c"], mmap_mode="r") == c).all()
    for dtype in ("f32", "bf16"):
        with tempfile.TemporaryDirectory() as folder:
            _, files = write_all("paged_attention", SMALL["paged_attention"], folder, f"dtype={dtype}")
            t = {name: numpy.load(path) for name, path in files.items()}
            if dtype == "bf16":
                for name in ("query", "key_cache", "value_cache"):
                    assert t[name].dtype == numpy.uint16
                    t[name] = (t[name].astype("u4") << 16).view("f4")
            assert t["lengths"].dtype == t["block_table"].dtype == numpy.int32
            for request, length in enumerate(t["lengths"]):
                blocks = t["block_table"][request][: -(-length // 8)]
                for head in range(4):
                    k, v = (t[name][blocks, :, head // 2].reshape(-1, 24)[:length].astype("f8") for name in ("key_cache", "value_cache"))
                    weight = numpy.exp(k @ t["query"][request, head].astype("f8") / 24**0.5)
                    expected = weight @ v / weight.sum() if length else numpy.zeros(24)
                    assert numpy.abs(t["out"][request, head] - expected).max() < 1e-5, (dtype, request, head)


def own_data():
    """References follow the tensors that are given, of any magnitude, and shapes that a file decides."""
    rng = numpy.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        def save(name, array, **how):
            path = os.path.join(folder, name + ".npy")
            with open(path, "wb") as file:
                numpy.lib.format.write_array(file, array, **how)
            return f"{name}={path}"

        a = (rng.standard_normal((40, 40)) * 1e4).astype("f4")
        small = ["m=40", "n=40", "k=40", "tile=16"]
        one = run_json("matmul", *small, save("a", a))
        two = run_json("matmul", *small, save("a", a, version=(2, 0)))
        assert one["digest"] == two["digest"] != run_json("matmul", *small)["digest"] and one["max_abs_error"] > 1e-4
        run_json("stencil", "rows=40", "columns=40", "tile=16", "steps=30", save("u", a))
        run_json("vector", "n=40", "block=7", save("x", a[0]), save("y", a[1]))
        matrix = rng.standard_normal((50, 50))
        run_json("cholesky", "n=50", "tile=16", save("a", matrix @ matrix.T + 50 * numpy.eye(50)))
        times = numpy.linspace(1990, 2000, 60)
        outcome = run_json("gp", "tile=16", save("times", times), save("values", numpy.sin(times)), save("t", numpy.array([2001.5, 2002.0])))
        assert outcome["results"]["n"] == 60 and [row["time"] for row in outcome["results"]["table"]] == [2001.5, 2002.0]
        paged = ["paged_attention", "batch=2", "heads=2", "head_dim=8", "block_size=4", "context_len=12"]
        lengths, table = save("lengths", numpy.array([12, 5], "i4")), save("block_table", numpy.array([[4, 0, 9], [2, 7, -1]], "i4"))
        outcome = run_json(*paged, lengths, table)
        assert outcome["tasks"] == 5 * 4 + 2
        cache = save("key_cache", rng.standard_normal((10, 4, 1, 8)).astype("f4"))
        assert run_json(*paged, lengths, table, cache)["verified"]
        expect_refused(2, "paged_attention: request 1 has 13 tokens; context_len allows 0 to 12", *paged,
                       save("lengths", numpy.array([12, 13], "i4")))
        expect_refused(2, "paged_attention: request 0 has -1 tokens", *paged, save("lengths", numpy.array([-1, 3], "i4")))
        lengths = save("lengths", numpy.array([12, 5], "i4"))
        expect_refused(2, "paged_attention: block_table gives request 0 block 10; the cache has 10", *paged, lengths, cache,
                       save("block_table", numpy.array([[4, 10, 9], [2, 7, -1]], "i4")))
        expect_refused(2, "paged_attention: block_table gives request 1 block -1; the cache has ", *paged, lengths,
                       save("block_table", numpy.array([[4, 3, 9], [2, -1, 7]], "i4")))
        decoder = ["decoder", "layers=1", "hidden=16", "ffn=16", "context=9", "page=4", "batch=2"]
        cache = save("key_pages", rng.standard_normal((1, 9, 2, 4, 32)).astype("f4"))
        shared = save("table", numpy.array([[8, 0, 2], [8, 0, 3]], "i4"))           # two requests that begin with the same tokens
        assert run_json(*decoder, shared)["verified"] and run_json(*decoder, shared, cache)["verified"]
        run_json(*decoder, save("x", (rng.standard_normal((2, 16)) * 1e4).astype("f4")))
        expect_refused(2, "decoder: table gives request 1 page 9; the cache has 9", *decoder, cache, save("table", numpy.array([[8, 0, 2], [8, 9, 3]], "i4")))
        expect_refused(2, "decoder: table gives request 0 page -1; the cache has 9", *decoder, save("table", numpy.array([[8, -1, 2], [8, 0, 3]], "i4")))
        bf16 = rng.standard_normal((2, 2, 8)).astype("f4").view("u4") >> 16
        digests = {run_json(*paged, "dtype=bf16", save("query", q))["digest"] for q in (bf16.astype("u2"), bf16.astype("u2").view("V2"))}
        assert len(digests) == 1


def refusals():
    a = numpy.arange(12, dtype="f4").reshape(3, 4)
    matmul = ["matmul", "m=3", "k=4", "n=5"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npy")

        def saved(array, cut=None, more=b"", **how):
            with open(path, "wb") as file:
                numpy.lib.format.write_array(file, array, **how)
            with open(path, "rb") as file:
                content = file.read()[:cut] + more
            with open(path, "wb") as file:
                file.write(content)
            return f"a={path}"

        for array, words in (
            (a.astype("f8"), "holds <f8 where <f4 is needed"), (a.astype(">f4"), "holds >f4 where <f4 is needed"),
            (a.astype("i4"), "holds <i4 where <f4 is needed"), (a.astype("c8"), "holds <c8 where <f4 is needed"),
            (numpy.array([["a"]]), "holds <U1 where <f4 is needed"), (numpy.array(["2000"], "M8[s]"), "holds <M8[s] where <f4 is needed"),
            (a.T, "has the shape (4, 3) where (3, 4) is needed"), (a[0], "has the shape (4,) where (3, 4) is needed"),
            (numpy.float32(1), "has the shape () where (3, 4) is needed"),
        ):
            expect_refused(2, f"matmul: tensor a: `{path}` {words}", *matmul, saved(numpy.ascontiguousarray(array) if array.shape else array))
        for array, words, how in (
            (numpy.asfortranarray(a), "is in Fortran order; numpy.ascontiguousarray() puts it in C order", {}),
            (numpy.zeros(3, "i4,f4"), "holds a structured type; one number an element is needed", {}),
            (numpy.zeros((1,) * 6), "has 6 dimensions; at most 5 are possible", {}),
            (a, "is of version 3.0; versions 1.0 and 2.0 are read", {"version": (3, 0)}),
            (a, "is cut: it has 47 of its 48 bytes of data", {"cut": -1}), (a, "is cut in its header", {"cut": 100}),
            (a, "is cut in its header", {"cut": 9}), (a, "is no .npy file", {"cut": 3}), (a, "is no .npy file", {"cut": 0}),
            (a, "has 2 bytes behind its data", {"more": b"xy"}),
        ):
            expect_refused(2, f"tensor a: `{path}` {words}", *matmul, saved(array, **how))
        good = saved(a)
        expect_refused(2, f"tensor a is given twice", *matmul, good, good)
        expect_refused(2, "matmul: workload matmul has no tensor `w`; known are a, b, bias, c", *matmul, f"w={path}")
        expect_refused(2, "matmul: tensor c is a result: it cannot be given", *matmul, f"c={path}")
        expect_refused(2, f"tensor a: `{folder}/b.npy` cannot be opened: No such file", *matmul, f"a={folder}/b.npy")
        os.mkdir(f"{folder}/d.npy")
        expect_refused(2, f"tensor a: `{folder}/d.npy` is no regular file", *matmul, f"a={folder}/d.npy")
        os.mkfifo(f"{folder}/p.npy")
        expect_refused(2, f"tensor a: `{folder}/p.npy` is no regular file", *matmul, f"a={folder}/p.npy")
        expect_refused(2, "workload matmul has no tensor `d`; known are a, b, bias, c", *matmul, "--out-npy", f"d={folder}/o.npy")
        expect_refused(2, "--out-npy: `c` is not written NAME=FILE", *matmul, "--out-npy", "c")
        expect_refused(2, "--out-npy: tensor c needs a file", *matmul, "--out-npy", "c=-")
        expect_refused(2, "--out-npy c and --out-npy a name the same file, `o.npy`", *matmul, "--out-npy", "c=o.npy,a=o.npy")
        expect_refused(1, "`/nowhere/o.npy` cannot be written: No such file", *matmul, "--out-npy", "c=/nowhere/o.npy")


def files_are_written_only_after_success():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "o.npy")
        with open(path, "w") as file:
            file.write("earlier")
        os.chmod(path, 0o640)
        done = run("cholesky", "n=64", "tile=16", "dominance=0", "--out-npy", f"a={path}")
        assert done.returncode == 1 and os.listdir(folder) == ["o.npy"], (done.stderr, os.listdir(folder))
        done = run("vector", "n=10", "--out-npy", f"z={path},x=/dev/full")
        assert done.returncode == 1 and "`/dev/full` was not written whole: No space left" in done.stderr, done.stderr
        assert os.listdir(folder) == ["o.npy"] and open(path).read() == "earlier"
        link = os.path.join(folder, "link.npy")
        os.symlink("o.npy", link)
        done = run("vector", "n=10", "--out-npy", f"z={link}")
        assert done.returncode == 0 and os.path.islink(link) and numpy.load(path).shape == (10,), done.stderr
        assert os.stat(path).st_mode & 0o777 == 0o640 and sorted(os.listdir(folder)) == ["link.npy", "o.npy"]


if __name__ == "__main__":
    for test in (round_trip_of_every_workload, numpy_agrees, own_data, refusals, files_are_written_only_after_success):
        test()
        print("ok", test.__name__)
