/* SPDX-License-Identifier: Apache-2.0 */
/* replay_kernels.c - the kernels of the shapes: those that do nothing, and those that take digests (replay_check.h). */
#include "workloads/shapes/replay_check.h"

#include <stdatomic.h>

static int nothing(const struct hbg_task_view *t)
{
    (void)t;
    return 0;
}

/* ---- digests ---- */

enum { ELEMENT_BYTES = 4 };             /* of f32 and of i32: there are no others */

/* Of a kernel, and what it is given as its user pointer. */
struct checked { const char *name, *signature; };

/* How many tasks of the run that executes have begun. `sample`, which comes after all others, takes it back to 0.
   Relaxed: the order of the tasks is that of their edges, and no other data hangs on it. */
static _Atomic uint32_t begun;

/* where element i of a region stands, row by row */
static unsigned char *element(const struct hbg_task_view *t, int argument, int64_t i)
{
    const struct hbg_layout *l = hbg_view_layout(t, argument);
    int64_t offset = 0;
    if (l->contiguous) return HBG_VIEW(unsigned char, t, argument) + i * ELEMENT_BYTES;
    for (int d = l->rank - 1; d >= 0; d--) {
        offset += i % l->shape[d] * l->stride_bytes[d];
        i /= l->shape[d];
    }
    return HBG_VIEW(unsigned char, t, argument) + offset;
}

static void read_argument(const struct hbg_task_view *t, int argument, struct replay_digest *d)
{
    uint32_t bits;
    for (int64_t i = 0; i < hbg_view_count(t, argument); i++) {
        memcpy(&bits, element(t, argument, i), sizeof bits);
        replay_digest_add(d, bits);
    }
}

static void write_argument(const struct hbg_task_view *t, int argument, struct replay_digest *d)
{
    for (int64_t i = 0; i < hbg_view_count(t, argument); i++) {
        float value = replay_digest_next(d);
        memcpy(element(t, argument, i), &value, sizeof value);
    }
}

/* of the argument that the rest of a signature begins with */
static bool is_mode(const char *rest, const char *mode) { return strncmp(rest, mode, strlen(mode)) == 0; }
static bool is_region(const char *rest) { return is_mode(rest, "in ") || is_mode(rest, "out ") || is_mode(rest, "inout "); }

static const char *next_argument(const char *rest)
{
    rest = strchr(rest, ',');
    return rest ? rest + strspn(rest, ", ") : NULL;
}

/* all arguments are read in their order, then those written that are */
static int digest(const struct hbg_task_view *t)
{
    const struct checked *kernel = t->user;
    struct replay_digest d = replay_digest_begin(kernel->name);
    int argument = 0;
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
    for (const char *rest = kernel->signature; rest; rest = next_argument(rest), argument++) {
        if (!is_region(rest)) replay_digest_add(&d, hbg_view_u32(t, argument));
        else if (!is_mode(rest, "out ")) read_argument(t, argument, &d);
    }
    argument = 0;
    for (const char *rest = kernel->signature; rest; rest = next_argument(rest), argument++)
        if (is_mode(rest, "out ") || is_mode(rest, "inout ")) write_argument(t, argument, &d);
    return 0;
}

/* in logits, which are a result themselves, out how many tasks ran */
static int count_tasks(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 1) = (int32_t)atomic_exchange_explicit(&begun, 0, memory_order_relaxed) + 1;
    return 0;
}

/* ---- tables ---- */

#define EMPTY(place, text, expected) { .id = (place), .name = (text), .run = nothing, .signature = (expected) },
#define CHECKED(place, text, expected) { (text), (expected) },
#define CHECK(place, text, expected)                                                                                                      \
    { .id = (place), .name = (text), .signature = (expected), .user = &checked[place],                                                    \
      .run = (place) == REPLAY_SAMPLE ? count_tasks : digest },
static const struct checked checked[REPLAY_KERNELS] = { REPLAY_EACH_KERNEL(CHECKED) };
const struct hbg_kernel hbg__replay_kernels[REPLAY_KERNELS] = { REPLAY_EACH_KERNEL(EMPTY) };
const struct hbg_kernel hbg__replay_check_kernels[REPLAY_KERNELS] = { REPLAY_EACH_KERNEL(CHECK) };
