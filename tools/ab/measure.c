/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running the blocks.
 */
#include "tools/ab/measure.h"

#include "base/clock.h"
#include "base/rng.h"
#include "tools/ab/child.h"
#include "tools/ab/conditions.h"
#include "tools/ab/holders.h"
#include "tools/ab/report.h"
#include "tools/ab/sample.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REHEARSALS = 2, INNER_COLD = 2, BLOCKS_MOST = 1000, TRIES_MOST = 4 };
static const double batch_least_s = .1;
static const char place[] = "{rounds}";

/* ---- one process ---- */

/* A process of an arm, its values read. False: `why` of the measuring says how it failed. */
static bool run_once(struct ab_measuring *m, uint32_t arm, const struct ab_child_wish *more, struct ab_child_end *end)
{
    struct ab_child_wish wish = *more;
    char why[sizeof m->why - 32];
    bool good;

    wish.command = m->running[arm];
    wish.timeout_s = m->record->timeout_s;
    wish.trace = *m->trace ? m->trace : NULL;
    if (*m->trace)
        unlink(m->trace);
    hbg__ab_child_run(&wish, end);
    good = !*end->why;
    snprintf(why, sizeof why, "%s", end->why);
    if (good)
        good = hbg__ab_metric_read(&m->metric, end->output, end->size, m->trace, end->seconds, &m->values, &m->parts, why, sizeof why);
    for (size_t i = 0; i < m->values.count && good; i++) {
        if (m->values.value[i] > 0.0 && isfinite(m->values.value[i]))
            continue;
        snprintf(why, sizeof why, "it reports %g, and only numbers above 0 can be compared", m->values.value[i]);
        good = false;
    }
    if (!good)
        snprintf(m->why, sizeof m->why, "%s: %s", arm == AB_A ? "A" : "B", why);
    return good;
}

/* The counter of a process: the sum of its values, of a span's notes over warm runs their mean. */
static bool read_counter(struct ab_measuring *m, uint32_t arm, const struct ab_child_end *end, double *counter)
{
    struct ab_values values = { .value = NULL };
    char why[sizeof m->why - 32];
    double sum = 0.0, warm = 0.0;
    bool good = hbg__ab_metric_read(&m->counter, end->output, end->size, m->trace, end->seconds, &values, NULL, why, sizeof why);

    for (size_t i = 0; i < values.count && good; i++) {
        if (m->counter.kind == AB_SPAN && (double)values.round[i] <= m->record->cold)
            continue;
        sum += values.value[i];
        warm++;
    }
    *counter = m->counter.kind == AB_SPAN && warm > 0.0 ? sum / warm : sum;
    if (!good)
        snprintf(m->why, sizeof m->why, "%s: --expect-differs: %s", arm == AB_A ? "A" : "B", why);
    hbg__ab_values_free(&values);
    return good;
}

/* ---- the first runs ---- */

/* The command with its {rounds} replaced; NULL: no memory. */
static char *fill_in(const char *command, double rounds)
{
    size_t size = 0;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    for (const char *at = command, *found; *at; at = found + sizeof place - 1) {
        found = strstr(at, place);
        fprintf(stream, "%.*s", found ? (int)(found - at) : (int)strlen(at), at);
        if (!found)
            break;
        fprintf(stream, "%.0f", rounds);
    }
    return fclose(stream) == 0 ? text : NULL;
}

static bool fill_in_both(struct ab_measuring *m, double rounds)
{
    for (int arm = 0; arm < AB_ARMS; arm++) {
        free(m->running[arm]);
        m->running[arm] = fill_in(m->record->command[arm], rounds);
        if (!m->running[arm])
            return false;
    }
    return true;
}

/* What the first runs say, of the arm that says least. */
struct first_runs { double rounds[AB_ARMS], warm[AB_ARMS], seconds[AB_ARMS]; char *output[AB_ARMS]; size_t size[AB_ARMS]; };

/* The first runs are cold, and no part of any batch. */
static bool note_first(struct ab_measuring *m, uint32_t arm, const char *name)
{
    enum { SHOWN = 8 };
    int digits = m->metric.kind == AB_WALL || m->metric.kind == AB_SPAN ? AB_TIME_DIGITS : AB_NUMBER_DIGITS;
    char text[SHOWN * 34 + 8], one[32];
    size_t used = 0;

    for (size_t k = 0; k < m->values.count && k < SHOWN; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "",
                                 hbg__ab_level_text(m->record->metric, m->values.value[k], digits, one, sizeof one));
    snprintf(text + used, sizeof text - used, "%s", m->values.count > SHOWN ? ", .." : "");
    return hbg__ab_fact(&m->record->arm[arm], name, "%s", text);
}

static enum ab_ending run_first(struct ab_measuring *m, struct first_runs *f, bool keep)
{
    for (int i = 0; i < REHEARSALS * AB_ARMS; i++) {
        uint32_t arm = (uint32_t)(i % AB_ARMS);
        struct ab_child_end end;
        double counter;
        bool good = run_once(m, arm, &(struct ab_child_wish){ .padding = 0 }, &end);

        if (good && m->record->counter)
            good = read_counter(m, arm, &end, &counter);
        f->rounds[arm] = (double)m->values.count;
        f->warm[arm] = 0.0;
        for (size_t k = 0; k < m->values.count; k++)
            f->warm[arm] += (double)m->values.round[k] > m->record->cold;
        f->seconds[arm] = end.seconds;
        if (good && keep)
            good = note_first(m, arm, i < AB_ARMS ? "first run" : "second run");
        if (i < AB_ARMS && keep) {
            f->output[arm] = end.output;
            f->size[arm] = end.size;
        } else {
            free(end.output);
        }
        if (hbg__ab_signal_taken())
            return AB_SIGNALLED;
        if (!good)
            return AB_FAILED;
    }
    return AB_MEASURED;
}

static double least(const double *of)
{
    return of[AB_A] < of[AB_B] ? of[AB_A] : of[AB_B];
}

/* What to do about a process with too few rounds. */
static const char *advice(const struct ab_record *record, bool adjustable)
{
    if (!adjustable)
        return "with {rounds} in both commands their number is put there";
    return record->rounds > 0.0 ? "ask for more with --rounds, or leave it out: their number is then found" : "it does not take the number that stands for {rounds}";
}

/* Many rounds a process: at least 30 warm ones and 100 ms. */
static enum ab_ending settle_inner(struct ab_measuring *m, struct first_runs *f)
{
    struct ab_record *record = m->record;
    bool adjustable = strstr(record->command[AB_A], place) && strstr(record->command[AB_B], place);
    double rounds = record->rounds > 0.0 ? record->rounds : AB_LEAST_ROUNDS;
    enum ab_ending ending = AB_MEASURED;

    for (int tries = 0; adjustable && tries < TRIES_MOST && ending == AB_MEASURED; tries++) {
        double factor = record->rounds > 0.0 ? 0.0 : batch_least_s / least(f->seconds);
        if (tries && factor <= 1.0)
            break;
        rounds = tries ? ceil(rounds * fmin(factor * (1.0 + 0.25 * tries), 1000.0)) : rounds;      /* more to spare each time: a machine may be faster the next time */
        if (!fill_in_both(m, rounds + record->cold))
            return AB_FAILED;
        ending = run_first(m, f, false);
    }
    if (ending != AB_MEASURED)
        return ending;
    rounds = record->rounds > 0.0 ? record->rounds : least(f->warm);
    if (rounds < AB_LEAST_ROUNDS || least(f->warm) < rounds) {
        snprintf(m->why, sizeof m->why, "a process reports %.0f rounds of which %.0f are warm, and a batch needs %.0f warm ones; %s", least(f->rounds),
                 least(f->warm), fmax(rounds, AB_LEAST_ROUNDS), advice(record, adjustable));
        return AB_REFUSED;
    }
    if (least(f->seconds) < batch_least_s) {
        snprintf(m->why, sizeof m->why, "a process takes %.0f ms, and a batch needs 100; %s", 1e3 * least(f->seconds), advice(record, adjustable));
        return AB_REFUSED;
    }
    record->rounds = rounds;
    m->process_s = fmax(f->seconds[AB_A], f->seconds[AB_B]);
    return AB_MEASURED;
}

/* A process a round: as many in a row as take 100 ms, thirty at most, unless it was said how many. */
static enum ab_ending settle_outer(struct ab_measuring *m, const struct first_runs *f)
{
    double wanted = ceil(batch_least_s / least(f->seconds));

    if (!m->cold_given)
        m->record->cold = 0.0;
    if (m->record->rounds <= 0.0)
        m->record->rounds = fmax(1.0, fmin(wanted, AB_LEAST_ROUNDS));
    m->process_s = fmax(f->seconds[AB_A], f->seconds[AB_B]);
    return AB_MEASURED;
}

/* Traces go to a folder that nobody else may write to. */
static bool make_trace_folder(struct ab_measuring *m)
{
    const char *where = getenv("TMPDIR");

    if ((size_t)snprintf(m->folder, sizeof m->folder, "%s/hbg-ab-XXXXXX", where && *where == '/' ? where : "/tmp") < sizeof m->folder && mkdtemp(m->folder)) {
        snprintf(m->trace, sizeof m->trace, "%s/trace", m->folder);
        return true;
    }
    m->folder[0] = '\0';
    snprintf(m->why, sizeof m->why, "there is no folder for traces: %s", strerror(errno));
    return false;
}

enum ab_ending hbg__ab_rehearse(struct ab_measuring *m)
{
    struct ab_record *record = m->record;
    struct first_runs f = { .rounds = { 0.0 } };
    double processes, looks;
    enum ab_ending ending;

    if (m->metric.kind == AB_SPAN || (record->counter && m->counter.kind == AB_SPAN))
        if (!make_trace_folder(m))
            return AB_FAILED;
    if (!m->cold_given)
        record->cold = INNER_COLD;
    if (!fill_in_both(m, (record->rounds > 0.0 ? record->rounds : AB_LEAST_ROUNDS) + record->cold))
        return AB_FAILED;
    ending = run_first(m, &f, true);
    if (ending == AB_MEASURED) {
        record->inner = f.rounds[AB_A] > 1.0 || f.rounds[AB_B] > 1.0;
        record->outputs_equal = f.size[AB_A] == f.size[AB_B] && memcmp(f.output[AB_A], f.output[AB_B], f.size[AB_A]) == 0;
        ending = record->inner ? settle_inner(m, &f) : settle_outer(m, &f);
    }
    free(f.output[AB_A]);
    free(f.output[AB_B]);
    processes = record->inner ? 1.0 : record->rounds + record->cold;
    looks = m->gpus.there ? (processes > 1.0 ? 3.0 : 2.0) * m->gpus.look_s : 0.0;
    record->gpu_look_s = m->gpus.there ? m->gpus.look_s : NAN;
    record->projected_s = AB_BATCHES * (m->process_s * processes + record->cool_down_s + looks) * record->rules.blocks;
    return ending;
}

/* ---- batches ---- */

static void take_middle(void *context)
{
    hbg__ab_sample_take(&((struct ab_batch *)context)->sample[AB_MIDDLE]);
}

static void show(const struct ab_measuring *m, const struct ab_series *series, uint32_t block, uint32_t slot, double ahead, bool control)
{
    const struct ab_batch *last = series->batch_count > 1 ? &series->batch[series->batch_count - 2] : NULL;
    double passed = (double)hbg__clock_ns() * 1e-9 - m->begin_s, done = block * (double)AB_BATCHES + slot, left;
    char foreign[48] = "";

    if (!m->live)
        return;
    if (last) {
        struct ab_stretch s = hbg__ab_stretch_of(&last->sample[AB_START], &last->sample[AB_END]);
        snprintf(foreign, sizeof foreign, ", others %.1f %%, load %.2f", 100 * s.foreign, last->sample[AB_END].load);
    }
    left = done > 0.0 ? passed / done * (ahead * AB_BATCHES - done) : ahead * AB_BATCHES * m->process_s * (m->record->inner ? 1.0 : m->record->rounds);
    fprintf(stderr, "\r\033[K%s block %" PRIu32 " of %.0f, batch %" PRIu32 " of %d%s, %.0f s left", control ? "A/A" : "A/B", block + 1, ahead,
            slot + 1, AB_BATCHES, foreign, fmax(0.0, left));
    fflush(stderr);
}

/* The values of one process into the batch; cold ones of a process that reports many are its first. */
static bool keep_values(struct ab_measuring *m, struct ab_batch *batch, bool cold_process)
{
    for (size_t i = 0; i < m->values.count; i++) {
        bool cold = m->record->inner ? (double)m->values.round[i] <= m->record->cold : cold_process;
        if (!cold && (double)batch->round_count >= m->record->rounds)
            break;                      /* both arms have the same number of rounds */
        if (!hbg__ab_batch_add(batch, cold, m->values.value[i]))
            return false;
    }
    return true;
}

/* What the spans inside of the metric's took, each the median of the warm rounds. */
static bool keep_parts(struct ab_measuring *m, struct ab_batch *batch)
{
    for (size_t i = 0; i < m->parts.count; i++) {
        struct ab_values *v = &m->parts.of[i];
        size_t warm = 0;

        for (size_t k = 0; k < v->count; k++)
            if (!m->record->inner || (double)v->round[k] > m->record->cold)
                v->value[warm++] = v->value[k];
        if (warm && !hbg__ab_batch_part(batch, m->parts.name[i], hbg__sample_median(v->value, warm)))
            return false;
    }
    return true;
}

/* False: no memory, and `why` says so. */
static bool look_at_gpus(struct ab_measuring *m, struct ab_batch *batch, uint32_t moment)
{
    if (hbg__ab_gpus_look(&m->gpus, batch, moment, &m->record->host))
        return true;
    snprintf(m->why, sizeof m->why, "no memory for what GPUs tell");
    return false;
}

/* False: a process failed, and `why` of the measuring says how. */
static bool run_batch(struct ab_measuring *m, struct ab_batch *batch, uint32_t arm)
{
    struct ab_record *record = m->record;
    uint32_t processes = record->inner ? 1 : (uint32_t)(record->rounds + record->cold);
    double expected = processes * m->process_s;
    uint64_t middle;
    bool good = true;

    if (!look_at_gpus(m, batch, AB_START))
        return false;
    if (record->cool_down_s > 0.0)
        hbg__ab_pause(record->cool_down_s);
    hbg__ab_sample_take(&batch->sample[AB_START]);
    batch->sample[AB_MIDDLE].at_s = NAN;
    middle = hbg__clock_ns() + (uint64_t)(.5e9 * expected);
    for (uint32_t i = 0; i < processes && good && !hbg__ab_signal_taken(); i++) {
        struct ab_child_wish wish = { .padding = batch->padding, .alarm = take_middle, .context = batch };
        struct ab_child_end end;

        wish.alarm_ns = isnan(batch->sample[AB_MIDDLE].at_s) ? middle : 0;
        good = run_once(m, arm, &wish, &end) && keep_values(m, batch, i < record->cold) && (!record->inner || keep_parts(m, batch));
        if (good && record->counter)
            good = read_counter(m, arm, &end, &batch->counter);
        batch->switches += end.switches;
        batch->wait_s += end.wait_s;
        free(end.output);
        if (good && i + 1 == (processes + 1) / 2 && processes > 1)
            good = look_at_gpus(m, batch, AB_MIDDLE);
    }
    hbg__ab_sample_take(&batch->sample[AB_END]);
    if (isnan(batch->sample[AB_MIDDLE].at_s))
        batch->sample[AB_MIDDLE] = batch->sample[AB_END];
    if (good && (double)batch->round_count < record->rounds) {
        snprintf(m->why, sizeof m->why, "%s: a process reported %zu warm rounds of %.0f", arm == AB_A ? "A" : "B", batch->round_count, record->rounds);
        good = false;
    }
    if (!hbg__ab_holders_look(&record->holders, batch)) {
        snprintf(m->why, sizeof m->why, "no memory for who has a device");
        return false;
    }
    return look_at_gpus(m, batch, AB_END) && good;
}

/* ---- blocks ---- */

static enum ab_ending run_block(struct ab_measuring *m, struct ab_series *series, struct hbg__rng *rng, bool control, double ahead)
{
    uint32_t block = series->block_count, first = (uint32_t)hbg__rng_below(rng, 2), padding[AB_BATCHES];
    char why[sizeof m->why];
    bool good = true;

    for (int i = 0; i < AB_BATCHES; i++)
        padding[i] = 16 * (uint32_t)hbg__rng_below(rng, 256);
    for (uint32_t slot = 0; slot < AB_BATCHES && good; slot++) {
        struct ab_batch *batch = hbg__ab_series_add(series, block);

        if (!batch)
            return AB_FAILED;
        batch->slot = slot;
        batch->arm = slot == 0 || slot == 3 ? first : 1 - first;
        batch->padding = padding[slot];
        show(m, series, block, slot, ahead, control);
        good = run_batch(m, batch, control ? AB_A : batch->arm);
        if (hbg__ab_signal_taken())
            return AB_SIGNALLED;
    }
    snprintf(why, sizeof why, "%s", m->why);
    if (good)
        good = !m->record->rules.gate || hbg__ab_block_good(&series->batch[series->batch_count - AB_BATCHES], why, sizeof why);
    return good || hbg__ab_series_drop(series, block, why) ? AB_MEASURED : AB_FAILED;
}

/* The pilot is over: how many blocks there will be. */
static void size_up(struct ab_measuring *m, const struct ab_series *series)
{
    struct ab_record *record = m->record;
    struct ab_rules rules = record->rules;
    struct ab_outcome outcome;
    double wanted;

    if (!hbg__ab_judge(&outcome, series, &rules, NULL))
        return;
    wanted = hbg__ab_blocks_after(rules.pilot, outcome.sd_d, rules.resolve);
    record->rules.blocks = (uint32_t)fmin(wanted, BLOCKS_MOST);
    if (!m->quiet)
        fprintf(stderr, "%shbg ab: after %u blocks: they deviate by %.2f %%, so that %.0f blocks resolve %g %%%s\n", m->live ? "\r\033[K" : "",
                rules.pilot, 100 * outcome.sd_d, wanted, 100 * rules.resolve,
                wanted > BLOCKS_MOST ? "; it stops at 1000" : "");
}

enum ab_ending hbg__ab_measure(struct ab_measuring *m, bool control, uint64_t seed)
{
    struct ab_record *record = m->record;
    struct ab_series *series = &record->series[record->series_count];
    bool pilot = record->rules.pilot && !control;
    enum ab_ending ending = AB_MEASURED;
    struct hbg__rng rng;

    record->control[record->series_count++] = control;
    series->seed = seed;
    hbg__rng_seed(&rng, seed);
    m->begin_s = (double)hbg__clock_ns() * 1e-9;
    while (ending == AB_MEASURED) {
        uint32_t dropped = hbg__ab_series_dropped(series), kept = series->block_count - dropped;

        if (pilot && kept == record->rules.pilot) {
            size_up(m, series);
            pilot = false;
        }
        if (kept == record->rules.blocks || dropped * 5 > record->rules.blocks)
            break;
        ending = run_block(m, series, &rng, control, record->rules.blocks + (double)dropped);
    }
    if (m->live)
        fputs("\r\033[K", stderr);
    if (ending == AB_FAILED && !*m->why)
        snprintf(m->why, sizeof m->why, "no memory for its rounds");
    return ending;
}

void hbg__ab_measuring_end(struct ab_measuring *m)
{
    if (*m->folder) {
        unlink(m->trace);
        rmdir(m->folder);
    }
    hbg__ab_metric_close(&m->metric);
    hbg__ab_metric_close(&m->counter);
    hbg__ab_values_free(&m->values);
    hbg__ab_parts_free(&m->parts);
    free(m->running[AB_A]);
    free(m->running[AB_B]);
}
