/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the runs of a trace overlap as a pipeline's should?
 *
 *     run N       prepare | launch |== device ==| finish
 *     run N+1             | prepare  | launch    |== device ==| finish
 *                             ^ overlaps             ^ not before N's is over
 *
 * With more than two runs in flight a run is prepared behind those that are queued: the device works for one further ahead.
 */
#include "trace_rounds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"

/* What is asked of a run. */
struct identity { uint64_t prepare_begin, prepare_end, wall_begin, wall_end, accepted, slot; uint32_t session; bool cold; };

/* False: its trace lacks something by which it could be told. */
static bool identify(const struct trace_rounds *t, const struct trace_round *round, struct identity *id)
{
    const struct trace_record *bind = hbg__trace_round_find(t, round, TRACE_RUN ".bind");
    const struct trace_record *wait = hbg__trace_round_find(t, round, TRACE_RUN ".bind.wait");      /* for a run in flight with the same data: that is no preparing */
    const struct trace_record *prepare = hbg__trace_round_find(t, round, TRACE_RUN ".prepare_execution");
    const struct trace_record *wall = hbg__trace_round_find(t, round, TRACE_WALL);
    uint64_t slot;

    if (!round->root || !bind || !prepare || !wall || !hbg__trace_number(t->log, wall, "accepted", &id->accepted) ||
        !hbg__trace_number(t->log, wall, "slot", &id->slot) || !hbg__trace_number(t->log, round->root, "slot", &slot) || slot != id->slot)
        return false;
    id->prepare_begin = wait ? wait->ts + wait->dur : bind->ts;
    id->prepare_end = prepare->ts + prepare->dur;
    id->wall_begin = wall->ts;
    id->wall_end = wall->ts + wall->dur;
    id->session = round->session;
    id->cold = round->cold;
    return id->accepted <= id->wall_begin;
}

/* A run that was never on the device: refused, dropped, or cancelled behind others. */
static bool never_began(const struct trace_rounds *t, const struct trace_round *round)
{
    const char *status = round->root ? hbg__trace_note(t->log, round->root, "status") : NULL;
    return status && strcmp(status, "HBG_OK") != 0 && !hbg__trace_round_find(t, round, TRACE_WALL);
}

/* In each session as the device took them. */
static int compare_taken(const void *a, const void *b)
{
    const struct identity *x = a, *y = b;
    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    if (x->accepted != y->accepted)
        return x->accepted < y->accepted ? -1 : 1;
    return (x->wall_begin > y->wall_begin) - (x->wall_begin < y->wall_begin);
}

/* Did the device work for a run before run i, one of those that can be in flight with it, while that was prepared? */
static bool overlaps(const struct identity *taken, size_t i)
{
    enum { IN_FLIGHT = 16 };

    for (size_t back = 1; back <= IN_FLIGHT && back <= i && taken[i - back].session == taken[i].session; back++)
        if (taken[i].prepare_begin < taken[i - back].wall_end && taken[i - back].accepted < taken[i].prepare_end)
            return true;
    return false;
}

/* The runs that were on the device; *unknown counts those of which something is missing, or all. Owned; NULL: no memory. */
static struct identity *take(const struct trace_rounds *t, size_t *count, uint64_t *unknown)
{
    struct identity *taken = calloc(t->round_count + 1, sizeof *taken);

    for (size_t i = 0; taken && i < t->round_count; i++) {
        const struct trace_round *round = &t->round[i], *before = i ? round - 1 : NULL;
        if (before && before->session == round->session)
            *unknown += round->invocation - before->invocation - 1;
        if (identify(t, round, &taken[*count]))
            ++*count;
        else
            *unknown += !never_began(t, round);
    }
    if (taken)
        qsort(taken, *count, sizeof *taken, compare_taken);
    return taken;
}

bool hbg__trace_overlap(FILE *file, const struct trace_rounds *t)
{
    uint64_t pairs = 0, overlapping = 0, early = 0, unknown = 0;
    size_t count = 0;
    struct identity *taken = take(t, &count, &unknown);

    for (size_t i = 1; taken && i < count; i++) {
        const struct identity *before = &taken[i - 1];
        if (before->cold || before->session != taken[i].session)
            continue;
        pairs++;
        overlapping += overlaps(taken, i);
        early += taken[i].wall_begin < before->wall_end || taken[i].accepted < before->wall_end;
    }
    free(taken);
    fprintf(file, "overlap: %" PRIu64 " pair%s of warm runs; in %" PRIu64 " the later one was prepared while the device worked for one before it; in %" PRIu64
            " it was on the device before the other was done; %" PRIu64 " %s a span or a value\n", pairs, hbg__s(pairs), overlapping, early, unknown, unknown == 1 ? "lacks" : "lack");
    return pairs > 0 && unknown == 0 && early == 0 && 2 * overlapping > pairs;
}
