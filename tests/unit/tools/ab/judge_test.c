/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts of made series, and the worked example of docs/ab.md.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "base/rng.h"
#include "tools/ab/judge.h"
#include "tools/ab/sample.h"
#include "tools/ab/student.h"

#define NEAR(got, wanted, off) assert_true(fabs((got) - (wanted)) <= (off))

/* Blocks of one round a batch, ABBA and BAAB in turn: block i differs by d[i], and its slots by a bias. */
static void make(struct ab_series *s, const double *d, uint32_t blocks, double slot_bias)
{
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < blocks * AB_BATCHES; i++) {
        struct ab_batch *b = hbg__ab_series_add(s, i / AB_BATCHES);
        b->slot = i % AB_BATCHES;
        b->arm = (uint32_t)(b->slot == 0 || b->slot == 3 ? AB_A : AB_B) ^ (b->block & 1);
        assert_true(hbg__ab_batch_add(b, false, 100.0 * exp(.3 * b->block + (b->arm == AB_B ? d[b->block] : 0.0) + (b->slot % 2 ? slot_bias : 0.0))));
    }
}

static struct ab_outcome judge(struct ab_series *s, const struct ab_rules *rules)
{
    struct ab_outcome o;

    assert_true(hbg__ab_judge(&o, s, rules, NULL));
    assert_true(strlen(o.why) > 10);
    return o;
}

/* Student's sleep data, as R gives the paired t interval: mean 1.58, .7001142 to 2.4598858. */
static void student_sleep(void **state)
{
    static const double extra[10] = { 1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, .8, 4.6, 1.4 };
    const struct ab_rules rules = { .margin = .02, .blocks = 10 };
    struct ab_series s;
    struct ab_outcome o;
    double d[10];
    (void)state;

    make(&s, extra, 10, 0.0);
    assert_true(hbg__ab_judge(&o, &s, &rules, d));
    NEAR(d[8], 4.6, 1e-12);
    NEAR(o.mean_d, 1.58, 1e-12);
    NEAR(log1p(o.low), .7001142, 5e-8);
    NEAR(log1p(o.high), 2.4598858, 5e-8);
    NEAR(o.flip_p, 2.0 / 512, 1e-12);
    assert_int_equal(o.verdict, AB_SLOWER);
    hbg__ab_series_free(&s);
}

static void verdicts(void **state)
{
    static const double fast[8] = { -.05, -.06, -.04, -.05, -.055, -.045, -.05, -.052 }, small[8] = { .003, .004, .002, .003, .0035, .0025, .003, .0031 };
    static const double wide[8] = { .05, -.06, .04, -.05, .055, -.045, .05, -.052 };
    struct ab_rules rules = { .margin = .02, .blocks = 8 };
    struct ab_series s;
    struct ab_outcome o;
    (void)state;

    make(&s, fast, 8, 0.0);
    assert_int_equal(judge(&s, &rules).verdict, AB_FASTER);
    rules.higher = true;
    o = judge(&s, &rules);
    assert_int_equal(o.verdict, AB_SLOWER);
    assert_true(o.slowdown_bound > expm1(.05));
    rules.higher = false;
    hbg__ab_series_free(&s);

    make(&s, fast, 5, 0.0);                             /* as clear, and too few */
    assert_int_equal(judge(&s, &rules).verdict, AB_INCONCLUSIVE);
    hbg__ab_series_free(&s);

    make(&s, small, 8, 0.0);                            /* it excludes 0, and is smaller than the margin */
    o = judge(&s, &rules);
    assert_int_equal(o.verdict, AB_EQUIVALENT);
    assert_true(o.significant && o.low > 0.0);
    rules.margin = .001;
    assert_int_equal(judge(&s, &rules).verdict, AB_SLOWER);
    rules.margin = .02;
    hbg__ab_series_free(&s);

    make(&s, wide, 8, 0.0);
    o = judge(&s, &rules);
    assert_int_equal(o.verdict, AB_INCONCLUSIVE);
    assert_true(o.needed > 8 && hbg__student_quantile(.975, o.needed - 1) * o.sd_d / sqrt(o.needed) <= .02);
    assert_true(hbg__student_quantile(.975, o.needed - 2) * o.sd_d / sqrt(o.needed - 1) > .02);
    hbg__ab_series_free(&s);
}

static void slots(void **state)
{
    static const double d[8] = { .001, -.002, .003, 0.0, .002, -.001, -.003, .002 };
    const struct ab_rules rules = { .margin = .02, .blocks = 8 };
    struct ab_series s;
    struct ab_outcome o;
    (void)state;

    make(&s, d, 8, .02);
    o = judge(&s, &rules);
    NEAR(o.slot, expm1(.02), 1e-9);
    assert_true(o.slot_low > 0.0);
    NEAR(o.mean_d, hbg__sample_mean(d, 8), 1e-12);      /* and it is no part of the effect */
    hbg__ab_series_free(&s);
}

static void dropped(void **state)
{
    static const double d[10] = { -.05, -.06, -.04, -.05, -.055, -.045, -.05, -.052, 3.0, -.05 };
    const struct ab_rules rules = { .margin = .02, .blocks = 9 };
    struct ab_series s;
    struct ab_outcome o;
    (void)state;

    make(&s, d, 10, 0.0);
    assert_true(hbg__ab_series_drop(&s, 8, "foreign CPU"));
    o = judge(&s, &rules);
    assert_int_equal(o.verdict, AB_FASTER);
    assert_true(o.blocks == 9 && o.dropped == 1 && o.kept_effect > .2 && o.kept_low < 0.0);
    assert_true(hbg__ab_series_drop(&s, 7, "foreign CPU"));
    assert_int_equal(judge(&s, &rules).verdict, AB_INVALID);    /* two of nine */
    s.batch[s.batch_count - 1].round_count = 0;                 /* the last block was interrupted */
    assert_true(judge(&s, &rules).blocks == 7);
    hbg__ab_series_free(&s);
}

static void counters_and_digits(void **state)
{
    static const double same[6] = { .1, .1, .1, .1, .1, .1 };
    struct ab_rules rules = { .margin = .02, .blocks = 6, .differs = true };
    struct ab_series s;
    struct ab_outcome o;
    (void)state;

    make(&s, same, 6, 0.0);
    for (size_t i = 0; i < s.batch_count; i++) {
        s.batch[i].counter = 7;
        s.batch[i].round[0] = s.batch[i].arm == AB_B ? 110 : 100;
    }
    assert_int_equal(judge(&s, &rules).verdict, AB_INVALID);
    for (size_t i = 0; i < s.batch_count; i++)
        s.batch[i].counter = 7 + s.batch[i].arm;
    o = judge(&s, &rules);
    assert_int_equal(o.verdict, AB_DETERMINISTIC);
    NEAR(o.exact, 10, 1e-9);
    s.batch[5].round[0] += 1;
    assert_int_equal(judge(&s, &rules).verdict, AB_SLOWER);
    hbg__ab_series_free(&s);
}

/* Blocks that resemble their neighbours: from 20 on the interval grows, and above .5 nothing is concluded. */
static void blocks_in_a_row(void **state)
{
    const struct ab_rules rules = { .margin = .001, .blocks = 24 };
    double d[24];
    struct ab_series s;
    struct ab_outcome o;
    (void)state;

    for (int i = 0; i < 24; i++)
        d[i] = .05 + .01 * sin(i / 3.0);
    make(&s, d, 24, 0.0);
    o = judge(&s, &rules);
    assert_true(o.block_lag1 > .5 && o.inflation > 3);
    assert_int_equal(o.verdict, AB_INCONCLUSIVE);
    hbg__ab_series_free(&s);
    make(&s, d, 19, 0.0);
    o = judge(&s, &rules);
    assert_true(isnan(o.block_lag1) && o.inflation == 1);
    assert_int_equal(o.verdict, AB_SLOWER);
    hbg__ab_series_free(&s);
}

static void sizing(void **state)
{
    static const double d[12] = { .01, .02, .03, .01, .02, .03, .01, .02, .9, .9, .9, .9 };
    const struct ab_rules rules = { .margin = .02, .blocks = 12, .pilot = 8 };
    struct ab_series s;
    struct ab_outcome o;
    (void)state;

    make(&s, d, 12, 0.0);
    o = judge(&s, &rules);
    assert_true(o.df == 7);
    NEAR(o.sd_d, sqrt(hbg__sample_variance(d, 8)), 1e-12);
    NEAR(o.half, 2.364624 * o.sd_d / sqrt(12), 1e-7);
    assert_true(hbg__ab_blocks_after(8, .001, .02) == 8);
    assert_true(hbg__ab_blocks_after(8, .05, .02) == ceil(2.364624 * 2.364624 * 6.25));
    hbg__ab_series_free(&s);
}

/* Parts: one that differs by 10 %, nine that do not; p are adjusted for ten. A part that a batch lacks is left out. */
static void parts(void **state)
{
    static const double d[8] = { 0.0 };
    struct ab_part_effect effect[16];
    struct ab_series s;
    struct hbg__rng rng;
    (void)state;

    make(&s, d, 8, 0.0);
    hbg__rng_seed(&rng, 1);
    for (size_t i = 0; i < s.batch_count; i++) {
        char name[24];
        for (int k = 0; k < 10; k++) {
            snprintf(name, sizeof name, "part%d", k);
            assert_true(hbg__ab_batch_part(&s.batch[i], name, (k == 3 && s.batch[i].arm == AB_B ? 110.0 : 100.0) * (1 + .01 * hbg__rng_f64(&rng))));
        }
        if (i != 5)
            assert_true(hbg__ab_batch_part(&s.batch[i], "rare", 1.0));
    }
    assert_int_equal(hbg__ab_judge_parts(effect, 16, &s), 10);
    assert_string_equal(effect[0].name, "part3");
    NEAR(effect[0].effect, .10, .01);
    NEAR(effect[0].level_a, 100.5, .5);
    assert_true(effect[0].low > .09 && effect[0].high < .11 && effect[0].holm < 1e-6);
    NEAR(effect[0].holm, 10 * effect[0].p, 1e-15);
    for (int k = 1; k < 10; k++)
        assert_true(effect[k].p >= effect[k - 1].p && effect[k].holm >= effect[k - 1].holm && effect[k].holm <= 1 && effect[k].holm > .05);
    hbg__ab_series_free(&s);
}

/* 398 rounds with a given median and lag-1: noise with a memory that is tuned until the sample has it. */
static void fill(struct ab_batch *b, double median, double lag1, uint64_t seed)
{
    double low = 0.0, high = .999, off, copy[398], x[398];

    for (int step = 0; step < 60; step++) {
        double memory = .5 * (low + high), level = 0.0;
        struct hbg__rng rng;

        hbg__rng_seed(&rng, seed);
        for (int i = 0; i < 398; i++)
            x[i] = level = memory * level + hbg__rng_f64(&rng) - .5;
        if (hbg__sample_lag1(x, 398) < lag1)
            low = memory;
        else
            high = memory;
    }
    memcpy(copy, x, sizeof x);
    off = hbg__sample_median(copy, 398);
    for (int i = 0; i < 398; i++)
        assert_true(hbg__ab_batch_add(b, false, x[i] - off + median));
}

/* Four batches, B1 A1 A2 B2. */
static void worked_example(void **state)
{
    static const struct { double median, lag1; enum ab_arm arm; } batch[4] = { { 77.1, .815, AB_B }, { 75.7, .225, AB_A }, { 59.1, .252, AB_A }, { 65.0, .192, AB_B } };
    static const struct { double blocks, percent; } resolved[] = { { 14, 9 }, { 27, 6 }, { 99, 3 } };
    const struct ab_rules rules = { .margin = .02, .blocks = 1 };
    struct ab_series s = { .seed = 1 };
    struct ab_outcome o;
    (void)state;

    for (uint32_t i = 0; i < 4; i++) {
        struct ab_batch *b = hbg__ab_series_add(&s, 0);
        b->slot = i;
        b->arm = batch[i].arm;
        fill(b, batch[i].median, batch[i].lag1, i + 1);
        NEAR(hbg__sample_lag1(b->round, 398), batch[i].lag1, 1e-6);
    }
    o = judge(&s, &rules);
    assert_int_equal(o.verdict, AB_INCONCLUSIVE);
    assert_string_equal(o.why, "one block has no degrees of freedom");
    assert_true(isnan(o.low) && isnan(o.sd_d) && o.lag1_notable == 4);
    NEAR(o.effect, sqrt(77.1 * 65.0 / (75.7 * 59.1)) - 1, 1e-6);
    NEAR(o.batch_sd, .15, .001);
    for (size_t i = 0; i < sizeof resolved / sizeof *resolved; i++)
        assert_true(hbg__ab_blocks_needed(.15, resolved[i].percent / 100) == resolved[i].blocks);

    /* the road not taken: a pooled t on the four medians, +/- 44.2 us with 2 degrees of freedom */
    double a = hbg__sample_variance((double[]){ 75.7, 59.1 }, 2), b = hbg__sample_variance((double[]){ 77.1, 65.0 }, 2);
    NEAR(hbg__student_quantile(.975, 2) * sqrt(.5 * (a + b)), 44.2, .05);
    hbg__ab_series_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_sleep), cmocka_unit_test(verdicts), cmocka_unit_test(slots), cmocka_unit_test(dropped),
        cmocka_unit_test(counters_and_digits), cmocka_unit_test(blocks_in_a_row), cmocka_unit_test(sizing), cmocka_unit_test(parts), cmocka_unit_test(worked_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
