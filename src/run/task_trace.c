/* SPDX-License-Identifier: Apache-2.0 */
/* task_trace.c - at the level `task`, what the cores recorded of a launch: copied home, put in order of the tasks, and written.
 *
 *     memory:  | heads of the cores | their records, core by core | when each task ended | which record is its |
 *
 * On a discrete device that is one copy for the heads and one for each core that ran something; on a unified one the rings are read
 * where they are. The device says when a core turned to a task and when the kernel began and ended; that a task was ready when its
 * last producer ended follows from the graph, and is said here. A noop ends with its last producer.
 *
 * Tasks and nodes have one row of numbers (node.h). What a submission waits for, its first nodes are said to wait for; and the
 * submission, for those of its nodes that nobody else waits for: whoever waits for it is said to wait for it. So records hold all that
 * has to be known of the graph. They are written in an order in which each comes behind its producers: nodes, then their submission.
 */
#include <string.h>

#include "run/node.h"
#include "run/run.h"
#include "trace/event.h"

enum { EDGES_AT_ONCE = 300 };

struct collection {
    struct hbg__run *run;
    const struct hbg__launch_result *launch;
    uint32_t cores, tasks;              /* tasks: with all nodes */
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

/* ---- who waits for whom ---- */

/* A submission whose nodes are written. */
struct around {
    const struct hbg__level *level;
    const struct around *outer;
    uint32_t task;
};

/* Numbers of tasks, one after the other: the producers of one, or those of a body that nobody in it waits for. */
struct source {
    const unsigned char *payload;
    const struct hbg__task_record *record;      /* NULL: of a body */
    uint32_t first, at, count;          /* number of the level's first task; how far it has come */
    uint32_t number;
    bool has;                           /* there is a number */
};

static void advance(struct source *s)
{
    s->has = false;
    while (!s->has && s->at < s->count) {
        uint32_t at = s->at++;
        s->has = s->record || hbg__level_is_leaf(hbg__image_record(s->payload, at));
        s->number = s->first + (s->record ? hbg__image_producer(s->payload, s->record, at) : at);
    }
}

/* Of a task without any those of the submission that it is a node of. */
static struct source producers_of(const struct hbg__level *level, uint32_t task, const struct around *around)
{
    struct source s = { .first = level->first_slot, .payload = hbg__image_payload(level->head) };
    s.record = hbg__image_record(s.payload, task);
    s.count = hbg__image_producer_count(s.payload, s.record);
    if (s.count == 0 && around) return producers_of(around->level, around->task, around->outer);
    advance(&s);
    return s;
}

static struct source leaves_of(const struct hbg__level *level)
{
    struct source s = { .first = level->first_slot, .payload = hbg__image_payload(level->head), .count = level->head->task_count };
    advance(&s);
    return s;
}

/* When the last of them ended; the launch's begin without any; 0: of one it is not known. */
static uint64_t ready_time(const struct collection *c, struct source s)
{
    uint64_t latest = c->launch->started_ns;
    for (; s.has; advance(&s)) {
        uint64_t ended = c->ended[s.number];
        if (!ended) return 0;
        if (ended > latest) latest = ended;
    }
    return latest;
}

/* ---- records ---- */

/* " producers=1,2,3", as many as a record takes. */
static void put_producers(struct hbg__trace_line *line, struct source *s)
{
    char text[EDGES_AT_ONCE * 11];
    size_t used = 0;
    for (uint32_t i = 0; s->has && i < EDGES_AT_ONCE; i++, advance(s)) {
        char digits[10];
        size_t at = sizeof digits;
        uint32_t producer = s->number;
        do digits[--at] = (char)('0' + producer % 10);
        while (producer /= 10);
        if (used) text[used++] = ',';
        memcpy(text + used, digits + at, sizeof digits - at);
        used += sizeof digits - at;
    }
    text[used] = '\0';
    if (used) (void)hbg__line_text(line, "producers", text);
}

/* What is said of one task. */
struct told {
    const char *name;                   /* of the record */
    uint32_t number;
    uint64_t begun, ended, ready;
    struct source producers;
    const struct hbg__event *event;     /* NULL: it was on no core */
    const char *kernel, *subgraph;      /* NULL: none; the body that it is, or is a node of */
    const struct around *around;        /* NULL: it is no node */
    uint32_t nodes;                     /* of a submission */
};

static void put_values(const struct collection *c, struct hbg__trace_line *line, const struct told *t)
{
    (void)hbg__line_u64(line, "task", t->number);
    if (t->kernel) (void)hbg__line_text(line, "kernel", t->kernel);
    if (t->subgraph) (void)hbg__line_text(line, "subgraph", t->subgraph);
    if (t->around) (void)hbg__line_u64(line, "submission", t->around->level->first_slot + t->around->task);
    if (t->nodes) (void)hbg__line_u64(line, "nodes", t->nodes);
    if (t->event) {
        (void)hbg__line_u64(line, "core", t->event->core);
        (void)hbg__line_u64(line, "dispatched", clock_of(c, t->event->dispatched));
    }
    if (t->ready) (void)hbg__line_u64(line, "ready", t->ready);
}

static void write_told(const struct collection *c, struct told *t)
{
    struct hbg__run_spans *spans = c->run->spans;
    struct hbg__trace_line line;
    struct hbg__trace_head head = { .invocation = spans->invocation, .program = spans->hash, .tid = spans->tid, .depth = 3, .ts = t->begun,
                                    .dur = t->ended > t->begun ? t->ended - t->begun : 0 };
    hbg__trace_begin(spans->trace, &line, &head, t->name, NULL, NULL);
    put_values(c, &line, t);
    put_producers(&line, &t->producers);
    hbg__trace_write(spans->trace, &line);
    while (t->producers.has) {
        head.dur = 0;
        hbg__trace_begin(spans->trace, &line, &head, "chip.run.runner_run.device_wall.edges", NULL, NULL);
        (void)hbg__line_u64(&line, "task", t->number);
        put_producers(&line, &t->producers);
        hbg__trace_write(spans->trace, &line);
    }
}

/* A task that is no submission. Returns when it began on a core; UINT64_MAX: never. */
static uint64_t write_task(struct collection *c, const struct hbg__level *level, uint32_t task, const struct around *around)
{
    const struct hbg__task_record *record = hbg__image_record(hbg__image_payload(level->head), task);
    uint32_t number = level->first_slot + task;
    const struct hbg__event *event = c->place[number] ? &c->event[c->place[number] - 1] : NULL;
    bool noop = (record->flags & HBG__TASK_NOOP) != 0;
    struct told t = { .number = number, .event = event, .around = around, .producers = producers_of(level, task, around) };
    t.ready = event || noop ? ready_time(c, t.producers) : 0;
    if (noop) c->ended[number] = t.ready;
    if (!event && !(noop && t.ready)) return UINT64_MAX;
    t.name = event ? "chip.run.runner_run.device_wall.task" : "chip.run.runner_run.device_wall.noop";
    t.begun = event ? clock_of(c, event->started) : t.ready;
    t.ended = event ? clock_of(c, event->ended) : t.ready;
    if (event) t.kernel = hbg__program_kernel_name(c->run->program, record->kernel);
    if (level->definition) t.subgraph = level->definition->key.name;
    write_told(c, &t);
    return event ? t.begun : UINT64_MAX;
}

/* All nodes of it have been written, the first of which began then. It takes from there to the end of the last. */
static void write_submission(struct collection *c, const struct hbg__level *inner, const struct around *own, uint64_t begun)
{
    struct told t = { .name = "chip.run.runner_run.device_wall.submission", .number = own->level->first_slot + own->task, .around = own->outer,
                      .subgraph = inner->definition->key.name, .nodes = inner->head->slot_count, .producers = leaves_of(inner) };
    if (!t.producers.has) t.producers = producers_of(own->level, own->task, own->outer);
    t.ready = ready_time(c, t.producers);
    c->ended[t.number] = t.ended = t.ready;
    t.begun = begun < t.ended ? begun : t.ended;
    if (t.ready) write_told(c, &t);
}

/* By ascending number, so that what a task waited for is known before it is said. Returns when the first one began on a core. */
static uint64_t write_level(struct collection *c, const struct hbg__level *level, const struct around *around)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t task = 0; task < level->head->task_count; task++) {
        const struct hbg__submission *s = hbg__level_submission(level, task);
        uint64_t begun;
        if (s) {
            struct hbg__level inner = hbg__level_open(level, s);
            struct around own = { level, around, task };
            begun = write_level(c, &inner, &own);
            write_submission(c, &inner, &own, begun);
        } else {
            begun = write_task(c, level, task, around);
        }
        if (begun < first) first = begun;
    }
    return first;
}

static void write_all(struct collection *c)
{
    struct hbg__level level = hbg__level_of_run(&c->run->kept->recording);
    for (uint64_t i = 0; i < c->records; i++) {
        if (c->event[i].task >= c->tasks) continue;
        c->place[c->event[i].task] = (uint32_t)i + 1;
        c->ended[c->event[i].task] = clock_of(c, c->event[i].ended);
    }
    if (c->tasks) (void)write_level(c, &level, NULL);
}

void hbg__run_collect_tasks(struct hbg__run *run, const struct hbg__launch_result *launch)
{
    const struct hbg__image_head *head = run->kept->recording.head;
    struct collection c = { .run = run, .launch = launch, .cores = run->device->properties.workers, .tasks = head->slot_count };
    hbg__span_begin(run->spans, HBG__SPAN_COLLECT);
    set_pace(&c);
    if (!make_room(&c) || fetch_all(&c)) hbg__log_write(&run->device->log, HBG_LOG_WARN, "hbg: the task records of a run of program \"%.60s\" are lost: they could not be copied", run->program->name);
    else write_all(&c);
    run->spans->span[HBG__SPAN_COLLECT].value[2] = c.records;
    run->spans->span[HBG__SPAN_COLLECT].value[3] = c.lost;
    hbg__span_end(run->spans, HBG__SPAN_COLLECT);
}
