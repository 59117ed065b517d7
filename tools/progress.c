/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress line.
 */
#include "progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

static const uint64_t QUIET_NS = 500000000, PERIOD_NS = 100000000;

void hbg__progress_begin(struct progress *p, const char *label, uint64_t total)
{
    p->label = label;
    p->total = total;
    p->visible = isatty(STDERR_FILENO) == 1;
    p->shown = false;
    p->start_ns = p->visible ? hbg__clock_ns() : 0;
    p->shown_ns = 0;
}

void hbg__progress_step(struct progress *p, uint64_t done)
{
    uint64_t now;

    if (!p->visible)
        return;
    now = hbg__clock_ns();
    if (now - p->start_ns < QUIET_NS || now - p->shown_ns < PERIOD_NS)
        return;
    p->shown = true;
    p->shown_ns = now;
    fprintf(stderr, "\r\033[K%s %llu/%llu", p->label, (unsigned long long)done, (unsigned long long)p->total);
    fflush(stderr);
}

void hbg__progress_announce(struct progress *p)
{
    if (!p->visible)
        return;
    p->shown = true;
    fprintf(stderr, "\r\033[K%s ..", p->label);
    fflush(stderr);
}

void hbg__progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
