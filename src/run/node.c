/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - see node.h. */
#include "run/node.h"

bool hbg__level_of_activation(const struct hbg__recording *recording, uint32_t activation, struct hbg__level *level)
{
    *level = hbg__level_of_run(recording);
    for (uint32_t task = 0; level->activation != activation && task < level->head->task_count; task++) {
        const struct hbg__submission *s = hbg__level_submission(level, task);
        if (!s) continue;
        struct hbg__level inner = hbg__level_open(level, s);
        if (activation < inner.activation || activation > inner.activation + inner.head->activation_count) continue;
        *level = inner;
        task = UINT32_MAX;              /* on from its first task */
    }
    return level->activation == activation;
}
