/* SPDX-License-Identifier: Apache-2.0 */
/* allocator.h - an allocator to hand in: it counts, fails where it is told to, and notices a block that comes back with another size
 * or alignment than it was asked with.
 *
 *     struct test_allocator memory = TEST_ALLOCATOR;
 *     options.allocator = test_allocator_ops(&memory);
 *     test_allocator_fail(&memory, 3, 1);      the fourth call from now on gets nothing
 *     ..
 *     memory.live and memory.wrong are 0 when all went well
 *
 * Calls may come from any thread; it is told to fail while none does.
 */
#ifndef HBG_TEST_ALLOCATOR_H
#define HBG_TEST_ALLOCATOR_H

#include <limits.h>
#include <stdatomic.h>

#include <hbg/hbg.h>

struct test_allocator {
    atomic_int calls, live, wrong, refused;
    int fail_from, fail_until;          /* numbers of calls, from 0: [fail_from, fail_until) get nothing */
};
#define TEST_ALLOCATOR { .fail_from = INT_MAX, .fail_until = INT_MAX }

struct hbg_allocator test_allocator_ops(struct test_allocator *a);

/* Of the calls from now on the first `good` work, and `count` after them fail; INT_MAX: all. */
void test_allocator_fail(struct test_allocator *a, int good, int count);

#endif /* HBG_TEST_ALLOCATOR_H */
