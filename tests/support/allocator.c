/* SPDX-License-Identifier: Apache-2.0 */
/* allocator.c - see allocator.h. A block stands behind what was asked for it, at a distance of its alignment, at least 32 bytes. */
#include "support/allocator.h"

#include <stdlib.h>
#include <string.h>

struct asked { size_t size_bytes, align_bytes; };
enum { ROOM = 32 };

static size_t distance(size_t align_bytes) { return align_bytes > ROOM ? align_bytes : ROOM; }

static void *give(void *user, size_t size_bytes, size_t align_bytes)
{
    struct test_allocator *a = user;
    int call = atomic_fetch_add(&a->calls, 1);
    void *whole = NULL;
    if (call >= a->fail_from && call < a->fail_until) {
        atomic_fetch_add(&a->refused, 1);
        return NULL;
    }
    if (size_bytes > PTRDIFF_MAX / 2 || posix_memalign(&whole, distance(align_bytes), distance(align_bytes) + size_bytes) != 0) return NULL;
    unsigned char *block = (unsigned char *)whole + distance(align_bytes);
    memcpy(block - sizeof(struct asked), &(struct asked){ size_bytes, align_bytes }, sizeof(struct asked));
    atomic_fetch_add(&a->live, 1);
    return block;
}

static void take(void *user, void *block, size_t size_bytes, size_t align_bytes)
{
    struct test_allocator *a = user;
    struct asked asked;
    memcpy(&asked, (unsigned char *)block - sizeof asked, sizeof asked);
    if (asked.size_bytes != size_bytes || asked.align_bytes != align_bytes) atomic_fetch_add(&a->wrong, 1);
    atomic_fetch_sub(&a->live, 1);
    free((unsigned char *)block - distance(asked.align_bytes));
}

struct hbg_allocator test_allocator_ops(struct test_allocator *a) { return (struct hbg_allocator){ give, take, a }; }

void test_allocator_fail(struct test_allocator *a, int good, int count)
{
    a->fail_from = atomic_load(&a->calls) + good;
    a->fail_until = count > INT_MAX - a->fail_from ? INT_MAX : a->fail_from + count;
}
