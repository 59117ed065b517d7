/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - batches of all cases in turn.
 *
 *     first two runs of every case     they grow what has to grow; the first is `cold`
 *     round 0: a batch of case 0, a batch of case 1, ..
 *     round 1: the same                until there are enough rounds, or their time is over
 *                                      of another runtime: or its own time is, and it has a few
 *
 * A batch is one run that is not timed, so that caches hold this case again, and then as many as take 1 ms together; its value is
 * the mean of those. Medians and the tenth and ninetieth percentile are taken over batches.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/targets.h"
#include "tools/cli.h"
#include "tools/progress.h"

enum { QUICK_REPS = 3, REPS_MIN = 5, BESIDE_REPS_MIN = 3 };
static const uint64_t FULL_NS = 15000000000u, BESIDE_NS = 1500000000u, BESIDE_QUICK_NS = 200000000u;

bool hbg__bench_wants(struct bench *b, const char *name)
{
    char entry[64];
    size_t length = strlen(b->others), size = (size_t)snprintf(entry, sizeof entry, "%s; ", name);
    if (!b->only || strcmp(b->only, name) == 0) return true;
    const char *found = strstr(b->others, entry);
    while (found && found != b->others && found[-1] != ' ') found = strstr(found + 1, entry);
    if (!found && length + size < sizeof b->others) memcpy(b->others + length, entry, size + 1);
    return false;
}

struct bench_case *hbg__bench_add_beside(struct bench *b, const char *name, const char *runtime, const char *unit, uint32_t workers)
{
    struct bench_case *c = &b->cases[b->case_count++];
    *c = (struct bench_case){ .unit = unit, .workers = workers };
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->runtime, sizeof c->runtime, "%s", runtime);
    for (size_t i = 0; i < sizeof bench_targets / sizeof bench_targets[0]; i++) {
        const struct bench_target *t = &bench_targets[i];
        bool same_way = strcmp(t->runtime, runtime) == 0 || (strcmp(runtime, "hbg, made") == 0 && strcmp(t->runtime, "hbg, again") != 0);
        if (strcmp(t->bench, b->name) == 0 && strcmp(t->name, name) == 0 && same_way && t->workers == workers) c->target = t->value;
    }
    return c;
}

struct bench_case *hbg__bench_add(struct bench *b, const char *name, const char *unit, uint32_t workers, bench_run_fn *run, void *of)
{
    return hbg__bench_add_way(b, name, false, unit, workers, run, of);
}

struct bench_case *hbg__bench_add_way(struct bench *b, const char *name, bool made, const char *unit, uint32_t workers, bench_run_fn *run, void *of)
{
    struct bench_case *c = hbg__bench_add_beside(b, name, made ? "hbg, made" : "hbg", unit, workers);
    c->run = run;
    c->of = of;
    return c;
}

bool hbg__bench_fail(struct bench *b, const char *what, enum hbg_status status)
{
    bool said = b->error.status == status && b->error.text[0];
    char command[32];
    snprintf(command, sizeof command, "bench %s", b->name);
    hbg__cli_error(command, "%s: %s: %s", what, hbg_status_name(status), said ? b->error.text : hbg_status_text(status));
    return false;
}

static bool run_first(struct bench *b, struct bench_case *c)
{
    uint64_t ns = 0, units = 1;
    for (int i = 0; i < 2 && c->run && !c->batches_itself; i++) {
        enum hbg_status status = c->run(c, &ns, &units);
        if (status) return hbg__bench_fail(b, c->name, status);
        if (i == 0) c->cold = (double)ns / (double)units;
    }
    return true;
}

static bool run_batch(struct bench *b, struct bench_case *c)
{
    uint64_t sum_ns = 0, sum_minus_ns = 0, sum_units = 0, ns, units;
    if (!c->run) return true;           /* it has its samples */
    enum hbg_status status = c->batches_itself ? c->run(c, &sum_ns, &sum_units) : c->run(c, &ns, &units);
    while (!status && sum_ns < BENCH_BATCH_NS) {
        status = c->run(c, &ns, &units);
        sum_ns += ns;
        sum_minus_ns += c->minus_ns ? *c->minus_ns : 0;
        sum_units += units;
    }
    if (status) return hbg__bench_fail(b, c->name, status);
    c->spent_ns += sum_ns;
    c->sample[c->reps++] = ((double)sum_ns - (double)sum_minus_ns) / (double)sum_units;
    return true;
}

/* Some runtimes take seconds for a graph that hbg runs in milliseconds. */
static bool has_enough(const struct bench *b, const struct bench_case *c)
{
    return c->batches_itself && c->reps >= (b->quick ? 1 : BESIDE_REPS_MIN) && c->spent_ns > (b->quick ? BESIDE_QUICK_NS : BESIDE_NS);
}

static int ascending(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

void hbg__bench_summarise(struct bench_case *c)
{
    uint32_t last = c->reps - 1;
    qsort(c->sample, c->reps, sizeof c->sample[0], ascending);
    c->median = last % 2 ? (c->sample[last / 2] + c->sample[last / 2 + 1]) / 2 : c->sample[last / 2];
    c->p10 = c->sample[(last + 5) / 10];
    c->p90 = c->sample[last - (last + 5) / 10];
}

bool hbg__bench_measure(struct bench *b)
{
    uint32_t reps = b->quick ? QUICK_REPS : BENCH_REPS_MAX;
    struct progress progress;
    char label[32];
    bool good = true;
    snprintf(label, sizeof label, "bench %s", b->name);
    hbg__progress_begin(&progress, label, reps);
    for (size_t i = 0; i < b->case_count && good; i++) good = run_first(b, &b->cases[i]);
    uint64_t end_ns = hbg__clock_after_ns(FULL_NS);
    for (uint32_t rep = 0; rep < reps && good; rep++) {
        if (rep >= REPS_MIN && hbg__clock_ns() > end_ns) break;
        for (size_t i = 0; i < b->case_count && good; i++) good = has_enough(b, &b->cases[i]) || run_batch(b, &b->cases[i]);
        hbg__progress_step(&progress, rep + 1);
    }
    for (size_t i = 0; i < b->case_count && good; i++) hbg__bench_summarise(&b->cases[i]);
    hbg__progress_end(&progress);
    return good;
}
