/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void hbg__log_init(struct hbg__log *log, hbg_log_fn *fn, void *user, enum hbg_log_level level)
{
    log->fn = fn;
    log->user = user;
    log->level = level ? level : HBG_LOG_WARN;
}

void hbg__log_write(const struct hbg__log *log, enum hbg_log_level level, const char *format, ...)
{
    if (!hbg__log_wants(log, level)) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log->fn(log->user, level, text);
}
