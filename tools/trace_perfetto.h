/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as JSON of trace events, which ui.perfetto.dev and chrome://tracing open.
 *
 * Each session is a process with these lanes, in each of which spans nest: one for each host thread, with the phases that it was in
 * and its own spans; one for each pipeline slot, with runs, launches and device time; the scheduler, with the device's work; one for
 * each core, with tasks. Counters say how many tasks wait, are ready, run. Arrows for edges only where they are asked for.
 */
#ifndef HBG_TOOLS_TRACE_PERFETTO_H
#define HBG_TOOLS_TRACE_PERFETTO_H

#include "trace_rounds.h"

/* At most `flows` edges; *drawn and *edges say how many there are. False: not all of it was written. */
bool hbg__trace_perfetto(FILE *file, const struct trace_rounds *rounds, uint64_t flows, uint64_t *drawn, uint64_t *edges);

#endif
