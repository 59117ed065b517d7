/* SPDX-License-Identifier: Apache-2.0 */
/* metg_search.c - see metg.h. */
#include <math.h>
#include <pthread.h>

#include "base/clock.h"
#include "bench/metg.h"

enum { THREADS_MAX = 64, LONG_BATCHES = 20, PEAK_NS = 1000000 };
static const double LONG_NS = 32000, LONGEST_NS = 128e3, HALF = 0.5, LOW = 0.25, NARROW = 1.08, STEP = 1.25;

/* ---- what threads do without a runtime ---- */

struct lane { struct work work; double rate; pthread_barrier_t *start; };

/* Doubles the length until it takes long enough; the last one counts. */
static void *drive(void *argument)
{
    struct lane *lane = argument;
    uint64_t elapsed = 0;
    pthread_barrier_wait(lane->start);
    for (lane->work.length = 1024; elapsed < PEAK_NS; lane->work.length *= 2) {
        uint64_t begin = hbg__clock_ns();
        lane->work.body(&lane->work, 1);
        elapsed = hbg__clock_ns() - begin;
        lane->rate = (double)lane->work.length / (double)(elapsed ? elapsed : 1);
    }
    return NULL;
}

double hbg__metg_peak(work_body_fn *body, uint32_t workers)
{
    struct lane lane[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    pthread_barrier_t start;
    double sum = 0;
    uint32_t count = workers < THREADS_MAX ? workers : THREADS_MAX, started = 1;
    if (pthread_barrier_init(&start, NULL, count)) return 0;
    for (uint32_t i = 0; i < count; i++) lane[i] = (struct lane){ .work = { .body = body }, .start = &start };
    while (started < count && !pthread_create(&thread[started], NULL, drive, &lane[started])) started++;
    if (started < count) return 0;          /* those that were started wait to the end of the process, which is near */
    drive(&lane[0]);
    for (uint32_t i = 1; i < count; i++) pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < count; i++) sum += lane[i].rate;
    pthread_barrier_destroy(&start);
    return sum / count;
}

/* ---- one length ---- */

struct search { struct bench *b; struct metg_subject *subject; double peak; bool failed; };

static bool run_hbg(struct search *s, uint64_t length, uint64_t *sum_ns, uint64_t *runs)
{
    struct bench_dag *d = s->subject->hbg;
    uint64_t ns;
    d->work.length = length;
    enum hbg_status status = hbg__bench_dag_run(d, s->subject->order.mode, &ns);
    if (ns >= (uint64_t)BENCH_BATCH_NS * LONG_BATCHES) {         /* as the other runtimes do */
        *sum_ns = ns;
        *runs = 1;
    }
    while (!status && *sum_ns < BENCH_BATCH_NS) {
        status = hbg__bench_dag_run(d, s->subject->order.mode, &ns);
        *sum_ns += ns;
        ++*runs;
    }
    return !status || hbg__bench_fail(s->b, s->subject->dag->name, status);
}

static struct metg_point probe(struct search *s, double length)
{
    struct metg_subject *subject = s->subject;
    uint64_t rounds = length < 1 ? 1 : (uint64_t)(length + 0.5), sum_ns = 0, runs = 0;
    subject->order.length = rounds;
    bool good = !s->failed && (subject->hbg ? run_hbg(s, rounds, &sum_ns, &runs)
                                            : hbg__other_batch(subject->other, &subject->order, BENCH_BATCH_NS, &sum_ns, &runs));
    if (!good || !runs) {
        s->failed = true;
        return (struct metg_point){ (double)rounds, 1, 0 };
    }
    double granularity = (double)sum_ns / (double)runs * subject->workers / subject->dag->task_count;
    return (struct metg_point){ (double)rounds, granularity, (double)rounds / s->peak / granularity };
}

/* ---- the search ---- */

/* From long to short, by halves, down to where efficiency is low. Sets the last point above half and the first one below it. */
static void sweep(struct search *s, struct metg_curve *curve, struct metg_point *lo, struct metg_point *hi)
{
    *hi = probe(s, s->peak * LONG_NS);
    while (hi->efficiency < HALF && hi->length < s->peak * LONGEST_NS && !s->failed) *hi = probe(s, 2 * hi->length);
    curve->point[curve->count++] = *lo = *hi;
    while (lo->efficiency >= LOW && lo->length > 1 && curve->count < METG_POINTS_MAX && !s->failed) {
        struct metg_point next = probe(s, lo->length / 2);
        curve->point[curve->count++] = next;
        if (lo->efficiency >= HALF) *hi = *lo;
        *lo = next;
    }
    /* below half the curve went on: the bracket is where it crossed */
    for (uint32_t i = 0; i < curve->count; i++) {
        *lo = curve->point[i];
        if (lo->efficiency < HALF) break;
        *hi = *lo;
    }
}

static void bracket(struct search *s, struct metg_point *lo, struct metg_point *hi)
{
    *hi = probe(s, fmin(s->subject->length * STEP, s->peak * LONGEST_NS));
    *lo = *hi;
    while (hi->efficiency < HALF && hi->length < s->peak * LONGEST_NS && !s->failed) {
        *lo = *hi;
        *hi = probe(s, hi->length * STEP * STEP + 1);
    }
    while (lo->efficiency >= HALF && lo->length > 1 && !s->failed) {
        *hi = *lo;
        *lo = probe(s, lo->length / STEP - 1);
    }
}

/* between the two by a straight line */
static double between(double a, double b, double share) { return a + (b - a) * share; }

bool hbg__metg_search(struct bench *b, struct metg_subject *subject, double peak, struct metg_curve *curve, double *granularity_ns)
{
    struct search s = { .b = b, .subject = subject, .peak = peak };
    struct metg_point lo, hi;
    if (subject->length > 0) bracket(&s, &lo, &hi);
    else sweep(&s, curve, &lo, &hi);
    while (!s.failed && hi.length > lo.length * NARROW && hi.length > lo.length + 1) {
        struct metg_point middle = probe(&s, sqrt(lo.length * hi.length));
        *(middle.efficiency >= HALF ? &hi : &lo) = middle;
    }
    if (s.failed) return false;
    double rise = hi.efficiency - lo.efficiency, share = lo.efficiency < HALF && hi.efficiency >= HALF ? (HALF - lo.efficiency) / rise : 1;
    *granularity_ns = between(lo.granularity_ns, hi.granularity_ns, share);
    subject->length = between(lo.length, hi.length, share);
    return true;
}
