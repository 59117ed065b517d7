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
#include <string.h>

#include "base/plural.h"

/* What is asked of a run; false: its trace lacks something by which it could be told. */
struct identity { uint64_t prepare_begin, prepare_end, wall_begin, wall_end, accepted, slot; };

static bool identify(const struct trace_rounds *t, const struct trace_round *round, struct identity *id)
{
    const struct trace_record *bind = hbg__trace_round_find(t, round, TRACE_RUN ".bind");
    const struct trace_record *prepare = hbg__trace_round_find(t, round, TRACE_RUN ".prepare_execution");
    const struct trace_record *wall = hbg__trace_round_find(t, round, TRACE_WALL);
    uint64_t slot;

    if (!round->root || !bind || !prepare || !wall || !hbg__trace_number(t->log, wall, "accepted", &id->accepted) ||
        !hbg__trace_number(t->log, wall, "slot", &id->slot) || !hbg__trace_number(t->log, round->root, "slot", &slot) || slot != id->slot)
        return false;
    id->prepare_begin = bind->ts;
    id->prepare_end = prepare->ts + prepare->dur;
    id->wall_begin = wall->ts;
    id->wall_end = wall->ts + wall->dur;
    return id->accepted <= id->wall_begin;
}

/* The run of that session whose device work began next; NULL: none. */
static const struct trace_round *next_of(const struct trace_rounds *t, size_t i)
{
    return i + 1 < t->round_count && t->round[i + 1].session == t->round[i].session ? &t->round[i + 1] : NULL;
}

/* Did the device work for a run before run i, one of those that can be in flight with it, while that was prepared? */
static bool overlaps(const struct trace_rounds *t, size_t i, const struct identity *late)
{
    enum { IN_FLIGHT = 16 };
    struct identity before;

    for (size_t back = 1; back <= IN_FLIGHT && back <= i && t->round[i - back].session == t->round[i].session; back++)
        if (identify(t, &t->round[i - back], &before) && late->prepare_begin < before.wall_end && before.accepted < late->prepare_end)
            return true;
    return false;
}

bool hbg__trace_overlap(FILE *file, const struct trace_rounds *t)
{
    uint64_t pairs = 0, overlapping = 0, early = 0, unknown = 0;

    for (size_t i = 0; i < t->round_count; i++) {
        const struct trace_round *this = &t->round[i], *next = next_of(t, i);
        struct identity a, b;

        if (this->cold || !next)
            continue;
        pairs++;
        if (!identify(t, this, &a) || !identify(t, next, &b) || next->invocation != this->invocation + 1) {
            unknown++;
            continue;
        }
        overlapping += overlaps(t, i + 1, &b);
        early += b.wall_begin < a.wall_end || b.accepted < a.wall_end;
    }
    fprintf(file, "overlap: %" PRIu64 " pair%s of warm runs; in %" PRIu64 " the later one was prepared while the device worked for one before it; in %" PRIu64
            " it was on the device before the other was done; %" PRIu64 " %s a span or a value\n", pairs, hbg__s(pairs), overlapping, early, unknown, unknown == 1 ? "lacks" : "lack");
    return pairs > 0 && unknown == 0 && early == 0 && 2 * overlapping > pairs;
}
