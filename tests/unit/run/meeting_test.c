/* SPDX-License-Identifier: Apache-2.0 */
/* meeting_test.c - the pairs of arguments that meet, found through sorted lists, against every pair looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/rng.h"
#include "graph/region_overlap.h"
#include "run/meeting.h"

enum { MOST = 80, ROUNDS = 3000 };

static struct hbg__memory memory;

static int set_up(void **state)
{
    (void)state;
    return hbg__memory_init(&memory, NULL) ? 0 : -1;
}

static struct hbg__touch range(uint32_t position, int64_t lo, int64_t run, bool reads)
{
    return (struct hbg__touch){ .view = { .lo = lo, .run = run }, .end = lo + run, .position = position, .reads = reads };
}

/* without gaps, or some runs apart from each other */
static struct hbg__touch any_touch(struct hbg__rng *rng, uint32_t position, uint64_t room, bool gaps)
{
    struct hbg__touch t = range(position, (int64_t)(hbg__rng_next(rng) % room), 1 + (int64_t)(hbg__rng_next(rng) % 12), hbg__rng_next(rng) % 2);
    if (!gaps || hbg__rng_next(rng) % 3) return t;
    t.view.rank = 1;
    t.view.count[0] = 2 + (int64_t)(hbg__rng_next(rng) % 5);
    t.view.stride[0] = t.view.run + 1 + (int64_t)(hbg__rng_next(rng) % 9);
    t.end = hbg__view_end(&t.view);
    return t;
}

static struct hbg__meeting every_pair(const struct hbg__touch *a, uint32_t m, const struct hbg__touch *b, uint32_t n)
{
    struct hbg__meeting meeting = { 0 };
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j < n; j++) {
            if ((a[i].reads && b[j].reads) || hbg__view_overlap(&a[i].view, &b[j].view) == HBG__DISJOINT) continue;
            if (meeting.pair_count++) continue;
            meeting.mine = a[i].position;
            meeting.theirs = b[j].position;
        }
    }
    return meeting;
}

static void the_same_as_every_pair(void **state)
{
    struct hbg__touch a[MOST], b[MOST];
    struct hbg__rng rng;
    uint32_t large = 0;
    (void)state;
    hbg__rng_seed(&rng, 7);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t m = (uint32_t)(hbg__rng_next(&rng) % MOST), n = (uint32_t)(hbg__rng_next(&rng) % MOST);
        uint64_t room = round % 2 ? 3000 : 90;              /* few meet, or nearly all */
        for (uint32_t i = 0; i < m; i++) a[i] = any_touch(&rng, 3 * i, room, round % 3);
        for (uint32_t j = 0; j < n; j++) b[j] = any_touch(&rng, 2 * j + 1, room, round % 3);
        struct hbg__meeting found, all = every_pair(a, m, b, n);
        hbg__meeting_find(&memory, a, m, b, n, &found);
        assert_int_equal(found.pair_count, all.pair_count);
        assert_int_equal(found.mine, all.mine);
        assert_int_equal(found.theirs, all.theirs);
        large += m * n > 1000 && all.pair_count > 0;
    }
    assert_true(large > ROUNDS / 4);
    assert_int_equal(hbg__memory_live_bytes(&memory), 0);
}

/* As many as a task may have. Every pair would be 4e9 of them; the limit is far from both. */
static void large_tasks(void **state)
{
    enum { N = 65535 };
    struct hbg__touch *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b);
    struct hbg__meeting found;
    clock_t begin = clock();
    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    for (uint32_t i = 0; i < N; i++) {
        a[i] = range(i, 8 * (int64_t)i, 8, false);
        b[i] = range(i, 8 * (int64_t)(N - 1 - i), 8, true);
    }
    hbg__meeting_find(&memory, a, N, b, N, &found);
    assert_int_equal(found.pair_count, N);
    assert_int_equal(found.mine, 0);
    assert_int_equal(found.theirs, N - 1);
    for (uint32_t i = 0; i < N; i++) a[i] = b[i] = range(i, 0, 8, false);
    hbg__meeting_find(&memory, a, N, b, N, &found);
    assert_int_equal(found.pair_count, (uint32_t)N * N);
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_same_as_every_pair), cmocka_unit_test(large_tasks) };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
