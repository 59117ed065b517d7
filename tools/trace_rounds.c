/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds, programs and phases of a trace.
 */
#include "trace_rounds.h"

#include <stdlib.h>
#include <string.h>

/* ---- order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_u64(const void *a, const void *b)
{
    return compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* By round, then as a tree is read. */
static int compare_records(const void *a, const void *b)
{
    const struct trace_record *x = *(const struct trace_record *const *)a, *y = *(const struct trace_record *const *)b;
    int order = compare(x->session, y->session);

    if (!order)
        order = compare(x->invocation, y->invocation);
    if (!order)
        order = compare(x->ts, y->ts);
    if (!order)
        order = compare(x->depth, y->depth);
    if (!order)
        order = compare(y->dur, x->dur);
    return order ? order : compare(x->sequence, y->sequence);
}

static bool is_of_run(const struct trace_record *r)
{
    return r->invocation && strncmp(r->name, TRACE_RUN, sizeof TRACE_RUN - 1) == 0;
}

/* ---- phases ---- */

/* The phase of that name, made behind `after` where there is none yet; NULL: no memory. */
static struct trace_phase *phase_of(struct trace_program *p, const struct trace_record *r, size_t after)
{
    for (size_t i = 0; i < p->phase_count; i++)
        if (strcmp(p->phase[i].name, r->name) == 0)
            return &p->phase[i];
    if (p->phase_count == p->phase_room) {
        size_t room = p->phase_room ? p->phase_room * 2 : 16;
        struct trace_phase *more = realloc(p->phase, room * sizeof *more);

        if (!more)
            return NULL;
        p->phase = more;
        p->phase_room = room;
    }
    if (after > p->phase_count)
        after = p->phase_count;
    memmove(p->phase + after + 1, p->phase + after, (p->phase_count - after) * sizeof *p->phase);
    p->phase_count++;
    p->phase[after] = (struct trace_phase){ .name = r->name, .depth = r->depth, .first = r->dur };
    return &p->phase[after];
}

static bool add_sample(struct trace_phase *phase, uint64_t value)
{
    if (phase->warm == phase->sample_room) {
        size_t room = phase->sample_room ? phase->sample_room * 2 : 16;
        uint64_t *more = realloc(phase->sample, room * sizeof *more);

        if (!more)
            return false;
        phase->sample = more;
        phase->sample_room = room;
    }
    phase->sample[phase->warm++] = value;
    phase->sum += value;
    return true;
}

static void finish_phases(struct trace_program *p)
{
    for (size_t i = 0; i < p->phase_count; i++) {
        struct trace_phase *phase = &p->phase[i];
        size_t n = phase->warm;

        if (!n)
            continue;
        qsort(phase->sample, n, sizeof *phase->sample, compare_u64);
        phase->min = phase->sample[0];
        phase->median = n % 2 ? phase->sample[n / 2] : phase->sample[n / 2 - 1] / 2 + phase->sample[n / 2] / 2;
        phase->p90 = phase->sample[(9 * n + 9) / 10 - 1];
    }
}

/* Each phase of a round into its program's; tasks are none. */
static bool count_phases(struct trace_rounds *t, const struct trace_round *round)
{
    struct trace_program *p = &t->program[round->program];
    size_t after = 0;

    for (size_t i = 0; i < round->count; i++) {
        const struct trace_record *r = t->record[round->first + i];
        struct trace_phase *phase;

        if (strncmp(r->name, TRACE_WALL ".", sizeof TRACE_WALL) == 0)
            continue;
        phase = phase_of(p, r, after);
        if (!phase)
            return false;
        after = (size_t)(phase - p->phase) + 1;
        phase->count++;
        if (!round->cold && !add_sample(phase, r->dur))
            return false;
    }
    return true;
}

static bool count_user(struct trace_rounds *t)
{
    for (size_t i = 0; i < t->log->record_count; i++) {
        const struct trace_record *r = &t->log->record[i];
        struct trace_phase *phase;

        if (strncmp(r->name, TRACE_USER, sizeof TRACE_USER - 1) != 0)
            continue;
        phase = phase_of(&t->user, r, SIZE_MAX);
        if (!phase || !add_sample(phase, r->dur))
            return false;
        phase->count++;
    }
    finish_phases(&t->user);
    return true;
}

/* ---- rounds ---- */

static bool program_of(struct trace_rounds *t, uint64_t hash, size_t *found)
{
    struct trace_program *more;

    for (*found = 0; *found < t->program_count; ++*found)
        if (t->program[*found].hash == hash)
            return true;
    more = realloc(t->program, (t->program_count + 1) * sizeof *more);
    if (!more)
        return false;
    t->program = more;
    t->program[t->program_count++] = (struct trace_program){ .hash = hash, .name = "?" };
    return true;
}

const char *hbg__trace_run_name(const struct trace_rounds *rounds, const struct trace_round *round)
{
    return round->root ? hbg__trace_note(rounds->log, round->root, "run") : NULL;
}

/* The round's span, and which of its program's rounds in this session it is. */
static bool fill_round(struct trace_rounds *t, struct trace_round *round, uint64_t cold)
{
    const struct trace_record *first = t->record[round->first];
    struct trace_program *program;
    const char *name, *run_name;

    round->session = first->session;
    round->invocation = first->invocation;
    round->begin = first->ts;
    for (size_t i = 0; i < round->count; i++) {
        const struct trace_record *r = t->record[round->first + i];

        if (r->ts + r->dur > round->end)
            round->end = r->ts + r->dur;
        if (strcmp(r->name, TRACE_RUN) == 0)
            round->root = r;
    }
    if (!program_of(t, first->program, &round->program))
        return false;
    program = &t->program[round->program];
    if (program->rounds == 0 || program->session != round->session)
        program->session_rounds = 0;
    program->session = round->session;
    round->cold = program->session_rounds++ < cold;
    run_name = hbg__trace_run_name(t, round);
    if (program->rounds == 0)
        program->run_name = run_name;
    else if (!run_name || (program->run_name && strcmp(program->run_name, run_name) != 0))
        program->run_name = NULL;
    program->rounds++;
    program->cold += round->cold;
    name = round->root ? hbg__trace_note(t->log, round->root, "program") : NULL;
    if (name)
        program->name = name;
    return true;
}

/* Records that follow one another and are of one run. */
static size_t round_end(const struct trace_rounds *t, size_t first)
{
    size_t end = first + 1;

    while (end < t->record_count && t->record[end]->session == t->record[first]->session &&
           t->record[end]->invocation == t->record[first]->invocation)
        end++;
    return end;
}

static bool make(struct trace_rounds *t, uint64_t cold)
{
    const struct trace_log *log = t->log;
    size_t room = log->record_count ? log->record_count : 1;

    t->record = malloc(room * sizeof *t->record);
    t->round = malloc(room * sizeof *t->round);
    if (!t->record || !t->round)
        return false;
    for (size_t i = 0; i < log->record_count; i++)
        if (is_of_run(&log->record[i]))
            t->record[t->record_count++] = &log->record[i];
    qsort(t->record, t->record_count, sizeof *t->record, compare_records);
    for (size_t first = 0, end; first < t->record_count; first = end) {
        struct trace_round *round = &t->round[t->round_count];

        end = round_end(t, first);
        *round = (struct trace_round){ .first = first, .count = end - first };
        if (!fill_round(t, round, cold) || !count_phases(t, round))
            return false;
        t->round_count++;
    }
    for (size_t i = 0; i < t->program_count; i++)
        finish_phases(&t->program[i]);
    return count_user(t);
}

bool hbg__trace_rounds_make(struct trace_rounds *rounds, const struct trace_log *log, uint64_t cold)
{
    memset(rounds, 0, sizeof *rounds);
    rounds->log = log;
    if (make(rounds, cold))
        return true;
    hbg__trace_rounds_free(rounds);
    return false;
}

static void free_phases(struct trace_program *p)
{
    for (size_t i = 0; i < p->phase_count; i++)
        free(p->phase[i].sample);
    free(p->phase);
}

void hbg__trace_rounds_free(struct trace_rounds *rounds)
{
    for (size_t i = 0; i < rounds->program_count; i++)
        free_phases(&rounds->program[i]);
    free_phases(&rounds->user);
    free(rounds->program);
    free(rounds->round);
    free(rounds->record);
    memset(rounds, 0, sizeof *rounds);
}

const struct trace_record *hbg__trace_round_find(const struct trace_rounds *rounds, const struct trace_round *round, const char *name)
{
    for (size_t i = 0; i < round->count; i++)
        if (strcmp(rounds->record[round->first + i]->name, name) == 0)
            return rounds->record[round->first + i];
    return NULL;
}
