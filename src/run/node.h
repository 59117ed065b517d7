/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - tasks inside of submissions, found from what a device says of them.
 *
 * A level is an image with what it names: that of the run, or a definition that a level above submits.
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
    return record->flags & HBG__TASK_SUBGRAPH ? (const struct hbg__submission *)hbg__image_at(payload, record->args - HBG__SUBMISSION_UNITS) : NULL;
}

/* The level that a submission of this one opens. */
static inline struct hbg__level hbg__level_open(const struct hbg__level *level, const struct hbg__submission *submission)
{
    const struct hbg__definition *d = level->named[submission->definition - HBG__BASE_BOUNDARY - level->boundary_count].definition;
    return (struct hbg__level){ .head = d->head, .named = d->named, .boundary_count = d->arg_count, .definition = d,
                                .first_slot = level->first_slot + submission->slots, .activation = level->activation + submission->activation };
}

/* The level of an activation of a run; false: there is none. Cost: a look at every task of the levels on the way. */
bool hbg__level_of_activation(const struct hbg__recording *recording, uint32_t activation, struct hbg__level *level);

#endif /* HBG_RUN_NODE_H */
