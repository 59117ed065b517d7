/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison as text.
 */
#include "tools/ab/report.h"

#include "tools/ab/conditions.h"
#include "tools/ab/gpu.h"
#include "tools/ab/holders.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How many seconds the unit of the metric is; 0: it has none that is known. */
static double unit(const char *metric)
{
    return strcmp(metric, "wall") == 0 ? 1.0 : strncmp(metric, "span ", 5) == 0 ? 1e-9 : 0.0;
}

/* So many digits, and no exponent where they can be had without one. */
static void put_number(char *text, size_t size, double value, int digits, const char *behind)
{
    if (fabs(value) >= pow(10.0, digits) - .5 && fabs(value) < 1e15)
        snprintf(text, size, "%.0f%s", value, behind);
    else
        snprintf(text, size, "%.*g%s", digits, value, behind);
}

const char *hbg__ab_level_text(const char *metric, double level, int digits, char *text, size_t size)
{
    double seconds = unit(metric), value = seconds > 0.0 ? level * seconds : level;

    if (isnan(value))
        snprintf(text, size, "none");
    else if (value == 0.0)
        snprintf(text, size, "0");
    else if (seconds <= 0.0)
        put_number(text, size, value, digits, "");
    else if (fabs(value) < 1e-3)
        put_number(text, size, value * 1e6, digits, " us");
    else
        put_number(text, size, fabs(value) < 1.0 ? value * 1e3 : value, digits, fabs(value) < 1.0 ? " ms" : " s");
    return text;
}

static const char *level_text(const struct ab_record *record, double level, char *text, size_t size)
{
    return hbg__ab_level_text(record->metric, level, unit(record->metric) > 0.0 ? AB_TIME_DIGITS : AB_NUMBER_DIGITS, text, size);
}

__attribute__((format(printf, 3, 4))) static void line(FILE *file, const char *label, const char *format, ...)
{
    va_list list;

    fprintf(file, "%-22s ", label);
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
    fputc('\n', file);
}

/* Those that came while it ran, or those that were there before. */
static void print_holders(FILE *file, const struct ab_record *record, bool came)
{
    for (size_t i = 0; i < record->holders.count; i++)
        if (hbg__ab_holder_came(record->holders.fact[i].value) == came)
            line(file, "held", "%s: %s", record->holders.fact[i].name, record->holders.fact[i].value);
}

/* ---- before ---- */

static void print_arm(FILE *file, const char *label, const char *command, const struct ab_facts *facts)
{
    line(file, label, "%s", command);
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].name, "word") != 0 && strcmp(facts->fact[i].name, "command") != 0)
            fprintf(file, "    %-18s %s\n", facts->fact[i].name, facts->fact[i].value);
}

void hbg__ab_print_declared(FILE *file, const struct ab_record *record)
{
    const struct ab_rules *rules = &record->rules;

    print_arm(file, "A", record->command[AB_A], &record->arm[AB_A]);
    print_arm(file, "B", record->command[AB_B], &record->arm[AB_B]);
    for (size_t i = 0; i < record->differences.count; i++)
        line(file, i ? "" : "differ in", "%s: %s", record->differences.fact[i].name, record->differences.fact[i].value);
    if (!record->differences.count)
        line(file, "differ in", "nothing: A against A");
    if (record->causes > 1)
        line(file, "", "%d things: an effect is not attributable to one cause", record->causes);
    line(file, "outputs", "%s", record->outputs_equal ? "equal" : "not equal, in the first run of each arm");
    line(file, "compared", "%s, %s is better, %s of a batch", record->metric, rules->higher ? "more" : "less", rules->mean ? "mean" : "median");
    line(file, "plan", "%u blocks of 4 batches, %.0f %s each (%.0f cold before them kept apart), margin %g %%, level 95 %%, seed %" PRIu64,
         rules->blocks, record->rounds,
         record->inner ? "rounds of one process" : record->rounds == 1.0 ? "process" : "processes", record->cold, 100 * rules->margin, record->series_count ? record->series[0].seed : 0);
    if (!rules->gate)
        line(file, "", "conditions drop no block, as --no-gate asks");
    print_holders(file, record, false);
    if (hbg__ab_floor_fits(&record->remembered, record) && hbg__ab_floor_invalid(&record->remembered))
        line(file, "A against A", "differed twice before: this comparison is INVALID already, unless --aa finds otherwise");
    if (!isnan(record->gpu_look_s))
        line(file, "GPUs", "looked at between processes; a look takes %.0f ms", 1e3 * record->gpu_look_s);
    line(file, "projected", "%.0f s", record->projected_s);
}

/* ---- after ---- */

static void print_effect(FILE *file, const struct ab_record *record, const struct ab_outcome *o)
{
    char a[32], b[32];

    line(file, "levels", "A %s, B %s", level_text(record, o->level_a, a, sizeof a), level_text(record, o->level_b, b, sizeof b));
    if (!isnan(o->exact)) {
        line(file, "difference", "exactly %.17g (%+.3g %%): no interval", o->exact, 100 * (o->level_b / o->level_a - 1));
        return;
    }
    if (isnan(o->effect))
        return;
    if (isnan(o->low)) {
        line(file, "effect", "B against A %+.2f %%, no interval", hbg__ab_percent(o->effect));
        return;
    }
    line(file, "effect", "B against A %+.2f %%, 95 %% interval [%+.2f, %+.2f] %%, 90 %% [%+.2f, %+.2f] %%", hbg__ab_percent(o->effect), hbg__ab_percent(o->low),
         hbg__ab_percent(o->high), hbg__ab_percent(o->low90), hbg__ab_percent(o->high90));
    line(file, "checks", "sign-flip p %.4f, Hodges-Lehmann %+.2f %%", o->flip_p, hbg__ab_percent(o->hodges_lehmann));
}

static void print_blocks(FILE *file, const struct ab_record *record, const struct ab_series *s, const struct ab_outcome *o)
{
    line(file, "blocks", "%.0f count, %.0f dropped", o->blocks, o->dropped);
    if (!isnan(o->sd_d))
        line(file, "", "blocks deviate by %.2f %%, batches of an arm by %.2f %%", 100 * o->sd_d, 100 * o->batch_sd);
    for (uint32_t i = 0; i < s->block_count; i++)
        if (s->dropped[i])
            line(file, "", "block %u dropped: %s", i + 1, s->dropped[i]);
    if (o->dropped > 0.0 && record->rules.gate)
        line(file, "", "with --no-gate what others do on the machine drops no block");
    if (!isnan(o->kept_effect) && isnan(o->kept_low))
        line(file, "with them kept", "%+.2f %%", hbg__ab_percent(o->kept_effect));
    else if (!isnan(o->kept_effect))
        line(file, "with them kept", "%+.2f %%, 95 %% interval [%+.2f, %+.2f] %%", hbg__ab_percent(o->kept_effect), hbg__ab_percent(o->kept_low), hbg__ab_percent(o->kept_high));
    if (!isnan(o->slot))
        line(file, "slot check", "2nd and 4th batch against 1st and 3rd %+.2f %% [%+.2f, %+.2f]%s", hbg__ab_percent(o->slot), hbg__ab_percent(o->slot_low), hbg__ab_percent(o->slot_high),
             o->slot_low > 0.0 || o->slot_high < 0.0 ? ": a batch works on into the next; --cool-down MS may help" : "");
    if (!isnan(o->block_lag1))
        line(file, "blocks in a row", "lag-1 %.2f%s", o->block_lag1, o->inflation > 1.0 ? ", for which the interval is wider" : "");
    if (record->rules.pilot)
        line(file, "sizing", "after %u blocks, for a half width of %g %%", record->rules.pilot, 100 * record->rules.resolve);
}

static void print_rounds(FILE *file, const struct ab_record *record, const struct ab_outcome *o)
{
    char a[32], b[32];

    bool exact = record->verdict == AB_DETERMINISTIC;       /* what is left of a variance is rounding */
    if (!isnan(o->round_lag1) && !exact)
        line(file, "rounds in a row", "lag-1 %.3f, notable in %.0f batches: %.0f rounds know as much as %.0f independent ones", o->round_lag1,
             o->lag1_notable, o->rounds, o->effective);
    if (!isnan(o->design_effect) && !exact)
        line(file, "design effect", "%.1f: variance of rounds %.3g, of batches beyond it %.3g, intraclass %.2f", o->design_effect, o->variance_rounds,
             o->variance_batches, o->correlation);
    if (!isnan(o->cold_a) || !isnan(o->cold_b))
        line(file, "cold rounds", "A %s, B %s", level_text(record, o->cold_a, a, sizeof a), level_text(record, o->cold_b, b, sizeof b));
    if (record->counter)
        line(file, "counter", "%s: A %.17g, B %.17g", record->counter, o->counter_a, o->counter_b);
}

/* The smallest number of a GPU that was looked at, from `least` on; -1: none. */
static int64_t next_gpu(const struct ab_series *s, int64_t least)
{
    int64_t found = -1;

    for (size_t i = 0; i < s->batch_count; i++)
        for (size_t k = 0; k < s->batch[i].gpu_count; k++)
            if (s->batch[i].gpu[k].index >= least && (found < 0 || s->batch[i].gpu[k].index < found))
                found = s->batch[i].gpu[k].index;
    return found;
}

/* What all looks at a GPU saw. */
struct gpu_seen {
    struct { double low, high; } of[4];         /* clocks, power, temperature; NaN: not told */
    double looks, told, slowed, shared;         /* looks: all, those that tell of throttling, those that saw it, those that saw others */
    double others, mib;                         /* at most */
    uint64_t reasons;
};

static void see_gpu(struct gpu_seen *seen, const struct ab_series *s, int64_t index)
{
    *seen = (struct gpu_seen){ .of = { { NAN, NAN }, { NAN, NAN }, { NAN, NAN }, { NAN, NAN } } };
    for (size_t i = 0; i < s->batch_count; i++)
        for (size_t k = 0; k < s->batch[i].gpu_count; k++) {
            const struct ab_gpu *g = &s->batch[i].gpu[k];
            const double value[] = { g->sm_mhz, g->memory_mhz, g->watts, g->celsius };
            uint64_t slowed = hbg__ab_gpu_slowed(g->throttle);

            if (g->index != index)
                continue;
            for (size_t n = 0; n < sizeof value / sizeof *value; n++) {         /* fmin and fmax pass over NaN */
                seen->of[n].low = fmin(seen->of[n].low, value[n]);
                seen->of[n].high = fmax(seen->of[n].high, value[n]);
            }
            seen->looks++;
            seen->told += !isnan(g->throttle);
            seen->slowed += slowed != 0;
            seen->reasons |= slowed;
            seen->shared += g->others > 0.0;
            seen->others = fmax(seen->others, g->others);
            seen->mib = fmax(seen->mib, g->others_mib);
        }
}

/* Behind what is there, as far as there is room. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;

    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

static void print_gpus(FILE *file, const struct ab_record *record, const struct ab_series *s)
{
    static const char *const unit[] = { " MHz", " MHz of memory", " W", " degrees" };
    const char *why = hbg__ab_fact_get(&record->host, "nvidia-smi");
    char text[192], name[32], words[128];
    struct gpu_seen seen;

    for (int64_t index = next_gpu(s, 0); index >= 0; index = next_gpu(s, index + 1)) {
        see_gpu(&seen, s, index);
        snprintf(name, sizeof name, "GPU %" PRId64, index);
        text[0] = '\0';
        for (size_t n = 0; n < sizeof unit / sizeof *unit; n++) {
            if (!isnan(seen.of[n].low))
                append(text, sizeof text, "%s%.0f", *text ? ", " : "", seen.of[n].low);
            if (seen.of[n].high > seen.of[n].low)
                append(text, sizeof text, " to %.0f", seen.of[n].high);
            if (!isnan(seen.of[n].low))
                append(text, sizeof text, "%s", unit[n]);
        }
        line(file, name, "%s", *text ? text : "tells neither clocks nor power nor temperature");
        if (seen.slowed > 0.0)
            line(file, "", "throttled in %.0f of %.0f looks: %s", seen.slowed, seen.looks, hbg__ab_gpu_words((double)seen.reasons, words, sizeof words));
        else
            line(file, "", "%s in %.0f looks", seen.told > 0.0 ? "never throttled" : "whether it was throttled is not told", seen.looks);
        if (seen.shared > 0.0)
            line(file, "", "others on it in %.0f of %.0f looks: at most %.0f process%s with %.0f MiB", seen.shared, seen.looks, seen.others, seen.others == 1.0 ? "" : "es", seen.mib);
    }
    if (why)
        line(file, "GPUs", "nvidia-smi: %s", why);
}

/* Of all batches: what was seen of others, of the clock, of waits. */
static void print_conditions(FILE *file, const struct ab_series *s)
{
    double foreign = 0.0, most = 0.0, steal = 0.0, switches = 0.0, wait = 0.0, psi = 0.0, low = INFINITY, high = 0.0, hot = -INFINITY;

    if (!s->batch_count)
        return;
    for (size_t i = 0; i < s->batch_count; i++) {
        const struct ab_batch *b = &s->batch[i];
        struct ab_stretch t = hbg__ab_stretch_of(&b->sample[AB_START], &b->sample[AB_END]);

        foreign += t.foreign / (double)s->batch_count;
        steal += t.steal / (double)s->batch_count;
        psi += t.psi_cpu / (double)s->batch_count;
        most = fmax(most, t.foreign);
        switches += b->switches;
        wait += b->wait_s;
        low = fmin(low, b->sample[AB_MIDDLE].mhz);
        high = fmax(high, b->sample[AB_MIDDLE].mhz);
        hot = fmax(hot, b->sample[AB_END].celsius);
    }
    line(file, "conditions", "others %.1f %% of a CPU (a batch at most %.1f), steal %.2f %%, stalls on CPU %.1f %%", 100 * foreign, 100 * most,
         100 * steal, 100 * psi);
    line(file, "", "%.0f involuntary switches, %.3g s on run queues, load %.2f to %.2f (it holds the own load)", switches, wait,
         s->batch[0].sample[AB_START].load, s->batch[s->batch_count - 1].sample[AB_END].load);
    if (isfinite(low))
        line(file, "", "%.0f to %.0f MHz", low, high);
    if (isfinite(hot))
        line(file, "", "at most %.0f degrees", hot);
}

/* "of 2026-01-02 03:04 (10 blocks, 9 rounds a batch, seed 2)"; the time is that of Greenwich, so that a file says the same everywhere. */
static const char *floor_words(const struct ab_floor *floor, char *text, size_t size)
{
    time_t seconds = (time_t)floor->measured;
    char when[32] = "?", more[64] = "";
    struct tm parts;

    if (gmtime_r(&seconds, &parts))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &parts);
    if (floor->runs > 1)
        snprintf(more, sizeof more, "; the last of %u, %u INVALID", floor->runs, floor->invalid_runs);
    snprintf(text, size, "of %s UTC (%.0f blocks, %.0f round%s a batch, seed %" PRIu64 "%s)", when, floor->blocks, floor->rounds, floor->rounds == 1.0 ? "" : "s",
             floor->control[floor->controls - 1].seed, more);
    return text;
}

/* Where no control was asked for: what an earlier one says, or that there is none. */
static void print_remembered(FILE *file, const struct ab_record *record)
{
    const struct ab_floor *floor = &record->remembered;
    char words[192];

    if (!floor->measured) {
        if (!record->control_left_out)
            line(file, "noise floor", "not known for this host and configuration: --aa measures it");
        return;
    }
    floor_words(floor, words, sizeof words);
    if (!record->floor_remembered)
        line(file, "noise floor", "not known: A against A %s was of another size; --aa measures it", words);
    else if (!hbg__ab_floor_invalid(floor))
        line(file, "noise floor", "%.2f %%, from A against A %s", 100 * floor->half, words);
    for (uint32_t i = 0; i < floor->controls && record->floor_remembered && floor->controls > 1; i++)
        line(file, i ? "" : "A against A", "%+.2f %% [%+.2f, %+.2f] %%, seed %" PRIu64 ", before%s", hbg__ab_percent(floor->control[i].effect), hbg__ab_percent(floor->control[i].low),
             hbg__ab_percent(floor->control[i].high), floor->control[i].seed, floor->control[i].low > 0.0 || floor->control[i].high < 0.0 ? ": it excludes 0" : "");
    if (record->floor_remembered && hbg__ab_floor_invalid(floor))
        line(file, "", "%s; --aa measures it anew", words);
}

static void print_control(FILE *file, const struct ab_record *record)
{
    for (size_t i = 0; i < record->series_count; i++) {
        const struct ab_outcome *o = &record->outcome[i];
        if (record->control[i] && isnan(o->low))
            line(file, "A against A", "%s: %s, seed %" PRIu64, hbg__ab_verdict_name(o->verdict), o->why, record->series[i].seed);
        else if (record->control[i])
            line(file, "A against A", "%+.2f %% [%+.2f, %+.2f] %%, seed %" PRIu64 "%s", hbg__ab_percent(o->effect), hbg__ab_percent(o->low), hbg__ab_percent(o->high),
                 record->series[i].seed, o->t_excludes ? ": it excludes 0" : "");
    }
    if (record->control_left_out)
        line(file, "A against A", "%s", AB_CONTROL_LEFT_OUT);
    if (!isnan(record->noise_floor) && !record->floor_remembered)
        line(file, "noise floor", "%.2f %%, the half width of A against A", 100 * record->noise_floor);
    else if (record->causes && record->series_count == 1)
        print_remembered(file, record);
}

/* Where an effect comes from: no verdict, since nobody declared them before. */
static void print_parts(FILE *file, const struct ab_record *record)
{
    enum { MOST = 32 };
    struct ab_part_effect effect[MOST];
    size_t count = hbg__ab_judge_parts(effect, MOST, &record->series[0]);
    char a[32];

    if (count)
        line(file, "exploratory", "spans inside of it; a control by --aa and a comparison of its own make a finding of one");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "    %-42s %+8.2f %% [%+.2f, %+.2f], Holm p %.4f, in A %s\n", effect[i].name, hbg__ab_percent(effect[i].effect), hbg__ab_percent(effect[i].low),
                hbg__ab_percent(effect[i].high), effect[i].holm,
                level_text(record, effect[i].level_a, a, sizeof a));
}

static void print_inconclusive(FILE *file, const struct ab_record *record, const struct ab_outcome *o)
{
    static const double finer[] = { .09, .06, .03 };
    double sd = isnan(o->sd_d) ? o->batch_sd : o->sd_d * sqrt(o->inflation);

    if (!isnan(o->half))
        line(file, "reached", "a half width of %.2f %%; %.0f blocks would reach the margin of %g %%", 100 * o->half, o->needed, 100 * record->rules.margin);
    else if (!isnan(sd))
        line(file, "reached", "no half width; with batches that deviate by %.1f %%, %.0f blocks would reach the margin of %g %%", 100 * sd, o->needed,
             100 * record->rules.margin);
    for (size_t i = 0; i < sizeof finer / sizeof *finer && !isnan(sd) && isnan(o->half); i++)
        line(file, "", "%.0f blocks resolve %.0f %%", hbg__ab_blocks_needed(sd, finer[i]), 100 * finer[i]);
}

void hbg__ab_print_result(FILE *file, const struct ab_record *record)
{
    const struct ab_outcome *o = &record->outcome[0];

    fprintf(file, "\n%s: %s\n\n", hbg__ab_verdict_name(record->verdict), record->why);
    print_effect(file, record, o);
    if (record->verdict == AB_INCONCLUSIVE)
        print_inconclusive(file, record, o);
    print_control(file, record);
    print_blocks(file, record, &record->series[0], o);
    print_rounds(file, record, o);
    print_parts(file, record);
    print_conditions(file, &record->series[0]);
    print_holders(file, record, true);
    print_gpus(file, record, &record->series[0]);
    if (record->causes > 1)
        line(file, "cause", "not attributable to one: %d things differ", record->causes);
    if (record->expect != AB_EXPECT_NOTHING)
        line(file, "expected", "%s: %s", hbg__ab_expectation_name[record->expect], record->expectation_met ? "met" : "not met");
    if (record->expect == AB_EXPECT_NOT_SLOWER && !isnan(o->slowdown_bound))
        line(file, "", "the slowdown is below %.2f %% (one-sided, 95 %%), the margin %g %%", 100 * o->slowdown_bound, 100 * record->rules.margin);
    for (size_t i = 0; i < record->attempts.count; i++)
        line(file, i ? "" : "earlier attempts", "%s: %s", record->attempts.fact[i].name, record->attempts.fact[i].value);
}
