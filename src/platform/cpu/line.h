/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - launches of several streams on one set of workers: one at a time, in the order in which they were launched.
 *
 *     hbg__line_launch     ticket:  QUEUED ---------> RUNNING ---------> ENDED
 *                                     |   first in line,    the last worker
 *                                     |   its copies done   out says so
 *                                     '-> ENDED, cancelled before its start
 *
 * Between the end and ENDED the callback is called, if there is one: whoever sees ENDED knows that it has returned.
 *
 * The worker that concludes a launch starts the next one: no host thread has to wake up in between. A launch whose copies are
 * still on their way holds the line until the copy engine has made them, so launches never overtake one another.
 *
 * A ticket belongs to a stream and is one launch at a time. It may be used again once it has ended.
 *
 *   field                        written by                       read by        guarded by
 *   line.*, but bell             launch, cancel, whoever ends     the same       lock
 *   ticket.launch, next, done    launch                           whoever ends   lock
 *   ticket.result                whoever ends it                  any, ENDED     J1 release, J2 acquire (state)
 *   ticket.state                 under the lock                   any            J1 release, J2 acquire
 */
#ifndef HBG_PLATFORM_CPU_LINE_H
#define HBG_PLATFORM_CPU_LINE_H

#include <pthread.h>

#include "atomic/atomic.h"
#include "platform/platform.h"
#include "sched/bell.h"

struct hbg__copies;
struct hbg__launch;
struct hbg__workers;

struct hbg__ticket {
    const struct hbg__launch *launch;
    const struct hbg__copies *copies;       /* that have to be made first; NULL: none */
    struct hbg__ticket *next;
    struct hbg__launch_done done;
    struct hbg__launch_result result;
    struct hbg__atomic_u32 state;           /* enum hbg__launch_state */
};

struct hbg__line {
    struct hbg__workers *workers;
    pthread_mutex_t lock;
    struct hbg__ticket *running, *first, **last;
    struct hbg__ticket *first_ended, **last_ended;      /* whose end is not told yet */
    bool telling;                           /* somebody tells ends */
    bool abandoned;                         /* nothing is started any more */
    struct hbg__bell bell;                  /* threads that wait for the end of some ticket */
    struct hbg__atomic_u32 nap;             /* nobody ever changes it: a place to sleep for a set time */
};

/* `workers` has hbg__line_concluded() as what is called when it concludes, and nobody else launches on it. */
void hbg__line_open(struct hbg__line *line);
void hbg__line_close(struct hbg__line *line);
void hbg__line_concluded(void *line);

void hbg__ticket_open(struct hbg__ticket *ticket);

/* Calls done->call, if there is one, inside of which the device cannot be called. */
void hbg__done_tell(const struct hbg__launch_done *done);

/* `launch` stays until the ticket has ended. done.call, if any, is called once, one at a time in the order of the ends, before the ticket
   has ended for others; by a worker's thread, or, for launches without tasks and those that are cancelled in the queue, by that of any call. */
void hbg__line_launch(struct hbg__line *line, struct hbg__ticket *ticket, const struct hbg__launch *launch, const struct hbg__copies *copies,
                      const struct hbg__launch_done *done);

/* Some copies are made: whoever waits for them may start. */
void hbg__line_advance(struct hbg__line *line);

/* In the queue it ends at once; while it runs, tasks that have not started are skipped; else nothing happens. */
void hbg__line_cancel(struct hbg__line *line, struct hbg__ticket *ticket);

/* From now on nothing is started. */
void hbg__line_abandon(struct hbg__line *line);

bool hbg__line_wait(struct hbg__line *line, struct hbg__ticket *ticket, uint64_t timeout_ns);

/* Does it run now, and what? patient: up to a millisecond goes by to see which task runs longest. */
bool hbg__line_progress(struct hbg__line *line, struct hbg__ticket *ticket, bool patient, struct hbg__progress *progress);

static inline enum hbg__launch_state hbg__ticket_state(const struct hbg__ticket *ticket)
{
    /* J2 acquire, pairs with J1 in publish_end(): the result, and all that the launch wrote. */
    return (enum hbg__launch_state)hbg__load_acquire32(&ticket->state);
}

#endif /* HBG_PLATFORM_CPU_LINE_H */
