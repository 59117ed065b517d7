/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - one line of text to the user's callback. Without a callback nothing is formatted; the library itself never prints. */
#ifndef HBG_BASE_LOG_H
#define HBG_BASE_LOG_H

#include <hbg/log.h>

#include "base/check.h"

struct hbg__log {
    hbg_log_fn *fn;             /* NULL: nobody listens */
    void *user;
    enum hbg_log_level level;   /* lines above it are dropped */
};

/* level 0 is HBG_LOG_WARN */
void hbg__log_init(struct hbg__log *log, hbg_log_fn *fn, void *user, enum hbg_log_level level);

static inline bool hbg__log_wants(const struct hbg__log *log, enum hbg_log_level level)
{
    return log && log->fn && level <= log->level;
}

/* Text beyond 511 bytes is cut. Any thread; the callback must be ready for that. */
void hbg__log_write(const struct hbg__log *log, enum hbg_log_level level, const char *format, ...) HBG_PRINTF(3, 4);

#endif /* HBG_BASE_LOG_H */
