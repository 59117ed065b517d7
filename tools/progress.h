/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A progress line on standard error, for people.
 *
 * Nothing is written unless standard error is a terminal, nothing in the first half second, and at most ten lines a
 * second after that; the line is taken away at the end.
 */
#ifndef HBG_TOOLS_PROGRESS_H
#define HBG_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *label;
    uint64_t total;                     /* 0: not known */
    uint64_t start_ns, shown_ns;
    bool visible;                       /* standard error is a terminal */
    bool shown;
};

void hbg__progress_begin(struct progress *p, const char *label, uint64_t total);
void hbg__progress_step(struct progress *p, uint64_t done);

/* for work that cannot report steps: shows the label at once */
void hbg__progress_announce(struct progress *p);
void hbg__progress_end(struct progress *p);

#endif
