/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shape for measuring is verified by digests: a task of any kind that did not run, ran twice, or whose results were not there when they
 * were read is found, and so is a tensor in the place of another. Without a reference its kernels are the empty ones.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/cli.h"
#include "tools/inputs.h"
#include "tools/run.h"
#include "workloads/shapes/replay_check.h"
#include "workloads/workloads.h"

/* ---- one task of a run goes wrong ---- */

enum fault { NOT_RUN, RAN_TWICE, READ_TOO_EARLY, FAULT_COUNT };
enum { STALE_MOST = 16 };

/* The kernel that is broken, and how; one worker runs it. written: the argument whose first elements a reader finds as they were. */
static struct { enum fault fault; int kernel, written; uint32_t calls_before; } broken;
static const int written[REPLAY_KERNELS] = {
    [REPLAY_EMBED] = 1, [REPLAY_NORM] = 2, [REPLAY_PROJECT] = 2, [REPLAY_ROTATE] = 0, [REPLAY_APPEND] = 2, [REPLAY_ATTEND] = 4, [REPLAY_COMBINE] = 1,
    [REPLAY_ADD] = 1, [REPLAY_SILU_MUL] = 1, [REPLAY_ROUTE] = 2, [REPLAY_SPREAD] = 2, [REPLAY_GATHER] = 1, [REPLAY_SAMPLE] = 1,
};

static int run_broken(const struct hbg_task_view *t)
{
    hbg_kernel_fn *run = hbg__replay_check_kernels[broken.kernel].run;
    float before[STALE_MOST];
    size_t count = (size_t)hbg_view_count(t, broken.written);

    if (broken.calls_before-- != 0)
        return run(t);
    if (broken.fault == NOT_RUN)
        return 0;
    if (broken.fault == RAN_TWICE)
        return run(t) || run(t);
    count = count < STALE_MOST ? count : STALE_MOST;
    memcpy(before, hbg_view_data(t, broken.written), count * sizeof *before);
    (void)!run(t);
    memcpy(hbg_view_data(t, broken.written), before, count * sizeof *before);
    return 0;
}

/* ---- runs ---- */

static struct hbg_setup *make(const char *shape, const char *subgraph, struct verdict *v)
{
    const char *const assignments[] = { shape, subgraph };
    char text[160];
    struct hbg_setup *s = hbg__setup_create(&hbg__decoder_workload, 1, text, sizeof text);

    assert_non_null(s);
    assert_int_equal(hbg__inputs_fill(s, "test", assignments, 2), CLI_OK);
    assert_ptr_equal(s->workload.kernels, hbg__replay_kernels);
    assert_true(hbg__verify_prepare(s, v));
    assert_ptr_equal(s->workload.kernels, hbg__replay_check_kernels);
    assert_int_equal(s->workload.kernel_count, REPLAY_KERNELS);
    return s;
}

/* one round; ends the setup */
static struct verdict run(struct hbg_setup *s, const struct verdict *prepared)
{
    const struct run_request request = { .device = "cpu:workers=1,depth=1", .rounds = 1, .verify = true, .replay = true };
    struct run_outcome outcome = { .verdict = *prepared };

    assert_true(hbg__rounds_run(s, &request, &outcome));
    assert_int_equal(outcome.status, HBG_OK);
    hbg__setup_destroy(s);
    return outcome.verdict;
}

static struct verdict run_with(enum fault fault, int kernel, uint32_t calls_before, const char *subgraph)
{
    struct hbg_kernel kernels[REPLAY_KERNELS];
    struct verdict v;
    struct hbg_setup *s = make("shape=dsv4", subgraph, &v);

    memcpy(kernels, hbg__replay_check_kernels, sizeof kernels);
    kernels[kernel].run = run_broken;
    s->workload.kernels = kernels;
    broken.fault = fault;
    broken.kernel = kernel;
    broken.written = written[kernel];
    broken.calls_before = calls_before;
    return run(s, &v);
}

static void a_right_run_is_verified(void **state)
{
    static const char *const shapes[] = { "shape=qwen3", "shape=dsv4" }, *const subgraphs[] = { "subgraph=0", "subgraph=1" };
    (void)state;

    for (int i = 0; i < 4; i++) {
        struct verdict v;
        struct hbg_setup *s = make(shapes[i / 2], subgraphs[i % 2], &v);
        int32_t tasks = *(int32_t *)hbg_setup_expected(s, "next");
        assert_int_equal(tasks, i / 2 ? 1131 : 11087);
        v = run(s, &v);
        assert_true(v.verified);
        assert_true(v.max_abs_error == 0.0);
    }
}

static void any_task_that_goes_wrong_is_found(void **state)
{
    (void)state;
    for (int kernel = 0; kernel < REPLAY_KERNELS; kernel++) {
        for (int fault = 0; fault < FAULT_COUNT; fault++) {
            uint32_t later = kernel == REPLAY_EMBED || kernel == REPLAY_SAMPLE ? 0 : 17;
            struct verdict v = run_with((enum fault)fault, kernel, later, kernel % 2 ? "subgraph=1" : "subgraph=0");
            if (!v.verified)
                continue;
            fail_msg("fault %d of %s is not found", fault, hbg__replay_check_kernels[kernel].name);
        }
    }
}

/* a projection leaves the same numbers when it runs again: the count alone tells; what is read too early does not change the count */
static void numbers_and_count_tell_apart(void **state)
{
    struct verdict v = run_with(RAN_TWICE, REPLAY_PROJECT, 100, "subgraph=1");
    (void)state;

    assert_string_equal(v.text, "run 1: next, element 0 is 1132 where 1131 is expected");
    v = run_with(READ_TOO_EARLY, REPLAY_GATHER, 19, "subgraph=1");
    assert_non_null(strstr(v.text, "run 1: keys, element "));
    v = run_with(READ_TOO_EARLY, REPLAY_ADD, 39, "subgraph=1");
    assert_non_null(strstr(v.text, "run 1: logits, element "));
}

static void a_tensor_in_the_place_of_another_is_found(void **state)
{
    struct verdict v;
    struct hbg_setup *s = make("shape=dsv4", "subgraph=1", &v);
    struct hbg_arg kept = s->arg[REPLAY_W_A];
    (void)state;

    s->arg[REPLAY_W_A] = s->arg[REPLAY_W_B];
    s->arg[REPLAY_W_B] = kept;
    assert_false(run(s, &v).verified);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_run_is_verified), cmocka_unit_test(any_task_that_goes_wrong_is_found), cmocka_unit_test(numbers_and_count_tell_apart),
        cmocka_unit_test(a_tensor_in_the_place_of_another_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
