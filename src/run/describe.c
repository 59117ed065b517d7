/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - what a run's graph is, read from its image, the definitions that it names, its base table and its program. Nothing of it
 * is kept, but for the list of levels (node.h) that the first question about a node makes.
 */
#include <hbg/describe.h>

#include <string.h>

#include "graph/hazard_stats.h"
#include "run/abi.h"
#include "run/buffer.h"
#include "run/meeting.h"
#include "run/node.h"
#include "run/run.h"

/* A task, by its number, and where it stands. */
struct spot {
    struct hbg__run *run;
    struct hbg__level level;
    const unsigned char *payload;
    const struct hbg__task_record *record;
    const struct hbg__definition *submits;      /* NULL: it is no submission */
    uint32_t number, task;              /* in the run, in its level */
};

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

/* ---- finding a task ---- */

static const struct hbg__image_head *head_of(const struct hbg__run *run) { return run->kept->recording.head; }

/* The run's levels, listed by whoever asks first; NULL: no memory. */
static const struct hbg__opened *levels_of(struct hbg__run *run)
{
    uint32_t count = head_of(run)->activation_count + 1;
    pthread_mutex_lock(&run->levels_lock);
    if (run->level_capacity < count) {
        hbg__free(&run->device->memory, run->levels, run->level_capacity * sizeof *run->levels, 16);
        run->levels = hbg__alloc(&run->device->memory, count * sizeof *run->levels, 16);
        run->level_capacity = run->levels ? count : 0;
    }
    if (run->levels && run->level_count == 0) {
        hbg__levels_list(&run->kept->recording, run->levels);
        run->level_count = count;
    }
    const struct hbg__opened *levels = run->levels;
    pthread_mutex_unlock(&run->levels_lock);
    return levels;
}

static void stand_on(struct spot *at, uint32_t task)
{
    at->task = task;
    at->number = at->level.first_slot + task;
    at->payload = hbg__image_payload(at->level.head);
    at->record = hbg__image_record(at->payload, task);
    const struct hbg__submission *s = hbg__level_submission(&at->level, task);
    at->submits = s ? hbg__level_open(&at->level, s).definition : NULL;
}

static enum hbg_status find_task(struct hbg__run *run, uint32_t number, struct spot *at)
{
    const struct hbg__image_head *head = head_of(run);
    at->run = run;
    if (number >= head->slot_count) return HBG_E_TASK_ID;
    if (number < head->task_count) {
        at->level = hbg__level_of_run(&run->kept->recording);
    } else {
        const struct hbg__opened *levels = levels_of(run);
        if (!levels) return HBG_E_NO_MEMORY;
        at->level = hbg__levels_find(levels, head->activation_count + 1, number)->level;
    }
    stand_on(at, number - at->level.first_slot);
    return HBG_OK;
}

/* What a function of this file asks about a task; the caller leaves the run when it is HBG_OK. */
static enum hbg_status enter_task(struct hbg_run handle, const void *info, const char *call, uint32_t number, struct spot *at)
{
    struct hbg__run *run;
    enum hbg_status status = enter(handle, info, call, &run);
    if (status) return status;
    status = find_task(run, number, at);
    if (status) hbg__run_leave(run);
    return status;
}

static const struct hbg_view_arg *argument_of(const struct spot *at, uint32_t i)
{
    if (at->submits) return hbg__image_submission_args(at->payload, at->record) + i;
    return (const struct hbg_view_arg *)hbg__image_at(at->payload, at->record->args) + i;
}

static uint32_t arguments_of(const struct spot *at)
{
    if (at->submits) return hbg__image_submission(at->payload, at->record)->arg_count;
    return at->record->flags & HBG__TASK_NOOP ? 0 : at->record->arg_count;
}

/* What a submission passes on behind its boundary; NULL: it is an argument of another kind. */
static const struct hbg__named *passed_on(const struct spot *at, uint32_t i)
{
    return at->submits && i >= at->submits->arg_count ? &at->submits->named[i - at->submits->arg_count] : NULL;
}

static uint32_t kind_of_named(const struct hbg__named *named)
{
    if (named->kind == HBG__NAMED_DEFINITION) return 0;
    return named->kind == HBG__NAMED_SCALAR ? HBG_ARG_SCALAR : named->is_written ? HBG_ARG_INOUT : HBG_ARG_IN;
}

/* 0: the kernel has no signature, which leaves it open */
static uint32_t kind_of(const struct spot *at, uint32_t i)
{
    if (passed_on(at, i)) return kind_of_named(passed_on(at, i));
    if (at->submits) return (uint32_t)at->submits->arg[i].arg.kind;
    const struct hbg__signature *signature = &at->run->program->signatures[at->record->kernel];
    return signature->given && i < signature->arg_count ? signature->kind[i] : 0;
}

/* ---- the whole graph ---- */

static void count_bytes(const struct hbg__image_head *head, struct hbg_graph_info *info)
{
    const unsigned char *payload = hbg__image_payload(head);
    for (uint32_t i = 0; i < head->task_count; i++) {
        const struct hbg__task_record *task = hbg__image_record(payload, i);
        uint64_t producers = hbg__image_producer_count(payload, task);
        const struct hbg__submission *s = task->flags & HBG__TASK_SUBGRAPH ? hbg__image_submission(payload, task) : NULL;
        info->argument_bytes += (uint64_t)(s ? s->arg_count : task->arg_count) * sizeof(struct hbg_view_arg) + (s ? sizeof *s : 0);
        if (producers > 3) info->edge_bytes += (producers - 3 + (producers >= 255) + 1) / 2 * 8;
    }
    info->record_bytes = (uint64_t)head->task_count * sizeof(struct hbg__task_record);
    info->root_bytes = ((uint64_t)head->root_count + 1) / 2 * 8;
    info->shared_bytes = head->payload_bytes - info->argument_bytes - info->edge_bytes - info->root_bytes;
}

static void count_definitions(const struct hbg__recording *recording, struct hbg_graph_info *info)
{
    for (uint32_t i = 0; i < recording->named_count; i++) {
        const struct hbg__definition *d = recording->named[i].definition;
        if (!d) continue;
        info->definition_count++;
        info->definition_bytes += d->head->image_bytes;
    }
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
    made.slot_bytes = (uint64_t)head->slot_count * sizeof(struct hbg__slot);
    made.slot_count = head->slot_count;
    made.submission_count = head->activation_count;
    count_bytes(head, &made);
    count_definitions(recording, &made);
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

static void fill_task(const struct spot *at, struct hbg_task_info *made)
{
    bool noop = at->record->flags & HBG__TASK_NOOP, has_kernel = !(at->record->flags & HBG__TASK_NO_KERNEL);
    *made = (struct hbg_task_info){ .id = at->number, .kernel = has_kernel ? at->record->kernel : UINT32_MAX, .argument_count = arguments_of(at),
                                    .producer_count = hbg__image_producer_count(at->payload, at->record), .is_noop = noop,
                                    .orders_reuse = (at->record->flags & HBG__TASK_REUSE) != 0, .node = at->task, .parent = UINT32_MAX };
    made->name = at->submits ? at->submits->key.name : hbg__program_kernel_name(at->run->program, made->kernel);
    if (at->level.activation) {
        const struct hbg__opened *levels = levels_of(at->run), *own = &levels[at->level.activation];
        made->parent = levels[own->parent].level.first_slot + own->task;
    }
    if (!at->submits) return;
    const struct hbg__submission *s = hbg__level_submission(&at->level, at->task);
    made->is_subgraph = 1;
    made->subgraph = made->name;
    made->first_node = at->level.first_slot + s->slots;
    made->node_count = s->slot_count;
    made->body_count = at->submits->head->task_count;
}

enum hbg_status hbg_run_task(struct hbg_run handle, uint32_t task, struct hbg_task_info *info)
{
    struct hbg_task_info made;
    struct spot at;
    enum hbg_status status = enter_task(handle, info, "hbg_run_task", task, &at);
    if (status) return status;
    fill_task(&at, &made);
    hbg__run_leave(at.run);
    return hand_out(info, &made, sizeof made);
}

/* What a level names; NULL: the entry is no such thing. */
static const struct hbg__named *named_at(const struct hbg__level *level, uint32_t base)
{
    uint32_t first = HBG__BASE_BOUNDARY + level->boundary_count;
    return base < first ? NULL : &level->named[base - first];
}

static enum hbg_place place_of(const struct hbg__level *level, uint32_t base)
{
    const struct hbg__named *named = named_at(level, base);
    if (base == HBG__BASE_ZERO) return HBG_PLACE_VALUE;
    if (base == HBG__BASE_PAYLOAD) return HBG_PLACE_BYTES;
    if (base == HBG__BASE_HEAP) return HBG_PLACE_INTERMEDIATE;
    if (!named) return HBG_PLACE_BOUNDARY;
    return named->kind == HBG__NAMED_BUFFER ? HBG_PLACE_BUFFER : named->kind == HBG__NAMED_DEFINITION ? HBG_PLACE_DEFINITION : HBG_PLACE_CAPTURED;
}

/* Among what a level names there may be definitions between the buffers. */
static uint32_t index_of(const struct hbg__level *level, uint32_t base, enum hbg_place place)
{
    const struct hbg__named *named = named_at(level, base);
    uint32_t index = base - HBG__BASE_BOUNDARY;
    if (place < HBG_PLACE_BOUNDARY || place == HBG_PLACE_INTERMEDIATE) return 0;
    if (place == HBG_PLACE_BOUNDARY || place == HBG_PLACE_CAPTURED) return index;
    index = 0;
    for (const struct hbg__named *before = level->named; before != named; before++) index += before->kind == named->kind;
    return index;
}

static bool is_scalar(const struct hbg__run *run, const struct hbg__level *level, uint32_t base)
{
    const struct hbg__named *named = named_at(level, base);
    if (base < HBG__BASE_BOUNDARY) return false;
    if (named) return named->kind == HBG__NAMED_SCALAR;
    return (level->definition ? level->definition->arg[base - HBG__BASE_BOUNDARY].group : run->arg[base - HBG__BASE_BOUNDARY].group) == UINT32_MAX;
}

/* What an entry of a level's base table is in this run: made on the way to the device, as it makes it. */
static uint64_t base_value(const struct hbg__run *run, const struct hbg__level *level, uint32_t base)
{
    uint64_t value = 0;
    for (uint32_t a = level->activation; a && base != HBG__BASE_ZERO; a = run->levels[a].parent) {
        const struct hbg__opened *own = &run->levels[a];
        if (base == HBG__BASE_HEAP) {
            value += own->submission->heap;
            continue;
        }
        const unsigned char *payload = hbg__image_payload(run->levels[own->parent].level.head);
        const struct hbg__task_record *record = hbg__image_record(payload, own->task);
        const struct hbg_view_arg *arg = hbg__image_submission_args(payload, record) + (base - HBG__BASE_BOUNDARY);
        value += arg->word;
        base = arg->base;
    }
    return value + hbg__run_base(run, base);
}

static uint64_t value_of(const struct spot *at, const struct hbg_view_arg *arg) { return base_value(at->run, &at->level, arg->base) + arg->word; }

static void fill_passed_on(const struct hbg__named *named, struct hbg_argument_info *made)
{
    if (named->kind != HBG__NAMED_BUFFER && named->kind != HBG__NAMED_STORAGE) return;
    made->dtype = HBG_U8;
    made->rank = 1;
    made->stride_bytes[0] = 1;
    made->shape[0] = (int64_t)(named->kind == HBG__NAMED_BUFFER ? named->buffer->size_bytes : named->size_bytes);
    if (named->kind == HBG__NAMED_STORAGE) made->offset_bytes += named->lower;
}

static void fill_argument(const struct spot *at, uint32_t i, struct hbg_argument_info *made)
{
    const struct hbg_view_arg *arg = argument_of(at, i);
    const struct hbg_layout *layout = hbg__image_at(at->payload, arg->layout);
    enum hbg_place place = place_of(&at->level, arg->base);
    made->kind = kind_of(at, i);
    made->place = place;
    made->index = index_of(&at->level, arg->base, place);
    if (place == HBG_PLACE_VALUE) made->bits = arg->word;
    else if (is_scalar(at->run, &at->level, arg->base)) made->bits = value_of(at, arg);
    else if (place != HBG_PLACE_DEFINITION) made->offset_bytes = (int64_t)arg->word;
    if (place == HBG_PLACE_CAPTURED) made->offset_bytes -= named_at(&at->level, arg->base)->lower;     /* as the submission passes it on: from its first byte */
    if (passed_on(at, i)) {
        fill_passed_on(passed_on(at, i), made);
        return;
    }
    made->dtype = (uint16_t)layout->dtype;
    made->rank = layout->rank;
    for (int d = 0; d < layout->rank; d++) {
        made->shape[d] = layout->shape[d];
        made->stride_bytes[d] = layout->stride_bytes[d];
    }
}

enum hbg_status hbg_run_argument(struct hbg_run handle, uint32_t task, uint32_t argument, struct hbg_argument_info *info)
{
    struct hbg_argument_info made = { 0 };
    struct spot at;
    enum hbg_status status = enter_task(handle, info, "hbg_run_argument", task, &at);
    if (status) return status;
    if (argument < arguments_of(&at)) fill_argument(&at, argument, &made);
    else status = HBG_E_OPTION;
    hbg__run_leave(at.run);
    return status ? status : hand_out(info, &made, sizeof made);
}

/* ---- edges ---- */

/* The bytes of an argument, by device address. False: it has none that could make an edge. */
static bool bytes_of(const struct spot *at, uint32_t i, struct hbg__view *view)
{
    const struct hbg_view_arg *arg = argument_of(at, i);
    const struct hbg_layout *l = hbg__image_at(at->payload, arg->layout);
    const struct hbg__named *named = passed_on(at, i);
    struct hbg_argument_info all = { 0 };
    if (arg->base < HBG__BASE_HEAP || is_scalar(at->run, &at->level, arg->base) || kind_of(at, i) == HBG_ARG_UNTRACKED) return false;
    if (!named) return hbg__view_canonical(view, (int64_t)value_of(at, arg), l->element_bytes, l->rank, l->shape, l->stride_bytes);
    fill_passed_on(named, &all);
    return all.rank && hbg__view_canonical(view, (int64_t)value_of(at, arg) + all.offset_bytes, 1, 1, all.shape, all.stride_bytes);
}

enum { TOUCHES_HERE = 16 };              /* of the small tasks, which is most of them */

/* The bytes of a task's arguments, and how many of them have any: `here`, or a block of the device's memory, or NULL. */
static struct hbg__touch *touches_of(const struct spot *at, struct hbg__touch *here, uint32_t *count)
{
    uint32_t arguments = arguments_of(at);
    struct hbg__touch *touch = arguments <= TOUCHES_HERE ? here : hbg__alloc(&at->run->device->memory, arguments * sizeof *touch, 16);
    *count = 0;
    for (uint32_t i = 0; touch && i < arguments; i++) {
        struct hbg__touch *t = &touch[*count];
        if (!bytes_of(at, i, &t->view)) continue;
        t->end = hbg__view_end(&t->view);
        t->position = i;
        t->reads = kind_of(at, i) == HBG_ARG_IN;
        ++*count;
    }
    return touch;
}

static void touches_free(const struct spot *at, struct hbg__touch *touch)
{
    uint32_t arguments = arguments_of(at);
    if (arguments > TOUCHES_HERE) hbg__free(&at->run->device->memory, touch, arguments * sizeof *touch, 16);
}

static enum hbg_status find_pairs(const struct spot *at, const struct spot *producer, struct hbg_edge_info *made)
{
    struct hbg__touch my_few[TOUCHES_HERE], their_few[TOUCHES_HERE];
    struct hbg__meeting meeting = { 0 };
    uint32_t my_count, their_count;
    struct hbg__touch *mine = touches_of(at, my_few, &my_count), *theirs = touches_of(producer, their_few, &their_count);
    enum hbg_status status = mine && theirs ? HBG_OK : HBG_E_NO_MEMORY;
    if (!status) hbg__meeting_find(&at->run->device->memory, mine, my_count, theirs, their_count, &meeting);
    touches_free(producer, theirs);
    touches_free(at, mine);
    made->argument = meeting.mine;
    made->producer_argument = meeting.theirs;
    made->pair_count = meeting.pair_count;
    made->cause = meeting.pair_count ? HBG_EDGE_REGION : HBG_EDGE_ORDER;
    return status;
}

/* Producers are of the same level. */
static enum hbg_status find_cause(const struct spot *at, uint32_t task, struct hbg_edge_info *made)
{
    struct spot producer = { .run = at->run, .level = at->level };
    stand_on(&producer, task);
    uint32_t flags = at->record->flags | producer.record->flags;
    if (flags & HBG__TASK_REUSE) made->cause = HBG_EDGE_REUSE;
    else if (flags & HBG__TASK_NOOP) made->cause = HBG_EDGE_NOOP;
    else return find_pairs(at, &producer, made);
    return HBG_OK;
}

enum hbg_status hbg_run_edge(struct hbg_run handle, uint32_t task, uint32_t edge, struct hbg_edge_info *info)
{
    struct hbg_edge_info made = { 0 };
    struct spot at;
    enum hbg_status status = enter_task(handle, info, "hbg_run_edge", task, &at);
    if (status) return status;
    if (edge < hbg__image_producer_count(at.payload, at.record)) {
        uint32_t producer = hbg__image_producer(at.payload, at.record, edge);
        made.producer = at.level.first_slot + producer;
        if (info->size > offsetof(struct hbg_edge_info, cause)) status = find_cause(&at, producer, &made);
    } else {
        status = HBG_E_OPTION;
    }
    hbg__run_leave(at.run);
    return status ? status : hand_out(info, &made, sizeof made);
}
