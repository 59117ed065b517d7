/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - which image a run executes: one of the program's recordings, or what its build function makes now.
 *
 *   pure program, guards hold          replay: nothing is built
 *   pure program, no guards hold       build into the recording unused for longest, and keep it
 *   they missed 8 times in a row       as below, until a boundary of other shapes comes
 *   build function not pure            build into the slot's own arena, which the next such build overwrites
 *
 * Where all recordings are in use, a pure build goes to the slot's arena as well and is not kept. HBG_VERIFY_REPLAY=n makes one
 * of n replays build again beside the recording, its bodies too, and compares the two images byte by byte.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hbg/image.h>

#include "base/error.h"
#include "base/hash.h"
#include "graph/turn.h"
#include "run/run.h"

static bool is_used(struct hbg__kept *kept)
{
    /* K2 acquire, pairs with K1 in leave(): whoever used the recording is done with it. */
    return hbg__load_acquire32(&kept->users) != 0;
}

static void use(struct hbg__kept *kept)
{
    hbg__fetch_add_relaxed32(&kept->users, 1);      /* relaxed: the program lock orders it against a take-over */
}

static void leave(struct hbg__kept *kept)
{
    /* K1 acq_rel, pairs with K2 in is_used(): what this run read of the recording. */
    hbg__fetch_add_acq_rel32(&kept->users, (uint32_t)-1);
}

static struct hbg__buffer_ops buffer_ops(struct hbg__run *run)
{
    struct hbg__buffer_ops buffers = hbg__device_buffer_ops(run->device);
    buffers.reader = run->device->depth > 1 ? run : NULL;
    return buffers;
}

/* Of kinds, types, shapes and strides. */
static uint64_t shapes_of(const struct hbg__run *run)
{
    uint64_t hash = run->arg_count;
    for (uint32_t i = 0; i < run->arg_count; i++) {
        const struct hbg_arg *arg = &run->arg[i].arg;
        const struct hbg_region *r = &arg->u.region;
        bool region = hbg__arg_is_region(arg);
        hash = hbg__hash_join(hash, (uint64_t)arg->kind | (uint64_t)(region ? r->dtype : arg->dtype) << 16);
        if (!region) continue;
        hash = hbg__hash_bytes(r->shape, (size_t)r->rank * sizeof *r->shape, hash);
        hash = hbg__hash_bytes(r->stride_bytes, (size_t)r->rank * sizeof *r->stride_bytes, hash);
    }
    return hash;
}

/* Nothing fitted. program->lock is held. */
static void count_miss(struct hbg__run *run)
{
    struct hbg_program *program = run->program;
    uint64_t shapes = shapes_of(run);
    program->misses = shapes == program->missed_shapes ? program->misses + 1 : 1;
    program->missed_shapes = shapes;
    hbg__count(&run->device->counters.replay_misses, 1);
}

/* Is it not worth while to record what is built for this boundary? */
static bool has_given_up(struct hbg__run *run)
{
    struct hbg_program *program = run->program;
    pthread_mutex_lock(&program->lock);
    bool given_up = program->misses >= HBG__MISSES_MAX && shapes_of(run) == program->missed_shapes;
    pthread_mutex_unlock(&program->lock);
    if (given_up) snprintf(run->why, sizeof run->why, "%d misses in a row: not recorded for these shapes", HBG__MISSES_MAX);
    return given_up;
}

/* A recording whose guards hold, with one more user. NULL: none, or *busy is to be settled before one can say. program->lock is held. */
static struct hbg__kept *find_kept(struct hbg__run *run, struct hbg__busy *busy)
{
    struct hbg_program *program = run->program;
    struct hbg__boundary boundary = hbg__run_boundary(run);
    struct hbg__buffer_ops buffers = buffer_ops(run);
    struct hbg__miss first = { .arg = HBG__NO_ARG };
    for (int i = 0; i < HBG__KEPT_MAX; i++) {
        struct hbg__kept *kept = &program->kept[i];
        struct hbg__miss miss;
        if (!kept->ready) continue;
        if (hbg__recording_holds(&kept->recording, &boundary, &buffers, &miss)) {
            kept->last_use = ++program->turn;
            program->misses = 0;
            use(kept);
            return kept;
        }
        *busy = miss.busy;
        if (busy->buffer || busy->memory) return NULL;
        if (!first.what) first = miss;
    }
    if (first.what) {
        if (first.arg == HBG__NO_ARG) snprintf(run->why, sizeof run->why, "%s", first.what);
        else snprintf(run->why, sizeof run->why, "argument %" PRIu32 ": %s", first.arg, first.what);
        count_miss(run);
    }
    return NULL;
}

/* What the guards look at may be about to change: wait for that without the lock, which a run that has to end may need. */
static enum hbg_status find_settled(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_program *program = run->program;
    enum hbg_status status = HBG_OK;
    struct hbg__busy busy;
    do {
        busy = (struct hbg__busy){ .buffer = NULL };
        pthread_mutex_lock(&program->lock);
        run->kept = find_kept(run, &busy);
        pthread_mutex_unlock(&program->lock);
        if (busy.buffer || busy.memory) status = hbg__run_settle(run, busy.buffer, busy.memory, busy.size_bytes, true, error);
    } while (!status && (busy.buffer || busy.memory));
    return status;
}

/* A recording to build into, with this run as its only user; NULL: all are in use. program->lock is held. */
static struct hbg__kept *take_kept(struct hbg_program *program)
{
    struct hbg__kept *oldest = NULL;
    for (int i = 0; i < HBG__KEPT_MAX; i++) {
        struct hbg__kept *kept = &program->kept[i];
        if (is_used(kept) || (oldest && kept->last_use >= oldest->last_use)) continue;
        oldest = kept;
    }
    if (!oldest) return NULL;
    oldest->ready = false;
    oldest->last_use = ++program->turn;
    use(oldest);
    return oldest;
}

/* The arena is handed in open and empty of meaning; its warm pages are kept from build to build. */
static enum hbg_status open_arena(struct hbg__run *run, struct hbg__kept *kept, struct hbg_error *error)
{
    struct hbg__buffer_ops buffers = hbg__device_buffer_ops(run->device);
    hbg__recording_reset(&kept->recording, &buffers);
    kept->device_image = 0;
    kept->summed = false;
    if (!kept->recording.arena.origin && !hbg__arena_open(&kept->recording.arena, run->device->reserve_bytes, true))
        return hbg__error_no_memory(error, "address space of an image", run->device->reserve_bytes ? run->device->reserve_bytes : hbg__arena_default_reserve());
    if (run->device->properties.poison) hbg__poison_arena(&kept->recording.arena);
    return HBG_OK;
}

static void count_bodies(struct hbg_device *device, const struct hbg__recording *r)
{
    struct hbg__counter_set *c = &device->counters;
    struct hbg__atomic_u64 *missed[HBG__BODY_MISSES] = { &c->subgraph_misses_shape, &c->subgraph_misses_alias, &c->subgraph_misses_value, &c->subgraph_misses_data };
    if (r->bodies_recorded) hbg__count(&c->subgraphs_recorded, r->bodies_recorded);
    if (r->bodies_replayed) hbg__count(&c->subgraphs_replayed, r->bodies_replayed);
    if (r->bodies_in_place) hbg__count(&c->subgraphs_in_place, r->bodies_in_place);
    for (int i = 0; i < HBG__BODY_MISSES; i++)
        if (r->bodies_missed[i]) hbg__count(missed[i], r->bodies_missed[i]);
}

/* A build from the start; one that is recorded with its guards; one that may be compared with the last; one that a replay is compared with, whose bodies are verified too. */
enum way { MAKE, RECORD, COMPARE, VERIFY };

static enum hbg_status build_into(struct hbg__run *run, struct hbg__kept *kept, enum way way, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    struct hbg_program *program = run->program;
    enum hbg_status status = open_arena(run, kept, error);
    if (status) return status;
    if (!run->graph) {
        status = hbg__graph_create(&device->memory, device->reserve_bytes, &run->graph);
        if (status) return hbg__error_set(error, status, "build state", "the build state cannot be made: %s", hbg_status_text(status));
    }
    struct hbg__build_input input = {
        .build = program->build, .params = program->params, .kernels = program->kernels, .signatures = program->signatures,
        .kernel_count = program->kernel_count, .limit_tasks = program->limit_tasks, .limit_heap_bytes = device->limit_heap_bytes,
        .heap_reuse_after_bytes = device->heap_reuse_after_bytes, .record = way == RECORD, .repeats = way == COMPARE && !device->properties.poison, .boundary = hbg__run_boundary(run),
        .buffers = buffer_ops(run), .definitions = &device->definitions, .verify_every = way == VERIFY ? 1 : device->verify_replay, .verify_count = &device->bodies_seen,
        .poison = device->properties.poison ? hbg__poison_arena : NULL, .log = &device->log, .owner = program->number,
        .kernel_set = program->kernel_set };
    uint64_t growths = hbg__graph_growths(run->graph) + kept->recording.arena.growths;
    status = hbg__graph_build(run->graph, &input, &kept->recording, error);
    hbg__count(&device->counters.growths, hbg__graph_growths(run->graph) + kept->recording.arena.growths - growths);
    hbg__count(&device->counters.builds, 1);
    if (status) return status;
    if (kept->recording.is_repeated) hbg__count(&device->counters.builds_repeated, 1);
    hbg__count(&device->counters.reuse_edges, kept->recording.reuse_edges);
    count_bodies(device, &kept->recording);
#ifdef HBG_DEBUG
    status = hbg_image_verify(kept->recording.head, kept->recording.image_bytes, error);
#endif
    return status;
}

static enum hbg_status build(struct hbg__run *run, bool record, struct hbg_error *error)
{
    struct hbg_program *program = run->program;
    struct hbg__kept *kept = NULL;
    if (record) {
        pthread_mutex_lock(&program->lock);
        kept = take_kept(program);
        pthread_mutex_unlock(&program->lock);
    }
    if (!kept) {
        kept = &run->scratch;
        use(kept);
    }
    uint64_t waited_ns = run->times.waited_ns;
    run->times.build_begin = hbg__device_now_ns(run->device);
    enum hbg_status status = build_into(run, kept, kept != &run->scratch ? RECORD : program->no_compare ? MAKE : COMPARE, error);
    run->times.build_end = hbg__device_now_ns(run->device);
    run->times.build_waited_ns = run->times.waited_ns - waited_ns;
    if (status) leave(kept);
    else run->kept = kept;
    return status;
}

void hbg__run_publish(struct hbg__run *run)
{
    if (run->replayed || run->kept == &run->scratch) return;
    pthread_mutex_lock(&run->program->lock);
    run->kept->ready = true;
    pthread_mutex_unlock(&run->program->lock);
}

/* Equal images may still be of other buffers, or submit bodies of other keys. */
static enum hbg_status verify_names(struct hbg__run *run, const struct hbg__recording *kept, const struct hbg__recording *fresh, struct hbg_error *error)
{
    if (hbg__name_the_same(kept->named, kept->named_count, fresh->named, fresh->named_count)) return HBG_OK;
    hbg__log_write(&run->device->log, HBG_LOG_ERROR, "hbg: program \"%.60s\" is not pure: a replay verified by HBG_VERIFY_REPLAY names other buffers, or subgraphs of other keys", run->program->name);
    return hbg__error_set(error, HBG_E_IMAGE, run->program->name,
                          "program \"%.60s\" is declared pure, but building again names other device buffers, or submits subgraphs of other keys", run->program->name);
}

/* The same boundary must give the same bytes; the place of the first difference is named otherwise. */
static enum hbg_status verify_replay(struct hbg__run *run, struct hbg_error *error)
{
    const struct hbg__recording *kept = &run->kept->recording, *fresh = &run->scratch.recording;
    if (hbg__depends_on_store(kept)) return HBG_OK;
    enum hbg_status status = build_into(run, &run->scratch, VERIFY, error);
    if (status) return status;
    const unsigned char *a = (const unsigned char *)kept->head, *b = (const unsigned char *)fresh->head;
    uint64_t size = kept->image_bytes < fresh->image_bytes ? kept->image_bytes : fresh->image_bytes, at = 0;
    while (at < size && a[at] == b[at]) at++;
    if (at == size && kept->image_bytes == fresh->image_bytes) return verify_names(run, kept, fresh, error);
    hbg__log_write(&run->device->log, HBG_LOG_ERROR, "hbg: program \"%.60s\" is not pure: a replay verified by HBG_VERIFY_REPLAY differs at byte %" PRIu64, run->program->name, at);
    return hbg__error_set(error, HBG_E_IMAGE, run->program->name,
                          "program \"%.60s\" is declared pure, but building again gives another image: %" PRIu64 " bytes against %" PRIu64 ", different from byte %" PRIu64,
                          run->program->name, fresh->image_bytes, kept->image_bytes, at);
}

enum hbg_status hbg__run_record(struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_program *program = run->program;
    run->why[0] = '\0';
    run->replayed = false;
    bool record = program->pure && !has_given_up(run);
    enum hbg_status status = record ? find_settled(run, error) : HBG_OK;
    if (status) return status;
    run->replayed = record && run->kept != NULL;
    if (!run->replayed) return build(run, record, error);
    hbg__count(&run->device->counters.replays, 1);
    if (!hbg__turn_comes(&run->device->replays_seen, run->device->verify_replay)) return HBG_OK;
    status = verify_replay(run, error);
    if (status) hbg__run_unrecord(run);
    return status;
}

void hbg__run_distrust(struct hbg__run *run)
{
    pthread_mutex_lock(&run->program->lock);
    run->kept->ready = false;
    pthread_mutex_unlock(&run->program->lock);
}

/* Buffers that a build into the slot's arena named are dropped here, where no lock is held: the last holder frees a buffer. */
void hbg__run_unrecord(struct hbg__run *run)
{
    struct hbg__buffer_ops buffers = hbg__device_buffer_ops(run->device);
    if (run->kept) leave(run->kept);
    run->kept = NULL;
    run->level_count = 0;
    hbg__recording_reset(&run->scratch.recording, &buffers);
}
