/* SPDX-License-Identifier: Apache-2.0 */
/* repeat.c - see repeat.h. */
#include "graph/repeat.h"
#include "graph/append.h"
#include "graph/body.h"
#include "graph/guard.h"
#include "graph/repeat_args.h"

enum { FAILS_MAX = 7 };

/* ---- beginning ---------------------------------------------------------------------------------------------------- */

void hbg__repeat_begin(struct hbg_graph *g, const struct hbg__build_input *input, struct hbg__recording *recording)
{
    struct hbg__last *last = &recording->last;
    struct hbg__miss miss;
    bool is_here = last->head && last->owner == input->owner && last->serial == g->build_serial;      /* nothing was built on these tables since */
    const struct hbg__image_head *head = last->head;
    g->repeat = (struct hbg__repeat){ .head = NULL };
    last->head = NULL;                  /* the arena is about to be written */
    if (!input->repeats) return;
    if (last->owner != input->owner) *last = (struct hbg__last){ .owner = input->owner };
    g->repeat.is_tried = g->repeat.is_possible = last->pause == 0;
    if (last->pause) last->pause--;
    if (is_here && g->repeat.is_tried && hbg__boundary_holds(recording, &input->boundary, &miss) &&
        (!last->names_buffers || hbg__boundary_is_same(recording, &input->boundary))) g->repeat.head = head;
    else g->notes.count = g->notes.word_count = 0;
}

void hbg__repeat_start(struct hbg_graph *g)
{
    if (!g->repeat.head) return;
    g->repeat.is_on = true;
    g->repeat.heap_count = 0;
    g->short_kernels = 0;               /* every submit comes by hbg__repeat_submit() */
}

/* ---- regions ------------------------------------------------------------------------------------------------------- */

uint32_t hbg__repeat_named_buffer(struct hbg_graph *g, const struct hbg_view_arg *was, const struct hbg_region *r, bool writes)
{
    const struct hbg__buffer_ops *ops = &g->input->buffers;
    const struct hbg__recording *recording = g->recording;
    uint64_t size_bytes;
    bool foreign, plain = (r->flags & ~(writes ? 0u : HBG_REGION_READ_ONLY)) == HBG_REGION_BUFFER;
    const uint64_t *known = plain ? hbg__map_u64_find(&g->buffer_map, r->storage | (uint64_t)1 << 32) : NULL;
    if (known) return (uint32_t)*known;
    if (!plain || was->base != HBG__BASE_BOUNDARY + recording->boundary_count + recording->named_count) return HBG__NIL;
    if (recording->named[recording->named_count].handle != r->storage) return HBG__NIL;         /* what the last build named stands there still */
    if (hbg__map_u64_find(&g->buffer_map, r->storage) || !ops->find(ops->user, r->storage, &size_bytes, &foreign)) return HBG__NIL;
    const struct hbg__storage *s = hbg__storage_of(g, r, -1);
    return s ? hbg__storage_index(g, s) : HBG__NIL;
}

bool hbg__repeat_intermediate(struct hbg_graph *g, const struct hbg__storage *s, const struct hbg_region *r)
{
    struct hbg__repeat *repeat = &g->repeat;
    bool begins_in_it = (uint64_t)r->offset_bytes < s->size_bytes || (s->size_bytes == 0 && r->offset_bytes == 0);
    if (!begins_in_it || s->flags & HBG__STORAGE_FREED) return false;
    if (!hbg__graph_reserve(g, (void **)&g->repeat_heap, &g->repeat_heap_capacity, repeat->heap_count + 1, sizeof(uint32_t))) return false;
    g->repeat_heap[repeat->heap_count++] = hbg__storage_index(g, s);
    return true;
}

/* ---- other arguments: where their value is all that is new, it takes the old one's place ---------------------------- */

static bool is_scalar_of(const struct hbg_graph *g, const struct hbg_view_arg *was, const struct hbg_arg *arg)
{
    const struct hbg_layout *layout = hbg__layout_at(g, was->layout);
    return layout->dtype == (int16_t)arg->dtype && layout->rank == 0;
}

static bool take_scalar(const struct hbg_graph *g, struct hbg_view_arg *was, const struct hbg_arg *arg)
{
    if (was->base != HBG__BASE_ZERO || !is_scalar_of(g, was, arg)) return false;
    was->word = arg->u.bits;
    return true;
}

static HBG_NO_INLINE bool take_other(struct hbg_graph *g, struct hbg_view_arg *was, const struct hbg_arg *arg)
{
    if (arg->kind == HBG_ARG_UNTRACKED) return hbg__repeat_region(g, was, &arg->u.region, NULL, false);
    if (arg->kind == HBG_ARG_BOUND) return arg->u.boundary == &g->args && was->base == HBG__BASE_BOUNDARY + arg->index && is_scalar_of(g, was, arg);
    if (arg->kind != HBG_ARG_BYTES || was->base != HBG__BASE_PAYLOAD || hbg__layout_at(g, was->layout)->shape[0] != (int64_t)arg->index) return false;
    if (arg->index && !arg->u.bytes) return false;
    if (arg->index) memcpy(g->payload + was->word, arg->u.bytes, arg->index);
    return true;
}

/* ---- submits ------------------------------------------------------------------------------------------------------- */

static struct hbg_view_arg *args_of(const struct hbg_graph *g, const struct hbg__task_record *r)
{
    return (struct hbg_view_arg *)(void *)(g->payload + (size_t)r->args * 8);
}

/* A list whose kinds stand in a note. */
static HBG_NO_INLINE bool is_list_by_note(struct hbg_graph *g, const struct hbg__note *note, const struct hbg__task_record *r, struct hbg_arg_list list)
{
    struct hbg_view_arg *was = args_of(g, r);
    if (note->kind != HBG__NOTE_LIST || list.count != note->count) return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct hbg_arg *arg = &list.arg[i];
        const uint32_t *word = &g->notes.word[note->first + 2 * i];
        if (arg->kind != word[0]) return false;
        if (arg->kind == HBG_ARG_AFTER) {
            if (!hbg__repeat_after(g, arg, word)) return false;
            continue;
        }
        bool same = arg->kind - 1u < HBG_ARG_INOUT ? hbg__repeat_region(g, was, &arg->u.region, NULL, arg->kind != HBG_ARG_IN)
                  : arg->kind == HBG_ARG_SCALAR ? take_scalar(g, was, arg) : take_other(g, was, arg);
        if (!same) return false;
        was++;
    }
    g->repeat.note++;
    return true;
}

static inline bool is_list_by_signature(struct hbg_graph *g, const struct hbg__task_record *r, struct hbg_arg_list list)
{
    const uint8_t *kind = g->input->signatures[r->kernel].kind;
    struct hbg_view_arg *was = args_of(g, r);
    if (list.count != r->arg_count || (!g->input->signatures[r->kernel].given && list.count)) return false;
    for (const struct hbg_arg *arg = list.arg, *end = arg + list.count; arg != end; arg++, was++) {
        if (arg->kind != *kind++) return false;
        if (HBG_LIKELY(arg->kind <= HBG_ARG_INOUT) ? !hbg__repeat_region(g, was, &arg->u.region, NULL, arg->kind != HBG_ARG_IN) : !take_scalar(g, was, arg)) return false;
    }
    return true;
}

static inline bool is_same_task(struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    const struct hbg__task_record *r = hbg__record_at(g, g->task_count);
    if (kernel != r->kernel || r->flags & HBG__TASK_NO_KERNEL || (list.count && !list.arg)) return false;
    const struct hbg__note *note = hbg__note_here(g);
    return HBG_UNLIKELY(note != NULL) ? is_list_by_note(g, note, r, list) : is_list_by_signature(g, r, list);
}

struct hbg_task hbg__repeat_submit(struct hbg_graph *g, int kernel, struct hbg_arg_list list)
{
    if (HBG_UNLIKELY(g->failed)) return (struct hbg_task){ UINT32_MAX, g->serial };
    if (HBG_LIKELY(hbg__repeat_seek(g) && is_same_task(g, kernel, list))) {
        g->repeat.calls++;
        return (struct hbg_task){ g->task_count++, g->serial };
    }
    if (!hbg__repeat_leave(g)) return (struct hbg_task){ UINT32_MAX, g->serial };
    return hbg_submit_args(g, kernel, list);
}

/* ---- other calls --------------------------------------------------------------------------------------------------- */

bool hbg__repeat_call(struct hbg_graph *g, enum hbg__note_kind kind)
{
    const struct hbg__note *note = g->repeat.is_on ? hbg__note_here(g) : NULL;
    if (!note || note->kind != kind) return false;
    g->repeat.note++;
    return true;
}

bool hbg__repeat_alloc(struct hbg_graph *g, struct hbg_region *region)
{
    const struct hbg__note *note = g->repeat.is_on ? hbg__note_here(g) : NULL;
    if (!note || !hbg__note_is_alloc(g, note, region)) return false;
    struct hbg__storage *s = &g->storages[g->storage_count];        /* as it stood at the end of the last build */
    s->flags &= ~(uint32_t)HBG__STORAGE_FREED;
    hbg__storage_count(g);
    region->storage = hbg__storage_number(g, hbg__storage_index(g, s));
    g->repeat.note++;
    return true;
}

/* The caller has found a scope to end. */
bool hbg__repeat_scope_end(struct hbg_graph *g)
{
    if (!hbg__repeat_call(g, HBG__NOTE_SCOPE_END)) return false;
    for (uint32_t i = g->scopes[g->scope_depth - 1].first_storage; i < g->storage_count; i++)
        if (g->storages[i].base == HBG__BASE_HEAP) g->storages[i].flags |= HBG__STORAGE_FREED;
    return true;
}

/* ---- leaving ------------------------------------------------------------------------------------------------------ */

/* Of the tasks that were the same: records, and the payload up to the last argument. False: latched. */
static bool copy_image(struct hbg__again *again, uint32_t count)
{
    struct hbg_graph *g = again->g;
    uint64_t records = (uint64_t)count * sizeof(struct hbg__task_record), payload = 0;
    for (uint32_t i = count; i-- > 0 && payload == 0;) {
        const struct hbg__task_record *r = hbg__record_at(g, i);
        if (!(r->flags & HBG__TASK_NOOP)) payload = ((uint64_t)r->args + 2 * (uint64_t)r->arg_count) * 8;
    }
    uint64_t lines = (records + payload + HBG__LINE - 1) / HBG__LINE;
    if (lines > UINT32_MAX || !hbg__graph_reserve(g, (void **)&g->repeat_copy, &g->repeat_copy_capacity, (uint32_t)lines, HBG__LINE)) {
        hbg__graph_fail_memory(g, "build tables");
        return false;
    }
    if (lines) memcpy(g->repeat_copy, g->payload - records, records + payload);
    again->payload = g->repeat_copy + records;
    return true;
}

static void recall_region(struct hbg__again *again, const struct hbg_view_arg *was, const struct hbg_layout *layout, struct hbg_region *r)
{
    struct hbg_graph *g = again->g;
    uint32_t index = was->base - HBG__BASE_BOUNDARY, named = index - g->recording->boundary_count;
    r->dtype = (uint16_t)layout->dtype;
    r->rank = (uint8_t)layout->rank;
    memcpy(r->shape, layout->shape, sizeof r->shape);
    memcpy(r->stride_bytes, layout->stride_bytes, sizeof r->stride_bytes);
    if (was->base == HBG__BASE_HEAP) index = g->repeat_heap[again->heap++];
    if (was->base != HBG__BASE_HEAP && index >= g->recording->boundary_count) {
        r->storage = g->recording->named[named].handle;     /* it stays there until the same one is named there again */
        r->flags = HBG_REGION_BUFFER;
        r->offset_bytes = (int64_t)was->word;
        return;
    }
    r->storage = hbg__storage_number(g, index);
    r->offset_bytes = (int64_t)was->word - g->storages[index].word_bias;
}

static void recall(struct hbg__again *again, const struct hbg_view_arg *was, uint32_t kind, struct hbg_arg *arg)
{
    const struct hbg_layout *layout = hbg__image_at(again->payload, was->layout);
    *arg = (struct hbg_arg){ .kind = (uint16_t)kind };
    if (kind - 1u < HBG_ARG_UNTRACKED) {
        recall_region(again, was, layout, &arg->u.region);
        return;
    }
    arg->dtype = (uint16_t)layout->dtype;
    if (kind == HBG_ARG_SCALAR) arg->u.bits = was->word;
    if (kind == HBG_ARG_BOUND) {
        arg->u.boundary = &again->g->args;
        arg->index = was->base - HBG__BASE_BOUNDARY;
    }
    if (kind == HBG_ARG_BYTES) {
        arg->index = (uint32_t)layout->shape[0];
        arg->u.bytes = again->payload + was->word;
    }
}

bool hbg__recall_list(struct hbg__again *again, const struct hbg_view_arg *was, const uint32_t *word, const uint8_t *kind, struct hbg_arg_list *list)
{
    struct hbg_graph *g = again->g;
    if (!hbg__graph_reserve(g, (void **)&g->repeat_args, &g->repeat_args_capacity, (uint32_t)list->count, sizeof *g->repeat_args)) return false;
    for (size_t i = 0; i < list->count; i++) {
        const uint32_t *own = word ? word + 2 * i : NULL;
        if (own && own[0] == HBG_ARG_AFTER) g->repeat_args[i] = hbg_after((struct hbg_task){ own[1], g->serial });
        else recall(again, was++, own ? own[0] : kind[i], &g->repeat_args[i]);
    }
    list->arg = g->repeat_args;
    return true;
}

static bool submit_again(struct hbg__again *again, const struct hbg__note *note)
{
    struct hbg_graph *g = again->g;
    while (hbg__image_record(again->payload, again->record)->flags & HBG__TASK_NOOP) again->record++;
    if (note && note->kind == HBG__NOTE_SUBMISSION) return hbg__submit_body_again(again, note);
    const struct hbg__task_record *r = hbg__image_record(again->payload, again->record);
    const uint32_t *word = note ? &g->notes.word[note->first] : NULL;
    struct hbg_arg_list list = { .count = note ? note->count : r->arg_count };
    if (!hbg__recall_list(again, hbg__image_at(again->payload, r->args), word, g->input->signatures[r->kernel].kind, &list)) return false;
    struct hbg_task task = hbg_submit_args(g, r->kernel, list);
    HBG_ASSERT(g->failed || task.id == again->record);
    again->record = task.id + 1;
    return !g->failed;
}

static void alloc_again(struct hbg_graph *g, const struct hbg__note *note)
{
    struct hbg_shape shape;
    enum hbg_dtype dtype = hbg__noted_alloc(g, note, &shape);
    (void)hbg_alloc(g, dtype, shape);
}

/* The calls of the notes before `end` that stand before a task. False: latched. */
static bool call_again(struct hbg__again *again, uint32_t end, uint32_t at)
{
    struct hbg_graph *g = again->g;
    for (; again->note < end && g->notes.item[again->note].at == at; again->note++) {
        const struct hbg__note note = g->notes.item[again->note];
        switch ((enum hbg__note_kind)note.kind) {
        case HBG__NOTE_LIST: case HBG__NOTE_SUBMISSION: return true;
        case HBG__NOTE_ALLOC: alloc_again(g, &note); break;
        case HBG__NOTE_SCOPE_BEGIN: hbg_scope_begin(g, HBG_SCOPE_AUTO); break;
        case HBG__NOTE_SCOPE_END: hbg_scope_end(g); break;
        case HBG__NOTE_BARRIER: hbg_barrier(g); break;
        }
        if (g->failed) return false;
    }
    return true;
}

/* As they were when the build began. Names and notes stay where they are, to be read; they are written over with the same ones. Buffers stay held, for
   whoever destroys one meanwhile: storage.c takes them over. */
static void empty_tables(struct hbg_graph *g)
{
    struct hbg__recording *r = g->recording;
    for (uint32_t i = 0; i < r->named_count; i++) {
        if (r->named[i].definition) hbg__definition_unpin(r->named[i].definition);
        if (r->named[i].buffer) (void)hbg__map_u64_remove(&g->buffer_map, r->named[i].handle | (uint64_t)1 << 32);
    }
    memset(g->buffer_cache, 0xff, sizeof g->buffer_cache);
    g->repeat.kept_buffers = r->named_count;
    r->named_count = r->bodies_replayed = 0;
    hbg__bodies_begin(g);
    g->task_count = g->notes.count = g->notes.word_count = g->scope_depth = 0;
    g->storage_count = r->boundary_count;
    g->storage_reach = g->storage_count < g->numbers[0].count ? g->storage_count : g->numbers[0].count;
}

/* The definitions that the build knows, with a pin of their own. False: latched. */
static bool keep_definitions(struct hbg__again *again)
{
    struct hbg_graph *g = again->g;
    const struct hbg__bodies *b = g->bodies;
    if (!hbg__graph_reserve(g, (void **)&g->repeat_definitions, &g->repeat_definitions_capacity, b->known_count, sizeof(struct hbg__definition *))) return false;
    for (; again->definition_count < b->known_count; again->definition_count++) {
        g->repeat_definitions[again->definition_count] = b->known[again->definition_count].definition;
        hbg__definition_pin(g->repeat_definitions[again->definition_count]);
    }
    return true;
}

static void drop_definitions(struct hbg__again *again)
{
    for (uint32_t i = 0; i < again->definition_count; i++) hbg__definition_unpin(again->g->repeat_definitions[i]);
}

/* Those that no call has named again. */
static void drop_buffers(struct hbg_graph *g)
{
    const struct hbg__recording *r = g->recording;
    for (uint32_t i = r->named_count; i < g->repeat.kept_buffers; i++)
        if (r->named[i].buffer) g->input->buffers.drop(g->input->buffers.user, r->named[i].buffer);
    g->repeat.kept_buffers = 0;
}

static bool make_again(struct hbg__again *again, uint32_t calls, uint32_t notes)
{
    const struct hbg__notes *n = &again->g->notes;
    for (uint32_t call = 0; call < calls; call++) {
        if (!call_again(again, notes, call)) return false;
        bool noted = again->note < notes && n->item[again->note].at == call;
        struct hbg__note note = noted ? n->item[again->note++] : (struct hbg__note){ .count = 0 };
        if (!submit_again(again, noted ? &note : NULL)) return false;
    }
    return call_again(again, notes, calls);
}

bool hbg__repeat_leave(struct hbg_graph *g)
{
    struct hbg__repeat *repeat = &g->repeat;
    struct hbg__again again = { .g = g };
    uint32_t calls = repeat->calls, notes = repeat->note;
    if (!repeat->is_on) return !g->failed;
    repeat->is_on = false;
    repeat->has_left = true;
    if (g->failed || !hbg__guards_copy(g) || !copy_image(&again, g->task_count) || !keep_definitions(&again)) return false;
    empty_tables(g);
    hbg__short_way_renew(g);
    bool made = make_again(&again, calls, notes);
    HBG_ASSERT(made || g->failed);
    drop_definitions(&again);
    drop_buffers(g);
    return made;
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

bool hbg__repeat_end(struct hbg_graph *g)
{
    struct hbg__recording *r = g->recording;
    const struct hbg__image_head *head = g->repeat.head;
    if (!g->repeat.is_on || g->failed) return false;
    if (hbg__repeat_seek(g) || g->repeat.note != g->notes.count || g->scope_depth) {
        (void)hbg__repeat_leave(g);
        return false;
    }
    r->is_repeated = true;
    r->head = head;
    r->image_bytes = head->image_bytes;
    r->serial = hbg__serial_take();     /* not that of the tables, which know no history of this build */
    r->task_count = r->last.task_count;
    r->edge_count = head->edge_count;
    r->reuse_edges = r->last.reuse_edges;
    return true;
}

void hbg__repeat_keep(struct hbg_graph *g)
{
    struct hbg__last *last = &g->recording->last;
    if (!g->repeat.is_tried) return;
    if (g->repeat.is_possible) last->head = g->recording->head;
    last->names_buffers = false;
    for (uint32_t i = 0; i < g->recording->named_count; i++) last->names_buffers = last->names_buffers || g->recording->named[i].buffer;
    last->serial = g->build_serial;
    last->task_count = g->recording->task_count;
    last->reuse_edges = g->recording->reuse_edges;
    if (g->repeat.is_on) last->fails = 0;
    if (g->repeat.is_possible && !g->repeat.has_left) return;
    last->fails += last->fails < FAILS_MAX;
    last->pause = (1u << (last->fails - 1)) - 1;
}
