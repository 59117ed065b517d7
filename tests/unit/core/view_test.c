/* SPDX-License-Identifier: Apache-2.0 */
/* view_test.c - what a kernel sees of its task, and what it may ask: arguments, scratch, failure detail, cancellation. */
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "core/dispatch.h"
#include "support/image_builder.h"

static struct hbg__atomic_u32 stop;
static struct hbg_task_view seen;
static void *scratch;
static size_t scratch_bytes;
static bool cancelled;

static int kernel_look(const struct hbg_task_view *t)
{
    seen = *t;
    scratch = hbg_view_scratch(t, &scratch_bytes);
    cancelled = hbg_view_cancelled(t);
    return t->arg_count ? (int)hbg_view_u32(t, 0) : 0;
}

static int kernel_fail(const struct hbg_task_view *t) { return hbg_fail(t, 9, 1234); }

static int value;
static const struct hbg_kernel kernel[] = {
    { 0, "look", kernel_look, NULL, &value, HBG_ANY, 100 },
    { 1, "fail", kernel_fail, NULL, NULL, HBG_ANY, 0 }
};

struct fixture {
    struct test_image image;
    struct test_launch launch;
    struct hbg__core core;
};

static void open_fixture(struct fixture *f, uint32_t worker)
{
    struct image_builder *builder = image_builder_create();
    image_builder_task(builder, 0, NULL, 0, 0);
    image_builder_task(builder, 0, NULL, 0, 0);
    image_builder_scalar(builder, 42);
    image_builder_task(builder, 1, NULL, 0, 0);
    image_builder_task(builder, 7, NULL, 0, 0);
    f->image = image_builder_finish(builder);
    image_builder_destroy(builder);
    test_launch_open(&f->launch, &f->image, kernel, 2, 3);
    stop.value = 0;
    hbg__core_open(&f->core, worker, false, &stop);
    hbg__core_begin(&f->core, &f->launch.launch, hbg__image_payload(f->image.head));
}

static void close_fixture(struct fixture *f)
{
    test_launch_close(&f->launch);
    test_image_free(&f->image);
}

static int run(struct fixture *f, uint32_t task)
{
    int code = -77;
    if (!hbg__core_run(&f->core, hbg__image_record(hbg__image_payload(f->image.head), task), task, &code)) return -88;
    return code;
}

static void a_kernel_sees_its_task(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f, 2);
    assert_int_equal(run(&f, 0), 0);
    assert_int_equal(seen.task, 0);
    assert_int_equal(seen.arg_count, 0);
    assert_int_equal(seen.worker, 2);
    assert_int_equal(seen.block, 0);
    assert_int_equal(seen.block_count, 1);
    assert_ptr_equal(seen.user, &value);
    assert_false(cancelled);
    assert_int_equal(scratch_bytes, 100);
    assert_ptr_equal(scratch, (char *)f.launch.scratch + 2 * 128);
    assert_int_equal(run(&f, 1), 42);
    assert_int_equal(seen.task, 1);
    stop.value = HBG__STOP_CANCEL;
    run(&f, 0);
    assert_true(cancelled);
    close_fixture(&f);
}

static void a_failure_keeps_its_detail(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f, 0);
    assert_int_equal(run(&f, 2), 9);
    assert_int_equal(f.core.detail, 1234);
    assert_int_equal(f.core.detail_task, 2);
    assert_int_equal(run(&f, 3), -88);          /* no such kernel */
    f.core.no_kernels = true;
    assert_int_equal(run(&f, 2), 0);
    assert_int_equal(run(&f, 3), 0);
    close_fixture(&f);
}

static void asynchronous_completion_is_refused(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f, 0);
    struct hbg_token token = hbg_view_token(&f.core.view);
    assert_int_equal(token.word[0], 0);
    assert_int_equal(token.word[1], 0);
    assert_int_equal(hbg_complete(token, 0), HBG_E_UNSUPPORTED);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_sees_its_task), cmocka_unit_test(a_failure_keeps_its_detail),
        cmocka_unit_test(asynchronous_completion_is_refused)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
