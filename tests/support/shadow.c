/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.c - see shadow.h. */
#include "support/shadow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what a task computes, on the device and on shadows ---- */

struct place {
    char *data;
    int rank;
    const int64_t *shape, *stride_bytes;
};

static uint32_t *element(const struct place *p, int64_t i, int64_t j)
{
    return (uint32_t *)(void *)(p->data + (p->rank > 0 ? i * p->stride_bytes[0] : 0) + (p->rank > 1 ? j * p->stride_bytes[1] : 0));
}

static int64_t extent(const struct place *p, int d) { return d < p->rank ? p->shape[d] : 1; }

static uint32_t digest(const struct place *p, uint32_t sum)
{
    for (int64_t i = 0; i < extent(p, 0); i++)
        for (int64_t j = 0; j < extent(p, 1); j++) sum = sum * 31 + *element(p, i, j);
    return sum;
}

static void spread(const struct place *p, uint32_t sum)
{
    for (int64_t i = 0; i < extent(p, 0); i++)
        for (int64_t j = 0; j < extent(p, 1); j++) *element(p, i, j) = sum * 7 + (uint32_t)(i * 100 + j);
}

static struct place place_of(const struct hbg_task_view *t, int a)
{
    return (struct place){ hbg_view_data(t, a), hbg_view_rank(t, a), hbg_view_shape(t, a), hbg_view_stride_bytes(t, a) };
}

/* A scalar, inputs, and the output last. */
static int mix(const struct hbg_task_view *t)
{
    int last = (int)t->arg_count - 1;
    uint32_t sum = hbg_view_u32(t, 0);
    for (int a = 1; a < last; a++) {
        struct place p = place_of(t, a);
        sum = digest(&p, sum);
    }
    struct place p = place_of(t, last);
    spread(&p, sum);
    return 0;
}

static int text(const struct hbg_task_view *t)
{
    const unsigned char *bytes = hbg_view_data(t, 0);
    uint32_t sum = 0;
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) sum = sum * 31 + bytes[i];
    struct place p = place_of(t, 1);
    spread(&p, sum);
    return 0;
}

const struct hbg_kernel shadow_kernels[SHADOW_KERNELS] = { HBG_KERNEL(SHADOW_MIX, mix, NULL), HBG_KERNEL(SHADOW_TEXT, text, NULL) };

/* ---- regions with shadows ---- */

struct both both_slice(struct both b, int d, int64_t lo, int64_t hi)
{
    return (struct both){ hbg_slice(b.region, d, lo, hi), hbg_slice(b.shadow, d, lo, hi) };
}

struct both both_cell(struct both b, struct hbg_shape shape, struct hbg_shape at)
{
    return (struct both){ hbg_cell(b.region, shape, at), hbg_cell(b.shadow, shape, at) };
}

struct both both_turned(struct both b)
{
    return (struct both){ hbg_permute(b.region, HBG_SHAPE(1, 0)), hbg_permute(b.shadow, HBG_SHAPE(1, 0)) };
}

static char pool[16384];
static size_t pool_used;

struct both both_alloc(struct hbg_graph *g, struct hbg_shape shape)
{
    struct both b = { hbg_alloc(g, HBG_I32, shape), { 0 } };
    b.shadow = hbg_host(pool + pool_used, HBG_I32, shape);
    pool_used += 512;
    if (pool_used > sizeof pool) abort();
    return b;
}

static struct place shadow_place(const struct both *b)
{
    return (struct place){ (char *)(uintptr_t)b->shadow.offset_bytes, b->shadow.rank, b->shadow.shape, b->shadow.stride_bytes };
}

/* ---- who must come before whom: bits of the shadow words that a task reads and writes ---- */

enum { MEMORY_MAX = 1024, WORDS = (MEMORY_MAX + sizeof pool) / 4, BITS = (WORDS + 63) / 64, TASKS_MAX = 160 };
struct access { uint32_t id; uint64_t reads[BITS], writes[BITS]; };
static struct access accesses[TASKS_MAX];
static uint32_t submitted;
static char *memory;                    /* of the arguments' shadows */

void shadow_begin(void *at, size_t size_bytes)
{
    if (size_bytes > MEMORY_MAX) abort();
    memory = at;
    pool_used = submitted = 0;
}

uint32_t shadow_submitted(void) { return submitted; }

static void add_bits(uint64_t *bits, const struct place *p)
{
    for (int64_t i = 0; i < extent(p, 0); i++)
        for (int64_t j = 0; j < extent(p, 1); j++) {
            char *at = (char *)element(p, i, j);
            bool pooled = at >= pool && at < pool + sizeof pool;
            size_t word = (pooled ? MEMORY_MAX + (size_t)(at - pool) : (size_t)(at - memory)) / 4;
            bits[word / 64] |= UINT64_C(1) << word % 64;
        }
}

static bool conflict(const struct access *a, const struct access *b)
{
    uint64_t both = 0;
    for (int i = 0; i < BITS; i++) both |= (a->writes[i] & (b->reads[i] | b->writes[i])) | (a->reads[i] & b->writes[i]);
    return both != 0;
}

static struct access *next_access(void)
{
    if (submitted == TASKS_MAX) abort();
    memset(&accesses[submitted], 0, sizeof accesses[submitted]);
    return &accesses[submitted++];
}

void shadow_check_order(const struct edges *edges)
{
    struct closure closure;
    closure_of_edges(&closure, edges, false);
    for (uint32_t b = 0; b < submitted; b++)
        for (uint32_t a = 0; a < b; a++)
            if (conflict(&accesses[a], &accesses[b]) && !closure_before(&closure, accesses[a].id, accesses[b].id))
                fail_msg("task %u does not wait for task %u", accesses[b].id, accesses[a].id);
    closure_free(&closure);
}

/* ---- tasks ---- */

/* out = mix(scalar, inputs), now on the shadows and later on the device. */
struct hbg_task shadow_put(struct hbg_graph *g, struct both out, uint32_t scalar, const struct both *input, int count)
{
    struct hbg_arg arg[SHADOW_INPUTS_MAX + 2];
    uint32_t sum = scalar;
    struct access *access = next_access();
    arg[0] = hbg_u32(scalar);
    for (int i = 0; i < count; i++) {
        struct place p = shadow_place(&input[i]);
        arg[1 + i] = hbg_in(input[i].region);
        sum = digest(&p, sum);
        add_bits(access->reads, &p);
    }
    arg[1 + count] = hbg_out(out.region);
    struct place p = shadow_place(&out);
    spread(&p, sum);
    add_bits(access->writes, &p);
    struct hbg_task task = hbg_submit_args(g, SHADOW_MIX, (struct hbg_arg_list){ arg, (size_t)count + 2 });
    access->id = task.id;
    return task;
}

/* The bytes come first, and no 16 of them are a whole number of units. */
void shadow_put_text(struct hbg_graph *g, struct both out, const char *words)
{
    char bytes[SHADOW_TEXT_BYTES] = { 0 };
    uint32_t sum = 0;
    memcpy(bytes, words, strlen(words));
    for (int i = 0; i < SHADOW_TEXT_BYTES; i++) sum = sum * 31 + (unsigned char)bytes[i];
    struct access *access = next_access();
    struct place p = shadow_place(&out);
    spread(&p, sum);
    add_bits(access->writes, &p);
    access->id = hbg_submit(g, SHADOW_TEXT, hbg_bytes(bytes, sizeof bytes), hbg_out(out.region)).id;
}
