/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - what a run's graph is, read from its image, its base table and its program: nothing here is kept for it. */
#include <hbg/describe.h>

#include <string.h>

#include "graph/hazard_stats.h"
#include "run/abi.h"
#include "run/meeting.h"
#include "run/run.h"

static const unsigned char *payload_of(const struct hbg__run *run) { return hbg__image_payload(run->kept->recording.head); }

static const struct hbg__task_record *record_of(const struct hbg__run *run, uint32_t task) { return hbg__image_record(payload_of(run), task); }

static const struct hbg_view_arg *argument_of(const struct hbg__run *run, const struct hbg__task_record *task, uint32_t i)
{
    return (const struct hbg_view_arg *)hbg__image_at(payload_of(run), task->args) + i;
}

static uint32_t arguments_of(const struct hbg__task_record *task) { return task->flags & HBG__TASK_NOOP ? 0 : task->arg_count; }

/* 0: the kernel has no signature, which leaves it open */
static uint32_t kind_of(const struct hbg__run *run, const struct hbg__task_record *task, uint32_t i)
{
    const struct hbg__signature *signature = &run->program->signatures[task->kernel];
    return signature->given && i < signature->arg_count ? signature->kind[i] : 0;
}

/* The caller's struct, as far as its size reaches. */
static enum hbg_status hand_out(void *info, const void *made, size_t made_bytes)
{
    size_t size;
    memcpy(&size, info, sizeof size);
    memcpy((unsigned char *)info + sizeof size, (const unsigned char *)made + sizeof size, (size < made_bytes ? size : made_bytes) - sizeof size);
    return HBG_OK;
}

static enum hbg_status enter(struct hbg_run handle, const void *info, const char *call, struct hbg__run **run)
{
    enum hbg__run_phase phase;
    size_t size;
    if (!info) return HBG_E_NULL;
    memcpy(&size, info, sizeof size);
    if (size < sizeof size || size > HBG__ABI_MOST) return HBG_E_ABI;
    return hbg__run_enter(handle, call, run, &phase);
}

/* ---- the whole graph ---- */

static void count_bytes(const struct hbg__run *run, const struct hbg__image_head *head, struct hbg_graph_info *info)
{
    for (uint32_t i = 0; i < head->task_count; i++) {
        const struct hbg__task_record *task = record_of(run, i);
        uint64_t producers = hbg__image_producer_count(payload_of(run), task);
        info->argument_bytes += (uint64_t)task->arg_count * sizeof(struct hbg_view_arg);
        if (producers > 3) info->edge_bytes += (producers - 3 + (producers >= 255) + 1) / 2 * 8;
    }
    info->record_bytes = (uint64_t)head->task_count * sizeof(struct hbg__task_record);
    info->root_bytes = ((uint64_t)head->root_count + 1) / 2 * 8;
    info->shared_bytes = head->payload_bytes - info->argument_bytes - info->edge_bytes - info->root_bytes;
}

enum hbg_status hbg_run_graph(struct hbg_run handle, struct hbg_graph_info *info)
{
    struct hbg_graph_info made = { 0 };
    struct hbg__hazard_stats stats;
    struct hbg__run *run;
    enum hbg_status status = enter(handle, info, "hbg_run_graph", &run);
    if (status) return status;
    const struct hbg__recording *recording = &run->kept->recording;
    const struct hbg__image_head *head = recording->head;
    made.task_count = head->task_count;
    made.noop_count = head->noop_count;
    made.root_count = head->root_count;
    made.submitted = recording->task_count;
    made.edge_count = head->edge_count;
    made.reuse_edge_count = recording->reuse_edges;
    made.image_bytes = head->image_bytes;
    made.heap_bytes = head->heap_bytes;
    made.slot_bytes = (uint64_t)head->task_count * sizeof(struct hbg__slot);
    count_bytes(run, head, &made);
    made.history_known = hbg__hazard_stats(run->graph, recording->serial, &stats);
    made.storage_count = stats.storages;
    made.grid_count = stats.grids;
    made.cell_count = stats.cells;
    made.cells_used = stats.cells_used;
    made.list_bytes = stats.list_bytes;
    hbg__run_leave(run);
    return hand_out(info, &made, sizeof made);
}

/* ---- tasks and arguments ---- */

/* What a function of this file asks about a task; the caller leaves the run when it is HBG_OK. */
static enum hbg_status enter_task(struct hbg_run handle, const void *info, const char *call, uint32_t task, struct hbg__run **run)
{
    enum hbg_status status = enter(handle, info, call, run);
    if (status || task < (*run)->kept->recording.head->task_count) return status;
    hbg__run_leave(*run);
    return HBG_E_TASK_ID;
}

enum hbg_status hbg_run_task(struct hbg_run handle, uint32_t task, struct hbg_task_info *info)
{
    struct hbg__run *run;
    enum hbg_status status = enter_task(handle, info, "hbg_run_task", task, &run);
    if (status) return status;
    const struct hbg__task_record *record = record_of(run, task);
    bool noop = record->flags & HBG__TASK_NOOP;
    struct hbg_task_info made = { .id = task, .kernel = noop ? UINT32_MAX : record->kernel,
                                  .name = hbg__program_kernel_name(run->program, noop ? UINT32_MAX : record->kernel),
                                  .argument_count = arguments_of(record), .producer_count = hbg__image_producer_count(payload_of(run), record),
                                  .is_noop = noop, .orders_reuse = (record->flags & HBG__TASK_REUSE) != 0 };
    hbg__run_leave(run);
    return hand_out(info, &made, sizeof made);
}

static enum hbg_place place_of(const struct hbg__run *run, uint32_t base)
{
    if (base == HBG__BASE_ZERO) return HBG_PLACE_VALUE;
    if (base == HBG__BASE_PAYLOAD) return HBG_PLACE_BYTES;
    if (base == HBG__BASE_HEAP) return HBG_PLACE_INTERMEDIATE;
    return base - HBG__BASE_BOUNDARY < run->arg_count ? HBG_PLACE_BOUNDARY : HBG_PLACE_BUFFER;
}

static bool is_boundary_scalar(const struct hbg__run *run, uint32_t base)
{
    return place_of(run, base) == HBG_PLACE_BOUNDARY && run->arg[base - HBG__BASE_BOUNDARY].group == UINT32_MAX;
}

static void fill_argument(const struct hbg__run *run, const struct hbg__task_record *task, uint32_t i, struct hbg_argument_info *made)
{
    const struct hbg_view_arg *arg = argument_of(run, task, i);
    const struct hbg_layout *layout = hbg__image_at(payload_of(run), arg->layout);
    enum hbg_place place = place_of(run, arg->base);
    made->kind = kind_of(run, task, i);
    made->place = place;
    if (place == HBG_PLACE_BOUNDARY) made->index = arg->base - HBG__BASE_BOUNDARY;
    if (place == HBG_PLACE_BUFFER) made->index = arg->base - HBG__BASE_BOUNDARY - run->arg_count;
    made->dtype = (uint16_t)layout->dtype;
    made->rank = layout->rank;
    if (place == HBG_PLACE_VALUE) made->bits = arg->word;
    else if (is_boundary_scalar(run, arg->base)) made->bits = run->descriptor->base[arg->base];
    else made->offset_bytes = (int64_t)arg->word;
    for (int d = 0; d < layout->rank; d++) {
        made->shape[d] = layout->shape[d];
        made->stride_bytes[d] = layout->stride_bytes[d];
    }
}

enum hbg_status hbg_run_argument(struct hbg_run handle, uint32_t task, uint32_t argument, struct hbg_argument_info *info)
{
    struct hbg_argument_info made = { 0 };
    struct hbg__run *run;
    enum hbg_status status = enter_task(handle, info, "hbg_run_argument", task, &run);
    if (status) return status;
    const struct hbg__task_record *record = record_of(run, task);
    if (argument < arguments_of(record)) fill_argument(run, record, argument, &made);
    else status = HBG_E_OPTION;
    hbg__run_leave(run);
    return status ? status : hand_out(info, &made, sizeof made);
}

/* ---- edges ---- */

/* The bytes of an argument, by device address. False: it has none that could make an edge. */
static bool bytes_of(const struct hbg__run *run, const struct hbg__task_record *task, uint32_t i, struct hbg__view *view)
{
    const struct hbg_view_arg *arg = argument_of(run, task, i);
    const struct hbg_layout *l = hbg__image_at(payload_of(run), arg->layout);
    if (arg->base < HBG__BASE_HEAP || is_boundary_scalar(run, arg->base) || kind_of(run, task, i) == HBG_ARG_UNTRACKED) return false;
    return hbg__view_canonical(view, (int64_t)(run->descriptor->base[arg->base] + arg->word), l->element_bytes, l->rank, l->shape, l->stride_bytes);
}

enum { TOUCHES_HERE = 16 };              /* of the small tasks, which is most of them */

/* The bytes of a task's arguments, and how many of them have any: `here`, or a block of the device's memory, or NULL. */
static struct hbg__touch *touches_of(const struct hbg__run *run, const struct hbg__task_record *task, struct hbg__touch *here, uint32_t *count)
{
    uint32_t arguments = arguments_of(task);
    struct hbg__touch *touch = arguments <= TOUCHES_HERE ? here : hbg__alloc(&run->device->memory, arguments * sizeof *touch, 16);
    *count = 0;
    for (uint32_t i = 0; touch && i < arguments; i++) {
        struct hbg__touch *t = &touch[*count];
        if (!bytes_of(run, task, i, &t->view)) continue;
        t->end = hbg__view_end(&t->view);
        t->position = i;
        t->reads = kind_of(run, task, i) == HBG_ARG_IN;
        ++*count;
    }
    return touch;
}

static void touches_free(const struct hbg__run *run, const struct hbg__task_record *task, struct hbg__touch *touch)
{
    uint32_t arguments = arguments_of(task);
    if (arguments > TOUCHES_HERE) hbg__free(&run->device->memory, touch, arguments * sizeof *touch, 16);
}

static enum hbg_status find_pairs(const struct hbg__run *run, const struct hbg__task_record *task, const struct hbg__task_record *producer,
                                  struct hbg_edge_info *made)
{
    struct hbg__touch my_few[TOUCHES_HERE], their_few[TOUCHES_HERE];
    struct hbg__meeting meeting = { 0 };
    uint32_t my_count, their_count;
    struct hbg__touch *mine = touches_of(run, task, my_few, &my_count), *theirs = touches_of(run, producer, their_few, &their_count);
    enum hbg_status status = mine && theirs ? HBG_OK : HBG_E_NO_MEMORY;
    if (!status) hbg__meeting_find(&run->device->memory, mine, my_count, theirs, their_count, &meeting);
    touches_free(run, producer, theirs);
    touches_free(run, task, mine);
    made->argument = meeting.mine;
    made->producer_argument = meeting.theirs;
    made->pair_count = meeting.pair_count;
    made->cause = meeting.pair_count ? HBG_EDGE_REGION : HBG_EDGE_ORDER;
    return status;
}

static enum hbg_status find_cause(const struct hbg__run *run, const struct hbg__task_record *task, struct hbg_edge_info *made)
{
    const struct hbg__task_record *producer = record_of(run, made->producer);
    if ((task->flags | producer->flags) & HBG__TASK_REUSE) made->cause = HBG_EDGE_REUSE;
    else if ((task->flags | producer->flags) & HBG__TASK_NOOP) made->cause = HBG_EDGE_NOOP;
    else return find_pairs(run, task, producer, made);
    return HBG_OK;
}

enum hbg_status hbg_run_edge(struct hbg_run handle, uint32_t task, uint32_t edge, struct hbg_edge_info *info)
{
    struct hbg_edge_info made = { 0 };
    struct hbg__run *run;
    enum hbg_status status = enter_task(handle, info, "hbg_run_edge", task, &run);
    if (status) return status;
    const struct hbg__task_record *record = record_of(run, task);
    if (edge < hbg__image_producer_count(payload_of(run), record)) {
        made.producer = hbg__image_producer(payload_of(run), record, edge);
        if (info->size > offsetof(struct hbg_edge_info, cause)) status = find_cause(run, record, &made);
    } else {
        status = HBG_E_OPTION;
    }
    hbg__run_leave(run);
    return status ? status : hand_out(info, &made, sizeof made);
}
