/* SPDX-License-Identifier: Apache-2.0 */
/* copy_engine.c - see copy_engine.h. */
#include "platform/cpu/copy_engine.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "platform/cpu/thread.h"

enum { RING = 1024, AT_ONCE_BYTES = 32 << 10, STACK_BYTES = 256 << 10 };

struct job {
    struct hbg__copies *copies;
    void *target;
    const void *source;
    uint64_t size_bytes;
};

struct hbg__copy_engine {
    struct hbg__memory *memory;
    void (*drained)(void *user);
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, progress;      /* a job, or the end; a job less */
    uint32_t first, count;
    bool closing;
    struct job job[RING];
};

/* The oldest job, which stays in the ring until it is done. The lock is held. False: the engine closes. */
static bool wait_for_job(struct hbg__copy_engine *engine, struct job *job)
{
    while (engine->count == 0 && !engine->closing) pthread_cond_wait(&engine->work, &engine->lock);
    if (engine->count == 0) return false;
    *job = engine->job[engine->first];
    return true;
}

static void *hbg__copy_engine_main(void *argument)
{
    struct hbg__copy_engine *engine = argument;
    struct job job;
    pthread_setname_np(pthread_self(), "hbg-copy");
    pthread_mutex_lock(&engine->lock);
    while (wait_for_job(engine, &job)) {
        pthread_mutex_unlock(&engine->lock);
        memcpy(job.target, job.source, job.size_bytes);
        pthread_mutex_lock(&engine->lock);
        engine->first = (engine->first + 1) % RING;
        engine->count--;
        /* Y1 acq_rel, pairs with Y2 in hbg__copies_pending(): what was copied. */
        bool drained = hbg__fetch_add_acq_rel32(&job.copies->pending, (uint32_t)-1) == 1;
        pthread_cond_broadcast(&engine->progress);
        if (!drained) continue;
        pthread_mutex_unlock(&engine->lock);
        engine->drained(engine->user);
        pthread_mutex_lock(&engine->lock);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

static void free_engine(struct hbg__copy_engine *engine)
{
    pthread_cond_destroy(&engine->work);
    pthread_cond_destroy(&engine->progress);
    pthread_mutex_destroy(&engine->lock);
    HBG__DELETE(engine->memory, engine);
}

enum hbg_status hbg__copy_engine_create(struct hbg__memory *memory, void (*drained)(void *user), void *user,
                                        struct hbg__copy_engine **engine, struct hbg_error *error)
{
    struct hbg__copy_engine *made = HBG__NEW(memory, struct hbg__copy_engine);
    if (!made) return hbg__error_no_memory(error, "copy engine", sizeof *made);
    made->memory = memory;
    made->drained = drained;
    made->user = user;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work, NULL);
    pthread_cond_init(&made->progress, NULL);
    int status = hbg__thread_start(&made->thread, STACK_BYTES, hbg__copy_engine_main, made);
    if (status != 0) {
        free_engine(made);
        return hbg__error_set(error, HBG_E_DEVICE, "copy engine", "the thread of the copy engine cannot be made: %s", strerror(status));
    }
    *engine = made;
    return HBG_OK;
}

void hbg__copy_engine_destroy(struct hbg__copy_engine *engine)
{
    if (!engine) return;
    pthread_mutex_lock(&engine->lock);
    engine->closing = true;
    pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&engine->lock);
    pthread_join(engine->thread, NULL);
    free_engine(engine);
}

void hbg__copy_engine_copy(struct hbg__copy_engine *engine, struct hbg__copies *copies, void *target, const void *source, uint64_t size_bytes)
{
    if (!engine || (size_bytes <= AT_ONCE_BYTES && !hbg__copies_pending(copies))) {
        memcpy(target, source, size_bytes);
        return;
    }
    pthread_mutex_lock(&engine->lock);
    while (engine->count == RING) pthread_cond_wait(&engine->progress, &engine->lock);
    engine->job[(engine->first + engine->count++) % RING] = (struct job){ copies, target, source, size_bytes };
    hbg__fetch_add_relaxed32(&copies->pending, 1);      /* relaxed: this thread launches what needs the copy, if anybody does */
    pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&engine->lock);
}

void hbg__copy_engine_sync(struct hbg__copy_engine *engine, const struct hbg__copies *copies)
{
    if (!hbg__copies_pending(copies)) return;
    pthread_mutex_lock(&engine->lock);
    while (hbg__copies_pending(copies)) pthread_cond_wait(&engine->progress, &engine->lock);
    pthread_mutex_unlock(&engine->lock);
}
