#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate_submit.py - delete one write at a time of what submit, seal and bind write, and see that a poisoned device notices.

    scripts/mutate_submit.py [--only REGEX] [--jobs N] [--list]

The functions below write what a device reads: records, edge rows, arguments, layouts, parameter bytes, the root list, the head, the
launch descriptor with its base table; or the tables of the build out of which these are made. Of each of their writes there is one
mutant:

* a statement that assigns, counts, copies or fills through a pointer, an index or a member: the statement is gone;
* one lvalue of a chain of assignments: that one is gone;
* a member of the initialiser of a wire struct, or a value of a pair that is stored at once: it is 0xaa in every byte, as if that
  member had not been written.

A mutant is noticed when tests/backend/poison_test.c or tests/backend/shadow_test.c does not build, fails, or does not end; both verify
each image. Those of the hazard map may also be noticed by three tests that look for conflicts without an order, those of storages by
two tests with parts of buffers. Of the hazard map the files that collect producers and enter accesses are here; those that reckon with cells are not.

All work happens in copies of the tree below a temporary folder. At the end the survivors are listed; those in ALLOWED, each with a
reason, are right to survive. Exit status 1: another one survived, or one that is allowed was noticed or is gone from the source.
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
COPIED = ("CMakeLists.txt", "cmake", "include", "src", "tests", "bench", "tools", "workloads", "examples", "LICENSE")
TARGETS = {"test_backend_poison": "tests/backend/poison", "test_backend_shadow": "tests/backend/shadow"}
HAZARD_TARGETS = {"test_backend_parts": "tests/backend/parts", "test_backend_odd_views": "tests/backend/odd_views",
                  "test_backend_history": "tests/backend/history"}       # and these, for mutants of the hazard map
PART_TARGETS = {"test_backend_parts": "tests/backend/parts",             # of storages
                "test_regress_replay_of_another_part": "tests/regress/replay_of_another_part"}
FLAGS = ("-DCMAKE_BUILD_TYPE=Release", "-DHBG_OPTIMIZE=-O1 -w", "-DCMAKE_C_FLAGS=-ftrivial-auto-var-init=pattern", "-DHBG_DEBUG=ON", "-DHBG_WERROR=OFF", "-DHBG_BUILD_COMMAND=OFF",
         "-DHBG_BUILD_EXAMPLES=OFF")
TIMEOUT_S = 60
ENVIRONMENT = {**os.environ, "HBG_TEST_SCALE": "10"}       # a tenth of the random histories

# file -> functions that write the image, the descriptor, or the tables that they are made of; ALL: each one but those in SKIPPED
ALL = None
FUNCTIONS = {
    "src/graph/append.h": ALL,
    "src/graph/append.c": ALL,
    "src/graph/submit.c": ALL,
    "src/graph/short_way.h": ALL,
    "src/graph/argument.c": ALL,
    "src/graph/layouts.c": ALL,
    "src/graph/scope.c": ALL,
    "src/graph/hazard_map.h": ALL,
    "src/graph/hazard_map.c": ALL,
    "src/graph/hazard_note.c": ALL,
    "src/graph/storage.c": ("hbg__storage_add", "join_group", "add_boundary_region", "reach_over", "count_from_arguments", "grow_to_buffer", "hbg__storage_boundary", "add_buffer", "storage_of_buffer"),
    "src/graph/build.c": ("reset_counts", "give_boundary", "begin", "seal"),
    "src/run/bind.c": ("new_group", "bind_buffer", "group_host_ranges", "number_groups", "bind_all", "hbg__run_bind"),
    "src/run/stage.c": ("upload_image", "place_groups", "next_epoch", "fill_bases", "write_descriptor"),
}
SKIPPED = {
    "hbg__payload_grow", "hbg__tasks_grow",                             # room in tables
    "sift_down", "sort_ascending", "by_offset",                         # order of marks and blocks
    "no_task", "fail_call", "fail_signature", "fail_kind", "name_kernel", "fail_alloc", "bad_region",       # errors
    "unsupported", "hbg_submit_args_ex", "hbg_subgraph",
}
WIRE = r"\(struct (?:hbg__image_head|hbg__launch|hbg_view_arg)\)\{|struct hbg_layout \w+ = \{"
PAIR = r"\bhbg__store_(?:pair|tail)\("
POISON = "0xaaaaaaaaaaaaaaaaull"

STALE_PENDING = "pieces that are inserted move bytes above the end, which mean nothing"
SPEED = "what the short way does not take, the general way does with the same result"
COARSER = "the axes of a grid: others are coarser or finer, and as right"
INSIDE_ONLY = "is looked at inside a manual scope, whose begin writes it"
ROOM = "an earlier build's entries take room; warm_test.c sees tables grow"
UNBOUND = "hbg__run_unbind() has left 0"
BIG_ENDIAN = "compiled and never run on a little-endian machine"
MORE_ORDER = "history that is kept makes tasks wait for more, never for less"
SEARCHES = "says when searches are long: folds and other cells come earlier or later; odd_views_test.c bounds what is looked at"
NOT_READ = "no device reads it: docs/image-format.md"

# (file, function, write) -> why nobody can notice
ALLOWED = {
    ("src/graph/append.h", "hbg__store_tail",
     "hbg__store_pair(&r->kernel, kernel << 16 | arg_count, producer_count << 24 | flags << 16)"): BIG_ENDIAN,
    ("src/graph/append.h", "hbg__store_tail",
     "kernel << 16 | arg_count"): BIG_ENDIAN,
    ("src/graph/append.h", "hbg__store_tail",
     "producer_count << 24 | flags << 16"): BIG_ENDIAN,
    ("src/graph/submit.c", "append_general",
     "g->pending_units = 0"): STALE_PENDING,
    ("src/graph/submit.c", "hbg_submit_args",
     "t.nobody = 0"): "stands before the first mark to be compared with; a word of the stack is hardly ever a mark",
    ("src/graph/layouts.c", "hbg__layout_of_scalar",
     "g->scalar_layouts[dtype] = layout"): SPEED,
    ("src/graph/scope.c", "merge_free_blocks",
     "g->merged_at = g->scope_end_count"): "merging again finds nothing to merge",
    ("src/graph/scope.c", "shape_bytes",
     "r->shape[d] = 1"): SPEED,
    ("src/graph/scope.c", "hbg_alloc",
     "s->whole_layout = layout"): COARSER,
    ("src/graph/scope.c", "end_manual",
     "g->short_kernels = g->input->kernel_count"): SPEED,
    ("src/graph/scope.c", "end_manual",
     "g->manual_begin = 0"): INSIDE_ONLY,
    ("src/graph/hazard_map.c", "join_whole_readers",
     "g->storages[home].readers = join"): "the next access joins the same readers again",
    ("src/graph/hazard_map.c", "is_disjoint",
     "c->looks += HBG__TEST_COST"): SEARCHES,
    ("src/graph/hazard_map.c", "gather_parts",
     "c->looks++"): SEARCHES,
    ("src/graph/hazard_map.c", "gather_parts",
     "*covering = newer(*covering, newer(newest, writer))"): MORE_ORDER,
    ("src/graph/hazard_map.c", "gather_cell",
     "c->visited++"): SEARCHES,
    ("src/graph/hazard_map.c", "gather_used_cell",
     "c->written += cell->writer > s->writer && cell != c->outside"): MORE_ORDER,
    ("src/graph/hazard_map.c", "gather_whole",
     "c->outside = hbg__cell_at(c->g, s->cell_base + total)"): "who wrote any cell came after the storage's writer, so that leaving it out is right where one was counted too many",
    ("src/graph/hazard_map.c", "absorb_list",
     "part->writer = 0"): MORE_ORDER,
    ("src/graph/hazard_map.c", "absorb_cell",
     "cell->readers = 0"): MORE_ORDER,
    ("src/graph/hazard_map.c", "absorb",
     "c->s->recent_count = 0"): MORE_ORDER,
    ("src/graph/hazard_map.c", "collect_part",
     "grid->excess += span->cells > HBG__USUAL_WORK ? span->cells : 0"): SEARCHES,
    ("src/graph/hazard_map.c", "hbg__hazard_collect",
     "g->looks += c.looks"): "is counted for odd_views_test.c alone",
    ("src/graph/hazard_map.c", "hbg__hazard_fold",
     "s->wide in s->wide = s->part_count = 0"): MORE_ORDER,
    ("src/graph/hazard_map.c", "hbg__hazard_fold",
     "s->part_count in s->wide = s->part_count = 0"): SEARCHES,
    ("src/graph/hazard_map.c", "hbg__hazard_fold",
     "s->search_excess = 0"): SEARCHES,
    ("src/graph/hazard_note.c", "hbg__reader_enter",
     "g->pool_top--"): "a unit of the pool stays unused",
    ("src/graph/hazard_note.c", "note_cell",
     "cell->readers in cell->readers = cell->parts = 0"): MORE_ORDER,
    ("src/graph/hazard_note.c", "covers",
     "*known = (struct hbg__view_answer){ part->view, n->question, answer }"): "the question is asked again",
    ("src/graph/hazard_note.c", "note_part",
     "n->stored = part->view"): "an equal view is stored once more",
    ("src/graph/hazard_note.c", "note_part",
     "n->lists++"): SEARCHES,
    ("src/graph/hazard_note.c", "note_part",
     "*full = !n->writes && length >= HBG__USUAL_WORK"): SEARCHES,
    ("src/graph/hazard_note.c", "ask_for_regrid",
     "grid->by_read = gives_way"): COARSER,
    ("src/graph/hazard_note.c", "ask_for_regrid",
     "g->regrid_of_run = runs"): COARSER,
    ("src/graph/hazard_note.c", "ask_for_fold",
     "s->search_excess += n->looks - HBG__USUAL_SEARCH"): SEARCHES,
    ("src/graph/hazard_note.c", "note_whole",
     "s->readers in s->readers = s->wide = s->part_count = 0"): MORE_ORDER,
    ("src/graph/hazard_note.c", "note_whole",
     "s->wide in s->readers = s->wide = s->part_count = 0"): MORE_ORDER,
    ("src/graph/hazard_note.c", "note_whole",
     "s->part_count in s->readers = s->wide = s->part_count = 0"): SEARCHES,
    ("src/graph/hazard_note.c", "note_whole",
     "s->search_excess = 0"): SEARCHES,
    ("src/graph/storage.c", "hbg__storage_add",
     "s->parent in s->home = s->parent = g->storage_count++"): COARSER,
    ("src/graph/storage.c", "hbg__storage_add",
     "s->cell_type = HBG__NO_TYPE"): "a type of 0 is that of no region either",
    ("src/graph/storage.c", "hbg__storage_add",
     "s->group = UINT32_MAX"): "names what build code may read, and no intermediate; reads_test.c",
    ("src/graph/storage.c", "join_group",
     "h->parent = member"): COARSER,
    ("src/graph/storage.c", "add_boundary_region",
     "s->whole_layout = hbg__layout_of_region(g, &a->arg.u.region)"): COARSER,
    ("src/graph/storage.c", "grow_to_buffer",
     "home->flags |= HBG__STORAGE_SHARED"): "all of the argument counts as all of the buffer: more order",
    ("src/graph/storage.c", "grow_to_buffer",
     "g->regrid_home = hbg__storage_index(g, home)"): "what lies beside the grid shares the outside until the grid changes",
    ("src/graph/storage.c", "storage_of_buffer",
     "g->buffer_cache[handle % 64].handle = handle"): SPEED,
    ("src/graph/storage.c", "storage_of_buffer",
     "g->buffer_cache[handle % 64].storage = hbg__storage_index(g, s)"): SPEED,
    ("src/graph/build.c", "reset_counts",
     "g->pending_units in g->payload_top = g->pending_units = g->task_count = g->task_limit = 0"): STALE_PENDING,
    ("src/graph/build.c", "reset_counts",
     "g->task_limit in g->payload_top = g->pending_units = g->task_count = g->task_limit = 0"): "begin() has hbg__tasks_grow() set it",
    ("src/graph/build.c", "reset_counts",
     "g->manual_begin in g->barrier = g->manual_begin = g->manual_depth = 0"): INSIDE_ONLY,
    ("src/graph/build.c", "reset_counts",
     "g->manual_depth in g->barrier = g->manual_begin = g->manual_depth = 0"): INSIDE_ONLY,
    ("src/graph/build.c", "reset_counts",
     "g->cell_top = 0"): ROOM,
    ("src/graph/build.c", "reset_counts",
     "g->pool_limit = (uint32_t)(g->pool_arena.above / 16 < HBG__CHAIN ? g->pool_arena.above / 16 : HBG__CHAIN)"): "the table is never smaller than it was",
    ("src/graph/build.c", "reset_counts",
     "g->looks = 0"): "is counted for odd_views_test.c alone",
    ("src/graph/build.c", "reset_counts",
     "g->grid_count = 0"): ROOM,
    ("src/graph/build.c", "reset_counts",
     "g->scope_end_count in g->scope_depth = g->scope_end_count = g->merged_at = 0"): ROOM,
    ("src/graph/build.c", "reset_counts",
     "g->merged_at in g->scope_depth = g->scope_end_count = g->merged_at = 0"): "a merge is left out where the stale number happens to be that of the ended scopes",
    ("src/graph/build.c", "reset_counts",
     "g->manual_count = 0"): "begin_manual() does so as well",
    ("src/graph/build.c", "begin",
     "recording->head = NULL"): "hbg__recording_reset() has done so",
    ("src/graph/build.c", "begin",
     "g->payload = recording->arena.origin"): "hbg__tasks_grow() does so before anything is written",
    ("src/graph/build.c", "begin",
     "g->short_kernels = input->kernel_count"): SPEED,
    ("src/graph/build.c", "begin",
     "g->payload_limit = (uint32_t)(recording->arena.above / 8 > UINT32_MAX ? UINT32_MAX : recording->arena.above / 8)"): "matters where the arena of the build before was larger by a whole step of growth",
    ("src/graph/build.c", "seal",
     "r->serial = g->serial"): "says whose history the tables of the build hold, to those who describe a graph",
    ("src/run/bind.c", "bind_all",
     "bound->displacement = 0"): "nothing is reached through it: a scalar, or a region without bytes",
    ("src/run/bind.c", "hbg__run_bind",
     "run->arg_count in run->arg_count = run->group_count = run->range_count = 0"): UNBOUND,
    ("src/run/bind.c", "hbg__run_bind",
     "run->group_count in run->arg_count = run->group_count = run->range_count = 0"): UNBOUND,
    ("src/run/bind.c", "hbg__run_bind",
     "run->range_count in run->arg_count = run->group_count = run->range_count = 0"): UNBOUND,
    ("src/run/stage.c", "write_descriptor",
     ".heap = run->bank.heap.address"): NOT_READ,
    ("src/run/stage.c", "write_descriptor",
     ".image_bytes = recording->image_bytes"): NOT_READ,
}


# ---- finding the writes ----

def masked(text):
    """The text with comments and literals blanked out, every character in its place."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def end_of(code, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += code[i] in "([{"
        depth -= code[i] in ")]}"
        if depth == 0:
            return i + 1
    raise ValueError("unbalanced")


def functions_of(code):
    """{name: (begin, end)} of the bodies of a file."""
    heads = re.finditer(r"^[A-Za-z_][^\n;={]*\b(\w+)\([^;{]*\)\n\{", code, re.M)
    return {head.group(1): (head.end() - 1, end_of(code, head.end() - 1)) for head in heads}


def statements(code, begin, end):
    """(from, to) of every simple statement, without the `if (..)`, `else` and `for (..)` in front of it."""
    at = start = begin + 1
    while at < end:
        if code[at] in "([" or (code[at] == "{" and code[start:at].rstrip().endswith(("=", ")")) and re.search(r"=\s*$|\(struct \w+\)$", code[start:at].rstrip())):
            at = end_of(code, at)
            continue
        if code[at] in "{}":
            start = at + 1
        elif code[at] == ";":
            yield without_heads(code, start, at)
            start = at + 1
        at += 1


def without_heads(code, start, end):
    while True:
        head = re.compile(r"\s*(?:(if|for|while|switch)\s*(?=\()|(else|do)\b|case [^:]*:|default:)").match(code, start, end)
        if not head:
            break
        start = end_of(code, head.end()) if head.group(1) else head.end()
    while start < end and code[start].isspace():
        start += 1
    return start, end


ASSIGN = re.compile(r"(?<![=!<>])(?:<<|>>|[-+*/%&|^])?=(?!=)")
DECLARATION = re.compile(r"(?:const|static|struct|enum|unsigned|bool|int|char|size_t|void|u?int\d+_t)\b[^=]*[\s*]\w+(?:\[.*?\])?\s*(?:=|,|$)")


def top_level(code, start, end):
    """Places of assignment operators outside of all brackets."""
    at = start
    while at < end:
        if code[at] in "([{":
            at = end_of(code, at)
            continue
        found = ASSIGN.match(code, at, end)
        if found:
            yield found.start(), found.end()
            at = found.end()
        else:
            at += 1


def is_shared(lvalue):
    return bool(re.search(r"->|\.|\[|^\s*\*|\*\(", lvalue))


def writes(code, text, begin, end):
    """(from, to, replacement, name) of each write of a function whose body is given."""
    for start, stop in statements(code, begin, end):
        statement = code[start:stop]
        if DECLARATION.match(statement) or statement.startswith(("return", "continue", "break")) or "HBG__POISON" in statement:
            continue
        called = re.match(r"(memcpy|memset|memmove)\(|hbg__store_\w+\(", statement)
        counted = re.match(r"(\+\+|--)|.*(\+\+|--)$", statement, re.S)
        operators = list(top_level(code, start, stop))
        if called or (counted and not operators and is_shared(statement)):
            yield start, stop, "(void)0", text[start:stop]
        elif len(operators) == 1 and is_shared(code[start:operators[0][0]]):
            yield start, stop, "(void)0", text[start:stop]
        elif len(operators) > 1:
            left = start
            for at, behind in operators:
                if is_shared(code[left:at]):
                    yield left, behind, "", text[left:at].strip() + " in " + text[start:stop]
                left = behind
    for wire in re.finditer(WIRE, code[begin:end]):
        yield from members(code, text, begin + wire.end() - 1)
    for pair in re.finditer(PAIR, code[begin:end]):
        yield from list(members(code, text, begin + pair.end() - 1))[1:]


def members(code, text, bracket):
    """Each value of a list in brackets."""
    stop = end_of(code, bracket) - 1
    at = start = bracket + 1
    while at <= stop:
        if at < stop and code[at] in "([{":
            at = end_of(code, at)
            continue
        if at == stop or code[at] == ",":
            named = re.compile(r"\s*(?:\.\w+\s*=\s*)?").match(code, start, at)
            if named.end() < at:
                yield named.end(), at, POISON, text[start:at].strip()
            start = at + 1
        at += 1


def find_mutants():
    found = []
    for path, functions in FUNCTIONS.items():
        text = (ROOT / path).read_text()
        code = masked(text)
        bodies = functions_of(code)
        for function in functions or [name for name in bodies if name not in SKIPPED]:
            if function not in bodies:
                raise SystemExit(f"mutate_submit: {path} has no function {function}")
            for start, stop, replacement, name in writes(code, text, *bodies[function]):
                found.append((path, function, " ".join(name.split()), text[:start] + replacement + text[stop:]))
    return found


# ---- trying them ----

class Copy:
    """A tree of its own, built once, that one mutant at a time is tried in."""

    def __init__(self, folder):
        self.tree, self.build = folder / "tree", folder / "build"
        self.tree.mkdir(parents=True)
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, self.tree / name)
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build, *FLAGS], check=True, stdout=subprocess.DEVNULL)

    def passes(self, path):
        targets = {**TARGETS, **(HAZARD_TARGETS if "/hazard_" in path else PART_TARGETS if path.endswith("/storage.c") else {})}
        made = subprocess.run(["cmake", "--build", self.build, "-j1", "--target", *targets], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return made.returncode == 0 and all(self.runs(binary) for binary in targets.values())

    def runs(self, binary):
        limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            return subprocess.run([self.build / binary], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S, env=ENVIRONMENT,
                                  preexec_fn=limit).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def survives(self, path, text):
        original = (ROOT / path).read_text()
        (self.tree / path).write_text(text)
        try:
            return self.passes(path)
        finally:
            (self.tree / path).write_text(original)


def try_all(mutants, jobs):
    survivors = []
    with tempfile.TemporaryDirectory(prefix="hbg-mutate-") as folder:
        copies = queue.Queue()
        for i in range(jobs):
            copy = Copy(pathlib.Path(folder) / str(i))
            if not copy.passes("/hazard_"):
                raise SystemExit("mutate_submit: the tests fail without any mutation")
            copies.put(copy)

        def attempt(mutant):
            copy = copies.get()
            try:
                return copy.survives(mutant[0], mutant[3])
            finally:
                copies.put(copy)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for i, (mutant, survived) in enumerate(zip(mutants, pool.map(attempt, mutants)), 1):
                if survived:
                    survivors.append(mutant[:3])
                if sys.stderr.isatty() or survived:
                    print(f"{i}/{len(mutants)} {'SURVIVED' if survived else 'noticed'}: {mutant[0]}: {mutant[1]}: {mutant[2]}", file=sys.stderr, flush=True)
    return survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants whose file, function or text matches")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name the mutants and try none")
    given = parser.parse_args()
    everything = find_mutants()
    mutants = [m for m in everything if re.search(given.only, ": ".join(m[:3]))]
    if given.list:
        print("\n".join(": ".join(m[:3]) for m in mutants))
        return 0
    survivors = try_all(mutants, given.jobs)
    tried = {m[:3] for m in mutants}
    wrong = [m for m in survivors if m not in ALLOWED]
    stale = [m for m in ALLOWED if m in tried and m not in survivors] + [m for m in ALLOWED if m not in {e[:3] for e in everything}]
    print(f"{len(mutants)} writes, {len(mutants) - len(survivors)} noticed when they are missing, {len(survivors) - len(wrong)} allowed to be missed")
    for mutant in wrong:
        print("SURVIVED " + ": ".join(mutant))
    for mutant in stale:
        print("NOT A SURVIVOR " + ": ".join(mutant))
    return 1 if wrong or stale else 0


if __name__ == "__main__":
    sys.exit(main())
