/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - see line.h. */
#include "platform/cpu/line.h"

#include "base/inside.h"
#include "platform/cpu/copy_engine.h"
#include "platform/cpu/workers.h"
#include "sched/sched.h"

void hbg__line_open(struct hbg__line *line)
{
    pthread_mutex_init(&line->lock, NULL);
    hbg__bell_open(&line->bell);
    hbg__store_relaxed32(&line->nap, 0);        /* relaxed: nobody ever changes it */
    line->running = line->first = NULL;
    line->last = &line->first;
    line->first_ended = NULL;
    line->last_ended = &line->first_ended;
    line->telling = line->abandoned = false;
}

void hbg__line_close(struct hbg__line *line) { pthread_mutex_destroy(&line->lock); }

void hbg__ticket_open(struct hbg__ticket *ticket)
{
    *ticket = (struct hbg__ticket){ .launch = NULL };
    hbg__store_relaxed32(&ticket->state, HBG__LAUNCH_ENDED);       /* relaxed: nobody else knows it yet */
}

/* The ticket's result stands; its end is still to be told. The lock is held. */
static void add_ended(struct hbg__line *line, struct hbg__ticket *ticket)
{
    ticket->done.status = ticket->result.status;
    ticket->next = NULL;
    *line->last_ended = ticket;
    line->last_ended = &ticket->next;
}

/* From here on the ticket is its owner's again. */
static void publish_end(struct hbg__ticket *ticket)
{
    /* J1 release, pairs with J2 in hbg__ticket_state(): the result, and all that the launch wrote. */
    hbg__store_release32(&ticket->state, HBG__LAUNCH_ENDED);
}

/* The launch that ran is over, its result stands in the workers. The lock is held. */
static void end_running(struct hbg__line *line)
{
    struct hbg__ticket *ticket = line->running;
    line->running = NULL;
    hbg__workers_result(line->workers, &ticket->result);
    add_ended(line, ticket);
}

void hbg__done_tell(const struct hbg__launch_done *done)
{
    if (!done->call) return;
    enum hbg__inside outer = hbg__inside;
    hbg__inside = HBG__INSIDE_DONE;
    done->call(done->user, done->run, done->status);
    hbg__inside = outer;
}

/* Ends are told one after the other, in the order in which they came, by whoever is first; the callback has returned when the end is
   seen. The lock is held; it is let go around callbacks, and at the end. */
static void tell_and_unlock(struct hbg__line *line)
{
    bool first = !line->telling;
    line->telling = true;
    while (first && line->first_ended) {
        struct hbg__ticket *ticket = line->first_ended;
        line->first_ended = ticket->next;
        if (!line->first_ended) line->last_ended = &line->first_ended;
        if (ticket->done.call) {
            pthread_mutex_unlock(&line->lock);
            hbg__done_tell(&ticket->done);
            publish_end(ticket);
            hbg__bell_ring(&line->bell, UINT32_MAX);
            pthread_mutex_lock(&line->lock);
        } else {
            publish_end(ticket);
        }
    }
    if (first) line->telling = false;
    pthread_mutex_unlock(&line->lock);
    hbg__bell_ring(&line->bell, UINT32_MAX);
}

/* The first in line; NULL: there is none, or its copies are on their way. The lock is held. */
static struct hbg__ticket *take_first(struct hbg__line *line)
{
    struct hbg__ticket *ticket = line->first;
    if (!ticket || line->abandoned || (ticket->copies && hbg__copies_pending(ticket->copies))) return NULL;
    line->first = ticket->next;
    if (!line->first) line->last = &line->first;
    return ticket;
}

/* Start what can be started. Launches without tasks end here, so several may. The lock is held. */
static void start_next(struct hbg__line *line)
{
    while (!line->running) {
        struct hbg__ticket *ticket = take_first(line);
        if (!ticket) return;
        const struct hbg__launch *launch = ticket->launch;
        line->running = ticket;
        hbg__store_relaxed32(&ticket->state, HBG__LAUNCH_RUNNING);      /* relaxed: for onlookers; J1 publishes the end */
        hbg__workers_launch(line->workers, launch);
        if (launch->task_count) return;
        end_running(line);
    }
}

void hbg__line_launch(struct hbg__line *line, struct hbg__ticket *ticket, const struct hbg__launch *launch, const struct hbg__copies *copies,
                      const struct hbg__launch_done *done)
{
    ticket->launch = launch;
    ticket->copies = copies;
    ticket->next = NULL;
    ticket->done = *done;
    pthread_mutex_lock(&line->lock);
    hbg__store_relaxed32(&ticket->state, HBG__LAUNCH_QUEUED);           /* relaxed: for onlookers; J1 publishes the end */
    *line->last = ticket;
    line->last = &ticket->next;
    start_next(line);
    tell_and_unlock(line);
}

void hbg__line_advance(struct hbg__line *line)
{
    pthread_mutex_lock(&line->lock);
    start_next(line);
    tell_and_unlock(line);
}

void hbg__line_concluded(void *user)
{
    struct hbg__line *line = user;
    pthread_mutex_lock(&line->lock);
    end_running(line);
    start_next(line);
    tell_and_unlock(line);
}

/* Out of the queue, as a launch none of whose tasks ran. The lock is held. */
static void withdraw(struct hbg__line *line, struct hbg__ticket *ticket)
{
    struct hbg__ticket **link = &line->first;
    while (*link != ticket) link = &(*link)->next;
    *link = ticket->next;
    if (line->last == &ticket->next) line->last = link;
    ticket->result = (struct hbg__launch_result){ .status = HBG_E_CANCELLED, .task = HBG__NIL, .skipped = ticket->launch->task_count };
    add_ended(line, ticket);
}

void hbg__line_cancel(struct hbg__line *line, struct hbg__ticket *ticket)
{
    pthread_mutex_lock(&line->lock);
    if (ticket == line->running) {
        hbg__workers_cancel(line->workers);
    } else if (hbg__ticket_state(ticket) == HBG__LAUNCH_QUEUED) {
        withdraw(line, ticket);
        start_next(line);                   /* it may have held the line */
    }
    tell_and_unlock(line);
}

void hbg__line_abandon(struct hbg__line *line)
{
    pthread_mutex_lock(&line->lock);
    line->abandoned = true;
    pthread_mutex_unlock(&line->lock);
}

static bool has_ended(void *ticket) { return hbg__ticket_state(ticket) == HBG__LAUNCH_ENDED; }

bool hbg__line_wait(struct hbg__line *line, struct hbg__ticket *ticket, uint64_t timeout_ns)
{
    return hbg__bell_wait(&line->bell, has_ended, ticket, hbg__workers_wait_spin_ns(line->workers), timeout_ns);
}

/* While the lock is held nobody takes the launch away, even if it ends. */
static bool look(struct hbg__line *line, const struct hbg__ticket *ticket, struct hbg__progress *seen)
{
    pthread_mutex_lock(&line->lock);
    bool found = line->running == ticket && hbg__workers_progress(line->workers, seen);
    pthread_mutex_unlock(&line->lock);
    return found;
}

/* A task that is still running a little later is taken for the longest. */
bool hbg__line_progress(struct hbg__line *line, struct hbg__ticket *ticket, bool patient, struct hbg__progress *progress)
{
    enum { LITTLE_NS = 200000, LOOKS = 4 };
    struct hbg__progress now = { .worker = 0 };
    bool found = look(line, ticket, &now);
    for (int i = 0; found && patient && i < LOOKS; i++) {
        struct hbg__progress before = now;
        hbg__word_wait(&line->nap, 0, LITTLE_NS);
        found = look(line, ticket, &now);
        if (now.worker == before.worker && now.activation == before.activation && now.node == before.node) break;
    }
    *progress = now;
    return found;
}
