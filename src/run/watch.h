/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - with poison=1, what a run must not change is looked at before its launch and after its end.
 *
 *   | what                                              | how              | found                                     |
 *   | image, for as long as it is reused                | checksum         | HBG_E_IMAGE, at prepare and at finish     |
 *   | committed memory around the image, the heap, the  | checksum         | HBG_E_OVERWRITTEN at finish               |
 *   | slots, the staged arguments; descriptor; kernels  |                  |                                           |
 *   | bytes of arguments that are read only, of whole   | copies, compared | HBG_E_OVERWRITTEN at finish: the argument |
 *   | buffers beside what is written, and 64 bytes on   |                  | and the byte                              |
 *   | both sides of each argument in discrete memory    |                  |                                           |
 *   | device buffers that the run does not use          | checksum         | HBG_E_OVERWRITTEN at finish               |
 *   | what lies around each buffer on its pages         | poison           | HBG_E_OVERWRITTEN at finish               |
 *   | queues, from the end of a run to the next prepare | checksum         | HBG_E_DEVICE at prepare                   |
 *
 * Not watched: a buffer that the build named itself, since only its kernels know what they write there; bytes beside an
 * argument in host memory that a unified device uses in place, since they are the caller's; intermediates, which lie side by
 * side in the heap; the scratch memory of kernels. A buffer that the host wrote meanwhile is left out of the comparison.
 *
 * A run that failed by itself keeps its own status; what was found then goes to the log alone.
 */
#ifndef HBG_RUN_WATCH_H
#define HBG_RUN_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hbg/status.h>

struct hbg__run;

enum { HBG__WATCH_GUARD = 64, HBG__WATCH_RANGES = 8 };

struct hbg__watch_range { const char *what; uint64_t address, size_bytes, sum; };

/* Of one run at a time; the two copies stay for the next one. */
struct hbg__watch {
    unsigned char *before, *now;        /* the bytes of all groups, one after the other: placed_group.watched */
    size_t capacity, used;
    uint32_t range_count;
    struct hbg__watch_range range[HBG__WATCH_RANGES];
};

/* Prepare: the image is as it was when it was first used, the queues are as the last run left them. */
enum hbg_status hbg__watch_image(struct hbg__run *run, struct hbg_error *error);
enum hbg_status hbg__watch_queues(struct hbg__run *run, struct hbg_error *error);

/* Around a launch: remember, and compare. `error` says what was found first, the log all of it. */
enum hbg_status hbg__watch_begin(struct hbg__run *run);
enum hbg_status hbg__watch_end(struct hbg__run *run, struct hbg_error *error);

void hbg__watch_free(struct hbg__run *run);

#endif /* HBG_RUN_WATCH_H */
