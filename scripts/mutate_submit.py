#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate_submit.py - break what builds a graph in one place at a time, and see that a test notices.

    scripts/mutate_submit.py [--only REGEX] [--every N] [--jobs N] [--list]

The functions below write what a device reads: records, edge rows, arguments, layouts, parameter bytes, the root list, the head, the
launch descriptor with its base table; or the tables of the build out of which these are made; or they keep, find and submit recorded
bodies. Of each of their writes there is one mutant:

* a statement that assigns, counts, copies or fills through a pointer, an index or a member: the statement is gone;
* one lvalue of a chain of assignments: that one is gone;
* a member of the initialiser of a wire struct, or a value of a pair that is stored at once: it is 0xaa in every byte, as if that
  member had not been written.

The files of bodies decide more than they write, so in those there are also

* a call whose value nobody takes: it is gone;
* one of several conditions that are joined by && or ||: the others decide without it;
* a statement that leaves the function, the loop or its round early: it is gone.

A mutant is noticed when a suite of its file does not build, fails, or does not end (mutation.py). Of the hazard map the files that
collect producers and enter accesses are here; those that reckon with cells are not.

At the end the survivors are listed; those in ALLOWED, each with a reason, are right to survive. Exit status 1: another one survived, or
one that is allowed was noticed. A name below that is not in the source ends the script at once.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import mutation

FLAGS = ("-DCMAKE_C_FLAGS=-ftrivial-auto-var-init=pattern", "-DHBG_BUILD_COMMAND=OFF")
TIMEOUT_S = 60

# who may notice, those first that cost least; the devices of the first two are poisoned
IMAGES = ("backend/poison", "backend/shadow")
HAZARDS = ("backend/parts", "backend/odd_views", "backend/history")
STORAGES = ("backend/parts", "regress/replay_of_another_part")
BODIES = ("backend/definition_guards", "backend/definition_storage", "backend/definition_store", "backend/definition_captures", "backend/definition", "backend/subgraph", "backend/random_bodies")
DISTANCES, HEAP, LIMIT = "regress/distances_inside_a_body_may_change", "regress/heap_of_a_body_in_a_small_limit", "regress/limit_of_tasks_behind_a_body"
SERIAL, GONE_BUFFER, GONE_PROGRAM = "regress/bodies_in_a_body_that_is_serial", "regress/definition_of_a_destroyed_buffer", "regress/guarded_memory_of_a_gone_program"
MORE_FOR_BODIES = {
    "submission": ("backend/poison", LIMIT, HEAP, "stress/definitions"), "recorder": ("backend/poison", LIMIT, DISTANCES, HEAP, SERIAL, GONE_PROGRAM),
    "match": (DISTANCES, HEAP, GONE_BUFFER, GONE_PROGRAM), "alias": (DISTANCES,), "capture": (SERIAL, "backend/in_place"), "in_place": ("backend/in_place",), "subgraph": ("backend/in_place",), "definition": (GONE_BUFFER, "stress/definitions"),
    "definitions": (GONE_BUFFER, "stress/definitions"), "node": ("backend/describe_bodies", "backend/body_errors"),
}
MEMORY = r"memory|alloc|free|DELETE|NEW|reserve|release|create|room|fit\(|status|keep|open|unpin|if \(!\w+\) return"      # in the name of a mutant: these may be noticed where memory fails
FAULTS = ("fault/allocation", "fault/refusal")
SCALES = {suite: 10 for suite in (*IMAGES, *HAZARDS, *STORAGES, *BODIES, *sum(MORE_FOR_BODIES.values(), ()), *FAULTS)}
SCALES |= {"backend/random_bodies": 5, "stress/definitions": 3}                # HBG_TEST_SCALE

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
    "src/graph/submission.c": ALL,
    "src/graph/match.c": ALL,
    "src/graph/recorder.c": ALL,
    "src/graph/definition.c": ALL,
    "src/graph/alias.c": ALL,
    "src/graph/capture.c": ALL,
    "src/graph/in_place.c": ALL,
    "src/graph/subgraph.c": ALL,
    "src/run/definitions.c": ALL,
    "src/run/node.c": ALL,
    "src/run/bind.c": ("new_group", "bind_buffer", "group_host_ranges", "number_groups", "bind_all", "hbg__run_bind"),
    "src/run/stage.c": ("upload_image", "place_groups", "next_epoch", "fill_bases", "write_descriptor"),
}
SKIPPED = {
    "hbg__payload_grow", "hbg__tasks_grow",                             # room in tables
    "sift_down", "sort_ascending", "by_offset",                         # order of marks and blocks
    "no_task", "fail_call", "fail_signature", "fail_kind", "name_kernel", "fail_alloc", "bad_region",       # errors
    "unsupported", "hbg_submit_args_ex", "prefetch_storage",
}
FILES_OF_BODIES = ("src/graph/body.h",) + tuple(f"src/graph/{name}.c" for name in ("submission", "match", "recorder", "definition", "alias", "capture", "in_place", "subgraph")) + (
    "src/run/definitions.c", "src/run/node.c")
UNHEARD = r"pthread_|__builtin_|prefetch_|HBG_ASSERT|hbg__log_|mem(?:cpy|set|move)$|hbg__store_"
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
COMPARED = "more is compared, with the same result"
IN_ORDER = "behind a capture tasks follow one another, whatever is known of storages"
OLDER = "of two that fit the better one is the older: the other was recorded since it did not fit, or was not there"
LATCHED = "the first error is latched, and looked at before the next thing is done"
BETWEEN_THREADS = "what is looked at leaves the store only by another thread"
SCALARS = "scalars have neither group nor displacement, then and now"

# (file, function, write) -> why nobody can notice
ALLOWED = {
    ("src/graph/append.h", "hbg__store_tail",
     "hbg__store_pair(&r->kernel, kernel << 16 | arg_count, producer_count << 24 | flags << 16)"): BIG_ENDIAN,
    ("src/graph/append.h", "hbg__store_tail",
     "kernel << 16 | arg_count"): BIG_ENDIAN,
    ("src/graph/append.h", "hbg__store_tail",
     "producer_count << 24 | flags << 16"): BIG_ENDIAN,
    ("src/graph/submit.c", "hbg__submit_append",
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
     "g->short_kernels = input->serial ? 0 : input->kernel_count"): SPEED,
    ("src/graph/build.c", "begin",
     "g->payload_limit = (uint32_t)(recording->arena.above / 8 > UINT32_MAX ? UINT32_MAX : recording->arena.above / 8)"): "matters where the arena of the build before was larger by a whole step of growth",
    ("src/graph/build.c", "seal",
     "r->serial = g->build_serial"): "says whose history the tables of the build hold, to those who describe a graph",
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
    ("src/graph/match.c", "same_region",
     "if (a->rank == 0) return true"): "hbg_index() leaves zeros behind the rank",
    ("src/graph/match.c", "storage_of",
     "if ((r->flags & ~HBG_REGION_READ_ONLY) != HBG_REGION_BUFFER) return HBG__NIL"): "hbg__storage_of() refuses it as well",
    ("src/graph/match.c", "storage_of",
     "if (g->buffer_cache[r->storage % 64].handle == r->storage && index < g->storage_count) return index"): SPEED,
    ("src/graph/match.c", "storage_of",
     "index < g->storage_count in g->buffer_cache[r->storage % 64].handle == r->storage && index < g->storage_count"): "an entry with the handle is of this build",
    ("src/graph/match.c", "names_buffer",
     "d->named[i].kind == HBG__NAMED_BUFFER in d->named[i].kind == HBG__NAMED_BUFFER && d->named[i].handle == handle"): "no buffer has the handle 0, and no definition that is found names storages",
    ("src/graph/match.c", "fits_region",
     "if (was->is_empty) return true"): COMPARED,
    ("src/graph/match.c", "fits_region",
     "m->d->names_buffers in m->d->names_buffers && hbg__storage_handle(g, &g->storages[index], &handle) && names_buffer(m->d, handle)"): COMPARED,
    ("src/graph/match.c", "fits_positions",
     "*shared = false"): COMPARED,
    ("src/graph/match.c", "fits_positions",
     "(given->kind != HBG_ARG_SCALAR && given->kind != HBG_ARG_BOUND) in (given->kind != HBG_ARG_SCALAR && given->kind != HBG_ARG_BOUND) || m->d->arg[i].arg.kind != HBG_ARG_SCALAR"): "the type of other kinds is 0, which no scalar has",
    ("src/graph/match.c", "fits_groups",
     "b->arg[i].arg.kind < HBG_ARG_SCALAR in b->arg[i].arg.kind < HBG_ARG_SCALAR && b->arg[i].group != m->d->arg[i].group"): SCALARS,
    ("src/graph/match.c", "fits_groups",
     "b->arg[i].arg.kind >= HBG_ARG_SCALAR in b->arg[i].arg.kind >= HBG_ARG_SCALAR || b->arg[i].displacement == m->d->arg[i].displacement"): SCALARS,
    ("src/graph/match.c", "fits_value",
     "miss(m, HBG__BODY_MISS_VALUE, HBG__NO_ARG, \"memory\") in position == HBG__NIL || hbg__guard_scalar(m->g, position, bits) || miss(m, HBG__BODY_MISS_VALUE, HBG__NO_ARG, \"memory\")"): LATCHED,
    ("src/graph/match.c", "fits_value",
     "if (!hbg__scalar_origin(m->g, given->u.boundary, given->index, &boundary, &position)) return miss(m, HBG__BODY_MISS_VALUE, guard->group, \"what it is bound to\")"): "is refused when the list is written or checked",
    ("src/graph/match.c", "fits_values",
     "if (!hbg__graph_guard(m->g, guard->memory, guard->size_bytes)) return miss(m, HBG__BODY_MISS_DATA, HBG__NO_ARG, \"memory\")"): LATCHED,
    ("src/graph/match.c", "fits",
     "HBG_LIKELY(!shared && !m->d->shares) in HBG_LIKELY(!shared && !m->d->shares) || fits_groups(m)"): COMPARED,
    ("src/graph/match.c", "fits",
     "m->d->guard_count == 0 in m->d->guard_count == 0 || fits_values(m)"): COMPARED,
    ("src/graph/match.c", "is_key",
     "a->name == b->name in a->name == b->name || strcmp(a->name, b->name) == 0"): COMPARED,
    ("src/graph/match.c", "is_key",
     "a->params_size == 0 in a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0"): COMPARED,
    ("src/graph/match.c", "is_key",
     "(b->hash == 0 || a->hash == b->hash) in (b->hash == 0 || a->hash == b->hash) && a->params_size == b->params_size && (a->name == b->name || strcmp(a->name, b->name) == 0) && (a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0)"): COMPARED,
    ("src/graph/match.c", "say_miss",
     "log in log && hbg__log_wants(log, HBG_LOG_DEBUG)"): "of a run there is one",
    ("src/graph/match.c", "say_miss",
     "hbg__log_wants(log, HBG_LOG_DEBUG) in log && hbg__log_wants(log, HBG_LOG_DEBUG)"): "hbg__log_write() looks as well",
    ("src/graph/match.c", "find_known",
     "*best > 0 in i-- > 0 && *best > 0 && !call->g->failed"): COMPARED,
    ("src/graph/match.c", "find_known",
     "!call->g->failed in i-- > 0 && *best > 0 && !call->g->failed"): LATCHED,
    ("src/graph/match.c", "is_known",
     "if (g->bodies->known[i].definition == d) return true"): COMPARED,
    ("src/graph/match.c", "has_buffers",
     "if (d->named[i].buffer && ops->find(ops->user, d->named[i].handle, &size_bytes, &foreign) != d->named[i].buffer) return false"): BETWEEN_THREADS,
    ("src/graph/match.c", "has_buffers",
     "d->names_buffers in d->names_buffers && i < d->named_count"): COMPARED,
    ("src/graph/match.c", "has_buffers",
     "d->named[i].buffer in d->named[i].buffer && ops->find(ops->user, d->named[i].handle, &size_bytes, &foreign) != d->named[i].buffer"): "of no handle there is no buffer",
    ("src/graph/match.c", "find_stored",
     "*best > 0 in *best > 0 && !g->failed && (d = hbg__definition_next(g->input->definitions, &call->key, d)) != NULL"): COMPARED,
    ("src/graph/match.c", "find_stored",
     "!g->failed in *best > 0 && !g->failed && (d = hbg__definition_next(g->input->definitions, &call->key, d)) != NULL"): LATCHED,
    ("src/graph/match.c", "find_stored",
     "is_known(g, d) in d->in_place || is_known(g, d) || !has_buffers(g, d) || !fits_better(call, d, best, first)"): COMPARED,
    ("src/graph/match.c", "find_stored",
     "!has_buffers(g, d) in d->in_place || is_known(g, d) || !has_buffers(g, d) || !fits_better(call, d, best, first)"): BETWEEN_THREADS,
    ("src/graph/match.c", "hbg__match",
     "*in_place = false"): "it is false where the caller has it",
    ("src/graph/match.c", "hbg__match",
     "call->key.hash = hash_key(&call->key)"): COMPARED,
    ("src/graph/match.c", "hbg__match",
     "call->key.hash = hash_key(&call->key) (2)"): "all keys have the hash 0 then, and one chain",
    ("src/graph/recorder.c", "build",
     "g->short_kernels = short_kernels"): SPEED,
    ("src/graph/recorder.c", "build",
     "g->error.size = sizeof g->error"): "the error has that size",
    ("src/graph/recorder.c", "build",
     "!g->failed in status && !g->failed"): "the error is the same one",
    ("src/graph/recorder.c", "mark_written",
     "s->base < first in s->base < first || s->base - first >= r->named_count"): "a smaller number wraps, and is too large",
    ("src/graph/recorder.c", "mark_written",
     "s->base - first >= r->named_count in s->base < first || s->base - first >= r->named_count"): "no base lies behind those that are named",
    ("src/graph/recorder.c", "copy_boundary",
     "d->arg[i].is_empty = d->arg[i].is_empty || r->shape[k] == 0"): COMPARED,
    ("src/graph/recorder.c", "copy_boundary",
     "d->arg[i].is_empty in d->arg[i].is_empty || r->shape[k] == 0"): COMPARED,
    ("src/graph/recorder.c", "copy_boundary",
     "r->shape[k] == 0 in d->arg[i].is_empty || r->shape[k] == 0"): COMPARED,
    ("src/graph/recorder.c", "hbg__record_body",
     "hbg__recording_reset(&g->bodies->recording, &g->input->buffers)"): "the next build does so",
    ("src/graph/recorder.c", "hbg__verify_body",
     "again->image_bytes == d->head->image_bytes in again->image_bytes == d->head->image_bytes && memcmp(again->head, d->head, again->image_bytes) == 0 && hbg__name_the_same(again->named, again->named_count, d->named, d->named_count)"): "the size stands in the head, which is compared",
    ("src/graph/capture.c", "hbg__graph_serialize",
     "if (!hbg__gather_leaves(g, 0)) return false"): LATCHED,
    ("src/graph/capture.c", "hbg__capture",
     "s->flags = HBG__STORAGE_WHOLES"): IN_ORDER,
    ("src/graph/capture.c", "hbg__capture",
     "hbg__storage_set_irregular(s, HBG__IRREGULAR_ALWAYS)"): IN_ORDER,
    ("src/graph/capture.c", "hbg__capture",
     "if (!*known) return NULL"): "the build around says so",
    ("src/graph/in_place.c", "run_body",
     "hbg__short_way_renew(g) (2)"): SPEED,
    ("src/graph/in_place.c", "run_body",
     "!g->failed in !g->failed && g->scope_depth != frame->scope_depth"): LATCHED,
    ("src/graph/alias.c", "collect",
     "if (!s) return false"): "hbg__call_check() and match.c have found it",
    ("src/graph/alias.c", "collect",
     "return false"): LATCHED,
    ("src/graph/alias.c", "hbg__alias_groups",
     "b->group[i].size_bytes = 0"): "of one without bytes nothing is reached",
    ("src/graph/alias.c", "hbg__alias_groups",
     "if (!collect(g, arg, count, &ranges)) return false"): LATCHED,
    ("src/graph/match.c", "hbg__match",
     "!g->failed in first.what && !*in_place && !g->failed"): "of a build that failed no more is told",
    ("src/graph/match.c", "fits_better",
     "*best = rank_of(d)"): OLDER,
    ("src/graph/match.c", "fits_better",
     "if (rank_of(d) >= *best) return false"): OLDER,
    ("src/graph/recorder.c", "make",
     "!d->is_serial in !d->is_serial && inner->is_serial"): COMPARED,
    ("src/graph/capture.c", "hbg__capture",
     "s->lower = reach.lower - theirs->displacement"): "views of it begin at its first byte or behind",
    ("src/graph/capture.c", "hbg__capture",
     "(void)hbg__fail_as(g, outer)"): LATCHED,
    ("src/graph/in_place.c", "end_of",
     "if (g->failed || !hbg__gather_leaves(g, first)) return no_task(g)"): LATCHED,
    ("src/graph/in_place.c", "end_of",
     "if (g->gathered_count == 0 && entry && !hbg__gather(g, entry)) return no_task(g)"): LATCHED,
    ("src/graph/in_place.c", "end_of",
     "g->failed in g->failed || !hbg__gather_leaves(g, first)"): LATCHED,
    ("src/graph/in_place.c", "end_of",
     "entry in g->gathered_count == 0 && entry && !hbg__gather(g, entry)"): "hbg__gather() takes no mark for nobody",
    ("src/graph/in_place.c", "hbg__submit_in_place",
     "if (!make_entry(g, &frame.entry)) return no_task(g)"): LATCHED,
    ("src/run/node.c", "step_inside",
     "activation < inner.activation in activation < inner.activation || activation > inner.activation + inner.head->activation_count"): "activations ascend, so the first that ends behind it is the one",
    ("src/run/node.c", "list_inside",
     "if (!(level->head->flags & HBG__IMAGE_SUBGRAPHS)) return"): COMPARED,
    ("src/graph/submission.c", "hbg__bodies_begin",
     "b->extra_count in b->known_count = b->extra_count = b->layout_count = b->submission_count = 0"): ROOM,
    ("src/graph/submission.c", "hbg__know",
     "if (d->named[i].kind == HBG__NAMED_DEFINITION && !pass_on(g, &d->named[i], &unused)) return NULL"): LATCHED,
    ("src/graph/submission.c", "hbg__know",
     "if (!pass_on(g, &d->named[i], &b->extra[known.extra + i])) return NULL"): LATCHED,
    ("src/graph/submission.c", "put_short",
     "return hbg__hazard_fast_cell(home, r->offset_bytes + own->displacement - home->fast_origin, &cell) && hbg__short_cell(g, t, own->home, cell, writes)"): SPEED,
    ("src/graph/submission.c", "put_region",
     "if (HBG_UNLIKELY(*layout == LAYOUT_UNKNOWN) && !(*layout = hbg__layout_of_region(g, r))) return false"): LATCHED,
    ("src/graph/submission.c", "put_region",
     "if (HBG_UNLIKELY(t->producer > t->mark + HBG__SHORT_TASK_MARKS - HBG__SHORT_MARKS) && !hbg__short_take_marks(g, t)) return false"): LATCHED,
    ("src/graph/submission.c", "put_scalar",
     "!layout in !layout && !(layout = hbg__layout_of_scalar(g, given->dtype))"): SPEED,
    ("src/graph/submission.c", "put_boundary",
     "t.nobody = 0"): "stands before the first mark to be compared with; a word of the stack is hardly ever a mark",
    ("src/graph/submission.c", "put_extras",
     "access->place = HBG__ACCESS_NONE"): MORE_ORDER,
    ("src/graph/submission.c", "put_extras",
     "if (!hbg__hazard_collect(g, access)) return false"): LATCHED,
    ("src/graph/submission.c", "make_room",
     "g->task_count < g->task_limit in g->task_count < g->task_limit || hbg__tasks_grow(g)"): SPEED,
    ("src/graph/submission.c", "make_room",
     "(g->task_count < g->task_limit || hbg__tasks_grow(g)) in (g->task_count < g->task_limit || hbg__tasks_grow(g)) && hbg__payload_fit(g, 2 * (uint64_t)args + HBG__SUBMISSION_UNITS) && hbg__graph_reserve(g, (void **)&g->accesses, &g->access_capacity, args + 1, sizeof *g->accesses) && hbg__graph_reserve(g, (void **)&b->settled, &b->settled_capacity, args, sizeof *b->settled) && hbg__graph_reserve(g, (void **)&b->submission, &b->submission_capacity, b->submission_count + 1, sizeof *b->submission)"): "hbg__submit_append() makes room as well",
    ("src/graph/submission.c", "hbg__submit_definition",
     "g->bodies->settled_count in g->producers.count = g->access_count = g->bodies->settled_count = 0"): "put_boundary() sets it",
    ("src/graph/submission.c", "hbg__submit_definition",
     "if (heap_bytes && !hbg__heap_take(g, hbg__round_up(heap_bytes, HBG__LINE), &heap, &tenant)) return no_task(g)"): LATCHED,
    ("src/graph/submission.c", "hbg__submit_definition",
     "if (!hbg__producer_add(g, tenant)) return no_task(g)"): LATCHED,
    ("src/graph/submission.c", "hbg__submit_definition",
     "if (!put_extras(g, &known)) return no_task(g)"): LATCHED,
    ("src/graph/submission.c", "hbg__submit_definition",
     "if (heap_bytes && !hbg__heap_give(g, heap, hbg__round_up(heap_bytes, HBG__LINE), task.id + 1)) return no_task(g)"): LATCHED,
    ("src/graph/submission.c", "hbg__submit_definition",
     "heap_bytes in heap_bytes && !hbg__heap_take(g, hbg__round_up(heap_bytes, HBG__LINE), &heap, &tenant)"): "no bytes are taken",
    ("src/graph/submission.c", "hbg__submit_definition",
     "heap_bytes in heap_bytes && !hbg__heap_give(g, heap, hbg__round_up(heap_bytes, HBG__LINE), task.id + 1)"): "no bytes are given back",
    ("src/graph/submission.c", "hbg__submit_definition",
     "(g->regrid_home != HBG__NIL && !hbg__hazard_regrid(g)) in !is_within_limits(g, d) || (g->regrid_home != HBG__NIL && !hbg__hazard_regrid(g)) || !make_room(g, d)"): COARSER,
    ("src/graph/definition.c", "hbg__definition_create",
     "memset(d->named, 0, named_count * sizeof *d->named)"): "hbg__record_body() fills them in",
    ("src/graph/definition.c", "same_key",
     "a->params_size == 0 in a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0"): COMPARED,
    ("src/graph/definition.c", "same_key",
     "a->hash == b->hash in a->hash == b->hash && a->kernel_set == b->kernel_set && a->fn == b->fn && a->params_size == b->params_size && strcmp(a->name, b->name) == 0 && (a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0)"): COMPARED,
    ("src/graph/definition.c", "same_key",
     "strcmp(a->name, b->name) == 0 in a->hash == b->hash && a->kernel_set == b->kernel_set && a->fn == b->fn && a->params_size == b->params_size && strcmp(a->name, b->name) == 0 && (a->params_size == 0 || memcmp(a->params, b->params, a->params_size) == 0)"): "names of one hash are hardly ever different",
    ("src/graph/definition.c", "hbg__definitions_forget_buffer",
     "!d->names_buffers in !d->kept || !d->names_buffers || !names(d, buffer)"): COMPARED,
    ("src/graph/definition.c", "hbg__definitions_close",
     "forget(store, d)"): "hbg__definitions_purge() has left none that is kept",
    ("src/graph/definition.c", "hbg__definitions_close",
     "d->pins in d && d->pins"): "hbg__definitions_purge() has left none",
    ("src/graph/definition.c", "hbg__definition_next",
     "after->kept in after && after->kept"): BETWEEN_THREADS,
    ("src/graph/definition.c", "hbg__definition_unpin",
     "!last in !last && d->pins == 0"): "what is beyond the budget may go at any time",
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
    """(from, to, early) of every simple statement, without the `if (..)`, `else` and `for (..)` in front of it. early: others follow it, or may."""
    at = start = begin + 1
    depth = 0
    while at < end:
        if code[at] in "([" or (code[at] == "{" and code[start:at].rstrip().endswith(("=", ")")) and re.search(r"=\s*$|\(struct \w+\)$", code[start:at].rstrip())):
            at = end_of(code, at)
            continue
        if code[at] in "{}":
            start = at + 1
            depth += 1 if code[at] == "{" else -1
        elif code[at] == ";":
            first = without_heads(code, start, at)
            yield first, at, depth > 0 or bool(code[start:first].strip())
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
    return start


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
    for start, stop, _ in statements(code, begin, end):
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


def calls(code, text, begin, end):
    for start, stop, _ in statements(code, begin, end):
        called = re.match(r"(?:\(void\))?(\w+)(?=\()", code[start:stop])
        if called and not re.match(UNHEARD, called.group(1)) and end_of(code, start + called.end()) == stop:
            yield start, stop, "(void)0", text[start:stop]


def exits(code, text, begin, end):
    for start, stop, early in statements(code, begin, end):
        if early and re.match(r"return\b|continue$|break$", code[start:stop]):
            head = code.rfind("\n", 0, start) + 1
            yield start, stop, "(void)0", text[head:stop]


BOUNDARY = re.compile(r"[;,?:{]|return\b|" + ASSIGN.pattern)


def split(code, start, stop, operator):
    """The operands between `start` and `stop`, outside of all brackets."""
    at = first = start
    while at < stop:
        if code[at] in "([{":
            at = end_of(code, at)
        elif code.startswith(operator, at):
            yield first, at
            at = first = at + len(operator)
        else:
            at += 1
    yield first, stop


def conditions(code, text, begin, end):
    """Each operand of && and of ||, between begin and end and in the brackets there."""
    def of(start, stop):
        name = lambda a, b: f"{text[a:b].strip()} in {text[start:stop].strip()}"
        alternatives = list(split(code, start, stop, "||"))
        for a, b in alternatives:
            if len(alternatives) > 1:
                yield a, b, " 0 ", name(a, b)
            needed = list(split(code, a, b, "&&"))
            if len(needed) > 1:
                yield from ((first, last, " 1 ", name(first, last)) for first, last in needed)

    at = start = begin + 1
    while at < end - 1:
        boundary = BOUNDARY.match(code, at, end)
        behind = end_of(code, at) if code[at] in "([{" else boundary.end() if boundary else at + 1
        if code[at] in "([{":
            yield from conditions(code, text, at, behind)
        if boundary:
            yield from of(start, at)
            start = behind
        at = behind
    yield from of(start, end - 1)


def find_mutants():
    """{(path, function, write): mutant}; of writes that read alike the later ones have a number."""
    found, bodies = {}, {path: functions_of(masked(mutation.source(path))) for path in FUNCTIONS}
    missing = [f"{path} has no function {name}" for path, names in FUNCTIONS.items() for name in names or () if name not in bodies[path]]
    missing += [f"no file has the function {name} of SKIPPED" for name in SKIPPED if not any(name in of for of in bodies.values())]
    for path, names in FUNCTIONS.items():
        text = mutation.source(path)
        code = masked(text)
        kinds = (writes, calls, exits, conditions) if path in FILES_OF_BODIES else (writes,)
        for function in names or [name for name in bodies[path] if name not in SKIPPED]:
            for start, stop, replacement, name in (m for kind in kinds for m in kind(code, text, *bodies[path][function])):
                name = " ".join(name.split())
                alike = sum(1 for other in found if other[:2] == (path, function) and re.fullmatch(re.escape(name) + r"( \(\d+\))?", other[2]))
                name = (path, function, f"{name} ({alike + 1})" if alike else name)
                found[name] = mutation.Mutant(path, name[1:], text[:start] + replacement + text[stop:], suites_of(path, " ".join(name[1:])))
    missing += ["not in the source: " + ": ".join(name) for name in ALLOWED if name not in found]
    if missing:
        raise SystemExit("mutate_submit: " + "\n".join(missing))
    return found


def suites_of(path, name):
    if path not in FILES_OF_BODIES:
        return IMAGES + (HAZARDS if "/hazard_" in path else STORAGES if path.endswith("/storage.c") else ())
    return BODIES + MORE_FOR_BODIES.get(pathlib.PurePath(path).stem, ()) + (FAULTS if re.search(MEMORY, name) else ())


def main():
    given = mutation.arguments(__doc__)
    tried = {name: mutant for name, mutant in find_mutants().items() if re.search(given.only, ": ".join(name))}
    tried = dict(list(tried.items())[::given.every])
    if given.list:
        print("\n".join(map(": ".join, tried)))
        return 0
    wrong, survivors = [], 0
    results = mutation.try_all(tried.values(), SCALES, FLAGS, given.jobs, TIMEOUT_S, all_suites=False)
    for i, (name, (_, noticed)) in enumerate(zip(tried, results), 1):
        survivors += not noticed
        if bool(noticed) == (name in ALLOWED):
            wrong.append(("NOTICED, THOUGH ALLOWED " if noticed else "SURVIVED ") + ": ".join(name))
            print(f"{i}/{len(tried)} {wrong[-1]}", file=sys.stderr, flush=True)
    print(f"{len(tried)} mutants, {len(tried) - survivors} noticed, {survivors} not")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
