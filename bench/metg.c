/* SPDX-License-Identifier: Apache-2.0 */
/* metg.c - `hbg bench metg`: which graphs, which runtimes, how often.
 *
 *     again   the graph is kept: hbg replays an unchanged pure program
 *     anew    it is built for each run; hbg and StarPU and OpenMP infer its order, oneTBB is given the edges
 *     made    hbg alone: the same, without a comparison with the last build, as where each graph is another one
 *
 * Each repetition searches every case once; a case that takes long drops out once it has been searched a few times. Before the first
 * repetition each task of each case looks for its producers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/metg.h"
#include "tools/cli.h"
#include "tools/progress.h"

enum { WORKERS = 2, PATTERNS_MAX = 16, REPS_MIN = 3, REPS_MOST = 11, QUICK_STEPS = 100, LOOKS = 16, SUBJECTS_MAX = BENCH_CASES_MAX };
static const uint64_t FULL_NS = 60000000000u, SLOW_NS = 2000000000u;     /* of all cases; of one, once it has a few */
static const char *const mode_names[BENCH_OWN_MODES] = { [BENCH_AGAIN] = "again", [BENCH_ANEW] = "anew", [BENCH_MADE] = "made" };

struct metg {
    struct bench *b;
    struct bench_others others;
    struct hbg_device *device;
    struct dag dag[PATTERNS_MAX];
    struct bench_dag hbg[PATTERNS_MAX];
    uint32_t patterns;
    struct metg_subject subject[SUBJECTS_MAX];
    struct metg_curve curve[SUBJECTS_MAX];
    uint32_t subjects;
    work_body_fn *body;
    double look[LOOKS];                     /* the last ones at the threads' speed, in turn */
    uint32_t looks;
};

static const char *body_name(const struct bench *b) { return b->kernel ? b->kernel : "compute"; }

/* ---- cases ---- */

static struct metg_subject *add(struct metg *m, const struct dag *dag, const char *runtime, enum bench_mode mode)
{
    struct metg_subject *s = &m->subject[m->subjects];
    char label[BENCH_RUNTIME_MAX];
    snprintf(label, sizeof label, "%s, %s", runtime, mode_names[mode]);
    *s = (struct metg_subject){ .dag = dag, .workers = WORKERS };
    s->order = (struct bench_order){ .mode = mode, .body = body_name(m->b) };
    s->row = hbg__bench_add_beside(m->b, dag->name, label, "us", WORKERS);
    s->row->curve = &m->curve[m->subjects++];
    return s;
}

static bool add_hbg(struct metg *m, struct bench_dag *d)
{
    d->work.body = m->body;
    if (!hbg__bench_dag_check(m->b, d)) return false;
    add(m, d->dag, "hbg", BENCH_AGAIN)->hbg = d;
    add(m, d->dag, "hbg", BENCH_ANEW)->hbg = d;
    add(m, d->dag, "hbg", BENCH_MADE)->hbg = d;
    return true;
}

/* A runtime that does not have the graph is left out, and says so. */
static bool add_other(struct metg *m, struct bench_other *other, const struct dag *dag)
{
    int index = hbg__other_open(other, dag->name, dag->size);
    if (index < 0) hbg__cli_error("bench metg", "%s does not take %s", other->label, dag->name);
    for (int mode = 0; mode < 2 && index >= 0; mode++) {
        struct bench_order order = { index, (enum bench_mode)mode, body_name(m->b), 1 };
        uint64_t wrong;
        if (!(other->modes >> mode & 1)) continue;
        if (!hbg__other_check(other, &order, &wrong)) return false;
        if (wrong) hbg__cli_error("bench metg", "%s: %llu tasks of %s ran out of order", other->label, (unsigned long long)wrong, dag->name);
        if (wrong) return false;
        struct metg_subject *s = add(m, dag, other->label, (enum bench_mode)mode);
        s->other = other;
        s->order.index = index;
    }
    return true;
}

static bool add_pattern(struct metg *m, const char *name)
{
    struct dag *dag = &m->dag[m->patterns];
    struct dag_size size = m->b->size;
    if (!size.steps && m->b->quick) size.steps = QUICK_STEPS;
    if (!hbg__dag_make(dag, name, size)) return hbg__bench_fail(m->b, name, HBG_E_NO_MEMORY);
    bool good = hbg__bench_dag_open(m->b, &m->hbg[m->patterns], m->device, dag, NULL);
    good = good && add_hbg(m, &m->hbg[m->patterns]);
    m->patterns++;
    for (uint32_t i = 0; i < m->others.count && good; i++) good = add_other(m, &m->others.other[i], dag);
    return good;
}

static bool open_all(struct metg *m)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    bool known;
    options.error = &m->b->error;
    if (!hbg__work_body(body_name(m->b), &m->body, &known)) return hbg__bench_fail(m->b, body_name(m->b), HBG_E_NO_MEMORY);
    enum hbg_status status = hbg_device_open("cpu:workers=2,memory=unified", &options, &m->device);
    if (status) return hbg__bench_fail(m->b, "cpu", status);
    if (m->b->rivals) hbg__others_open(&m->others, WORKERS);
    if (m->b->rivals && m->others.without[0]) fprintf(stderr, "hbg bench metg: without %s, not built here\n", m->others.without);
    for (const struct dag_maker *maker = hbg__dag_patterns; maker->name; maker++)
        if (hbg__bench_wants(m->b, maker->name) && !add_pattern(m, maker->name)) return false;
    return true;
}

static bool close_all(struct metg *m)
{
    for (uint32_t i = 0; i < m->patterns; i++) {
        hbg__bench_dag_close(&m->hbg[i]);
        hbg__dag_free(&m->dag[i]);
    }
    hbg__others_close(&m->others);
    enum hbg_status status = hbg_device_close(m->device);
    return status == HBG_OK || hbg__bench_fail(m->b, "the end of the device", status);
}

/* ---- repetitions ---- */

/* Looks at the threads' speed once more; the best of the last looks, or 0 where there are no threads. */
static double look_at_peak(struct metg *m)
{
    double peak = hbg__metg_peak(m->body, WORKERS), best = peak;
    if (peak <= 0) (void)hbg__bench_fail(m->b, "threads", HBG_E_NO_MEMORY);
    m->look[m->looks++ % LOOKS] = peak;
    for (int i = 0; i < LOOKS; i++)
        if (m->look[i] > best) best = m->look[i];
    return peak > 0 ? best : 0;
}

static bool search(struct metg *m, uint32_t i)
{
    struct metg_subject *s = &m->subject[i];
    if (s->row->reps >= REPS_MIN && s->row->spent_ns > SLOW_NS) return true;
    uint64_t begin = hbg__clock_ns();
    double ns, peak = look_at_peak(m);
    if (peak <= 0 || !hbg__metg_search(m->b, s, peak, &m->curve[i], &ns)) return false;
    s->row->sample[s->row->reps++] = ns / 1000;
    s->row->spent_ns += hbg__clock_ns() - begin;
    return true;
}

static bool measure(struct metg *m)
{
    uint32_t reps = m->b->quick ? REPS_MIN : REPS_MOST, steps = reps * m->subjects;
    struct progress progress;
    bool good = true;
    for (int i = 0; i < LOOKS && good; i++) good = look_at_peak(m) > 0;
    uint64_t end_ns = hbg__clock_after_ns(FULL_NS), last_ns = hbg__clock_after_ns(2 * FULL_NS);        /* on a busy machine: one search */
    hbg__progress_begin(&progress, "bench metg", steps);
    for (uint32_t rep = 0; rep < reps && good; rep++) {
        if (rep >= REPS_MIN && hbg__clock_ns() > end_ns) break;
        if (rep && hbg__clock_ns() > last_ns) break;
        for (uint32_t i = 0; i < m->subjects && good; i++) {
            good = search(m, i);
            hbg__progress_step(&progress, rep * m->subjects + i + 1);
        }
    }
    for (size_t i = 0; i < m->b->case_count && good; i++) hbg__bench_summarise(&m->b->cases[i]);
    hbg__progress_end(&progress);
    return good;
}

bool hbg__bench_metg(struct bench *b)
{
    static struct metg m;                   /* the curves of the cases live as long as the cases */
    memset(&m, 0, sizeof m);
    m.b = b;
    bool good = open_all(&m) && measure(&m);
    if (m.device) good = close_all(&m) && good;
    return good;
}
