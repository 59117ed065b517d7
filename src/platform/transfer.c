/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - see transfer.h. All three copy run by run, in the order of the iterator there. */
#include "platform/transfer.h"

enum hbg_status hbg__transfer_in(const struct hbg__platform_ops *ops, struct hbg__platform *platform, struct hbg__stream *stream,
                                 uint64_t target, const unsigned char *source, const struct hbg__view *view, uint64_t *bytes)
{
    struct hbg__byte_runs runs = hbg__byte_runs_first(view);
    *bytes = 0;
    do {
        enum hbg_status status = ops->copy_in(platform, stream, target + (uint64_t)runs.off, source + runs.off, (uint64_t)view->run);
        if (status) return status;
        *bytes += (uint64_t)view->run;
    } while (hbg__byte_runs_next(&runs));
    return HBG_OK;
}

enum hbg_status hbg__transfer_out(const struct hbg__platform_ops *ops, struct hbg__platform *platform, struct hbg__stream *stream,
                                  unsigned char *target, uint64_t source, const struct hbg__view *view, uint64_t *bytes)
{
    struct hbg__byte_runs runs = hbg__byte_runs_first(view);
    *bytes = 0;
    do {
        enum hbg_status status = ops->copy_out(platform, stream, target + runs.off, source + (uint64_t)runs.off, (uint64_t)view->run);
        if (status) return status;
        *bytes += (uint64_t)view->run;
    } while (hbg__byte_runs_next(&runs));
    return HBG_OK;
}

enum hbg_status hbg__transfer_fill(const struct hbg__platform_ops *ops, struct hbg__platform *platform, struct hbg__stream *stream,
                                   uint64_t target, unsigned char byte, const struct hbg__view *view)
{
    struct hbg__byte_runs runs = hbg__byte_runs_first(view);
    do {
        enum hbg_status status = ops->fill(platform, stream, target + (uint64_t)runs.off, byte, (uint64_t)view->run);
        if (status) return status;
    } while (hbg__byte_runs_next(&runs));
    return HBG_OK;
}
