/* SPDX-License-Identifier: Apache-2.0 */
/* memory_test.c - device memory of `cpu`: alignment, guard pages, poison, zones, and copies of exactly the bytes of a view. */
#include "platform/transfer.h"

#include <stdarg.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/option.h"

static struct hbg__memory memory;
static struct hbg__log quiet;
static const struct hbg__platform_ops *const ops = &hbg__cpu_ops;

static struct hbg__platform *open_platform(const char *spec)
{
    struct hbg__option_set set;
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg__platform_context context = { .memory = &memory, .log = &quiet, .error = &error };
    struct hbg__platform *platform = NULL;
    assert_true(hbg__option_parse(&set, spec));
    if (ops->open(&set, &context, &platform)) fail_msg("%s", error.text);
    return platform;
}

static int at_exit_of_child(void (*touch)(unsigned char *), unsigned char *at)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        touch(at);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void write_byte(unsigned char *at) { *(volatile unsigned char *)at = 1; }

static void guards_surround_discrete_memory(void **state)
{
    static const uint64_t sizes[] = { 1, 256, 4095, 4096, 4097, 100000 };
    struct hbg__platform *platform = open_platform("cpu:workers=1,memory=discrete");
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t address = 0, size = sizes[i];
        assert_int_equal(ops->memory_alloc(platform, size, &address), HBG_OK);
        unsigned char *block = (unsigned char *)(uintptr_t)address;
        assert_int_equal(address % 256, 0);
        assert_null(ops->memory_map(platform, address, size));
        for (uint64_t k = 0; k < size; k++) assert_int_equal(block[k], 0xaa);
        write_byte(block);
        write_byte(block + size - 1);
        assert_true(WIFSIGNALED(at_exit_of_child(write_byte, block + ((size + 255) & ~(uint64_t)255))));
        assert_true(WIFSIGNALED(at_exit_of_child(write_byte, block - 4096)));
        ops->memory_free(platform, address, size);
    }
    ops->close(platform);
}

static void unified_memory_is_the_hosts(void **state)
{
    struct hbg__platform *platform = open_platform("cpu:workers=1");
    uint64_t address = 0;
    (void)state;
    assert_int_equal(ops->memory_alloc(platform, 5000, &address), HBG_OK);
    assert_int_equal(address % 256, 0);
    assert_ptr_equal(ops->memory_map(platform, address, 5000), (void *)(uintptr_t)address);
    memset((void *)(uintptr_t)address, 7, 5000);
    ops->memory_free(platform, address, 5000);
    uint64_t untouched = 99;
    assert_int_equal(ops->memory_alloc(platform, UINT64_MAX, &untouched), HBG_E_NO_MEMORY);
    assert_int_equal(untouched, 99);
    ops->close(platform);
}

static void zones_keep_their_bytes(void **state)
{
    struct hbg__platform *platform = open_platform("cpu:workers=1,memory=discrete");
    struct hbg__zone zone = { 0 };
    (void)state;
    assert_int_equal(ops->zone_fit(platform, &zone, 100), HBG_OK);
    for (uint64_t i = 0; i < zone.size_bytes; i++) assert_int_equal(((unsigned char *)(uintptr_t)zone.address)[i], 0);
    memset((void *)(uintptr_t)zone.address, 5, 100);
    uint64_t growths = zone.growths;
    assert_int_equal(ops->zone_fit(platform, &zone, 50), HBG_OK);
    assert_int_equal(zone.growths, growths);
    assert_int_equal(ops->zone_fit(platform, &zone, 4u << 20), HBG_OK);
    assert_true(zone.growths > growths);
    assert_true(zone.size_bytes >= 4u << 20);
    assert_int_equal(((unsigned char *)(uintptr_t)zone.address)[99], 5);
    assert_int_equal(((unsigned char *)(uintptr_t)zone.address)[zone.size_bytes - 1], 0);
    ops->zone_close(platform, &zone);
    assert_int_equal(zone.address, 0);
    ops->close(platform);
}

/* Every third byte row of a small matrix, reversed; the bytes beside it stay. */
static void transfers_touch_the_views_bytes(void **state)
{
    struct hbg__platform *platform = open_platform("cpu:workers=1,memory=discrete");
    struct hbg__stream *stream = NULL;
    unsigned char host[200], back[200];
    struct hbg__view view;
    uint64_t address = 0, bytes = 0;
    (void)state;
    for (int i = 0; i < 200; i++) host[i] = (unsigned char)i;
    memset(back, 0, sizeof back);
    assert_int_equal(ops->stream_create(platform, &stream), HBG_OK);
    assert_int_equal(ops->memory_alloc(platform, 200, &address), HBG_OK);
    assert_true(hbg__view_canonical(&view, 152, 2, 2, (int64_t[]){ 4, 3 }, (int64_t[]){ -50, 10 }));    /* rows at 152, 102, 52, 2 */
    assert_int_equal(hbg__transfer_in(ops, platform, stream, address, host, &view, &bytes), HBG_OK);
    assert_int_equal(bytes, 4 * 3 * 2);
    assert_int_equal(hbg__transfer_out(ops, platform, stream, back, address, &view, &bytes), HBG_OK);
    for (int i = 0; i < 200; i++) {
        bool inside = false;
        for (int row = 2; row < 200; row += 50) inside |= i >= row && i < row + 22 && (i - row) % 10 < 2;
        assert_int_equal(((unsigned char *)(uintptr_t)address)[i], inside ? i : 0xaa);
        assert_int_equal(back[i], inside ? i : 0);
    }
    assert_int_equal(hbg__transfer_fill(ops, platform, stream, address, 1, &view), HBG_OK);
    assert_int_equal(((unsigned char *)(uintptr_t)address)[2], 1);
    assert_int_equal(((unsigned char *)(uintptr_t)address)[4], 0xaa);
    ops->memory_free(platform, address, 200);
    ops->stream_destroy(platform, stream);
    ops->close(platform);
}

/* Large copies are made behind the caller's back, and small ones behind them; nobody has to sync for them to be made. */
static void copies_are_made_in_order(void **state)
{
    enum { BYTES = 64 << 20 };
    struct hbg__platform *platform = open_platform("cpu:workers=1,memory=discrete");
    struct hbg__stream *stream = NULL, *other = NULL;
    static unsigned char source[BYTES], small[16] = "small", back[16];
    uint64_t address = 0;
    (void)state;
    memset(source, 7, sizeof source);
    assert_int_equal(ops->stream_create(platform, &stream), HBG_OK);
    assert_int_equal(ops->stream_create(platform, &other), HBG_OK);
    assert_int_equal(ops->memory_alloc(platform, BYTES + 4096, &address), HBG_OK);
    for (int turn = 0; turn < 3; turn++) {
        memset((void *)(uintptr_t)address, 0, BYTES);
        assert_int_equal(ops->copy_in(platform, stream, address, source, BYTES), HBG_OK);
        if (turn == 0) {                                                    /* another stream does not wait for it */
            assert_int_equal(ops->copy_in(platform, other, address + BYTES, small, sizeof small), HBG_OK);
            assert_true(ops->stream_query(platform, other));
        }
        assert_int_equal(ops->copy_in(platform, stream, address, small, sizeof small), HBG_OK);
        if (turn == 0) while (!ops->stream_query(platform, stream)) usleep(100);
        if (turn == 1) assert_int_equal(ops->stream_sync(platform, stream), HBG_OK);
        assert_int_equal(ops->copy_out(platform, stream, back, address, sizeof back), HBG_OK);
        assert_memory_equal(back, small, sizeof small);
        assert_memory_equal((void *)(uintptr_t)(address + sizeof small), source + sizeof small, BYTES - sizeof small);
    }
    for (int i = 0; i < 5000; i++)                                          /* more than the engine keeps */
        assert_int_equal(ops->copy_in(platform, stream, address + (uint64_t)i * 4096, source, 40000), HBG_OK);
    ops->stream_sync(platform, stream);
    ops->memory_free(platform, address, BYTES + 4096);
    ops->stream_destroy(platform, other);
    ops->stream_destroy(platform, stream);
    ops->close(platform);
}

/* More than the system has mappings for, if each had guard pages. */
static void many_allocations(void **state)
{
    enum { COUNT = 40000 };
    static uint64_t address[COUNT];
    struct hbg__platform *platform = open_platform("cpu:workers=1,memory=discrete");
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(ops->memory_alloc(platform, 4, &address[i]), HBG_OK);
        *(int32_t *)(uintptr_t)address[i] = i;
    }
    for (int i = 0; i < COUNT; i++) {
        int64_t offset;
        assert_int_equal(*(int32_t *)(uintptr_t)address[i], i);
        assert_true(ops->memory_intact(platform, address[i], 4, &offset));
        ops->memory_free(platform, address[i], 4);
    }
    ops->close(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guards_surround_discrete_memory),
        cmocka_unit_test(unified_memory_is_the_hosts),
        cmocka_unit_test(zones_keep_their_bytes),
        cmocka_unit_test(transfers_touch_the_views_bytes),
        cmocka_unit_test(copies_are_made_in_order),
        cmocka_unit_test(many_allocations),
    };
    if (!hbg__memory_init(&memory, NULL)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
