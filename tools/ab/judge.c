/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict.
 */
#include "tools/ab/judge.h"

#include "tools/ab/flip.h"
#include "tools/ab/sample.h"
#include "tools/ab/student.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    AUTOCORRELATION_LEAST = 20,         /* blocks from which on their autocorrelation counts */
    NEIGHBOURS_LEAST = 8                /* rounds of a batch from which on theirs is told */
};

/* Numbers of all batches and blocks while they are looked at. */
struct work {
    const struct ab_series *series;
    const struct ab_rules *rules;
    double *y;                          /* of each batch; NaN: it has no round */
    double *scratch;                    /* room for the rounds of the longest batch, and for a number of each batch */
    double *d, *slot, *all;             /* of blocks that count; of all that are whole */
    size_t count, all_count;
};

const char *hbg__ab_verdict_name(enum ab_verdict verdict)
{
    static const char *const name[AB_VERDICTS] = { "FASTER", "SLOWER", "EQUIVALENT", "INCONCLUSIVE", "DETERMINISTIC", "INVALID" };

    return name[verdict];
}

double hbg__ab_percent(double part)
{
    double percent = 100.0 * part;

    return percent < 0.0 && percent > -.005 ? 0.0 : percent;
}

__attribute__((format(printf, 3, 4))) static void decide(struct ab_outcome *o, enum ab_verdict verdict, const char *format, ...)
{
    va_list list;

    o->verdict = verdict;
    va_start(list, format);
    vsnprintf(o->why, sizeof o->why, format, list);
    va_end(list);
}

/* ---- how many blocks ---- */

static double half_width(double blocks, double sd)
{
    return hbg__student_quantile(.975, blocks - 1.0) * sd / sqrt(blocks);
}

double hbg__ab_blocks_needed(double sd, double half)
{
    double low = AB_LEAST_BLOCKS - 1, high = AB_LEAST_BLOCKS;

    if (!(sd >= 0.0) || !(half > 0.0))
        return NAN;
    while (high < 1e9 && half_width(high, sd) > half) {
        low = high;
        high *= 2.0;
    }
    while (high - low > 1.0) {
        double middle = floor(0.5 * (low + high));
        if (half_width(middle, sd) > half)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double hbg__ab_blocks_after(uint32_t pilot, double sd, double half)
{
    double t = hbg__student_quantile(.975, pilot - 1.0);

    return fmax(pilot, ceil(t * sd / half * (t * sd / half)));
}

/* ---- batches ---- */

static bool counts(const struct work *w, const struct ab_batch *batch)
{
    return batch->round_count && !w->series->dropped[batch->block];
}

/* What stands for a batch. */
static double summary(const struct work *w, const struct ab_batch *b)
{
    if (w->rules->mean)
        return hbg__sample_mean(b->round, b->round_count);
    memcpy(w->scratch, b->round, b->round_count * sizeof *b->round);
    return hbg__sample_median(w->scratch, b->round_count);
}

static void look_at_batches(struct work *w)
{
    for (size_t i = 0; i < w->series->batch_count; i++) {
        const struct ab_batch *b = &w->series->batch[i];

        w->y[i] = b->round_count ? log(summary(w, b)) : NAN;
    }
}

/* Rounds are not the sample size: how much they resemble their neighbours, and their batch. */
static void look_at_rounds(struct ab_outcome *o, struct work *w, size_t longest)
{
    double *lag1 = w->scratch + longest, *size = lag1 + w->series->batch_count;
    struct variance_sums sums = { .inside = 0.0 };
    struct variance_parts parts;
    size_t told = 0, used = 0;

    o->lag1_notable = 0;
    for (size_t i = 0; i < w->series->batch_count; i++) {
        const struct ab_batch *b = &w->series->batch[i];

        if (!counts(w, b))
            continue;
        for (size_t k = 0; k < b->round_count; k++)
            w->scratch[k] = log(b->round[k]);
        hbg__variance_add(&sums, (int)b->arm, w->scratch, b->round_count);
        lag1[told] = b->round_count < NEIGHBOURS_LEAST ? NAN : hbg__sample_lag1(b->round, b->round_count);
        size[used++] = (double)b->round_count;
        if (!isnan(lag1[told]))
            o->lag1_notable += fabs(lag1[told++]) > 2.0 / sqrt((double)b->round_count);
    }
    if (!used)
        return;
    parts = hbg__variance_divide(&sums);
    o->variance_rounds = parts.inside;
    o->variance_batches = parts.between;
    o->correlation = parts.correlation;
    o->design_effect = parts.design_effect;
    o->rounds = hbg__sample_median(size, used);
    o->round_lag1 = told ? hbg__sample_median(lag1, told) : NAN;
    o->effective = told ? hbg__sample_effective(o->round_lag1, o->rounds) : NAN;
}

/* Levels of the arms, and how far their batches scatter around them. */
static void look_at_arms(struct ab_outcome *o, struct work *w)
{
    double level[AB_ARMS], square = 0.0, df = 0.0, *y = w->scratch;

    for (uint32_t arm = 0; arm < AB_ARMS; arm++) {
        size_t used = 0;
        for (size_t i = 0; i < w->series->batch_count; i++)
            if (w->series->batch[i].arm == arm && counts(w, &w->series->batch[i]))
                y[used++] = w->y[i];
        level[arm] = used ? exp(hbg__sample_mean(y, used)) : NAN;
        if (used > 1) {
            square += hbg__sample_variance(y, used) * (double)(used - 1);
            df += (double)(used - 1);
        }
    }
    o->level_a = level[AB_A];
    o->level_b = level[AB_B];
    o->batch_sd = df > 0.0 ? sqrt(square / df) : NAN;
}

/* The median over an arm's batches of their counters or of their medians of cold rounds. */
static double arm_median(struct work *w, uint32_t arm, size_t longest, bool cold)
{
    double *value = w->scratch + longest;
    size_t used = 0;

    for (size_t i = 0; i < w->series->batch_count; i++) {
        const struct ab_batch *b = &w->series->batch[i];
        if (b->arm != arm || !counts(w, b))
            continue;
        if (cold && b->cold_count) {
            memcpy(w->scratch, b->cold, b->cold_count * sizeof *b->cold);
            value[used++] = hbg__sample_median(w->scratch, b->cold_count);
        } else if (!cold && !isnan(b->counter)) {
            value[used++] = b->counter;
        }
    }
    return used ? hbg__sample_median(value, used) : NAN;
}

/* Do all batches of each arm have the same rounds, to the digit? Then their levels are exact. */
static bool deterministic(struct ab_outcome *o, const struct work *w)
{
    const struct ab_batch *first[AB_ARMS] = { NULL, NULL };
    size_t seen[AB_ARMS] = { 0, 0 };

    for (size_t i = 0; i < w->series->batch_count; i++) {
        const struct ab_batch *b = &w->series->batch[i];
        const struct ab_batch **with = &first[b->arm];

        if (!counts(w, b))
            continue;
        if (!*with)
            *with = b;
        seen[b->arm]++;
        if (b->round_count != (*with)->round_count || memcmp(b->round, (*with)->round, b->round_count * sizeof *b->round) != 0)
            return false;
    }
    if (seen[AB_A] < 2 || seen[AB_B] < 2)
        return false;
    o->level_a = summary(w, first[AB_A]);
    o->level_b = summary(w, first[AB_B]);
    o->exact = o->level_b - o->level_a;
    return true;
}

/* ---- blocks ---- */

static void look_at_blocks(struct work *w)
{
    for (uint32_t block = 0; block < w->series->block_count; block++) {
        double by_arm[AB_ARMS] = { 0.0, 0.0 }, by_slot[2] = { 0.0, 0.0 }, d;
        int of[AB_ARMS] = { 0, 0 };

        for (size_t i = 0; i < w->series->batch_count; i++) {
            const struct ab_batch *b = &w->series->batch[i];
            if (b->block != block || isnan(w->y[i]))
                continue;
            by_arm[b->arm] += w->y[i];
            by_slot[b->slot % 2] += w->y[i];
            of[b->arm]++;
        }
        if (of[AB_A] != 2 || of[AB_B] != 2)     /* it was interrupted, or a batch has no rounds */
            continue;
        d = 0.5 * (by_arm[AB_B] - by_arm[AB_A]);
        w->all[w->all_count++] = d;
        if (w->series->dropped[block])
            continue;
        w->slot[w->count] = 0.5 * (by_slot[1] - by_slot[0]);    /* each pair of slots has both arms once, so the arms' effect cancels */
        w->d[w->count++] = d;
    }
}

/* In logarithms: mean -/+ t * error; taken back to relative effects. */
static void interval(double mean, double error, double df, double p, double *low, double *high)
{
    double t = hbg__student_quantile(p, df);

    *low = expm1(mean - t * error);
    *high = expm1(mean + t * error);
}

static void look_at_differences(struct ab_outcome *o, const struct work *w)
{
    const struct ab_rules *rules = w->rules;
    double n = (double)w->count, lag1, mean, sd;
    size_t pilot = rules->pilot && rules->pilot < w->count ? rules->pilot : w->count;

    o->mean_d = hbg__sample_mean(w->d, w->count);
    o->effect = expm1(o->mean_d);
    o->flip_p = hbg__flip_p(w->d, w->count, w->series->seed);
    o->hodges_lehmann = expm1(hbg__hodges_lehmann(w->d, w->count));
    if (w->count < 2)
        return;
    o->sd_d = sqrt(hbg__sample_variance(w->d, pilot));          /* after a pilot the interval stays with the pilot's deviation */
    o->df = (double)pilot - 1.0;
    o->inflation = 1.0;
    if (w->count >= AUTOCORRELATION_LEAST) {
        o->block_lag1 = lag1 = hbg__sample_lag1(w->d, w->count);
        if (lag1 > 2.0 / sqrt(n))
            o->inflation = (1.0 + lag1) / (1.0 - lag1);
    }
    o->error = o->sd_d * sqrt(o->inflation / n);
    o->half = hbg__student_quantile(.975, o->df) * o->error;
    interval(o->mean_d, o->error, o->df, .975, &o->low, &o->high);
    interval(o->mean_d, o->error, o->df, .95, &o->low90, &o->high90);
    o->slowdown_bound = rules->higher ? expm1(-o->mean_d + hbg__student_quantile(.95, o->df) * o->error) : o->high90;
    mean = hbg__sample_mean(w->slot, w->count);
    sd = sqrt(hbg__sample_variance(w->slot, w->count));
    o->slot = expm1(mean);
    interval(mean, sd / sqrt(n), n - 1.0, .975, &o->slot_low, &o->slot_high);
}

static void look_at_dropped(struct ab_outcome *o, const struct work *w)
{
    double n = (double)w->all_count, mean = hbg__sample_mean(w->all, w->all_count);

    if (w->all_count == w->count || !w->all_count)
        return;
    o->kept_effect = expm1(mean);
    if (w->all_count > 1)
        interval(mean, sqrt(hbg__sample_variance(w->all, w->all_count) / n), n - 1.0, .975, &o->kept_low, &o->kept_high);
}

/* ---- the verdict ---- */

static void decide_by_blocks(struct ab_outcome *o, const struct work *w)
{
    bool better = w->rules->higher ? o->mean_d > 0.0 : o->mean_d < 0.0;
    bool same_sign = (o->hodges_lehmann > 0.0) == (o->mean_d > 0.0);

    o->t_excludes = o->low > 0.0 || o->high < 0.0;
    o->significant = w->count >= AB_LEAST_BLOCKS && o->t_excludes && o->flip_p <= .05 && same_sign && !(o->block_lag1 > .5);
    if (w->count == 1)
        decide(o, AB_INCONCLUSIVE, "one block has no degrees of freedom");
    else if (w->count < AB_LEAST_BLOCKS)
        decide(o, AB_INCONCLUSIVE, "%zu blocks are fewer than the %d that a verdict needs", w->count, AB_LEAST_BLOCKS);
    else if (o->block_lag1 > .5)
        decide(o, AB_INCONCLUSIVE, "blocks resemble their neighbours (lag-1 %.2f): they are not independent", o->block_lag1);
    else if (o->low90 > -w->rules->margin && o->high90 < w->rules->margin)
        decide(o, AB_EQUIVALENT, "the 90 %% interval [%+.2f, %+.2f] %% lies inside of the margin of %g %%", hbg__ab_percent(o->low90), hbg__ab_percent(o->high90),
               100 * w->rules->margin);
    else if (o->significant)
        decide(o, better ? AB_FASTER : AB_SLOWER, "the 95 %% interval [%+.2f, %+.2f] %% excludes 0, and the sign-flip test agrees", hbg__ab_percent(o->low),
               hbg__ab_percent(o->high));
    else if (!o->t_excludes)
        decide(o, AB_INCONCLUSIVE, "the 95 %% interval [%+.2f, %+.2f] %% holds 0 and reaches beyond the margin of %g %%", hbg__ab_percent(o->low), hbg__ab_percent(o->high),
               100 * w->rules->margin);
    else
        decide(o, AB_INCONCLUSIVE, "the interval excludes 0, but the sign-flip p is %.3f and Hodges-Lehmann %+.2f %%", o->flip_p, hbg__ab_percent(o->hodges_lehmann));
}

static void decide_verdict(struct ab_outcome *o, const struct work *w)
{
    const struct ab_rules *rules = w->rules;

    if (o->dropped * 5.0 > rules->blocks)
        decide(o, AB_INVALID, "%.0f of %" PRIu32 " blocks were dropped, of %" PRIu32 " planned; it stopped", o->dropped, w->series->block_count, rules->blocks);
    else if (!w->count)
        decide(o, AB_INVALID, "no block was measured");
    else if (rules->differs && !rules->same_arm && o->counter_a == o->counter_b)
        decide(o, AB_INVALID, "the arms do not differ in what is tested: the counter is %.17g in both", o->counter_a);
    else if (deterministic(o, w))
        decide(o, AB_DETERMINISTIC, "all rounds of an arm are the same to the digit");
    else
        decide_by_blocks(o, w);
}

static void nothing_known(struct ab_outcome *o)
{
    memset(o, 0, sizeof *o);
#define AB_UNKNOWN(name, words) o->name = NAN;
    AB_NUMBER_MAP(AB_UNKNOWN)
#undef AB_UNKNOWN
}

bool hbg__ab_judge(struct ab_outcome *o, const struct ab_series *series, const struct ab_rules *rules, double *d)
{
    struct work w = { .series = series, .rules = rules };
    size_t longest = 1, blocks = series->block_count + (size_t)1, batches = series->batch_count + 1;
    double *memory;

    for (size_t i = 0; i < series->batch_count; i++) {
        longest = series->batch[i].round_count > longest ? series->batch[i].round_count : longest;
        longest = series->batch[i].cold_count > longest ? series->batch[i].cold_count : longest;
    }
    longest = longest > batches ? longest : batches;
    memory = malloc((3 * blocks + 3 * batches + longest) * sizeof *memory);
    if (!memory)
        return false;
    w.d = memory;
    w.slot = w.d + blocks;
    w.all = w.slot + blocks;
    w.y = w.all + blocks;
    w.scratch = w.y + batches;
    nothing_known(o);
    look_at_batches(&w);
    look_at_rounds(o, &w, longest);
    look_at_arms(o, &w);
    look_at_blocks(&w);
    o->blocks = (double)w.count;
    o->dropped = hbg__ab_series_dropped(series);
    o->cold_a = arm_median(&w, AB_A, longest, true);
    o->cold_b = arm_median(&w, AB_B, longest, true);
    o->counter_a = arm_median(&w, AB_A, longest, false);
    o->counter_b = arm_median(&w, AB_B, longest, false);
    if (w.count)
        look_at_differences(o, &w);
    look_at_dropped(o, &w);
    o->needed = hbg__ab_blocks_needed(isnan(o->sd_d) ? o->batch_sd : o->sd_d * sqrt(o->inflation), rules->margin);
    decide_verdict(o, &w);
    if (d)
        memcpy(d, w.d, w.count * sizeof *d);
    free(memory);
    return true;
}
