/* SPDX-License-Identifier: Apache-2.0 */
/* line_code.c - src/platform/cpu/line.c once more, over simulated workers and a simulated lock: who waits for the lock sleeps on it, and
 * others go on. A ticket is the same for both.
 */
#include "platform/sim/device_code.h"

#include <pthread.h>

#include "base/alloc.h"
#include "platform/sim/line_code.h"

struct hbg__sim_mutex { uint32_t held; };
static void sim_mutex_open(struct hbg__sim_mutex *mutex) { mutex->held = 0; }

/* Ends when the holder lets go. */
static void sim_mutex_lock(struct hbg__sim_mutex *mutex)
{
    hbg__sim_step();
    while (mutex->held) hbg__sim_word_wait(&mutex->held, 1, UINT64_MAX);
    mutex->held = 1;
}

static void sim_mutex_unlock(struct hbg__sim_mutex *mutex)
{
    hbg__sim_step();
    mutex->held = 0;
    hbg__sim_word_wake(&mutex->held, 1);
}

#define pthread_mutex_t struct hbg__sim_mutex
#define pthread_mutex_init(mutex, attributes) sim_mutex_open(mutex)
#define pthread_mutex_destroy(mutex) ((void)(mutex))
#define pthread_mutex_lock sim_mutex_lock
#define pthread_mutex_unlock sim_mutex_unlock

#define hbg__line_open hbg__sim_line_code_open
#define hbg__line_close hbg__sim_line_code_close
#define hbg__line_concluded hbg__sim_line_code_concluded
#define hbg__ticket_open hbg__sim_ticket_open
#define hbg__done_tell hbg__sim_done_tell
#define hbg__line_launch hbg__sim_line_code_launch
#define hbg__line_advance hbg__sim_line_code_advance
#define hbg__line_cancel hbg__sim_line_code_cancel
#define hbg__line_abandon hbg__sim_line_code_abandon
#define hbg__line_wait hbg__sim_line_code_wait
#define hbg__line_progress hbg__sim_line_code_progress
#define hbg__workers_launch hbg__sim_workers_launch
#define hbg__workers_result hbg__sim_workers_result
#define hbg__workers_cancel hbg__sim_workers_cancel
#define hbg__workers_progress hbg__sim_workers_progress
#define hbg__workers_wait_spin_ns hbg__sim_workers_wait_spin_ns

#include "platform/cpu/line.c"

struct hbg__sim_line {
    struct hbg__line line;
    struct hbg__sim *sim;
    struct hbg__memory *memory;
};

/* ---- what the line calls: the workers are the scheduler of the device ---- */

static struct hbg__sched *sched_of(const struct hbg__workers *workers) { return (struct hbg__sched *)(uintptr_t)workers; }

void hbg__workers_launch(struct hbg__workers *workers, const struct hbg__launch *launch)
{
    hbg__sim_check_launch(hbg__sim_current());
    hbg__sched_launch(sched_of(workers), launch);
}

void hbg__workers_result(struct hbg__workers *workers, struct hbg__launch_result *result) { *result = sched_of(workers)->result; }
void hbg__workers_cancel(struct hbg__workers *workers) { hbg__sched_cancel(sched_of(workers)); }
uint64_t hbg__workers_wait_spin_ns(const struct hbg__workers *workers) { return sched_of(workers)->options.wait_spin_ns; }

bool hbg__workers_progress(struct hbg__workers *workers, struct hbg__progress *progress)
{
    return hbg__sched_progress(sched_of(workers), progress);
}

/* ---- what the platform calls ---- */

enum hbg_status hbg__sim_line_create(struct hbg__memory *memory, struct hbg__sim_line **line)
{
    struct hbg__sim_line *made = HBG__NEW(memory, struct hbg__sim_line);
    if (!made) return HBG_E_NO_MEMORY;
    made->memory = memory;
    hbg__line_open(&made->line);
    *line = made;
    return HBG_OK;
}

void hbg__sim_line_destroy(struct hbg__sim_line *line)
{
    if (!line) return;
    struct hbg__memory *memory = line->memory;
    hbg__line_close(&line->line);
    HBG__DELETE(memory, line);
}

void hbg__sim_line_attach(struct hbg__sim_line *line, struct hbg__sim *sim)
{
    line->sim = sim;
    line->line.workers = (struct hbg__workers *)(void *)sim->sched;
}

void hbg__sim_line_on_end(void *line) { hbg__line_concluded(&((struct hbg__sim_line *)line)->line); }

enum hbg_status hbg__sim_line_add(struct hbg__sim_line *line, struct hbg__ticket *ticket, const struct hbg__launch *launch,
                                  const struct hbg__launch_done *done)
{
    hbg__sim_lock(line->sim);
    bool fits = hbg__sim_check_fit(line->sim, launch);
    if (fits) hbg__line_launch(&line->line, ticket, launch, NULL, done);
    hbg__sim_unlock(line->sim);
    return fits ? HBG_OK : HBG_E_NO_MEMORY;
}

/* Whoever asks in a loop lets the others go on. */
enum hbg__launch_state hbg__sim_line_poll(struct hbg__sim_line *line, struct hbg__ticket *ticket)
{
    hbg__sim_lock(line->sim);
    hbg__sim_yield();
    enum hbg__launch_state state = hbg__ticket_state(ticket);
    hbg__sim_unlock(line->sim);
    return state;
}

/* Where a worker stands still for ever, no wait is without limit: nobody else could end it. */
bool hbg__sim_line_await(struct hbg__sim_line *line, struct hbg__ticket *ticket, uint64_t timeout_ns)
{
    if (line->sim->options.stop.length_ns == HBG__SIM_FOR_EVER && timeout_ns > HBG__SIM_LONGEST_WAIT_NS) timeout_ns = HBG__SIM_LONGEST_WAIT_NS;
    hbg__sim_lock(line->sim);
    bool ended = hbg__line_wait(&line->line, ticket, timeout_ns);
    hbg__sim_unlock(line->sim);
    return ended;
}

void hbg__sim_line_drop(struct hbg__sim_line *line, struct hbg__ticket *ticket)
{
    hbg__sim_lock(line->sim);
    hbg__line_cancel(&line->line, ticket);
    hbg__sim_unlock(line->sim);
}

void hbg__sim_line_give_up(struct hbg__sim_line *line)
{
    hbg__sim_lock(line->sim);
    hbg__line_abandon(&line->line);
    hbg__sim_unlock(line->sim);
}

bool hbg__sim_line_look(struct hbg__sim_line *line, struct hbg__ticket *ticket, bool patient, struct hbg__progress *progress)
{
    hbg__sim_lock(line->sim);
    bool found = hbg__line_progress(&line->line, ticket, patient, progress);
    hbg__sim_unlock(line->sim);
    return found;
}
