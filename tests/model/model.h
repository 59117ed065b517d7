/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - what every model needs: the sources under test as C++ over Relacy, and how a suite is searched.
 *
 * Include it first. A model ends with 0 if every suite held in every execution that was tried. The line "weakened: ..." at the
 * head of a model lists values of HBG_WEAKEN (src/atomic/atomic_model.h) with which it must not hold; each is a test as well.
 */
#ifndef TESTS_MODEL_MODEL_H
#define TESTS_MODEL_MODEL_H

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <hbg/kernel.h>

#include <relacy/relacy.hpp>
#undef assert

#define HBG_ATOMIC_MODEL
#define HBG__DEQUE_CAPACITY 2u
#define HBG__ROOT_RANGE_MIN 1u
#include "atomic/atomic.h"

/* Executions at random, then all those with up to `bound` forced context switches. */
template <class Suite> bool model_holds(unsigned random_count, unsigned bound)
{
    rl::test_params params;
    std::ostringstream nothing;
    params.progress_stream = &nothing;
    params.iteration_count = random_count;
    params.search_type = rl::random_scheduler_type;
    params.execution_depth_limit = 4000;
    if (!rl::simulate<Suite>(params)) return false;
    if (bound == 0) return true;
    params.search_type = rl::fair_context_bound_scheduler_type;
    params.context_bound = bound;
    return rl::simulate<Suite>(params);
}

#endif /* TESTS_MODEL_MODEL_H */
