/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c - see buffer.h. */
#include "run/buffer.h"

#include <stdlib.h>

#include <hbg/region.h>

#include "base/error.h"
#include "graph/view.h"
#include "run/run.h"

enum { PLACE_BITS = 20, PLACES_MAX = 1 << PLACE_BITS, NO_PLACE = PLACES_MAX, PLACES_FIRST = 256, GENERATIONS = 1 << (32 - PLACE_BITS) };
#define PLACE_MASK ((uint32_t)PLACES_MAX - 1)

struct place { struct hbg_buffer *buffer; uint32_t generation, next; };

/* Places, taken in the order in which they were given back. */
struct place_queue { uint32_t oldest, newest; };

/* All under the process lock. The array belongs to the process, not to a user's allocator. */
static struct place *places;
static uint32_t place_count, place_capacity;
static struct place_queue free_places = { NO_PLACE, NO_PLACE };
static struct place_queue used_up = { NO_PLACE, NO_PLACE };     /* every generation has been given out: the last resort */

static uint32_t queue_take(struct place_queue *queue)
{
    uint32_t place = queue->oldest;
    if (place != NO_PLACE) queue->oldest = places[place].next;
    return place;
}

static void queue_add(struct place_queue *queue, uint32_t place)
{
    places[place].next = NO_PLACE;
    if (queue->oldest == NO_PLACE) queue->oldest = place;
    else places[queue->newest].next = place;
    queue->newest = place;
}

static uint32_t new_place(void)
{
    if (place_count == place_capacity) {
        uint32_t capacity = place_capacity ? place_capacity * 2 : PLACES_FIRST;
        struct place *grown = capacity <= PLACES_MAX ? realloc(places, capacity * sizeof *grown) : NULL;
        if (!grown) return NO_PLACE;
        places = grown;
        place_capacity = capacity;
    }
    places[place_count] = (struct place){ 0 };
    return place_count++;
}

static uint32_t take_place(void)
{
    uint32_t place = queue_take(&free_places);
    if (place == NO_PLACE) place = new_place();
    return place == NO_PLACE ? queue_take(&used_up) : place;
}

static void give_place(uint32_t place)
{
    places[place].buffer = NULL;
    places[place].generation = (places[place].generation + 1) % GENERATIONS;
    queue_add(places[place].generation ? &free_places : &used_up, place);
}

static bool add_to_table(struct hbg_buffer *buffer)
{
    hbg__process_lock();
    uint32_t place = take_place();
    if (place != NO_PLACE) {
        places[place].buffer = buffer;
        buffer->handle = places[place].generation << PLACE_BITS | place;
    }
    hbg__process_unlock();
    return place != NO_PLACE;
}

struct hbg_buffer *hbg__buffer_find_locked(const struct hbg_device *device, uint32_t handle, bool *foreign)
{
    uint32_t place = handle & PLACE_MASK;
    struct hbg_buffer *buffer = place < place_count ? places[place].buffer : NULL;
    *foreign = false;
    if (!buffer || buffer->handle != handle) return NULL;
    *foreign = buffer->device != device;
    return *foreign ? NULL : buffer;
}

void hbg__buffer_forget_memory(struct hbg_buffer *buffer)
{
    if (buffer->address) buffer->device->ops->memory_free(buffer->device->platform, buffer->address, buffer->size_bytes);
    buffer->address = 0;
}

/* Nobody holds it any more. */
static void destroy(struct hbg_buffer *buffer)
{
    struct hbg_device *device = buffer->device;
    pthread_mutex_lock(&device->lock);
    if (!device->closed) hbg__buffer_forget_memory(buffer);
    *buffer->link = buffer->next;
    if (buffer->next) buffer->next->link = buffer->link;
    HBG__DELETE(&device->memory, buffer);
    hbg__device_unlock_drop(device);
}

void hbg__buffer_drop(struct hbg_buffer *buffer)
{
    hbg__process_lock();
    bool last = --buffer->holders == 0;
    hbg__process_unlock();
    if (last) destroy(buffer);
}

enum hbg_status hbg_buffer_create(struct hbg_device *device, size_t size_bytes, struct hbg_buffer **buffer)
{
    if (!device || !buffer) return HBG_E_NULL;
    enum hbg_status status = hbg__device_check(device, "hbg_buffer_create", NULL);
    if (status) return status;
    struct hbg_buffer *made = HBG__NEW(&device->memory, struct hbg_buffer);
    if (!made) return HBG_E_NO_MEMORY;
    made->device = device;
    made->size_bytes = size_bytes;
    made->holders = 1;
    pthread_mutex_lock(&device->lock);
    status = device->closed ? HBG_E_DEVICE : device->ops->memory_alloc(device->platform, size_bytes, &made->address);
    if (!status && !add_to_table(made)) {
        hbg__buffer_forget_memory(made);
        status = HBG_E_NO_MEMORY;
    }
    if (status) {
        pthread_mutex_unlock(&device->lock);
        HBG__DELETE(&device->memory, made);
        return status;
    }
    made->next = device->buffers;
    made->link = &device->buffers;
    if (made->next) made->next->link = &made->next;
    device->buffers = made;
    hbg__device_hold(device);
    pthread_mutex_unlock(&device->lock);
    *buffer = made;
    return HBG_OK;
}

void hbg_buffer_destroy(struct hbg_buffer *buffer)
{
    if (!buffer || buffer->device->fork_count != hbg__process_fork_count()) return;
    hbg__process_lock();
    give_place(buffer->handle & PLACE_MASK);
    hbg__process_unlock();
    hbg__definitions_forget_buffer(&buffer->device->definitions, buffer);
    hbg__buffer_drop(buffer);
}

/* Checks of a write and a read; afterwards no launched run uses the buffer. */
static enum hbg_status begin_access(struct hbg_buffer *buffer, const char *call, size_t offset, const void *host, size_t size_bytes)
{
    if (!buffer || (!host && size_bytes)) return HBG_E_NULL;
    struct hbg_device *device = buffer->device;
    enum hbg_status status = hbg__device_check(device, call, NULL);
    if (status) return status;
    if (offset > buffer->size_bytes || size_bytes > buffer->size_bytes - offset) {
        hbg__log_write(&device->log, HBG_LOG_ERROR, "%s: bytes [%zu, %zu + %zu) leave a buffer of %llu bytes", call, offset, offset,
                       size_bytes, (unsigned long long)buffer->size_bytes);
        return HBG_E_REGION;
    }
    pthread_mutex_lock(&device->lock);
    bool closed = device->closed;
    pthread_mutex_unlock(&device->lock);
    if (closed) return HBG_E_DEVICE;
    return hbg__run_wait_for_buffer(device, buffer);
}

enum hbg_status hbg_buffer_write(struct hbg_buffer *buffer, size_t offset, const void *source, size_t size_bytes)
{
    enum hbg_status status = begin_access(buffer, "hbg_buffer_write", offset, source, size_bytes);
    if (status || size_bytes == 0) return status;
    struct hbg_device *device = buffer->device;
    pthread_mutex_lock(&device->bootstrap_lock);
    struct hbg__stream *stream = device->bootstrap.stream[HBG__STREAM_COPY];
    buffer->writes++;
    status = device->ops->copy_in(device->platform, stream, buffer->address + offset, source, size_bytes);
    if (!status) status = device->ops->stream_sync(device->platform, stream);
    pthread_mutex_unlock(&device->bootstrap_lock);
    return status;
}

/* Device bytes to the host, whatever runs. */
static enum hbg_status copy_out(struct hbg_buffer *buffer, uint64_t offset, void *target, uint64_t size_bytes)
{
    struct hbg_device *device = buffer->device;
    pthread_mutex_lock(&device->bootstrap_lock);
    struct hbg__stream *stream = device->bootstrap.stream[HBG__STREAM_COPY];
    enum hbg_status status = device->ops->copy_out(device->platform, stream, target, buffer->address + offset, size_bytes);
    if (!status) status = device->ops->stream_sync(device->platform, stream);
    pthread_mutex_unlock(&device->bootstrap_lock);
    return status;
}

enum hbg_status hbg_buffer_read(struct hbg_buffer *buffer, size_t offset, void *target, size_t size_bytes)
{
    enum hbg_status status = begin_access(buffer, "hbg_buffer_read", offset, target, size_bytes);
    return status || size_bytes == 0 ? status : copy_out(buffer, offset, target, size_bytes);
}

struct hbg_region hbg_buffer_region(struct hbg_buffer *buffer, size_t offset, enum hbg_dtype dtype, struct hbg_shape shape)
{
    if (!buffer) return hbg__region_of_no_buffer();
    if (offset > INT64_MAX) return hbg__region_of_no_offset(offset);
    /* shape, strides, their checks and the reason of a bad one are those of host memory */
    struct hbg_region r = hbg_host((void *)(uintptr_t)1, dtype, shape);
    r.flags = (uint8_t)((r.flags & ~HBG_REGION_HOST) | HBG_REGION_BUFFER);
    if (!(r.flags & HBG_REGION_BAD)) r.offset_bytes = (int64_t)offset;
    r.storage = buffer->handle;
    return r;
}

/* ---- what the graph asks ---- */

static struct hbg_buffer *look_up(const struct hbg_device *device, uint32_t handle, bool holds, uint64_t *size_bytes, bool *foreign)
{
    hbg__process_lock();
    struct hbg_buffer *buffer = hbg__buffer_find_locked(device, handle, foreign);
    if (buffer) {
        *size_bytes = buffer->size_bytes;
        buffer->holders += holds;
    }
    hbg__process_unlock();
    return buffer;
}

static struct hbg_buffer *graph_find(void *user, uint32_t handle, uint64_t *size_bytes, bool *foreign)
{
    return look_up(user, handle, false, size_bytes, foreign);
}

static struct hbg_buffer *graph_hold(void *user, uint32_t handle, uint64_t *size_bytes, bool *foreign)
{
    return look_up(user, handle, true, size_bytes, foreign);
}

static bool graph_read(void *user, struct hbg_buffer *buffer, uint64_t offset, void *target, uint64_t size_bytes)
{
    (void)user;
    return copy_out(buffer, offset, target, size_bytes) == HBG_OK;
}

static enum hbg_status graph_settle(void *reader, struct hbg_buffer *buffer, const void *memory, uint64_t size_bytes, bool wait, struct hbg_error *error)
{
    return hbg__run_settle(reader, buffer, memory, size_bytes, wait, error);
}

static void graph_drop(void *user, struct hbg_buffer *buffer) { (void)user; hbg__buffer_drop(buffer); }

struct hbg__buffer_ops hbg__device_buffer_ops(struct hbg_device *device)
{
    return (struct hbg__buffer_ops){ .find = graph_find, .read = graph_read, .hold = graph_hold, .drop = graph_drop, .settle = graph_settle, .user = device };
}
