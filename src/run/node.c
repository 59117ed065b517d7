/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - see node.h. */
#include "run/node.h"

/* The level inside of this one that the activation is, or that it lies in; false: there is none. */
static bool step_inside(struct hbg__level *level, uint32_t activation)
{
    for (uint32_t task = 0; task < level->head->task_count; task++) {
        const struct hbg__submission *s = hbg__level_submission(level, task);
        if (!s) continue;
        struct hbg__level inner = hbg__level_open(level, s);
        if (activation < inner.activation || activation > inner.activation + inner.head->activation_count) continue;
        *level = inner;
        return true;
    }
    return false;
}

uint32_t hbg__levels_path(const struct hbg__recording *recording, uint32_t activation, const struct hbg__definition **path, uint32_t most)
{
    struct hbg__level level = hbg__level_of_run(recording);
    uint32_t depth = 0;
    while (level.activation != activation) {
        if (!step_inside(&level, activation)) return 0;
        for (uint32_t i = most - 1; i > 0; i--) path[i] = path[i - 1];
        path[0] = level.definition;
        depth++;
    }
    return depth;
}

static void list_inside(struct hbg__opened *opened, uint32_t activation)
{
    const struct hbg__level *level = &opened[activation].level;
    if (!(level->head->flags & HBG__IMAGE_SUBGRAPHS)) return;
    for (uint32_t task = 0; task < level->head->task_count; task++) {
        const struct hbg__submission *s = hbg__level_submission(level, task);
        if (!s) continue;
        struct hbg__level inner = hbg__level_open(level, s);
        opened[inner.activation] = (struct hbg__opened){ .level = inner, .submission = s, .parent = activation, .task = task };
    }
}

/* What an activation submits has higher numbers. */
void hbg__levels_list(const struct hbg__recording *recording, struct hbg__opened *opened)
{
    opened[0] = (struct hbg__opened){ .level = hbg__level_of_run(recording) };
    for (uint32_t a = 0; a <= recording->head->activation_count; a++) list_inside(opened, a);
}

/* The last one that begins at the number or before: a body without tasks begins where the next one does. */
const struct hbg__opened *hbg__levels_find(const struct hbg__opened *opened, uint32_t count, uint32_t number)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (opened[middle].level.first_slot <= number) low = middle;
        else high = middle;
    }
    return &opened[low];
}
