/* SPDX-License-Identifier: Apache-2.0 */
/* image_test.c - a run on an image of which one byte is wrong: hbg_image_verify refuses it, or the run ends with a status and the
 * device goes on. On a unified device the image is executed where it is, so it can be damaged between prepare and launch.
 *
 * The kernels look at nothing: what a value means to a kernel is the kernel's business. To a device that expands submissions three values
 * mean something: which definition, with the addresses that it is handed, and where what is inside of it lies. They are left alone.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "image/fingerprint.h"
#include "support/dag.h"
#include "support/devices.h"
#include "support/program.h"

enum { NOTHING, FAIL, KERNEL_COUNT };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static int fails(const struct hbg_task_view *t) { (void)t; return 3; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(NOTHING, nothing, NULL), HBG_KERNEL(FAIL, fails, NULL) };

/* One of each kind: roots, a chain, fan-in beyond three, scalars, parameter bytes, an intermediate, a noop, a barrier. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), t = hbg_alloc(g, HBG_F32, HBG_SHAPE(8));
    int32_t bytes[5] = { 1, 2, 3, 4, 5 };
    for (int i = 0; i < 6; i++) hbg_submit(g, NOTHING, hbg_out(hbg_slice(x, 0, i, i + 1)), hbg_i32(i));
    hbg_submit(g, NOTHING, hbg_in(x), hbg_out(t), hbg_bytes(bytes, sizeof bytes));
    hbg_submit(g, NOTHING, hbg_inout(t), hbg_args_scalar(args, 1));
    struct hbg_task noop = hbg_noop(g, hbg_in(t));
    hbg_submit(g, NOTHING, hbg_after(noop));
    hbg_barrier(g);
    for (int i = 0; i < 4; i++) hbg_submit(g, NOTHING, hbg_inout(hbg_slice(x, 0, i, i + 2)));
}

/* Damage one byte of the image of a fresh run, and see what comes of it. True: verify refused it. */
static bool refused_or_ends(struct hbg_program *program, struct hbg_arg_list list, size_t at, unsigned char damage)
{
    struct hbg_run run;
    const void *image;
    size_t size;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    unsigned char *byte = (unsigned char *)(uintptr_t)image + at;
    *byte ^= damage;
    bool refused = hbg_image_verify(image, size, NULL) != HBG_OK;
    if (refused) {
        *byte ^= damage;
        assert_int_equal(hbg_run_cancel(run), HBG_OK);
        assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
        return true;
    }
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    if (hbg_run_wait(run, 20000000000u) != HBG_OK) fail_msg("byte %zu ^ %#x: the run does not end", at, damage);
    enum hbg_status status = hbg_run_finish(run, NULL);
    if (status && status != HBG_E_IMAGE && status != HBG_E_KERNEL && status != HBG_E_STALLED) fail_msg("byte %zu ^ %#x: %s", at, damage, hbg_status_name(status));
    return false;
}

static size_t image_bytes(struct hbg_program *program, struct hbg_arg_list list)
{
    struct hbg_run run;
    const void *image;
    size_t size;
    assert_int_equal(hbg_run_prepare(program, list, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    return size;
}

static void every_byte(void **state)
{
    struct hbg_device *device = device_open("cpu:workers=2,memory=unified,stall_ms=50", NULL);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    float x[8] = { 0 };
    struct hbg_arg_list list = HBG_ARGS(hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(8))), hbg_f32(1));
    size_t size = image_bytes(program, list), refused = 0, run = 0;
    struct hbg__rng rng;
    (void)state;
    hbg__rng_seed(&rng, test_seed(4));
    for (size_t at = 0; at < size; at++) {
        unsigned char damage[2] = { 0xff, (unsigned char)(1u << hbg__rng_below(&rng, 8)) };
        for (int i = 0; i < 2; i++) {
            bool was_refused = refused_or_ends(program, list, at, damage[i]);
            refused += was_refused;
            run += !was_refused;
        }
    }
    print_message("%zu bytes: %zu damages refused, %zu runs ended\n", size, refused, run);
    assert_true(refused > size / 2 && run > 0);
    program_run(program, list, NULL, NULL);
    hbg_program_destroy(program);
    device_close(device);
}

/* ---- submissions, on the device side alone ---- */

static void build_submissions(struct dag *dag)
{
    struct image_builder *inner = image_builder_create(), *middle = image_builder_create(), *outer = image_builder_create();
    for (uint32_t i = 0; i < 4; i++) image_builder_task(inner, 0, &(uint32_t){ i / 2 }, i > 1, 0);
    uint32_t first = image_builder_submit(middle, inner, NULL, 0);
    image_builder_task(middle, 0, &first, 1, 0);
    first = image_builder_task(outer, 0, NULL, 0, 0);
    uint32_t second = image_builder_submit(outer, middle, &first, 1);
    image_builder_task(outer, 0, (uint32_t[]){ first, second, image_builder_submit(outer, inner, NULL, 0) }, 3, 0);
    image_builder_submit(outer, inner, &second, 1);
    image_builder_destroy(inner);
    image_builder_destroy(middle);
    dag_open(dag, outer);
    dag->image.head->fingerprint = hbg__image_fingerprint();
}

/* By byte of the image: the device would follow it wherever it leads. */
static bool *values_to_follow(const struct test_image *image)
{
    const unsigned char *payload = hbg__image_payload(image->head), *bytes = (const unsigned char *)image->head;
    bool *follow = calloc(image->bytes, sizeof *follow);
    assert_non_null(follow);
    for (uint32_t task = 0; task < image->head->task_count; task++) {
        const struct hbg__task_record *record = hbg__image_record(payload, task);
        if (!(record->flags & HBG__TASK_SUBGRAPH)) continue;
        const struct hbg__submission *s = hbg__image_submission(payload, record);
        size_t from = (size_t)((const unsigned char *)&s->activation - bytes), args = (size_t)((const unsigned char *)hbg__image_submission_args(payload, record) - bytes);
        memset(follow + from, true, 3 * sizeof s->activation);          /* activation, bases, definition */
        memset(follow + args, true, 16u * s->arg_count);
        memset(follow + ((const unsigned char *)&record->args - bytes), true, sizeof record->args);
    }
    return follow;
}

static bool submissions_refused_or_end(struct dag *dag, struct hbg__workers *workers, struct dag_slots *slots, uint32_t mode, size_t at, unsigned char damage)
{
    unsigned char *byte = (unsigned char *)dag->image.head + at;
    struct hbg__launch_result result;
    struct test_launch launch;
    dag_launch_open(dag, 2, slots, mode, &launch);
    struct hbg__kernel_entry *entry = (struct hbg__kernel_entry *)(launch.table + 1);
    entry->run = nothing;
    *byte ^= damage;
    bool refused = hbg_image_verify(dag->image.head, dag->image.bytes, NULL) != HBG_OK;
    if (!refused) {
        hbg__workers_launch(workers, &launch.launch);
        if (!hbg__workers_wait(workers, 20000000000u)) fail_msg("byte %zu ^ %#x: the run does not end", at, damage);
        hbg__workers_result(workers, &result);
        if (result.status && result.status != HBG_E_IMAGE && result.status != HBG_E_STALLED) fail_msg("byte %zu ^ %#x: %s", at, damage, hbg_status_name(result.status));
    }
    *byte ^= damage;
    test_launch_close(&launch);
    return refused;
}

static void every_byte_of_submissions(void **state)
{
    struct hbg__workers *workers = dag_workers(2, 64, true, 50000000);
    size_t refused = 0, run = 0;
    struct dag_slots slots;
    struct hbg__rng rng;
    struct dag dag;
    (void)state;
    build_submissions(&dag);
    if (hbg_image_verify(dag.image.head, dag.image.bytes, NULL)) fail_msg("the image is refused as it is");
    dag_slots_open(&slots, dag.count + 1, 3, 50);
    hbg__rng_seed(&rng, test_seed(5));
    bool *follow = values_to_follow(&dag.image);
    for (size_t at = 0; at < dag.image.bytes; at++) {
        for (int i = 0; i < 4 && !follow[at]; i++) {
            unsigned char damage = i % 2 ? 0xff : (unsigned char)(1u << hbg__rng_below(&rng, 8));
            bool was_refused = submissions_refused_or_end(&dag, workers, &slots, i < 2 ? HBG__MODE_WAKE : HBG__MODE_ORDER, at, damage);
            refused += was_refused;
            run += !was_refused;
        }
    }
    print_message("%zu bytes: %zu damages refused, %zu runs ended\n", dag.image.bytes, refused, run);
    assert_true(refused > 2 * dag.image.bytes && run > 0);
    free(follow);
    dag_slots_close(&slots);
    dag_close(&dag);
    hbg__workers_destroy(workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_byte), cmocka_unit_test(every_byte_of_submissions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
