/* SPDX-License-Identifier: Apache-2.0 */
/* trace_records.c - see trace_records.h. */
#include "support/trace_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/trace_file.h"

struct trace_log trace_read(const char *path)
{
    struct trace_log log;
    char *text = trace_take(path);
    assert_true(hbg__trace_log_parse(&log, text, strlen(text)));
    assert_int_equal(hbg__trace_log_lost(&log), 0);
    assert_int_equal(hbg__trace_log_unfinished(&log), 0);
    return log;
}

const struct trace_record *trace_find(const struct trace_log *log, uint64_t invocation, const char *name)
{
    const struct trace_record *found = NULL;
    for (size_t i = 0; i < log->record_count; i++) {
        if (log->record[i].invocation != invocation || strcmp(log->record[i].name, name) != 0) continue;
        assert_null(found);
        found = &log->record[i];
    }
    return found;
}

bool trace_is_inside(const struct trace_record *inner, const struct trace_record *outer)
{
    return inner->ts >= outer->ts && inner->ts + inner->dur <= outer->ts + outer->dur;
}

void trace_check_nesting(const struct trace_log *log, uint64_t invocation)
{
    for (size_t i = 0; i < log->record_count; i++) {
        const struct trace_record *r = &log->record[i];
        char parent[128];
        if (r->invocation != invocation || r->depth == 0) continue;
        snprintf(parent, sizeof parent, "%s", r->name);
        *strrchr(parent, '.') = '\0';
        const struct trace_record *outer = trace_find(log, invocation, parent);
        assert_non_null(outer);
        assert_int_equal(outer->depth, r->depth - 1);
        if (!trace_is_inside(r, outer)) fail_msg("%s is not inside of %s", r->name, parent);
    }
}

uint64_t trace_number(const struct trace_log *log, const struct trace_record *record, const char *key)
{
    uint64_t value = 0;
    if (!hbg__trace_number(log, record, key, &value)) fail_msg("%s has no %s", record->name, key);
    return value;
}
