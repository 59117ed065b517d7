/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - see transfer.h. All three walk the runs of the canonical view in one way, innermost dimension last. */
#include "platform/transfer.h"

/* Offsets of the runs, one after the other; `index` counts like an odometer. */
struct runs { const struct hbg__view *view; int64_t index[HBG__VIEW_RANK_MAX], off; };

static struct runs first_run(const struct hbg__view *view) { return (struct runs){ .view = view, .off = view->lo }; }

static bool next_run(struct runs *runs)
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

enum hbg_status hbg__transfer_in(const struct hbg_platform_ops *ops, struct hbg_platform *platform, struct hbg_stream *stream,
                                 uint64_t target, const unsigned char *source, const struct hbg__view *view, uint64_t *bytes)
{
    struct runs runs = first_run(view);
    *bytes = 0;
    do {
        enum hbg_status status = ops->copy_in(platform, stream, target + (uint64_t)runs.off, source + runs.off, (uint64_t)view->run);
        if (status) return status;
        *bytes += (uint64_t)view->run;
    } while (next_run(&runs));
    return HBG_OK;
}

enum hbg_status hbg__transfer_out(const struct hbg_platform_ops *ops, struct hbg_platform *platform, struct hbg_stream *stream,
                                  unsigned char *target, uint64_t source, const struct hbg__view *view, uint64_t *bytes)
{
    struct runs runs = first_run(view);
    *bytes = 0;
    do {
        enum hbg_status status = ops->copy_out(platform, stream, target + runs.off, source + (uint64_t)runs.off, (uint64_t)view->run);
        if (status) return status;
        *bytes += (uint64_t)view->run;
    } while (next_run(&runs));
    return HBG_OK;
}

enum hbg_status hbg__transfer_fill(const struct hbg_platform_ops *ops, struct hbg_platform *platform, struct hbg_stream *stream,
                                   uint64_t target, unsigned char byte, const struct hbg__view *view)
{
    struct runs runs = first_run(view);
    do {
        enum hbg_status status = ops->fill(platform, stream, target + (uint64_t)runs.off, byte, (uint64_t)view->run);
        if (status) return status;
    } while (next_run(&runs));
    return HBG_OK;
}
