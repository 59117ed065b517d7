/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - what build code may look at, and the guards that this leaves. See guard.h.
 *
 * Neighbouring reads become one range, so a loop over a table costs one guard and one comparison.
 */
#include "graph/guard.h"
#include "base/plural.h"
#include "graph/body.h"
#include "graph/hazard_map.h"
#include "graph/repeat.h"
#include "graph/signature.h"
#include "graph/view.h"
#include "graph/written.h"

/* ---- recording guards ------------------------------------------------------------------------------------------- */

/* NULL: what the build looks at is not kept. */
static struct hbg__guards *kept_guards(const struct hbg_graph *g) { return g->input->record ? g->recording->guards : NULL; }

static bool reserve_bytes(struct hbg_graph *g, struct hbg__guards *guards, uint64_t size)
{
    uint64_t wanted = guards->bytes_capacity ? guards->bytes_capacity : 256;
    if (guards->bytes_used + size <= guards->bytes_capacity) return true;
    while (wanted < guards->bytes_used + size) wanted *= 2;
    void *moved = hbg__realloc(guards->memory, guards->bytes, guards->bytes_capacity, wanted, 16);
    if (!moved) { hbg__graph_fail_memory(g, "guards"); return false; }
    guards->bytes = moved;
    guards->bytes_capacity = wanted;
    return true;
}

static struct hbg__guard *add_guard(struct hbg_graph *g, struct hbg__guards *guards, struct hbg__guard guard)
{
    if (!hbg__graph_reserve(g, (void **)&guards->item, &guards->capacity, guards->count + 1, sizeof guard)) return NULL;
    guards->item[guards->count] = guard;
    return &guards->item[guards->count++];
}

/* Keep a copy of bytes that the build has seen; a range that continues the last one makes it longer. */
static bool guard_bytes(struct hbg_graph *g, struct hbg__guard guard, const void *seen)
{
    struct hbg__guards *guards = kept_guards(g);
    if (!guards || guard.size_bytes == 0) return true;
    if (!reserve_bytes(g, guards, guard.size_bytes)) return false;
    struct hbg__guard *last = guards->count ? &guards->item[guards->count - 1] : NULL;
    guard.copy = guards->bytes_used;
    bool continues = last && last->kind == HBG__GUARD_BYTES && guard.kind == HBG__GUARD_BYTES && last->group == guard.group &&
                     last->offset + last->size_bytes == guard.offset && last->copy + last->size_bytes == guard.copy;
    if (continues) last->size_bytes += guard.size_bytes;
    else if (!add_guard(g, guards, guard)) return false;
    memcpy(guards->bytes + guards->bytes_used, seen, guard.size_bytes);
    guards->bytes_used += guard.size_bytes;
    return true;
}

bool hbg__guards_begin(struct hbg_graph *g)
{
    struct hbg__guards *guards = g->recording->guards;
    if (!g->input->record && (!g->repeat.is_possible || g->repeat.head)) return true;       /* hbg__repeat_leave() comes back to it */
    if (!guards) {
        guards = HBG__NEW(g->memory, struct hbg__guards);
        if (!guards) { hbg__graph_fail_memory(g, "guards"); return false; }
        guards->memory = g->memory;
        g->recording->guards = guards;
    }
    guards->count = 0;
    guards->bytes_used = 0;
    return hbg__guards_copy(g);
}

bool hbg__guards_copy(struct hbg_graph *g)
{
    const struct hbg__boundary *b = &g->input->boundary;
    struct hbg__guards *guards = g->recording->guards;
    if (!hbg__graph_reserve(g, (void **)&guards->arg, &guards->arg_capacity, b->arg_count, sizeof *guards->arg) ||
        !hbg__graph_reserve(g, (void **)&guards->group, &guards->group_capacity, b->group_count, sizeof *guards->group)) return false;
    if (b->arg_count) memcpy(guards->arg, b->arg, b->arg_count * sizeof *b->arg);
    if (b->group_count) memcpy(guards->group, b->group, b->group_count * sizeof *b->group);
    guards->arg_count = b->arg_count;
    guards->group_count = b->group_count;
    return true;
}

void hbg__guards_free(struct hbg__guards *guards)
{
    if (!guards) return;
    struct hbg__memory *memory = guards->memory;
    hbg__free(memory, guards->arg, guards->arg_capacity * sizeof *guards->arg, 16);
    hbg__free(memory, guards->group, guards->group_capacity * sizeof *guards->group, 16);
    hbg__free(memory, guards->item, guards->capacity * sizeof *guards->item, 16);
    hbg__free(memory, guards->bytes, guards->bytes_capacity, 16);
    HBG__DELETE(memory, guards);
}

/* ---- values of boundary scalars ----------------------------------------------------------------------------------- */

struct hbg_region hbg__bad_region(const struct hbg_args *args, int i)
{
    return hbg__region_of_no_position(i, args->count);
}

bool hbg__guard_scalar(struct hbg_graph *g, uint32_t position, uint64_t bits)
{
    const struct hbg__body *body = g->input->body;
    struct hbg__guard guard = { .kind = HBG__GUARD_VALUE, .group = position, .offset = bits };
    if (body && position >= body->count) return hbg__guard_scalar(body->outer, g->recording->named[position - body->count].handle - HBG__BASE_BOUNDARY, bits);
    if (kept_guards(g) && !add_guard(g, kept_guards(g), guard)) return false;
    return !body || body->bound[position] == HBG__NIL || hbg__guard_scalar(body->outer, body->bound[position], bits);
}

/* The bits of boundary scalar i, which must be of this type or of the other; 0 after an error. */
static uint64_t scalar_bits(const struct hbg_args *args, int i, int dtype, int other)
{
    struct hbg_graph *g = args ? args->graph : NULL;
    const struct hbg_args *boundary;
    uint32_t position;
    if (!g || g->failed) return 0;
    hbg__graph_looked_into(g);
    if (i < 0 || !hbg__scalar_origin(g, args, (uint32_t)i, &boundary, &position)) {
        hbg__graph_fail(g, HBG_E_ACCESS, i, "hbg_args_get", "boundary position %d is no scalar", i);
        return 0;
    }
    const struct hbg_arg *a = &boundary->arg[i];
    if (a->dtype != dtype && a->dtype != other) {
        char given[32], read[32];
        hbg__signature_text_of_arg(a, given);
        hbg__signature_text_of_arg(&(struct hbg_arg){ .kind = HBG_ARG_SCALAR, .dtype = (uint16_t)dtype }, read);
        hbg__graph_fail(g, HBG_E_SIGNATURE, i, "hbg_args_get", "boundary scalar %d is %s and is read as %s", i, given, read);
        return 0;
    }
    if (position == HBG__NIL) return a->u.bits;             /* a constant of the body's submission */
    return hbg__guard_scalar(g, position, a->u.bits) ? a->u.bits : 0;
}

float hbg_args_get_f32(const struct hbg_args *args, int i)
{
    uint32_t bits = (uint32_t)scalar_bits(args, i, HBG_F32, HBG_F32);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double hbg_args_get_f64(const struct hbg_args *args, int i)
{
    uint64_t bits = scalar_bits(args, i, HBG_F64, HBG_F64);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool hbg_args_get_bool(const struct hbg_args *args, int i) { return scalar_bits(args, i, HBG_BOOL, HBG_BOOL) != 0; }
uint32_t hbg_args_get_u32(const struct hbg_args *args, int i) { return (uint32_t)scalar_bits(args, i, HBG_U32, HBG_BOOL); }
uint64_t hbg_args_get_u64(const struct hbg_args *args, int i) { return scalar_bits(args, i, HBG_U64, HBG_U32); }
int32_t hbg_args_get_i32(const struct hbg_args *args, int i) { return (int32_t)scalar_bits(args, i, HBG_I32, HBG_BOOL); }
int64_t hbg_args_get_i64(const struct hbg_args *args, int i) { return (int64_t)scalar_bits(args, i, HBG_I64, HBG_I32); }

/* ---- reading data ------------------------------------------------------------------------------------------------ */

/* Has a submitted task written any of it? Then its value is not known yet. */
static bool check_not_written(struct hbg_graph *g, const struct hbg__access *access)
{
    uint32_t task;
    if (!hbg__written_by(g, access, &task)) return false;
    if (task == HBG__NIL) return true;
    if (g->manual && task == g->manual_begin - 1)
        hbg__graph_fail(g, HBG_E_WRITTEN, -1, "hbg_read", "build code reads what a task of the open manual scope writes, after task %u", task);
    else
        hbg__graph_fail(g, HBG_E_WRITTEN, -1, "hbg_read", "build code reads what task %u writes; its value is not known before the run", task);
    g->error.task = task;
    return false;
}

/* Runs in flight are done with what is about to be read; false: latched. */
static bool settle(struct hbg_graph *g, struct hbg_buffer *buffer, const void *memory, uint64_t size_bytes, const char *call)
{
    const struct hbg__buffer_ops *ops = &g->input->buffers;
    struct hbg_error error = { .size = sizeof error };
    if (!ops->reader || (buffer && buffer == g->settled)) return true;
    enum hbg_status status = ops->settle(ops->reader, buffer, memory, size_bytes, true, &error);
    if (status) hbg__graph_fail(g, status, -1, call, "%s: %s", call, error.text);
    else if (buffer) g->settled = buffer;
    return !status;
}

/* Where the bytes of a boundary region lie in its group; false: latched. */
static bool find_readable(struct hbg_graph *g, const struct hbg_region *x, struct hbg__access *access, const struct hbg__storage **storage,
                          int64_t *off)
{
    bool open = g->task_count == 0 || hbg__repeat_forbid(g);     /* whether a task has written it is not known of calls that are only compared */
    const struct hbg__storage *s = g->failed || !open ? NULL : hbg__storage_of(g, x, -1);
    if (!s) {
        hbg__graph_say_who(g, "hbg_read", "the region of hbg_read");
        return false;
    }
    if (s->group == UINT32_MAX) {
        hbg__graph_fail(g, HBG_E_ACCESS, -1, "hbg_read", "build code can read boundary arguments only; this is %s",
                        s->base == HBG__BASE_HEAP ? "an intermediate" : "a device buffer that is no argument");
        return false;
    }
    uint32_t index = hbg__storage_index(g, s);
    *off = x->offset_bytes + g->input->boundary.arg[index].displacement;
    if (!hbg__hazard_look(g, s->home, x->offset_bytes + s->displacement, x, access)) {
        hbg__graph_say_who(g, "hbg_read", "the region of hbg_read");
        return false;
    }
    *storage = &g->storages[index];
    if (access->place == HBG__ACCESS_NONE) return true;
    struct hbg_buffer *buffer = g->input->boundary.group[s->group].buffer;
    return check_not_written(g, access) && (!buffer || settle(g, buffer, NULL, 0, "hbg_read"));
}

/* Copy [offset, offset + size) of a boundary group to the host; false: the device failed. */
static bool fetch(const struct hbg__boundary_group *group, const struct hbg__buffer_ops *ops, uint64_t offset, void *target, uint64_t size)
{
    if (!group->host) return ops->read(ops->user, group->buffer, offset, target, size);
    memcpy(target, group->host + offset, size);
    return true;
}

struct copy_block { struct copy_block *next; size_t size_bytes, unused; };

/* Bytes that live until the build returns: a spare block that is large enough, or a new one. NULL: latched. */
static unsigned char *copy_take(struct hbg_graph *g, size_t size)
{
    struct copy_block **link = &g->spare_copies;
    while (*link && (*link)->size_bytes < size) link = &(*link)->next;
    struct copy_block *block = *link;
    if (block) {
        *link = block->next;
    } else {
        block = hbg__alloc(g->memory, sizeof *block + size, 16);
        if (!block) { hbg__graph_fail_memory(g, "hbg_read"); return NULL; }
        block->size_bytes = size;
    }
    block->next = g->lent_copies;
    g->lent_copies = block;
    return (unsigned char *)(block + 1);
}

void hbg__read_copies_return(struct hbg_graph *g)
{
    while (g->lent_copies) {
        struct copy_block *block = g->lent_copies;
        g->lent_copies = block->next;
        block->next = g->spare_copies;
        g->spare_copies = block;
    }
}

void hbg__read_copies_free(struct hbg_graph *g)
{
    hbg__read_copies_return(g);
    while (g->spare_copies) {
        struct copy_block *block = g->spare_copies;
        g->spare_copies = block->next;
        hbg__free(g->memory, block, sizeof *block + block->size_bytes, 16);
    }
}

/* The first dimension from which on the elements lie in row-major order without a gap. */
static int row_major_from(const struct hbg_region *x)
{
    int64_t bytes = hbg_dtype_size(x->dtype);
    int outer = x->rank;
    while (outer > 0 && (x->stride_bytes[outer - 1] == bytes || x->shape[outer - 1] == 1)) bytes *= x->shape[--outer];
    return outer;
}

/* All elements in row-major order, each fetched and guarded; runs of the innermost dimension go at once. */
static bool gather_elements(struct hbg_graph *g, const struct hbg_region *x, uint32_t group, int64_t off, unsigned char *target)
{
    const struct hbg__boundary_group *source = &g->input->boundary.group[group];
    int64_t element = hbg_dtype_size(x->dtype), run = 1, index[HBG_RANK_MAX] = { 0 };
    int outer = row_major_from(x);
    for (int d = outer; d < x->rank; d++) run *= x->shape[d];
    for (;;) {
        int64_t at = off;
        for (int d = 0; d < outer; d++) at += index[d] * x->stride_bytes[d];
        uint64_t bytes = (uint64_t)(run * element);
        if (!fetch(source, &g->input->buffers, (uint64_t)at, target, bytes)) {
            hbg__graph_fail(g, HBG_E_DEVICE, -1, "hbg_read", "the device could not be read");
            return false;
        }
        if (!guard_bytes(g, (struct hbg__guard){ HBG__GUARD_BYTES, group, (uint64_t)at, bytes, 0, NULL }, target)) return false;
        target += bytes;
        int d = outer - 1;
        for (; d >= 0; d--) {
            if (++index[d] < x->shape[d]) break;
            index[d] = 0;
        }
        if (d < 0) return true;
    }
}

/* In a body: each run of bytes is read, and guarded, by the build around, as part of the argument that it lies in. */
static bool gather_outside(struct hbg_graph *g, const struct hbg_region *x, uint32_t position, unsigned char *target, const void **whole)
{
    const struct hbg__body *body = g->input->body;
    const struct hbg_region *given = &body->arg[position].u.region;
    int64_t run = hbg_dtype_size(x->dtype), index[HBG_RANK_MAX] = { 0 };
    int outer = row_major_from(x);
    for (int d = outer; d < x->rank; d++) run *= x->shape[d];
    for (;;) {
        struct hbg_region bytes = { .storage = given->storage, .flags = given->flags, .dtype = HBG_U8, .rank = 1, .shape = { run }, .stride_bytes = { 1 } };
        int64_t at = x->offset_bytes;
        for (int d = 0; d < outer; d++) at += index[d] * x->stride_bytes[d];
        bytes.offset_bytes = given->offset_bytes + at;
        const void *seen = hbg__graph_read(body->outer, bytes);
        if (!seen) return hbg__fail_as(g, body->outer);
        if (!guard_bytes(g, (struct hbg__guard){ HBG__GUARD_BYTES, position, (uint64_t)at, (uint64_t)run, 0, NULL }, seen)) return false;
        *whole = seen;
        if (outer == 0) return true;
        memcpy(target, seen, (size_t)run);
        target += run;
        int d = outer - 1;
        for (; d >= 0; d--) {
            if (++index[d] < x->shape[d]) break;
            index[d] = 0;
        }
        if (d < 0) return true;
    }
}

static HBG_COLD bool fail_written_in_body(struct hbg_graph *g)
{
    hbg__graph_fail(g, HBG_E_WRITTEN, -1, "hbg_read", "build code reads what a task of this body may write; its value is not known before the run");
    return false;
}

static const void *read_outside(struct hbg_graph *g, const struct hbg_region *x, uint32_t position, int64_t bytes)
{
    const void *whole = NULL;
    if (!g->single && g->storages[g->storages[position].home].flags & HBG__STORAGE_WHOLES) g->single = "it reads data beside arguments whose distances change";
    unsigned char *target = row_major_from(x) ? copy_take(g, (size_t)bytes) : NULL;
    if (row_major_from(x) && !target) return NULL;
    if (hbg__written_by_another_name(g, &g->storages[position], x) && !fail_written_in_body(g)) return NULL;
    if (!gather_outside(g, x, position, target, &whole)) return NULL;
    return target ? target : whole;
}

/* A region of the build around: what it is before the run is for that build to say, unless the body has written it. */
static const void *read_captured(struct hbg_graph *g, struct hbg_region x)
{
    const struct hbg__storage *s = hbg__storage_of(g, &x, -1);
    if (!s) return NULL;
    if ((s->writer | s->part_writer) || hbg__written_by_another_name(g, s, &x)) {
        fail_written_in_body(g);
        return NULL;
    }
    const void *seen = hbg__graph_read(g->input->body->outer, x);
    if (!seen) (void)hbg__fail_as(g, g->input->body->outer);
    return seen;
}

const void *hbg_read(struct hbg_graph *g, struct hbg_region x)
{
    if (!g) return NULL;
    hbg__graph_looked_into(g);
    return hbg__graph_read(g, x);
}

const void *hbg__graph_read(struct hbg_graph *g, struct hbg_region x)
{
    static const uint64_t nothing[2];
    struct hbg__access access;
    const struct hbg__storage *s;
    int64_t off, bytes = hbg_dtype_size(x.dtype);
    if (hbg__is_captured(g, &x)) return read_captured(g, x);
    if (!find_readable(g, &x, &access, &s, &off)) return NULL;
    if (access.place == HBG__ACCESS_NONE) return nothing;
    for (int d = 0; d < x.rank; d++) {
        if (!__builtin_mul_overflow(bytes, x.shape[d], &bytes)) continue;
        hbg__graph_fail(g, HBG_E_REGION, -1, "hbg_read", "hbg_read: the region has more bytes than 63 bits can number");
        return NULL;
    }
    if (g->input->body) return read_outside(g, &x, hbg__storage_index(g, s), bytes);
    const unsigned char *host = g->input->boundary.group[s->group].host;
    if (host && row_major_from(&x) == 0) {                  /* it lies there as it is wanted */
        struct hbg__guard guard = { HBG__GUARD_BYTES, s->group, (uint64_t)off, (uint64_t)bytes, 0, NULL };
        return guard_bytes(g, guard, host + off) ? host + off : NULL;
    }
    unsigned char *copy = copy_take(g, (size_t)bytes);
    return copy && gather_elements(g, &x, s->group, off, copy) ? copy : NULL;
}

/* What does not fit: the region itself, its type, the number of indices, or one of them. */
static HBG_COLD void fail_index(struct hbg_graph *g, const struct hbg_region *x, const struct hbg_shape *index)
{
    char type[32];
    int d = 0;
    hbg__signature_text_of_arg(&(struct hbg_arg){ .kind = HBG_ARG_SCALAR, .dtype = x->dtype }, type);
    if (x->flags & HBG_REGION_BAD) {
        if (!hbg__storage_of(g, x, -1)) hbg__graph_say_who(g, "hbg_read_i32", "the region of hbg_read_i32");
    } else if (x->dtype != HBG_I32) {
        hbg__graph_fail(g, HBG_E_REGION, -1, "hbg_read_i32", "hbg_read_i32 of a region of %s; it reads i32", type);
    } else if (index->rank != x->rank || x->rank > HBG_RANK_MAX) {
        hbg__graph_fail(g, HBG_E_REGION, -1, "hbg_read_i32", "hbg_read_i32 with %d %s of a region of rank %u", index->rank, index->rank == 1 ? "index" : "indices", x->rank);
    } else {
        while (d + 1 < x->rank && index->dim[d] >= 0 && index->dim[d] < x->shape[d]) d++;
        hbg__graph_fail(g, HBG_E_REGION, -1, "hbg_read_i32", "hbg_read_i32: index %lld of dimension %d, which has %lld",
                        (long long)index->dim[d], d, (long long)x->shape[d]);
    }
}

int32_t hbg_read_i32(struct hbg_graph *g, struct hbg_region x, struct hbg_shape index)
{
    struct hbg__access access;
    const struct hbg__storage *s;
    int64_t off;
    int32_t value = 0;
    if (!g || g->failed) return 0;
    bool fits = index.rank == x.rank && x.rank <= HBG_RANK_MAX && x.dtype == HBG_I32;
    for (int d = 0; fits && d < x.rank; d++) {
        fits = index.dim[d] >= 0 && index.dim[d] < x.shape[d];
        x.offset_bytes += index.dim[d] * x.stride_bytes[d];
    }
    if (!fits) {
        fail_index(g, &x, &index);
        return 0;
    }
    x.rank = 0;
    hbg__graph_looked_into(g);
    if (g->input->body) {
        const void *seen = hbg__graph_read(g, x);
        if (seen) memcpy(&value, seen, sizeof value);
        return value;
    }
    if (!find_readable(g, &x, &access, &s, &off)) return 0;
    return gather_elements(g, &x, s->group, off, (unsigned char *)&value) ? value : 0;
}

void hbg_guard(struct hbg_graph *g, const void *data, size_t size_bytes)
{
    if (!g || g->failed) return;
    if (!data && size_bytes) {
        hbg__graph_fail(g, HBG_E_NULL, -1, "hbg_guard", "hbg_guard: NULL for %zu byte%s", size_bytes, hbg__s(size_bytes));
        return;
    }
    hbg__graph_looked_into(g);
    (void)hbg__graph_guard(g, data, size_bytes);
}

bool hbg__graph_guard(struct hbg_graph *g, const void *data, size_t size_bytes)
{
    const struct hbg__body *body = g->input->body;
    if (body && !hbg__graph_guard(body->outer, data, size_bytes)) return hbg__fail_as(g, body->outer);
    return (body || settle(g, NULL, data, size_bytes, "hbg_guard")) &&
           guard_bytes(g, (struct hbg__guard){ HBG__GUARD_MEMORY, 0, 0, size_bytes, 0, data }, data);
}

/* ---- checking guards --------------------------------------------------------------------------------------------- */

/* True, and said, where there is something. */
static bool missed(struct hbg__miss *miss, uint32_t arg, const char *what)
{
    miss->what = what;
    miss->arg = arg;
    return what != NULL;
}

static const char *changed_arg(const struct hbg__boundary_arg *was, const struct hbg__boundary_arg *is)
{
    if (was->arg.kind != is->arg.kind) return "its access mode";
    if (was->group != is->group) return "which others share its storage";
    if (was->group == UINT32_MAX) return was->arg.dtype == is->arg.dtype ? NULL : "its type";
    if ((was->arg.u.region.flags ^ is->arg.u.region.flags) & HBG_REGION_READ_ONLY) return "its access mode";
    return hbg__same_looks(&was->arg.u.region, &is->arg.u.region) ? NULL : "its shape, strides or type";
}

static bool names_buffer(const struct hbg__recording *r, const struct hbg_buffer *buffer)
{
    for (uint32_t i = 0; buffer && i < r->named_count; i++)
        if (r->named[i].buffer == buffer) return true;
    return false;
}

/* the first argument that lies in the group */
static uint32_t arg_of_group(const struct hbg__boundary *b, uint32_t group)
{
    for (uint32_t i = 0; i < b->arg_count; i++)
        if (b->arg[i].group == group) return i;
    return HBG__NO_ARG;
}

/* Arguments of one group keep the distances between them, and their places in a buffer that the build names itself; such buffers stay
   those, and no others. */
static bool changed_groups(const struct hbg__recording *r, const struct hbg__boundary *b, struct hbg__miss *miss)
{
    const struct hbg__guards *guards = r->guards;
    for (uint32_t i = 0; i < b->arg_count; i++) {
        if (b->arg[i].group == UINT32_MAX) continue;
        for (uint32_t j = 0; j < i; j++)
            if (b->arg[j].group == b->arg[i].group && b->arg[i].displacement - b->arg[j].displacement !=
                guards->arg[i].displacement - guards->arg[j].displacement) return missed(miss, i, "its distance from others in its storage");
        if (b->arg[i].displacement != guards->arg[i].displacement && names_buffer(r, b->group[b->arg[i].group].buffer))
            return missed(miss, i, "its place in a buffer which the build names");
    }
    for (uint32_t k = 0; k < b->group_count; k++) {
        const struct hbg_buffer *was = guards->group[k].buffer, *is = b->group[k].buffer;
        if (was != is && (names_buffer(r, was) || names_buffer(r, is))) return missed(miss, arg_of_group(b, k), "its buffer, one which the build names");
    }
    return false;
}

bool hbg__boundary_is_same(const struct hbg__recording *recording, const struct hbg__boundary *b)
{
    const struct hbg__guards *guards = recording->guards;
    for (uint32_t i = 0; i < b->arg_count; i++)
        if (b->arg[i].displacement != guards->arg[i].displacement) return false;
    for (uint32_t k = 0; k < b->group_count; k++)
        if (b->group[k].buffer != guards->group[k].buffer || b->group[k].buffer_handle != guards->group[k].buffer_handle) return false;
    return true;
}

static bool shares_storage(const struct hbg__boundary *b)
{
    uint32_t regions = 0;
    for (uint32_t i = 0; i < b->arg_count; i++) regions += b->arg[i].group != UINT32_MAX;
    return regions != b->group_count;
}

static bool same_bytes(const struct hbg__guards *guards, const struct hbg__guard *guard, const struct hbg__boundary *b,
                       const struct hbg__buffer_ops *ops)
{
    const unsigned char *was = guards->bytes + guard->copy;
    const struct hbg__boundary_group *group = &b->group[guard->group];
    int64_t moved = 0;
    for (uint32_t i = 0; i < b->arg_count; i++)     /* where the group's arguments lie in it now */
        if (b->arg[i].group == guard->group) { moved = b->arg[i].displacement - guards->arg[i].displacement; break; }
    uint64_t offset = guard->offset + (uint64_t)moved;
    if (group->host) return memcmp(group->host + offset, was, guard->size_bytes) == 0;
    for (uint64_t done = 0; done < guard->size_bytes;) {
        unsigned char now[1024];
        uint64_t size = guard->size_bytes - done < sizeof now ? guard->size_bytes - done : sizeof now;
        if (!fetch(group, ops, offset + done, now, size) || memcmp(now, was + done, size) != 0) return false;
        done += size;
    }
    return true;
}

/* Must the comparison wait for a run in flight? Then the miss says for what. *settled is a buffer that was found free of such runs. */
static bool is_busy(const struct hbg__guard *guard, const struct hbg__boundary *b, const struct hbg__buffer_ops *ops, struct hbg_buffer **settled,
                    struct hbg__miss *miss)
{
    if (!ops->reader || guard->kind == HBG__GUARD_VALUE) return false;
    struct hbg_buffer *buffer = guard->kind == HBG__GUARD_BYTES ? b->group[guard->group].buffer : NULL;
    if (guard->kind == HBG__GUARD_BYTES && (!buffer || buffer == *settled)) return false;      /* arguments of the host have passed the gate */
    if (ops->settle(ops->reader, buffer, guard->memory, guard->size_bytes, false, NULL)) {
        miss->busy = (struct hbg__busy){ buffer, guard->memory, guard->size_bytes };
        return true;
    }
    *settled = buffer;
    return false;
}

static bool changed_value(const struct hbg__guards *guards, const struct hbg__boundary *b, const struct hbg__buffer_ops *ops, struct hbg__miss *miss)
{
    struct hbg_buffer *settled = NULL;
    for (uint32_t i = 0; i < guards->count; i++) {
        const struct hbg__guard *guard = &guards->item[i];
        if (HBG_UNLIKELY(is_busy(guard, b, ops, &settled, miss))) return missed(miss, HBG__NO_ARG, "data of a run in flight");
        if (guard->kind == HBG__GUARD_VALUE && b->arg[guard->group].arg.u.bits != guard->offset)
            return missed(miss, guard->group, "its value, which the build looked at");
        if (guard->kind == HBG__GUARD_BYTES && !same_bytes(guards, guard, b, ops))
            return missed(miss, arg_of_group(b, guard->group), "data in its storage that the build read");
        if (guard->kind == HBG__GUARD_MEMORY && memcmp(guard->memory, guards->bytes + guard->copy, guard->size_bytes) != 0)
            return missed(miss, HBG__NO_ARG, "memory named by hbg_guard");
    }
    return false;
}

bool hbg__boundary_holds(const struct hbg__recording *recording, const struct hbg__boundary *boundary, struct hbg__miss *miss)
{
    const struct hbg__guards *guards = recording->guards;
    if (!guards || guards->arg_count != boundary->arg_count) return !missed(miss, HBG__NO_ARG, "the number of arguments");
    for (uint32_t i = 0; i < boundary->arg_count; i++)      /* their groups are the same ones then, and as many */
        if (missed(miss, i, changed_arg(&guards->arg[i], &boundary->arg[i]))) return false;
    return !((shares_storage(boundary) || recording->named_count) && changed_groups(recording, boundary, miss));
}

bool hbg__recording_holds(const struct hbg__recording *recording, const struct hbg__boundary *boundary,
                          const struct hbg__buffer_ops *buffers, struct hbg__miss *miss)
{
    miss->busy = (struct hbg__busy){ NULL, NULL, 0 };
    if (!recording->head) return !missed(miss, HBG__NO_ARG, "the number of arguments");
    return hbg__boundary_holds(recording, boundary, miss) && !changed_value(recording->guards, boundary, buffers, miss);
}
