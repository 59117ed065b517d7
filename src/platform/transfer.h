/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.h - move exactly the bytes of a strided view between host and device, through a platform's copies. */
#ifndef HBG_PLATFORM_TRANSFER_H
#define HBG_PLATFORM_TRANSFER_H

#include "graph/canonical_view.h"
#include "platform/platform.h"

/* The runs of bytes of a view, one after the other: `off` is where the run of view->run bytes begins. `index` counts like an
   odometer, innermost dimension last. */
struct hbg__byte_runs { const struct hbg__view *view; int64_t index[HBG__VIEW_RANK_MAX], off; };

static inline struct hbg__byte_runs hbg__byte_runs_first(const struct hbg__view *view)
{
    return (struct hbg__byte_runs){ .view = view, .off = view->lo };
}

/* False: that was the last one. */
static inline bool hbg__byte_runs_next(struct hbg__byte_runs *runs)
{
    const struct hbg__view *view = runs->view;
    for (int d = view->rank - 1; d >= 0; d--) {
        runs->off += view->stride[d];
        if (++runs->index[d] < view->count[d]) return true;
        runs->off -= view->count[d] * view->stride[d];
        runs->index[d] = 0;
    }
    return false;
}

/* The view's bytes count from `target` on the device and from `source` on the host. *bytes is what was copied. Cost: one copy for
   each run of bytes without a gap. */
enum hbg_status hbg__transfer_in(const struct hbg__platform_ops *ops, struct hbg__platform *platform, struct hbg__stream *stream,
                                 uint64_t target, const unsigned char *source, const struct hbg__view *view, uint64_t *bytes);
enum hbg_status hbg__transfer_out(const struct hbg__platform_ops *ops, struct hbg__platform *platform, struct hbg__stream *stream,
                                  unsigned char *target, uint64_t source, const struct hbg__view *view, uint64_t *bytes);
enum hbg_status hbg__transfer_fill(const struct hbg__platform_ops *ops, struct hbg__platform *platform, struct hbg__stream *stream,
                                   uint64_t target, unsigned char byte, const struct hbg__view *view);

#endif /* HBG_PLATFORM_TRANSFER_H */
