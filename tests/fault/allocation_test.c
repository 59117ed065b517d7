/* SPDX-License-Identifier: Apache-2.0 */
/* allocation_test.c - each allocation of a whole life fails once, in turn: the call that needed it says HBG_E_NO_MEMORY, the device
 * works afterwards, and every block comes back as it was asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/allocator.h"
#include "support/devices.h"
#include "support/whole_life.h"

static struct whole_life life_on(const char *spec, struct test_allocator *memory, struct hbg_allocator *ops)
{
    *ops = test_allocator_ops(memory);
    return (struct whole_life){ .spec = spec, .allocator = ops };
}

static void all_came_back(const struct test_allocator *memory)
{
    assert_int_equal(atomic_load(&memory->live), 0);
    assert_int_equal(atomic_load(&memory->wrong), 0);
}

static void every_allocation_fails_once(struct hbg_device *unused, const struct device_kind *kind)
{
    struct test_allocator counting = TEST_ALLOCATOR;
    struct hbg_allocator ops;
    struct whole_life life = life_on(kind->spec, &counting, &ops);
    (void)unused;
    assert_true(whole_life(&life));
    if (life.status) fail_msg("%s: %s: %s", life.call, hbg_status_name(life.status), life.error.text);
    all_came_back(&counting);
    int calls = atomic_load(&counting.calls);
    assert_true(calls > 50);
    for (int i = 0; i < calls; i++) {
        struct test_allocator failing = TEST_ALLOCATOR;
        test_allocator_fail(&failing, i, 1);
        life = life_on(kind->spec, &failing, &ops);
        assert_true(whole_life(&life));
        if (life.status != HBG_E_NO_MEMORY || life.after || life.close || (life.error.size && life.error.status != HBG_E_NO_MEMORY))
            fail_msg("with allocation %d of %d failing, %s: %s, error %s: \"%s\"; the next run: %s, the close: %s", i, calls, life.call, hbg_status_name(life.status),
                     hbg_status_name(life.error.status), life.error.text, hbg_status_name(life.after), hbg_status_name(life.close));
        all_came_back(&failing);
    }
}

/* From some allocation on there is nothing more: no call works any more, and yet all is given back. */
static void memory_runs_out(struct hbg_device *unused, const struct device_kind *kind)
{
    struct test_allocator counting = TEST_ALLOCATOR;
    struct hbg_allocator ops;
    struct whole_life life = life_on(kind->spec, &counting, &ops);
    (void)unused;
    assert_true(whole_life(&life));
    for (int i = 0; i < atomic_load(&counting.calls); i++) {
        struct test_allocator failing = TEST_ALLOCATOR;
        test_allocator_fail(&failing, i, INT_MAX);
        life = life_on(kind->spec, &failing, &ops);
        assert_true(whole_life(&life));
        assert_int_equal(life.status, HBG_E_NO_MEMORY);
        assert_true(life.after == HBG_OK || life.after == HBG_E_NO_MEMORY);
        assert_int_equal(life.close, HBG_OK);
        all_came_back(&failing);
    }
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(every_allocation_fails_once), DEVICE_TEST(memory_runs_out) };
    return DEVICE_TESTS_RUN(tests);
}
