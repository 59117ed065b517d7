/* SPDX-License-Identifier: Apache-2.0 */
/* trace_records.h - what a trace says, record by record. What is not there fails the test. */
#ifndef HBG_TEST_SUPPORT_TRACE_RECORDS_H
#define HBG_TEST_SUPPORT_TRACE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/trace_log.h"

/* The file, which is gone then. Nothing of it is lost or unfinished. Release with hbg__trace_log_free(). */
struct trace_log trace_read(const char *path);

/* The one record of this name and run; NULL: there is none. */
const struct trace_record *trace_find(const struct trace_log *log, uint64_t invocation, const char *name);

uint64_t trace_number(const struct trace_log *log, const struct trace_record *record, const char *key);

bool trace_is_inside(const struct trace_record *inner, const struct trace_record *outer);

/* Every span of the run lies inside the one whose name is its own without the last part. */
void trace_check_nesting(const struct trace_log *log, uint64_t invocation);

#endif /* HBG_TEST_SUPPORT_TRACE_RECORDS_H */
