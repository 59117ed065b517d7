/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - see watch.h. Device memory is read through the platform's copies, as everywhere.
 *
 * Bytes of arguments. For each group a copy is taken before the launch and another after it. Where a written argument lies,
 * the first copy is given the bytes of the second; what differs afterwards was nobody's to change.
 *
 *     staged group     | 64 guard | the group's bytes, gaps included | 64 guard |
 *     buffer                      | the whole buffer                 |
 *     host memory in place        | the bytes of its arguments, gaps as zeros |
 */
#include "run/watch.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/plural.h"
#include "core/kernel_table.h"
#include "platform/transfer.h"
#include "run/buffer.h"
#include "run/run.h"

static const uint64_t not_watched = UINT64_MAX;

/* ---- checksums of device memory ---- */

static enum hbg_status sum_of(const struct hbg__run *run, uint64_t address, uint64_t size_bytes, uint64_t *sum)
{
    struct hbg_device *device = run->device;
    unsigned char block[4096];
    *sum = size_bytes;
    for (uint64_t at = 0, size; at < size_bytes; at += size) {
        size = size_bytes - at < sizeof block ? size_bytes - at : sizeof block;
        enum hbg_status status = device->ops->copy_out(device->platform, run->streams.stream[HBG__STREAM_COPY], block, address + at, size);
        if (status) return status;
        *sum = hbg__hash_bytes(block, size, *sum);
    }
    return HBG_OK;
}

/* The first finding is kept, each one is logged. */
static void found(const struct hbg__run *run, struct hbg_error *error, const struct hbg_error *this_one)
{
    hbg__log_write(&run->device->log, HBG_LOG_ERROR, "hbg: %s", this_one->text);
    if (!error->status) *error = *this_one;
}

/* ---- image and queues ---- */

enum hbg_status hbg__watch_image(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg__kept *kept = run->kept;
    char label[HBG__LABEL_BYTES];
    uint64_t sum;
    enum hbg_status status = sum_of(run, kept->device_image, kept->recording.image_bytes, &sum);
    if (status) return hbg__error_set(error, status, "image", "the image of %s cannot be read: %s", hbg__run_label(run, label), hbg_status_text(status));
    if (!kept->summed) {
        kept->summed = true;
        kept->sum = sum;
    }
    if (sum == kept->sum) return HBG_OK;
    hbg__run_distrust(run);
    return hbg__error_set(error, HBG_E_IMAGE, "image", "the image of %s was changed after it was built: a kernel or the host wrote into its %" PRIu64 " bytes",
                          hbg__run_label(run, label), kept->recording.image_bytes);
}

enum hbg_status hbg__watch_queues(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    if (!device->ops->queue_sum || !device->queues_summed || device->ops->queue_sum(device->platform) == device->queue_sum) return HBG_OK;
    return hbg__error_set(error, HBG_E_DEVICE, "queues", "the queues of the device were changed since its last run ended; close it and open it again");
}

/* ---- ranges ---- */

static void add_range(struct hbg__watch *watch, const char *what, uint64_t from, uint64_t to)
{
    if (from >= to) return;
    HBG_ASSERT(watch->range_count < HBG__WATCH_RANGES);
    watch->range[watch->range_count++] = (struct hbg__watch_range){ .what = what, .address = from, .size_bytes = to - from };
}

static void add_zone_end(struct hbg__watch *watch, const char *what, const struct hbg__zone *zone, uint64_t used)
{
    add_range(watch, what, zone->address + used, zone->address + zone->size_bytes);
}

static void list_ranges(struct hbg__run *run)
{
    const struct hbg__kept *kept = run->kept;
    const struct hbg__recording *recording = &kept->recording;
    struct hbg__watch *watch = &run->watch;
    uint64_t from = kept->device_zone.address, to = from + kept->device_zone.size_bytes;
    if (run->device->properties.unified) {
        from = (uint64_t)(uintptr_t)(recording->arena.origin - recording->arena.below);
        to = (uint64_t)(uintptr_t)(recording->arena.origin + recording->arena.above);
    }
    watch->range_count = 0;
    add_range(watch, "memory before the image", from, kept->device_image);
    add_range(watch, "memory behind the image", kept->device_image + recording->image_bytes, to);
    add_zone_end(watch, "heap behind the intermediates", &run->bank.heap, recording->head->heap_bytes);
    add_zone_end(watch, "memory behind the task slots", &run->bank.slots, (uint64_t)recording->head->slot_count * sizeof(struct hbg__slot));
    add_zone_end(watch, "memory behind the staged arguments", &run->bank.staging, run->staged_bytes);
    add_range(watch, "launch descriptor", run->device_descriptor,
              run->device_descriptor + sizeof(struct hbg__descriptor) + (uint64_t)run->descriptor->launch.base_count * sizeof(uint64_t));
    add_range(watch, "kernel table", run->program->kernel_table, run->program->kernel_table + sizeof(struct hbg__kernel_table) +
              (uint64_t)run->program->kernel_count * sizeof(struct hbg__kernel_entry));
}

static enum hbg_status begin_ranges(struct hbg__run *run)
{
    enum hbg_status status = HBG_OK;
    list_ranges(run);
    for (uint32_t i = 0; i < run->watch.range_count && !status; i++) {
        struct hbg__watch_range *range = &run->watch.range[i];
        status = sum_of(run, range->address, range->size_bytes, &range->sum);
    }
    return status;
}

static enum hbg_status end_ranges(struct hbg__run *run, struct hbg_error *error)
{
    for (uint32_t i = 0; i < run->watch.range_count; i++) {
        const struct hbg__watch_range *range = &run->watch.range[i];
        struct hbg_error text = { .size = sizeof text };
        char label[HBG__LABEL_BYTES];
        uint64_t sum;
        enum hbg_status status = sum_of(run, range->address, range->size_bytes, &sum);
        if (status) return status;
        if (sum == range->sum) continue;
        hbg__error_set(&text, HBG_E_OVERWRITTEN, range->what, "the %s (%" PRIu64 " byte%s) changed while %s ran: a kernel wrote beside its arguments",
                       range->what, range->size_bytes, hbg__s(range->size_bytes), hbg__run_label(run, label));
        found(run, error, &text);
    }
    return HBG_OK;
}

/* ---- bytes of arguments ---- */

static bool is_in_place(const struct hbg__run *run, uint32_t g) { return run->device->properties.unified && !run->group[g].buffer; }

static uint64_t guard_of(const struct hbg__run *run, uint32_t g)
{
    return run->device->properties.unified || run->group[g].buffer ? 0 : HBG__WATCH_GUARD;
}

static uint64_t watched_bytes(const struct hbg__run *run, uint32_t g) { return run->group[g].size_bytes + 2 * guard_of(run, g); }

static bool is_named_by_build(const struct hbg__run *run, const struct hbg_buffer *buffer)
{
    const struct hbg__recording *recording = &run->kept->recording;
    for (uint32_t i = 0; i < recording->named_count; i++) {
        if (recording->named[i].buffer == buffer) return true;
    }
    return false;
}

/* Where each group stands in the copies, and room for them. */
static bool place_copies(struct hbg__run *run)
{
    struct hbg__watch *watch = &run->watch;
    watch->used = 0;
    for (uint32_t g = 0; g < run->group_count; g++) {
        struct hbg__placed_group *placed = &run->placed[g];
        placed->watched = not_watched;
        if (run->group[g].buffer && is_named_by_build(run, run->group[g].buffer)) continue;
        placed->watched = watch->used;
        watch->used += watched_bytes(run, g);
    }
    if (watch->used <= watch->capacity) return true;
    hbg__watch_free(run);
    watch->before = hbg__alloc(&run->device->memory, watch->used, 64);
    watch->now = hbg__alloc(&run->device->memory, watch->used, 64);
    watch->capacity = watch->used;
    if (watch->before && watch->now) return true;
    hbg__watch_free(run);
    return false;
}

void hbg__watch_free(struct hbg__run *run)
{
    struct hbg__watch *watch = &run->watch;
    hbg__free(&run->device->memory, watch->before, watch->capacity, 64);
    hbg__free(&run->device->memory, watch->now, watch->capacity, 64);
    watch->before = watch->now = NULL;
    watch->capacity = 0;
}

static bool has_view(const struct hbg__boundary_arg *bound, struct hbg__view *view)
{
    const struct hbg_region *r = &bound->arg.u.region;
    return bound->group != UINT32_MAX && hbg__view_canonical(view, bound->displacement, hbg_dtype_size(r->dtype), r->rank, r->shape, r->stride_bytes);
}

/* Copy the bytes of a view, which count from the first byte of its group on both sides. */
static void copy_view(unsigned char *target, const unsigned char *source, const struct hbg__view *view)
{
    struct hbg__byte_runs runs = hbg__byte_runs_first(view);
    do memcpy(target + runs.off, source + runs.off, (size_t)view->run);
    while (hbg__byte_runs_next(&runs));
}

/* A host that waited for the end of the launch may write the buffer from then on, before the finish. */
static enum hbg_status copy_group(const struct hbg__run *run, uint32_t g, unsigned char *copy, uint64_t *writes)
{
    struct hbg_device *device = run->device;
    const struct hbg__placed_group *placed = &run->placed[g];
    struct hbg_buffer *buffer = run->group[g].buffer;
    pthread_mutex_lock(&device->bootstrap_lock);
    *writes = buffer ? buffer->writes : 0;
    enum hbg_status status = device->ops->copy_out(device->platform, run->streams.stream[HBG__STREAM_COPY], copy + placed->watched,
                                                   placed->address - guard_of(run, g), watched_bytes(run, g));
    pthread_mutex_unlock(&device->bootstrap_lock);
    return status;
}

static enum hbg_status copy_groups(struct hbg__run *run, unsigned char *copy, bool after)
{
    struct hbg__view view;
    for (uint32_t g = 0; g < run->group_count; g++) {
        struct hbg__placed_group *placed = &run->placed[g];
        uint64_t writes = 0;
        enum hbg_status status = HBG_OK;
        if (placed->watched == not_watched || watched_bytes(run, g) == 0) continue;
        if (is_in_place(run, g)) memset(copy + placed->watched, 0, watched_bytes(run, g));
        else status = copy_group(run, g, copy, &writes);
        if (status) return status;
        if (after && writes != placed->writes) placed->watched = not_watched;
        placed->writes = writes;
    }
    for (uint32_t i = 0; i < run->arg_count; i++) {
        const struct hbg__boundary_arg *bound = &run->arg[i];
        if (!has_view(bound, &view) || !is_in_place(run, bound->group)) continue;
        copy_view(copy + run->placed[bound->group].watched, run->group[bound->group].host, &view);
    }
    return HBG_OK;
}

static enum hbg_status begin_groups(struct hbg__run *run)
{
    return place_copies(run) ? copy_groups(run, run->watch.before, false) : HBG_E_NO_MEMORY;
}

static bool touches(const struct hbg__view *view, int64_t off)
{
    struct hbg__byte_runs runs = hbg__byte_runs_first(view);
    do {
        if (off >= runs.off && off < runs.off + view->run) return true;
    } while (hbg__byte_runs_next(&runs));
    return false;
}

/* Byte `off` of group g was changed and belongs to no written argument: name the argument that it belongs to or is nearest to. */
static void name_byte(const struct hbg__run *run, uint32_t g, int64_t off, struct hbg_error *text)
{
    char label[HBG__LABEL_BYTES];
    const char *name = hbg__run_label(run, label);
    struct hbg__view view;
    int64_t nearest = INT64_MAX, beside = 0;
    int argument = -1;
    for (uint32_t i = 0; i < run->arg_count; i++) {
        if (run->arg[i].group != g || !has_view(&run->arg[i], &view)) continue;
        int64_t past = off - (hbg__view_end(&view) - 1), before = view.lo - off, distance = past > 0 ? past : before > 0 ? before : 0;
        if (distance == 0 && touches(&view, off)) {
            hbg__error_set_argument(text, HBG_E_OVERWRITTEN, (int)i, "argument", "a kernel of %s wrote byte %" PRId64 " of argument %u, which the run only reads", name, off - view.lo, i);
            return;
        }
        if (distance >= nearest) continue;
        nearest = distance;
        beside = past > 0 ? past : -before;
        argument = (int)i;
    }
    if (argument < 0) hbg__error_set(text, HBG_E_OVERWRITTEN, "argument", "a kernel of %s wrote beside an empty argument", name);
    else if (nearest == 0) hbg__error_set_argument(text, HBG_E_OVERWRITTEN, argument, "argument", "a kernel of %s wrote between the rows of argument %d", name, argument);
    else hbg__error_set_argument(text, HBG_E_OVERWRITTEN, argument, "argument", "a kernel of %s wrote a byte %" PRId64 " %s argument %d", name,
                                 beside > 0 ? beside : nearest, beside > 0 ? "past the end of" : "before the start of", argument);
}

static void compare_group(const struct hbg__run *run, uint32_t g, struct hbg_error *error)
{
    const struct hbg__placed_group *placed = &run->placed[g];
    const unsigned char *before = run->watch.before + placed->watched, *now = run->watch.now + placed->watched;
    uint64_t size = watched_bytes(run, g), at = 0;
    if (size == 0 || memcmp(before, now, size) == 0) return;
    while (before[at] == now[at]) at++;
    struct hbg_error text = { .size = sizeof text };
    name_byte(run, g, (int64_t)at - (int64_t)guard_of(run, g), &text);
    found(run, error, &text);
}

static enum hbg_status end_groups(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg__watch *watch = &run->watch;
    struct hbg__view view;
    enum hbg_status status = copy_groups(run, watch->now, true);
    if (status) return status;
    for (uint32_t i = 0; i < run->arg_count; i++) {
        const struct hbg__boundary_arg *bound = &run->arg[i];
        if (!has_view(bound, &view) || !hbg__arg_is_written(&bound->arg) || run->placed[bound->group].watched == not_watched) continue;
        uint64_t first = run->placed[bound->group].watched + guard_of(run, bound->group);
        copy_view(watch->before + first, watch->now + first, &view);
    }
    for (uint32_t g = 0; g < run->group_count; g++) {
        if (run->placed[g].watched != not_watched) compare_group(run, g, error);
    }
    return HBG_OK;
}

/* ---- device buffers ---- */

/* One that the run uses is its groups' concern, or may be written. */
static enum hbg_status begin_buffers(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    enum hbg_status status = HBG_OK;
    pthread_mutex_lock(&device->lock);
    for (struct hbg_buffer *b = device->buffers; b && !status; b = b->next) {
        b->watched = !hbg__run_uses(run, b);
        if (!b->watched || b->size_bytes == 0) continue;
        pthread_mutex_lock(&device->bootstrap_lock);
        b->watched_writes = b->writes;
        status = sum_of(run, b->address, b->size_bytes, &b->sum);
        pthread_mutex_unlock(&device->bootstrap_lock);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

static enum hbg_status end_buffer(struct hbg__run *run, struct hbg_buffer *buffer, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    struct hbg_error text = { .size = sizeof text };
    char label[HBG__LABEL_BYTES];
    int64_t offset = 0;
    uint64_t sum;
    if (device->ops->memory_intact && !device->ops->memory_intact(device->platform, buffer->address, buffer->size_bytes, &offset)) {
        hbg__error_set(&text, HBG_E_OVERWRITTEN, "guard", "a kernel of %s wrote byte %" PRId64 " of a device buffer of %" PRIu64 " byte%s", hbg__run_label(run, label), offset, buffer->size_bytes, hbg__s(buffer->size_bytes));
        found(run, error, &text);
    }
    if (!buffer->watched || buffer->size_bytes == 0 || buffer->writes != buffer->watched_writes) return HBG_OK;
    enum hbg_status status = sum_of(run, buffer->address, buffer->size_bytes, &sum);
    if (status || sum == buffer->sum) return status;
    hbg__error_set(&text, HBG_E_OVERWRITTEN, "buffer", "a device buffer of %" PRIu64 " byte%s changed while %s ran, which does not use it", buffer->size_bytes, hbg__s(buffer->size_bytes), hbg__run_label(run, label));
    found(run, error, &text);
    return HBG_OK;
}

static enum hbg_status end_buffers(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    enum hbg_status status = HBG_OK;
    pthread_mutex_lock(&device->lock);
    for (struct hbg_buffer *b = device->buffers; b && !status; b = b->next) {
        pthread_mutex_lock(&device->bootstrap_lock);
        status = end_buffer(run, b, error);
        pthread_mutex_unlock(&device->bootstrap_lock);
        b->watched = false;
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* ---- both ends ---- */

enum hbg_status hbg__watch_begin(struct hbg__run *run)
{
    enum hbg_status status = begin_ranges(run);
    if (!status) status = begin_groups(run);
    return status ? status : begin_buffers(run);
}

enum hbg_status hbg__watch_end(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    struct hbg_error first = { .size = sizeof first }, text = { .size = sizeof text };
    char label[HBG__LABEL_BYTES];
    enum hbg_status status = hbg__watch_image(run, &text);
    if (status == HBG_E_IMAGE) found(run, &first, &text);
    if (!status || status == HBG_E_IMAGE) status = end_groups(run, &first);
    if (!status) status = end_ranges(run, &first);
    if (!status) status = end_buffers(run, &first);
    if (device->ops->queue_sum) {
        device->queue_sum = device->ops->queue_sum(device->platform);
        device->queues_summed = true;
    }
    if (status) return hbg__error_set(error, status, device->ops->name, "what %s changed cannot be read: %s", hbg__run_label(run, label), hbg_status_text(status));
    hbg__error_copy(error, &first);
    return first.status;
}
