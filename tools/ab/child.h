/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command run by the shell, in a process group of its own, without input; what it prints is kept in memory.
 *
 * Nothing of it is left behind: when the shell has ended, when the time is over and when this command is interrupted, the whole group
 * is killed; and should this command be killed, so is the shell. A process that leaves the group on purpose is not found.
 */
#ifndef HBG_TOOLS_AB_CHILD_H
#define HBG_TOOLS_AB_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_child_wish {
    const char *command;
    uint32_t padding;                   /* bytes of the variable HBG_AB_PADDING */
    const char *trace;                  /* a file for HBG_TRACE_TO, or NULL */
    double timeout_s;
    uint64_t write_most;                /* bytes that it may write into a file, and print; 0: as many as it likes */
    bool leave;                         /* if it does not even end when it is killed, as in a driver that hangs, it is left behind after a second */
    uint64_t alarm_ns;                  /* at that moment of the monotonic clock `alarm` is called once, if it still runs; 0: never */
    void (*alarm)(void *context);
    void *context;
};

struct ab_child_end {
    double seconds;                     /* from the fork to the end */
    double switches, wait_s;            /* involuntary switches; time on a run queue, NaN where it is not told */
    char *output;                       /* owned: all of it, and a zero byte */
    size_t size;
    char why[160];                      /* "" or how it failed: "it ended with status 1: cannot open x" */
};

/* From now on SIGINT, SIGTERM, SIGHUP and SIGCHLD are taken when the functions below look for them. */
void hbg__ab_signals_hold(void);

/* 0, or the signal that asks this command to end. */
int hbg__ab_signal_taken(void);

/* Takes the signals as before, and ends this process by the one that was taken. */
void hbg__ab_signal_obey(void);

/* Runs it to its end; `why` of `end` says whether it went well. Where a signal came nothing of it counts. */
void hbg__ab_child_run(const struct ab_child_wish *wish, struct ab_child_end *end);

/* Sleeps; a signal ends it. */
void hbg__ab_pause(double seconds);

#endif
