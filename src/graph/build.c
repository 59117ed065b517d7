/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - the life of a build: begin on warm tables, call the build function, seal the image. See build.h. */
#include "atomic/atomic.h"
#include "base/error.h"
#include "base/inside.h"
#include "graph/append.h"
#include "graph/body.h"
#include "graph/hazard_map.h"
#include "graph/guard.h"
#include "graph/repeat.h"
#include "image/fingerprint.h"

/* Builds of the process and bodies of hbg_subgraph() so far. relaxed: each takes a number of its own, nothing is published by it. */
static struct hbg__atomic_u32 builds;

/* Numbers of storages that builds have taken. relaxed: as above. A build takes as many as it has arguments and as the one before on
   its tables has used, and more when these run out. */
static struct hbg__atomic_u32 numbers;

enum { SPARE_NUMBERS = 16 };

/* ---- create and destroy ----------------------------------------------------------------------------------------- */

static bool open_arenas(struct hbg_graph *g, size_t reserve)
{
    return hbg__arena_open(&g->tail_arena, reserve, false) && hbg__arena_open(&g->stamp_arena, reserve, false) &&
           hbg__arena_open(&g->root_arena, reserve, false) && hbg__arena_open(&g->storage_arena, reserve, false) &&
           hbg__arena_open(&g->cell_arena, reserve, false) && hbg__arena_open(&g->pool_arena, reserve, false) &&
           hbg__arena_open(&g->grid_arena, reserve, false);
}

enum hbg_status hbg__graph_create(struct hbg__memory *memory, uint64_t reserve_bytes, struct hbg_graph **graph)
{
    struct hbg_graph *g = HBG__NEW(memory, struct hbg_graph);
    if (!g) return HBG_E_NO_MEMORY;
    g->memory = memory;
    g->reserve_bytes = reserve_bytes;
    g->fingerprint = hbg__image_fingerprint();
    hbg__map_u64_init(&g->layout_map, memory);
    hbg__map_u64_init(&g->buffer_map, memory);
    if (!hbg__graph_reserve(g, (void **)&g->producers.mark, &g->producers.capacity, 256, sizeof(uint32_t)) ||
        !hbg__graph_reserve(g, (void **)&g->accesses, &g->access_capacity, 64, sizeof *g->accesses) ||
        !open_arenas(g, (size_t)reserve_bytes) || !hbg__bodies_create(g)) {
        hbg__graph_destroy(g);
        return HBG_E_NO_MEMORY;
    }
    *graph = g;
    return HBG_OK;
}

void hbg__graph_destroy(struct hbg_graph *g)
{
    if (!g) return;
    hbg__graph_destroy(g->inner);
    hbg__bodies_destroy(g);
    struct hbg__arena *arenas[] = { &g->tail_arena, &g->stamp_arena, &g->root_arena, &g->storage_arena, &g->cell_arena,
                                    &g->pool_arena, &g->grid_arena };
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) hbg__arena_close(arenas[i]);
    hbg__read_copies_free(g);
    hbg__map_u64_free(&g->layout_map);
    hbg__map_u64_free(&g->buffer_map);
    hbg__free(g->memory, g->producers.mark, g->producers.capacity * sizeof(uint32_t), 16);
    hbg__free(g->memory, g->accesses, g->access_capacity * sizeof *g->accesses, 16);
    hbg__free(g->memory, g->manual_accesses, g->manual_capacity * sizeof *g->manual_accesses, 16);
    hbg__free(g->memory, g->notes.item, g->notes.capacity * sizeof *g->notes.item, 16);
    hbg__free(g->memory, g->notes.word, g->notes.word_capacity * sizeof *g->notes.word, 16);
    hbg__free(g->memory, g->repeat_copy, g->repeat_copy_capacity * (size_t)HBG__LINE, 16);
    hbg__free(g->memory, g->repeat_definitions, g->repeat_definitions_capacity * sizeof *g->repeat_definitions, 16);
    hbg__free(g->memory, g->repeat_heap, g->repeat_heap_capacity * sizeof *g->repeat_heap, 16);
    hbg__free(g->memory, g->repeat_args, g->repeat_args_capacity * sizeof *g->repeat_args, 16);
    hbg__free(g->memory, g->gathered, g->gathered_capacity * sizeof *g->gathered, 16);
    hbg__free(g->memory, g->boundary_args, g->boundary_capacity * sizeof *g->boundary_args, 16);
    hbg__free(g->memory, g->scopes, g->scope_capacity * sizeof *g->scopes, 16);
    hbg__free(g->memory, g->free_blocks, g->free_capacity * sizeof *g->free_blocks, 16);
    hbg__free(g->memory, g->scope_ends, g->scope_end_capacity * sizeof *g->scope_ends, 16);
    HBG__DELETE(g->memory, g);
}

uint64_t hbg__graph_growths(const struct hbg_graph *g)
{
    return (g->inner ? hbg__graph_growths(g->inner) + g->bodies->recording.arena.growths + g->bodies->growths : 0) + g->tail_arena.growths + g->stamp_arena.growths + g->root_arena.growths + g->storage_arena.growths +
           g->cell_arena.growths + g->pool_arena.growths + g->grid_arena.growths;
}

/* ---- begin ------------------------------------------------------------------------------------------------------ */

/* Generations are unique across the builds of this object; before they could run out in a build, all cells become empty. */
static void renew_generations(struct hbg_graph *g)
{
    if (g->generation < UINT32_MAX - ((uint32_t)1 << 28)) return;
    memset(g->cell_arena.origin, 0, g->cell_arena.above);
    g->generation = 0;
}

void hbg__graph_set_generation(struct hbg_graph *g, uint32_t generation, uint32_t stamp)
{
    g->generation = generation;
    g->stamp = stamp;
}

uint32_t hbg__serial_take(void)
{
    uint32_t serial = hbg__fetch_add_relaxed32(&builds, 1) + 1;     /* relaxed: see above */
    return serial ? serial : hbg__serial_take();
}

static void take_numbers(struct hbg_graph *g)
{
    uint32_t arguments = g->input->boundary.arg_count, used = g->storage_count;
    g->numbered = (used > arguments ? used : arguments) + SPARE_NUMBERS;
    g->storage_base = hbg__fetch_add_relaxed32(&numbers, g->numbered);      /* relaxed: see above */
    g->numbers[0] = (struct hbg__numbers){ g->storage_base, 0, g->numbered };
    g->numbers_count = 1;
}

/* As many again: those that follow the last ones, unless another build has them, such as that of a body. */
void hbg__graph_take_more_numbers(struct hbg_graph *g)
{
    struct hbg__numbers *last = &g->numbers[g->numbers_count - 1];
    uint32_t end = last->first + last->count, more = g->numbered;
    if (hbg__cas_relaxed32(&numbers, &end, end + more)) last->count += more;        /* relaxed: see above */
    else g->numbers[g->numbers_count++] = (struct hbg__numbers){ hbg__fetch_add_relaxed32(&numbers, more), g->numbered, more };     /* relaxed: see above */
    g->numbered += more;
}

uint32_t hbg__storage_number_far(const struct hbg_graph *g, uint32_t index)
{
    uint32_t i = 0;
    while (index - g->numbers[i].index >= g->numbers[i].count) i++;
    return g->numbers[i].first + (index - g->numbers[i].index);
}

uint32_t hbg__storage_numbered_far(const struct hbg_graph *g, uint32_t number)
{
    for (uint32_t i = 0; i < g->numbers_count; i++) {
        uint32_t at = number - g->numbers[i].first;
        if (at < g->numbers[i].count) return g->numbers[i].index + at < g->storage_count ? g->numbers[i].index + at : HBG__NIL;
    }
    return HBG__NIL;
}

static void reset_counts(struct hbg_graph *g)
{
    g->payload_top = g->pending_units = g->task_count = g->task_limit = 0;
    g->storage_count = g->storage_reach = 0;
    g->barrier = g->manual_begin = g->manual_depth = 0;
    g->manual = g->failed = g->inner_open = g->unwritten_buffers = false;
    g->single = NULL;
    g->is_serial = g->input->serial;
    g->edge_count = g->reuse_edges = 0;
    g->noop_count = g->user_noops = g->near_count = g->root_count = 0;
    g->cell_top = 0;
    g->pool_top = 1;                    /* 0 is no block, no part, no node */
    g->pool_limit = (uint32_t)(g->pool_arena.above / 16 < HBG__CHAIN ? g->pool_arena.above / 16 : HBG__CHAIN);
    g->grid_count = 0;
    g->looks = 0;
    g->regrid_home = HBG__NIL;
    g->scope_depth = g->scope_end_count = g->merged_at = 0;
    g->free_first = g->free_count = 0;
    g->heap_top = 0;
    g->heap_was_full = false;
    g->manual_count = 0;
    g->settled = NULL;
    g->frame = NULL;
    hbg__bodies_begin(g);
    memset(g->recent_layouts, 0, sizeof g->recent_layouts);
    memset(g->scalar_layouts, 0, sizeof g->scalar_layouts);
    memset(g->buffer_cache, 0xff, sizeof g->buffer_cache);      /* storages that do not exist */
    hbg__map_u64_clear(&g->layout_map);
    hbg__map_u64_clear(&g->buffer_map);
}

/* What the build function is given: regions that carry their position, and count from their own element 0. */
static bool give_boundary(struct hbg_graph *g)
{
    const struct hbg__boundary *b = &g->input->boundary;
    if (!hbg__graph_reserve(g, (void **)&g->boundary_args, &g->boundary_capacity, b->arg_count, sizeof *g->boundary_args)) return false;
    for (uint32_t i = 0; i < b->arg_count; i++) {
        struct hbg_arg a = b->arg[i].arg;
        if (b->arg[i].group != UINT32_MAX) {
            a.u.region.storage = hbg__storage_number(g, i);
            a.u.region.offset_bytes = 0;
            a.u.region.flags = (uint8_t)(a.u.region.flags & HBG_REGION_READ_ONLY) | (a.kind == HBG_ARG_IN ? HBG_REGION_READ_ONLY : 0);
        }
        g->boundary_args[i] = a;
    }
    g->args = (struct hbg_args){ g->boundary_args, b->arg_count, g };
    return true;
}

static bool begin(struct hbg_graph *g, const struct hbg__build_input *input, struct hbg__recording *recording)
{
    g->input = input;
    g->recording = recording;
    recording->head = NULL;
    recording->boundary_count = input->boundary.arg_count;
    g->payload = recording->arena.origin;
    g->short_kernels = input->serial ? 0 : input->kernel_count;
    g->payload_limit = (uint32_t)(recording->arena.above / 8 > UINT32_MAX ? UINT32_MAX : recording->arena.above / 8);
    take_numbers(g);
    reset_counts(g);
    renew_generations(g);
    g->serial = g->build_serial = hbg__serial_take();
    return hbg__tasks_grow(g) && hbg__layout_of_scalar(g, 0) == 0 && !g->failed && hbg__guards_begin(g) && hbg__storage_boundary(g) && give_boundary(g);
}

/* ---- seal ------------------------------------------------------------------------------------------------------- */

static bool seal(struct hbg_graph *g)
{
    uint32_t units = (g->root_count + 1) / 2, n = g->task_count;
    struct hbg__recording *r = g->recording;
    if (!hbg__payload_fit(g, units)) return false;
    uint32_t *roots = (uint32_t *)(void *)(g->payload + (size_t)g->payload_top * 8);
    if (units) roots[2 * units - 1] = 0;
    if (units) memcpy(roots, g->root_arena.origin, g->root_count * sizeof *roots);
    struct hbg__image_head *head = (struct hbg__image_head *)(void *)(g->payload - (size_t)n * sizeof(struct hbg__task_record)) - 1;
    uint64_t payload_bytes = ((uint64_t)g->payload_top + units) * 8;
    const struct hbg__bodies *b = g->bodies;
    uint32_t bases = HBG__BASE_BOUNDARY + r->boundary_count + r->named_count;
    hbg__bodies_seal(g, g->input->body ? bases : 0);
    *head = (struct hbg__image_head){
        .magic = HBG__IMAGE_MAGIC, .version = HBG__IMAGE_VERSION, .fingerprint = g->fingerprint,
        .image_bytes = sizeof *head + (uint64_t)n * sizeof(struct hbg__task_record) + payload_bytes, .payload_bytes = payload_bytes,
        .heap_bytes = g->heap_top, .edge_count = g->edge_count, .task_count = n, .noop_count = g->noop_count + g->user_noops,
        .root_count = g->root_count, .roots = g->payload_top, .base_count = bases,
        .boundary_count = r->boundary_count, .near_count = g->near_count, .kernel_count = g->input->kernel_count,
        .flags = HBG__IMAGE_IN_ORDER | (b->submission_count ? HBG__IMAGE_SUBGRAPHS : 0u) | (g->input->body ? HBG__IMAGE_DEFINITION : 0u),
        .slot_count = n + (uint32_t)b->slots, .activation_count = (uint32_t)b->activations, .base_total = (uint32_t)b->bases,
    };
    r->head = head;
    r->image_bytes = head->image_bytes;
    r->serial = g->build_serial;
    r->task_count = hbg__user_tasks(g);
    r->edge_count = g->edge_count;
    r->reuse_edges = g->reuse_edges;
    return true;
}

enum hbg_status hbg__graph_build(struct hbg_graph *g, const struct hbg__build_input *input, struct hbg__recording *recording,
                                 struct hbg_error *error)
{
    hbg__recording_reset(recording, &input->buffers);
    hbg__repeat_begin(g, input, recording);
    if (begin(g, input, recording)) {
        hbg__repeat_start(g);
        enum hbg__inside outer = hbg__inside;
        hbg__inside = HBG__INSIDE_BUILD;
        if (input->build) input->build(g, &g->args, input->params);
        hbg__inside = outer;
        hbg__read_copies_return(g);
        bool done = hbg__repeat_end(g) || (!g->failed && hbg__scope_end_build(g) && seal(g));
        if (done) hbg__repeat_keep(g);
        if (done) return HBG_OK;
    }
    HBG_ASSERT(g->failed);
    hbg__recording_reset(recording, &input->buffers);
    hbg__error_copy(error, &g->error);
    return g->error.status;
}

/* ---- what build code may ask -------------------------------------------------------------------------------------- */

enum hbg_status hbg_graph_error(const struct hbg_graph *g, struct hbg_error *error)
{
    if (!g) return HBG_E_NULL;
    if (!g->failed) return HBG_OK;
    hbg__error_copy(error, &g->error);
    return g->error.status;
}

void hbg_graph_fail(struct hbg_graph *g, int code, const char *text)
{
    if (!g || g->failed) return;
    hbg__graph_fail(g, HBG_E_BUILD, -1, "build", "%s", text ? text : "the build function gave up");
    g->error.code = code;
}

/* ---- recordings --------------------------------------------------------------------------------------------------- */

void hbg__recording_reset(struct hbg__recording *r, const struct hbg__buffer_ops *buffers)
{
    for (uint32_t i = 0; i < r->named_count; i++) {
        if (r->named[i].buffer) buffers->drop(buffers->user, r->named[i].buffer);
        if (r->named[i].definition) hbg__definition_unpin(r->named[i].definition);
    }
    r->named_count = r->serial = 0;
    r->bodies_recorded = r->bodies_replayed = r->bodies_in_place = 0;
    r->too_deep = r->is_repeated = false;
    memset(r->bodies_missed, 0, sizeof r->bodies_missed);
    r->why[0] = 0;
    r->head = NULL;
    r->image_bytes = 0;
}

void hbg__recording_release(struct hbg__recording *r, struct hbg__memory *memory, const struct hbg__buffer_ops *buffers)
{
    hbg__recording_reset(r, buffers);
    hbg__guards_free(r->guards);
    hbg__free(memory, r->named, r->named_capacity * sizeof *r->named, 16);
    hbg__arena_close(&r->arena);
    *r = (struct hbg__recording){ 0 };
}
