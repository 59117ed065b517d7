/* SPDX-License-Identifier: Apache-2.0 */
/* replay_check.h - a shape of replay_shapes.h as a workload, and how it is verified although its kernels are empty.
 *
 * To be verified a shape has other kernels under the same names and signatures. Such a kernel reads every element of what it is given
 * and writes numbers that follow from all of it: a digest. So a task that did not run, ran before one that it waits for, or saw another
 * layer's weights, changes the state, all that comes after it, and the logits. `sample`, which comes after all others, writes how many
 * tasks ran, since a task that ran twice may leave the same numbers. The reference takes the digests in the order of submission, over
 * plain arrays. It shares the digest itself with the kernels, which is what the tasks are defined to compute, and sizes with the build.
 *
 * What is not found: a wrong order that did no harm in this run, and an edge too many.
 */
#ifndef HBG_WORKLOADS_SHAPES_REPLAY_CHECK_H
#define HBG_WORKLOADS_SHAPES_REPLAY_CHECK_H

#include "workloads/shapes/replay_shapes.h"

/* Of one task: what it read so far, and how many numbers it wrote. */
struct replay_digest { uint64_t word, written; };

static inline void replay_digest_add(struct replay_digest *d, uint32_t bits)
{
    d->word = (d->word ^ bits) * 0x9e3779b97f4a7c15u;
    d->word ^= d->word >> 32;
}

/* of a kernel, by its name */
static inline struct replay_digest replay_digest_begin(const char *name)
{
    struct replay_digest d = { 0, 0 };
    for (; *name; name++) replay_digest_add(&d, (unsigned char)*name);
    return d;
}

/* the next number that the task writes: a whole one below 2^24, so that it is exact */
static inline float replay_digest_next(struct replay_digest *d)
{
    uint64_t x = d->word + ++d->written * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (float)((x ^ x >> 31) >> 40);
}

/* Kernels that take digests. In a process one run at a time may execute them, as on one device; a run that fails leaves a wrong count. */
extern const struct hbg_kernel hbg__replay_check_kernels[REPLAY_KERNELS];

/* Tensors of the shape and the parameters of its build function: 0, or the failure that hbg_setup_fail() latched. Kernels are the empty ones. */
int hbg__replay_inputs(struct hbg_setup *s, enum replay_shape_id id, bool plain, struct replay_params *params);
/* What the checking kernels leave, which take the place of the empty ones. */
int hbg__replay_golden(struct hbg_setup *s, enum replay_shape_id id);

#endif /* HBG_WORKLOADS_SHAPES_REPLAY_CHECK_H */
