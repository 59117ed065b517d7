/* SPDX-License-Identifier: Apache-2.0 */
/* task_trace.c - at the level `task`, what the cores recorded of a launch: copied home, put in order of the tasks, and written.
 *
 *     memory:  | heads of the cores | their records, core by core | when each task ended | which record is its |
 *
 * On a discrete device that is one copy for the heads and one for each core that ran something; on a unified one the rings are read
 * where they are. The device says when a core turned to a task and when the kernel began and ended; that a task was ready when its
 * last producer ended follows from the graph, and is said here. A noop ends with its last producer.
 */
#include <string.h>

#include "run/run.h"
#include "trace/event.h"

enum { EDGES_AT_ONCE = 300 };

struct collection {
    struct hbg__run *run;
    const struct hbg__launch_result *launch;
    const unsigned char *payload;
    uint32_t cores, tasks;
    struct hbg__event_core *head;
    struct hbg__event *event;
    uint32_t *place;                    /* of a task's record, from 1; 0: it has none */
    uint64_t *ended;                    /* on the clock; 0: not known */
    double ns_per_tick;
    uint64_t records, lost;
};

/* ---- from the device ---- */

static enum hbg_status fetch(struct collection *c, void *target, uint64_t offset, uint64_t size_bytes)
{
    struct hbg__run *run = c->run;
    struct hbg_device *device = run->device;
    uint64_t address = run->bank.events.address + offset;
    if (device->properties.unified) {
        memcpy(target, (const void *)(uintptr_t)address, size_bytes);
        return HBG_OK;
    }
    hbg__span_count(run->spans, HBG__SPAN_COLLECT, size_bytes);
    hbg__count(&device->counters.trace_copies, 1);
    hbg__count(&device->counters.trace_bytes, size_bytes);
    return device->ops->copy_out(device->platform, run->streams.stream[HBG__STREAM_COPY], target, address, size_bytes);
}

/* False: no memory. */
static bool make_room(struct collection *c)
{
    struct hbg__run *run = c->run;
    uint64_t records = (uint64_t)c->cores * run->event_capacity;
    uint64_t size = c->cores * (sizeof *c->head) + records * sizeof *c->event + (uint64_t)c->tasks * (sizeof *c->place + sizeof *c->ended) + HBG__LINE;
    if (size > run->collected_bytes) {
        hbg__free(&run->device->memory, run->collected, run->collected_bytes, HBG__LINE);
        run->collected = hbg__alloc(&run->device->memory, size, HBG__LINE);
        run->collected_bytes = run->collected ? size : 0;
        if (!run->collected) return false;
    }
    c->head = run->collected;
    c->event = (struct hbg__event *)(void *)(c->head + c->cores);
    c->ended = (uint64_t *)(void *)(c->event + records);
    c->place = (uint32_t *)(void *)(c->ended + c->tasks);
    memset(c->ended, 0, c->tasks * sizeof *c->ended);
    memset(c->place, 0, c->tasks * sizeof *c->place);
    return true;
}

static enum hbg_status fetch_all(struct collection *c)
{
    const struct hbg__run *run = c->run;
    uint64_t capacity = run->event_capacity;
    enum hbg_status status = fetch(c, c->head, 0, c->cores * sizeof *c->head);
    for (uint32_t i = 0; i < c->cores && !status; i++) {
        uint64_t count = c->head[i].epoch == run->bank.epoch ? c->head[i].count : 0, kept = count < capacity ? count : capacity;
        if (kept) status = fetch(c, c->event + c->records, hbg__event_ring_offset(c->cores, capacity, i), kept * sizeof *c->event);
        c->records += kept;
        c->lost += count - kept;
    }
    return status;
}

/* ---- times ---- */

static uint64_t clock_of(const struct collection *c, uint64_t tick)
{
    const struct hbg__run_spans *spans = c->run->spans;
    uint64_t ns = spans->tick_ns + (uint64_t)((double)(tick - spans->tick) * c->ns_per_tick);
    if (tick < spans->tick || ns < c->launch->started_ns) return c->launch->started_ns;     /* clocks that were looked at one after the other */
    return ns > c->launch->ended_ns ? c->launch->ended_ns : ns;
}

static void set_pace(struct collection *c)
{
    const struct hbg__run_spans *spans = c->run->spans;
    uint64_t tick = hbg__trace_ticks(spans->trace), ns = hbg__trace_now_ns(spans->trace);
    c->ns_per_tick = tick > spans->tick ? (double)(ns - spans->tick_ns) / (double)(tick - spans->tick) : 1;
}

/* When the last of the producers ended; the launch's begin without any; 0: of one it is not known. */
static uint64_t ready_time(const struct collection *c, const struct hbg__task_record *record)
{
    uint64_t latest = c->launch->started_ns;
    for (uint32_t i = 0, count = hbg__image_producer_count(c->payload, record); i < count; i++) {
        uint64_t ended = c->ended[hbg__image_producer(c->payload, record, i)];
        if (!ended) return 0;
        if (ended > latest) latest = ended;
    }
    return latest;
}

/* ---- records ---- */

/* " producers=1,2,3" from the first-th on; returns the first that had no room. */
static uint32_t put_producers(const struct collection *c, struct hbg__trace_line *line, const struct hbg__task_record *record, uint32_t first)
{
    char text[EDGES_AT_ONCE * 11];
    size_t used = 0;
    uint32_t count = hbg__image_producer_count(c->payload, record), end = count - first < EDGES_AT_ONCE ? count : first + EDGES_AT_ONCE;
    for (uint32_t i = first; i < end; i++) {
        char digits[10];
        size_t at = sizeof digits;
        uint32_t producer = hbg__image_producer(c->payload, record, i);
        do digits[--at] = (char)('0' + producer % 10);
        while (producer /= 10);
        if (used) text[used++] = ',';
        memcpy(text + used, digits + at, sizeof digits - at);
        used += sizeof digits - at;
    }
    text[used] = '\0';
    if (used) (void)hbg__line_text(line, "producers", text);
    return end;
}

static void write_task(const struct collection *c, uint32_t task, const struct hbg__task_record *record, const struct hbg__event *event, uint64_t ready)
{
    struct hbg__run_spans *spans = c->run->spans;
    struct hbg__trace_line line;
    uint64_t ts = event ? clock_of(c, event->started) : ready, end = event ? clock_of(c, event->ended) : ts;
    struct hbg__trace_head head = { .invocation = spans->invocation, .program = spans->hash, .tid = spans->tid, .depth = 3, .ts = ts, .dur = end > ts ? end - ts : 0 };
    uint32_t count = hbg__image_producer_count(c->payload, record), next = 0;
    hbg__trace_begin(spans->trace, &line, &head, event ? "chip.run.runner_run.device_wall.task" : "chip.run.runner_run.device_wall.noop", NULL, NULL);
    (void)hbg__line_u64(&line, "task", task);
    if (event) {
        (void)hbg__line_text(&line, "kernel", hbg__program_kernel_name(c->run->program, record->kernel));
        (void)hbg__line_u64(&line, "core", event->core);
        (void)hbg__line_u64(&line, "dispatched", clock_of(c, event->dispatched));
    }
    if (ready) (void)hbg__line_u64(&line, "ready", ready);
    next = put_producers(c, &line, record, 0);
    hbg__trace_write(spans->trace, &line);
    while (next < count) {
        head.dur = 0;
        hbg__trace_begin(spans->trace, &line, &head, "chip.run.runner_run.device_wall.edges", NULL, NULL);
        (void)hbg__line_u64(&line, "task", task);
        next = put_producers(c, &line, record, next);
        hbg__trace_write(spans->trace, &line);
    }
}

/* By ascending id, so that what a task waited for is known before it is said. */
static void write_all(struct collection *c)
{
    for (uint64_t i = 0; i < c->records; i++) {
        if (c->event[i].task >= c->tasks) continue;
        c->place[c->event[i].task] = (uint32_t)i + 1;
        c->ended[c->event[i].task] = clock_of(c, c->event[i].ended);
    }
    for (uint32_t task = 0; task < c->tasks; task++) {
        const struct hbg__task_record *record = hbg__image_record(c->payload, task);
        const struct hbg__event *event = c->place[task] ? &c->event[c->place[task] - 1] : NULL;
        bool noop = (record->flags & HBG__TASK_NOOP) != 0;
        uint64_t ready = event || noop ? ready_time(c, record) : 0;
        if (noop) c->ended[task] = ready;
        if (event || (noop && ready)) write_task(c, task, record, event, ready);
    }
}

void hbg__run_collect_tasks(struct hbg__run *run, const struct hbg__launch_result *launch)
{
    const struct hbg__image_head *head = run->kept->recording.head;
    struct collection c = { .run = run, .launch = launch, .cores = run->device->properties.workers, .tasks = head->task_count };
    hbg__span_begin(run->spans, HBG__SPAN_COLLECT);
    set_pace(&c);
    if (c.tasks) c.payload = hbg__image_payload(head);
    if (!make_room(&c) || fetch_all(&c)) hbg__log_write(&run->device->log, HBG_LOG_WARN, "hbg: the task records of a run of program \"%.60s\" are lost: they could not be copied", run->program->name);
    else write_all(&c);
    run->spans->span[HBG__SPAN_COLLECT].value[2] = c.records;
    run->spans->span[HBG__SPAN_COLLECT].value[3] = c.lost;
    hbg__span_end(run->spans, HBG__SPAN_COLLECT);
}
