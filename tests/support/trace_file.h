/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.h - a device that traces into a file of the test's own, and what is in it afterwards. */
#ifndef HBG_TEST_SUPPORT_TRACE_FILE_H
#define HBG_TEST_SUPPORT_TRACE_FILE_H

#include <hbg/hbg.h>

enum { TRACE_PATH = 64 };

/* A path in /tmp that nobody else uses; the file is not there. */
void trace_path(char path[TRACE_PATH]);

/* Opens or fails the test. */
struct hbg_device *trace_open(const char *spec, enum hbg_trace_level level, const char *path);

/* The whole file as one string, to be freed, and the file is gone. */
char *trace_take(const char *path);

/* How many lines of the text contain all of `what`. */
int trace_count(const char *text, const char *what);

#endif /* HBG_TEST_SUPPORT_TRACE_FILE_H */
