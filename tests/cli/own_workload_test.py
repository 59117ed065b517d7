#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workloads in files of their own: they are listed and run; a file that is none, and a crash inside of one, gets a sentence."""
import csv
import io
import os
import pathlib
import re
import resource
import subprocess
import tempfile

HBG, SOURCE, CC = os.environ["HBG"], os.environ["HBG_SOURCE"], os.environ.get("CC", "cc")
BASE = """#include <hbg/hbg.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct params { int64_t n; char where[32]; };
static volatile int zero;
static int *volatile nowhere;
static int deep(volatile char *above) { volatile char here[4096]; here[0] = above[0]; return deep(here) + here[0]; }
static int crash(char how)
{
    if (how == 's') *nowhere = 1;
    if (how == 'f') zero = 100 / zero;
    if (how == 'a') abort();
    if (how == 'b') raise(SIGBUS);
    if (how == 'i') __builtin_trap();
    if (how == 'w') { volatile char here = 0; *((volatile char *)((uintptr_t)&here & ~(uintptr_t)0xfffff) - ((uintptr_t)16 << 40)) = here; }
    if (how == 'd') { volatile char top = 0; return deep(&top); }
    return 0;
}
static int count(const struct hbg_task_view *t) { *HBG_VIEW(int32_t, t, 0) += 1; return 0; }
static int last(const struct hbg_task_view *t)
{
    const struct params *p = HBG_VIEW(const struct params, t, 1);
    if (p->where[0] == 'k') crash(p->where[1]);
    return count(t);
}
static int twice(const struct hbg_task_view *t)
{
    const struct params *p = HBG_VIEW(const struct params, t, 1);
    if (p->where[0] == 'o') crash(p->where[1]);
    count(t);
    return count(t);
}
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, count, "inout i32"), HBG_KERNEL(1, last, "inout i32, bytes") };
static const struct hbg_kernel others[] = { HBG_KERNEL(0, count, "inout i32"), HBG_KERNEL(1, twice, "inout i32, bytes") };
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct params *p = params;
    struct hbg_region x = hbg_args_region(args, 0);
    if (p->where[0] == 'b') crash(p->where[1]);
    for (int64_t i = 0; i < p->n; i++) hbg_submit(g, 0, hbg_inout(x));
    hbg_submit(g, 1, hbg_inout(x), hbg_bytes(p, sizeof *p));
}
static int inputs(struct hbg_setup *s)
{
    struct params p = { .n = hbg_setup_i64(s, "n") };
    const char *where = hbg_setup_text(s, "where");
    for (int i = 0; i < 31 && where[i]; i++) p.where[i] = where[i];
    if (p.where[0] == 'i') crash(p.where[1]);
    hbg_setup_tensor(s, "x", HBG_ARG_INOUT, HBG_I32, HBG_SHAPE(1));
    hbg_setup_params(s, &p, sizeof p);
    if (p.where[0] == 'o') hbg_setup_kernels(s, others, 2);
    if (p.where[0] == 'z') hbg_setup_kernels(s, NULL, 2);
    return 0;
}
static int golden(struct hbg_setup *s)
{
    if (hbg_setup_text(s, "where")[0] == 'v') hbg_setup_kernels(s, others, 2);
    int32_t *x = hbg_setup_expected(s, "x");
    if (hbg_setup_text(s, "where")[0] == 'g') crash(hbg_setup_text(s, "where")[1]);
    if (x) *x = (int32_t)hbg_setup_i64(s, "n") + (hbg_setup_text(s, "where")[0] == 'v' ? 2 : 1);
    return 0;
}
static int report(struct hbg_setup *s)
{
    static const char *const columns[] = { "plain", "with, comma", "say \\"so\\"", "two\\nlines", "" };
    static const double cells[] = { 1, 2.5, 3, 4, 5 };
    if (hbg_setup_text(s, "where")[0] == 't') hbg_setup_table(s, columns, 5, cells, 1);
    if (hbg_setup_text(s, "where")[0] == 'n') return hbg_setup_fail(s, hbg_setup_text(s, "where")[1] ? "" : NULL);
    return hbg_setup_text(s, "where")[0] == 'r' ? crash(hbg_setup_text(s, "where")[1]) : 0;
}
#ifndef PARAMS
#define PARAMS "n=5  tasks before the last one", "where=  a place and a way to crash"
#endif
static const char *const params[] = { PARAMS, NULL };
"""
WHOLE = """HBG_WORKLOAD = { .size = sizeof(struct hbg_workload), .abi = HBG_WORKLOAD_ABI, .name = "own", .doc = "a chain", .params = params,
    .inputs = inputs, .build = build, .kernels = kernels, .kernel_count = 2, .golden = golden, .report = report, .pure_build = true CHANGE };
"""
NEWER = """struct newer { struct hbg_workload known; long more; };
HBG_API extern const struct newer newer __asm__("hbg_workload");
const struct newer newer = { { .size = sizeof(struct newer), .abi = HBG_WORKLOAD_ABI, .name = "own", .doc = "", .inputs = inputs,
    .build = build, .kernels = kernels, .kernel_count = 2 }, 1 };
"""
MANY = """#include <hbg/hbg.h>
#include <stdio.h>

static int one(const struct hbg_task_view *t) { *HBG_VIEW(int32_t, t, 0) = 1; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, one, "out i32") };
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    for (size_t i = 0; i < args->count; i++) hbg_submit(g, 0, hbg_out(hbg_args_region(args, (int)i)));
}
static const char *name(int64_t i) { static char text[32]; snprintf(text, sizeof text, "tensor-number-%lld", (long long)i); return text; }
static int inputs(struct hbg_setup *s)
{
    for (int64_t i = 0; i < hbg_setup_i64(s, "n"); i++) hbg_setup_tensor(s, name(i % hbg_setup_i64(s, "names")), HBG_ARG_OUT, HBG_I32, HBG_SHAPE(1));
    return 0;
}
static int golden(struct hbg_setup *s)
{
    for (int64_t i = 0; i < hbg_setup_i64(s, "n"); i++) *(int32_t *)hbg_setup_expected(s, name(i)) = 1;
    return 0;
}
static const char *const params[] = { "n=60000", "names=60000", NULL };
HBG_WORKLOAD = { .size = sizeof(struct hbg_workload), .abi = HBG_WORKLOAD_ABI, .name = "many", .doc = "a tensor a task", .params = params,
    .inputs = inputs, .build = build, .kernels = kernels, .kernel_count = 1, .golden = golden };
"""
# what is changed in the descriptor, and what is said of it
CHANGES = [
    ('.abi = "hbg-workload-9"', "its descriptor is of ABI `hbg-workload-9`, this command takes `hbg-workload-1`: "),
    (".abi = NULL", "its descriptor has no ABI: "),
    (".size = 8", "its descriptor says that it has 8 bytes; one has "),
    (".size = 1 << 20", "its descriptor says that it has 1048576 bytes; one has "),
    (".name = NULL", "its descriptor lacks `name`"),
    ('.name = ""', "its descriptor lacks `name`"),
    (".doc = NULL", "its descriptor lacks `doc`"),
    (".inputs = NULL", "its descriptor lacks `inputs`"),
    (".build = NULL", "its descriptor lacks `build`"),
    (".kernels = NULL", "its descriptor lacks `kernels`"),
]
PARAMS = [
    ('"n"', "its parameter `n` is not written name=default, or name=default and, behind a blank, its help"),
    ('"=5"', "its parameter `=5` is not written name=default"),
    ('"big n=5"', "its parameter `big n=5` is not written name=default"),
    ('"n=5", "where=", "n=6"', "its descriptor has two parameters `n`"),
]
# a place and a way (the letters of the source above), and what is said
OVERFLOW = "SIGSEGV, stack overflow at 0x[0-9a-f]+; "
SEGV, FPE = "SIGSEGV, a bad address, 0x0", "SIGFPE, arithmetic without a result, at 0x"
CRASHES = [
    ("ks", "kernel `last` crashed in task 5 on worker [01]: " + SEGV),
    ("kf", "kernel `last` crashed in task 5 on worker [01]: " + FPE),
    ("ka", r"kernel `last` crashed in task 5 on worker [01]: SIGABRT, abort\(\) or a failed assertion"),
    ("kb", "kernel `last` crashed in task 5 on worker [01]: SIGBUS, an address without memory behind it"),
    ("ki", "kernel `last` crashed in task 5 on worker [01]: SIGILL, no such instruction, at 0x"),
    ("kd", "kernel `last` crashed in task 5 on worker [01]: " + OVERFLOW + "a worker's stack has 2 MiB: put large arrays into scratch memory .*"),
    ("kw", "kernel `last` crashed in task 5 on worker [01]: SIGSEGV, a bad address, 0x"),
    ("os", "kernel `twice` crashed in task 5 on worker [01]: " + SEGV),
    ("bs", "its function `build` crashed: " + SEGV),
    ("is", "its function `inputs` crashed: " + SEGV),
    ("gf", "its function `golden` crashed: " + FPE),
    ("rs", "its function `report` crashed: " + SEGV),
    ("id", "its function `inputs` crashed: " + OVERFLOW + "put large arrays on the heap and make deep recursion a loop, or set another size with `ulimit -s`"),
    ("bw", "its function `build` crashed: SIGSEGV, a bad address, 0x"),
]


def run(*arguments):
    return subprocess.run([HBG, *arguments], capture_output=True, text=True, timeout=120)


def make(folder, name, source, *flags):
    path = f"{folder}/{name}.so"
    pathlib.Path(f"{folder}/{name}.c").write_text(source)
    subprocess.run([CC, "-std=gnu11", "-O1", "-fPIC", "-shared", "-w", f"-I{SOURCE}/include", *flags, f"{folder}/{name}.c", "-o", path], check=True)
    return path


def check_refused(status, sentence, *arguments):
    done = run(*arguments)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    assert done.stderr.startswith(sentence) and done.stderr.count("\n") == 1 and done.stdout == "", (sentence, done.stderr, done.stdout)


def check_good(path, folder):
    done = run("run", path, "--verify", "--device", "cpu:workers=2", "n=7")
    assert done.returncode == 0 and done.stderr == "" and "verified                 yes" in done.stdout, (done.stdout, done.stderr)
    assert re.search(r"^workload +own n=7, the others at their defaults$", done.stdout, re.M), done.stdout
    for kernels in ("", "v"):       # with --verify the reference puts others in the place of the descriptor's
        done = run("run", path, "--verify", "--device", "cpu:workers=2", f"where={kernels}")
        assert done.returncode == 0 and "verified                 yes" in done.stdout, (done.stdout, done.stderr)
    done = run("describe", path, "where=o")
    assert done.returncode == 0 and "1 of twice" in done.stdout, (done.stdout, done.stderr)
    check_refused(1, "hbg run: own: the workload changes its kernels, and names none", "run", path, "where=z")
    done = run("list", path)
    assert done.stdout == f"own\n    a chain\n    n=5     tasks before the last one\n    where=  a place and a way to crash\n    tensors: hbg list {path} --tensors\n", done.stdout
    done = run("describe", path, "n=7")
    assert done.returncode == 0 and re.search(r"^tasks +8$", done.stdout, re.M) and "1 of last" in done.stdout, done.stdout
    done = subprocess.run([HBG, "run", "own.so", "--rounds", "1"], capture_output=True, text=True, cwd=folder, timeout=120)
    assert done.returncode == 0, done.stderr
    check_refused(2, "hbg run: workload own has no parameter `m`; known are n, where", "run", path, "m=1")
    check_refused(2, "hbg run: own: parameter n: `x` is not a whole number", "run", path, "n=x")


def check_files(path, folder):
    cut = f"{folder}/cut.so"
    pathlib.Path(cut).write_bytes(pathlib.Path(path).read_bytes()[:40])
    none = make(folder, "none", "int something_else;")
    torn = make(folder, "torn", BASE + "int missing_function(void);\n" + WHOLE.replace("CHANGE", ", .report = (int (*)(struct hbg_setup *))missing_function"))
    dies = make(folder, "dies", BASE + "__attribute__((constructor)) static void begin(void) { abort(); }\n" + WHOLE.replace("CHANGE", ""))
    os.mkfifo(f"{folder}/fifo.so")
    for name, why in ((f"{folder}/nowhere.so", "No such file or directory"), ("nowhere.so", "No such file or directory"), (folder, "Is a directory"),
                      (f"{folder}/own.c", "invalid ELF header"), (cut, "file too short"), (f"{folder}/fifo.so", "it is no regular file"),
                      ("./" + "x" * 5000, "File name too long"), (none, "it exports no `hbg_workload`: "), (torn, "undefined symbol: missing_function")):
        check_refused(2, f"hbg run: `{name}` cannot be loaded: {why}", "run", name)
        check_refused(2, f"hbg list: `{name}` cannot be loaded: {why}", "list", name)
    check_refused(1, f"hbg run: {dies}: crashed while it was loaded: SIGABRT, ", "run", dies)


def check_descriptors(folder):
    for number, (change, why) in enumerate(CHANGES):
        path = make(folder, f"change{number}", BASE + WHOLE.replace("CHANGE", ", " + change))
        check_refused(2, f"hbg run: `{path}` cannot be loaded: {why}", "run", path)
    for number, (params, why) in enumerate(PARAMS):
        path = make(folder, f"params{number}", BASE + WHOLE.replace("CHANGE", ""), f"-DPARAMS={params}")
        check_refused(2, f"hbg run: `{path}` cannot be loaded: {why}", "run", path)
    newer = make(folder, "newer", BASE + NEWER)
    check_refused(2, f"hbg run: `{newer}` cannot be loaded: its descriptor sets members that this command does not know", "run", newer)


def check_crashes(path):
    for where, sentence in CRASHES:
        done = run("run", path, "--verify", "--device", "cpu:workers=2", f"where={where}")
        assert done.returncode == 1, (where, done.returncode, done.stderr)
        assert re.fullmatch(f"hbg run: own: {sentence}[0-9a-f]*\n", done.stderr), (where, done.stderr)
    check_refused(1, "hbg describe: own: its function `build` crashed: SIGSEGV, ", "describe", path, "where=bs")


def check_report(path):
    done = run("run", path, "where=t", "--out", "-")
    assert done.returncode == 0, done.stderr
    assert list(csv.reader(io.StringIO(done.stdout, newline=""))) == [["plain", "with, comma", 'say "so"', "two\nlines", ""], ["1", "2.5", "3", "4", "5"]], done.stdout
    assert re.search(r"^ +1     2.5000000 +3 +4 +5$", run("run", path, "where=t").stdout, re.M)
    for where in ("n", "ne"):
        done = run("run", path, f"where={where}")
        assert done.returncode == 1 and done.stderr == "hbg run: own: it gave up without a reason\n", done.stderr


def check_many_tensors(folder):
    """As many as a run takes: the time of the command does not grow with their square (20 s of CPU time, where names were compared one by one)."""
    path = make(folder, "many", MANY)
    done = subprocess.run([HBG, "run", path, "--verify", "--rounds", "1", "--device", "cpu:workers=1"], capture_output=True, text=True, timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)))
    assert done.returncode == 0 and "tasks                    60,000\n" in done.stdout, (done.returncode, done.stdout, done.stderr)
    check_refused(1, "hbg run: many: tensor tensor-number-0 is declared twice\n", "run", path, "names=59999")


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        path = make(folder, "own", BASE + WHOLE.replace("CHANGE", ""))
        check_good(path, folder)
        check_report(path)
        check_many_tensors(folder)
        check_files(path, folder)
        check_descriptors(folder)
        check_crashes(path)


main()
