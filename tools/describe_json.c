/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A description as JSON. Tasks stand in the order of their numbers.
 */
#include "describe_words.h"

#include "base/json_write.h"
#include "inputs.h"
#include "table.h"

#include <string.h>

static void json_sizes(struct hbg__json *j, const char *key, const int64_t *sizes, int rank)
{
    hbg__json_key(j, key);
    hbg__json_open_array(j);
    for (int i = 0; i < rank; i++)
        hbg__json_i64(j, sizes[i]);
    hbg__json_close(j);
}

static bool json_argument(struct hbg__json *j, const struct description *d, const struct hbg_task_info *task, uint32_t i)
{
    struct hbg_argument_info a;
    char dtype[32];
    const char *tensor;

    if (!hbg__describe_read_argument(d, task->id, i, &a))
        return false;
    tensor = hbg__describe_tensor(d, task, &a);
    hbg__json_open_object(j);
    if (a.kind)
        hbg__json_key_string(j, "access", a.kind == HBG_ARG_SCALAR ? "scalar" : a.kind == HBG_ARG_BYTES ? "bytes" : hbg__describe_kind(a.kind));
    hbg__json_key_string(j, "place", hbg__describe_place(a.place));
    if (a.place == HBG_PLACE_BOUNDARY || a.place >= HBG_PLACE_BUFFER)
        hbg__json_key_u64(j, "index", a.index);
    if (tensor)
        hbg__json_key_string(j, "name", tensor);
    if (a.place == HBG_PLACE_DEFINITION) {
        hbg__json_close(j);
        return true;
    }
    hbg__json_key_string(j, "dtype", hbg__table_dtype(a.dtype, dtype));
    if (hbg__describe_is_value(d, task, &a)) {
        hbg__json_key_u64(j, "bits", a.bits);
    } else {
        hbg__json_key_i64(j, "offset_bytes", a.offset_bytes);
        json_sizes(j, "shape", a.shape, a.rank);
        json_sizes(j, "stride_bytes", a.stride_bytes, a.rank);
    }
    hbg__json_close(j);
    return true;
}

static bool json_edge(struct hbg__json *j, const struct description *d, uint32_t id, uint32_t i)
{
    struct hbg_edge_info edge;

    if (!hbg__describe_read_edge(d, id, i, &edge))
        return false;
    hbg__json_open_object(j);
    hbg__json_key_u64(j, "task", edge.producer);
    hbg__json_key_string(j, "cause", hbg__describe_cause(edge.cause));
    if (edge.cause == HBG_EDGE_REGION) {
        hbg__json_key_u64(j, "its_argument", edge.producer_argument);
        hbg__json_key_u64(j, "argument", edge.argument);
        hbg__json_key_u64(j, "pairs", edge.pair_count);
    }
    hbg__json_close(j);
    return true;
}

static bool json_task(struct hbg__json *j, const struct description *d, uint32_t id)
{
    struct hbg_task_info task;
    bool good = hbg__describe_read_task(d, id, &task);

    if (!good)
        return false;
    hbg__json_open_object(j);
    hbg__json_key_u64(j, "id", id);
    hbg__json_key_string(j, "kernel", task.name);
    hbg__json_key_bool(j, "noop", task.is_noop);
    if (task.parent != UINT32_MAX) {
        hbg__json_key_u64(j, "submission", task.parent);
        hbg__json_key_u64(j, "node", task.node);
    }
    if (task.is_subgraph) {
        hbg__json_key_string(j, "subgraph", task.subgraph);
        hbg__json_key_u64(j, "first_node", task.first_node);
        hbg__json_key_u64(j, "body", task.body_count);
        hbg__json_key_u64(j, "nodes", task.node_count);
    }
    hbg__json_key(j, "arguments");
    hbg__json_open_array(j);
    for (uint32_t i = 0; good && i < task.argument_count; i++)
        good = json_argument(j, d, &task, i);
    hbg__json_close(j);
    hbg__json_key(j, "after");
    hbg__json_open_array(j);
    for (uint32_t i = 0; good && i < task.producer_count; i++)
        good = json_edge(j, d, id, i);
    hbg__json_close(j);
    hbg__json_close(j);
    return good;
}

static void json_degrees(struct hbg__json *j, const char *key, const struct degrees *degrees, const struct description *d)
{
    hbg__json_key(j, key);
    hbg__json_open_object(j);
    hbg__json_key_f64(j, "mean", describe_mean_degree(d));
    hbg__json_key_u64(j, "max", degrees->most);
    hbg__json_key(j, "histogram");
    hbg__json_open_array(j);
    for (int i = 0; i < DEGREE_CLASSES; i++) {
        if (!degrees->count[i])
            continue;
        hbg__json_open_object(j);
        hbg__json_key_u64(j, "from", hbg__degree_of_class(i));
        hbg__json_key_u64(j, "tasks", degrees->count[i]);
        hbg__json_close(j);
    }
    hbg__json_close(j);
    hbg__json_close(j);
}

static void json_bodies(struct hbg__json *j, const struct description *d)
{
    hbg__json_key_u64(j, "submissions", d->graph.submission_count);
    hbg__json_key_u64(j, "definitions", d->graph.definition_count);
    hbg__json_key_u64(j, "node_edges", d->node_edges);
    hbg__json_key(j, "bodies");
    hbg__json_open_array(j);
    for (size_t i = 0; i < d->body_count; i++) {
        hbg__json_open_object(j);
        hbg__json_key_string(j, "name", d->body[i].name);
        hbg__json_key_u64(j, "submissions", d->body[i].tasks);
        hbg__json_close(j);
    }
    hbg__json_close(j);
}

static void json_graph(struct hbg__json *j, const struct description *d)
{
    const struct hbg_graph_info *g = &d->graph;

    hbg__json_key_u64(j, "tasks", g->submitted);
    hbg__json_key_u64(j, "ids", g->task_count);
    hbg__json_key_u64(j, "slots", g->slot_count);
    hbg__json_key_u64(j, "noops", describe_noops(d));
    hbg__json_key_u64(j, "edges", g->edge_count);
    hbg__json_key_u64(j, "reuse_edges", g->reuse_edge_count);
    hbg__json_key_u64(j, "roots", g->root_count);
    hbg__json_key(j, "bytes");
    hbg__json_open_object(j);
    hbg__json_key_u64(j, "image", g->image_bytes);
    hbg__json_key_u64(j, "records", g->record_bytes);
    hbg__json_key_u64(j, "arguments", g->argument_bytes);
    hbg__json_key_u64(j, "edges", g->edge_bytes);
    hbg__json_key_u64(j, "roots", g->root_bytes);
    hbg__json_key_u64(j, "shared", g->shared_bytes);
    hbg__json_key_u64(j, "slots", g->slot_bytes);
    hbg__json_key_u64(j, "heap", g->heap_bytes);
    hbg__json_key_u64(j, "definitions", g->definition_bytes);
    hbg__json_close(j);
    hbg__json_key(j, "history");
    if (!g->history_known) {
        hbg__json_null(j);
        return;
    }
    hbg__json_open_object(j);
    hbg__json_key_u64(j, "storages", g->storage_count);
    hbg__json_key_u64(j, "grids", g->grid_count);
    hbg__json_key_u64(j, "cells", g->cell_count);
    hbg__json_key_u64(j, "cells_used", g->cells_used);
    hbg__json_key_u64(j, "list_bytes", g->list_bytes);
    hbg__json_close(j);
}

static void json_head(struct hbg__json *j, const struct description *d)
{
    const struct hbg_setup *s = d->setup;

    hbg__json_key_string(j, "workload", s->workload.name);
    hbg__json_key(j, "parameters");
    hbg__json_open_object(j);
    for (size_t i = 0; i < s->param_count; i++)
        hbg__inputs_json_parameter(j, &s->param[i]);
    hbg__json_close(j);
    hbg__json_key_string(j, "device", d->device);
    json_graph(j, d);
    json_bodies(j, d);
    hbg__json_key_u64(j, "longest_chain", d->depth);
    json_degrees(j, "producers", &d->in, d);
    json_degrees(j, "consumers", &d->out, d);
    hbg__json_key(j, "kernels");
    hbg__json_open_array(j);
    for (size_t i = 0; i < d->kernel_count; i++) {
        if (!d->kernel[i].tasks)
            continue;
        hbg__json_open_object(j);
        hbg__json_key_string(j, "name", d->kernel[i].name);
        hbg__json_key_u64(j, "tasks", d->kernel[i].tasks);
        hbg__json_close(j);
    }
    hbg__json_close(j);
}

bool hbg__describe_json(FILE *file, const struct description *d, uint32_t limit)
{
    struct hbg__json j;
    uint32_t shown = describe_shown(d, limit);
    bool good = true;

    hbg__json_begin(&j, file);
    hbg__json_open_object(&j);
    json_head(&j, d);
    hbg__json_key_u64(&j, "left_out", describe_ids(d) - shown);
    hbg__json_key(&j, "graph");
    hbg__json_open_array(&j);
    for (uint32_t i = 0; good && i < shown; i++)
        good = json_task(&j, d, i);
    hbg__json_close(&j);
    hbg__json_close(&j);
    return hbg__json_end(&j) && good;
}
