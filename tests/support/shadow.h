/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.h - regions with shadows: host memory that is seen through the same views, on which a build computes its tasks at once.
 *
 * What the device makes of a graph must be what the shadows say, since a graph means its tasks in the order of their submission;
 * and of two tasks that touch a word of a shadow, one of them writing, the image must order the one before the other.
 *
 * One build at a time: the state is that of the process.
 */
#ifndef HBG_TEST_SHADOW_H
#define HBG_TEST_SHADOW_H

#include <hbg/hbg.h>
#include "support/edges.h"

/* int32 regions of rank 0 to 2. */
struct both { struct hbg_region region, shadow; };

struct both both_slice(struct both b, int d, int64_t lo, int64_t hi);
struct both both_cell(struct both b, struct hbg_shape shape, struct hbg_shape at);
struct both both_turned(struct both b);                         /* axes 0 and 1 change places */
struct both both_alloc(struct hbg_graph *g, struct hbg_shape shape);        /* up to 128 elements */

/* At the head of a build. `memory`: where the shadows of the arguments lie, up to 1024 bytes. */
void shadow_begin(void *memory, size_t size_bytes);
uint32_t shadow_submitted(void);                                /* tasks since */

/* Entry SHADOW_MIX and SHADOW_TEXT of a program's kernels. */
enum { SHADOW_MIX, SHADOW_TEXT, SHADOW_KERNELS, SHADOW_TEXT_BYTES = 20, SHADOW_INPUTS_MAX = 12 };
extern const struct hbg_kernel shadow_kernels[SHADOW_KERNELS];

/* A task whose output hangs on a scalar and on every element of its inputs. */
struct hbg_task shadow_put(struct hbg_graph *g, struct both out, uint32_t scalar, const struct both *input, int count);
#define SHADOW_PUT(g, out, scalar, ...)                                                                               \
    shadow_put((g), (out), (scalar), (struct both[]){ __VA_ARGS__ }, (int)(sizeof((struct both[]){ __VA_ARGS__ }) / sizeof(struct both)))
/* One whose output hangs on SHADOW_TEXT_BYTES parameter bytes, which are its first argument. */
void shadow_put_text(struct hbg_graph *g, struct both out, const char *words);

/* Every pair of tasks since shadow_begin() that conflicts is ordered by the edges; else the test fails. */
void shadow_check_order(const struct edges *edges);

#endif /* HBG_TEST_SHADOW_H */
