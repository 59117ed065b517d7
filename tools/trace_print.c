/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of `hbg trace`: text for people, JSON for programs.
 */
#include "trace_rounds.h"

#include "base/json_write.h"
#include "base/plural.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

/* ---- text ---- */

static const char *leaf(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strncmp(name, TRACE_RUN ".", sizeof TRACE_RUN) == 0 ? dot + 1 : name;
}

static void print_label(FILE *file, const char *name, uint32_t depth)
{
    int indent = (int)(depth < 8 ? depth : 8) * 2;

    fprintf(file, "  %*s", indent, "");
    for (const char *c = leaf(name); *c; c++, indent++)
        fputc((unsigned char)*c < ' ' || *c == 127 ? '?' : *c, file);
    fprintf(file, "%*s", indent < 28 ? 28 - indent : 1, "");
}

/* A number of `has` values, or a dash. */
static void print_time(FILE *file, bool has, uint64_t ns)
{
    char text[64];

    fprintf(file, " %11s", has ? hbg__table_time((double)ns, text) : "-");
}

static uint64_t run_sum(const struct trace_program *p)
{
    return p->phase_count && strcmp(p->phase[0].name, TRACE_RUN) == 0 ? p->phase[0].sum : 0;
}

static void print_phases(FILE *file, const struct trace_program *p, const char *count_name)
{
    uint64_t sum = run_sum(p);

    fprintf(file, "  %-28s %11s %11s %11s %11s %8s %7s\n", "", "first", "min", "median", "p90", "share", count_name);
    for (size_t i = 0; i < p->phase_count; i++) {
        const struct trace_phase *phase = &p->phase[i];

        print_label(file, phase->name, phase->depth);
        print_time(file, true, phase->first);
        print_time(file, phase->warm, phase->min);
        print_time(file, phase->warm, phase->median);
        print_time(file, phase->warm, phase->p90);
        if (sum && phase->warm)
            fprintf(file, " %6.1f %%", 100 * (double)phase->sum / (double)sum);
        else
            fprintf(file, " %8s", "-");
        fprintf(file, " %7zu\n", phase->warm);
    }
}

/* Without a warm run there is nothing to compare: the runs themselves, side by side. */
static void print_cold(FILE *file, const struct trace_rounds *t, size_t program)
{
    enum { SHOWN = 4 };
    const struct trace_program *p = &t->program[program];
    const struct trace_round *shown[SHOWN];
    int count = 0;

    fprintf(file, "  %-28s", "");
    for (size_t i = 0; i < t->round_count && count < SHOWN; i++)
        if (t->round[i].program == program) {
            char head[32];
            shown[count++] = &t->round[i];
            snprintf(head, sizeof head, "run %" PRIu64, t->round[i].invocation);
            fprintf(file, " %11s", head);
        }
    fprintf(file, "%s\n", p->rounds > SHOWN ? "  .." : "");
    for (size_t i = 0; i < p->phase_count; i++) {
        print_label(file, p->phase[i].name, p->phase[i].depth);
        for (int k = 0; k < count; k++) {
            const struct trace_record *r = hbg__trace_round_find(t, shown[k], p->phase[i].name);
            print_time(file, r != NULL, r ? r->dur : 0);
        }
        fputs("\n", file);
    }
}

static void print_program(FILE *file, const struct trace_rounds *t, size_t program)
{
    const struct trace_program *p = &t->program[program];

    fprintf(file, "program %s (%016" PRIx64 "): %zu run%s", p->name, p->hash, p->rounds, hbg__s(p->rounds));
    if (p->run_name)
        fprintf(file, " named %s", p->run_name);
    if (p->cold == p->rounds) {
        fputs(", none of them warm\n", file);
        print_cold(file, t, program);
        return;
    }
    fprintf(file, ", %zu of them cold; min, median, p90 and share are of the warm ones\n", p->cold);
    print_phases(file, p, "warm");
}

static const char *const columns[] = { "chip.run", "chip.run.bind", "chip.run.bind.build", "chip.run.bind.upload", "chip.run.prepare_execution",
                                       "chip.run.runner_run", TRACE_WALL, "chip.run.validate" };
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_round_table(FILE *file, const struct trace_rounds *t)
{
    fprintf(file, "\nrounds\n  %6s %6s", "pid", "run");
    for (int i = 0; i < COLUMNS; i++)
        fprintf(file, " %11.11s", strcmp(leaf(columns[i]), "prepare_execution") == 0 ? "prepare" : leaf(columns[i]));
    fputs("\n", file);
    for (size_t i = 0; i < t->round_count; i++) {
        const struct trace_round *round = &t->round[i];

        fprintf(file, "  %6" PRIu32 " %6" PRIu64, t->log->session[round->session].pid, round->invocation);
        for (int k = 0; k < COLUMNS; k++) {
            const struct trace_record *r = hbg__trace_round_find(t, round, columns[k]);
            print_time(file, r != NULL, r ? r->dur : 0);
        }
        const char *status = round->root ? hbg__trace_note(t->log, round->root, "status") : NULL;
        const char *name = hbg__trace_run_name(t, round);
        fprintf(file, "%s%s%s%s%s\n", round->cold ? "  cold" : "", name ? "  " : "", name ? name : "", status && strcmp(status, "HBG_OK") == 0 ? "" : "  ",
                status ? (strcmp(status, "HBG_OK") == 0 ? "" : status) : "?");
    }
}

static void print_tree(FILE *file, const struct trace_rounds *t, const struct trace_round *round)
{
    fprintf(file, "\nrun %" PRIu64 " of process %" PRIu32 "%s: begin within the run, duration, values\n", round->invocation,
            t->log->session[round->session].pid, round->cold ? ", cold" : "");
    for (size_t i = 0; i < round->count; i++) {
        const struct trace_record *r = t->record[round->first + i];

        print_label(file, r->name, r->depth);
        print_time(file, true, r->ts - round->begin);
        print_time(file, true, r->dur);
        for (uint32_t k = 0; k < r->note_count; k++)
            fprintf(file, " %s=%s", t->log->note[r->first_note + k].key, t->log->note[r->first_note + k].value);
        fputs("\n", file);
    }
}

/* Of a program the first round, and the warm one that comes next to the median. */
static void print_trees(FILE *file, const struct trace_rounds *t)
{
    for (size_t p = 0; p < t->program_count; p++) {
        const struct trace_round *first = NULL, *middle = NULL;
        uint64_t median = t->program[p].phase_count ? t->program[p].phase[0].median : 0, nearest = UINT64_MAX;

        for (size_t i = 0; i < t->round_count; i++) {
            const struct trace_round *round = &t->round[i];
            uint64_t length = round->end - round->begin, off = length > median ? length - median : median - length;

            if (round->program != p)
                continue;
            if (!first)
                first = round;
            if (!round->cold && off < nearest) {
                nearest = off;
                middle = round;
            }
        }
        print_tree(file, t, first);
        if (middle && middle != first)
            print_tree(file, t, middle);
    }
}

void hbg__trace_print(FILE *file, const struct trace_rounds *rounds, const struct trace_wish *wish)
{
    for (size_t i = 0; i < rounds->program_count; i++) {
        if (i)
            fputs("\n", file);
        print_program(file, rounds, i);
    }
    if (rounds->user.phase_count) {
        fputs("\nspans of users\n", file);
        print_phases(file, &rounds->user, "count");
    }
    if (wish->rounds)
        print_round_table(file, rounds);
    if (wish->tree)
        print_trees(file, rounds);
}

/* ---- JSON ---- */

static void write_phases(struct hbg__json *json, const char *key, const struct trace_program *p)
{
    uint64_t sum = run_sum(p);

    hbg__json_key(json, key);
    hbg__json_open_array(json);
    for (size_t i = 0; i < p->phase_count; i++) {
        const struct trace_phase *phase = &p->phase[i];

        hbg__json_open_object(json);
        hbg__json_key_string(json, "name", phase->name);
        hbg__json_key_u64(json, "depth", phase->depth);
        hbg__json_key_u64(json, "count", phase->count);
        hbg__json_key_u64(json, "warm", phase->warm);
        hbg__json_key_u64(json, "first_ns", phase->first);
        if (phase->warm) {
            hbg__json_key_u64(json, "min_ns", phase->min);
            hbg__json_key_u64(json, "median_ns", phase->median);
            hbg__json_key_u64(json, "p90_ns", phase->p90);
        }
        if (phase->warm && sum)
            hbg__json_key_f64(json, "share", (double)phase->sum / (double)sum);
        hbg__json_close(json);
    }
    hbg__json_close(json);
}

static void write_round(struct hbg__json *json, const struct trace_rounds *t, const struct trace_round *round)
{
    hbg__json_open_object(json);
    hbg__json_key_u64(json, "pid", t->log->session[round->session].pid);
    hbg__json_key_u64(json, "device", t->log->session[round->session].device);
    hbg__json_key_u64(json, "invocation", round->invocation);
    hbg__json_key_bool(json, "cold", round->cold);
    if (hbg__trace_run_name(t, round))
        hbg__json_key_string(json, "name", hbg__trace_run_name(t, round));
    hbg__json_key(json, "spans");
    hbg__json_open_array(json);
    for (size_t i = 0; i < round->count; i++) {
        const struct trace_record *r = t->record[round->first + i];

        hbg__json_open_object(json);
        hbg__json_key_string(json, "name", r->name);
        hbg__json_key_u64(json, "depth", r->depth);
        hbg__json_key_u64(json, "tid", r->tid);
        hbg__json_key_u64(json, "ts", r->ts);
        hbg__json_key_u64(json, "dur", r->dur);
        hbg__json_key(json, "values");
        hbg__json_open_object(json);
        for (uint32_t k = 0; k < r->note_count; k++)
            hbg__json_key_string(json, t->log->note[r->first_note + k].key, t->log->note[r->first_note + k].value);
        hbg__json_close(json);
        hbg__json_close(json);
    }
    hbg__json_close(json);
    hbg__json_close(json);
}

bool hbg__trace_print_json(FILE *file, const struct trace_rounds *t, uint64_t cold)
{
    struct hbg__json json;

    hbg__json_begin(&json, file);
    hbg__json_open_object(&json);
    hbg__json_key_u64(&json, "records", t->log->record_count);
    hbg__json_key_u64(&json, "lost", hbg__trace_log_lost(t->log));
    hbg__json_key_u64(&json, "torn", t->log->torn);
    hbg__json_key_u64(&json, "unfinished", hbg__trace_log_unfinished(t->log));
    hbg__json_key_u64(&json, "cold", cold);
    hbg__json_key(&json, "programs");
    hbg__json_open_array(&json);
    for (size_t i = 0; i < t->program_count; i++) {
        char hash[17];

        snprintf(hash, sizeof hash, "%016" PRIx64, t->program[i].hash);
        hbg__json_open_object(&json);
        hbg__json_key_string(&json, "name", t->program[i].name);
        hbg__json_key_string(&json, "hash", hash);
        hbg__json_key_u64(&json, "rounds", t->program[i].rounds);
        hbg__json_key_u64(&json, "cold", t->program[i].cold);
        write_phases(&json, "phases", &t->program[i]);
        hbg__json_close(&json);
    }
    hbg__json_close(&json);
    write_phases(&json, "user", &t->user);
    hbg__json_key(&json, "rounds");
    hbg__json_open_array(&json);
    for (size_t i = 0; i < t->round_count; i++)
        write_round(&json, t, &t->round[i]);
    hbg__json_close(&json);
    hbg__json_close(&json);
    return hbg__json_end(&json);
}
