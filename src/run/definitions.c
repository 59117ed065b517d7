/* SPDX-License-Identifier: Apache-2.0 */
/* definitions.c - recorded bodies on the device: each is uploaded once, when the first recording that names it is, and checked before.
 *
 * On a unified device a definition is used where it was made. Its address is that of its head, as of an image.
 */
#include <hbg/image.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/hash.h"
#include "graph/definition.h"
#include "run/run.h"

enum { ALIGN = 64 };

/* Device memory is taken in chunks, which definitions fill one after the other; a chunk goes when its last definition does. So an upload
   costs a copy, and no mapping. */
struct hbg__definition_chunk {
    struct hbg__definition_chunk *next;
    uint64_t address, size_bytes, used;
    uint32_t live;
};

static const uint64_t chunk_bytes = (uint64_t)1 << 20;

/* ---- chunks; the store's lock is held ---------------------------------------------------------------------------------- */

static enum hbg_status add_chunk(struct hbg_device *device, uint64_t size_bytes)
{
    struct hbg__definition_chunk *made = HBG__NEW(&device->memory, struct hbg__definition_chunk);
    if (!made) return HBG_E_NO_MEMORY;
    made->size_bytes = size_bytes > chunk_bytes ? size_bytes : chunk_bytes;
    enum hbg_status status = device->ops->memory_alloc(device->platform, made->size_bytes, &made->address);
    if (status) {
        HBG__DELETE(&device->memory, made);
        return status;
    }
    made->next = device->definition_chunks;
    device->definition_chunks = made;
    return HBG_OK;
}

/* Bytes for a definition, in the newest chunk or in another. */
static enum hbg_status take_bytes(struct hbg_device *device, struct hbg__definition *d, uint64_t size_bytes, uint64_t *address)
{
    struct hbg__definition_chunk *chunk = device->definition_chunks;
    if (!chunk || chunk->size_bytes - chunk->used < size_bytes) {
        enum hbg_status status = add_chunk(device, size_bytes);
        if (status) return status;
        chunk = device->definition_chunks;
    }
    *address = chunk->address + chunk->used;
    chunk->used += hbg__round_up(size_bytes, ALIGN);
    if (chunk->used > chunk->size_bytes) chunk->used = chunk->size_bytes;
    chunk->live++;
    d->chunk = chunk;
    return HBG_OK;
}

/* Is there a device to give memory back to? One that was closed over a run which does not end keeps it. */
static bool has_memory(const struct hbg_device *device) { return device->platform && !device->closed; }

/* The newest chunk is filled anew instead, if it has the usual size. */
static void leave_chunk(struct hbg_device *device, struct hbg__definition_chunk *chunk)
{
    if (--chunk->live > 0) return;
    chunk->used = 0;
    if (chunk == device->definition_chunks && chunk->size_bytes == chunk_bytes && has_memory(device)) return;
    struct hbg__definition_chunk **link = &device->definition_chunks;
    while (*link != chunk) link = &(*link)->next;
    *link = chunk->next;
    if (has_memory(device)) device->ops->memory_free(device->platform, chunk->address, chunk->size_bytes);
    HBG__DELETE(&device->memory, chunk);
}

void hbg__definition_forget(void *user, struct hbg__definition *d)
{
    if (d->chunk) leave_chunk(user, d->chunk);
    d->chunk = NULL;
    d->device_image = 0;
}

/* ---- uploads ------------------------------------------------------------------------------------------------------------- */

/* The store's lock is held. */
static enum hbg_status upload(struct hbg__run *run, struct hbg__definition *d)
{
    struct hbg_device *device = run->device;
    struct hbg__stream *stream = run->streams.stream[HBG__STREAM_COPY];
    uint64_t into = (uint64_t)(uintptr_t)d->head & (ALIGN - 1), bytes = d->head->image_bytes, address;
    hbg__count(&device->counters.definitions_uploaded, 1);
    if (device->properties.unified) {
        d->device_image = (uint64_t)(uintptr_t)d->head;
        return HBG_OK;
    }
    enum hbg_status status = take_bytes(device, d, into + bytes, &address);
    if (status) return status;
    status = device->ops->copy_in(device->platform, stream, address + into, d->head, bytes);
    if (!status) status = device->ops->stream_sync(device->platform, stream);       /* runs on other streams will use it */
    if (status) {
        hbg__definition_forget(device, d);
        return status;
    }
    d->device_image = address + into;
    run->upload_bytes += bytes;
    run->upload_copies++;
    hbg__count(&device->counters.definition_bytes, bytes);
    return HBG_OK;
}

/* What was made is what is used. */
static enum hbg_status check(const struct hbg__definition *d, struct hbg_error *error)
{
    if (hbg__hash_bytes(d->head, d->head->image_bytes, 0) != d->image_hash)
        return hbg__error_set(error, HBG_E_IMAGE, d->key.name, "the definition of subgraph \"%.60s\" has changed since it was recorded: something wrote where it must not", d->key.name);
#ifdef HBG_DEBUG
    return hbg_image_verify(d->head, d->head->image_bytes, error);
#else
    return HBG_OK;
#endif
}

enum hbg_status hbg__run_upload_definitions(struct hbg__run *run, struct hbg_error *error)
{
    const struct hbg__recording *r = &run->kept->recording;
    enum hbg_status status = HBG_OK;
    if (!(r->head->flags & HBG__IMAGE_SUBGRAPHS)) return HBG_OK;
    pthread_mutex_lock(&run->device->definitions.lock);
    for (uint32_t i = 0; i < r->named_count && !status; i++) {
        struct hbg__definition *d = r->named[i].definition;
        if (!d || d->device_image) continue;
        status = check(d, error);
        if (status) continue;
        status = upload(run, d);
        if (status) hbg__error_set(error, status, d->key.name, "the definition of subgraph \"%.60s\" did not reach the device: %s", d->key.name, hbg_status_text(status));
    }
    pthread_mutex_unlock(&run->device->definitions.lock);
    return status;
}

/* The device closes: what runs may have used there goes; definitions themselves stay until nobody names them. */
void hbg__definitions_forget_memory(struct hbg_device *device)
{
    pthread_mutex_lock(&device->definitions.lock);
    for (struct hbg__definition *d = device->definitions.newest; d; d = d->older) hbg__definition_forget(device, d);
    for (struct hbg__definition_chunk *chunk = device->definition_chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        device->ops->memory_free(device->platform, chunk->address, chunk->size_bytes);
        HBG__DELETE(&device->memory, chunk);
    }
    device->definition_chunks = NULL;
    pthread_mutex_unlock(&device->definitions.lock);
}
