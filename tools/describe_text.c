/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A description as text and DOT. Names come from users: DOT escapes them, text shows control characters as '?'.
 *
 * Opened, the nodes of a submission stand behind it: in text further to the right, in DOT as a cluster that the submission itself is in,
 * with gray arrows, which are no edges of the graph, to the nodes that wait for nothing but the submission.
 */
#include "describe_words.h"

#include "base/plural.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

/* ---- text ---- */

static void put_name(FILE *file, const char *name)
{
    for (; *name; name++)
        fputc((unsigned char)*name < 32 || *name == 127 ? '?' : *name, file);
}

static void text_degrees(FILE *file, const char *label, const struct degrees *degrees, const struct description *d)
{
    fprintf(file, "%-16s mean %.3g, most %u", label, describe_mean_degree(d), degrees->most);
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
    fprintf(file, "%-16s of the host, to find edges: %u storages, %u of them in cells; %s of %s cells used; %s in lists\n", "history", g->storage_count, g->grid_count,
            hbg__table_count(g->cells_used, used), hbg__table_count(g->cell_count, cells), hbg__table_bytes(g->list_bytes, lists));
}

/* Nothing of a graph without submissions. */
static void text_bodies(FILE *file, const struct description *d)
{
    const struct hbg_graph_info *g = &d->graph;
    char count[64], other[64];

    if (!g->submission_count)
        return;
    fprintf(file, "%-16s %s, with %s nodes behind them\n", "outer tasks", hbg__table_count(g->task_count, count),
            hbg__table_count(g->slot_count - g->task_count, other));
    fprintf(file, "%-16s %s, of %s recorded bod%s\n", "submissions", hbg__table_count(g->submission_count, count),
            hbg__table_count(g->definition_count, other), g->definition_count == 1 ? "y" : "ies");
    for (size_t i = 0; i < d->body_count; i++) {
        fprintf(file, "%-16s %s of ", "", hbg__table_count(d->body[i].tasks, count));
        put_name(file, d->body[i].name);
        fputc('\n', file);
    }
}

static void text_edges(FILE *file, const struct description *d)
{
    const struct hbg_graph_info *g = &d->graph;
    char count[64], other[64];

    fprintf(file, "%-16s %s, %s of them by heap reuse", "edges", hbg__table_count(g->edge_count, count), hbg__table_count(g->reuse_edge_count, other));
    if (g->submission_count)
        fprintf(file, "; %s between nodes", hbg__table_count(d->node_edges, count));
    fputc('\n', file);
    fprintf(file, "%-16s %s\n", "roots", hbg__table_count(g->root_count, count));
    fprintf(file, "%-16s %s tasks, noops not counted\n", "longest chain", hbg__table_count(d->depth, count));
    text_degrees(file, "producers", &d->in, d);
    text_degrees(file, "consumers", &d->out, d);
}

static void text_sizes(FILE *file, const struct hbg_graph_info *g)
{
    double tasks = g->task_count ? g->task_count : 1;

    text_bytes(file, "image", g->image_bytes);
    fprintf(file, "%-16s %.4g bytes: record %.4g, arguments %.4g, edges %.4g, roots %.4g, shared by several tasks %.4g\n", "  a task",
            (double)(g->record_bytes + g->argument_bytes + g->edge_bytes + g->root_bytes + g->shared_bytes) / tasks, (double)g->record_bytes / tasks,
            (double)g->argument_bytes / tasks, (double)g->edge_bytes / tasks, (double)g->root_bytes / tasks, (double)g->shared_bytes / tasks);
    if (g->definition_count)
        text_bytes(file, "definitions", g->definition_bytes);
    text_bytes(file, "slots", g->slot_bytes);
    text_bytes(file, "heap", g->heap_bytes);
}

static void text_summary(FILE *file, const struct description *d)
{
    const struct hbg_graph_info *g = &d->graph;
    char count[64], other[64];

    fprintf(file, "%-16s %s\n", "tasks", hbg__table_count(g->submitted, count));
    text_bodies(file, d);
    fprintf(file, "%-16s %s, %s of them inserted\n", "noops", hbg__table_count(describe_noops(d), count),
            hbg__table_count(g->slot_count - g->submission_count - g->submitted, other));
    text_edges(file, d);
    for (size_t i = 0; i < d->kernel_count; i++) {
        if (!d->kernel[i].tasks)
            continue;
        fprintf(file, "%-16s %s of ", "", hbg__table_count(d->kernel[i].tasks, count));
        put_name(file, d->kernel[i].name);
        fputc('\n', file);
    }
    text_sizes(file, g);
    text_history(file, g);
}

/* How far to the right a task stands. */
struct place { FILE *file; const struct description *d; int indent; uint32_t left; };

static bool text_edge(const struct place *p, const struct hbg_task_info *task, uint32_t i)
{
    struct hbg_edge_info edge;
    struct hbg_argument_info a, b;
    struct hbg_task_info producer;
    char region[256];

    if (!hbg__describe_read_edge(p->d, task->id, i, &edge) || !hbg__describe_read_task(p->d, edge.producer, &producer))
        return false;
    fprintf(p->file, "%*s    after %u ", p->indent, "", edge.producer);
    put_name(p->file, producer.name);
    if (edge.cause != HBG_EDGE_REGION) {
        fprintf(p->file, ": %s\n", edge.cause == HBG_EDGE_REUSE ? "heap reuse" : edge.cause == HBG_EDGE_NOOP ? "by a noop" : "explicit order");
        return true;
    }
    if (!hbg__describe_read_argument(p->d, task->id, edge.argument, &a) || !hbg__describe_read_argument(p->d, edge.producer, edge.producer_argument, &b))
        return false;
    fprintf(p->file, ": %s%s", hbg__describe_kind(b.kind), b.kind ? " " : "");
    put_name(p->file, hbg__describe_region(p->d, &producer, &b, region, sizeof region));
    fprintf(p->file, " -> %s%sargument %u", hbg__describe_kind(a.kind), a.kind ? " " : "", edge.argument);
    if (edge.pair_count > 1)
        fprintf(p->file, ", and %u more", edge.pair_count - 1);
    fputc('\n', p->file);
    return true;
}

static bool text_task(const struct place *p, const struct hbg_task_info *task)
{
    struct hbg_argument_info a;
    char region[256];
    bool good = true;

    fprintf(p->file, "%*s%u ", p->indent, "", task->id);
    put_name(p->file, task->name);
    if (task->is_subgraph && task->node_count)
        fprintf(p->file, ", a submission of %u node%s, from %u on", task->node_count, hbg__s(task->node_count), task->first_node);
    else if (task->is_subgraph)
        fputs(", a submission without nodes", p->file);
    fputc('\n', p->file);
    for (uint32_t i = 0; good && i < task->argument_count; i++) {
        good = hbg__describe_read_argument(p->d, task->id, i, &a);
        if (!good)
            break;
        fprintf(p->file, "%*s    %u %-5s ", p->indent, "", i, hbg__describe_kind(a.kind));
        put_name(p->file, hbg__describe_region(p->d, task, &a, region, sizeof region));
        fputc('\n', p->file);
    }
    for (uint32_t i = 0; good && i < task->producer_count; i++)
        good = text_edge(p, task, i);
    return good;
}

static bool text_level(struct place *p, uint32_t first, uint32_t count)
{
    struct hbg_task_info task;
    bool good = true;

    for (uint32_t i = first; good && i < first + count && p->left; i++) {
        p->left--;
        good = hbg__describe_read_task(p->d, i, &task) && text_task(p, &task);
        if (!good || !task.is_subgraph || !p->d->open)
            continue;
        p->indent += 4;
        good = text_level(p, task.first_node, task.body_count);
        p->indent -= 4;
    }
    return good;
}

bool hbg__describe_text(FILE *file, const struct description *d, uint32_t limit)
{
    uint32_t shown = describe_shown(d, limit);
    struct place place = { file, d, 0, shown };
    bool good;

    fprintf(file, "%-16s %s\n", "workload", d->setup->workload.name);
    text_summary(file, d);
    if (shown)
        fputc('\n', file);
    good = text_level(&place, 0, d->graph.task_count);
    if (shown && shown < describe_ids(d))
        fprintf(file, "... and %u more (--limit)\n", describe_ids(d) - shown);
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

static bool dot_edge(const struct place *p, const struct hbg_task_info *task, uint32_t i)
{
    struct hbg_edge_info edge;
    struct hbg_argument_info b;
    struct hbg_task_info producer;
    char region[256];

    if (!hbg__describe_read_edge(p->d, task->id, i, &edge) || !hbg__describe_read_task(p->d, edge.producer, &producer))
        return false;
    fprintf(p->file, "%*s    t%u -> t%u", p->indent, "", edge.producer, task->id);
    if (edge.cause == HBG_EDGE_REGION) {
        if (!hbg__describe_read_argument(p->d, edge.producer, edge.producer_argument, &b))
            return false;
        fputs(" [label=\"", p->file);
        dot_text(p->file, hbg__describe_region(p->d, &producer, &b, region, sizeof region));
        fputs("\"]", p->file);
    } else {
        fprintf(p->file, " [style=%s, label=\"%s\"]", edge.cause == HBG_EDGE_REUSE ? "dotted" : "dashed", hbg__describe_cause(edge.cause));
    }
    fputs(";\n", p->file);
    return true;
}

/* A submission that is opened is the first node of its cluster. */
static void dot_cluster(struct place *p, const struct hbg_task_info *task)
{
    fprintf(p->file, "%*s    subgraph cluster_%u {\n", p->indent, "", task->id);
    p->indent += 4;
    fprintf(p->file, "%*s    label=\"", p->indent, "");
    dot_text(p->file, task->name);
    fprintf(p->file, " %u\";\n", task->id);
}

static bool dot_level(struct place *p, uint32_t first, uint32_t count);

static bool dot_task(struct place *p, const struct hbg_task_info *task)
{
    bool opened = task->is_subgraph && p->d->open, good = true;

    if (opened)
        dot_cluster(p, task);
    fprintf(p->file, "%*s    t%u [label=\"", p->indent, "", task->id);
    dot_text(p->file, task->name);
    fprintf(p->file, " %u\"%s];\n", task->id, task->is_noop ? ", shape=point" : task->is_subgraph ? ", shape=box3d" : "");
    if (opened) {
        good = dot_level(p, task->first_node, task->body_count);
        p->indent -= 4;
        fprintf(p->file, "%*s    }\n", p->indent, "");
    }
    if (task->parent != UINT32_MAX && task->producer_count == 0)
        fprintf(p->file, "%*s    t%u -> t%u [style=dashed, color=gray];\n", p->indent, "", task->parent, task->id);
    for (uint32_t e = 0; good && e < task->producer_count; e++)
        good = dot_edge(p, task, e);
    return good;
}

static bool dot_level(struct place *p, uint32_t first, uint32_t count)
{
    struct hbg_task_info task;
    bool good = true;

    for (uint32_t i = first; good && i < first + count && p->left; i++) {
        p->left--;
        good = hbg__describe_read_task(p->d, i, &task) && dot_task(p, &task);
    }
    return good;
}

bool hbg__describe_dot(FILE *file, const struct description *d, uint32_t limit)
{
    uint32_t shown = describe_shown(d, limit);
    struct place place = { file, d, 0, shown };
    bool good;

    fputs("digraph \"", file);
    dot_text(file, d->setup->workload.name);
    fprintf(file, "\" {\n    // %u of %u tasks\n    node [shape=box];\n", shown, describe_ids(d));
    good = dot_level(&place, 0, d->graph.task_count);
    fputs("}\n", file);
    return good && !ferror(file);
}
