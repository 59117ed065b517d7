/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - what zeroing and shipping capacity costs, beside what shipping the live prefix costs: `hbg bench model`.
 *
 *     NAME WINDOW mirror     a mirror with room for WINDOW tasks is zeroed on the host and copied whole
 *     NAME WINDOW prefix     control segments with room for WINDOW tasks are zeroed and copied whole, of the payload what the tasks use
 *     NAME WINDOW bounded    every segment as far as the tasks use it, no host-only block; the queues are initialised and copied whole
 *     NAME hbg               hbg_run_prepare of the workload, its build function included, warm and verified
 *     NAME replay            the same where the guards hold
 *     NAME device, bind share    the device's part of a run, and the share of prepare in a whole one, of `NAME hbg`
 *
 * The first three are a model of hosts that keep a mirror of the device's tables; they move bytes by the public calls on a buffer of
 * a discrete device, and none of it is in the library. A mirror has as many bytes a task as that of the field's public peer, whose
 * figures docs/experiments puts beside these. Building the graph is not in the first three.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "tools/cli.h"
#include "tools/inputs.h"
#include "tools/run.h"
#include "workloads/workloads.h"

enum { TASK_BYTES = 4960, CONTROL_BYTES = TASK_BYTES * 3 / 100, HOST_ONLY_BYTES = 32, QUEUES = 7, QUEUE_ENTRIES = 65536, QUEUE_BYTES = QUEUES * QUEUE_ENTRIES * 8 };
enum { WINDOWS = 2, WORKLOADS = 2, KINDS = 3, SAMPLES = 5, ROUNDS = 20 };

static const uint64_t windows[WINDOWS] = { 16384, 131072 };
static const char *const kinds[KINDS] = { "mirror", "prefix", "bounded" };

/* Workloads of fewer tasks than the smaller window has room for, small enough that what is between the tasks counts. */
static const struct {
    const struct hbg_workload *workload;
    const char *name;
    const char *const *assignment;
    size_t count;
} works[WORKLOADS] = {
    { &hbg__bgemm_workload, "bgemm", (const char *const[]){ "task_num=2000", "tile=16", "loop=1" }, 3 },
    { &hbg__paged_attention_workload, "paged", (const char *const[]){ "batch=15", "heads=4", "kv_heads=4", "head_dim=16", "block_size=16", "context_len=4096" }, 6 },
};

/* What a window ships: bytes that are zeroed first, and bytes that are copied. */
struct shipment {
    struct hbg_buffer *target;
    unsigned char *mirror;
    uint64_t zeroed, copied;
    struct hbg_device *device;
    bool is_warm;                       /* the first time it goes from fresh memory to fresh memory */
};

struct model {
    struct hbg_device *device;
    struct hbg_buffer *target;
    unsigned char *mirror;
    struct shipment shipment[WORKLOADS * WINDOWS * KINDS];
    uint32_t shipment_count;
};

static enum hbg_status ship_to(const struct shipment *s, unsigned char *mirror, struct hbg_buffer *target, uint64_t *ns)
{
    uint64_t begin = hbg__clock_ns();
    memset(mirror, 0, s->zeroed);
    enum hbg_status status = hbg_buffer_write(target, 0, mirror, s->copied);
    *ns = hbg__clock_ns() - begin;
    return status;
}

/* Pages that nobody has touched, on both sides. */
static enum hbg_status ship_cold(const struct shipment *s, uint64_t *ns)
{
    uint64_t bytes = s->zeroed > s->copied ? s->zeroed : s->copied;
    struct hbg_buffer *target = NULL;
    unsigned char *mirror = malloc(bytes);
    uint64_t begin = hbg__clock_ns();
    enum hbg_status status = mirror ? hbg_buffer_create(s->device, bytes, &target) : HBG_E_NO_MEMORY;
    uint64_t created_ns = hbg__clock_ns() - begin;
    if (!status) status = ship_to(s, mirror, target, ns);
    *ns += created_ns;
    hbg_buffer_destroy(target);
    free(mirror);
    return status;
}

static enum hbg_status ship(struct bench_case *c, uint64_t *ns, uint64_t *units)
{
    struct shipment *s = c->of;
    *units = 1;
    if (s->is_warm) return ship_to(s, s->mirror, s->target, ns);
    s->is_warm = true;
    return ship_cold(s, ns);
}

static struct shipment plan(uint64_t window, uint64_t tasks, int kind)
{
    struct shipment s = { .zeroed = window * TASK_BYTES + QUEUE_BYTES, .copied = window * TASK_BYTES + QUEUE_BYTES };
    if (kind == 1) {
        s.zeroed = window * CONTROL_BYTES + QUEUE_BYTES;
        s.copied = s.zeroed + tasks * (TASK_BYTES - CONTROL_BYTES);
    }
    if (kind == 2) {
        s.zeroed = QUEUE_BYTES;
        s.copied = QUEUE_BYTES + tasks * (TASK_BYTES - HOST_ONLY_BYTES);
    }
    return s;
}

/* Memory for the larger mirror, which nobody has touched yet. False: said why. */
static bool open_model(struct bench *b, struct model *m)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    uint64_t bytes = windows[WINDOWS - 1] * TASK_BYTES + QUEUE_BYTES;
    options.error = &b->error;
    enum hbg_status status = hbg_device_open("cpu:workers=1,memory=discrete", &options, &m->device);
    if (!status) status = hbg_buffer_create(m->device, bytes, &m->target);
    if (!status && !(m->mirror = malloc(bytes))) status = HBG_E_NO_MEMORY;
    return !status || hbg__bench_fail(b, "a mirror", status);
}

static bool close_model(struct bench *b, struct model *m)
{
    hbg_buffer_destroy(m->target);
    free(m->mirror);
    enum hbg_status status = m->device ? hbg_device_close(m->device) : HBG_OK;
    return status == HBG_OK || hbg__bench_fail(b, "the end of the device", status);
}

/* ---- hbg itself ---- */

static void keep(struct bench *b, const char *work, const char *what, const char *unit, double value, double cold)
{
    char name[32];
    snprintf(name, sizeof name, "%s %s", work, what);
    if (!hbg__bench_wants(b, name)) return;
    struct bench_case *c = NULL;
    for (size_t i = 0; i < b->case_count && !c; i++)
        if (strcmp(b->cases[i].name, name) == 0) c = &b->cases[i];
    if (!c) {
        c = hbg__bench_add_beside(b, name, "hbg", unit, 1);
        c->has_cold = cold > 0;
        c->cold = cold;
    }
    c->sample[c->reps++] = value;
}

/* Some rounds on a device of its own; the median of them is a sample. False: said why. */
static bool run_rounds(struct bench *b, struct hbg_setup *s, const char *work, bool replay, uint64_t *tasks)
{
    struct run_request request = { .device = "cpu:workers=1,memory=discrete,depth=1", .rounds = ROUNDS, .warmup = 2, .verify = true, .replay = replay };
    struct run_outcome outcome = { .status = HBG_OK };
    if (!hbg__verify_prepare(s, &outcome.verdict) || !hbg__rounds_run(s, &request, &outcome)) {
        b->error = outcome.error;
        fprintf(stderr, "hbg bench: %s: %s\n", work, outcome.status ? outcome.error.text : s->text);
        return false;
    }
    const struct time_statistics *t = outcome.time;
    *tasks = outcome.tasks;
    keep(b, work, replay ? "replay" : "hbg", "ns", (double)t[TIME_bind_ns].median, (double)t[TIME_bind_ns].first);
    if (replay) return true;
    keep(b, work, "device", "ns", (double)t[TIME_device_ns].median, 0);
    keep(b, work, "bind share", "%", 100.0 * (double)t[TIME_bind_ns].median / (double)t[TIME_run_ns].median, 0);
    return true;
}

static bool run_workload(struct bench *b, int work, uint64_t *tasks)
{
    char text[256] = "";
    if (b->only && strncmp(b->only, works[work].name, strlen(works[work].name)) != 0) return true;
    struct hbg_setup *s = hbg__setup_create(works[work].workload, 1, text, sizeof text);
    bool good = s && hbg__inputs_fill(s, "bench", works[work].assignment, works[work].count) == CLI_OK;
    for (int sample = 0; good && sample < (b->quick ? 1 : SAMPLES); sample++) {
        good = run_rounds(b, s, works[work].name, false, tasks) && run_rounds(b, s, works[work].name, true, tasks);
    }
    if (!s) fprintf(stderr, "hbg bench: %s: %s\n", works[work].name, text);
    hbg__setup_destroy(s);
    return good;
}

/* ---- the bench ---- */

static void add_shipments(struct bench *b, struct model *m, int work, uint64_t tasks)
{
    for (int w = 0; w < (b->quick ? 1 : WINDOWS); w++) {
        for (int kind = 0; kind < KINDS; kind++) {
            char name[32];
            snprintf(name, sizeof name, "%s %llu %s", works[work].name, (unsigned long long)windows[w], kinds[kind]);
            if (!hbg__bench_wants(b, name)) continue;
            struct shipment *s = &m->shipment[m->shipment_count++];
            *s = plan(windows[w], tasks, kind);
            s->target = m->target;
            s->mirror = m->mirror;
            s->device = m->device;
            hbg__bench_add(b, name, "ns", 1, ship, s)->has_cold = true;
        }
    }
}

bool hbg__bench_model(struct bench *b)
{
    struct model *m = calloc(1, sizeof *m);
    uint64_t tasks[WORKLOADS] = { 0 };
    if (!m) return hbg__bench_fail(b, "the cases", HBG_E_NO_MEMORY);
    bool good = open_model(b, m);
    for (int work = 0; work < WORKLOADS && good; work++) {
        good = run_workload(b, work, &tasks[work]);
        if (good) add_shipments(b, m, work, tasks[work]);
    }
    if (good) good = hbg__bench_measure(b);
    good = close_model(b, m) && good;
    free(m);
    return good;
}
