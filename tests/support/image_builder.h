/* SPDX-License-Identifier: Apache-2.0 */
/* image_builder.h - images made by hand, for tests of the device side alone: a list of tasks with their producers.
 *
 *     struct image_builder *b = image_builder_create();
 *     uint32_t a = image_builder_task(b, kernel, NULL, 0, 0);
 *     uint32_t c = image_builder_task(b, kernel, (uint32_t[]){ a }, 1, 0);
 *     struct test_image image = image_builder_finish(b);      b may be destroyed or go on
 *
 * A definition is a builder as well, complete before it is submitted:
 *
 *     uint32_t s = image_builder_submit(b, definition, (uint32_t[]){ a }, 1);
 *
 * Base tables hold, behind the three fixed values, the index of the image's first slot among the run's, and the addresses of all
 * definitions that it submits or hands on. An image has 8 bytes of heap for each record.
 *
 * It follows the text of src/image/layout.h and nothing else; the graph builder of the library is not used.
 */
#ifndef TESTS_SUPPORT_IMAGE_BUILDER_H
#define TESTS_SUPPORT_IMAGE_BUILDER_H

#include "core/kernel_table.h"
#include "image/layout.h"

struct image_builder;

struct test_image {
    void *block;                        /* what to free */
    struct hbg__image_head *head;
    size_t bytes;
    struct test_image *definition;      /* those that it names */
    uint32_t definition_count;
};

enum { TEST_BASE_FIRST_SLOT = HBG__BASE_BOUNDARY, TEST_BASE_DEFINITION, TEST_BASES_MAX = 64 };

struct image_builder *image_builder_create(void);
void image_builder_destroy(struct image_builder *builder);     /* definitions live as long as somebody submits them */

/* Producers in any order, repeats allowed. `flags`: HBG__TASK_NOOP, HBG__TASK_REUSE. */
uint32_t image_builder_task(struct image_builder *builder, uint32_t kernel, const uint32_t *producers, uint32_t count, uint32_t flags);
/* `definition` is complete. */
uint32_t image_builder_submit(struct image_builder *builder, struct image_builder *definition, const uint32_t *producers, uint32_t count);
/* The last task gets one constant scalar. */
void image_builder_scalar(struct image_builder *builder, uint64_t value);
uint32_t image_builder_count(const struct image_builder *builder);
/* Records, with those of submissions inside; and how many submissions these are. */
uint32_t image_builder_slots(const struct image_builder *builder);
uint32_t image_builder_activations(const struct image_builder *builder);
/* What a task submits, and where; NULL: it is none that does. */
const struct image_builder *image_builder_submission(const struct image_builder *builder, uint32_t task, struct hbg__submission *submission);
/* The producers of a task: unique, latest first. */
const uint32_t *image_builder_producers(const struct image_builder *builder, uint32_t task, uint32_t *count);
uint32_t image_builder_flags(const struct image_builder *builder, uint32_t task);

struct test_image image_builder_finish(const struct image_builder *builder);
void test_image_free(struct test_image *image);

/* A launch of an image on slots of its own, with a kernel table. */
struct test_launch {
    struct hbg__launch launch;
    uint64_t base[TEST_BASES_MAX];      /* the base table: directly behind the launch */
    struct hbg__slot *slots;
    struct hbg__activation *activations;
    uint64_t *bases;                    /* of submissions */
    unsigned char *heap;
    struct hbg__kernel_table *table;
    void *scratch;
};

void test_launch_open(struct test_launch *launch, const struct test_image *image, const struct hbg_kernel *kernel,
                      uint32_t kernel_count, uint32_t worker_count);
void test_launch_close(struct test_launch *launch);

#endif /* TESTS_SUPPORT_IMAGE_BUILDER_H */
