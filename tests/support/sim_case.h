/* SPDX-License-Identifier: Apache-2.0 */
/* sim_case.h - one graph on one simulated device under one schedule, all of it drawn from a seed.
 *
 * What is wrong ends the test, with the line that runs this case alone; so does what src/platform/sim finds, which stops the process.
 */
#ifndef TESTS_SUPPORT_SIM_CASE_H
#define TESTS_SUPPORT_SIM_CASE_H

#include "platform/sim/sim.h"
#include "base/rng.h"
#include "support/dag.h"

enum { SIM_CASE_WORKERS = 64, SIM_CASE_RING = 64 };

struct sim_case {
    const char *name;                   /* of the kind, for the line that repeats it */
    uint64_t seed;
    struct hbg__rng rng;                /* further choices of the case */
    struct hbg__sim_options options;
    struct dag dag;
    struct dag_slots slots;
    uint32_t mode;                      /* enum hbg__mode */
    struct test_launch launch;
    struct hbg__launch_result result;
};

/* What is drawn: graphs of fewer than `tasks` tasks, a quarter of them with submissions, or all; workers 1 to 8, now and then up to 64. */
struct sim_taste { uint32_t tasks; bool failures, wake_only, submissions; };

struct hbg__sim *sim_case_device(void);         /* one for all cases; they restart it */
void sim_case_draw(struct sim_case *c, const char *name, uint64_t seed, const struct sim_taste *taste);
void sim_case_start(struct sim_case *c, struct hbg__sim *sim);          /* restarts the device as the options say */
void sim_case_launch(struct sim_case *c, struct hbg__sim *sim);
void sim_case_end(struct sim_case *c);          /* after each launch: the launch's memory */
void sim_case_free(struct sim_case *c);

/* Launch, wait without limit, look at everything. */
void sim_case_run(struct sim_case *c, struct hbg__sim *sim);

/* `wrong` is NULL, or fails the test. */
void sim_case_judge(const struct sim_case *c, const char *wrong);

#endif /* TESTS_SUPPORT_SIM_CASE_H */
