/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as one page that needs nothing else: the records as JSON inside of tools/trace_page.html.
 */
#include "trace_page.h"

#include "base/json_write.h"
#include "base/plural.h"
#include "hbg_page.h"
#include "trace_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One span of a lane. */
struct shown {
    uint32_t session;
    char lane[48];
    const struct trace_record *record;
    char why[120];                      /* of a task: what it waited for */
};

struct page {
    const struct trace_rounds *rounds;
    struct shown *shown;
    size_t count, limit;
    uint64_t begin, end;
};

static void add(struct page *p, const struct trace_record *r, const char *lane, const char *why)
{
    struct shown *s;

    if (p->count == p->limit)
        return;
    s = &p->shown[p->count++];
    *s = (struct shown){ .session = r->session, .record = r };
    snprintf(s->lane, sizeof s->lane, "%s", lane);
    snprintf(s->why, sizeof s->why, "%s", why);
    if (r->ts < p->begin)
        p->begin = r->ts;
    if (r->ts + r->dur > p->end)
        p->end = r->ts + r->dur;
}

/* Why the task began when it did, in words. */
static void say_why(const struct trace_graph *g, uint32_t task, char *text, size_t size)
{
    enum trace_why why;
    uint64_t over, started = g->task[task].started;
    uint32_t next = hbg__trace_waited_for(g, task, &why, &over);
    uint64_t gap = started > over ? started - over : 0;

    if (why == TRACE_DATA)
        snprintf(text, size, "data: task %" PRIu32 " (%s) ended on core %" PRIu32 " %" PRIu64 " ns before", next, g->task[next].kernel, g->task[next].core, gap);
    else if (why == TRACE_CORE)
        snprintf(text, size, "core: it was busy with task %" PRIu32 " (%s) until %" PRIu64 " ns before", next, g->task[next].kernel, gap);
    else
        snprintf(text, size, "start: nothing held it; the device began %" PRIu64 " ns before", gap);
}

static void add_round(struct page *p, const struct trace_round *round)
{
    const struct trace_log *log = p->rounds->log;
    struct trace_graph graph;
    bool told = hbg__trace_graph_make(&graph, p->rounds, round) == NULL;
    char lane[48], why[120];

    for (size_t i = 0; i < round->count; i++) {
        const struct trace_record *r = p->rounds->record[round->first + i];
        uint64_t number = 0;

        why[0] = '\0';
        if (strcmp(r->name, TRACE_TASK) == 0) {
            (void)hbg__trace_number(log, r, "core", &number);
            snprintf(lane, sizeof lane, "3 core %" PRIu64, number);
            if (told && hbg__trace_number(log, r, "task", &number))
                say_why(&graph, (uint32_t)number, why, sizeof why);
        } else if (strcmp(r->name, TRACE_SUBMISSION) == 0) {
            snprintf(lane, sizeof lane, "2 submissions");
        } else if (strncmp(r->name, TRACE_WALL ".", sizeof TRACE_WALL) == 0) {
            continue;
        } else if (strcmp(r->name, TRACE_RUN) == 0 || strncmp(r->name, TRACE_RUN ".runner_run", sizeof TRACE_RUN + 10) == 0) {
            if (round->root)
                (void)hbg__trace_number(log, round->root, "slot", &number);
            snprintf(lane, sizeof lane, "2 pipeline slot %" PRIu64, number);
        } else {
            snprintf(lane, sizeof lane, "1 host thread %" PRIu32, r->tid);
        }
        add(p, r, lane, why);
    }
    if (told)
        hbg__trace_graph_free(&graph);
}

static int by_lane(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    int order = x->session == y->session ? strcmp(x->lane, y->lane) : x->session < y->session ? -1 : 1;

    return order ? order : (x->record->ts > y->record->ts) - (x->record->ts < y->record->ts);
}

/* What of a span's values is a time of the clock: shown, like the begin, from the begin of the page on. */
static bool is_time(const char *key)
{
    return strcmp(key, "ready") == 0 || strcmp(key, "dispatched") == 0 || strcmp(key, "accepted") == 0;
}

static void write_values(struct hbg__json *json, const struct page *p, const struct trace_record *r)
{
    const struct trace_note *note = &p->rounds->log->note[r->first_note];
    uint64_t at;

    hbg__json_key(json, "times");
    hbg__json_open_object(json);
    for (uint32_t i = 0; i < r->note_count; i++)
        if (is_time(note[i].key) && hbg__trace_number(p->rounds->log, r, note[i].key, &at))
            hbg__json_key_i64(json, note[i].key, (int64_t)(at - p->begin));
    hbg__json_close(json);
    hbg__json_key(json, "values");
    hbg__json_open_object(json);
    for (uint32_t i = 0; i < r->note_count; i++)
        if (!is_time(note[i].key))
            hbg__json_key_string(json, note[i].key, note[i].value);
    hbg__json_close(json);
}

static void write_span(struct hbg__json *json, const struct page *p, const struct shown *s)
{
    const struct trace_log *log = p->rounds->log;
    const struct trace_record *r = s->record;
    const char *own = hbg__trace_note(log, r, strcmp(r->name, TRACE_SUBMISSION) == 0 ? "subgraph" : "kernel"), *dot = strrchr(r->name, '.');
    bool task = strcmp(r->name, TRACE_TASK) == 0 || strcmp(r->name, TRACE_SUBMISSION) == 0;

    hbg__json_open_object(json);
    hbg__json_key_string(json, "name", task && own ? own : r->name);
    hbg__json_key_string(json, "short", task && own ? own : strncmp(r->name, "chip.run.", 9) == 0 && dot ? dot + 1 : r->name);
    hbg__json_key_u64(json, "begin", r->ts - p->begin);
    hbg__json_key_u64(json, "dur", r->dur);
    hbg__json_key_u64(json, "run", r->invocation);
    if (*s->why)
        hbg__json_key_string(json, "why", s->why);
    write_values(json, p, r);
    hbg__json_close(json);
}

static bool write_data(FILE *file, const struct page *p, size_t all)
{
    struct hbg__json json;
    char text[160];

    hbg__json_begin(&json, file);
    hbg__json_open_object(&json);
    snprintf(text, sizeof text, "%zu run%s, %zu span%s%s", p->rounds->round_count, hbg__s(p->rounds->round_count), p->count, hbg__s(p->count), p->count < all ? "; the later ones are left out" : "");
    hbg__json_key_string(&json, "about", text);
    hbg__json_key_u64(&json, "length_ns", p->count && p->end > p->begin ? p->end - p->begin : 1);
    hbg__json_key(&json, "lanes");
    hbg__json_open_array(&json);
    for (size_t i = 0; i < p->count; i++) {
        bool first = i == 0 || p->shown[i - 1].session != p->shown[i].session || strcmp(p->shown[i - 1].lane, p->shown[i].lane) != 0;

        if (first && i) {
            hbg__json_close(&json);
            hbg__json_close(&json);
        }
        if (first) {
            hbg__json_open_object(&json);
            hbg__json_key_string(&json, "name", p->shown[i].lane + 2);
            hbg__json_key(&json, "spans");
            hbg__json_open_array(&json);
        }
        write_span(&json, p, &p->shown[i]);
    }
    if (p->count) {
        hbg__json_close(&json);
        hbg__json_close(&json);
    }
    hbg__json_close(&json);
    hbg__json_close(&json);
    return hbg__json_end(&json);
}

/* The text inside of a script element: no `<` of it may end the element. */
static void put_data(FILE *file, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '<')
            fputs("\\u003c", file);
        else
            fputc(text[i], file);
    }
}

static bool make(struct page *p)
{
    const struct trace_log *log = p->rounds->log;

    p->shown = malloc((p->limit + 1) * sizeof *p->shown);
    if (!p->shown)
        return false;
    for (size_t i = 0; i < p->rounds->round_count; i++)
        add_round(p, &p->rounds->round[i]);
    for (size_t i = 0; i < log->record_count; i++) {
        char lane[48];

        snprintf(lane, sizeof lane, "1 host thread %" PRIu32, log->record[i].tid);
        if (strncmp(log->record[i].name, TRACE_USER, sizeof TRACE_USER - 1) == 0)
            add(p, &log->record[i], lane, "");
    }
    qsort(p->shown, p->count, sizeof *p->shown, by_lane);
    return true;
}

bool hbg__trace_page(FILE *file, const struct trace_rounds *rounds)
{
    enum { MOST = 200000 };
    static const char place[] = "<!--DATA-->";
    const char *at = strstr(hbg__page_html, place);
    size_t all = rounds->log->record_count, size = 0;
    struct page p = { .rounds = rounds, .begin = UINT64_MAX, .limit = all < MOST ? all : MOST };
    char *text = NULL;
    FILE *data = open_memstream(&text, &size);
    bool good = data && make(&p) && write_data(data, &p, all < MOST ? p.count : all);

    good = (!data || fclose(data) == 0) && good;
    if (good) {
        fwrite(hbg__page_html, 1, (size_t)(at - hbg__page_html), file);
        put_data(file, text, size);
        fputs(at + sizeof place - 1, file);
        good = !ferror(file);
    }
    free(text);
    free(p.shown);
    return good;
}
