/* SPDX-License-Identifier: Apache-2.0 */
/* verify_test.c - hbg_image_verify on good images, on every single wrong bit of one, and on lies that keep each word in range.
 *
 * Each byte of an image is either structure, whose every change must be refused, or one of the few kinds that nobody can check
 * from the image alone. Those are listed below, with the reason.
 */
#include <hbg/hbg.h>

#include <inttypes.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "image/fingerprint.h"
#include "image/layout.h"
#include "support/image_builder.h"

enum byte_kind {
    STRUCTURE,
    EDGE,               /* to another lower task that others ask about too: a different graph, as well formed as this one */
    KERNEL,             /* which kernel of the table: within its bounds, any is one */
    ARGUMENT,           /* a constant, an offset from an address that the image does not hold, which of the layouts */
    LAYOUT,             /* of storage whose size the image does not hold; its own consistency is checked */
    PARAMETER,          /* bytes of hbg_bytes, and layouts' and parameters' padding */
    PADDING,            /* behind an odd number of ids */
    ARG_COUNT,          /* fewer, where no edge row follows: the arguments stay where the kernel looks for them; or of a submission,
                           where the device looks into the definition how many it takes */
    ARGS_OFFSET,        /* without an edge row: over layouts or parameters that read as arguments; as wrong as wrong arguments */
    UNUSED_OFFSET,      /* where arguments would be, of a task that has none and no edge row */
    LARGER_IS_FINE,     /* heap_bytes, kernel_count, base_count, boundary_count: bounds of other things */
    INSIDE,             /* of submissions behind the first: what definitions need inside is known with them alone */
    NOOP_FLAGS,         /* REUSE on a noop: how its edges pass on failures, which other bytes do not repeat */
    ORDER_FLAG,         /* permission, not promise: without it the image runs another way */
    PLAIN_FLAGS         /* likewise; and an image without submissions looks the same whether it is a definition or not */
};

struct copy { unsigned char *bytes; size_t size; };

static struct copy copy_of(const void *image, size_t size)
{
    struct copy copy = { aligned_alloc(64, (size + 63) / 64 * 64), size };
    assert_non_null(copy.bytes);
    memcpy(copy.bytes, image, size);
    return copy;
}

static struct hbg__image_head *head_of(struct copy copy) { return (struct hbg__image_head *)(void *)copy.bytes; }

static struct hbg__task_record *record_of(struct copy copy, uint32_t task)
{
    return (struct hbg__task_record *)(uintptr_t)hbg__image_record(hbg__image_payload(head_of(copy)), task);
}

/* ---- one image with everything in it, from the library's own builder ---- */

struct params { int32_t a, b, c; };
static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }

static void build_everything(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), sum = hbg_args_region(args, 1);
    struct hbg_region middle = hbg_alloc(g, HBG_F32, HBG_SHAPE(8, 4));
    struct params bytes = { 1, 2, 3 };
    (void)params;
    for (int64_t i = 0; i < 8; i++) hbg_submit(g, 0, hbg_in(hbg_slice(x, 0, i, i + 1)), hbg_out(hbg_slice(middle, 0, i, i + 1)), hbg_args_scalar(args, 2));
    hbg_submit(g, 1, hbg_in(middle), hbg_inout(hbg_slice(sum, 0, 0, 1)), hbg_bytes(&bytes, sizeof bytes), hbg_i64(-7));
    struct hbg_task first = hbg_submit(g, 1, hbg_inout(hbg_slice(sum, 0, 1, 2)));
    hbg_submit(g, 0, hbg_in(hbg_permute(middle, HBG_SHAPE(1, 0))), hbg_inout(hbg_slice(sum, 0, 2, 3)), hbg_after(first));
    for (int64_t i = 0; i < 300; i++) hbg_submit(g, 1, hbg_out(hbg_slice(x, 0, i, i + 1)));
    hbg_submit(g, 0, hbg_in(x), hbg_inout(sum));
    hbg_barrier(g);
    hbg_submit(g, 1, hbg_inout(sum), hbg_f32(0.5f));
}

static struct copy image_with_everything(void)
{
    static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL), HBG_KERNEL(1, nothing, NULL) };
    static float x[300], sum[4];
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_run run;
    const void *image = NULL;
    size_t size = 0;
    o.build = build_everything;
    o.kernels = kernels;
    o.kernel_count = 2;
    options.error = &error;
    assert_int_equal(hbg_device_open("cpu:workers=1", NULL, &device), HBG_OK);
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    struct hbg_arg list[] = { hbg_inout(hbg_host(x, HBG_F32, HBG_SHAPE(300))), hbg_inout(hbg_host(sum, HBG_F32, HBG_SHAPE(4))), hbg_f32(1) };
    if (hbg_run_prepare(program, (struct hbg_arg_list){ list, 3 }, &options, &run)) fail_msg("%s", error.text);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    struct copy copy = copy_of(image, size);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    return copy;
}

/* An image of the test's own builder: chains, joins, and a task of 300 producers. */
static struct copy image_by_hand(void)
{
    struct image_builder *b = image_builder_create();
    uint32_t many[300];
    for (uint32_t i = 0; i < 300; i++) many[i] = image_builder_task(b, 0, i % 3 ? &many[i - 1] : NULL, i % 3 ? 1 : 0, 0);
    image_builder_task(b, 1, many, 300, 0);
    image_builder_scalar(b, 42);
    image_builder_task(b, 0, (uint32_t[]){ 3, 9, 200, 299, 300 }, 5, 0);
    image_builder_task(b, 0, (uint32_t[]){ 301, 7 }, 2, HBG__TASK_NOOP);
    image_builder_task(b, 0, (uint32_t[]){ 302, 299, 1, 0 }, 4, 0);
    struct test_image image = image_builder_finish(b);
    image.head->fingerprint = hbg__image_fingerprint();
    struct copy copy = copy_of(image.head, image.bytes);
    test_image_free(&image);
    image_builder_destroy(b);
    return copy;
}

/* Submissions, some of what submits itself, of an image that is outermost or is submitted. */
static struct copy image_that_submits(bool is_definition)
{
    struct image_builder *inner = image_builder_create(), *middle = image_builder_create(), *b = image_builder_create(), *user = image_builder_create();
    for (uint32_t i = 0; i < 3; i++) image_builder_task(inner, 0, &(uint32_t){ 0 }, i > 0, 0);
    image_builder_submit(middle, inner, NULL, 0);
    image_builder_task(middle, 1, NULL, 0, 0);
    uint32_t first = image_builder_task(b, 0, NULL, 0, 0), second = image_builder_submit(b, middle, &first, 1);
    uint32_t many[] = { first, second, image_builder_submit(b, inner, NULL, 0), image_builder_task(b, 0, &second, 1, HBG__TASK_NOOP), image_builder_task(b, 1, NULL, 0, 0) };
    image_builder_submit(b, middle, many, 5);
    image_builder_task(b, 1, &many[2], 1, 0);
    image_builder_submit(b, inner, NULL, 0);
    if (is_definition) image_builder_submit(user, b, NULL, 0);
    struct test_image image = image_builder_finish(b);
    image.head->fingerprint = hbg__image_fingerprint();
    struct copy copy = copy_of(image.head, image.bytes);
    test_image_free(&image);
    image_builder_destroy(user);
    image_builder_destroy(b);
    image_builder_destroy(middle);
    image_builder_destroy(inner);
    return copy;
}

static void is_good(struct copy copy)
{
    struct hbg_error error = HBG_OPTIONS(error);
    if (hbg_image_verify(copy.bytes, copy.size, &error)) fail_msg("task %u: %s", error.task, error.text);
}

static void is_refused(struct copy copy, const char *sentence)
{
    struct hbg_error error = HBG_OPTIONS(error);
    assert_int_equal(hbg_image_verify(copy.bytes, copy.size, &error), HBG_E_IMAGE);
    assert_int_equal(error.status, HBG_E_IMAGE);
    if (!strstr(error.text, sentence)) fail_msg("\"%s\" is not in \"%s\"", sentence, error.text);
}

static void good_images_pass(void **state)
{
    struct copy everything = image_with_everything(), by_hand = image_by_hand();
    struct hbg__image_head none;
    (void)state;
    is_good(everything);
    is_good(by_hand);
    assert_true(head_of(everything)->noop_count > 0);
    assert_true(head_of(everything)->heap_bytes > 0);
    free(everything.bytes);
    free(by_hand.bytes);
    for (int i = 0; i < 2; i++) {
        struct copy submits = image_that_submits(i == 1);
        is_good(submits);
        assert_int_equal(head_of(submits)->activation_count, 6);
        free(submits.bytes);
    }
    memset(&none, 0, sizeof none);
    is_refused((struct copy){ (unsigned char *)&none, sizeof none }, "not an image's");
    assert_int_equal(hbg_image_verify(NULL, 96, NULL), HBG_E_NULL);
}

/* ---- every byte ---- */

static bool may_pass(enum byte_kind kind, unsigned char byte, unsigned change)
{
    if (kind == ARG_COUNT) return (byte ^ change) < byte;
    if (kind == NOOP_FLAGS) return change == HBG__TASK_REUSE;
    if (kind == ORDER_FLAG) return change == HBG__IMAGE_IN_ORDER;
    if (kind == PLAIN_FLAGS) return change == HBG__IMAGE_IN_ORDER || change == HBG__IMAGE_DEFINITION;
    return kind != STRUCTURE;
}

static void mark(unsigned char *kind, const struct copy *copy, const void *at, size_t size, enum byte_kind value)
{
    size_t from = (size_t)((const unsigned char *)at - copy->bytes);
    assert_true(from + size <= copy->size);
    memset(kind + from, value, size);
}

/* Of a record that submits: `first` is the lowest. */
static void mark_submission(unsigned char *kind, const struct copy *copy, const struct hbg__task_record *record, bool first)
{
    const struct hbg__submission *s = hbg__image_submission(hbg__image_payload(head_of(*copy)), record);
    mark(kind, copy, s, sizeof *s, STRUCTURE);
    mark(kind, copy, &s->heap, 8, ARGUMENT);
    mark(kind, copy, &s->definition, 4, ARGUMENT);
    mark(kind, copy, &s->arg_count, 4, ARG_COUNT);
    mark(kind, copy, hbg__image_submission_args(hbg__image_payload(head_of(*copy)), record), 16u * s->arg_count, ARGUMENT);
    if (first) return;
    mark(kind, copy, &s->activation, 4, INSIDE);
    mark(kind, copy, &s->bases, 4, INSIDE);
}

/* What each byte is. Payload that no task names is layouts and parameters. */
static unsigned char *kinds_of(struct copy copy)
{
    unsigned char *kind = calloc(1, copy.size);
    struct hbg__image_head *head = head_of(copy);
    const unsigned char *payload = hbg__image_payload(head);
    assert_non_null(kind);
    mark(kind, &copy, payload, (size_t)head->roots * 8, PARAMETER);
    mark(kind, &copy, payload, sizeof(struct hbg_layout), LAYOUT);
    mark(kind, &copy, &head->heap_bytes, 8, LARGER_IS_FINE);
    mark(kind, &copy, &head->kernel_count, 4, LARGER_IS_FINE);
    mark(kind, &copy, &head->base_count, 4, LARGER_IS_FINE);
    mark(kind, &copy, &head->boundary_count, 4, LARGER_IS_FINE);
    mark(kind, &copy, &head->flags, 1, head->flags & HBG__IMAGE_SUBGRAPHS ? ORDER_FLAG : PLAIN_FLAGS);
    if (head->flags & HBG__IMAGE_SUBGRAPHS) {
        mark(kind, &copy, &head->activation_count, 4, LARGER_IS_FINE);
        mark(kind, &copy, &head->base_total, 4, LARGER_IS_FINE);
    }
    bool first = true;
    if (head->root_count & 1) mark(kind, &copy, payload + (size_t)head->roots * 8 + head->root_count * 4u, 4, PADDING);
    for (uint32_t task = 0; task < head->task_count; task++) {
        struct hbg__task_record *record = record_of(copy, task);
        uint32_t producers = hbg__image_producer_count(payload, record), words = producers > 3 ? producers - 3 + (producers >= 255) : 0;
        const unsigned char *args = hbg__image_at(payload, record->args), *row = args + 16u * record->arg_count;
        if (record->flags & HBG__TASK_NOOP) mark(kind, &copy, &record->flags, 1, NOOP_FLAGS);
        else if (!(record->flags & HBG__TASK_SUBGRAPH)) mark(kind, &copy, &record->kernel, 2, KERNEL);
        if (record->arg_count == 0 && words == 0) mark(kind, &copy, &record->args, 4, UNUSED_OFFSET);
        if (record->arg_count && words == 0) mark(kind, &copy, &record->arg_count, 2, ARG_COUNT);
        if (record->arg_count && words == 0) mark(kind, &copy, &record->args, 4, ARGS_OFFSET);
        mark(kind, &copy, args, 16u * record->arg_count, ARGUMENT);
        mark(kind, &copy, row, words * 4u, EDGE);
        if (producers >= 255) mark(kind, &copy, row, 4, STRUCTURE);
        if (producers > 1) mark(kind, &copy, &record->producer[1], producers > 2 ? 8 : 4, EDGE);
        if (words & 1) mark(kind, &copy, row + words * 4u, 4, PADDING);
        if (!(record->flags & HBG__TASK_SUBGRAPH)) continue;
        mark_submission(kind, &copy, record, first);
        first = false;
    }
    return kind;
}

static size_t flip_all(struct copy copy, const char *name)
{
    unsigned char *kind = kinds_of(copy);
    size_t accepted = 0, structure = 0;
    for (size_t at = 0; at < copy.size; at++) {
        for (int bit = 0; bit <= 8; bit++) {
            unsigned char change = bit < 8 ? (unsigned char)(1u << bit) : 0xff;
            copy.bytes[at] ^= change;
            bool good = hbg_image_verify(copy.bytes, copy.size, NULL) == HBG_OK;
            copy.bytes[at] ^= change;
            if (good && !may_pass((enum byte_kind)kind[at], copy.bytes[at], change)) fail_msg("%s: byte %zu of %zu xor 0x%02x is taken", name, at, copy.size, change);
            accepted += good;
        }
        structure += kind[at] == STRUCTURE;
    }
    free(kind);
    is_good(copy);
    assert_true(structure * 4 > copy.size);
    return accepted;
}

static void every_wrong_bit_of_structure_is_refused(void **state)
{
    struct copy by_hand = image_by_hand(), everything = image_with_everything();
    (void)state;
    assert_true(flip_all(by_hand, "by hand") > 0);
    assert_true(flip_all(everything, "everything") > 0);
    free(by_hand.bytes);
    free(everything.bytes);
    for (int i = 0; i < 2; i++) {
        struct copy submits = image_that_submits(i == 1);
        assert_true(flip_all(submits, i ? "a definition that submits" : "submissions") > 0);
        free(submits.bytes);
    }
}

static void every_shorter_image_is_refused(void **state)
{
    struct copy copy = image_by_hand();
    (void)state;
    for (size_t size = 0; size < copy.size; size++) {
        struct copy cut = copy_of(copy.bytes, size ? size : 1);        /* of its own, so that a sanitizer sees a read behind it */
        assert_int_equal(hbg_image_verify(cut.bytes, size, NULL), HBG_E_IMAGE);
        free(cut.bytes);
    }
    free(copy.bytes);
}

/* ---- lies that stay in range ---- */

static void lies_are_named(void **state)
{
    struct copy good = image_with_everything();
    (void)state;
#define LIE(change, sentence)                                                                                          \
    {                                                                                                                  \
        struct copy copy = copy_of(good.bytes, good.size);                                                             \
        struct hbg__image_head *head = head_of(copy);                                                                  \
        struct hbg__task_record *join = record_of(copy, 8), *root = record_of(copy, 0);                                \
        (void)head; (void)join; (void)root;                                                                            \
        change;                                                                                                        \
        is_refused(copy, sentence);                                                                                    \
        free(copy.bytes);                                                                                              \
    }
    LIE(head->version = 1, "version 1")
    LIE(head->fingerprint ^= 1, "fingerprint")
    LIE(head->image_bytes += 8, "the head says")
    LIE(head->task_count = HBG__TASKS_MAX + 1, "are possible")
    LIE(head->payload_bytes -= 8, "do not make")
    LIE(head->root_count++, "roots")
    LIE(head->edge_count++, "edges")
    LIE(head->noop_count++, "noops")
    LIE(head->near_count++, "near")
    LIE(head->slot_count++, "submission")
    LIE(head->activation_count = 1, "submission")
    LIE(head->base_total = 1, "submission")
    LIE(head->kernel_count = 1, "names kernel 1 of 1")
    LIE(head->base_count = 2, "base table")
    LIE(head->base_count = 4; head->boundary_count = 1, "names base")
    LIE(head->heap_bytes -= 16, "leaves the heap")
    LIE(head->heap_bytes = UINT64_MAX, "beyond every address")
    LIE(join->producer[1] = join->producer[0], "which is not below")
    LIE(join->producer[0] = 9, "which is not below")
    LIE(root->producer[2] = 0, "names one in place 2")
    LIE(root->first_waiter = 7, "")
    LIE(record_of(copy, head->task_count - 1)->next_waiter = 11, "ends a waiter list")
    LIE(root->args += 2, "")
    LIE(join->args -= 2, "")
    LIE(root->flags ^= HBG__TASK_QUERYABLE, "is not marked")
    LIE(record_of(copy, head->task_count - 1)->flags |= HBG__TASK_QUERYABLE, "nobody asks it")
    LIE(root->flags |= 0x80, "flags 0x")
    LIE(root->flags |= HBG__TASK_REUSE, "is no noop")
    LIE(root->arg_count = 65535, "leave the payload")
    LIE(join->args = UINT32_MAX, "leave the payload")
#undef LIE
    free(good.bytes);
}

static void lies_of_submissions_are_named(void **state)
{
    struct copy good = image_that_submits(false), definition = image_that_submits(true);
    (void)state;
#define LIE(change, sentence)                                                                                          \
    {                                                                                                                  \
        struct copy copy = copy_of(good.bytes, good.size);                                                             \
        struct hbg__image_head *head = head_of(copy);                                                                  \
        struct hbg__task_record *record = record_of(copy, 1);                                                          \
        const unsigned char *payload = hbg__image_payload(head);                                                       \
        struct hbg__submission *s = (struct hbg__submission *)(uintptr_t)hbg__image_submission(payload, record);       \
        struct hbg__submission *second = (struct hbg__submission *)(uintptr_t)hbg__image_submission(payload, record_of(copy, 2));   \
        (void)head; (void)s; (void)second;                                                                             \
        change;                                                                                                        \
        is_refused(copy, sentence);                                                                                    \
        free(copy.bytes);                                                                                              \
    }
    LIE(head->flags &= ~(uint32_t)HBG__IMAGE_SUBGRAPHS, "no record is a submission")
    LIE(head->flags |= HBG__IMAGE_DEFINITION, "the base table of task 1 begins at 0, not from 6 on")
    LIE(head->flags |= 8, "flags are")
    LIE(head->slot_count = head->task_count - 1, "slots for")
    LIE(head->slot_count = HBG__TASKS_MAX + 1, "slots for")
    LIE(head->slot_count++, "submissions end at")
    LIE(head->slot_count--, "slots of task 7 begin")
    LIE(head->activation_count = HBG__TASKS_MAX + 1, "are possible")
    LIE(head->activation_count = 5, "task 7 is submission 6")
    LIE(head->base_total--, "the base table of task 7")
    LIE(record->flags |= HBG__TASK_REUSE, "is a submission and has the flags")
    LIE(record->flags |= HBG__TASK_NOOP, "is a submission and has the flags")
    LIE(record->kernel = 1, "and kernel 1")
    LIE(record->flags &= (uint8_t)~HBG__TASK_SUBGRAPH, "the 3 slots of task 2 begin at")
    LIE(record_of(copy, 0)->flags |= HBG__TASK_SUBGRAPH, "")
    LIE(record->args -= 2, "submits base 0")
    LIE(record->args = 15, "out of order")
    LIE(record->args = UINT32_MAX, "leave the payload")
    LIE(record->arg_count = 1, "its record has 1 argument")
    LIE(s->arg_count++, "has 3 arguments where there is room for 2")
    LIE(s->arg_count = UINT32_MAX, "has 4294967295 arguments where there is room for 2")
    LIE(second->arg_count = 1u << 31, "has 2147483648 arguments where there is room for 1")
    LIE(s->slots++, "slots of task 1 begin")
    LIE(s->slot_count++, "slots of task 2 begin")
    LIE(s->activation = 2, "task 1 is submission 2")
    LIE(second->activation = 1, "task 2 is submission 1")
    LIE(second->activation = 7, "task 2 is submission 7")
    LIE(s->bases = 1, "the base table of task 1 begins at 1")
    LIE(second->bases = 4, "the base table of task 2 begins at 4")
    LIE(second->bases = UINT32_MAX, "the base table of task 2")
    LIE(s->definition = 2, "submits base 2")
    LIE(s->definition = head->base_count, "submits base")
    LIE(head->boundary_count = head->base_count - 3, "submits base")
    LIE(s->heap = head->heap_bytes + 1, "the heap of task 1")
#undef LIE
    head_of(definition)->flags &= ~(uint32_t)HBG__IMAGE_DEFINITION;
    is_refused(definition, "the base table of task 1 begins at 6, not from 0 on");
    free(good.bytes);
    free(definition.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_images_pass),
        cmocka_unit_test(every_wrong_bit_of_structure_is_refused),
        cmocka_unit_test(every_shorter_image_is_refused),
        cmocka_unit_test(lies_are_named),
        cmocka_unit_test(lies_of_submissions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
