/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `hbg run` prints: text for people, JSON and CSV for programs.
 */
#include "run.h"

#include "base/json_write.h"
#include "cli.h"
#include "inputs.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

static const char *const time_name[TIME_COUNT] = {
#define TIME_TEXT(name) #name,
    RUN_TIMES(TIME_TEXT)
#undef TIME_TEXT
};

/* ---- text ---- */

static void print_time(const char *label, const struct time_statistics *t)
{
    char first[64], median[64], p90[64];

    if (t->has_warm)
        hbg__table_line(label, "%s, p90 %s (first %s)", hbg__table_time((double)t->median, median),
                        hbg__table_time((double)t->p90, p90), hbg__table_time((double)t->first, first));
    else
        hbg__table_line(label, "%s (first and only round)", hbg__table_time((double)t->first, first));
}

/* With one run in flight there is no run before: what is left between launch and start are large copies, if there are any. */
static bool queued_shows(const struct run_outcome *outcome)
{
    const struct time_statistics *queued = &outcome->time[TIME_queued_ns], *run = &outcome->time[TIME_run_ns];

    return queued->has_warm ? queued->median > run->median / 100 : queued->first > run->first / 100;
}

static void print_results(const struct hbg_setup *s)
{
    for (size_t i = 0; i < s->value_count; i++) {
        char label[64];
        snprintf(label, sizeof label, "%s", s->value[i].name);
        for (char *p = label; *p; p++)
            if (*p == '_')
                *p = ' ';
        hbg__table_line(label, "%.8g", s->value[i].value);
    }
    if (s->column_count) {
        putchar('\n');
        hbg__table_numbers(s->column, s->column_count, s->cell, s->row_count);
    }
    if (s->value_count || s->column_count)
        putchar('\n');
}

static void print_verdict(const struct verdict *v)
{
    if (v->has_residual)
        hbg__table_line("residual", "%.3g", v->residual);
    if (v->verified)
        hbg__table_line("verified", "yes: largest error %.3g, the same bits in all %llu runs", v->max_abs_error, (unsigned long long)v->runs);
    else
        hbg__table_line("verified", "NO: %s (largest error %.3g)", v->text, v->max_abs_error);
}

/* the parameters that are not at their defaults */
static void print_workload(const struct hbg_setup *s)
{
    size_t changed = 0;

    printf("%-24s %s", "workload", s->workload.name);
    for (size_t i = 0; i < s->param_count; i++) {
        const char *value = s->param[i].value;
        if (strcmp(value, s->param[i].usual) == 0)
            continue;
        printf(" %s=%s", s->param[i].name, value);
        changed++;
    }
    if (changed < s->param_count)
        fputs(changed ? ", the others at their defaults" : " with its defaults", stdout);
    putchar('\n');
}

/* every run that there was: before, among and after the timed ones */
static void print_rounds(const struct run_request *request, const struct run_outcome *outcome)
{
    char built[64] = "", text[64];

    if (outcome->built_runs)
        snprintf(built, sizeof built, ", and %llu that %s built after them", (unsigned long long)outcome->built_runs,
                 outcome->built_runs == 1 ? "is" : "are");
    hbg__table_line("rounds", "%llu, %llu of them replayed, after %llu to warm up%s", (unsigned long long)outcome->rounds_done,
                    (unsigned long long)outcome->replayed, (unsigned long long)request->warmup, built);
    if (outcome->rounds_done)
        hbg__table_line("in flight", "%u at a time, one every %s%s", outcome->depth, hbg__table_time((double)(outcome->rounds_ns / outcome->rounds_done), text),
                        strncmp(request->device, "sim", 3) == 0 ? " of the host; the times below are simulated" : "");
}

void hbg__run_print_text(const struct hbg_setup *s, const struct run_request *request, const struct run_outcome *outcome)
{
    char text[64], copies[64];

    print_workload(s);
    hbg__table_line("device", "%s", request->device);
    if (s->random_drawn)
        hbg__table_line("seed", "%llu", (unsigned long long)s->seed);
    putchar('\n');
    print_results(s);
    hbg__table_line("tasks", "%s", hbg__table_count(outcome->tasks, text));
    hbg__table_line("edges", "%s%s", hbg__table_count(outcome->edges, text),
                    outcome->counters.subgraphs_recorded + outcome->counters.subgraphs_replayed ? ", those inside of subgraphs' bodies not counted" : "");
    print_rounds(request, outcome);
    hbg__table_line("bytes shipped", "%s in %s %s, by a warm round that is built", hbg__table_bytes(outcome->upload_bytes, text),
                    hbg__table_count(outcome->upload_copies, copies), outcome->upload_copies == 1 ? "copy" : "copies");
    print_time("bind time", &outcome->time[TIME_bind_ns]);
    if (outcome->depth > 1 || queued_shows(outcome))
        print_time("queued", &outcome->time[TIME_queued_ns]);
    print_time("device time", &outcome->time[TIME_device_ns]);
    print_time("run time", &outcome->time[TIME_run_ns]);
    if (request->verify)
        print_verdict(&outcome->verdict);
    else
        hbg__table_line("verified", "not asked (--verify)");
    if (request->explain)
        hbg__explain_print(&outcome->explanation, &outcome->counters);
}

/* ---- JSON ---- */

static void json_object(struct hbg__json *j, const char *key)
{
    hbg__json_key(j, key);
    hbg__json_open_object(j);
}

static void json_null(struct hbg__json *j, const char *key)
{
    hbg__json_key(j, key);
    hbg__json_null(j);
}

static void json_time(struct hbg__json *j, const char *name, const struct time_statistics *t)
{
    json_object(j, name);
    hbg__json_key_u64(j, "first", t->first);
    if (t->has_warm) {
        hbg__json_key_u64(j, "min", t->min);
        hbg__json_key_u64(j, "median", t->median);
        hbg__json_key_u64(j, "p90", t->p90);
    } else {
        json_null(j, "min");
        json_null(j, "median");
        json_null(j, "p90");
    }
    hbg__json_close(j);
}

static void json_counters(struct hbg__json *j, const struct hbg_counters *c)
{
#define COUNTER(name) hbg__json_key_u64(j, #name, c->name);
    json_object(j, "counters");
    HBG_COUNTER_MAP(COUNTER)
    hbg__json_close(j);
#undef COUNTER
}

static void json_error(struct hbg__json *j, const struct run_outcome *outcome)
{
    const struct hbg_error *e = &outcome->error;

    json_object(j, "error");
    hbg__json_key_string(j, "step", outcome->step);
    hbg__json_key_string(j, "text", e->text);
    if (e->task == UINT32_MAX)
        json_null(j, "task");
    else
        hbg__json_key_u64(j, "task", e->task);
    hbg__json_key_string(j, "name", e->name);
    hbg__json_key_i64(j, "code", e->code);
    hbg__json_key_i64(j, "detail", e->detail);
    hbg__json_close(j);
}

static void json_results(struct hbg__json *j, const struct hbg_setup *s)
{
    json_object(j, "results");
    for (size_t i = 0; i < s->value_count; i++)
        hbg__json_key_f64(j, s->value[i].name, s->value[i].value);
    if (s->column_count) {
        hbg__json_key(j, "table");
        hbg__json_open_array(j);
        for (size_t i = 0; i < s->row_count; i++) {
            hbg__json_open_object(j);
            for (size_t k = 0; k < s->column_count; k++)
                hbg__json_key_f64(j, s->column[k], s->cell[i * s->column_count + k]);
            hbg__json_close(j);
        }
        hbg__json_close(j);
    }
    hbg__json_close(j);
}

static void json_request(struct hbg__json *j, const struct hbg_setup *s, const struct run_request *request)
{
    hbg__json_key_string(j, "workload", s->workload.name);
    json_object(j, "parameters");
    for (size_t i = 0; i < s->param_count; i++)
        hbg__inputs_json_parameter(j, &s->param[i]);
    hbg__json_close(j);
    hbg__json_key_string(j, "device", request->device);
    hbg__json_key_u64(j, "seed", s->seed);
    hbg__json_key_string(j, "version", hbg_version());
}

static void json_verdict(struct hbg__json *j, const struct verdict *v)
{
    char digest[24];

    if (!v->runs) {
        json_null(j, "max_abs_error");
        return;
    }
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)v->digest);
    hbg__json_key_f64(j, "max_abs_error", v->max_abs_error);
    if (v->has_residual)
        hbg__json_key_f64(j, "residual", v->residual);
    hbg__json_key_string(j, "digest", digest);
}

bool hbg__run_print_json(FILE *file, const struct hbg_setup *s, const struct run_request *request, const struct run_outcome *outcome)
{
    const struct verdict *v = &outcome->verdict;
    struct hbg__json json, *j = &json;

    hbg__json_begin(j, file);
    hbg__json_open_object(j);
    json_request(j, s, request);
    hbg__json_key_string(j, "status", hbg_status_name(outcome->status));
    if (outcome->status != HBG_OK)
        json_error(j, outcome);
    hbg__json_key_u64(j, "tasks", outcome->tasks);
    hbg__json_key_u64(j, "edges", outcome->edges);
    hbg__json_key_u64(j, "rounds", outcome->rounds_done);
    hbg__json_key_u64(j, "warmup", request->warmup);
    hbg__json_key_u64(j, "depth", outcome->depth);
    hbg__json_key_u64(j, "rounds_ns", outcome->rounds_ns);
    hbg__json_key_bool(j, "verified", request->verify && outcome->status == HBG_OK && v->runs && v->verified);
    json_verdict(j, v);
    for (int i = 0; i < TIME_COUNT; i++)
        json_time(j, time_name[i], &outcome->time[i]);
    hbg__json_key_u64(j, "upload_bytes", outcome->upload_bytes);
    hbg__json_key_u64(j, "upload_copies", outcome->upload_copies);
    hbg__json_key_u64(j, "replayed", outcome->replayed);
    json_counters(j, &outcome->counters);
    if (request->explain)
        hbg__explain_json(j, &outcome->explanation);
    json_results(j, s);
    hbg__json_close(j);
    return hbg__json_end(j);
}

/* ---- CSV ---- */

/* the fewest of 15, 16 and 17 digits that read back as the same number */
static void print_cell(FILE *file, double value)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, file);
}

/* as RFC 4180 has it: in quotes, its own quotes doubled, where it holds what ends a field */
static void print_name(FILE *file, const char *name)
{
    bool quoted = name[strcspn(name, ",\"\r\n")] != '\0';

    if (quoted)
        fputc('"', file);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', file);
        fputc(*name, file);
    }
    if (quoted)
        fputc('"', file);
}

void hbg__run_print_csv(FILE *file, const struct hbg_setup *s)
{
    for (size_t k = 0; k < s->column_count; k++) {
        if (k)
            fputc(',', file);
        print_name(file, s->column[k]);
    }
    fputc('\n', file);
    for (size_t i = 0; i < s->row_count; i++) {
        for (size_t k = 0; k < s->column_count; k++) {
            if (k)
                fputc(',', file);
            print_cell(file, s->cell[i * s->column_count + k]);
        }
        fputc('\n', file);
    }
}
