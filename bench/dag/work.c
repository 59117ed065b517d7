/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - see work.h. */
#include "bench/dag/work.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, LINE = 64, MEMORY_BYTES = 64 << 20 };
_Static_assert(sizeof(atomic_uint) == sizeof(uint32_t), "stamps are plain words for those who do not look at them");

static unsigned char *memory;           /* what the body `memory` reads; made when it is first asked for, kept to the end */

static void compute(const struct work *work, uint32_t task)
{
    double x[LANES];
    for (int n = 0; n < LANES; n++) x[n] = task + n;
    for (uint64_t i = 0; i < work->length; i++)
        for (int n = 0; n < LANES; n++) x[n] = x[n] * 0.5 + 1.25;
    __asm__ volatile("" : : "r"(x) : "memory");         /* the result is wanted */
}

/* Successive tasks read successive lines. */
static void read_memory(const struct work *work, uint32_t task)
{
    uint64_t line = task * work->length % (MEMORY_BYTES / LINE), sum = 0;
    for (uint64_t i = 0; i < work->length; i++) {
        const uint64_t *word = (const void *)(memory + line * LINE);
        sum += word[0] + word[3] + word[7];
        line = (line + 1) % (MEMORY_BYTES / LINE);
    }
    __asm__ volatile("" : : "r"(sum) : "memory");
}

bool hbg__work_body(const char *name, work_body_fn **body, bool *known)
{
    bool is_memory = strcmp(name, "memory") == 0, is_compute = strcmp(name, "compute") == 0;
    *known = is_memory || is_compute || strcmp(name, "empty") == 0;
    *body = is_memory ? read_memory : is_compute ? compute : NULL;
    if (!is_memory || memory) return true;
    memory = aligned_alloc(4096, MEMORY_BYTES);
    if (memory) memset(memory, 1, MEMORY_BYTES);
    return memory != NULL;
}

bool hbg__work_open(struct work *work, const struct dag *dag)
{
    *work = (struct work){ .dag = dag, .stamp = 1, .done = calloc(dag->task_count, sizeof *work->done), .wrong = calloc(1, sizeof *work->wrong) };
    if (work->done && work->wrong) return true;
    hbg__work_close(work);
    return false;
}

void hbg__work_close(struct work *work)
{
    free(work->done);
    free(work->wrong);
    *work = (struct work){ .stamp = 1 };
}

/* ---- order ---- */

void hbg__work_check_begin(struct work *work)
{
    work->check = true;
    work->stamp++;
    *work->wrong = 0;
}

uint64_t hbg__work_check_end(struct work *work)
{
    uint64_t wrong = *work->wrong;
    for (uint32_t i = 0; i < work->dag->task_count; i++) wrong += work->done[i] != work->stamp;
    work->check = false;
    return wrong;
}

/* relaxed, all of them: that the runtime orders a producer's end before this is what is checked, and nothing here shall help it */
void hbg__work_checked(const struct work *work, uint32_t task)
{
    const struct dag *dag = work->dag;
    atomic_uint *done = (atomic_uint *)(void *)work->done, *wrong = (atomic_uint *)(void *)work->wrong;
    bool bad = task >= dag->task_count || atomic_load_explicit(&done[task], memory_order_relaxed) == work->stamp;
    for (uint32_t e = bad ? 0 : dag->first[task]; !bad && e < dag->first[task + 1]; e++)
        bad = atomic_load_explicit(&done[dag->producer[e]], memory_order_relaxed) != work->stamp;
    if (bad) atomic_fetch_add_explicit(wrong, 1, memory_order_relaxed);
    if (work->body) work->body(work, task);
    if (task < dag->task_count) atomic_store_explicit(&done[task], work->stamp, memory_order_relaxed);
}
