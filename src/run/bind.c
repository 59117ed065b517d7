/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - the argument list of a run, checked and grouped by the storage that its members share.
 *
 *     host ranges     a |=======|        b     |=====|           c          |====|
 *     groups            0 |================|                     1          |====|
 *
 * Ranges that only touch are apart. A device buffer is one group. Groups are numbered by their first argument, so the same list
 * gives the same numbers. Cost: some ns an argument; the ranges of host arguments are sorted, which for arguments that come in
 * ascending order is one pass.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "graph/canonical_view.h"
#include "graph/signature.h"
#include "graph/view.h"
#include "run/buffer.h"
#include "run/run.h"

enum { FIRST_CAPACITY = 16 };

static enum hbg_status make_room(struct hbg__run *run, size_t count, struct hbg_error *error)
{
    struct hbg__memory *memory = &run->device->memory;
    if (HBG_LIKELY(count <= run->capacity)) return HBG_OK;
    if (count > HBG__ARGS_MAX) return hbg__error_set(error, HBG_E_LIMIT, "arguments", "a run of %zu arguments; %u are possible", count, HBG__ARGS_MAX);
    size_t capacity = run->capacity ? run->capacity : FIRST_CAPACITY;
    while (capacity < count) capacity *= 2;
    struct hbg__boundary_arg *arg = hbg__alloc(memory, capacity * sizeof *arg, 16);
    struct hbg__boundary_group *group = hbg__alloc(memory, capacity * sizeof *group, 16);
    struct hbg__placed_group *placed = hbg__alloc(memory, capacity * sizeof *placed, 16);
    struct hbg__range *range = hbg__alloc(memory, capacity * sizeof *range, 16);
    if (!arg || !group || !placed || !range) {
        hbg__free(memory, arg, capacity * sizeof *arg, 16);
        hbg__free(memory, group, capacity * sizeof *group, 16);
        hbg__free(memory, placed, capacity * sizeof *placed, 16);
        hbg__free(memory, range, capacity * sizeof *range, 16);
        return hbg__error_no_memory(error, "arguments", capacity * (sizeof *arg + sizeof *group));
    }
    hbg__run_free_arguments(run);
    run->arg = arg;
    run->group = group;
    run->placed = placed;
    run->range = range;
    run->capacity = (uint32_t)capacity;
    return HBG_OK;
}

void hbg__run_free_arguments(struct hbg__run *run)
{
    struct hbg__memory *memory = &run->device->memory;
    hbg__free(memory, run->arg, run->capacity * sizeof *run->arg, 16);
    hbg__free(memory, run->group, run->capacity * sizeof *run->group, 16);
    hbg__free(memory, run->placed, run->capacity * sizeof *run->placed, 16);
    hbg__free(memory, run->range, run->capacity * sizeof *run->range, 16);
    run->arg = NULL;
    run->group = NULL;
    run->placed = NULL;
    run->range = NULL;
    run->capacity = 0;
}

static enum hbg_status check_kind(const struct hbg_arg *arg, int i, struct hbg_error *error)
{
    switch (arg->kind) {
    case HBG_ARG_IN: case HBG_ARG_OUT: case HBG_ARG_INOUT: case HBG_ARG_UNTRACKED:
        return HBG_OK;
    case HBG_ARG_SCALAR:
        if (HBG_LIKELY(hbg__is_scalar_dtype(arg->dtype))) return HBG_OK;
        return hbg__error_set_argument(error, HBG_E_SIGNATURE, i, "dtype", "argument %d is a scalar of type %u, which no scalar has", i, arg->dtype);
    case HBG_ARG_ACCUMULATE:
        return hbg__error_set_argument(error, HBG_E_UNSUPPORTED, i, "accumulate", "argument %d is hbg_accumulate, which this version does not run", i);
    case HBG_ARG_BYTES:
        return hbg__error_set_argument(error, HBG_E_UNSUPPORTED, i, "bytes", "argument %d of a run is hbg_bytes; a boundary takes regions and scalars", i);
    case HBG_ARG_AFTER:
        return hbg__error_set_argument(error, HBG_E_TASK_ID, i, "after", "argument %d of a run is hbg_after; a run has no tasks to wait for", i);
    default:
        return hbg__error_set_argument(error, HBG_E_ACCESS, i, "kind", "argument %d has the kind %u, which a boundary does not take", i, arg->kind);
    }
}

/* Flags, rank, dtype and access; then the hull [*lo, *hi) of its bytes. */
static enum hbg_status check_region(const struct hbg_arg *arg, int i, int64_t *lo, int64_t *hi, struct hbg_error *error)
{
    const struct hbg_region *r = &arg->u.region;
    char reason[128];
    if (HBG_UNLIKELY(r->flags & HBG_REGION_BAD)) {
        hbg__region_reason(r, NULL, reason, sizeof reason);
        return hbg__error_set_argument(error, HBG_E_REGION, i, "view", "argument %d is a bad view: %s", i, reason);
    }
    if (HBG_UNLIKELY(!(r->flags & (HBG_REGION_HOST | HBG_REGION_BUFFER))))
        return hbg__error_set_argument(error, HBG_E_REGION, i, "storage", "argument %d is neither host memory nor a device buffer; regions of a graph end with its build", i);
    int64_t element = hbg_dtype_size(r->dtype);
    if (HBG_UNLIKELY(element == 0 || r->rank > HBG_RANK_MAX))
        return hbg__error_set_argument(error, HBG_E_REGION, i, "dtype", "argument %d has the dtype %u and the rank %u; a region has a known dtype and a rank up to %d", i, r->dtype, r->rank, HBG_RANK_MAX);
    if (HBG_UNLIKELY(r->flags & HBG_REGION_READ_ONLY && (arg->kind == HBG_ARG_OUT || arg->kind == HBG_ARG_INOUT)))
        return hbg__error_set_argument(error, HBG_E_ACCESS, i, "access", "argument %d is read-only memory and cannot be %s", i, arg->kind == HBG_ARG_OUT ? "out" : "inout");
    if (HBG_UNLIKELY(!hbg__view_bounds(r->offset_bytes, element, r->rank, r->shape, r->stride_bytes, lo, hi)))
        return hbg__error_set_argument(error, HBG_E_REGION, i, "shape", "argument %d has a negative size or reaches beyond the address space", i);
    if (HBG_UNLIKELY(r->flags & HBG_REGION_HOST && *lo < *hi && *lo <= 0))
        return hbg__error_set_argument(error, HBG_E_REGION, i, "address", "argument %d begins at address 0x%" PRIx64 " and has %" PRIu64 " bytes, which leave the address space", i, (uint64_t)*lo, (uint64_t)*hi - (uint64_t)*lo);
    return HBG_OK;
}

/* Numbers the binds of the process, so that a buffer knows the group it has in this one. Under the process lock. */
static uint64_t bind_serial;

static uint32_t new_group(struct hbg__run *run, uint64_t size_bytes, struct hbg_buffer *buffer, uint32_t handle, const void *host)
{
    uint32_t g = run->group_count++;
    run->group[g] = (struct hbg__boundary_group){ .size_bytes = size_bytes, .buffer = buffer, .buffer_handle = handle, .host = host };
    return g;
}

/* The process lock is held. The first argument of a buffer makes its group and holds it. */
static enum hbg_status bind_buffer(struct hbg__run *run, uint32_t i, int64_t lo, int64_t hi, struct hbg_error *error)
{
    struct hbg__boundary_arg *bound = &run->arg[i];
    const struct hbg_region *r = &bound->arg.u.region;
    bool foreign;
    struct hbg_buffer *buffer = hbg__buffer_find_locked(run->device, r->storage, &foreign);
    if (HBG_UNLIKELY(!buffer))
        return hbg__error_set_argument(error, HBG_E_REGION, (int)i, "buffer", "argument %u names a buffer %s", i, foreign ? "of another device" : "that was destroyed");
    if (buffer->bound_in != bind_serial) {
        buffer->holders++;
        buffer->bound_in = bind_serial;
        buffer->bound_group = new_group(run, buffer->size_bytes, buffer, r->storage, run->device->properties.unified ? (const void *)(uintptr_t)buffer->address : NULL);
    }
    bound->group = buffer->bound_group;
    uint64_t size = buffer->size_bytes;
    if (HBG_UNLIKELY(lo < hi && (lo < 0 || (uint64_t)hi > size)))
        return hbg__error_set_argument(error, HBG_E_REGION, (int)i, "buffer", "argument %u touches bytes [%" PRId64 ", %" PRId64 ") of a buffer of %" PRIu64, i, lo, hi, size);
    bound->displacement = r->offset_bytes;
    return HBG_OK;
}

/* Shell sort by lo: nothing is allocated, and a sorted row is one pass a gap. */
static void sort_ranges(struct hbg__range *range, uint32_t count)
{
    static const uint32_t gaps[] = { 7000, 1750, 701, 301, 132, 57, 23, 10, 4, 1 };
    for (size_t k = 0; k < sizeof gaps / sizeof gaps[0]; k++) {
        uint32_t gap = gaps[k];
        for (uint32_t i = gap; i < count; i++) {
            struct hbg__range moved = range[i];
            uint32_t at = i;
            for (; at >= gap && range[at - gap].lo > moved.lo; at -= gap) range[at] = range[at - gap];
            range[at] = moved;
        }
    }
}

/* Every maximal row of ranges that overlap becomes one group. */
static void group_host_ranges(struct hbg__run *run)
{
    struct hbg__range *range = run->range;
    sort_ranges(range, run->range_count);
    for (uint32_t first = 0, next; first < run->range_count; first = next) {
        uint64_t lo = range[first].lo, hi = range[first].hi;
        for (next = first + 1; next < run->range_count && range[next].lo < hi; next++) {
            if (range[next].hi > hi) hi = range[next].hi;
        }
        uint32_t g = new_group(run, hi - lo, NULL, 0, (const void *)(uintptr_t)lo);
        for (uint32_t k = first; k < next; k++) {
            struct hbg__boundary_arg *bound = &run->arg[range[k].arg];
            bound->group = g;
            bound->displacement = (int64_t)((uint64_t)bound->arg.u.region.offset_bytes - lo);
        }
    }
}

/* Renumber by first argument; placed[].host serves as the map from old to new. */
static void number_groups(struct hbg__run *run)
{
    uint32_t numbered = 0;
    for (uint32_t g = 0; g < run->group_count; g++) run->placed[g].host = UINT64_MAX;
    for (uint32_t i = 0; i < run->arg_count; i++) {
        uint32_t old = run->arg[i].group;
        if (old == UINT32_MAX) continue;
        if (run->placed[old].host == UINT64_MAX) run->placed[old].host = numbered++;
        run->arg[i].group = (uint32_t)run->placed[old].host;
    }
    /* every exchange puts one group where it belongs */
    for (uint32_t g = 0; g < run->group_count; g++) {
        while (run->placed[g].host != g) {
            uint32_t to = (uint32_t)run->placed[g].host;
            struct hbg__boundary_group moved = run->group[to];
            run->group[to] = run->group[g];
            run->group[g] = moved;
            run->placed[g].host = run->placed[to].host;
            run->placed[to].host = to;
        }
    }
}

static enum hbg_status check_signature(const struct hbg__run *run, struct hbg_arg_list list, struct hbg_error *error)
{
    const struct hbg__signature *boundary = &run->program->boundary;
    char want[32], have[32];
    if (!boundary->given) return HBG_OK;
    if (list.count != boundary->arg_count)
        return hbg__error_set_argument(error, HBG_E_SIGNATURE, (int)(list.count < boundary->arg_count ? list.count : boundary->arg_count), run->program->name, "program \"%.60s\" takes %u argument%s and was given %zu", run->program->name, boundary->arg_count, hbg__s(boundary->arg_count), list.count);
    for (uint32_t i = 0; i < boundary->arg_count; i++) {
        if (HBG_LIKELY(hbg__signature_permits(boundary, i, &list.arg[i]))) continue;
        if (hbg__arg_is_region(&list.arg[i]) && list.arg[i].u.region.flags & HBG_REGION_BAD) {      /* a bad view has no dtype to compare */
            int64_t lo, hi;
            return check_region(&list.arg[i], (int)i, &lo, &hi, error);
        }
        hbg__signature_text_of(boundary, i, want);
        hbg__signature_text_of_arg(&list.arg[i], have);
        return hbg__error_set_argument(error, HBG_E_SIGNATURE, (int)i, run->program->name, "argument %u of program \"%.60s\" is \"%s\" and should be \"%s\"", i, run->program->name, have, want);
    }
    return HBG_OK;
}

static enum hbg_status bind_all(struct hbg__run *run, struct hbg_arg_list list, struct hbg_error *error)
{
    for (uint32_t i = 0; i < run->arg_count; i++) {
        struct hbg__boundary_arg *bound = &run->arg[i];
        const struct hbg_arg *arg = &list.arg[i];
        int64_t lo, hi;
        enum hbg_status status = check_kind(arg, (int)i, error);
        if (HBG_UNLIKELY(status)) return status;
        bound->arg = *arg;
        bound->group = UINT32_MAX;
        bound->displacement = 0;
        if (!hbg__arg_is_region(arg)) continue;
        status = check_region(arg, (int)i, &lo, &hi, error);
        if (HBG_UNLIKELY(status)) return status;
        if (arg->u.region.flags & HBG_REGION_BUFFER) {
            status = bind_buffer(run, i, lo, hi, error);
            if (HBG_UNLIKELY(status)) return status;
        } else if (lo == hi) {              /* touches nothing, so it shares nothing */
            bound->group = new_group(run, 0, NULL, 0, (const void *)(uintptr_t)lo);
        } else {
            run->range[run->range_count++] = (struct hbg__range){ .lo = (uint64_t)lo, .hi = (uint64_t)hi, .arg = i };
        }
    }
    return HBG_OK;
}

enum hbg_status hbg__run_bind(struct hbg__run *run, struct hbg_arg_list list, struct hbg_error *error)
{
    run->arg_count = run->group_count = run->range_count = 0;
    if (list.count && !list.arg) return hbg__error_set(error, HBG_E_NULL, "arguments", "a list of %zu argument%s is NULL", list.count, hbg__s(list.count));
    enum hbg_status status = check_signature(run, list, error);
    if (!status) status = make_room(run, list.count, error);
    if (status) return status;
    run->arg_count = (uint32_t)list.count;
    hbg__process_lock();
    bind_serial++;
    status = bind_all(run, list, error);
    hbg__process_unlock();
    if (status) {
        hbg__run_unbind(run);
        return status;
    }
    if (run->range_count) {
        group_host_ranges(run);
        number_groups(run);
    }
    return HBG_OK;
}

void hbg__run_unbind(struct hbg__run *run)
{
    for (uint32_t g = 0; g < run->group_count; g++) {
        if (run->group[g].buffer) hbg__buffer_drop(run->group[g].buffer);
    }
    run->arg_count = run->group_count = run->range_count = 0;
}
