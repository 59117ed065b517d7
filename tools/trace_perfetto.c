/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace events for Perfetto.
 */
#include "trace_perfetto.h"

#include "base/json_write.h"
#include "trace_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Lanes that are no host threads: no thread of Linux has such a number. */
enum { LANE_SLOT = 10000000, LANE_SCHEDULER = 20000000, LANE_CORE = 30000000 };

struct writer {
    struct hbg__json json;
    const struct trace_rounds *rounds;
    uint64_t base;                      /* the earliest time of all */
    uint64_t flows, drawn, edges, submissions;
    const uint64_t *slot_next;          /* of a round: when the next one on its slot begins */
};

static double microseconds(const struct writer *w, uint64_t ns)
{
    return (double)(ns - w->base) / 1000;
}

/* An event without its end: the caller may add to it, and closes it. */
static void open_event(struct writer *w, const char *phase, const char *name, uint32_t session, uint64_t lane, uint64_t ns)
{
    hbg__json_open_object(&w->json);
    hbg__json_key_string(&w->json, "ph", phase);
    hbg__json_key_string(&w->json, "name", name);
    hbg__json_key_u64(&w->json, "pid", session + 1);
    hbg__json_key_u64(&w->json, "tid", lane);
    hbg__json_key_f64(&w->json, "ts", microseconds(w, ns));
}

static void name_lane(struct writer *w, const char *what, uint32_t session, uint64_t lane, const char *text)
{
    open_event(w, "M", what, session, lane, w->base);
    hbg__json_key(&w->json, "args");
    hbg__json_open_object(&w->json);
    hbg__json_key_string(&w->json, "name", text);
    hbg__json_close(&w->json);
    hbg__json_close(&w->json);
}

static void write_span(struct writer *w, const struct trace_record *r, uint64_t lane, const char *name, uint64_t end)
{
    const struct trace_log *log = w->rounds->log;

    open_event(w, "X", name, r->session, lane, r->ts);
    hbg__json_key_f64(&w->json, "dur", (double)(end - r->ts) / 1000);
    hbg__json_key(&w->json, "args");
    hbg__json_open_object(&w->json);
    if (r->invocation)
        hbg__json_key_u64(&w->json, "run", r->invocation);
    for (uint32_t i = 0; i < r->note_count; i++)
        if (strcmp(log->note[r->first_note + i].key, "run") != 0)
            hbg__json_key_string(&w->json, log->note[r->first_note + i].key, log->note[r->first_note + i].value);
    hbg__json_close(&w->json);
    hbg__json_close(&w->json);
}

/* ---- lanes ---- */

static bool stays_open(const char *name)
{
    return strcmp(name, TRACE_RUN) == 0 || strcmp(name, TRACE_RUN ".runner_run") == 0 || strcmp(name, TRACE_WALL) == 0;
}

static uint64_t slot_of(const struct trace_rounds *t, const struct trace_round *round)
{
    const struct trace_record *wall = hbg__trace_round_find(t, round, TRACE_WALL);
    uint64_t slot = 0;

    if (!round->root || !hbg__trace_number(t->log, round->root, "slot", &slot))
        slot = 0;
    if (wall)
        (void)hbg__trace_number(t->log, wall, "slot", &slot);
    return slot < 1000 ? slot : 999;
}

/* Submissions overlap: each is a pair of events of its own, which share a track where they can. */
static void write_submission(struct writer *w, const struct trace_record *r)
{
    const struct trace_log *log = w->rounds->log;
    const char *name = hbg__trace_note(log, r, "subgraph");

    for (int end = 0; end < 2; end++) {
        open_event(w, end ? "e" : "b", name ? name : "submission", r->session, LANE_SCHEDULER, end ? r->ts + r->dur : r->ts);
        hbg__json_key_string(&w->json, "cat", "submission");
        hbg__json_key_u64(&w->json, "id", w->submissions);
        if (!end) {
            hbg__json_key(&w->json, "args");
            hbg__json_open_object(&w->json);
            hbg__json_key_u64(&w->json, "run", r->invocation);
            for (uint32_t i = 0; i < r->note_count; i++)
                hbg__json_key_string(&w->json, log->note[r->first_note + i].key, log->note[r->first_note + i].value);
            hbg__json_close(&w->json);
        }
        hbg__json_close(&w->json);
    }
    w->submissions++;
}

static void write_record(struct writer *w, const struct trace_round *round, const struct trace_record *r)
{
    const struct trace_log *log = w->rounds->log;
    uint64_t core = 0, end = r->ts + r->dur, next = w->slot_next[round - w->rounds->round];

    if (strcmp(r->name, TRACE_TASK) == 0) {
        (void)hbg__trace_number(log, r, "core", &core);
        write_span(w, r, LANE_CORE + (core < 1000000 ? core : 999999), hbg__trace_note(log, r, "kernel") ? hbg__trace_note(log, r, "kernel") : "task", end);
    } else if (strcmp(r->name, TRACE_SUBMISSION) == 0) {
        write_submission(w, r);
    } else if (stays_open(r->name)) {
        /* a run is over a moment after its slot was given to the next one */
        write_span(w, r, LANE_SLOT + slot_of(w->rounds, round), r->name, end > next && next > r->ts ? next : end);
        if (strcmp(r->name, TRACE_WALL) == 0)
            write_span(w, r, LANE_SCHEDULER, r->name, end);
    } else if (strncmp(r->name, TRACE_WALL ".", sizeof TRACE_WALL) != 0) {
        write_span(w, r, r->tid, r->name, end);
    }
}

/* Of each round, the begin of the next one on its slot; UINT64_MAX: none. */
static uint64_t *find_next(const struct trace_rounds *t)
{
    uint64_t *next = malloc((t->round_count + 1) * sizeof *next), begin[1000];
    uint32_t session = UINT32_MAX;

    for (size_t i = t->round_count; next && i-- > 0;) {
        uint64_t slot = slot_of(t, &t->round[i]);

        if (t->round[i].session != session)
            memset(begin, 0xff, sizeof begin);
        session = t->round[i].session;
        next[i] = begin[slot];
        begin[slot] = t->round[i].begin;
    }
    return next;
}

struct lane { uint32_t session; uint64_t lane; };

static int compare_lanes(const void *a, const void *b)
{
    const struct lane *x = a, *y = b;

    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static struct lane lane_of(const struct trace_log *log, const struct trace_record *r)
{
    uint64_t number = 0;

    if (strcmp(r->name, TRACE_TASK) == 0 && hbg__trace_number(log, r, "core", &number))
        return (struct lane){ r->session, LANE_CORE + number };
    if (strcmp(r->name, TRACE_WALL) == 0 && hbg__trace_number(log, r, "slot", &number))
        return (struct lane){ r->session, LANE_SLOT + number };
    return (struct lane){ r->session, r->tid };
}

static bool name_lanes(struct writer *w)
{
    const struct trace_log *log = w->rounds->log;
    struct lane *lane = malloc((log->record_count + 1) * sizeof *lane);
    char text[64];

    if (!lane)
        return false;
    for (size_t i = 0; i < log->record_count; i++)
        lane[i] = lane_of(log, &log->record[i]);
    qsort(lane, log->record_count, sizeof *lane, compare_lanes);
    for (size_t i = 0; i < log->record_count; i++) {
        uint64_t number = lane[i].lane;

        if (i && compare_lanes(&lane[i - 1], &lane[i]) == 0)
            continue;
        if (number >= LANE_CORE)
            snprintf(text, sizeof text, "core %" PRIu64, number - LANE_CORE);
        else if (number >= LANE_SLOT)
            snprintf(text, sizeof text, "pipeline slot %" PRIu64, number - LANE_SLOT);
        else
            snprintf(text, sizeof text, "host thread %" PRIu64, number);
        name_lane(w, "thread_name", lane[i].session, number, text);
    }
    for (uint32_t i = 0; i < log->session_count; i++) {
        snprintf(text, sizeof text, "process %" PRIu32 ", device %" PRIu32, log->session[i].pid, log->session[i].device);
        name_lane(w, "process_name", i, 0, text);
        name_lane(w, "thread_name", i, LANE_SCHEDULER, "scheduler");
    }
    free(lane);
    return true;
}

/* ---- counters and flows ---- */

struct change { uint64_t ns; int waiting, ready, running; };

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static bool write_counters(struct writer *w, const struct trace_graph *g, uint32_t session)
{
    struct change *change = malloc((3 * g->task_count + 1) * sizeof *change);
    int64_t waiting = (int64_t)g->executed, ready = 0, running = 0;
    size_t count = 0;

    if (!change)
        return false;
    for (size_t i = 0; i < g->task_count; i++) {
        const struct trace_task *task = &g->task[i];
        uint64_t at = task->ready && task->ready < task->started ? task->ready : task->started;

        if (!task->present || task->noop)
            continue;
        change[count++] = (struct change){ at, -1, 1, 0 };
        change[count++] = (struct change){ task->started, 0, -1, 1 };
        change[count++] = (struct change){ task->ended, 0, 0, -1 };
    }
    qsort(change, count, sizeof *change, by_time);
    for (size_t i = 0; i < count; i++) {
        waiting += change[i].waiting;
        ready += change[i].ready;
        running += change[i].running;
        if (i + 1 < count && change[i + 1].ns == change[i].ns)
            continue;
        open_event(w, "C", "tasks", session, LANE_SCHEDULER, change[i].ns);
        hbg__json_key(&w->json, "args");
        hbg__json_open_object(&w->json);
        hbg__json_key_i64(&w->json, "running", running);
        hbg__json_key_i64(&w->json, "ready", ready);
        hbg__json_key_i64(&w->json, "waiting", waiting);
        hbg__json_close(&w->json);
        hbg__json_close(&w->json);
    }
    free(change);
    return true;
}

static void write_flow(struct writer *w, const struct trace_task *from, const struct trace_task *to, uint32_t session)
{
    open_event(w, "s", "edge", session, LANE_CORE + from->core, from->started);
    hbg__json_key_string(&w->json, "cat", "edge");
    hbg__json_key_u64(&w->json, "id", w->drawn);
    hbg__json_close(&w->json);
    open_event(w, "f", "edge", session, LANE_CORE + to->core, to->started);
    hbg__json_key_string(&w->json, "cat", "edge");
    hbg__json_key_u64(&w->json, "id", w->drawn);
    hbg__json_key_string(&w->json, "bp", "e");
    hbg__json_close(&w->json);
    w->drawn++;
}

static bool write_graph(struct writer *w, const struct trace_round *round)
{
    struct trace_graph graph;
    bool good;

    if (hbg__trace_graph_make(&graph, w->rounds, round))
        return true;                    /* tasks were not traced, or not all of them: no counters */
    good = write_counters(w, &graph, round->session);
    for (size_t i = 0; i < graph.task_count; i++) {
        for (size_t k = 0; k < graph.task[i].producer_count; k++) {
            const struct trace_task *from = &graph.task[graph.producer[graph.task[i].first_producer + k]];

            w->edges++;
            if (w->drawn < w->flows && from->present && graph.task[i].present && !from->noop && !graph.task[i].noop)
                write_flow(w, from, &graph.task[i], round->session);
        }
    }
    hbg__trace_graph_free(&graph);
    return good;
}

bool hbg__trace_perfetto(FILE *file, const struct trace_rounds *rounds, uint64_t flows, uint64_t *drawn, uint64_t *edges)
{
    struct writer w = { .rounds = rounds, .base = UINT64_MAX, .flows = flows };
    uint64_t *next = find_next(rounds);
    bool good = next != NULL;

    w.slot_next = next;
    for (size_t i = 0; i < rounds->log->record_count; i++)
        if (rounds->log->record[i].ts < w.base)
            w.base = rounds->log->record[i].ts;
    hbg__json_begin(&w.json, file);
    hbg__json_open_object(&w.json);
    hbg__json_key_string(&w.json, "displayTimeUnit", "ns");
    hbg__json_key(&w.json, "traceEvents");
    hbg__json_open_array(&w.json);
    good = good && name_lanes(&w);
    for (size_t i = 0; good && i < rounds->round_count; i++) {
        for (size_t k = 0; k < rounds->round[i].count; k++)
            write_record(&w, &rounds->round[i], rounds->record[rounds->round[i].first + k]);
        good = write_graph(&w, &rounds->round[i]);
    }
    for (size_t i = 0; good && i < rounds->log->record_count; i++) {
        const struct trace_record *r = &rounds->log->record[i];

        if (strncmp(r->name, TRACE_USER, sizeof TRACE_USER - 1) == 0)
            write_span(&w, r, r->tid, r->name, r->ts + r->dur);
    }
    hbg__json_close(&w.json);
    hbg__json_close(&w.json);
    free(next);
    *drawn = w.drawn;
    *edges = w.edges;
    return hbg__json_end(&w.json) && good;
}
