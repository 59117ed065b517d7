/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - ns a task that the device takes, kernels empty: device wall of a replayed graph, divided by its tasks.
 *
 * The first run of a program is the cold one; batches begin with its third. Beside it the wall time of other runtimes: of a graph that
 * is kept (again), or submitted as well (anew).
 */
#include "bench/beside.h"
#include "bench/dag_program.h"
#include "bench/stage.h"

enum { WORKERS_MAX = 2 };
static const enum bench_shape_id cases[] = { BENCH_CHAIN, BENCH_INDEPENDENT, BENCH_WAVEFRONT, BENCH_CHOLESKY, BENCH_TREE, BENCH_RANDOM, BENCH_LAYERED };
enum { CASES = sizeof cases / sizeof cases[0] };

/* One number of workers. */
struct row {
    struct bench_stage stage;
    struct bench_program made[CASES];
    size_t count;
    struct bench_besides besides;
    struct dag decoder;                 /* described alone: no shape of its own */
    struct bench_dag made_decoder;
};

static enum hbg_status run_case(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct bench_program *p = c->of;
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(p->program, p->list, &result);
    *ns = result.device_ns;
    *units = result.tasks;
    return status;
}

static enum hbg_status run_decoder(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct bench_dag *d = c->of;
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(d->program[BENCH_AGAIN], (struct hbg_arg_list){ &d->arg, 1 }, &result);
    *ns = result.device_ns;
    *units = result.tasks;
    return status;
}

static bool open_decoder(struct bench *b, struct row *row, uint32_t workers)
{
    const char *name = "decoder";
    if (!hbg__bench_wants(b, name)) return true;
    if (!hbg__dag_make(&row->decoder, name, (struct dag_size){ 0, 0, 0 })) return hbg__bench_fail(b, name, HBG_E_NO_MEMORY);
    if (!hbg__bench_dag_open(b, &row->made_decoder, row->stage.device, &row->decoder, NULL)) return false;
    hbg__bench_add(b, name, "ns/task", workers, run_decoder, &row->made_decoder)->has_cold = true;
    return !b->rivals || (hbg__bench_dag_check(b, &row->made_decoder) &&
                          hbg__bench_besides_add(b, &row->besides, name, &row->decoder, 1 << BENCH_AGAIN | 1 << BENCH_ANEW));
}

/* The runtimes beside hbg, once it is known that the graph is one. */
static bool open_beside(struct bench *b, struct row *row, const struct bench_shape *shape, struct bench_program *p)
{
    struct dag dag;
    if (!b->rivals) return true;
    if (!hbg__dag_make(&dag, shape->dag, (struct dag_size){ 0, 0, 0 })) return hbg__bench_fail(b, shape->name, HBG_E_NO_MEMORY);
    bool good = hbg__bench_same_graph(b, row->stage.device, p->program, p->list, &dag) &&
                hbg__bench_besides_add(b, &row->besides, shape->name, &dag, 1 << BENCH_AGAIN | 1 << BENCH_ANEW);
    hbg__dag_free(&dag);
    return good;
}

static bool open_case(struct bench *b, struct row *row, uint32_t workers, const struct bench_shape *shape)
{
    struct bench_size size = { 0, 0 };
    struct bench_program *p = &row->made[row->count];
    if (!hbg__bench_program_open(b, &row->stage, p, shape, shape->build, &size, sizeof size, BENCH_AGAIN)) return false;
    row->count++;
    hbg__bench_add(b, shape->name, "ns/task", workers, run_case, p)->has_cold = true;
    return open_beside(b, row, shape, p);
}

static bool open_row(struct bench *b, struct row *row, uint32_t workers)
{
    static const char *const device[WORKERS_MAX] = { "cpu:workers=1,memory=unified", "cpu:workers=2,memory=unified" };
    row->count = 0;
    hbg__bench_besides_open(b, &row->besides, workers);
    bool good = hbg__bench_stage_open(b, &row->stage, device[workers - 1], cases, CASES);
    for (size_t i = 0; i < CASES && good; i++) {
        const struct bench_shape *shape = hbg__bench_shape(cases[i]);
        if (hbg__bench_wants(b, shape->name)) good = open_case(b, row, workers, shape);
    }
    return good && open_decoder(b, row, workers);
}

static bool close_row(struct bench *b, struct row *row)
{
    while (row->count > 0) hbg__bench_program_close(&row->made[--row->count]);
    if (row->made_decoder.dag) hbg__bench_dag_close(&row->made_decoder);
    hbg__dag_free(&row->decoder);
    hbg__bench_besides_close(&row->besides);
    return hbg__bench_stage_close(b, &row->stage);
}

bool hbg__bench_dispatch(struct bench *b)
{
    static struct row rows[WORKERS_MAX];
    uint32_t opened = 0;
    bool good = true;
    while (opened < WORKERS_MAX && good) {
        good = open_row(b, &rows[opened], opened + 1);
        opened++;
    }
    if (good) good = hbg__bench_measure(b);
    while (opened > 0) good = close_row(b, &rows[--opened]) && good;
    return good;
}
