/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - where the library's text goes. */
#ifndef HBG_LOG_H
#define HBG_LOG_H

#include <hbg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hbg_log_level { HBG_LOG_ERROR = 1, HBG_LOG_WARN, HBG_LOG_INFO, HBG_LOG_DEBUG };
typedef void hbg_log_fn(void *user, enum hbg_log_level level, const char *text);   /* any thread */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_LOG_H */
