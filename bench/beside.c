/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - see beside.h. */
#include "bench/beside.h"

#include <string.h>

#include "bench/dag_program.h"
#include "tools/cli.h"

static const char *const ways[BENCH_MODES] = { "again", "anew", "submit" };

void hbg__bench_besides_open(struct bench *b, struct bench_besides *all, uint32_t workers)
{
    memset(all, 0, sizeof *all);
    if (!b->rivals) return;
    hbg__others_open(&all->others, workers);
    if (all->others.without[0] && workers == 1) fprintf(stderr, "hbg bench %s: without %s, not built here\n", b->name, all->others.without);
}

void hbg__bench_besides_close(struct bench_besides *all) { hbg__others_close(&all->others); }

static enum hbg_status run_batch(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct bench_beside *beside = c->of;
    uint64_t runs = 0;
    if (!hbg__other_batch(beside->other, &beside->order, BENCH_BATCH_NS, ns, &runs)) return HBG_E_DEVICE;
    *units = runs * beside->tasks;
    return HBG_OK;
}

/* The submit alone is in no order, so what is checked is the run. */
static bool check(struct bench_other *other, struct bench_order order, const struct dag *dag)
{
    uint64_t wrong;
    if (!hbg__other_check(other, &order, &wrong)) return false;
    if (wrong) hbg__cli_error("bench", "%s: %llu tasks of %s ran out of order", other->label, (unsigned long long)wrong, dag->name);
    return wrong == 0;
}

static bool add_one(struct bench *b, struct bench_besides *all, const char *name, const struct dag *dag, struct bench_other *other,
                    struct bench_order order)
{
    struct bench_beside *beside = &all->made[all->count];
    char label[BENCH_RUNTIME_MAX];
    if (order.mode != BENCH_SUBMIT && !check(other, order, dag)) return false;
    *beside = (struct bench_beside){ other, order, dag->task_count };
    snprintf(label, sizeof label, "%s, %s", other->label, ways[order.mode]);
    struct bench_case *c = hbg__bench_add_beside(b, name, label, "ns/task", all->others.workers);
    c->run = run_batch;
    c->of = beside;
    c->batches_itself = true;
    all->count++;
    return true;
}

bool hbg__bench_besides_add(struct bench *b, struct bench_besides *all, const char *name, const struct dag *dag, unsigned modes)
{
    for (uint32_t i = 0; i < all->others.count; i++) {
        struct bench_other *other = &all->others.other[i];
        int index = hbg__other_open(other, dag->name, dag->size);
        if (index < 0) hbg__cli_error("bench", "%s does not take %s", other->label, dag->name);
        for (int mode = 0; mode < BENCH_MODES && index >= 0; mode++) {
            if (!(other->modes & modes & (1u << mode))) continue;
            if (!add_one(b, all, name, dag, other, (struct bench_order){ index, (enum bench_mode)mode, "empty", 0 })) return false;
        }
    }
    return true;
}

bool hbg__bench_same_graph(struct bench *b, struct hbg_device *device, struct hbg_program *program, struct hbg_arg_list list, const struct dag *dag)
{
    struct hbg_result result = HBG_OPTIONS(result);
    struct bench_dag described;
    enum hbg_status status = hbg_run_sync(program, list, &result);
    if (status) return hbg__bench_fail(b, dag->name, status);
    if (result.tasks != dag->task_count || result.edges != dag->first[dag->task_count]) {
        hbg__cli_error("bench", "%s: hbg has %llu tasks and %llu edges, described are %u and %u", dag->name, (unsigned long long)result.tasks,
                       (unsigned long long)result.edges, dag->task_count, dag->first[dag->task_count]);
        return false;
    }
    bool good = hbg__bench_dag_open(b, &described, device, dag, NULL) && hbg__bench_dag_check(b, &described);
    hbg__bench_dag_close(&described);
    return good;
}
