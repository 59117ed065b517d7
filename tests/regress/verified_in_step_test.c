/* SPDX-License-Identifier: Apache-2.0 */
/* Replays of programs and bodies that were found were counted together, and each n-th of them was verified: of builds with as many bodies as made n with
 * their run it was always the run, and a body that is not the same each time was never looked at. Of programs in turns it was always the same one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { BODIES = 6, ROUNDS = 40 };

static int calls, hidden;
static bool honest;

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += 1;
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add, "inout i32") };

/* One task; two from the second call on, where it is not honest. */
static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    calls++;
    for (int i = 0; i < (calls > 1 && !honest ? 2 : 1); i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)));
}

static void build_bodies(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < BODIES; i++) hbg_subgraph(g, hbg_key_of("body", NULL, 0), body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void build_honest(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)));
}

static void build_liar(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    for (int i = 0; i <= hidden; i++) build_honest(g, args, params);
}

static struct hbg_device *open_verifying(int every)
{
    char text[16];
    snprintf(text, sizeof text, "%d", every);
    setenv("HBG_VERIFY_REPLAY", text, 1);
    struct hbg_device *device = device_open("cpu:workers=1", NULL);
    unsetenv("HBG_VERIFY_REPLAY");
    return device;
}

/* The first of ROUNDS runs that is refused; ROUNDS: none is. */
static int first_refused(struct hbg_program *const *program, int count)
{
    int32_t x[1] = { 0 };
    for (int run = 0; run < ROUNDS * count; run++) {
        struct hbg_result result = HBG_OPTIONS(result);
        enum hbg_status status = hbg_run_sync(program[run % count], HBG_ARGS(hbg_inout(HOST_I32(x, 1))), &result);
        if (status == HBG_OK) continue;
        assert_int_equal(status, HBG_E_IMAGE);
        return run / count;
    }
    return ROUNDS;
}

static void bodies_have_their_turn(void **state)
{
    (void)state;
    for (int pure = 0; pure < 2; pure++) {
        for (int every = 1; every <= 2 * BODIES + 3; every++) {
            struct hbg_device *device = open_verifying(every);
            struct program_spec spec = { .build = build_bodies, KERNEL_TABLE(kernels), .pure = pure };
            struct hbg_program *program = program_create(device, &spec);
            calls = 0;
            assert_in_range(first_refused(&program, 1), 0, 2 * every);
            hbg_program_destroy(program);
            device_close(device);
        }
    }
}

/* The build function is the same, and its bodies are found: one that is not is noticed by the first replay that is verified. */
static void a_run_is_verified_with_its_bodies(void **state)
{
    enum { EVERY = 15 };
    (void)state;
    struct hbg_device *device = open_verifying(EVERY);
    struct program_spec spec = { .build = build_bodies, KERNEL_TABLE(kernels), .pure = true };
    struct hbg_program *program = program_create(device, &spec);
    int32_t x[1] = { 0 };
    honest = true;
    for (int run = 0; run < EVERY; run++) program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
    honest = false;
    uint64_t builds = counters_of(device).builds;
    assert_in_range(first_refused(&program, 1), 0, 2 * EVERY);
    assert_int_equal(counters_of(device).builds, builds + 1);
    hbg_program_destroy(program);
    device_close(device);
}

static void programs_in_turns_have_theirs(void **state)
{
    (void)state;
    for (int every = 1; every <= 6; every++) {
        struct hbg_device *device = open_verifying(every);
        struct program_spec truthful = { .build = build_honest, KERNEL_TABLE(kernels), .pure = true }, liar = { .build = build_liar, KERNEL_TABLE(kernels), .pure = true };
        for (int place = 0; place < 2; place++) {
            struct hbg_program *program[2] = { program_create(device, place ? &liar : &truthful), program_create(device, place ? &truthful : &liar) };
            int32_t x[1] = { 0 };
            hidden = 0;
            for (int i = 0; i < 2; i++) program_run(program[i], HBG_ARGS(hbg_inout(HOST_I32(x, 1))), NULL, NULL);
            hidden = 1;
            assert_in_range(first_refused(program, 2), 0, ROUNDS - 1);
            for (int i = 0; i < 2; i++) hbg_program_destroy(program[i]);
        }
        device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bodies_have_their_turn), cmocka_unit_test(a_run_is_verified_with_its_bodies), cmocka_unit_test(programs_in_turns_have_theirs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
