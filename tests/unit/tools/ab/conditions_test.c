/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What spoils a block, and what does not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "tools/ab/conditions.h"

/* Ten seconds, of which the command itself worked for one. */
static void make(struct ab_batch *batches)
{
    memset(batches, 0, AB_BATCHES * sizeof *batches);
    for (int i = 0; i < AB_BATCHES; i++) {
        batches[i].arm = i == 0 || i == 3 ? AB_A : AB_B;
        for (int k = 0; k < AB_SAMPLES; k++) {
            batches[i].sample[k].at_s = i * 2.5 + k * 1.25;
            batches[i].sample[k].busy_s = 100 + batches[i].sample[k].at_s * .1;
            batches[i].sample[k].own_s = batches[i].sample[k].at_s * .1;
            batches[i].sample[k].mhz = 2000;
        }
    }
}

static void spoiled(struct ab_batch *batches, const char *by)
{
    char why[AB_TEXT] = "";

    assert_false(hbg__ab_block_good(batches, why, sizeof why));
    assert_non_null(strstr(why, by));
    make(batches);
    assert_true(hbg__ab_block_good(batches, why, sizeof why));
}

/* GPUs: one look at one of them is enough, a limit on power that is reached is none. */
static void slowed(struct ab_batch *batches)
{
    static const struct { double bits; const char *words; } known[] = {
        { 0x8, "GPU 3 was throttled: hardware slowdown" }, { 0x20, "GPU 3 was throttled: software thermal slowdown" }, { 0x48, "hardware slowdown, hardware thermal slowdown" },
        { 0x80, "power brake" }, { 0x1, NULL }, { 0x117, NULL }, { 0, NULL }, { NAN, NULL }, { 0x1p60, NULL }, { 0x1p64, NULL },
        { INFINITY, NULL }, { -8, NULL },
    };
    struct ab_gpu look[2] = { { .index = 0 }, { .index = 3 } };
    char why[AB_TEXT] = "";

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        make(batches);
        look[1].throttle = known[i].bits;
        batches[2].gpu = look;
        batches[2].gpu_count = 2;
        if (known[i].words)
            spoiled(batches, known[i].words);
        else
            assert_true(hbg__ab_block_good(batches, why, sizeof why));
    }
    make(batches);
}

static void gates(void **state)
{
    struct ab_batch b[AB_BATCHES];
    struct ab_sample *last = &b[AB_BATCHES - 1].sample[AB_END];
    char why[AB_TEXT];
    (void)state;

    make(b);
    last->busy_s += .4;                 /* 4 % of a CPU */
    assert_true(hbg__ab_block_good(b, why, sizeof why));
    last->busy_s += .3;
    spoiled(b, "others took 7.0 %");
    last->steal_s += .2;
    spoiled(b, "host took 2.0 %");
    last->throttle += 1;
    spoiled(b, "throttled in 1 steps");
    last->limited += 2;
    spoiled(b, "control group was throttled in 2 periods");
    b[1].sample[AB_MIDDLE].mhz = b[2].sample[AB_MIDDLE].mhz = 1900;
    spoiled(b, "5.0 % apart");
    b[1].sample[AB_MIDDLE].mhz = 1900;  /* one batch: half of it */
    assert_true(hbg__ab_block_good(b, why, sizeof why));
    slowed(b);
    for (int i = 0; i < AB_BATCHES; i++)                /* a machine that tells nothing */
        for (int k = 0; k < AB_SAMPLES; k++)
            b[i].sample[k] = (struct ab_sample){ .at_s = b[i].sample[k].at_s, .busy_s = NAN, .own_s = NAN, .steal_s = NAN, .throttle = NAN, .limited = NAN, .mhz = NAN };
    assert_true(hbg__ab_block_good(b, why, sizeof why));
}

static void this_machine(void **state)
{
    struct ab_sample first, second;
    volatile double work = 0.0;
    struct ab_stretch s;
    (void)state;

    hbg__ab_sample_take(&first);
    do {
        for (int i = 0; i < 1000000; i++)
            work += i;
        hbg__ab_sample_take(&second);
    } while (second.own_s - first.own_s < .1);
    s = hbg__ab_stretch_of(&first, &second);
    assert_true(work > 0.0 && s.seconds > 0.0 && second.busy_s - first.busy_s > .04 && s.foreign >= 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(gates), cmocka_unit_test(this_machine) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
