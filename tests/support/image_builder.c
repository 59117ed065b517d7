/* SPDX-License-Identifier: Apache-2.0 */
/* image_builder.c - a plain reference builder of images: slow, simple, by the text of layout.h. */
#include "support/image_builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct node {
    size_t producers;                   /* place of its first producer in the list of all */
    uint32_t producer_count, kernel, flags;
    bool has_scalar;
    uint64_t scalar;
    struct image_builder *definition;   /* NULL: no submission */
    struct hbg__submission submission;  /* `bases` from the end of the own base table */
};

struct image_builder {
    uint32_t references;
    bool is_definition;
    struct image_builder *definition[TEST_BASES_MAX - TEST_BASE_DEFINITION];    /* submitted or handed on */
    uint32_t definition_count;
    uint32_t slots, activations, bases; /* of submissions inside, so far */
    struct node *node;
    uint32_t count, node_capacity;
    uint32_t *producer;
    size_t producer_count, producer_capacity;
};

static void *grow(void *block, size_t bytes)
{
    block = realloc(block, bytes);
    assert(block);
    return block;
}

struct image_builder *image_builder_create(void)
{
    struct image_builder *builder = calloc(1, sizeof *builder);
    assert(builder);
    builder->references = 1;
    return builder;
}

void image_builder_destroy(struct image_builder *builder)
{
    if (!builder || --builder->references) return;
    for (uint32_t i = 0; i < builder->definition_count; ++i) image_builder_destroy(builder->definition[i]);
    free(builder->node);
    free(builder->producer);
    free(builder);
}

static int descending(const void *left, const void *right)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    return l < r ? 1 : l > r ? -1 : 0;
}

uint32_t image_builder_task(struct image_builder *builder, uint32_t kernel, const uint32_t *producers, uint32_t count, uint32_t flags)
{
    uint32_t unique = 0;
    if (builder->count == builder->node_capacity) {
        builder->node_capacity = builder->node_capacity ? builder->node_capacity * 2 : 64;
        builder->node = grow(builder->node, builder->node_capacity * sizeof *builder->node);
    }
    if (builder->producer_count + count > builder->producer_capacity) {
        builder->producer_capacity = (builder->producer_count + count) * 2 + 64;
        builder->producer = grow(builder->producer, builder->producer_capacity * sizeof *builder->producer);
    }
    struct node *node = &builder->node[builder->count];
    memset(node, 0, sizeof *node);
    node->kernel = kernel;
    node->flags = flags;
    node->producers = builder->producer_count;
    uint32_t *row = builder->producer + builder->producer_count;
    if (count) {
        memcpy(row, producers, count * sizeof *row);
        qsort(row, count, sizeof *row, descending);
        assert(row[0] < builder->count);
    }
    for (uint32_t i = 0; i < count; ++i)
        if (i == 0 || row[i] != row[unique - 1]) row[unique++] = row[i];
    node->producer_count = unique;
    builder->producer_count += unique;
    return builder->count++;
}

static uint32_t place_of(const struct image_builder *builder, const struct image_builder *definition)
{
    uint32_t place = 0;
    while (place < builder->definition_count && builder->definition[place] != definition) ++place;
    return place;
}

static void name_definition(struct image_builder *builder, struct image_builder *definition)
{
    uint32_t place = place_of(builder, definition);
    if (place < builder->definition_count) return;
    assert(place < TEST_BASES_MAX - TEST_BASE_DEFINITION);
    builder->definition[builder->definition_count++] = definition;
    ++definition->references;
}

static uint32_t base_count(const struct image_builder *builder) { return TEST_BASE_DEFINITION + builder->definition_count; }

/* Offsets from the end of the own records: how many these are is known when the builder is finished. */
uint32_t image_builder_submit(struct image_builder *builder, struct image_builder *definition, const uint32_t *producers, uint32_t count)
{
    uint32_t task = image_builder_task(builder, 0, producers, count, HBG__TASK_SUBGRAPH);
    struct node *node = &builder->node[task];
    uint32_t slots = image_builder_slots(definition);
    definition->is_definition = true;
    name_definition(builder, definition);
    for (uint32_t i = 0; i < definition->definition_count; ++i) name_definition(builder, definition->definition[i]);
    node->definition = definition;
    node->submission = (struct hbg__submission){
        .heap = builder->slots * UINT64_C(8), .slots = builder->slots, .activation = builder->activations + 1, .bases = builder->bases, .slot_count = slots };
    builder->slots += slots;
    builder->activations += 1 + definition->activations;
    builder->bases += base_count(definition) + definition->bases;
    return task;
}

uint32_t image_builder_slots(const struct image_builder *builder) { return builder->count + builder->slots; }
uint32_t image_builder_activations(const struct image_builder *builder) { return builder->activations; }

const struct image_builder *image_builder_submission(const struct image_builder *builder, uint32_t task, struct hbg__submission *submission)
{
    const struct node *node = &builder->node[task];
    if (!node->definition) return NULL;
    *submission = node->submission;
    submission->slots += builder->count;
    submission->heap += builder->count * UINT64_C(8);
    submission->definition = TEST_BASE_DEFINITION + place_of(builder, node->definition);
    if (builder->is_definition) submission->bases += base_count(builder);
    return node->definition;
}

void image_builder_scalar(struct image_builder *builder, uint64_t value)
{
    struct node *node = &builder->node[builder->count - 1];
    node->has_scalar = true;
    node->scalar = value;
}

uint32_t image_builder_count(const struct image_builder *builder) { return builder->count; }
uint32_t image_builder_flags(const struct image_builder *builder, uint32_t task) { return builder->node[task].flags; }

const uint32_t *image_builder_producers(const struct image_builder *builder, uint32_t task, uint32_t *count)
{
    *count = builder->node[task].producer_count;
    return builder->producer + builder->node[task].producers;
}

/* 8-byte units of a task's edge row: producers from the third on, and their number where it does not fit the record. */
static size_t row_units(const struct node *node)
{
    size_t words = node->producer_count > 3 ? node->producer_count - 3 : 0;
    if (node->producer_count >= 255) ++words;
    return (words + 1) / 2;
}

static size_t payload_units(const struct image_builder *builder, uint32_t roots)
{
    size_t units = sizeof(struct hbg_layout) / 8;
    for (uint32_t i = 0; i < builder->count; ++i) {
        const struct node *node = &builder->node[i];
        units += (node->has_scalar ? 2 : 0) + row_units(node);
        if (node->definition) units += HBG__SUBMISSION_UNITS + 2 * (1 + node->definition->definition_count);
    }
    return units + (roots + 1) / 2;
}

/* As arguments the values of the definition's base table, and the submission behind them. */
static uint64_t *write_submission(const struct image_builder *builder, uint32_t task, uint64_t *at, uint64_t *payload, struct hbg__task_record *record)
{
    struct hbg__submission submission;
    const struct image_builder *definition = image_builder_submission(builder, task, &submission);
    if (!definition) return at;
    submission.arg_count = 1 + definition->definition_count;
    struct hbg_view_arg *arg = (struct hbg_view_arg *)(void *)at;
    arg[0] = (struct hbg_view_arg){ .word = submission.slots, .base = TEST_BASE_FIRST_SLOT };
    for (uint32_t i = 0; i < definition->definition_count; ++i)
        arg[1 + i] = (struct hbg_view_arg){ .base = (TEST_BASE_DEFINITION + place_of(builder, definition->definition[i])) };
    at += 2 * submission.arg_count;
    memcpy(at, &submission, sizeof submission);
    at += HBG__SUBMISSION_UNITS;
    record->args = (uint32_t)(at - payload);
    return at;
}

static uint64_t *write_task(const struct image_builder *builder, uint32_t task, uint64_t *at, uint64_t *payload,
                            struct hbg__task_record *record)
{
    const struct node *node = &builder->node[task];
    const uint32_t *producer = builder->producer + node->producers;
    memset(record, 0, sizeof *record);
    record->first_waiter = record->next_waiter = HBG__NIL;
    for (uint32_t i = 0; i < 3; ++i) record->producer[i] = i < node->producer_count ? producer[i] : HBG__NIL;
    record->producer_count = (uint8_t)(node->producer_count < 255 ? node->producer_count : 255);
    record->flags = (uint8_t)node->flags;
    record->kernel = (uint16_t)node->kernel;
    record->args = (uint32_t)(at - payload);
    if (node->has_scalar) {
        struct hbg_view_arg *arg = (struct hbg_view_arg *)(void *)at;
        arg->word = node->scalar;
        arg->base = HBG__BASE_ZERO;
        arg->layout = 0;
        record->arg_count = 1;
        at += 2;
    }
    at = write_submission(builder, task, at, payload, record);
    uint32_t *row = (uint32_t *)(void *)at;
    if (node->producer_count >= 255) *row++ = node->producer_count;
    for (uint32_t i = 3; i < node->producer_count; ++i) *row++ = producer[i];
    return at + row_units(node);
}

/* Link each task behind its latest producer, in order of submission, and mark those that are asked for otherwise. */
static void link_tasks(const struct image_builder *builder, struct hbg__task_record *last_record)
{
    struct hbg__task_record *record = last_record + builder->count - 1;    /* of task 0; records descend */
    uint32_t *tail = malloc((builder->count + 1) * sizeof *tail);
    assert(tail);
    for (uint32_t i = 0; i < builder->count; ++i) {
        const struct node *node = &builder->node[i];
        const uint32_t *producer = builder->producer + node->producers;
        tail[i] = HBG__NIL;
        if (node->producer_count == 0) continue;
        uint32_t latest = producer[0];
        if (tail[latest] == HBG__NIL) record[-(ptrdiff_t)latest].first_waiter = i;
        else record[-(ptrdiff_t)tail[latest]].next_waiter = i;
        tail[latest] = i;
        for (uint32_t p = 1; p < node->producer_count; ++p) record[-(ptrdiff_t)producer[p]].flags |= HBG__TASK_QUERYABLE;
    }
    free(tail);
}

static struct test_image finish_one(const struct image_builder *builder)
{
    struct test_image image = { .definition = NULL };
    uint32_t roots = 0;
    for (uint32_t i = 0; i < builder->count; ++i) roots += builder->node[i].producer_count == 0;
    size_t records = (size_t)builder->count * sizeof(struct hbg__task_record);
    size_t payload_bytes = payload_units(builder, roots) * 8;
    image.bytes = sizeof(struct hbg__image_head) + records + payload_bytes;
    image.block = calloc(1, image.bytes + 64);
    assert(image.block);
    /* the payload is 64-byte aligned: the head begins where that puts it */
    uintptr_t payload_at = ((uintptr_t)image.block + sizeof(struct hbg__image_head) + records + 63) & ~(uintptr_t)63;
    uint64_t *payload = (uint64_t *)payload_at;
    struct hbg__task_record *last_record = (struct hbg__task_record *)(payload_at - records);
    struct hbg__image_head *head = (struct hbg__image_head *)(payload_at - records) - 1;
    image.head = head;

    head->magic = HBG__IMAGE_MAGIC;
    head->version = HBG__IMAGE_VERSION;
    head->image_bytes = image.bytes;
    head->payload_bytes = payload_bytes;
    head->task_count = builder->count;
    head->slot_count = image_builder_slots(builder);
    head->activation_count = builder->activations;
    head->base_total = builder->bases;
    head->heap_bytes = head->slot_count * UINT64_C(8);
    head->root_count = roots;
    head->base_count = builder->is_definition || builder->activations ? base_count(builder) : HBG__BASE_BOUNDARY;
    head->flags = HBG__IMAGE_IN_ORDER | (builder->activations ? HBG__IMAGE_SUBGRAPHS : 0u) | (builder->is_definition ? HBG__IMAGE_DEFINITION : 0u);
    uint64_t *at = payload + sizeof(struct hbg_layout) / 8;
    for (uint32_t i = 0; i < builder->count; ++i) {
        const struct node *node = &builder->node[i];
        at = write_task(builder, i, at, payload, last_record + (builder->count - 1 - i));
        head->edge_count += node->producer_count;
        head->noop_count += (node->flags & HBG__TASK_NOOP) != 0;
        head->near_count += node->producer_count > 0 && i - builder->producer[node->producers] < 128;
        if (!(node->flags & (HBG__TASK_NOOP | HBG__TASK_SUBGRAPH)) && node->kernel >= head->kernel_count) head->kernel_count = node->kernel + 1;
    }
    if (builder->count) link_tasks(builder, last_record);
    head->roots = (uint32_t)(at - payload);
    uint32_t *root = (uint32_t *)(void *)at;
    for (uint32_t i = 0; i < builder->count; ++i)
        if (builder->node[i].producer_count == 0) *root++ = i;
    return image;
}

struct test_image image_builder_finish(const struct image_builder *builder)
{
    struct test_image image = finish_one(builder);
    image.definition_count = builder->definition_count;
    if (!builder->definition_count) return image;
    image.definition = calloc(builder->definition_count, sizeof *image.definition);
    assert(image.definition);
    for (uint32_t i = 0; i < builder->definition_count; ++i) image.definition[i] = finish_one(builder->definition[i]);
    return image;
}

void test_image_free(struct test_image *image)
{
    for (uint32_t i = 0; i < image->definition_count; ++i) free(image->definition[i].block);
    free(image->definition);
    free(image->block);
    image->block = NULL;
}

void test_launch_open(struct test_launch *launch, const struct test_image *image, const struct hbg_kernel *kernel,
                      uint32_t kernel_count, uint32_t worker_count)
{
    HBG__STATIC_ASSERT(offsetof(struct test_launch, base) == sizeof(struct hbg__launch), "the base table follows directly");
    size_t stride = 0;
    memset(launch, 0, sizeof *launch);
    launch->table = calloc(1, sizeof *launch->table + kernel_count * sizeof(struct hbg__kernel_entry));
    assert(launch->table);
    for (uint32_t i = 0; i < kernel_count; ++i) {
        struct hbg__kernel_entry *entry = (struct hbg__kernel_entry *)(launch->table + 1) + i;
        entry->run = kernel[i].run;
        entry->user = kernel[i].user;
        entry->scratch_bytes = kernel[i].scratch_bytes;
        entry->kind = kernel[i].kind;
        if (kernel[i].scratch_bytes > stride) stride = (kernel[i].scratch_bytes + 63) & ~(size_t)63;
    }
    if (stride) {
        launch->scratch = aligned_alloc(64, stride * worker_count);
        assert(launch->scratch);
    }
    launch->table->kernel_count = kernel_count;
    launch->table->worker_count = worker_count;
    launch->table->scratch = (uint64_t)(uintptr_t)launch->scratch;
    launch->table->scratch_stride = stride;
    launch->slots = calloc(image->head->slot_count + 1, sizeof *launch->slots);
    launch->heap = malloc(image->head->heap_bytes + 1);
    assert(launch->slots && launch->heap);
    if (image->head->activation_count) {
        size_t bytes = image->head->activation_count * sizeof *launch->activations, base_bytes = image->head->base_total * sizeof *launch->bases;
        launch->activations = aligned_alloc(64, bytes);
        launch->bases = malloc(base_bytes);
        assert(launch->activations && launch->bases);
        memset(launch->activations, 0xaa, bytes);       /* nobody clears them */
        memset(launch->bases, 0xaa, base_bytes);
        launch->launch.activations = (uint64_t)(uintptr_t)launch->activations;
        launch->launch.bases = (uint64_t)(uintptr_t)launch->bases;
    }
    launch->launch.image = (uint64_t)(uintptr_t)image->head;
    launch->launch.slots = (uint64_t)(uintptr_t)launch->slots;
    launch->launch.kernel_table = (uint64_t)(uintptr_t)launch->table;
    launch->launch.image_bytes = image->bytes;
    launch->launch.task_count = image->head->task_count;
    launch->launch.slot_count = image->head->slot_count;
    launch->launch.activation_count = image->head->activation_count;
    launch->launch.base_count = image->head->base_count;
    launch->launch.epoch = 1;
    launch->launch.mode = HBG__MODE_WAKE;
    launch->base[HBG__BASE_PAYLOAD] = (uint64_t)(uintptr_t)hbg__image_payload(image->head);
    launch->launch.heap = (uint64_t)(uintptr_t)launch->heap;
    launch->base[HBG__BASE_HEAP] = (uint64_t)(uintptr_t)launch->heap;
    for (uint32_t i = 0; i < image->definition_count; ++i) launch->base[TEST_BASE_DEFINITION + i] = (uint64_t)(uintptr_t)image->definition[i].head;
}

void test_launch_close(struct test_launch *launch)
{
    free(launch->slots);
    free(launch->activations);
    free(launch->bases);
    free(launch->heap);
    free(launch->table);
    free(launch->scratch);
}
