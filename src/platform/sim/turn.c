/* SPDX-License-Identifier: Apache-2.0 */
/* turn.c - who goes on, and what time it is.
 *
 * hbg__sim_step() counts; at the step that was set in advance a turn is taken: whoever the mode chooses goes on. A turn is also taken
 * where a fiber pauses, yields, sleeps or ends. Time grows by a fixed amount with each operation, and jumps to the next deadline where
 * nobody can go on.
 *
 *   random   anybody, after 1 .. 2 * burst steps. With `jumps` a sleeper wakes early now and then: a sleep may end at any time, since
 *            how fast a clock goes compared to a worker is not known
 *   few      each fiber has a priority; the highest that can go on does. At `preemptions` steps, and when it pauses or yields,
 *            whoever runs falls behind all others
 *   round    the next one, after `burst` steps
 *   all      the next one, where somebody pauses, yields, sleeps or ends; and two preemptions:
 *                seed = pair * (workers + 1)^2 + t * (workers + 1) + u
 *            at step a fiber t goes on, at step b fiber u, where `pair` counts (a, b), a <= b, in the order (0,0) (0,1) (1,1) (0,2) ..
 *            So the seeds below (workers + 1)^2 * H * (H + 1) / 2 are all schedules with preemptions in the first H steps.
 *
 * Nobody can go on, and no deadline is near: a wake was lost. No task ends for a long time: nobody gets on. Both are faults of hbg, and
 * stop the process.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "platform/sim/sim.h"

const char *const hbg__sim_mode_name[HBG__SIM_MODES] = { "random", "few", "round", "all" };

enum turn { TURN_STEP, TURN_PAUSE, TURN_YIELD, TURN_BLOCKED };
enum { JUMP_ONE_IN = 256, EARLY_ONE_IN = 8, BURST_BITS_MAX = 6, ROUND_MAX = 9, HORIZON_BITS_MIN = 5, HORIZON_BITS = 11 };

/* The simulation that this thread is inside of. */
static _Thread_local struct hbg__sim *here HBG__SIGNAL_SAFE;

struct hbg__sim *hbg__sim_current(void) { return here; }

static uint32_t host_of(const struct hbg__sim *sim) { return sim->options.workers; }

HBG_COLD void hbg__sim_fail(struct hbg__sim *sim, const char *sentence)
{
    char text[256];
    snprintf(text, sizeof text, "%s (mode %s, seed %" PRIu64 ", %u workers, step %" PRIu64 ", fiber %u)", sentence,
             hbg__sim_mode_name[sim->options.mode], sim->options.seed, sim->options.workers, sim->steps, sim->running);
    if (sim->options.failed) sim->options.failed(sim->options.failed_user, text);
    hbg__check_failed(__FILE__, __LINE__, text);
}

/* ---- seeds ---- */

/* The pair (a, b), a <= b, with that number: b is the largest with b (b + 1) / 2 <= number. */
static void place_two(struct hbg__sim *sim, uint64_t seed)
{
    uint64_t fibers = sim->options.workers + 1, pair = seed / (fibers * fibers), low = 0, high = UINT64_C(1) << 31;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (middle * (middle + 1) / 2 <= pair) low = middle;
        else high = middle;
    }
    sim->change[0] = pair - low * (low + 1) / 2;
    sim->change[1] = low;
    sim->target[0] = (uint32_t)(seed / fibers % fibers);
    sim->target[1] = (uint32_t)(seed % fibers);
    sim->changes = 2;
}

static void place_some(struct hbg__sim *sim, uint32_t count)
{
    uint64_t horizon = UINT64_C(1) << (HORIZON_BITS_MIN + hbg__rng_below(&sim->rng, HORIZON_BITS));
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t step = hbg__rng_below(&sim->rng, horizon);
        uint32_t at = i;
        for (; at > 0 && sim->change[at - 1] > step; --at) sim->change[at] = sim->change[at - 1];
        sim->change[at] = step;
    }
    sim->changes = count;
}

static void set_next(struct hbg__sim *sim)
{
    uint64_t next = sim->choice_at;
    if (sim->check_at < next) next = sim->check_at;
    if (sim->stop_at < next) next = sim->stop_at;
    if (sim->patience_at < next) next = sim->patience_at;
    sim->next = next;
}

/* The step at which the next turn comes by itself. */
static void plan_choice(struct hbg__sim *sim)
{
    switch (sim->options.mode) {
    case HBG__SIM_RANDOM:
        sim->choice_at = sim->steps + 1 + hbg__rng_below(&sim->rng, 2 * sim->burst);
        break;
    case HBG__SIM_ROUND:
        sim->choice_at = sim->steps + sim->burst;
        break;
    default:
        sim->choice_at = sim->changed < sim->changes ? sim->change[sim->changed] : UINT64_MAX;
        if (sim->choice_at <= sim->steps) sim->choice_at = sim->steps + 1;
        break;
    }
    set_next(sim);
}

void hbg__sim_seed(struct hbg__sim *sim)
{
    enum hbg__sim_mode mode = sim->options.mode;
    uint64_t seed = sim->options.seed;
    sim->steps = sim->now_ns = 0;
    hbg__rng_seed(&sim->rng, seed);
    sim->burst = mode == HBG__SIM_ROUND ? 1 + (uint32_t)(seed % ROUND_MAX) : 1u << hbg__rng_below(&sim->rng, BURST_BITS_MAX);
    sim->jumps = hbg__rng_below(&sim->rng, 2) == 0;
    sim->lowest = 0;
    sim->changes = sim->changed = 0;
    for (uint32_t i = 0; i <= sim->options.workers; ++i) sim->fiber[i].priority = 1 + (int64_t)hbg__rng_below(&sim->rng, 1 << 20);
    if (mode == HBG__SIM_FEW) place_some(sim, sim->options.preemptions);
    if (mode == HBG__SIM_ALL) place_two(sim, seed);
    sim->stop_at = sim->options.stop.length_ns ? sim->options.stop.step : UINT64_MAX;
    sim->patience_at = sim->options.patience_steps;
    sim->check_at = sim->options.check && sim->check ? 1 : UINT64_MAX;
    plan_choice(sim);
}

/* ---- what is due ---- */

static bool is_stopped(const struct hbg__sim *sim, const struct hbg__sim_fiber *fiber) { return fiber->stopped_until_ns > sim->now_ns; }

static bool somebody_is_stopped(const struct hbg__sim *sim)
{
    for (uint32_t i = 0; i < sim->options.workers; ++i)
        if (is_stopped(sim, &sim->fiber[i])) return true;
    return false;
}

static void look_for_progress(struct hbg__sim *sim)
{
    uint64_t progress = hbg__sim_progress_sum(sim);
    bool waits = hbg__sim_is_in_flight(sim) || sim->fiber[host_of(sim)].state == HBG__SIM_JOINS;
    if (waits && progress == sim->progress && !somebody_is_stopped(sim)) hbg__sim_fail(sim, "nobody gets on: no task has ended for too many steps");
    sim->progress = progress;
    sim->patience_at = sim->steps + sim->options.patience_steps;
}

/* All but the choice. */
static void do_what_is_due(struct hbg__sim *sim)
{
    if (sim->steps >= sim->check_at) {
        const char *wrong = hbg__sim_verify(sim);
        if (wrong) hbg__sim_fail(sim, wrong);
        sim->check_at = sim->steps + hbg__sim_check_cost(sim);
    }
    if (sim->steps >= sim->stop_at) {
        struct hbg__sim_fiber *fiber = &sim->fiber[sim->options.stop.worker];
        uint64_t length_ns = sim->options.stop.length_ns;
        fiber->stopped_until_ns = length_ns == HBG__SIM_FOR_EVER ? UINT64_MAX : sim->now_ns + length_ns;
        sim->stop_at = UINT64_MAX;
        sim->choice_at = sim->steps;
    }
    if (sim->steps >= sim->patience_at) look_for_progress(sim);
    set_next(sim);
}

/* ---- who can go on ---- */

/* Everybody has returned, but for those who never will. */
static bool all_have_ended(const struct hbg__sim *sim)
{
    for (uint32_t i = 0; i < sim->options.workers; ++i)
        if (sim->fiber[i].state != HBG__SIM_ENDED && sim->fiber[i].stopped_until_ns != UINT64_MAX) return false;
    return true;
}

static bool has_visitors(const struct hbg__sim *sim)
{
    return hbg__load_relaxed32(&sim->visitors) != 0;    /* relaxed: a hint; the lock orders. */
}

static bool can_go_on(struct hbg__sim *sim, struct hbg__sim_fiber *fiber)
{
    bool waits = fiber->state == HBG__SIM_SLEEPS || fiber->state == HBG__SIM_JOINS;
    if (is_stopped(sim, fiber) || fiber->state == HBG__SIM_ENDED) return false;
    if (!waits) return true;
    bool wanted = fiber->index == host_of(sim) && has_visitors(sim);
    if (fiber->until_ns > sim->now_ns && !wanted && !(fiber->state == HBG__SIM_JOINS && all_have_ended(sim))) return false;
    fiber->state = HBG__SIM_READY;
    return true;
}

/* A sleep may end early: without a reason, or a worker's since its time has come. What time the host waits for is the user's, who may have asked for
   seconds, and does not come while somebody works. */
static void wake_somebody_early(struct hbg__sim *sim)
{
    uint32_t chosen = (uint32_t)hbg__rng_below(&sim->rng, sim->options.workers + 1);
    struct hbg__sim_fiber *fiber = &sim->fiber[chosen];
    if (fiber->state != HBG__SIM_SLEEPS || is_stopped(sim, fiber)) return;
    if (fiber->until_ns == UINT64_MAX && hbg__rng_below(&sim->rng, EARLY_ONE_IN) != 0) return;
    if (fiber->until_ns != UINT64_MAX && fiber->until_ns > sim->now_ns && chosen != host_of(sim)) sim->now_ns = fiber->until_ns;
    fiber->state = HBG__SIM_READY;
}

/* Nobody can go on: it is the time of whoever has the next deadline. */
static void jump(struct hbg__sim *sim)
{
    uint64_t nearest = UINT64_MAX;
    for (uint32_t i = 0; i <= sim->options.workers; ++i) {
        const struct hbg__sim_fiber *fiber = &sim->fiber[i];
        uint64_t at = fiber->state == HBG__SIM_READY ? 0 : fiber->until_ns;
        if (fiber->state == HBG__SIM_ENDED) continue;
        if (fiber->stopped_until_ns > at) at = fiber->stopped_until_ns;
        if (at < nearest) nearest = at;
    }
    if (nearest == UINT64_MAX) hbg__sim_fail(sim, "everybody sleeps, and nobody is left to wake anybody");
    sim->now_ns = nearest;
}

static uint32_t list_ready(struct hbg__sim *sim, uint32_t *ready)
{
    uint32_t count = 0;
    for (;;) {
        for (uint32_t i = 0; i <= sim->options.workers; ++i)
            if (can_go_on(sim, &sim->fiber[i])) ready[count++] = i;
        if (count) return count;
        jump(sim);
    }
}

/* ---- who goes on ---- */

static uint32_t next_after(uint32_t running, const uint32_t *ready, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (ready[i] > running) return ready[i];
    return ready[0];
}

static uint32_t choose_random(struct hbg__sim *sim, enum turn why, const uint32_t *ready, uint32_t count)
{
    uint32_t chosen = ready[hbg__rng_below(&sim->rng, count)];
    if (why == TURN_YIELD && count > 1 && chosen == sim->running) chosen = next_after(chosen, ready, count);
    return chosen;
}

static uint32_t choose_few(struct hbg__sim *sim, enum turn why, const uint32_t *ready, uint32_t count)
{
    bool due = sim->changed < sim->changes && sim->steps >= sim->change[sim->changed];
    uint32_t chosen = ready[0];
    if (due) ++sim->changed;
    if (due || why == TURN_PAUSE || why == TURN_YIELD) sim->fiber[sim->running].priority = --sim->lowest;
    for (uint32_t i = 1; i < count; ++i)
        if (sim->fiber[ready[i]].priority > sim->fiber[chosen].priority) chosen = ready[i];
    return chosen;
}

static uint32_t choose_all(struct hbg__sim *sim, enum turn why, const uint32_t *ready, uint32_t count)
{
    uint32_t wanted = sim->running;
    while (sim->changed < sim->changes && sim->steps >= sim->change[sim->changed]) wanted = sim->target[sim->changed++];
    bool may_stay = false;
    for (uint32_t i = 0; i < count && why == TURN_STEP; ++i) {
        if (ready[i] == wanted) return wanted;
        may_stay = may_stay || ready[i] == sim->running;
    }
    return may_stay ? sim->running : next_after(sim->running, ready, count);
}

static void turn(struct hbg__sim *sim, enum turn why)
{
    uint32_t ready[HBG__SIM_WORKERS_MAX + 1], from = sim->running, to;
    if (sim->jumps && sim->options.mode == HBG__SIM_RANDOM && hbg__rng_below(&sim->rng, JUMP_ONE_IN) == 0) wake_somebody_early(sim);
    uint32_t count = list_ready(sim, ready);
    if (sim->options.mode == HBG__SIM_RANDOM) to = choose_random(sim, why, ready, count);
    else if (sim->options.mode == HBG__SIM_FEW) to = choose_few(sim, why, ready, count);
    else if (sim->options.mode == HBG__SIM_ALL) to = choose_all(sim, why, ready, count);
    else to = next_after(from, ready, count);
    plan_choice(sim);
    if (to == from) return;
    if (from == host_of(sim)) sim->host_inside = hbg__inside;
    hbg__inside = to == host_of(sim) ? sim->host_inside : HBG__INSIDE_KERNEL;
    sim->running = to;
    hbg__fiber_switch(&sim->fiber[from].fiber, &sim->fiber[to].fiber);
}

/* ---- what the atomics of the device code call ---- */

void hbg__sim_step(void)
{
    struct hbg__sim *sim = here;
    if (HBG_UNLIKELY(!sim)) return;
    sim->now_ns += HBG__SIM_STEP_NS;
    if (HBG_LIKELY(++sim->steps < sim->next)) return;
    do_what_is_due(sim);
    if (sim->steps >= sim->choice_at) turn(sim, TURN_STEP);
}

void hbg__sim_pause(void)
{
    struct hbg__sim *sim = here;
    if (!sim) return;
    sim->now_ns += HBG__SIM_PAUSE_NS;
    if (++sim->steps >= sim->next) do_what_is_due(sim);
    turn(sim, TURN_PAUSE);
}

void hbg__sim_yield(void)
{
    struct hbg__sim *sim = here;
    if (!sim) return;
    sim->now_ns += HBG__SIM_YIELD_NS;
    if (++sim->steps >= sim->next) do_what_is_due(sim);
    turn(sim, TURN_YIELD);
}

uint64_t hbg__sim_now_ns(void) { return here ? here->now_ns : 0; }

/* The host stands still for a moment, and other host threads may call. */
static void let_visitors_in(struct hbg__sim *sim)
{
    hbg__sim_unlock(sim);
    while (has_visitors(sim)) sched_yield();
    hbg__sim_lock(sim);
}

static void block(struct hbg__sim *sim, struct hbg__sim_fiber *fiber, enum hbg__sim_state state, uint64_t timeout_ns)
{
    fiber->state = state;
    fiber->until_ns = timeout_ns > UINT64_MAX - sim->now_ns ? UINT64_MAX : sim->now_ns + timeout_ns;
    turn(sim, TURN_BLOCKED);
    if (fiber->index == host_of(sim) && has_visitors(sim)) let_visitors_in(sim);
}

void hbg__sim_word_wait(const uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    struct hbg__sim *sim = here;
    if (!sim) return;
    hbg__sim_step();
    if (*word != value) return;
    sim->fiber[sim->running].word = word;
    block(sim, &sim->fiber[sim->running], HBG__SIM_SLEEPS, timeout_ns);
}

/* Any `count` of those who sleep there. */
void hbg__sim_word_wake(const uint32_t *word, uint32_t count)
{
    struct hbg__sim *sim = here;
    if (!sim) return;
    hbg__sim_step();
    uint32_t fibers = sim->options.workers + 1, first = (uint32_t)hbg__rng_below(&sim->rng, fibers);
    for (uint32_t i = 0; i < fibers && count > 0; ++i) {
        struct hbg__sim_fiber *fiber = &sim->fiber[(first + i) % fibers];
        if (fiber->state != HBG__SIM_SLEEPS || fiber->word != word) continue;
        fiber->state = HBG__SIM_READY;
        --count;
        if (sim->options.mode == HBG__SIM_FEW) sim->choice_at = sim->next = sim->steps + 1;
    }
}

/* ---- in and out ---- */

void hbg__sim_lock(struct hbg__sim *sim)
{
    hbg__fetch_add_relaxed32(&sim->visitors, 1);                /* relaxed: likewise. */
    pthread_mutex_lock(&sim->lock);
    hbg__fetch_add_relaxed32(&sim->visitors, (uint32_t)-1);     /* relaxed: likewise. */
    sim->running = host_of(sim);
    sim->fiber[sim->running].state = HBG__SIM_READY;
    here = sim;
}

void hbg__sim_unlock(struct hbg__sim *sim)
{
    here = NULL;
    pthread_mutex_unlock(&sim->lock);
}

void hbg__sim_join(struct hbg__sim *sim, uint64_t timeout_ns)
{
    uint64_t until_ns = timeout_ns > UINT64_MAX - sim->now_ns ? UINT64_MAX : sim->now_ns + timeout_ns;
    while (!all_have_ended(sim) && sim->now_ns < until_ns)
        block(sim, &sim->fiber[host_of(sim)], HBG__SIM_JOINS, until_ns == UINT64_MAX ? UINT64_MAX : until_ns - sim->now_ns);
}

void hbg__sim_end(struct hbg__sim_fiber *fiber)
{
    fiber->state = HBG__SIM_ENDED;
    for (;;) turn(fiber->sim, TURN_BLOCKED);
}
