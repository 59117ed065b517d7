/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up comparisons.
 */
#include "tools/ab/simulate.h"

#include "base/rng.h"
#include "tools/ab/judge.h"
#include "tools/ab/student.h"

#include <inttypes.h>
#include <math.h>

enum { ROUNDS = 30 };
static const double batch_sd = .02, round_sd = .05;

const struct ab_scenario hbg__ab_scenarios[] = {
    { .name = "quiet" },
    { .name = "10 % drift", .drift = .10 },
    { .name = "random walk", .walk = .02 },
    { .name = "step regimes", .regime = .10 },
    { .name = "2 % slot bias", .slot_bias = .02 },
    { .name = "AR(1) .2", .ar = .2 },
    { .name = "AR(1) .4", .ar = .4 },
    { .name = "AR(1) .6", .ar = .6 },
    { .name = "AR(1) .8", .ar = .8 },
};
const size_t hbg__ab_scenario_count = sizeof hbg__ab_scenarios / sizeof *hbg__ab_scenarios;

/* The machine, as it goes on from batch to batch. */
struct machine {
    const struct ab_scenario *scenario;
    struct hbg__rng rng;
    double spare, walk, batch, round;   /* the second of two normal numbers; states of what has a memory */
    bool has_spare, second_regime;
};

static double normal(struct machine *m)
{
    double radius, angle;

    m->has_spare = !m->has_spare;
    if (!m->has_spare)
        return m->spare;
    radius = sqrt(-2.0 * log(1.0 - hbg__rng_f64(&m->rng)));
    angle = 2.0 * 3.14159265358979323846 * hbg__rng_f64(&m->rng);
    m->spare = radius * sin(angle);
    return radius * cos(angle);
}

/* the next value of a process of deviation 1 */
static double after(struct machine *m, double before)
{
    return m->scenario->ar * before + sqrt(1.0 - m->scenario->ar * m->scenario->ar) * normal(m);
}

static double next_level(struct machine *m, double way, uint32_t slot)
{
    const struct ab_scenario *s = m->scenario;

    m->walk += s->walk > 0.0 ? s->walk * normal(m) : 0.0;
    if (s->regime > 0.0 && hbg__rng_below(&m->rng, 8) == 0)
        m->second_regime = !m->second_regime;
    m->batch = after(m, m->batch);
    return s->drift * way + m->walk + (m->second_regime ? s->regime : 0.0) + (slot % 2 ? s->slot_bias : 0.0) + batch_sd * m->batch;
}

/* Fills the rounds of a series that has its room. */
static void run(struct ab_series *series, struct machine *m, double effect)
{
    uint32_t first = AB_A;

    for (size_t i = 0; i < series->batch_count; i++) {
        struct ab_batch *b = &series->batch[i];
        double level;

        if (b->slot == 0)
            first = (uint32_t)hbg__rng_below(&m->rng, 2);
        b->arm = b->slot == 0 || b->slot == 3 ? first : 1 - first;
        level = next_level(m, (double)i / (double)(series->batch_count - 1), b->slot) + (b->arm == AB_B ? effect : 0.0);
        for (size_t k = 0; k < b->round_count; k++) {
            m->round = after(m, m->round);
            b->round[k] = exp(level + round_sd * m->round);
        }
    }
}

static bool make_room(struct ab_series *series, uint32_t blocks)
{
    for (uint32_t i = 0; i < blocks * AB_BATCHES; i++) {
        struct ab_batch *b = hbg__ab_series_add(series, i / AB_BATCHES);
        if (!b)
            return false;
        b->slot = i % AB_BATCHES;
        for (int k = 0; k < ROUNDS; k++)
            if (!hbg__ab_batch_add(b, false, 0.0))
                return false;
    }
    return true;
}

struct ab_rates hbg__ab_simulate(const struct ab_scenario *scenario, double effect, uint32_t blocks, uint32_t trials, uint64_t seed)
{
    const struct ab_rules rules = { .margin = .02, .gate = true, .blocks = blocks };
    struct machine machine = { .scenario = scenario };
    struct ab_rates rates = { 0.0, 0.0, 0.0 };
    struct ab_series series = { .seed = seed };
    bool good = make_room(&series, blocks);

    hbg__rng_seed(&machine.rng, seed);
    for (uint32_t i = 0; i < trials && good; i++) {
        struct ab_outcome outcome;

        run(&series, &machine, effect);
        good = hbg__ab_judge(&outcome, &series, &rules, NULL);
        rates.interval += outcome.t_excludes;
        rates.verdict += outcome.significant;
        rates.sd += outcome.sd_d * outcome.sd_d;
    }
    hbg__ab_series_free(&series);
    rates.interval = good ? rates.interval / trials : NAN;
    rates.verdict = good ? rates.verdict / trials : NAN;
    rates.sd = good ? sqrt(rates.sd / trials) : NAN;
    return rates;
}

/* How often an effect that is there is found, beside what theory says. */
static void print_power(FILE *file, uint32_t blocks, uint32_t trials, uint64_t seed)
{
    double sd = hbg__ab_simulate(&hbg__ab_scenarios[0], 0.0, blocks, trials, seed).sd;

    fprintf(file, "\n%-38s %14s %14s\n", "an effect of .. deviations of a block", "found", "noncentral t");
    for (double size = .4; size < 1.7; size += .4)
        fprintf(file, "%-38.1f %12.1f %% %12.1f %%\n", size, 100 * hbg__ab_simulate(&hbg__ab_scenarios[0], size * sd, blocks, trials, seed + 1).interval,
                100 * hbg__student_power(size * sqrt(blocks), blocks - 1.0, .05));
}

void hbg__ab_simulate_print(FILE *file, uint32_t blocks, uint32_t trials, uint64_t seed)
{
    fprintf(file, "%" PRIu32 " comparisons of two equal arms each, %" PRIu32 " blocks, seed %" PRIu64 "\n\n%-16s %18s %18s\n", trials, blocks, seed, "the machine",
            "interval excludes 0", "FASTER or SLOWER");
    for (size_t i = 0; i < hbg__ab_scenario_count; i++) {
        struct ab_rates rates = hbg__ab_simulate(&hbg__ab_scenarios[i], 0.0, blocks, trials, seed + i);
        fprintf(file, "%-16s %17.2f %% %16.2f %%\n", hbg__ab_scenarios[i].name, 100 * rates.interval, 100 * rates.verdict);
        fflush(file);
    }
    print_power(file, blocks, trials, seed);
}
