/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - one record of a trace under construction.
 *
 *     [STRACE] v=1 pid=P tid=T inv=I prog=HASH depth=N name=NAME ts=NS dur=NS dev=D seq=S key=value .. ;
 *
 * Names, keys and values that come from outside are percent-encoded: letters, digits and - _ . ~ / : , + stand for themselves,
 * every other byte is %XX with capital digits. So a record holds neither a space nor a `;` but between its parts, and "[STRACE]"
 * occurs at its head alone. What would make a record longer than LINE_MAX is left out as a whole, and it says cut=1.
 */
#ifndef HBG_TRACE_LINE_H
#define HBG_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HBG__TRACE_LINE_MAX = 4096 };    /* PIPE_BUF on Linux: no other writer comes between */

struct hbg__trace_line {
    size_t used;
    bool cut;
    char text[HBG__TRACE_LINE_MAX];     /* not set beyond `used` */
};

static inline void hbg__line_begin(struct hbg__trace_line *line)
{
    line->used = 0;
    line->cut = false;
}

/* " key=", the key as it is, then the value; false: it did not fit and the line is as it was. */
bool hbg__line_u64(struct hbg__trace_line *line, const char *key, uint64_t value);
bool hbg__line_hex(struct hbg__trace_line *line, const char *key, uint64_t value);
bool hbg__line_text(struct hbg__trace_line *line, const char *key, const char *value);
/* The key is encoded as well. */
bool hbg__line_note(struct hbg__trace_line *line, const char *key, const char *value);
/* " name=PREFIX", then each part behind a dot; dots in the first one are encoded, so that it stays one part. */
bool hbg__line_name(struct hbg__trace_line *line, const char *prefix, const char *first, const char *second);
/* Bytes as they are. */
bool hbg__line_raw(struct hbg__trace_line *line, const char *text, size_t size);
/* What every record ends with, the end of the line included. */
void hbg__line_end(struct hbg__trace_line *line);

#endif /* HBG_TRACE_LINE_H */
