/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - what a launch needs on the device, and nothing more: image, arguments, slots, heap, descriptor.
 *
 *   | bytes       | unified                      | discrete                                                           |
 *   | image       | used where it was built      | one copy of [head, image_bytes), once per recording                |
 *   | arguments   | used where they are          | exact bytes of each argument that is read, into the staging zone   |
 *   | slots       | grown; cleared when the epoch wraps, else never touched                                           |
 *   | heap        | grown                                                                                             |
 *   | activations | of submissions, in a zone of their own since their epochs tell whose they are: as the slots       |
 *   | bases       | the base tables of these: grown                                                                   |
 *   | descriptor  | used where it is filled      | one copy, base table included                                      |
 *
 * Staging keeps every group's address modulo 64, so kernels see the alignment that the caller gave. With poison=1 there are 64
 * bytes more on both sides of each group, for watch.c.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "base/error.h"
#include "platform/transfer.h"
#include "graph/definition.h"
#include "run/buffer.h"
#include "run/run.h"
#include "sched/mode.h"
#include "trace/event.h"

enum { STAGE_ALIGN = 64, BASES_FIRST = 32, EVENTS_DEFAULT = 65536 };

static enum hbg_status fit(struct hbg__run *run, struct hbg__zone *zone, uint64_t size_bytes, const char *what, struct hbg_error *error)
{
    if (HBG_LIKELY(size_bytes <= zone->size_bytes)) return HBG_OK;
    uint64_t growths = zone->growths;
    enum hbg_status status = run->device->ops->zone_fit(run->device->platform, zone, size_bytes);
    if (status) return hbg__error_no_memory(error, what, size_bytes);
    hbg__count(&run->device->counters.growths, zone->growths - growths);
    return HBG_OK;
}

/* Says of a copy to the device, and of one that fills its memory, that it failed, if it did; the status as it was. */
static enum hbg_status check_copy(struct hbg__run *run, enum hbg_status status, const char *what, struct hbg_error *error)
{
    return status ? hbg__error_set(error, status, what, "the copy of the %s to \"%s\" failed: %s", what, run->device->ops->name, hbg_status_text(status)) : HBG_OK;
}

static enum hbg_status check_fill(struct hbg__run *run, enum hbg_status status, const char *what, struct hbg_error *error)
{
    return status ? hbg__error_set(error, status, what, "\"%s\" could not fill the %s: %s", run->device->ops->name, what, hbg_status_text(status)) : HBG_OK;
}

/* ---- image ---- */

static enum hbg_status upload_image(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    struct hbg__kept *kept = run->kept;
    const struct hbg__recording *recording = &kept->recording;
    if (kept->device_image) return HBG_OK;
    if (device->properties.unified) {
        kept->device_image = (uint64_t)(uintptr_t)recording->head;
        return HBG_OK;
    }
    uint64_t into = (uint64_t)(uintptr_t)recording->head & (STAGE_ALIGN - 1);
    enum hbg_status status = fit(run, &kept->device_zone, into + recording->image_bytes, "image on the device", error);
    if (status) return status;
    struct hbg__stream *stream = run->streams.stream[HBG__STREAM_COPY];
    uint64_t address = kept->device_zone.address + into;
    if (device->properties.poison) status = device->ops->fill(device->platform, stream, kept->device_zone.address, HBG__POISON, kept->device_zone.size_bytes);
    if (!status) status = device->ops->copy_in(device->platform, stream, address, recording->head, recording->image_bytes);
    if (!status && kept != &run->scratch) status = device->ops->stream_sync(device->platform, stream);     /* runs on other streams will use it */
    if (status) return check_copy(run, status, "image", error);
    kept->device_image = address;
    run->upload_bytes += recording->image_bytes;
    run->upload_copies++;
    hbg__count(&device->counters.image_copies, 1);
    hbg__count(&device->counters.image_bytes, recording->image_bytes);
    return HBG_OK;
}

/* ---- arguments ---- */

/* Place every host group in the staging zone; a unified device uses it where it is. */
static enum hbg_status place_groups(struct hbg__run *run, struct hbg_error *error)
{
    bool unified = run->device->properties.unified;
    uint64_t guard = run->device->properties.poison ? HBG__WATCH_GUARD : 0, used = 0;
    for (uint32_t g = 0; g < run->group_count; g++) {
        const struct hbg__boundary_group *group = &run->group[g];
        struct hbg__placed_group *placed = &run->placed[g];
        uint64_t host = (uint64_t)(uintptr_t)group->host;
        *placed = (struct hbg__placed_group){ .address = group->buffer ? group->buffer->address : host, .host = group->buffer ? 0 : host };
        if (group->buffer || unified) continue;
        placed->address = hbg__round_up(used + guard, STAGE_ALIGN) + (host & (STAGE_ALIGN - 1));
        used = placed->address + group->size_bytes + guard;
    }
    run->staged_bytes = used;
    if (unified || used == 0) return HBG_OK;
    enum hbg_status status = fit(run, &run->bank.staging, used, "argument staging", error);
    for (uint32_t g = 0; g < run->group_count; g++) {
        if (!run->group[g].buffer) run->placed[g].address += run->bank.staging.address;
    }
    return status;
}

/* The bytes of a host argument, as offsets into its group. False: it touches none. */
static bool has_view(const struct hbg__boundary_arg *bound, struct hbg__view *view)
{
    const struct hbg_region *r = &bound->arg.u.region;
    return hbg__view_canonical(view, bound->displacement, hbg_dtype_size(r->dtype), r->rank, r->shape, r->stride_bytes);
}

static bool is_staged(const struct hbg__run *run, const struct hbg__boundary_arg *bound)
{
    return !run->device->properties.unified && bound->group != UINT32_MAX && !run->group[bound->group].buffer;
}

static enum hbg_status copy_arguments(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    struct hbg__view view;
    for (uint32_t i = 0; i < run->arg_count; i++) {
        const struct hbg__boundary_arg *bound = &run->arg[i];
        if (!is_staged(run, bound) || !hbg__arg_is_read(&bound->arg) || !has_view(bound, &view)) continue;
        const struct hbg__placed_group *placed = &run->placed[bound->group];
        uint64_t bytes = 0;
        enum hbg_status status = hbg__transfer_in(device->ops, device->platform, run->streams.stream[HBG__STREAM_COPY], placed->address,
                                                  (const unsigned char *)(uintptr_t)placed->host, &view, &bytes);
        if (status) return check_copy(run, status, "arguments", error);
        run->upload_bytes += bytes;
        run->upload_copies++;
        hbg__count(&device->counters.argument_copies, 1);
        hbg__count(&device->counters.argument_bytes, bytes);
    }
    return HBG_OK;
}

enum hbg_status hbg__run_copy_back(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    struct hbg__view view;
    for (uint32_t i = 0; i < run->arg_count; i++) {
        const struct hbg__boundary_arg *bound = &run->arg[i];
        if (!is_staged(run, bound) || !hbg__arg_is_written(&bound->arg) || !has_view(bound, &view)) continue;
        const struct hbg__placed_group *placed = &run->placed[bound->group];
        uint64_t bytes = 0;
        enum hbg_status status = hbg__transfer_out(device->ops, device->platform, run->streams.stream[HBG__STREAM_COPY],
                                                   (unsigned char *)(uintptr_t)placed->host, placed->address, &view, &bytes);
        if (status) return status;
        hbg__span_count(run->spans, HBG__SPAN_VALIDATE, bytes);
        hbg__count(&device->counters.argument_copies, 1);
        hbg__count(&device->counters.argument_bytes, bytes);
    }
    return HBG_OK;
}

/* ---- bank ---- */

static enum hbg_status clear(struct hbg__run *run, const struct hbg__zone *zone, const char *what, struct hbg_error *error)
{
    const struct hbg_device *device = run->device;
    if (zone->size_bytes == 0) return HBG_OK;
    return check_fill(run, device->ops->fill(device->platform, run->streams.stream[HBG__STREAM_WORK], zone->address, 0, zone->size_bytes), what, error);
}

/* The epoch after the last one; where it would come round, all that holds epochs is cleared once. If that fails the next run tries again. */
static enum hbg_status next_epoch(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg__bank *bank = &run->bank;
    if (HBG_LIKELY(++bank->epoch)) return HBG_OK;
    enum hbg_status status = clear(run, &bank->slots, "cleared slots", error);
    if (!status) status = clear(run, &bank->activations, "cleared activations", error);
    if (!status) status = clear(run, &bank->events, "cleared task records", error);
    bank->epoch = status ? UINT32_MAX : 1;
    return status;
}

static enum hbg_status fit_bank(struct hbg__run *run, struct hbg_error *error)
{
    const struct hbg__image_head *head = run->kept->recording.head;
    enum hbg_status status = fit(run, &run->bank.slots, (uint64_t)head->slot_count * sizeof(struct hbg__slot), "task slots", error);
    if (!status) status = fit(run, &run->bank.activations, (uint64_t)head->activation_count * sizeof(struct hbg__activation), "activations of subgraphs", error);
    if (!status) status = fit(run, &run->bank.bases, (uint64_t)head->base_total * sizeof(uint64_t), "base tables of subgraphs", error);
    if (!status) status = fit(run, &run->bank.heap, head->heap_bytes, "heap for intermediates", error);
    if (!status) status = next_epoch(run, error);
    return status;
}

/* ---- descriptor ---- */

static uint64_t descriptor_bytes(uint32_t bases) { return sizeof(struct hbg__descriptor) + (uint64_t)bases * sizeof(uint64_t); }

static enum hbg_status make_descriptor(struct hbg__run *run, uint32_t bases, struct hbg_error *error)
{
    if (HBG_LIKELY(bases <= run->base_capacity)) return HBG_OK;
    struct hbg__memory *memory = &run->device->memory;
    uint32_t capacity = run->base_capacity ? run->base_capacity : BASES_FIRST;
    while (capacity < bases) capacity *= 2;
    struct hbg__descriptor *made = hbg__alloc(memory, descriptor_bytes(capacity), HBG__LINE);
    if (!made) return hbg__error_no_memory(error, "launch descriptor", descriptor_bytes(capacity));
    hbg__run_free_descriptor(run);
    run->descriptor = made;
    run->base_capacity = capacity;
    return HBG_OK;
}

void hbg__run_free_descriptor(struct hbg__run *run)
{
    hbg__free(&run->device->memory, run->descriptor, descriptor_bytes(run->base_capacity), HBG__LINE);
    run->descriptor = NULL;
    run->base_capacity = 0;
}

/* What a name stands for on the device. */
static uint64_t named_address(const struct hbg__named *named)
{
    return named->buffer ? named->buffer->address : named->definition->device_image;
}

/* A bound scalar, or where element 0 of an argument lies. */
static uint64_t bound_value(const struct hbg__run *run, uint32_t i)
{
    const struct hbg__boundary_arg *bound = &run->arg[i];
    return bound->group == UINT32_MAX ? bound->arg.u.bits : run->placed[bound->group].address + (uint64_t)bound->displacement;
}

uint64_t hbg__run_base(const struct hbg__run *run, uint32_t base)
{
    const struct hbg__recording *recording = &run->kept->recording;
    uint64_t payload = (uint64_t)(uintptr_t)hbg__image_payload(recording->head) - (uint64_t)(uintptr_t)recording->head;
    if (base == HBG__BASE_ZERO) return 0;
    if (base == HBG__BASE_PAYLOAD) return run->kept->device_image + payload;
    if (base == HBG__BASE_HEAP) return run->bank.heap.address;
    base -= HBG__BASE_BOUNDARY;
    return base < run->arg_count ? bound_value(run, base) : named_address(&recording->named[base - run->arg_count]);
}

static void fill_bases(const struct hbg__run *run, uint64_t *base)
{
    const struct hbg__recording *recording = &run->kept->recording;
    for (uint32_t i = 0; i < HBG__BASE_BOUNDARY; i++) *base++ = hbg__run_base(run, i);
    for (uint32_t i = 0; i < run->arg_count; i++) *base++ = bound_value(run, i);
    for (uint32_t i = 0; i < recording->named_count; i++) *base++ = named_address(&recording->named[i]);
}

/* The descriptor with its base table; experiments make it longer. */
static uint64_t travelling_bytes(const struct hbg__run *run, uint32_t bases)
{
    return hbg__max_u64(descriptor_bytes(bases), run->device->properties.pad_bytes);
}

/* Values of a base table that would be as long. */
static uint32_t capacity_for(const struct hbg__run *run, uint32_t bases)
{
    return (uint32_t)((travelling_bytes(run, bases) - sizeof(struct hbg__descriptor) + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

/* In one copy, or in as many as an experiment wants. */
static enum hbg_status copy_descriptor(struct hbg__run *run, uint64_t size, uint32_t *copies)
{
    struct hbg_device *device = run->device;
    uint32_t parts = device->properties.pad_copies > 1 ? device->properties.pad_copies : 1;
    uint64_t part = hbg__round_up((size + parts - 1) / parts, sizeof(uint64_t));
    enum hbg_status status = HBG_OK;
    for (uint64_t at = 0; at < size && !status; at += part, ++*copies)
        status = device->ops->copy_in(device->platform, run->streams.stream[HBG__STREAM_COPY], run->device_descriptor + at,
                                      (const unsigned char *)run->descriptor + at, hbg__min_u64(part, size - at));
    return status;
}

/* One worker runs ids in order where the image permits; the scheduler's rule decides otherwise. */
static uint32_t choose_mode(const struct hbg__run *run)
{
    return (uint32_t)hbg__mode_choose(run->kept->recording.head, run->device->properties.workers, hbg__program_task_ns(run->program));
}

static enum hbg_status write_descriptor(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    const struct hbg__recording *recording = &run->kept->recording;
    const struct hbg__image_head *head = recording->head;
    uint32_t bases = HBG__BASE_BOUNDARY + run->arg_count + recording->named_count;
    HBG_ASSERT(recording->boundary_count == run->arg_count);
    enum hbg_status status = make_descriptor(run, capacity_for(run, bases), error);
    if (status) return status;
    if (device->properties.poison) memset(run->descriptor, HBG__POISON, descriptor_bytes(bases));
    run->descriptor->launch = (struct hbg__launch){
        .image = run->kept->device_image, .slots = run->bank.slots.address, .heap = run->bank.heap.address,
        .kernel_table = run->program->kernel_table, .image_bytes = recording->image_bytes, .task_count = head->task_count,
        .base_count = bases, .epoch = run->bank.epoch, .mode = choose_mode(run),
        .events = run->event_capacity ? run->bank.events.address : 0, .event_capacity = run->event_capacity,
        .activations = head->activation_count ? run->bank.activations.address : 0,
        .bases = head->activation_count ? run->bank.bases.address : 0,
        .slot_count = head->slot_count, .activation_count = head->activation_count };
    fill_bases(run, run->descriptor->base);
    run->device_descriptor = (uint64_t)(uintptr_t)run->descriptor;
    if (device->properties.unified) return HBG_OK;
    uint64_t size = travelling_bytes(run, bases);
    status = fit(run, &run->bank.descriptor, size, "launch descriptor on the device", error);
    if (status) return status;
    run->device_descriptor = run->bank.descriptor.address;
    uint32_t copies = 0;
    status = copy_descriptor(run, size, &copies);
    if (!status && device->properties.poison) {
        status = device->ops->stream_sync(device->platform, run->streams.stream[HBG__STREAM_COPY]);
        memset(run->descriptor->base, HBG__POISON, (size_t)bases * sizeof(uint64_t));       /* the device has its own */
    }
    run->upload_bytes += size;
    run->upload_copies += copies;
    hbg__count(&device->counters.descriptor_copies, copies);
    hbg__count(&device->counters.descriptor_bytes, size);
    return check_copy(run, status, "launch descriptor", error);
}

/* ---- both halves of a prepare ---- */

enum hbg_status hbg__run_upload(struct hbg__run *run, struct hbg_error *error)
{
    bool poison = run->device->properties.poison;
    run->upload_bytes = run->upload_copies = 0;
    enum hbg_status status = upload_image(run, error);
    if (!status) status = hbg__run_upload_definitions(run, error);
    if (!status) hbg__run_publish(run);
    if (!status) status = place_groups(run, error);
    if (!status && poison) status = hbg__watch_image(run, error);
    if (!status && poison) status = check_fill(run, hbg__poison_staging(run), "staging with poison", error);
    if (!status) status = copy_arguments(run, error);
    if (!status && poison) status = check_fill(run, hbg__poison_outputs(run), "outputs with poison", error);
    hbg__span_values(run->spans, HBG__SPAN_UPLOAD, run->upload_copies, run->upload_bytes, 0, 0);
    return status;
}

/* What the steps of prepare_execution have made so far, in bytes. */
static uint64_t made_bytes(const struct hbg__run *run)
{
    const struct hbg__bank *bank = &run->bank;
    return bank->slots.size_bytes + bank->heap.size_bytes + bank->descriptor.size_bytes + bank->events.size_bytes + bank->activations.size_bytes +
           bank->bases.size_bytes + (run->base_capacity ? descriptor_bytes(run->base_capacity) : 0);
}

static void begin_step(struct hbg__run *run, enum hbg__span_id id)
{
    if (HBG_UNLIKELY(run->spans != NULL)) hbg__step_open(run->spans, id, made_bytes(run), run->upload_copies, run->upload_bytes);
}

static void end_step(struct hbg__run *run, enum hbg__span_id id)
{
    if (HBG_UNLIKELY(run->spans != NULL)) hbg__step_close(run->spans, id, made_bytes(run), run->upload_copies, run->upload_bytes);
}

/* Rings for the records of tasks. One core may run all tasks, so each ring has room for all of them, up to a limit. */
static enum hbg_status fit_events(struct hbg__run *run, struct hbg_error *error)
{
    uint64_t tasks = run->kept->recording.head->slot_count, wanted = run->spans->trace->records ? run->spans->trace->records : EVENTS_DEFAULT;
    run->event_capacity = hbg__max_u64(hbg__min_u64(tasks, wanted), 1);
    return fit(run, &run->bank.events, hbg__event_bytes(run->device->properties.workers, run->event_capacity), "task records", error);
}

static enum hbg_status prepare_platform(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    if (!device->ops->prepare) return HBG_OK;
    enum hbg_status status = device->ops->prepare(device->platform, run->streams.stream[HBG__STREAM_WORK], run->device_descriptor);
    return status ? hbg__error_set(error, status, device->ops->name, "the platform \"%s\" cannot prepare the launch: %s", device->ops->name, hbg_status_text(status)) : HBG_OK;
}

enum hbg_status hbg__run_prepare_execution(struct hbg__run *run, struct hbg_error *error)
{
    bool poison = run->device->properties.poison;
    uint64_t copies = run->upload_copies, bytes = run->upload_bytes;
    enum hbg_status status = poison ? hbg__watch_queues(run, error) : HBG_OK;
    if (status) return status;
    begin_step(run, HBG__SPAN_RESULT_REGION);
    status = fit_bank(run, error);
    if (!status && poison) status = check_fill(run, hbg__poison_bank(run), "bank with poison", error);
    end_step(run, HBG__SPAN_RESULT_REGION);
    run->event_capacity = 0;
    if (!status && HBG_UNLIKELY(run->spans != NULL) && run->spans->trace->level == HBG_TRACE_TASK) {
        begin_step(run, HBG__SPAN_COUNTER_TABLE);
        status = fit_events(run, error);
        end_step(run, HBG__SPAN_COUNTER_TABLE);
    }
    if (status) return status;
    begin_step(run, HBG__SPAN_DESCRIPTOR);
    status = write_descriptor(run, error);
    end_step(run, HBG__SPAN_DESCRIPTOR);
    hbg__span_values(run->spans, HBG__SPAN_PREPARE, run->upload_copies - copies, run->upload_bytes - bytes, 0, 0);
    return status ? status : prepare_platform(run, error);
}
