/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - where the library's text goes. The library itself prints nothing. */
#ifndef HBG_LOG_H
#define HBG_LOG_H

#include <hbg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* HBG_LOG_ERROR: a call or a run failed, and its status says so as well. A level includes those before it. */
enum hbg_log_level { HBG_LOG_ERROR = 1, HBG_LOG_WARN, HBG_LOG_INFO, HBG_LOG_DEBUG };

/* Called from whichever thread has something to say, several at once if need be. `text` is one line of at most 511 bytes without its
   end, borrowed for the call. It may not call the device. */
typedef void hbg_log_fn(void *user, enum hbg_log_level level, const char *text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_LOG_H */
