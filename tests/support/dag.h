/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - random graphs for the scheduler, what must come of them, and kernels that check their own start.
 *
 * Each kernel looks at the plain (not atomic) mark that every producer left when it ended. So a task that starts too early
 * is seen at once, and ThreadSanitizer sees a start that is not ordered behind its producers even if the value happens to be
 * right.
 *
 * With submissions everything is kept by slot of the run: the tasks of the outermost image, then those of its submissions.
 */
#ifndef TESTS_SUPPORT_DAG_H
#define TESTS_SUPPORT_DAG_H

#include "platform/cpu/workers.h"
#include "support/image_builder.h"

struct dag_task {
    const struct image_builder *builder;        /* of the image that it stands in */
    uint32_t task, first, activation;           /* its number there, that image's first slot and activation */
    uint32_t outer;                             /* the slot of the submission that it is inside of; HBG__NIL: none */
    uint32_t inside, inside_count;              /* of a submission: slots of all that is inside */
};

struct dag {
    struct image_builder *builder;
    struct test_image image;
    uint32_t count;                     /* slots */
    struct dag_task *task;
    uint32_t *order;                    /* slots in the order of the program: a submission, then what is inside */
    int *fail;                          /* code that the task's kernel returns */
    uint8_t *expected;                  /* enum dag_state without cancellation */
    uint32_t *mark;                     /* set to the run's number when a kernel ends */
    uint32_t run;                       /* number of the run: marks of earlier runs are stale */
    uint64_t heap;                      /* of the run */
    uint64_t spin_pauses;               /* length of a kernel */
    uint32_t early;                     /* kernels that started before a producer ended, or ran twice; atomic */
};

/* A submission: all inside is well; or something inside failed or is skipped. */
enum dag_state { DAG_RUNS = 1, DAG_FAILS, DAG_SKIPPED, DAG_NOOP, DAG_SUBMITS, DAG_SUBMITS_FAILURE, DAG_STATES };

struct dag_shape {
    uint32_t tasks, producers_max, window;      /* producers lie at most `window` ids back; 0: anywhere */
    uint32_t fail_percent, noop_percent, reuse_percent;
    uint32_t submit_percent, depth;             /* submissions, inside of one another so many deep at most */
};

void dag_random(struct dag *dag, uint64_t seed, const struct dag_shape *shape);
void dag_open(struct dag *dag, struct image_builder *builder);  /* takes the builder; nothing fails yet */
void dag_expect(struct dag *dag);                               /* again after `fail` was changed */
void dag_close(struct dag *dag);

extern const struct hbg_kernel dag_kernel[1];           /* give entry 0 the dag as its user pointer */

/* Slots that several launches share, one after the other, with their epochs. */
struct dag_slots { struct hbg__slot *slot; uint32_t count, epoch; };
void dag_slots_open(struct dag_slots *slots, uint32_t count, uint64_t seed, uint32_t first_epoch);     /* random stale words */
uint32_t dag_slots_next(struct dag_slots *slots);       /* the next epoch; clears the words when it wraps */
void dag_slots_close(struct dag_slots *slots);

/* Everything but the launch itself: another run of the dag begins. */
void dag_launch_open(struct dag *dag, uint32_t workers, struct dag_slots *slots, uint32_t mode, struct test_launch *launch);
/* Launch the dag and wait. */
void dag_launch(struct dag *dag, struct hbg__workers *workers, struct dag_slots *slots, uint32_t mode, struct test_launch *launch);
void dag_run(struct dag *dag, struct hbg__workers *workers, struct dag_slots *slots, uint32_t mode, struct hbg__launch_result *result);
/* NULL, or what the run did wrong. */
const char *dag_check(const struct dag *dag, const struct hbg__launch_result *result);
/* The same for a run that was cancelled: what did not run must be skipped, and nothing that depends on it may have run. */
const char *dag_check_cancelled(const struct dag *dag, const struct hbg__launch_result *result);

struct hbg__workers *dag_workers(uint32_t count, uint32_t ring_capacity, bool spill, uint64_t stall_ns);  /* with malloc; spins briefly */

#endif /* TESTS_SUPPORT_DAG_H */
