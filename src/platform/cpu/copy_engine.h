/* SPDX-License-Identifier: Apache-2.0 */
/* copy_engine.h - a thread that copies for the host, so that the upload of one run and the work of another overlap.
 *
 * Copies of one stream are made in order. A small one, on a stream that has none on its way, is made by the caller at once: it
 * costs less than to wake a thread. All others wait in one ring; where that is full, the caller waits.
 *
 *   field             written by                    read by          guarded by
 *   ring              callers, the engine           the same         lock
 *   copies.pending    callers, the engine: under    any thread       Y1 acq_rel, Y2 acquire: the bytes are where they should be
 *                     the lock
 */
#ifndef HBG_PLATFORM_CPU_COPY_ENGINE_H
#define HBG_PLATFORM_CPU_COPY_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <hbg/status.h>

#include "atomic/atomic.h"

struct hbg__copy_engine;
struct hbg__memory;

/* The copies of a stream that are on their way. */
struct hbg__copies { struct hbg__atomic_u32 pending; };

static inline bool hbg__copies_pending(const struct hbg__copies *copies)
{
    /* Y2 acquire, pairs with Y1 in hbg__copy_engine_main(): what was copied. */
    return hbg__load_acquire32(&copies->pending) != 0;
}

/* `drained` is called by the engine's thread whenever a stream has no more copies on their way.
   HBG_E_DEVICE (the thread cannot be made), HBG_E_NO_MEMORY; `error` gets the sentence. */
enum hbg_status hbg__copy_engine_create(struct hbg__memory *memory, void (*drained)(void *user), void *user,
                                        struct hbg__copy_engine **engine, struct hbg_error *error);
/* What is on its way is copied first. NULL is fine. */
void hbg__copy_engine_destroy(struct hbg__copy_engine *engine);

/* `source` and `target` stay until the copy is made. engine NULL: it is made at once. */
void hbg__copy_engine_copy(struct hbg__copy_engine *engine, struct hbg__copies *copies, void *target, const void *source, uint64_t size_bytes);

/* All copies of the stream are made. */
void hbg__copy_engine_sync(struct hbg__copy_engine *engine, const struct hbg__copies *copies);

#endif /* HBG_PLATFORM_CPU_COPY_ENGINE_H */
