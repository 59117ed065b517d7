/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - tasks inside of submissions: found from what a device says of them, and by their number in the run.
 *
 * A level is an image with what it names: that of the run, or a definition that a level above submits. All tasks of a run have one
 * row of numbers, those of their slots: first the tasks of the run's image, then behind them, in the order of the activations, the
 * nodes of each submission:
 *
 *     | tasks of the run | nodes of activation 1 | nodes of activation 2, which 1 submits | .. | nodes of the next | ..
 */
#ifndef HBG_RUN_NODE_H
#define HBG_RUN_NODE_H

#include "graph/definition.h"
#include "image/layout.h"

struct hbg__level {
    const struct hbg__image_head *head;
    const struct hbg__named *named;
    uint32_t boundary_count;
    const struct hbg__definition *definition;   /* NULL: the run's own image */
    uint32_t first_slot, activation;            /* of it, in the run */
};

static inline struct hbg__level hbg__level_of_run(const struct hbg__recording *recording)
{
    return (struct hbg__level){ .head = recording->head, .named = recording->named, .boundary_count = recording->boundary_count };
}

/* The submission that a record is; NULL: it is none. */
static inline const struct hbg__submission *hbg__level_submission(const struct hbg__level *level, uint32_t task)
{
    const unsigned char *payload = hbg__image_payload(level->head);
    const struct hbg__task_record *record = hbg__image_record(payload, task);
    return record->flags & HBG__TASK_SUBGRAPH ? hbg__image_submission(payload, record) : NULL;
}

/* The level that a submission of this one opens. */
static inline struct hbg__level hbg__level_open(const struct hbg__level *level, const struct hbg__submission *submission)
{
    const struct hbg__definition *d = level->named[submission->definition - HBG__BASE_BOUNDARY - level->boundary_count].definition;
    return (struct hbg__level){ .head = d->head, .named = d->named, .boundary_count = d->arg_count, .definition = d,
                                .first_slot = level->first_slot + submission->slots, .activation = level->activation + submission->activation };
}

/* A level of a run, and who opened it. */
struct hbg__opened {
    struct hbg__level level;
    const struct hbg__submission *submission;   /* NULL: the run's own image */
    uint32_t parent, task;                      /* the activation that submits it, and its task there */
};

/* All levels of a run, by activation: activation_count + 1 of them. Cost: a look at every task of levels with submissions. */
void hbg__levels_list(const struct hbg__recording *recording, struct hbg__opened *opened);

/* Of `count` levels that hbg__levels_list() made: the one that the task with this number belongs to. Cost: log count. */
const struct hbg__opened *hbg__levels_find(const struct hbg__opened *opened, uint32_t count, uint32_t number);

/* Does nobody wait for the task? */
static inline bool hbg__level_is_leaf(const struct hbg__task_record *record)
{
    return record->first_waiter == HBG__NIL && !(record->flags & HBG__TASK_QUERYABLE);
}

/* The definitions from an activation of a run outwards, the first `most` of them; returns how many there are, 0: no such activation. Cost: a
   look at every task of the levels on the way. */
uint32_t hbg__levels_path(const struct hbg__recording *recording, uint32_t activation, const struct hbg__definition **path, uint32_t most);

#endif /* HBG_RUN_NODE_H */
