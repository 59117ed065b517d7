/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows from a comparison.
 */
#include "tools/ab/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hbg__ab_expectation_name[AB_EXPECTATIONS] = { "nothing", "faster", "equivalent", "not-slower" };

const char *const hbg__ab_moment_name[AB_SAMPLES] = { "start", "middle", "end" };

void hbg__ab_record_free(struct ab_record *record)
{
    struct ab_facts *const facts[] = { &record->arm[AB_A], &record->arm[AB_B], &record->differences, &record->host, &record->surroundings,
                                       &record->holders, &record->attempts };

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        hbg__ab_facts_free(facts[i]);
    for (size_t i = 0; i < record->series_count; i++)
        hbg__ab_series_free(&record->series[i]);
    free(record->command[AB_A]);
    free(record->command[AB_B]);
    free(record->metric);
    free(record->counter);
    memset(record, 0, sizeof *record);
}

struct ab_rules hbg__ab_rules_of(const struct ab_record *record, size_t series)
{
    struct ab_rules rules = record->rules;

    rules.same_arm = record->control[series];
    if (rules.same_arm) {
        rules.pilot = 0;
        rules.differs = false;
    }
    return rules;
}

/* ---- a remembered control ---- */

bool hbg__ab_floor_invalid(const struct ab_floor *floor)
{
    uint32_t excluding = 0;

    for (uint32_t i = 0; i < floor->controls; i++)
        excluding += floor->control[i].low > 0.0 || floor->control[i].high < 0.0;
    return excluding == AB_CONTROLS;
}

static bool about(double a, double b)
{
    return a <= 1.5 * b && b <= 1.5 * a;
}

bool hbg__ab_floor_fits(const struct ab_floor *floor, const struct ab_record *record)
{
    return floor->measured && about(floor->rounds, record->rounds) && about(floor->blocks, record->rules.blocks);
}

/* What an earlier control says of a comparison without one of its own. */
static void conclude_remembered(struct ab_record *record)
{
    if (!hbg__ab_floor_fits(&record->remembered, record))
        return;
    record->floor_remembered = true;
    if (!hbg__ab_floor_invalid(&record->remembered))
        record->noise_floor = record->remembered.half;
    else if (record->verdict != AB_INVALID) {
        record->verdict = AB_INVALID;
        snprintf(record->why, sizeof record->why, "A against A of this configuration differed twice before, with two seeds: what is measured here is not the arms");
    }
}

/* ---- the comparison ---- */

static bool expectation_met(const struct ab_record *record, const struct ab_outcome *o)
{
    bool exact = record->verdict == AB_DETERMINISTIC;
    double change = o->level_b / o->level_a - 1.0, slowdown = record->rules.higher ? o->level_a / o->level_b - 1.0 : change;

    switch (record->expect) {
    case AB_EXPECT_FASTER: return record->verdict == AB_FASTER || (exact && slowdown < 0.0);
    case AB_EXPECT_EQUIVALENT: return record->verdict == AB_EQUIVALENT || (exact && fabs(change) < record->rules.margin);
    case AB_EXPECT_NOT_SLOWER:
        if (exact)
            return slowdown < record->rules.margin;
        return record->verdict != AB_INVALID && o->blocks >= AB_LEAST_BLOCKS && !(o->block_lag1 > .5) && o->slowdown_bound < record->rules.margin;
    default: return true;
    }
}

bool hbg__ab_conclude(struct ab_record *record)
{
    const struct ab_outcome *first = &record->outcome[0];
    size_t alarms = 0, controls = 0;

    record->noise_floor = NAN;
    record->floor_remembered = false;
    for (size_t i = 0; i < record->series_count; i++) {
        struct ab_rules rules = hbg__ab_rules_of(record, i);
        struct ab_outcome *o = &record->outcome[i];

        if (!hbg__ab_judge(o, &record->series[i], &rules, NULL))
            return false;
        if (!record->control[i])
            continue;
        controls++;
        record->noise_floor = expm1(o->half);
        alarms += o->t_excludes;
    }
    record->verdict = first->verdict;
    snprintf(record->why, sizeof record->why, "%s", first->why);
    for (size_t i = 0; i < record->series_count; i++) {
        if (!record->control[i] || record->outcome[i].verdict != AB_INVALID || record->verdict == AB_INVALID)
            continue;
        record->verdict = AB_INVALID;
        snprintf(record->why, sizeof record->why, "the control of A against A: %.120s", record->outcome[i].why);
    }
    if (alarms == AB_CONTROLS) {
        record->verdict = AB_INVALID;
        snprintf(record->why, sizeof record->why, "A against A differed twice, with two seeds: what is measured here is not the arms");
    }
    if (!controls)
        conclude_remembered(record);
    record->expectation_met = expectation_met(record, first);
    return true;
}

int hbg__ab_exit_status(const struct ab_record *record)
{
    return record->verdict == AB_INVALID ? 3 : record->expectation_met ? 0 : 1;
}

char *hbg__ab_attempt_words(const struct ab_record *record)
{
    const struct ab_outcome *o = &record->outcome[0];
    char *text = NULL;
    char effect[96] = "";
    int length;

    if (!isnan(o->exact))
        snprintf(effect, sizeof effect, ", exactly %+.3g %%", 100 * (o->level_b / o->level_a - 1.0));
    else if (!isnan(o->effect) && isnan(o->low))
        snprintf(effect, sizeof effect, ", effect %+.2f %%, no interval", hbg__ab_percent(o->effect));
    else if (!isnan(o->effect))
        snprintf(effect, sizeof effect, ", effect %+.2f %% [%+.2f, %+.2f]", hbg__ab_percent(o->effect), hbg__ab_percent(o->low), hbg__ab_percent(o->high));
    length = asprintf(&text, "%s, seed %" PRIu64 ", %.0f blocks%s", hbg__ab_verdict_name(record->verdict), record->series[0].seed, o->blocks, effect);
    return length < 0 ? NULL : text;
}
