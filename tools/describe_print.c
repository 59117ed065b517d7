/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A description as text, DOT and JSON. Names come from users: DOT and JSON escape them, text shows control characters as '?'.
 */
#include "describe.h"

#include "base/json_write.h"
#include "inputs.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

static const char *const kind_name[] = { "", "in", "out", "inout", "accumulate", "untracked" };
static const char *const place_name[] = { "", "value", "bytes", "boundary", "intermediate", "buffer" };
static const char *const cause_name[] = { "", "region", "noop", "reuse", "order" };

static const char *kind_text(uint32_t kind) { return kind <= HBG_ARG_UNTRACKED ? kind_name[kind] : ""; }

static uint32_t shown_tasks(const struct description *d, uint32_t limit) { return limit < d->graph.task_count ? limit : d->graph.task_count; }

/* "[64,64]" */
static size_t append_sizes(char *text, size_t size, size_t used, const int64_t *sizes, int rank)
{
    for (int i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? "," : "[", sizes[i]);
    if (rank && used < size)
        used += (size_t)snprintf(text + used, size - used, "]");
    return used;
}

static bool is_value(const struct description *d, const struct hbg_argument_info *a)
{
    return a->place == HBG_PLACE_VALUE || (a->place == HBG_PLACE_BOUNDARY && a->index < d->setup->boundary_count && !d->setup->tensor[a->index].name);
}

/* "a", "argument 3", "an intermediate", "buffer 0" */
static const char *place_text(const struct description *d, const struct hbg_argument_info *a, char *text, size_t size)
{
    const char *name = a->place == HBG_PLACE_BOUNDARY && a->index < d->setup->boundary_count ? d->setup->tensor[a->index].name : NULL;

    if (name)
        snprintf(text, size, "%s", name);
    else if (a->place == HBG_PLACE_BOUNDARY)
        snprintf(text, size, "argument %u", a->index);
    else if (a->place == HBG_PLACE_BUFFER)
        snprintf(text, size, "buffer %u", a->index);
    else
        snprintf(text, size, "%s", place_name[a->place]);
    return text;
}

/* "f32[64,64] at byte 16384 of a" */
static const char *region_text(const struct description *d, const struct hbg_argument_info *a, char *text, size_t size)
{
    char dtype[32], place[96];
    size_t used = (size_t)snprintf(text, size, "%s", hbg__table_dtype(a->dtype, dtype));

    if (is_value(d, a)) {
        snprintf(text + used, size - used, " %s", place_text(d, a, place, sizeof place));
        return text;
    }
    used = append_sizes(text, size, used, a->shape, a->rank);
    if (used < size)
        snprintf(text + used, size - used, " at byte %" PRId64 " of %s", a->offset_bytes, place_text(d, a, place, sizeof place));
    return text;
}

static bool read_argument(const struct description *d, uint32_t task, uint32_t i, struct hbg_argument_info *a)
{
    *a = HBG_OPTIONS(argument_info);
    return hbg_run_argument(d->run, task, i, a) == HBG_OK;
}

static bool read_task(const struct description *d, uint32_t id, struct hbg_task_info *task)
{
    *task = HBG_OPTIONS(task_info);
    return hbg_run_task(d->run, id, task) == HBG_OK;
}

static bool read_edge(const struct description *d, uint32_t task, uint32_t i, struct hbg_edge_info *edge)
{
    *edge = HBG_OPTIONS(edge_info);
    return hbg_run_edge(d->run, task, i, edge) == HBG_OK;
}

/* ---- text ---- */

static void put_name(FILE *file, const char *name)
{
    for (; *name; name++)
        fputc((unsigned char)*name < 32 || *name == 127 ? '?' : *name, file);
}

static void text_degrees(FILE *file, const char *label, const struct degrees *degrees, const struct description *d)
{
    double mean = d->graph.task_count ? (double)d->graph.edge_count / d->graph.task_count : 0.0;

    fprintf(file, "%-16s mean %.3g, most %u", label, mean, degrees->most);
    if (degrees->most)
        fprintf(file, " (task %u)", degrees->most_of);
    fputc(';', file);
    for (int i = 0; i < DEGREE_CLASSES; i++) {
        uint32_t from = hbg__degree_of_class(i);
        if (!degrees->count[i])
            continue;
        if (i < 4)
            fprintf(file, " %u: %" PRIu64, from, degrees->count[i]);
        else
            fprintf(file, " %u-%u: %" PRIu64, from, 2 * from - 1, degrees->count[i]);
    }
    fputc('\n', file);
}

static void text_bytes(FILE *file, const char *label, uint64_t bytes)
{
    char text[64];

    fprintf(file, "%-16s %s\n", label, hbg__table_bytes(bytes, text));
}

static void text_history(FILE *file, const struct hbg_graph_info *g)
{
    char cells[64], used[64], lists[64];

    if (!g->history_known) {
        fprintf(file, "%-16s not known: another graph has been built since\n", "history");
        return;
    }
    fprintf(file, "%-16s %u storages, %u of them with cells; %s of %s cells used; lists of %s\n", "history", g->storage_count, g->grid_count,
            hbg__table_count(g->cells_used, used), hbg__table_count(g->cell_count, cells), hbg__table_bytes(g->list_bytes, lists));
}

static void text_summary(FILE *file, const struct description *d)
{
    const struct hbg_graph_info *g = &d->graph;
    char count[64], other[64];
    double tasks = g->task_count ? g->task_count : 1;

    fprintf(file, "%-16s %s\n", "tasks", hbg__table_count(g->submitted, count));
    fprintf(file, "%-16s %s, %s of them inserted\n", "noops", hbg__table_count(g->noop_count, count),
            hbg__table_count(g->task_count - g->submitted, other));
    fprintf(file, "%-16s %s, %s of them by heap reuse\n", "edges", hbg__table_count(g->edge_count, count), hbg__table_count(g->reuse_edge_count, other));
    fprintf(file, "%-16s %s\n", "roots", hbg__table_count(g->root_count, count));
    fprintf(file, "%-16s %s tasks, noops not counted\n", "longest chain", hbg__table_count(d->depth, count));
    text_degrees(file, "producers", &d->in, d);
    text_degrees(file, "consumers", &d->out, d);
    for (size_t i = 0; i < d->kernel_count; i++) {
        if (!d->kernel[i].tasks)
            continue;
        fprintf(file, "%-16s %s of ", "", hbg__table_count(d->kernel[i].tasks, count));
        put_name(file, d->kernel[i].name);
        fputc('\n', file);
    }
    text_bytes(file, "image", g->image_bytes);
    fprintf(file, "%-16s %.4g bytes: record %.4g, arguments %.4g, edges %.4g, roots %.4g, shared %.4g\n", "  a task",
            (double)(g->record_bytes + g->argument_bytes + g->edge_bytes + g->root_bytes + g->shared_bytes) / tasks, (double)g->record_bytes / tasks,
            (double)g->argument_bytes / tasks, (double)g->edge_bytes / tasks, (double)g->root_bytes / tasks, (double)g->shared_bytes / tasks);
    text_bytes(file, "slots", g->slot_bytes);
    text_bytes(file, "heap", g->heap_bytes);
    text_history(file, g);
}

static bool text_edge(FILE *file, const struct description *d, uint32_t id, uint32_t i)
{
    struct hbg_edge_info edge;
    struct hbg_argument_info a, b;
    struct hbg_task_info producer;
    char region[256];

    if (!read_edge(d, id, i, &edge) || !read_task(d, edge.producer, &producer))
        return false;
    fprintf(file, "    after %u ", edge.producer);
    put_name(file, producer.name);
    if (edge.cause != HBG_EDGE_REGION) {
        fprintf(file, ": %s\n", edge.cause == HBG_EDGE_REUSE ? "heap reuse" : edge.cause == HBG_EDGE_NOOP ? "by a noop" : "explicit order");
        return true;
    }
    if (!read_argument(d, id, edge.argument, &a) || !read_argument(d, edge.producer, edge.producer_argument, &b))
        return false;
    fprintf(file, ": %s%s", kind_text(b.kind), b.kind ? " " : "");
    put_name(file, region_text(d, &b, region, sizeof region));
    fprintf(file, " -> %s%sargument %u", kind_text(a.kind), a.kind ? " " : "", edge.argument);
    if (edge.pair_count > 1)
        fprintf(file, ", and %u more", edge.pair_count - 1);
    fputc('\n', file);
    return true;
}

static bool text_task(FILE *file, const struct description *d, uint32_t id)
{
    struct hbg_task_info task;
    struct hbg_argument_info a;
    char region[256];
    bool good = read_task(d, id, &task);

    if (!good)
        return false;
    fprintf(file, "%u ", id);
    put_name(file, task.name);
    fputc('\n', file);
    for (uint32_t i = 0; good && i < task.argument_count; i++) {
        good = read_argument(d, id, i, &a);
        if (!good)
            break;
        fprintf(file, "    %u %-5s ", i, kind_text(a.kind));
        put_name(file, region_text(d, &a, region, sizeof region));
        fputc('\n', file);
    }
    for (uint32_t i = 0; good && i < task.producer_count; i++)
        good = text_edge(file, d, id, i);
    return good;
}

bool hbg__describe_text(FILE *file, const struct description *d, uint32_t limit)
{
    uint32_t shown = shown_tasks(d, limit);
    bool good = true;

    fprintf(file, "%-16s %s\n", "workload", d->setup->workload.name);
    text_summary(file, d);
    if (shown)
        fputc('\n', file);
    for (uint32_t i = 0; good && i < shown; i++)
        good = text_task(file, d, i);
    if (shown && shown < d->graph.task_count)
        fprintf(file, "... and %u more (--limit)\n", d->graph.task_count - shown);
    return good && !ferror(file);
}

/* ---- DOT ---- */

/* Inside double quotes: a quote ends the string and a backslash begins an escape of labels. */
static void dot_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc((unsigned char)*text < 32 || *text == 127 ? ' ' : *text, file);
    }
}

static bool dot_edge(FILE *file, const struct description *d, uint32_t id, uint32_t i)
{
    struct hbg_edge_info edge;
    struct hbg_argument_info b;
    char region[256];

    if (!read_edge(d, id, i, &edge))
        return false;
    fprintf(file, "    t%u -> t%u", edge.producer, id);
    if (edge.cause == HBG_EDGE_REGION) {
        if (!read_argument(d, edge.producer, edge.producer_argument, &b))
            return false;
        fputs(" [label=\"", file);
        dot_text(file, region_text(d, &b, region, sizeof region));
        fputs("\"]", file);
    } else {
        fprintf(file, " [style=%s, label=\"%s\"]", edge.cause == HBG_EDGE_REUSE ? "dotted" : "dashed", cause_name[edge.cause]);
    }
    fputs(";\n", file);
    return true;
}

bool hbg__describe_dot(FILE *file, const struct description *d, uint32_t limit)
{
    uint32_t shown = shown_tasks(d, limit);
    bool good = true;

    fputs("digraph \"", file);
    dot_text(file, d->setup->workload.name);
    fprintf(file, "\" {\n    // %u of %u tasks\n    node [shape=box];\n", shown, d->graph.task_count);
    for (uint32_t i = 0; good && i < shown; i++) {
        struct hbg_task_info task;
        good = read_task(d, i, &task);
        if (!good)
            break;
        fprintf(file, "    t%u [label=\"", i);
        dot_text(file, task.name);
        fprintf(file, " %u\"%s];\n", i, task.is_noop ? ", shape=point" : "");
        for (uint32_t e = 0; good && e < task.producer_count; e++)
            good = dot_edge(file, d, i, e);
    }
    fputs("}\n", file);
    return good && !ferror(file);
}

/* ---- JSON ---- */

static void json_sizes(struct hbg__json *j, const char *key, const int64_t *sizes, int rank)
{
    hbg__json_key(j, key);
    hbg__json_open_array(j);
    for (int i = 0; i < rank; i++)
        hbg__json_i64(j, sizes[i]);
    hbg__json_close(j);
}

static bool json_argument(struct hbg__json *j, const struct description *d, uint32_t id, uint32_t i)
{
    struct hbg_argument_info a;
    char dtype[32];

    if (!read_argument(d, id, i, &a))
        return false;
    hbg__json_open_object(j);
    if (a.kind)
        hbg__json_key_string(j, "access", a.kind == HBG_ARG_SCALAR ? "scalar" : a.kind == HBG_ARG_BYTES ? "bytes" : kind_text(a.kind));
    hbg__json_key_string(j, "place", place_name[a.place]);
    if (a.place == HBG_PLACE_BOUNDARY || a.place == HBG_PLACE_BUFFER)
        hbg__json_key_u64(j, "index", a.index);
    if (a.place == HBG_PLACE_BOUNDARY && a.index < d->setup->boundary_count && d->setup->tensor[a.index].name)
        hbg__json_key_string(j, "name", d->setup->tensor[a.index].name);
    hbg__json_key_string(j, "dtype", hbg__table_dtype(a.dtype, dtype));
    if (is_value(d, &a)) {
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

    if (!read_edge(d, id, i, &edge))
        return false;
    hbg__json_open_object(j);
    hbg__json_key_u64(j, "task", edge.producer);
    hbg__json_key_string(j, "cause", cause_name[edge.cause]);
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
    bool good = read_task(d, id, &task);

    if (!good)
        return false;
    hbg__json_open_object(j);
    hbg__json_key_u64(j, "id", id);
    hbg__json_key_string(j, "kernel", task.name);
    hbg__json_key_bool(j, "noop", task.is_noop);
    hbg__json_key(j, "arguments");
    hbg__json_open_array(j);
    for (uint32_t i = 0; good && i < task.argument_count; i++)
        good = json_argument(j, d, id, i);
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
    hbg__json_key_f64(j, "mean", d->graph.task_count ? (double)d->graph.edge_count / d->graph.task_count : 0.0);
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

static void json_graph(struct hbg__json *j, const struct hbg_graph_info *g)
{
    hbg__json_key_u64(j, "tasks", g->submitted);
    hbg__json_key_u64(j, "ids", g->task_count);
    hbg__json_key_u64(j, "noops", g->noop_count);
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
    json_graph(j, &d->graph);
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
    uint32_t shown = shown_tasks(d, limit);
    bool good = true;

    hbg__json_begin(&j, file);
    hbg__json_open_object(&j);
    json_head(&j, d);
    hbg__json_key_u64(&j, "left_out", d->graph.task_count - shown);
    hbg__json_key(&j, "graph");
    hbg__json_open_array(&j);
    for (uint32_t i = 0; good && i < shown; i++)
        good = json_task(&j, d, i);
    hbg__json_close(&j);
    hbg__json_close(&j);
    return hbg__json_end(&j) && good;
}
