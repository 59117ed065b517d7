/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the metric.
 */
#include "tools/ab/metric.h"

#include "tools/json_read.h"
#include "tools/trace_log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool compile(struct ab_metric *metric, const char *text, char *why, size_t size)
{
    char reason[96];
    int wrong = regcomp(&metric->expression, text, REG_EXTENDED | REG_NEWLINE);

    *metric = (struct ab_metric){ .kind = AB_REGEX, .text = text, .expression = metric->expression, .compiled = !wrong };
    if (!wrong)
        return true;
    regerror(wrong, &metric->expression, reason, sizeof reason);
    snprintf(why, size, "`%s` is no expression: %s", text, reason);
    return false;
}

bool hbg__ab_metric_open(struct ab_metric *metric, const char *text, const char *span, char *why, size_t size)
{
    *metric = (struct ab_metric){ .kind = AB_WALL, .text = "wall" };
    if (span && text) {
        snprintf(why, size, "--metric and --span both say what is compared");
        return false;
    }
    if (span)
        *metric = (struct ab_metric){ .kind = AB_SPAN, .text = span };
    else if (text && strncmp(text, "json:", 5) == 0)
        *metric = (struct ab_metric){ .kind = AB_JSON, .text = text + 5 };
    else if (text && strcmp(text, "wall") != 0)
        return compile(metric, text, why, size);
    return true;
}

bool hbg__ab_counter_open(struct ab_metric *metric, const char *text, const char *span, char *why, size_t size)
{
    if (strncmp(text, "json:", 5) != 0 && span) {
        *metric = (struct ab_metric){ .kind = AB_SPAN, .text = span, .note = text };
        return true;
    }
    if (strcmp(text, "wall") == 0) {
        snprintf(why, size, "a time is no counter");
        return false;
    }
    return hbg__ab_metric_open(metric, text, NULL, why, size);
}

void hbg__ab_metric_close(struct ab_metric *metric)
{
    if (metric->compiled)
        regfree(&metric->expression);
    metric->compiled = false;
}

/* ---- values ---- */

void hbg__ab_values_free(struct ab_values *values)
{
    free(values->value);
    free(values->round);
    *values = (struct ab_values){ .value = NULL };
}

void hbg__ab_parts_free(struct ab_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        hbg__ab_values_free(&parts->of[i]);
    parts->count = 0;
}

static bool add(struct ab_values *values, double value, uint64_t round)
{
    if (values->count == values->room) {
        size_t room = values->room ? values->room * 2 : 64;
        double *value_grown = realloc(values->value, room * sizeof *value_grown);
        uint64_t *round_grown;

        if (!value_grown)
            return false;
        values->value = value_grown;
        round_grown = realloc(values->round, room * sizeof *round_grown);
        if (!round_grown)
            return false;
        values->round = round_grown;
        values->room = room;
    }
    values->value[values->count] = value;
    values->round[values->count++] = round;
    return true;
}

static bool add_next(void *context, double value)
{
    struct ab_values *values = context;
    return add(values, value, values->count + 1);
}

static bool read_regex(struct ab_metric *metric, const char *output, struct ab_values *values, char *why, size_t size)
{
    regmatch_t match[2];
    const char *at = output;

    while (regexec(&metric->expression, at, 2, match, at == output ? 0 : REG_NOTBOL) == 0) {
        const regmatch_t *number = match[1].rm_so >= 0 ? &match[1] : &match[0];
        char text[64], *end;
        size_t length = (size_t)(number->rm_eo - number->rm_so);

        snprintf(text, sizeof text, "%.*s", (int)(length < 63 ? length : 63), at + number->rm_so);
        if (!add_next(values, strtod(text, &end)) || end == text || *end) {
            snprintf(why, size, "`%s` matches `%s`, which is no number", metric->text, text);
            return false;
        }
        if (match[0].rm_eo == match[0].rm_so && !at[match[0].rm_eo])
            break;
        at += match[0].rm_eo + (match[0].rm_eo == match[0].rm_so);
    }
    return true;
}

static bool read_json(struct ab_metric *metric, const char *output, size_t size, struct ab_values *values, char *why, size_t why_size)
{
    char *copy = malloc(size + 1);
    struct json_document document;
    bool good = copy != NULL;

    if (!copy) {
        snprintf(why, why_size, "no memory for its output");
        return false;
    }
    memcpy(copy, output, size + 1);
    if (!hbg__json_parse(&document, copy, size)) {
        snprintf(why, why_size, "its output is no JSON: in line %zu %s", document.line, document.why);
        good = false;
    }
    for (const struct json_value *v = document.first; v && good; v = v->next)
        good = hbg__json_walk(v, metric->text, add_next, values);
    if (good && !values->count) {
        char there[128];

        snprintf(why, why_size, "its output has no number at `%.64s`: %s", metric->text, hbg__json_stuck(document.first, metric->text, there, sizeof there));
        good = false;
    }
    hbg__json_free(&document);
    return good;
}

/* Spans of one run are one round, with the run's number. */
static bool add_span(struct ab_values *values, const struct trace_record *r, double value)
{
    if (values->count && r->session == values->session && r->program == values->program && r->invocation == values->round[values->count - 1]) {
        values->value[values->count - 1] += value;
        return true;
    }
    values->session = r->session;
    values->program = r->program;
    return add(values, value, r->invocation);
}

/* A span inside of the metric's. Names that are too many or too long are left out. */
static bool add_part(struct ab_parts *parts, const struct trace_record *r)
{
    size_t at = 0;

    while (at < parts->count && strcmp(parts->name[at], r->name) != 0)
        at++;
    if (at == AB_PARTS_MOST || strlen(r->name) >= AB_PART_NAME)
        return true;
    if (at == parts->count)
        snprintf(parts->name[parts->count++], AB_PART_NAME, "%s", r->name);
    return add_span(&parts->of[at], r, (double)r->dur);
}

/* Runs that `hbg run` makes behind its rounds to look at a build, by their name. They are no rounds, and slower. */
enum { CLOSING_MOST = 4 };
struct closing { const struct trace_record *root[CLOSING_MOST]; size_t count; };

static void find_closing(struct closing *c, const struct trace_log *log)
{
    for (size_t i = 0; i < log->record_count && c->count < CLOSING_MOST; i++) {
        const char *name = log->record[i].depth ? NULL : hbg__trace_note(log, &log->record[i], "run");
        if (name && strcmp(name, TRACE_RUN_BUILT) == 0)
            c->root[c->count++] = &log->record[i];
    }
}

static bool is_closing(const struct closing *c, const struct trace_record *r)
{
    for (size_t i = 0; i < c->count; i++)
        if (r->session == c->root[i]->session && r->invocation == c->root[i]->invocation)
            return true;
    return false;
}

static bool add_spans(struct ab_metric *metric, const struct trace_log *log, struct ab_values *values, struct ab_parts *parts)
{
    size_t length = strlen(metric->text);
    struct closing closing = { .count = 0 };
    bool good = true;

    find_closing(&closing, log);
    for (size_t i = 0; i < log->record_count && good; i++) {
        const struct trace_record *r = &log->record[i];
        uint64_t note = r->dur;

        if (strncmp(r->name, metric->text, length) != 0 || is_closing(&closing, r))
            continue;
        if (r->name[length] == '.' && parts)
            good = add_part(parts, r);
        else if (!r->name[length] && (!metric->note || hbg__trace_number(log, r, metric->note, &note)))
            good = add_span(values, r, (double)note);
    }
    return good;
}

static bool read_span(struct ab_metric *metric, const char *trace, struct ab_values *values, struct ab_parts *parts, char *why, size_t size)
{
    struct trace_log log;
    const char *wrong = hbg__trace_log_read(&log, trace);
    bool good;

    if (wrong) {
        snprintf(why, size, "it left no trace: %s", wrong);
        return false;
    }
    good = add_spans(metric, &log, values, parts);
    if (good && (hbg__trace_log_lost(&log) || hbg__trace_log_unfinished(&log))) {
        snprintf(why, size, "records of its trace are lost");
        good = false;
    }
    hbg__trace_log_free(&log);
    return good;
}

bool hbg__ab_metric_read(struct ab_metric *metric, const char *output, size_t size, const char *trace, double seconds, struct ab_values *values,
                         struct ab_parts *parts, char *why, size_t why_size)
{
    bool good;

    values->count = 0;
    for (size_t i = 0; parts && i < parts->count; i++)
        parts->of[i].count = 0;
    *why = '\0';
    switch (metric->kind) {
    case AB_WALL: good = add(values, seconds, 1); break;
    case AB_REGEX: good = read_regex(metric, output, values, why, why_size); break;
    case AB_JSON: good = read_json(metric, output, size, values, why, why_size); break;
    default: good = read_span(metric, trace, values, parts, why, why_size); break;
    }
    if (good && !values->count) {
        const char *format = metric->kind == AB_REGEX ? "nothing of its output matches `%s`"
                             : metric->note ? "its trace has no span `%s` with that note" : "its trace has no span `%s`";
        snprintf(why, why_size, format, metric->text);
        good = false;
    } else if (!good && !*why) {
        snprintf(why, why_size, "no memory for its numbers");
    }
    return good;
}
