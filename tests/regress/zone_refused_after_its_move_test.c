/* SPDX-License-Identifier: Apache-2.0 */
/* zone_refused_after_its_move_test.c - a zone that had moved to more address space, and then was refused the pages there, kept the
 * address of before, which was gone: the next run on it crashed.
 *
 * wraps: mprotect
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/option.h"
#include "platform/platform.h"

static int allowed = -1;                /* calls until one is refused; -1: all are granted */

int __real_mprotect(void *address, size_t size, int protection);
int __wrap_mprotect(void *address, size_t size, int protection);
int __wrap_mprotect(void *address, size_t size, int protection)
{
    if (allowed == 0) return -1;
    if (allowed > 0) allowed--;
    return __real_mprotect(address, size, protection);
}

static struct hbg__memory memory;
static struct hbg__log quiet;

static void the_zone_is_where_it_says(void **state)
{
    enum { SMALL = 4096, LARGE = 4 << 20 };
    const struct hbg__platform_ops *ops = &hbg__cpu_ops;
    struct hbg__option_set set;
    struct hbg__platform_context context = { .memory = &memory, .log = &quiet, .reserve_bytes = 65536 };
    (void)state;
    for (int calls = 0; calls < 2; calls++) {
        struct hbg__platform *platform = NULL;
        struct hbg__zone zone = { 0 };
        assert_true(hbg__option_parse(&set, "cpu:workers=1"));
        assert_int_equal(ops->open(&set, &context, &platform), HBG_OK);
        assert_int_equal(ops->zone_fit(platform, &zone, SMALL), HBG_OK);
        uint64_t size = zone.size_bytes;
        memset((void *)(uintptr_t)zone.address, 7, size);
        allowed = calls;                /* 0: the move itself is refused, 1: the pages after it */
        assert_int_equal(ops->zone_fit(platform, &zone, LARGE), HBG_E_NO_MEMORY);
        allowed = -1;
        assert_int_equal(zone.size_bytes, size);
        for (uint64_t i = 0; i < size; i++) assert_int_equal(((unsigned char *)(uintptr_t)zone.address)[i], 7);
        memset((void *)(uintptr_t)zone.address, 8, size);
        assert_int_equal(ops->zone_fit(platform, &zone, LARGE), HBG_OK);
        ops->zone_close(platform, &zone);
        ops->close(platform);
    }
}

int main(void)
{
    assert_true(hbg__memory_init(&memory, NULL));
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_zone_is_where_it_says) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
