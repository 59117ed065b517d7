/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a description says of tasks, arguments and edges.
 */
#include "describe_words.h"

#include "table.h"

#include <inttypes.h>
#include <string.h>

static const char *const kind_name[] = { "", "in", "out", "inout", "accumulate", "untracked" };
static const char *const place_name[] = { "", "value", "bytes", "boundary", "intermediate", "buffer", "definition", "captured" };
static const char *const cause_name[] = { "", "region", "noop", "reuse", "order" };

const char *hbg__describe_kind(uint32_t kind) { return kind <= HBG_ARG_UNTRACKED ? kind_name[kind] : ""; }
const char *hbg__describe_place(uint32_t place) { return place_name[place]; }
const char *hbg__describe_cause(uint32_t cause) { return cause_name[cause]; }

bool hbg__describe_read_task(const struct description *d, uint32_t id, struct hbg_task_info *task)
{
    *task = HBG_OPTIONS(task_info);
    return hbg_run_task(d->run, id, task) == HBG_OK;
}

bool hbg__describe_read_argument(const struct description *d, uint32_t task, uint32_t i, struct hbg_argument_info *a)
{
    *a = HBG_OPTIONS(argument_info);
    return hbg_run_argument(d->run, task, i, a) == HBG_OK;
}

bool hbg__describe_read_edge(const struct description *d, uint32_t task, uint32_t i, struct hbg_edge_info *edge)
{
    *edge = HBG_OPTIONS(edge_info);
    return hbg_run_edge(d->run, task, i, edge) == HBG_OK;
}

/* ---- regions ---- */

/* "[64,64]" */
static size_t append_sizes(char *text, size_t size, size_t used, const int64_t *sizes, int rank)
{
    for (int i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? "," : "[", sizes[i]);
    if (rank && used < size)
        used += (size_t)snprintf(text + used, size - used, "]");
    return used;
}

const char *hbg__describe_tensor(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a)
{
    bool of_run = a->place == HBG_PLACE_BOUNDARY && task->parent == UINT32_MAX && a->index < d->setup->boundary_count;

    return of_run ? d->setup->tensor[a->index].name : NULL;
}

/* a boundary position of the body that is a scalar of its submission */
static bool is_scalar_of_body(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a)
{
    struct hbg_argument_info given;

    return hbg__describe_read_argument(d, task->parent, a->index, &given) && given.kind == HBG_ARG_SCALAR;
}

bool hbg__describe_is_value(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a)
{
    if (a->place == HBG_PLACE_VALUE || a->kind == HBG_ARG_SCALAR)
        return true;
    if (a->place != HBG_PLACE_BOUNDARY && a->place != HBG_PLACE_CAPTURED)
        return false;
    return task->parent == UINT32_MAX ? a->index < d->setup->boundary_count && !hbg__describe_tensor(d, task, a) : is_scalar_of_body(d, task, a);
}

/* "a", "argument 3", "argument 1 of layer", "intermediate", "buffer 0" */
static const char *place_text(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a, char *text, size_t size)
{
    const char *name = hbg__describe_tensor(d, task, a), *of = "", *body = "";
    struct hbg_task_info parent;

    if (task->parent != UINT32_MAX && hbg__describe_read_task(d, task->parent, &parent)) {
        of = " of ";
        body = parent.name;
    }
    if (name)
        snprintf(text, size, "%s", name);
    else if (a->place == HBG_PLACE_BOUNDARY || a->place == HBG_PLACE_CAPTURED)
        snprintf(text, size, "argument %u%s%s", a->index, of, body);
    else if (a->place == HBG_PLACE_BUFFER || a->place == HBG_PLACE_DEFINITION)
        snprintf(text, size, "%s %u%s%s", place_name[a->place], a->index, of, body);
    else
        snprintf(text, size, "%s", place_name[a->place]);
    return text;
}

const char *hbg__describe_region(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a, char *text, size_t size)
{
    char dtype[32], place[160];
    size_t used = a->dtype ? (size_t)snprintf(text, size, "%s", hbg__table_dtype(a->dtype, dtype)) : 0;

    place_text(d, task, a, place, sizeof place);
    if (a->place == HBG_PLACE_DEFINITION) {
        snprintf(text, size, "%s", place);
        return text;
    }
    if (hbg__describe_is_value(d, task, a)) {
        snprintf(text + used, size - used, " %s", place);
        return text;
    }
    used = append_sizes(text, size, used, a->shape, a->rank);
    if (used < size)
        snprintf(text + used, size - used, " at byte %" PRId64 " of %s", a->offset_bytes, place);
    return text;
}
