/* SPDX-License-Identifier: Apache-2.0 */
/* dag_program.c - see dag_program.h. */
#include "bench/dag_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tools/cli.h"

enum { READ_TEXT = sizeof ", in f64" - 1, OWN_TEXT = sizeof "inout f64" };

static int run_task(const struct hbg_task_view *t)
{
    hbg__work_do(t->user, t->task);
    return 0;
}

/* ---- the graph ---- */

static struct hbg_region cell_of(struct hbg_region x, int64_t block, uint32_t cell)
{
    return hbg_cell(x, HBG_SHAPE(block), HBG_SHAPE((int64_t)cell));
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct bench_dag *d = *(const struct bench_dag *const *)params;
    const struct dag *dag = d->dag;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_arg list[1 + DAG_READS_MAX];
    struct hbg_task last = { 0, 0 };
    int64_t block = x.shape[0] / dag->cell_count;
    int reads_end = (int)dag->read_most + 1;
    for (uint32_t i = 0; i < dag->task_count; i++) {
        const struct dag_task *t = &dag->task[i];
        const uint32_t *read = dag->read + t->first_read;
        list[0] = t->updates ? hbg_inout(cell_of(x, block, t->cell)) : hbg_out(cell_of(x, block, t->cell));
        for (uint32_t n = 0; n < t->read_count; n++) list[n + 1] = hbg_in(cell_of(x, block, read[n]));
        last = hbg_submit_args(g, t->updates * reads_end + t->read_count, (struct hbg_arg_list){ list, t->read_count + 1u });
    }
    if (dag->task_count && last.id != dag->task_count - 1) hbg_graph_fail(g, 1, "a noop was inserted: tasks are not numbered as described");
}

/* ---- the kernel table: one function, a signature for each number of reads ---- */

static bool make_kernels(struct bench_dag *d)
{
    uint32_t reads_end = d->dag->read_most + 1;
    size_t text_bytes = OWN_TEXT + (size_t)reads_end * READ_TEXT;
    d->kernel = calloc(2 * reads_end, sizeof *d->kernel);
    d->signatures = malloc(2 * reads_end * text_bytes);
    if (!d->kernel || !d->signatures) return false;
    for (uint32_t i = 0; i < 2 * reads_end; i++) {
        char *text = d->signatures + i * text_bytes;
        int length = snprintf(text, text_bytes, "%s f64", i < reads_end ? "out" : "inout");
        for (uint32_t n = 0; n < i % reads_end; n++) length += snprintf(text + length, text_bytes - (size_t)length, ", in f64");
        d->kernel[i] = (struct hbg_kernel){ .id = (int)i, .name = "task", .run = run_task, .signature = text, .user = &d->work };
    }
    return true;
}

static enum hbg_status make_programs(struct bench *b, struct bench_dag *d, struct hbg_device *device)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    enum hbg_status status = HBG_OK;
    options.name = d->dag->name;
    options.build = build;
    options.params = &d;
    options.params_size = sizeof d;
    options.kernels = d->kernel;
    options.kernel_count = 2 * (d->dag->read_most + 1);
    options.error = &b->error;
    for (int mode = 0; mode < BENCH_OWN_MODES && !status; mode++) {
        if (mode == BENCH_SUBMIT) continue;
        options.pure_build = mode == BENCH_AGAIN;
        options.no_compare = mode == BENCH_MADE;
        status = hbg_program_create(device, &options, &d->program[mode]);
    }
    return status;
}

/* The memory of the cells: blocks of a buffer, or tiles in place. */
static enum hbg_status make_cells(struct bench_dag *d, struct hbg_device *device, const struct tiles *tiles)
{
    int64_t doubles = (int64_t)d->dag->cell_count * DAG_CELL_DOUBLES;
    if (tiles) {
        d->work.tile = tiles->element;
        d->work.edge = tiles->edge;
        d->work.body = hbg__tiles_body;
        d->arg = hbg_inout(hbg_host(tiles->element, HBG_F64, HBG_SHAPE((int64_t)d->dag->cell_count * tiles->edge * tiles->edge)));
        return HBG_OK;
    }
    enum hbg_status status = hbg_buffer_create(device, (size_t)doubles * sizeof(double), &d->buffer);
    d->arg = hbg_inout(hbg_buffer_region(d->buffer, 0, HBG_F64, HBG_SHAPE(doubles)));
    return status;
}

bool hbg__bench_dag_open(struct bench *b, struct bench_dag *d, struct hbg_device *device, const struct dag *dag, const struct tiles *tiles)
{
    *d = (struct bench_dag){ .dag = dag };
    if (!hbg__work_open(&d->work, dag) || !make_kernels(d)) return hbg__bench_fail(b, dag->name, HBG_E_NO_MEMORY);
    enum hbg_status status = make_cells(d, device, tiles);
    if (!status) status = make_programs(b, d, device);
    return status == HBG_OK || hbg__bench_fail(b, dag->name, status);
}

void hbg__bench_dag_close(struct bench_dag *d)
{
    for (int mode = 0; mode < BENCH_OWN_MODES; mode++) hbg_program_destroy(d->program[mode]);
    hbg_buffer_destroy(d->buffer);
    free(d->kernel);
    free(d->signatures);
    hbg__work_close(&d->work);
    *d = (struct bench_dag){ .dag = NULL };
}

/* ---- running ---- */

enum hbg_status hbg__bench_dag_run(struct bench_dag *d, enum bench_mode mode, uint64_t *ns)
{
    struct hbg_result result = HBG_OPTIONS(result);
    uint64_t begin = hbg__clock_ns();
    enum hbg_status status = hbg_run_sync(d->program[mode], (struct hbg_arg_list){ &d->arg, 1 }, &result);
    *ns = hbg__clock_ns() - begin;
    d->edges = result.edges;
    return status;
}

bool hbg__bench_dag_check(struct bench *b, struct bench_dag *d)
{
    uint64_t ns, edges = d->dag->first[d->dag->task_count];
    for (int mode = 0; mode < BENCH_OWN_MODES; mode++) {
        if (mode == BENCH_SUBMIT) continue;
        hbg__work_check_begin(&d->work);
        enum hbg_status status = hbg__bench_dag_run(d, (enum bench_mode)mode, &ns);
        uint64_t wrong = hbg__work_check_end(&d->work);
        if (status) return hbg__bench_fail(b, d->dag->name, status);
        if (wrong == 0 && d->edges == edges) continue;
        hbg__cli_error("bench", "%s: %llu tasks ran out of order, and %llu edges were found of %llu", d->dag->name, (unsigned long long)wrong,
                       (unsigned long long)d->edges, (unsigned long long)edges);
        return false;
    }
    return true;
}
