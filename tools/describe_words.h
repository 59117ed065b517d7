/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the forms of a description share: reading a task, and words for it.
 */
#ifndef HBG_TOOLS_DESCRIBE_WORDS_H
#define HBG_TOOLS_DESCRIBE_WORDS_H

#include "describe.h"

/* False: the library says that there is no such thing. */
bool hbg__describe_read_task(const struct description *d, uint32_t id, struct hbg_task_info *task);
bool hbg__describe_read_argument(const struct description *d, uint32_t task, uint32_t i, struct hbg_argument_info *a);
bool hbg__describe_read_edge(const struct description *d, uint32_t task, uint32_t i, struct hbg_edge_info *edge);

const char *hbg__describe_kind(uint32_t kind);         /* "inout"; "" of a scalar, of bytes, and where it is not known */
const char *hbg__describe_place(uint32_t place);
const char *hbg__describe_cause(uint32_t cause);

/* The tensor of the workload that an argument lies in; NULL: in none. */
const char *hbg__describe_tensor(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a);
bool hbg__describe_is_value(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a);
/* "f32[64,64] at byte 16384 of a" */
const char *hbg__describe_region(const struct description *d, const struct hbg_task_info *task, const struct hbg_argument_info *a, char *text, size_t size);

static inline uint32_t describe_shown(const struct description *d, uint32_t limit) { return limit < describe_ids(d) ? limit : describe_ids(d); }
static inline double describe_mean_degree(const struct description *d) { return describe_ids(d) ? (double)d->edge_count / describe_ids(d) : 0.0; }
/* of all levels */
static inline uint64_t describe_noops(const struct description *d) { return d->kernel[d->kernel_count - 1].tasks; }

#endif
