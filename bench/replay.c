/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - what subgraphs cost: a submission, a node that is recorded, a prepare with known, unknown and no definitions, the device.
 *
 *     submission, =64, =256    ns a submission inside the build function: a key that is known, 8 or so many boundary values, each of a
 *                              device buffer of its own but for one bound scalar, one of them inout; the lists are filled before
 *     node                     ns a task inside the build function, of a body of 1,000 under a key that is new each time
 *     shape=.. first           ns of hbg_run_prepare, discrete memory: all keys are new
 *     shape=.. warm            all are known; the build function is called, and compared with the last build ("hbg") or made ("hbg, made")
 *     shape=.. program         the program is pure: nothing is built
 *     shape=.. plain           the build function submits the same tasks one by one, from the start
 *     device node, plain       ns a task of shape=qwen3 on the device, as replayed bodies and one by one, kernels empty; and the ratio of
 *                              two such runs one after the other
 *     tail                     ns that a layer of shape=qwen3 takes longer as a body, kernels of 1 to 2 us: two runs one after the other
 */
#include <string.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/run_mode.h"
#include "workloads/shapes/replay_shapes.h"

enum { VALUES_MAX = 256, SETS = 16, CELL = 16, WORKERS_MAX = 2 };

/* A device with buffers, and what its cases run on it. */
struct stage {
    struct hbg_device *device;
    struct hbg_buffer *buffer[VALUES_MAX];
};

/* A case, with one program or with two that are run one after the other. */
struct replay_case {
    struct hbg_program *program, *plain;
    struct hbg_arg arg[VALUES_MAX];
    struct hbg_arg_list list;
    uint32_t units;                     /* tasks, submissions or layers of a run */
    bool is_new;                        /* each run has keys of its own */
    uint32_t serial, turn;
    uint64_t elapsed_ns, plain_ns;      /* inside the build function; the device's of the run of `plain` */
};

static uint32_t last_serial;

static void next_run(struct replay_case *r)
{
    if (r->is_new) r->serial = ++last_serial;
    r->arg[0] = hbg_i32((int32_t)(r->arg[0].u.bits + 1) & 63);     /* the position: it is bound, and no guard */
}

/* ---- kernels of 1 to 2 us, on the shapes ---- */

/* for as many nanoseconds as the table says */
static int spin(const struct hbg_task_view *t)
{
    uint64_t end_ns = hbg__clock_ns() + *(const uint64_t *)t->user;
    while (hbg__clock_ns() < end_ns) continue;
    return 0;
}

static const uint64_t short_ns = 1000, middle_ns = 1500, long_ns = 2000;
#define SLOW(place, text, expected)                                                                                                      \
    { .id = (place), .name = (text), .run = spin, .signature = (expected),                                                               \
      .user = (place) == REPLAY_ATTEND ? &long_ns : (place) == REPLAY_PROJECT ? &middle_ns : &short_ns },
static const struct hbg_kernel slow_kernels[REPLAY_KERNELS] = { REPLAY_EACH_KERNEL(SLOW) };

/* ---- inside the build function ---- */

static int update(const struct hbg_task_view *t)
{
    (void)t;
    return 0;
}

static const struct hbg_kernel update_kernels[] = { HBG_KERNEL(0, update, "inout f32, in f32, i32") };

static void small_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 1)), hbg_in(hbg_args_region(args, 2)), hbg_args_scalar(args, 0));
}

struct submissions { uint64_t *elapsed_ns; uint32_t values, count; };

static void build_submissions(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static struct hbg_arg sets[SETS][VALUES_MAX];
    const struct submissions *p = params;
    const struct hbg_key key = HBG_KEY("small", p->values);
    for (uint32_t m = 0; m < SETS; m++) {
        sets[m][0] = hbg_args_scalar(args, 0);
        for (uint32_t i = 1; i < p->values; i++) {
            struct hbg_region cell = hbg_cell(hbg_args_region(args, (int)i), HBG_SHAPE(CELL), HBG_SHAPE(m));
            sets[m][i] = i == 1 ? hbg_inout(cell) : hbg_in(cell);
        }
    }
    uint64_t begin = hbg__clock_ns();
    for (uint32_t i = 0; i < p->count; i++) hbg_subgraph(g, key, small_body, (struct hbg_arg_list){ sets[i % SETS], p->values });
    *p->elapsed_ns = hbg__clock_ns() - begin;
}

struct clocked { struct replay_params shape; uint64_t *elapsed_ns; };

static void build_clocked(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct clocked *p = params;
    uint64_t begin = hbg__clock_ns();
    hbg__replay_build(g, args, &p->shape);
    *p->elapsed_ns = hbg__clock_ns() - begin;
}

/* Built, and dropped before its launch. */
static enum hbg_status run_build(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct replay_case *r = c->of;
    struct hbg_run run;
    next_run(r);
    enum hbg_status status = hbg_run_prepare(r->program, r->list, NULL, &run);
    if (status) return status;
    status = hbg_run_cancel(run);
    enum hbg_status end = hbg_run_finish(run, NULL);
    *ns = r->elapsed_ns;
    *units = r->units;
    return status ? status : end == HBG_E_CANCELLED ? HBG_OK : end;
}

/* ---- prepare ---- */

static enum hbg_status run_prepare(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct replay_case *r = c->of;
    struct hbg_run run;
    next_run(r);
    uint64_t begin = hbg__clock_ns();
    enum hbg_status status = hbg_run_prepare(r->program, r->list, NULL, &run);
    *ns = hbg__clock_ns() - begin;
    *units = 1;
    if (status) return status;
    status = hbg_run_launch(run);
    if (!status) status = hbg_run_wait(run, HBG_FOREVER);
    enum hbg_status end = hbg_run_finish(run, NULL);
    return status ? status : end;
}

/* ---- the device ---- */

static enum hbg_status run_device(struct replay_case *r, struct hbg_program *program, uint64_t *ns)
{
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(program, r->list, &result);
    *ns = result.device_ns;
    return status;
}

static enum hbg_status run_one(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct replay_case *r = c->of;
    *units = r->units;
    next_run(r);
    return run_device(r, r->program, ns);
}

/* Both, one after the other; every second time the plain one first. */
static enum hbg_status run_both(struct replay_case *r, uint64_t *ns)
{
    bool plain_first = r->turn++ % 2;
    next_run(r);
    enum hbg_status status = plain_first ? run_device(r, r->plain, &r->plain_ns) : run_device(r, r->program, ns);
    if (status) return status;
    return plain_first ? run_device(r, r->program, ns) : run_device(r, r->plain, &r->plain_ns);
}

static enum hbg_status run_ratio(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct replay_case *r = c->of;
    enum hbg_status status = run_both(r, ns);
    *units = r->plain_ns;
    return status;
}

static enum hbg_status run_difference(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct replay_case *r = c->of;
    *units = r->units;
    return run_both(r, ns);
}

/* ---- what the cases stand on ---- */

static bool open_stage(struct bench *b, struct stage *s, const char *device)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    options.error = &b->error;
    *s = (struct stage){ .device = NULL };
    enum hbg_status status = hbg_device_open(device, &options, &s->device);
    return status == HBG_OK || hbg__bench_fail(b, device, status);
}

static bool close_stage(struct bench *b, struct stage *s)
{
    for (uint32_t i = 0; i < VALUES_MAX; i++) hbg_buffer_destroy(s->buffer[i]);
    enum hbg_status status = s->device ? hbg_device_close(s->device) : HBG_OK;
    return status == HBG_OK || hbg__bench_fail(b, "the end of the device", status);
}

static struct hbg_region buffer_of(struct stage *s, uint32_t i, enum hbg_dtype dtype, struct hbg_shape extent, enum hbg_status *status)
{
    int64_t size_bytes = hbg_dtype_size(dtype);
    for (int d = 0; d < extent.rank; d++) size_bytes *= extent.dim[d];
    if (!*status && !s->buffer[i]) *status = hbg_buffer_create(s->device, (size_t)size_bytes, &s->buffer[i]);
    return hbg_buffer_region(s->buffer[i], 0, dtype, extent);
}

/* Arguments of the shapes, which all cases of a stage share the buffers of. */
static enum hbg_status shape_args(struct stage *s, struct replay_case *r)
{
    enum hbg_status status = HBG_OK;
    for (uint32_t i = 0; i < REPLAY_BUFFERS; i++) {
        const struct replay_tensor *t = hbg__replay_tensor(i);
        struct hbg_region x = buffer_of(s, i, t->dtype, t->extent, &status);
        r->arg[1 + i] = t->access == HBG_ARG_IN ? hbg_in(x) : t->access == HBG_ARG_OUT ? hbg_out(x) : hbg_inout(x);
    }
    r->arg[0] = hbg_i32(0);
    r->list = (struct hbg_arg_list){ r->arg, REPLAY_ARGS };
    return status;
}

static bool create(struct bench *b, struct stage *s, struct hbg_program_options *o, struct hbg_program **program)
{
    o->error = &b->error;
    enum hbg_status status = hbg_program_create(s->device, o, program);
    return status == HBG_OK || hbg__bench_fail(b, o->name, status);
}

static bool open_shape(struct bench *b, struct stage *s, struct replay_case *r, enum replay_shape_id id, const struct hbg_kernel *kernels, bool plain, enum bench_mode mode,
                       struct hbg_program **program)
{
    struct clocked params = { { id, plain, &r->serial }, &r->elapsed_ns };
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    enum hbg_status status = shape_args(s, r);
    if (status) return hbg__bench_fail(b, "a buffer", status);
    o.name = "replay";
    o.build = build_clocked;
    o.params = &params;
    o.params_size = sizeof params;
    o.kernels = kernels;
    o.kernel_count = REPLAY_KERNELS;
    o.pure_build = mode == BENCH_AGAIN;
    o.no_compare = mode == BENCH_MADE;
    return create(b, s, &o, program);
}

static bool open_submissions(struct bench *b, struct stage *s, struct replay_case *r, uint32_t values, bool made)
{
    struct submissions params = { &r->elapsed_ns, values, 8000 / values };
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    enum hbg_status status = HBG_OK;
    for (uint32_t i = 1; i < values; i++) r->arg[i] = hbg_inout(buffer_of(s, i, HBG_F32, HBG_SHAPE(SETS * CELL), &status));
    if (status) return hbg__bench_fail(b, "a buffer", status);
    r->arg[0] = hbg_i32(0);
    r->list = (struct hbg_arg_list){ r->arg, values };
    r->units = params.count;
    o.name = "submissions";
    o.build = build_submissions;
    o.params = &params;
    o.params_size = sizeof params;
    o.kernels = update_kernels;
    o.kernel_count = 1;
    o.no_compare = made;
    return create(b, s, &o, &r->program);
}

/* ---- the cases ---- */

enum { SUBMISSIONS = 3, WAYS = 5, SHAPES = 2, ON_DEVICE = 4, CASES = 2 * SUBMISSIONS + 1 + SHAPES * WAYS + WORKERS_MAX * ON_DEVICE };
struct work { struct stage values, build, prepare, device[WORKERS_MAX]; struct replay_case made[CASES]; uint32_t count; };

static bool add_builds(struct bench *b, struct work *w)
{
    static const struct { const char *name; uint32_t values; } submissions[SUBMISSIONS] = { { "submission", 8 }, { "submission=64", 64 }, { "submission=256", 256 } };
    for (uint32_t i = 0; i < 2 * SUBMISSIONS; i++) {
        struct replay_case *r = &w->made[w->count];
        bool from_start = i % 2;
        if (!hbg__bench_wants(b, submissions[i / 2].name)) continue;
        w->count++;
        if (!open_submissions(b, &w->values, r, submissions[i / 2].values, from_start)) return false;
        hbg__bench_add_way(b, submissions[i / 2].name, from_start, "ns", 1, run_build, r);
    }
    if (!hbg__bench_wants(b, "node")) return true;
    struct replay_case *r = &w->made[w->count++];
    r->units = hbg__replay_tasks(REPLAY_BODY_OF_1000);
    r->is_new = true;
    hbg__bench_add(b, "node", "ns", 1, run_build, r);
    return open_shape(b, &w->build, r, REPLAY_BODY_OF_1000, hbg__replay_kernels, false, BENCH_ANEW, &r->program);
}

static bool add_prepares(struct bench *b, struct work *w)
{
    static const char *const shape[SHAPES] = { [REPLAY_QWEN3] = "qwen3", [REPLAY_DSV4] = "dsv4" };
    static const struct { const char *name; bool is_new, plain; enum bench_mode mode; } ways[WAYS] = {
        { "first", true, false, BENCH_ANEW }, { "warm", false, false, BENCH_ANEW }, { "warm", false, false, BENCH_MADE },
        { "program", false, false, BENCH_AGAIN }, { "plain", false, true, BENCH_MADE }
    };
    for (uint32_t i = 0; i < SHAPES * WAYS; i++) {
        struct replay_case *r = &w->made[w->count];
        char name[32];
        snprintf(name, sizeof name, "shape=%s %s", shape[i / WAYS], ways[i % WAYS].name);
        if (!hbg__bench_wants(b, name)) continue;
        w->count++;
        r->is_new = ways[i % WAYS].is_new;
        if (!open_shape(b, &w->prepare, r, (enum replay_shape_id)(i / WAYS), hbg__replay_kernels, ways[i % WAYS].plain, ways[i % WAYS].mode, &r->program)) return false;
        hbg__bench_add_way(b, name, ways[i % WAYS].mode == BENCH_MADE && !ways[i % WAYS].plain, "ns", 1, run_prepare, r);
    }
    return true;
}

static bool add_device(struct bench *b, struct work *w, uint32_t workers)
{
    static const struct { const char *name; bench_run_fn *run; bool replayed, plain, slow; } cases[ON_DEVICE] = {
        { "device node", run_one, true, false, false }, { "device plain", run_one, false, true, false }, { "device node / plain", run_ratio, true, true, false },
        { "tail", run_difference, true, true, true }
    };
    struct stage *s = &w->device[workers - 1];
    for (uint32_t i = 0; i < ON_DEVICE; i++) {
        struct replay_case *r = &w->made[w->count];
        const struct hbg_kernel *kernels = cases[i].slow ? slow_kernels : hbg__replay_kernels;
        struct hbg_program **plain = cases[i].replayed ? &r->plain : &r->program;
        if (!hbg__bench_wants(b, cases[i].name) || (cases[i].slow && workers < WORKERS_MAX)) continue;
        w->count++;
        r->units = cases[i].slow ? hbg__replay_layers(REPLAY_QWEN3) : hbg__replay_tasks(REPLAY_QWEN3);
        if (cases[i].replayed && !open_shape(b, s, r, REPLAY_QWEN3, kernels, false, BENCH_AGAIN, &r->program)) return false;
        if (cases[i].plain && !open_shape(b, s, r, REPLAY_QWEN3, kernels, true, BENCH_AGAIN, plain)) return false;
        struct bench_case *c = hbg__bench_add(b, cases[i].name, cases[i].run == run_ratio ? "ratio" : "ns", workers, cases[i].run, r);
        if (cases[i].run == run_difference) c->minus_ns = &r->plain_ns;
    }
    return true;
}

bool hbg__bench_replay(struct bench *b)
{
    static const char *const device[WORKERS_MAX] = { "cpu:workers=1,memory=unified", "cpu:workers=2,memory=unified" };
    static struct work work;
    struct work *w = &work;
    memset(w, 0, sizeof *w);
    bool good = open_stage(b, &w->values, device[0]) && open_stage(b, &w->build, device[0]) && open_stage(b, &w->prepare, "cpu:workers=1,memory=discrete");
    good = good && add_builds(b, w) && add_prepares(b, w);
    for (uint32_t i = 0; i < WORKERS_MAX && good; i++) good = open_stage(b, &w->device[i], device[i]) && add_device(b, w, i + 1);
    if (good) good = hbg__bench_measure(b);
    while (w->count > 0) {
        hbg_program_destroy(w->made[--w->count].program);
        hbg_program_destroy(w->made[w->count].plain);
    }
    for (uint32_t i = 0; i < WORKERS_MAX; i++) good = close_stage(b, &w->device[i]) && good;
    good = close_stage(b, &w->values) && good;
    good = close_stage(b, &w->build) && good;
    return close_stage(b, &w->prepare) && good;
}
