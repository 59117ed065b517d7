/* SPDX-License-Identifier: Apache-2.0 */
/* real.c - `hbg bench real`: tiled Cholesky and GEMM in double precision, GFLOP/s of a whole run by its wall time.
 *
 * A plan is an algorithm, a size and a tile. It is opened in all runtimes, over the same memory, run in turns, checked by its residual and closed
 * before the next one. `anew` builds the graph for each run and is what a program does that factors one matrix; `again` keeps it. Beside them stand
 * OpenBLAS's own threads over the whole matrix, and the peak: the fastest dgemm of one thread, times the workers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/dag_program.h"
#include "bench/others.h"
#include "tools/cli.h"
#include "tools/progress.h"

enum { WORKERS = 2, LANES_MAX = 2 + 2 * OTHERS_MAX, REPS = 11, REPS_LARGE = 7, REPS_QUICK = 3, WHOLE_RUNS = 3, LARGE = 4096, PEAK_SIZE = 2048, PEAK_RUNS = 5 };
static const double RESIDUAL_MOST = 1e-10;

/* `more` is what hbg shall be ahead of the best other runtime by, as a share. */
static const struct plan { const char *name; uint32_t n, tile; double more; bool is_quick; } plans[] = {
    { "cholesky", 2048, 32, 0.08, false }, { "cholesky", 2048, 64, 0.04, true }, { "cholesky", 2048, 128, 0.02, true }, { "cholesky", 2048, 256, 0, true },
    { "gemm", 2048, 32, 0.02, false }, { "gemm", 2048, 64, 0.02, false }, { "gemm", 2048, 128, 0.02, true }, { "gemm", 2048, 256, 0, true },
    { "cholesky", 4096, 32, 0.08, false }, { "cholesky", 4096, 64, 0.04, false }, { "cholesky", 4096, 128, 0.02, false }, { "cholesky", 4096, 256, 0, false },
    { "gemm", 4096, 64, 0.02, false }, { "gemm", 4096, 128, 0.02, false }, { "gemm", 4096, 256, 0, false },
};
enum { PLANS = sizeof plans / sizeof plans[0] };

/* A runtime and a way in which it runs the plan. */
struct lane { struct bench_case *row; struct bench_other *other; struct bench_order order; };

struct real {
    struct bench *b;
    struct bench_others others;
    struct hbg_device *device;
    struct dag dag;
    struct tiles tiles;
    struct bench_dag hbg;
    struct lane lane[LANES_MAX];
    uint32_t lanes;
    double peak;                        /* GFLOP/s of the workers together */
};

/* ---- one plan ---- */

static void name_of(const struct plan *plan, char *name, size_t size_bytes) { snprintf(name, size_bytes, "%s %u/%u", plan->name, plan->n, plan->tile); }

static void add_lane(struct real *r, const struct plan *plan, const char *runtime, struct bench_other *other, struct bench_order order)
{
    char name[32], label[BENCH_RUNTIME_MAX];
    name_of(plan, name, sizeof name);
    snprintf(label, sizeof label, "%s, %s", runtime, order.mode == BENCH_ANEW ? "anew" : "again");
    struct bench_case *row = hbg__bench_add_beside(r->b, name, label, "GFLOP/s", WORKERS);
    row->more_is_better = true;
    r->lane[r->lanes++] = (struct lane){ row, other, order };
}

static bool open_other(struct real *r, const struct plan *plan, struct bench_other *other)
{
    char path[64];
    int index = hbg__other_open(other, plan->name, r->dag.size);
    if (index < 0) return hbg__bench_fail(r->b, other->label, HBG_E_NO_MEMORY);
    hbg__tiles_path(&r->tiles, path, sizeof path);
    if (!hbg__other_tiles(other, index, plan->tile, path)) return false;
    for (int mode = 0; mode < 2; mode++)
        if (other->modes >> mode & 1) add_lane(r, plan, other->label, other, (struct bench_order){ index, (enum bench_mode)mode, "tiles", 0 });
    return true;
}

static bool open_plan(struct real *r, const struct plan *plan)
{
    r->lanes = 0;
    if (!hbg__dag_make(&r->dag, plan->name, (struct dag_size){ plan->n / plan->tile, 0, 0 })) return hbg__bench_fail(r->b, plan->name, HBG_E_NO_MEMORY);
    if (!hbg__tiles_open(&r->tiles, &r->dag, plan->tile)) return hbg__bench_fail(r->b, plan->name, HBG_E_NO_MEMORY);
    if (!hbg__bench_dag_open(r->b, &r->hbg, r->device, &r->dag, &r->tiles)) return false;
    for (int mode = 0; mode < 2; mode++) add_lane(r, plan, "hbg", NULL, (struct bench_order){ 0, (enum bench_mode)mode, "tiles", 0 });
    for (uint32_t i = 0; i < r->others.count; i++)
        if (!open_other(r, plan, &r->others.other[i])) return false;
    return true;
}

static void close_plan(struct real *r)
{
    for (uint32_t i = 0; i < r->lanes; i++)
        if (r->lane[i].other && (i == 0 || r->lane[i - 1].other != r->lane[i].other)) (void)hbg__other_close(r->lane[i].other, r->lane[i].order.index);
    if (r->hbg.dag) hbg__bench_dag_close(&r->hbg);
    hbg__tiles_close(&r->tiles);
    hbg__dag_free(&r->dag);
}

static bool run_lane(struct real *r, struct lane *lane, const struct plan *plan)
{
    uint64_t ns = 0, runs = 1;
    if (lane->other) {
        if (!hbg__other_batch(lane->other, &lane->order, 1, &ns, &runs)) return false;
    } else {
        hbg__tiles_restore(&r->tiles);
        enum hbg_status status = hbg__bench_dag_run(&r->hbg, lane->order.mode, &ns);
        if (status) return hbg__bench_fail(r->b, plan->name, status);
    }
    lane->row->sample[lane->row->reps++] = hbg__tiles_flops(plan->name, plan->n) * (double)runs / (double)ns;
    return true;
}

static bool check_lane(struct real *r, struct lane *lane)
{
    double residual = 1;
    if (!lane->other) residual = hbg__tiles_residual(&r->tiles);
    else if (!hbg__other_residual(lane->other, lane->order.index, &residual)) return false;
    if (residual <= RESIDUAL_MOST) return true;
    hbg__cli_error("bench real", "%s, %s: the result is off by %.1e of itself", lane->row->name, lane->row->runtime, residual);
    return false;
}

/* The first run of each lane grows what has to grow, and is checked; it does not count. */
static bool measure_plan(struct real *r, const struct plan *plan)
{
    uint32_t reps = r->b->quick ? REPS_QUICK : plan->n >= LARGE ? REPS_LARGE : REPS;
    bool good = true;
    for (uint32_t i = 0; i < r->lanes && good; i++) good = run_lane(r, &r->lane[i], plan) && check_lane(r, &r->lane[i]);
    for (uint32_t i = 0; i < r->lanes; i++) r->lane[i].row->reps = 0;
    for (uint32_t rep = 0; rep < reps; rep++)
        for (uint32_t i = 0; i < r->lanes && good; i++) good = run_lane(r, &r->lane[i], plan);
    return good;
}

/* ---- what stands beside ---- */

static double best_of(const struct bench_case *c) { return c->sample[c->reps - 1]; }

/* OpenBLAS alone: a row where it is there. */
static void measure_whole(struct real *r, const char *name, uint32_t n, int threads, uint32_t runs)
{
    char row_name[32];
    snprintf(row_name, sizeof row_name, "%s %u/%u", name, n, n);
    if (!hbg__bench_wants(r->b, row_name) && threads > 1) return;
    struct bench_case *row = NULL;
    for (uint32_t i = 0; i < runs; i++) {
        uint64_t ns = hbg__tiles_whole(name, n, threads);
        if (ns == 0) return;
        if (!row) row = hbg__bench_add_beside(r->b, row_name, threads == 1 ? "OpenBLAS, one thread" : "OpenBLAS, its own threads", "GFLOP/s", (uint32_t)threads);
        row->more_is_better = true;
        row->sample[row->reps++] = hbg__tiles_flops(name, n) / (double)ns;
    }
    hbg__bench_summarise(row);
    if (threads == 1) r->peak = WORKERS * best_of(row);
}

/* hbg's target in each plan: what is best beside it in the same table, and some more. */
static void set_targets(struct bench *b)
{
    for (size_t p = 0; p < PLANS; p++) {
        char name[32];
        double best = 0;
        name_of(&plans[p], name, sizeof name);
        for (size_t i = 0; i < b->case_count; i++)
            if (strcmp(b->cases[i].name, name) == 0 && strncmp(b->cases[i].runtime, "hbg", 3) && b->cases[i].median > best) best = b->cases[i].median;
        for (size_t i = 0; i < b->case_count; i++)
            if (strcmp(b->cases[i].name, name) == 0 && strncmp(b->cases[i].runtime, "hbg", 3) == 0) b->cases[i].target = best * (1 + plans[p].more);
    }
}

static bool measure(struct real *r)
{
    struct progress progress;
    bool good = true;
    hbg__progress_begin(&progress, "bench real", PLANS);
    for (size_t i = 0; i < PLANS && good; i++) {
        char name[32];
        name_of(&plans[i], name, sizeof name);
        if (!hbg__bench_wants(r->b, name) || (r->b->quick && !plans[i].is_quick && !r->b->only)) continue;
        good = open_plan(r, &plans[i]) && measure_plan(r, &plans[i]);
        close_plan(r);
        hbg__progress_step(&progress, (uint32_t)i + 1);
    }
    hbg__progress_end(&progress);
    return good;
}

static void finish(struct real *r)
{
    struct bench *b = r->b;
    uint32_t runs = b->quick ? 1 : WHOLE_RUNS;
    for (size_t i = 0; i < b->case_count; i++) hbg__bench_summarise(&b->cases[i]);
    if (b->case_count) measure_whole(r, "gemm", PEAK_SIZE, 1, b->quick ? 1 : PEAK_RUNS);
    for (uint32_t n = PEAK_SIZE; n <= LARGE && (n < LARGE || !b->quick); n *= 2) {
        measure_whole(r, "cholesky", n, WORKERS, runs);
        measure_whole(r, "gemm", n, WORKERS, runs);
    }
    for (size_t i = 0; i < b->case_count && r->peak > 0; i++) b->cases[i].of_peak = b->cases[i].median / r->peak;
    set_targets(b);
}

bool hbg__bench_real(struct bench *b)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    static struct real r;
    memset(&r, 0, sizeof r);
    r.b = b;
    options.error = &b->error;
    enum hbg_status status = hbg_device_open("cpu:workers=2,memory=unified", &options, &r.device);
    if (status) return hbg__bench_fail(b, "cpu", status);
    if (b->rivals) hbg__others_open(&r.others, WORKERS);
    if (b->rivals && r.others.without[0]) fprintf(stderr, "hbg bench real: without %s, not built here\n", r.others.without);
    bool good = measure(&r);
    hbg__others_close(&r.others);
    status = hbg_device_close(r.device);
    if (status) return hbg__bench_fail(b, "the end of the device", status);
    if (good) finish(&r);
    return good;
}
