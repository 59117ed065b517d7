/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - hbg_image_verify: does every statement of layout.h hold? Nothing is used before it is checked.
 *
 * What it establishes: no reader that follows layout.h leaves the image, the heap or the base table; every task is reached
 * exactly once from the roots and the waiter lists; every question "are you complete?" is put to a task that answers; the slots that
 * submissions are given are those that the head says, one part behind the other.
 *
 * What it cannot know: what a definition needs beyond its slots, since it is another image: activations and base tables of what is
 * inside lie in the order of the submissions, within what the head says, and no more is known of them. Nor whether a value is the one that was meant. Kernel numbers, arguments and where they stand, constants,
 * parameter bytes and offsets from boundary arguments are values; so is an edge to one asked task rather than another.
 *
 *     note[i], one word a task:   | asked | has waiters | last waiter so far: 30 bits |
 */
#include <hbg/image.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "image/fingerprint.h"
#include "image/layout.h"

static const uint32_t asked = 1u << 31, has_waiters = 1u << 30, index_mask = (1u << 30) - 1;
static const uint32_t near_ids = 128;
static const uint64_t heap_max = (uint64_t)1 << 47;

struct walk {
    const struct hbg__image_head *head;
    const unsigned char *payload;
    uint64_t units;                     /* of the payload in front of the root list */
    uint64_t used;                      /* units up to which the first layout, and tasks' arguments and edge rows, have been seen */
    uint64_t edges;
    uint32_t noops, nears, roots;
    uint64_t slots, activations, bases; /* from where on the next submission's parts may lie */
    uint64_t submissions;
    uint32_t *note;
    struct hbg_error *error;
};

/* HBG_E_IMAGE with a sentence; task HBG__NIL: of the whole image. */
__attribute__((format(printf, 4, 5)))
static enum hbg_status damaged(struct hbg_error *error, uint32_t task, int argument, const char *format, ...)
{
    va_list values;
    struct hbg_error filled;
    if (!error) return HBG_E_IMAGE;
    memset(&filled, 0, sizeof filled);
    filled.size = sizeof filled;
    filled.status = HBG_E_IMAGE;
    filled.task = task;
    filled.argument = argument;
    va_start(values, format);
    vsnprintf(filled.text, sizeof filled.text, format, values);
    va_end(values);
    hbg__error_copy(error, &filled);
    return HBG_E_IMAGE;
}

/* ---- head ---- */

static enum hbg_status check_sizes(const struct hbg__image_head *head, uint64_t size_bytes, struct hbg_error *error)
{
    if (head->image_bytes != size_bytes)
        return damaged(error, HBG__NIL, -1, "the head says %" PRIu64 " byte%s and there %s %" PRIu64, head->image_bytes, hbg__s(head->image_bytes), hbg__is(size_bytes), size_bytes);
    if (head->task_count > HBG__TASKS_MAX)
        return damaged(error, HBG__NIL, -1, "the head says %u tasks and %u are possible", head->task_count, HBG__TASKS_MAX);
    uint64_t records = (uint64_t)head->task_count * sizeof(struct hbg__task_record);
    if (head->payload_bytes % 8 || head->payload_bytes > size_bytes || sizeof *head + records + head->payload_bytes != size_bytes)
        return damaged(error, HBG__NIL, -1, "%u task%s and a payload of %" PRIu64 " bytes do not make %" PRIu64 " bytes", head->task_count, hbg__s(head->task_count), head->payload_bytes, size_bytes);
    uint64_t roots = ((uint64_t)head->root_count + 1) / 2;
    if (head->root_count > head->task_count || (uint64_t)head->roots + roots != head->payload_bytes / 8)
        return damaged(error, HBG__NIL, -1, "a list of %u roots at offset %u does not end with the payload", head->root_count, head->roots);
    if ((uint64_t)head->roots * 8 < sizeof(struct hbg_layout))
        return damaged(error, HBG__NIL, -1, "the payload has no room for the layout that it begins with");
    return HBG_OK;
}

/* What is set aside for submissions. */
static enum hbg_status check_parts(const struct hbg__image_head *head, struct hbg_error *error)
{
    bool submits = (head->flags & HBG__IMAGE_SUBGRAPHS) != 0;
    if (head->slot_count < head->task_count || head->slot_count > HBG__TASKS_MAX)
        return damaged(error, HBG__NIL, -1, "the head says %u slot%s for %u task%s", head->slot_count, hbg__s(head->slot_count), head->task_count, hbg__s(head->task_count));
    if (head->activation_count > HBG__TASKS_MAX)
        return damaged(error, HBG__NIL, -1, "the head says %u submissions and %u are possible", head->activation_count, HBG__TASKS_MAX);
    if (!submits && (head->slot_count != head->task_count || head->activation_count || head->base_total))
        return damaged(error, HBG__NIL, -1, "the head counts %u slots, %u submissions and %u values of theirs, and no record is a submission", head->slot_count, head->activation_count, head->base_total);
    return HBG_OK;
}

static enum hbg_status check_head(const struct hbg__image_head *head, uint64_t size_bytes, struct hbg_error *error)
{
    if (size_bytes < sizeof *head) return damaged(error, HBG__NIL, -1, "%" PRIu64 " byte%s %s no image: the head alone has %zu", size_bytes, hbg__s(size_bytes), hbg__is(size_bytes), sizeof *head);
    if (head->magic != HBG__IMAGE_MAGIC) return damaged(error, HBG__NIL, -1, "the first four bytes are 0x%08x, not an image's", head->magic);
    if (head->version != HBG__IMAGE_VERSION) return damaged(error, HBG__NIL, -1, "version %u of the format; this library has %d", head->version, HBG__IMAGE_VERSION);
    if (head->fingerprint != hbg__image_fingerprint())
        return damaged(error, HBG__NIL, -1, "the layout fingerprint is %016" PRIx64 "; this library has %016" PRIx64, head->fingerprint, hbg__image_fingerprint());
    enum hbg_status status = check_sizes(head, size_bytes, error);
    if (status) return status;
    if (head->base_count < HBG__BASE_BOUNDARY || head->boundary_count > head->base_count - HBG__BASE_BOUNDARY)
        return damaged(error, HBG__NIL, -1, "%u boundary values do not fit a base table of %u", head->boundary_count, head->base_count);
    if (head->heap_bytes > heap_max) return damaged(error, HBG__NIL, -1, "a heap of %" PRIu64 " bytes is beyond every address", head->heap_bytes);
    if (head->flags & ~(uint32_t)(HBG__IMAGE_IN_ORDER | HBG__IMAGE_SUBGRAPHS | HBG__IMAGE_DEFINITION)) return damaged(error, HBG__NIL, -1, "the head's flags are 0x%x", head->flags);
    return check_parts(head, error);
}

/* ---- layouts and arguments ---- */

/* The bytes [*lo, *hi) around element 0; false: the layout is not one. */
static bool measure_layout(const struct hbg_layout *layout, int64_t *lo, int64_t *hi)
{
    int64_t count = 1, expected = layout->element_bytes;
    bool contiguous = true, whole = true;
    *lo = *hi = 0;
    if (layout->rank > HBG_RANK_MAX || layout->contiguous > 1) return false;
    if ((int64_t)layout->element_bytes != hbg_dtype_size(layout->dtype)) return false;
    if (layout->dtype == 0) return layout->rank == 0 && layout->count <= 1 && layout->count >= 0;
    if (layout->element_bytes == 0) return false;
    for (int d = HBG_RANK_MAX - 1; d >= layout->rank; d--) {
        if (layout->shape[d] || layout->stride_bytes[d]) return false;
    }
    for (int d = layout->rank - 1; d >= 0; d--) {
        int64_t reach, n = layout->shape[d];
        if (n < 0 || __builtin_mul_overflow(count, n, &count)) return false;
        if (n != 1 && layout->stride_bytes[d] != expected) contiguous = false;
        if (__builtin_mul_overflow(expected, n, &expected)) whole = false;
        if (n == 0) continue;
        if (__builtin_mul_overflow(n - 1, layout->stride_bytes[d], &reach)) { whole = false; continue; }
        if (reach < 0 ? __builtin_add_overflow(*lo, reach, lo) : __builtin_add_overflow(*hi, reach, hi)) whole = false;
    }
    if (layout->count != count || layout->contiguous != (uint8_t)contiguous) return false;
    if (count == 0) *lo = *hi = 0;
    else if (!whole || __builtin_add_overflow(*hi, (int64_t)layout->element_bytes, hi)) return false;
    return true;
}

static bool lies_within(uint64_t word, int64_t lo, int64_t hi, uint64_t size_bytes)
{
    if (lo == hi) return true;                      /* touches nothing */
    if (word > (uint64_t)INT64_MAX || size_bytes > (uint64_t)INT64_MAX) return false;
    int64_t first, end;
    if (__builtin_add_overflow((int64_t)word, lo, &first) || __builtin_add_overflow((int64_t)word, hi, &end)) return false;
    return first >= 0 && end <= (int64_t)size_bytes;
}

static enum hbg_status check_argument(const struct walk *w, uint32_t task, uint32_t i, const struct hbg_view_arg *arg)
{
    int64_t lo, hi;
    if (arg->base >= w->head->base_count) return damaged(w->error, task, (int)i, "argument %u of task %u names base %u of %u", i, task, arg->base, w->head->base_count);
    if (arg->layout + sizeof(struct hbg_layout) / 8 > w->units)
        return damaged(w->error, task, (int)i, "the layout of argument %u of task %u at offset %u leaves the payload", i, task, arg->layout);
    const struct hbg_layout *layout = (const struct hbg_layout *)hbg__image_at(w->payload, arg->layout);
    if (!measure_layout(layout, &lo, &hi)) return damaged(w->error, task, (int)i, "the layout of argument %u of task %u contradicts itself", i, task);
    if (arg->base == HBG__BASE_ZERO && layout->rank != 0) return damaged(w->error, task, (int)i, "argument %u of task %u is a constant of rank %u", i, task, layout->rank);
    if (arg->base == HBG__BASE_PAYLOAD && (arg->word % 16 || !lies_within(arg->word, lo, hi, w->units * 8)))
        return damaged(w->error, task, (int)i, "the parameter bytes of argument %u of task %u leave the payload", i, task);
    if (arg->base == HBG__BASE_HEAP && !lies_within(arg->word, lo, hi, w->head->heap_bytes))
        return damaged(w->error, task, (int)i, "argument %u of task %u leaves the heap of %" PRIu64 " bytes", i, task, w->head->heap_bytes);
    return HBG_OK;
}

static enum hbg_status check_arguments(const struct walk *w, uint32_t task, const struct hbg_view_arg *arg, uint32_t count)
{
    enum hbg_status status = HBG_OK;
    for (uint32_t i = 0; !status && i < count; i++) status = check_argument(w, task, i, &arg[i]);
    return status;
}

/* ---- tasks ---- */

/* Units of the edge row behind the arguments, after the true count is known to be there. */
static uint64_t row_units(uint64_t producers) { return producers <= 3 ? 0 : ((producers >= 255 ? 1 : 0) + (producers - 3) + 1) / 2; }

/* A submission and its arguments lie in front of `args`, up to which they stay inside the payload. */
static enum hbg_status check_place_before(const struct walk *w, uint32_t task, const struct hbg__task_record *record)
{
    if (record->args < w->used + HBG__SUBMISSION_UNITS)
        return damaged(w->error, task, -1, "the submission of task %u, which ends at offset %u, is out of order", task, record->args);
    uint64_t room = (record->args - w->used - HBG__SUBMISSION_UNITS) / 2;
    uint32_t count = hbg__image_submission(w->payload, record)->arg_count;
    if (count > room) return damaged(w->error, task, -1, "the submission of task %u has %u argument%s where there is room for %" PRIu64, task, count, hbg__s(count), room);
    return HBG_OK;
}

/* Where arguments and edge row lie, and a submission with its arguments: inside the payload, and behind those of the tasks before; but the
   row of a noop may come later, since that of a manual scope's begin is written when the scope ends. */
static enum hbg_status check_place(struct walk *w, uint32_t task, const struct hbg__task_record *record, uint32_t *producers)
{
    uint64_t row = (uint64_t)record->args + 2u * record->arg_count;
    *producers = record->producer_count;
    bool apart = record->flags & HBG__TASK_NOOP;
    if ((!apart && record->args < w->used) || row > w->units || (record->producer_count == 255 && row + 1 > w->units))
        return damaged(w->error, task, -1, "the arguments of task %u at offset %u are out of order or leave the payload", task, record->args);
    enum hbg_status status = record->flags & HBG__TASK_SUBGRAPH ? check_place_before(w, task, record) : HBG_OK;
    if (status) return status;
    if (record->producer_count == 255) {
        memcpy(producers, hbg__image_at(w->payload, (uint32_t)row), sizeof *producers);
        if (*producers < 255 || *producers >= w->head->task_count) return damaged(w->error, task, -1, "task %u has %u producers in a row that is for 255 and more", task, *producers);
    }
    if (row + row_units(*producers) > w->units) return damaged(w->error, task, -1, "the %u producers of task %u leave the payload", *producers, task);
    if (!apart) w->used = row + row_units(*producers);
    return HBG_OK;
}

/* Unique, lower than the task, latest first; all but the latest will be asked. */
static enum hbg_status check_producers(struct walk *w, uint32_t task, const struct hbg__task_record *record, uint32_t producers)
{
    uint32_t above = task;
    for (uint32_t k = producers; k < 3; k++) {
        if (record->producer[k] != HBG__NIL) return damaged(w->error, task, -1, "task %u has %u producer%s and names one in place %u", task, producers, hbg__s(producers), k);
    }
    for (uint32_t k = 0; k < producers; k++) {
        uint32_t producer = hbg__image_producer(w->payload, record, k);
        if (producer >= above) return damaged(w->error, task, -1, "producer %u of task %u is %u, which is not below %u", k, task, producer, above);
        if (k > 0) w->note[producer] |= asked;
        above = producer;
    }
    return HBG_OK;
}

/* The task stands where its latest producer's list continues, or, without producers, in the root list. */
static enum hbg_status check_link(struct walk *w, uint32_t task, const struct hbg__task_record *record, uint32_t producers)
{
    if (producers == 0) {
        const uint32_t *roots = (const uint32_t *)hbg__image_at(w->payload, w->head->roots);
        if (w->roots >= w->head->root_count || roots[w->roots] != task) return damaged(w->error, task, -1, "task %u has no producers and is not root %u", task, w->roots);
        w->roots++;
        return HBG_OK;
    }
    uint32_t latest = record->producer[0], note = w->note[latest];
    uint32_t linked = note & has_waiters ? hbg__image_record(w->payload, note & index_mask)->next_waiter : hbg__image_record(w->payload, latest)->first_waiter;
    if (linked != task) return damaged(w->error, task, -1, "task %u is not linked where task %u, its latest producer, wakes it", task, latest);
    w->note[latest] = (note & asked) | has_waiters | task;
    w->nears += task - latest < near_ids;
    return HBG_OK;
}

static enum hbg_status check_record(struct walk *w, uint32_t task, const struct hbg__task_record *record)
{
    unsigned known = HBG__TASK_QUERYABLE | HBG__TASK_NOOP | HBG__TASK_REUSE | HBG__TASK_SUBGRAPH;
    if (record->reserved || record->flags & ~known) return damaged(w->error, task, -1, "task %u has the flags 0x%x and the reserved value %u", task, record->flags, record->reserved);
    if (record->flags & HBG__TASK_SUBGRAPH) {
        if (record->flags & (HBG__TASK_NOOP | HBG__TASK_REUSE) || record->kernel) return damaged(w->error, task, -1, "task %u is a submission and has the flags 0x%x and kernel %u", task, record->flags, record->kernel);
        if (record->arg_count) return damaged(w->error, task, -1, "task %u is a submission and its record has %u argument%s", task, record->arg_count, hbg__s(record->arg_count));
        return HBG_OK;
    }
    if (record->flags & HBG__TASK_NOOP) {
        w->noops++;
        if (record->arg_count || record->kernel) return damaged(w->error, task, -1, "task %u is a noop and has kernel %u and %u argument%s", task, record->kernel, record->arg_count, hbg__s(record->arg_count));
        return HBG_OK;
    }
    if (record->flags & HBG__TASK_REUSE) return damaged(w->error, task, -1, "task %u orders heap reuse and is no noop", task);
    if (record->kernel >= w->head->kernel_count) return damaged(w->error, task, -1, "task %u names kernel %u of %u", task, record->kernel, w->head->kernel_count);
    return HBG_OK;
}

/* Slots follow one another; activations and base tables come in that order, with room between them for what is inside. */
static enum hbg_status check_submission(struct walk *w, uint32_t task, const struct hbg__task_record *record)
{
    const struct hbg__image_head *head = w->head;
    const struct hbg__submission *s = hbg__image_submission(w->payload, record);
    bool first = w->submissions++ == 0;
    if (s->definition < HBG__BASE_BOUNDARY + head->boundary_count || s->definition >= head->base_count)
        return damaged(w->error, task, -1, "task %u submits base %u of %u", task, s->definition, head->base_count);
    if (s->heap > head->heap_bytes) return damaged(w->error, task, -1, "the heap of task %u begins at %" PRIu64 " of %" PRIu64 " bytes", task, s->heap, head->heap_bytes);
    if (s->slots != w->slots || w->slots + s->slot_count > head->slot_count)
        return damaged(w->error, task, -1, "the %u slots of task %u begin at %u, not at %" PRIu64 " of %u", s->slot_count, task, s->slots, w->slots, head->slot_count);
    if (s->activation < w->activations || s->activation > head->activation_count || (first && s->activation != w->activations))
        return damaged(w->error, task, -1, "task %u is submission %u, not one from %" PRIu64 " to %u", task, s->activation, w->activations, head->activation_count);
    uint64_t end = (head->flags & HBG__IMAGE_DEFINITION ? (uint64_t)head->base_count : 0) + head->base_total;
    uint64_t values = HBG__BASE_BOUNDARY + (uint64_t)s->arg_count;
    if (s->bases < w->bases || s->bases + values > end || (first && s->bases != w->bases))
        return damaged(w->error, task, -1, "the base table of task %u begins at %u, not from %" PRIu64 " on with %" PRIu64 " values up to %" PRIu64, task, s->bases, w->bases, values, end);
    w->slots += s->slot_count;
    w->activations = (uint64_t)s->activation + 1;
    w->bases = s->bases + values;
    return check_arguments(w, task, hbg__image_submission_args(w->payload, record), s->arg_count);
}

static enum hbg_status check_task(struct walk *w, uint32_t task)
{
    const struct hbg__task_record *record = hbg__image_record(w->payload, task);
    uint32_t producers = 0;
    enum hbg_status status = check_record(w, task, record);
    if (!status) status = check_place(w, task, record, &producers);
    if (!status) status = check_producers(w, task, record, producers);
    if (!status) status = check_link(w, task, record, producers);
    const struct hbg_view_arg *arg = (const struct hbg_view_arg *)hbg__image_at(w->payload, record->args);
    if (!status) status = record->flags & HBG__TASK_SUBGRAPH ? check_submission(w, task, record) : check_arguments(w, task, arg, record->arg_count);
    w->edges += producers;
    return status;
}

/* With all tasks seen: who wakes nobody says so, the last of every list ends it, and marks are those of the questions. */
static enum hbg_status check_ends(const struct walk *w, uint32_t task)
{
    const struct hbg__task_record *record = hbg__image_record(w->payload, task);
    bool last = record->producer_count == 0 || (w->note[record->producer[0]] & index_mask) == task;
    if (!(w->note[task] & has_waiters) && record->first_waiter != HBG__NIL) return damaged(w->error, task, -1, "task %u wakes task %u, which does not wait for it", task, record->first_waiter);
    if (last && record->next_waiter != HBG__NIL) return damaged(w->error, task, -1, "task %u ends a waiter list and is followed by %u", task, record->next_waiter);
    if (((w->note[task] & asked) != 0) != ((record->flags & HBG__TASK_QUERYABLE) != 0))
        return damaged(w->error, task, -1, "task %u %s", task, w->note[task] & asked ? "is asked whether it is complete and is not marked" : "is marked as asked and nobody asks it");
    return HBG_OK;
}

static enum hbg_status check_tasks(struct walk *w)
{
    const struct hbg__image_head *head = w->head;
    enum hbg_status status = HBG_OK;
    int64_t lo, hi;
    if (!measure_layout((const struct hbg_layout *)hbg__image_at(w->payload, 0), &lo, &hi)) return damaged(w->error, HBG__NIL, -1, "the payload does not begin with a layout");
    for (uint32_t task = 0; !status && task < head->task_count; task++) status = check_task(w, task);
    for (uint32_t task = 0; !status && task < head->task_count; task++) status = check_ends(w, task);
    if (status) return status;
    if (w->roots != head->root_count) return damaged(w->error, HBG__NIL, -1, "the head says %u root%s and %u task%s %s no producers", head->root_count, hbg__s(head->root_count), w->roots, hbg__s(w->roots), hbg__has(w->roots));
    if (w->edges != head->edge_count) return damaged(w->error, HBG__NIL, -1, "the head says %" PRIu64 " edge%s and there %s %" PRIu64, head->edge_count, hbg__s(head->edge_count), hbg__is(w->edges), w->edges);
    if (w->noops != head->noop_count) return damaged(w->error, HBG__NIL, -1, "the head says %u noop%s and there %s %u", head->noop_count, hbg__s(head->noop_count), hbg__is(w->noops), w->noops);
    if ((w->submissions != 0) != ((head->flags & HBG__IMAGE_SUBGRAPHS) != 0))
        return damaged(w->error, HBG__NIL, -1, "the head's flags are 0x%x and there %s %" PRIu64 " submission%s", head->flags, hbg__is(w->submissions), w->submissions, hbg__s(w->submissions));
    if (w->slots != head->slot_count) return damaged(w->error, HBG__NIL, -1, "the head says %u slots and submissions end at %" PRIu64, head->slot_count, w->slots);
    if (w->nears != head->near_count) return damaged(w->error, HBG__NIL, -1, "the head says %u near tasks and there are %u", head->near_count, w->nears);
    return HBG_OK;
}

enum hbg_status hbg_image_verify(const void *image, size_t size_bytes, struct hbg_error *error)
{
    struct walk w;
    hbg__error_clear(error);
    if (!image) return hbg__error_set(error, HBG_E_NULL, "image", "hbg_image_verify got no image");
    if ((uintptr_t)image % 8) return damaged(error, HBG__NIL, -1, "an image begins at an address that 8 divides");
    const struct hbg__image_head *head = (const struct hbg__image_head *)image;
    enum hbg_status status = check_head(head, size_bytes, error);
    if (status) return status;
    memset(&w, 0, sizeof w);
    w.head = head;
    w.payload = hbg__image_payload(head);
    w.units = head->roots;
    w.used = sizeof(struct hbg_layout) / 8;
    w.error = error;
    w.slots = head->task_count;
    w.activations = 1;
    w.bases = head->flags & HBG__IMAGE_DEFINITION ? head->base_count : 0;
    w.note = (uint32_t *)calloc((size_t)head->task_count + 1, sizeof *w.note);
    if (!w.note) return hbg__error_no_memory(error, "the check of an image", ((uint64_t)head->task_count + 1) * sizeof *w.note);
    status = check_tasks(&w);
    free(w.note);
    return status;
}
