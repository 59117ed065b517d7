#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate_sched.py - break scheduler, queues, image and upload in one place at a time, and see which suite notices.

    scripts/mutate_sched.py [--only REGEX] [--jobs N] [--list]

Each mutant is one change of the source: a re-check that is dropped, an order that is weakened, a claim that is off by one, a wake that
is missed. It is built in a copy of the tree below a temporary folder, and the suites that are named with it run there; those that fail,
do not build or do not end have noticed it. Exit status 1: a mutant was noticed by none, or its text is no longer in the source.
"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COPIED = ("CMakeLists.txt", "cmake", "include", "src", "tests", "bench", "tools", "workloads", "examples", "docs", "LICENSE")
FLAGS = ("-DCMAKE_BUILD_TYPE=Release", "-DHBG_OPTIMIZE=-O1 -w", "-DHBG_DEBUG=ON", "-DHBG_WERROR=OFF", "-DHBG_BUILD_EXAMPLES=OFF")
TIMEOUT_S = 120

# name -> target, binary, HBG_TEST_SCALE
SUITES = {
    "sim/small": ("test_sim_small", "tests/sim/small", 20),
    "sim/schedules": ("test_sim_schedules", "tests/sim/schedules", 30),
    "sim/parts": ("test_sim_parts", "tests/sim/parts", 30),
    "unit/sched/seam": ("test_unit_sched_seam", "tests/unit/sched/seam", 100),
    "unit/image/verify": ("test_unit_image_verify", "tests/unit/image/verify", 100),
    "regress/stopped_worker": ("test_regress_stopped_worker_is_no_stall", "tests/regress/stopped_worker_is_no_stall", 100),
    "backend/degree": ("test_backend_degree", "tests/backend/degree", 20),
    "backend/poison": ("test_backend_poison", "tests/backend/poison", 100),
    "backend/host_data": ("test_backend_host_data", "tests/backend/host_data", 100),
    "backend/replay": ("test_backend_replay", "tests/backend/replay", 50),
}
SUITES.update({f"model/{name}": (f"test_model_{name}", f"tests/model/{name}", 100) for name in ("wake", "claim", "activation", "ring", "deque", "spill", "bell")})

# what is broken, file, text, its replacement, suites
MUTANTS = (
    ("registration: no look for \"closed\"", "src/sched/slot.h",
     "        if (hbg__slot_is_closed(value)) return value;\n", "",
     ("sim/small", "unit/sched/seam")),
    ("registration: a failed compare-exchange is taken for a success", "src/sched/slot.h",
     "hbg__slot_word(epoch, hbg__waiter_make(task, skip)))) break;", "hbg__slot_word(epoch, hbg__waiter_make(task, skip))) || true) break;",
     ("sim/small", "unit/sched/seam", "model/wake")),
    ("registration: reads the word without order", "src/sched/slot.h",
     "uint64_t seen = hbg__load_acquire64(word);", "uint64_t seen = hbg__load_relaxed64(word);",
     ("model/wake",)),
    ("completion: the word is not stamped with the epoch", "src/sched/slot.h",
     "hbg__exchange_acq_rel64(&slots[task].word, hbg__slot_word(epoch, state))", "hbg__exchange_acq_rel64(&slots[task].word, hbg__slot_word(0, state))",
     ("sim/small",)),
    ("completion: those who registered are not woken", "src/sched/wake_list.h",
     "    if (registered) hbg__wake_registered(worker, task, registered, failed);\n", "    (void)registered;\n",
     ("sim/small", "unit/sched/seam")),
    ("completion: a woken task is not asked about its next producer", "src/sched/wake_list.h",
     "hbg__producer_position(graph, waiting, task) + 1, failed", "hbg__producer_position(graph, waiting, task) + 2, failed",
     ("sim/schedules", "model/wake")),
    ("completion: the skip bit of a waiter is lost", "src/sched/wake_list.h",
     "        bool skip = hbg__waiter_skip(registered);\n", "        bool skip = false;\n",
     ("sim/schedules",)),
    ("completion: the next link is read after the task is examined", "src/sched/wake_list.h",
     "        registered = hbg__slot_link(graph->slots, waiter);\n"
     "        hbg__examine(worker, waiting, waiter, hbg__producer_position(graph, waiting, task) + 1, failed, skip);\n",
     "        hbg__examine(worker, waiting, waiter, hbg__producer_position(graph, waiting, task) + 1, failed, skip);\n"
     "        registered = hbg__slot_link(graph->slots, waiter);\n",
     ("sim/schedules",)),
    ("settling: a failed producer is overlooked", "src/sched/settle.h",
     "== HBG__SLOT_FAILED) && !(record->flags & HBG__TASK_REUSE)) *skip = true;", "== HBG__SLOT_FAILED) && !(record->flags & HBG__TASK_REUSE)) *skip = *skip;",
     ("sim/schedules",)),
    ("roots: a range is one too long", "src/sched/roots.h",
     "    if (length > count - at) length = count - at;\n", "    if (++length > count - at) length = count - at;\n",
     ("sim/small", "sim/schedules")),
    ("claim: a chunk is one too short", "src/sched/claim.c",
     "uint32_t end = chunk > count - task ? count : task + chunk;", "uint32_t end = chunk > count - task ? count : task + chunk - (chunk > 1);",
     ("sim/schedules",)),
    ("claim: a producer's word is read without order", "src/sched/slot.h",
     "return hbg__slot_value(hbg__load_acquire64(&slots[task].word), epoch);", "return hbg__slot_value(hbg__load_relaxed64(&slots[task].word), epoch);",
     ("model/claim",)),
    ("claim: who waited for a producer counts as idle when it is complete", "src/sched/stall.c",
     "    return !hbg__slot_is_closed(hbg__slot_look(graph->slots, graph->epoch, running & ~HBG__RUNNING_WAITS));\n", "    return true;\n",
     ("regress/stopped_worker",)),
    ("in order: the one who runs everything counts as idle at first", "src/sched/in_order.c",
     "    hbg__store_relaxed32(&worker->running, HBG__RUNNING_BUSY);  /* relaxed: for onlookers. */\n", "",
     ("regress/stopped_worker",)),
    ("sleep: no second look for a launch", "src/sched/enter.c",
     "    if (hbg__state_finished(hbg__load_relaxed64(&sched->state)) && !is_closing(sched))\n", "    if (sched != NULL)\n",
     ("sim/schedules",)),
    ("sleep: no second look for the close", "src/sched/enter.c",
     "hbg__state_finished(hbg__load_relaxed64(&sched->state)) && !is_closing(sched))", "hbg__state_finished(hbg__load_relaxed64(&sched->state)))",
     ("sim/schedules",)),
    ("bell: the ringer's look for sleepers has no order", "src/sched/bell.h",
     "    if (hbg__load_seq_cst32(&bell->sleepers)) hbg__word_wake(&bell->rings, count);\n", "    if (hbg__load_relaxed32(&bell->sleepers)) hbg__word_wake(&bell->rings, count);\n",
     ("model/bell",)),
    ("bell: looks for sleepers before it rings", "src/sched/bell.h",
     "    hbg__fetch_add_seq_cst32(&bell->rings, 1);\n", "    if (!hbg__load_seq_cst32(&bell->sleepers)) return;\n    hbg__fetch_add_seq_cst32(&bell->rings, 1);\n",
     ("model/bell",)),
    ("launch: the last worker that is wanted is not woken", "src/sched/launch.c",
     "hbg__bell_ring(&sched->bell, wanted_workers(sched));", "hbg__bell_ring(&sched->bell, wanted_workers(sched) - 1);",
     ("sim/schedules",)),
    ("end: the host is not woken", "src/sched/conclude.c",
     "    hbg__bell_ring(&sched->done_bell, UINT32_MAX);\n", "",
     ("sim/small",)),
    ("end: the last but one concludes as well", "src/sched/enter.c",
     "hbg__state_inside(state) == 0) hbg__conclude(worker->sched);", "hbg__state_inside(state) <= 1) hbg__conclude(worker->sched);",
     ("sim/small", "sim/schedules")),
    ("end: counts of an earlier run are added", "src/sched/idle.c",
     "        if (published >> 32 == generation) total += (uint32_t)published;\n", "        total += (uint32_t)published;\n",
     ("sim/schedules",)),
    ("end: noops are not counted", "src/sched/idle.c",
     "    uint64_t count = worker->executed + worker->skipped + worker->noops;\n", "    uint64_t count = worker->executed + worker->skipped;\n",
     ("sim/schedules",)),
    ("end: a run that was halted leaves its spill list", "src/sched/conclude.c",
     "    hbg__spill_open(&sched->spill);\n", "",
     ("sim/schedules",)),
    ("stall: whoever looks counts as one without work", "src/sched/stall.c",
     "        busy = true;\n", "        busy = running != HBG__RUNNING_BUSY;\n",
     ("sim/schedules",)),
    ("queue: the last entry goes to owner and thief", "src/sched/deque.h",
     "mine = bottom == top && hbg__cas_seq_cst64(&deque->top, &top, top + 1);", "mine = bottom == top; (void)hbg__cas_seq_cst64(&deque->top, &top, top + 1);",
     ("sim/parts", "model/deque")),
    ("queue: a taken place is not published at once", "src/sched/deque.h",
     "    hbg__store_seq_cst64(&deque->bottom, bottom);\n", "    hbg__store_release64(&deque->bottom, bottom);\n",
     ("model/deque",)),
    ("queue: holds one more than it has places", "src/sched/deque.h",
     "        if (bottom - deque->top_seen >= HBG__DEQUE_CAPACITY) return false;\n", "        if (bottom - deque->top_seen > HBG__DEQUE_CAPACITY) return false;\n",
     ("sim/parts", "sim/schedules")),
    ("ring: a popped cell is free for the same lap", "src/sched/ring.h",
     "hbg__store_release32(&cell->sequence, at + i + ring->capacity);", "hbg__store_release32(&cell->sequence, at + i + 1);",
     ("sim/parts", "model/ring")),
    ("ring: the entry is put after the cell is said to be full", "src/sched/ring.h",
     "            hbg__store_relaxed64(&cell->entry, entry);          /* relaxed: R1 publishes it */\n", "            hbg__store_relaxed64(&cell->entry, at ? entry : 0);\n            hbg__store_release32(&cell->sequence, at + 1);\n            hbg__store_relaxed64(&cell->entry, entry);\n",
     ("sim/parts", "model/ring")),
    ("ring: a full cell is read without order", "src/sched/ring.h",
     "hbg__load_acquire32(&ring->cell[(at + count) & (ring->capacity - 1)].sequence)", "hbg__load_relaxed32(&ring->cell[(at + count) & (ring->capacity - 1)].sequence)",
     ("model/ring",)),
    ("spill list: the tag stands still", "src/sched/spill.h",
     "uint64_t next = ((head >> 32) + 1) << 32 |", "uint64_t next = (head >> 32) << 32 |",
     ("sim/parts", "model/spill")),
    ("submission: what was told is told again", "src/sched/expand.c",
     "        worker->told += done;\n", "",
     ("sim/small", "sim/schedules", "model/activation")),
    ("submission: records are told without order", "src/sched/expand.c",
     "        if (hbg__fetch_add_acq_rel32(&own->remaining, 0u - done) != done) return;\n", "        if (hbg__fetch_add_relaxed32(&own->remaining, 0u - done) != done) return;\n",
     ("model/activation",)),
    ("submission: two may complete it", "src/sched/expand.c",
     "        if (hbg__fetch_add_acq_rel32(&own->remaining, 0u - done) != done) return;\n",
     "        (void)hbg__fetch_add_acq_rel32(&own->remaining, 0u - done);\n        if (hbg__load_acquire32(&own->remaining) != 0) return;\n",
     ("sim/small", "model/activation")),
    ("submission: a failure inside is not told", "src/sched/expand.c",
     "        if (HBG_UNLIKELY(worker->activation_failed)) hbg__store_relaxed32(&own->failed, 1);     /* relaxed: E1 publishes it. */\n", "",
     ("sim/small", "sim/schedules")),
    ("submission: a failure inside of one inside is not passed on", "src/sched/expand.c",
     "    worker->activation_failed = failed;\n", "",
     ("sim/schedules",)),
    ("submission: a worker without work tells nothing", "src/sched/wake.c",
     "    hbg__tell(worker);\n", "",
     ("sim/small",)),
    ("submission: a worker that turns tells nothing", "src/sched/expand.c",
     "    hbg__tell(worker);\n    if (worker->next", "    if (worker->next",
     ("sim/schedules",)),
    ("submission: a worker that activates tells nothing", "src/sched/expand.c",
     "    hbg__tell(worker);                  /* `task` is not complete, so this ends no activation */\n", "",
     ("sim/schedules",)),
    ("submission: what was taken is dropped for what telling made ready", "src/sched/expand.c",
     "    hbg__push_entry(worker, entry);\n    return true;\n", "    return true;\n",
     ("sim/schedules",)),
    ("submission: one without records is entered", "src/sched/expand.c",
     "    if (HBG_UNLIKELY(hbg__activation_at(&worker->sched->run, activation)->task_count == 0)) {\n", "    if (HBG_UNLIKELY(activation == 0)) {\n",
     ("sim/schedules",)),
    ("submission: a skipped one is one record of its image and many", "src/sched/context.h",
     "    worker->told += inside;             /* it is one record of this image */\n", "",
     ("sim/schedules",)),
    ("submission: a skipped one counts as one", "src/sched/context.h",
     "    worker->skipped += inside;\n", "",
     ("sim/schedules",)),
    ("submission: a detail of another image is taken for one's own", "src/core/core.h",
     "    core->detail_task = HBG__NIL;\n", "",
     ("sim/schedules",)),
    ("submission: the heap begins where that of the image that submits does", "src/sched/expand.c",
     "outer[HBG__BASE_HEAP] + submission->heap;", "outer[HBG__BASE_HEAP];",
     ("sim/schedules",)),
    ("submission: base tables inside lie over others", "src/sched/expand.c",
     "    uint64_t *bases = parent ? (uint64_t *)(uintptr_t)hbg__activation_at(run, parent)->base : run->bases;\n", "    uint64_t *bases = run->bases;\n",
     ("sim/schedules",)),
    ("submission: what fails last in the program is named", "src/sched/conclude.c",
     "    return task_a < task_b;\n}\n\n/* HBG__NIL comes last", "    return task_a > task_b;\n}\n\n/* HBG__NIL comes last",
     ("sim/schedules",)),
    ("submission: a failure inside is compared by its own number", "src/sched/conclude.c",
     "    for (; depth_a > depth_b; --depth_a) step_out(run, &a, &task_a);\n", "    for (; depth_a > depth_b; --depth_a) step_out(run, &a, &(uint32_t){ 0 });\n",
     ("sim/schedules",)),
    ("submission: in order a failure inside stays there", "src/sched/in_order.c",
     "    return failed ? HBG__SLOT_FAILED : HBG__SLOT_OK;\n", "    return HBG__SLOT_OK;\n",
     ("sim/schedules",)),
    ("submission: in order a failure before is forgotten", "src/sched/in_order.c",
     "    worker->activation_failed = failed || outer_failed;\n", "    worker->activation_failed = failed;\n",
     ("sim/schedules",)),
    ("submission's roots: two claim the same", "src/sched/expand.c",
     "    hbg__store_relaxed32(&own->cursor, at + length);            /* relaxed: goes with the entry */\n", "    hbg__store_relaxed32(&own->cursor, at + length - (length > 1));\n",
     ("sim/small", "sim/schedules")),
    ("submission's roots: the cursor moves after the entry has gone", "src/sched/expand.c",
     "    hbg__store_relaxed32(&own->cursor, at + length);            /* relaxed: goes with the entry */\n    if (length < left && !pass_on(worker, worker->activation)) {\n",
     "    if (length < left && pass_on(worker, worker->activation)) {\n        hbg__store_relaxed32(&own->cursor, at + length);\n    } else {\n",
     ("sim/schedules", "model/activation")),
    ("submission's roots: the entry does not go on", "src/sched/expand.c",
     "    if (!hbg__ring_push(&sched->ring, entry) && !hbg__deque_push(&worker->deque, entry)) return false;\n", "    if (!hbg__ring_push(&sched->ring, entry)) return true;\n",
     ("sim/schedules",)),
    ("submission's roots: without room some are forgotten", "src/sched/expand.c",
     "        length = left;\n        hbg__store", "        hbg__store",
     ("sim/schedules",)),
    ("submission's roots: a third range replaces the second", "src/sched/expand.c",
     "    uint32_t range = room ? range_length(left, worker->sched->options.worker_count) : 0;\n", "    uint32_t range = range_length(left, worker->sched->options.worker_count);\n    (void)room;\n",
     ("sim/schedules",)),
    ("submission's roots: what was claimed before is dropped", "src/sched/roots.h",
     "    worker->roots = worker->outer_roots;\n", "    hbg__roots_forget(&worker->roots);\n",
     ("sim/schedules",)),
    ("submission's roots: run as if they were of the image at hand", "src/sched/roots.h",
     "    if (HBG_UNLIKELY(worker->roots.activation != worker->activation)) return hbg__turn(worker, hbg__entry_make(worker->roots.activation, root));\n", "",
     ("sim/schedules",)),
    ("spill list: nobody says whose the task is", "src/sched/find.c",
     "        slots[slot].activation = activation;\n", "",
     ("sim/schedules",)),
    ("image check: slots of submissions overlap", "src/image/verify.c",
     "    if (s->slots != w->slots || w->slots + s->slot_count > head->slot_count)\n", "    if (w->slots + s->slot_count > head->slot_count)\n",
     ("unit/image/verify",)),
    ("image check: base tables of submissions overlap", "src/image/verify.c",
     "    w->bases = s->bases + values;\n", "    w->bases = s->bases;\n",
     ("unit/image/verify",)),
    ("image: a mark is left out", "src/graph/append.h",
     "for (uint32_t i = 0; i + 1 < count; i++) hbg__record_at(g, marks[i] - 1)->flags |= HBG__TASK_QUERYABLE;", "for (uint32_t i = 1; i + 1 < count; i++) hbg__record_at(g, marks[i] - 1)->flags |= HBG__TASK_QUERYABLE;",
     ("backend/degree",)),
    ("image: the fourth producer is not in the row", "src/graph/append.h",
     "for (uint32_t i = 3; i < count; i++) *row++ = marks[count - 1 - i] - 1;", "for (uint32_t i = 4; i < count; i++) *row++ = marks[count - 1 - i] - 1;",
     ("backend/degree",)),
    ("image check: the length of an edge row", "src/image/verify.c",
     "    if (row + row_units(*producers) > w->units) return", "    if (row > w->units) return",
     ("unit/image/verify",)),
    ("image check: a mark that nobody asks for", "src/image/verify.c",
     "    if (((w->note[task] & asked) != 0) != ((record->flags & HBG__TASK_QUERYABLE) != 0))\n", "    if ((w->note[task] & asked) != 0 && (record->flags & HBG__TASK_QUERYABLE) == 0)\n",
     ("unit/image/verify",)),
    ("upload: the last bytes of the image stay behind", "src/run/stage.c",
     "address, recording->head, recording->image_bytes);", "address, recording->head, recording->image_bytes - 8);",
     ("backend/poison",)),
    ("upload: an argument that is read is not sent", "src/run/stage.c",
     "if (!is_staged(run, bound) || !hbg__arg_is_read(&bound->arg) || !view_of(bound, &view)) continue;", "if (!is_staged(run, bound) || !hbg__arg_is_read(&bound->arg) || hbg__arg_is_written(&bound->arg) || !view_of(bound, &view)) continue;",
     ("backend/host_data", "backend/poison")),
    ("upload: two runs have the same epoch", "src/run/stage.c",
     "    if (HBG_LIKELY(++bank->epoch)) return HBG_OK;\n", "    if (HBG_LIKELY(bank->epoch |= 1)) return HBG_OK;\n",
     ("backend/replay",)),
)


def stale():
    """Mutants whose text is not in its file exactly once."""
    return [m[0] for m in MUTANTS if (ROOT / m[1]).read_text().count(m[2]) != 1]


class Copy:
    """A tree of its own, built once, that one mutant at a time is tried in."""

    def __init__(self, folder):
        self.tree, self.build = folder / "tree", folder / "build"
        self.tree.mkdir(parents=True)
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, self.tree / name)
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build, *FLAGS, *launcher], check=True, stdout=subprocess.DEVNULL)

    def passes(self, suite):
        target, binary, scale = SUITES[suite]
        made = subprocess.run(["cmake", "--build", self.build, "-j1", "--target", target], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if made.returncode != 0:
            return False
        limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            return subprocess.run([self.build / binary], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S, preexec_fn=limit,
                                  env={**os.environ, "HBG_TEST_SCALE": str(scale)}).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def noticed_by(self, mutant):
        name, path, old, new, suites = mutant
        original = (ROOT / path).read_text()
        (self.tree / path).write_text(original.replace(old, new))
        try:
            return [suite for suite in suites if not self.passes(suite)]
        finally:
            (self.tree / path).write_text(original)


def try_all(mutants, jobs):
    """Names of the mutants that no suite noticed; says of each who did."""
    survivors = []
    needed = sorted({suite for mutant in mutants for suite in mutant[4]})
    with tempfile.TemporaryDirectory(prefix="hbg-mutate-") as folder:
        copies = queue.Queue()
        for i in range(jobs):
            copy = Copy(pathlib.Path(folder) / str(i))
            broken = [suite for suite in needed if not copy.passes(suite)]
            if broken:
                raise SystemExit(f"mutate_sched: without any mutation these fail: {' '.join(broken)}")
            copies.put(copy)

        def attempt(mutant):
            copy = copies.get()
            try:
                return copy.noticed_by(mutant)
            finally:
                copies.put(copy)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for mutant, noticed in zip(mutants, pool.map(attempt, mutants)):
                missed = [suite for suite in mutant[4] if suite not in noticed]
                print(f"{mutant[1]}: {mutant[0]}: {'SURVIVED' if not noticed else ' '.join(noticed)}"
                      f"{' (not ' + ' '.join(missed) + ')' if noticed and missed else ''}", flush=True)
                if not noticed:
                    survivors.append(mutant[0])
    return survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants whose file or name matches")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name the mutants and try none")
    given = parser.parse_args()
    gone = stale()
    if gone:
        print("\n".join(f"NOT IN THE SOURCE {name}" for name in gone))
        return 1
    mutants = [m for m in MUTANTS if re.search(given.only, f"{m[1]}: {m[0]}")]
    if given.list:
        print("\n".join(f"{m[1]}: {m[0]}: {' '.join(m[4])}" for m in mutants))
        return 0
    survivors = try_all(mutants, given.jobs)
    print(f"{len(mutants)} mutants, {len(survivors)} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
