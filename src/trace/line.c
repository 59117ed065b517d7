/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - see line.h. Written by hand, since a record is made for every span and snprintf() costs as much as the write. */
#include "trace/line.h"

#include <string.h>

enum { TAIL = 9, ROOM = HBG__TRACE_LINE_MAX - TAIL };   /* " cut=1 ;\n" */

static bool refuse(struct hbg__trace_line *line, size_t used)
{
    line->used = used;
    line->cut = true;
    return false;
}

bool hbg__line_raw(struct hbg__trace_line *line, const char *text, size_t size)
{
    if (size > ROOM - line->used) return refuse(line, line->used);
    memcpy(line->text + line->used, text, size);
    line->used += size;
    return true;
}

static bool put_key(struct hbg__trace_line *line, const char *key)
{
    return hbg__line_raw(line, " ", 1) && hbg__line_raw(line, key, strlen(key)) && hbg__line_raw(line, "=", 1);
}

static bool put_number(struct hbg__trace_line *line, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return hbg__line_raw(line, digits + at, sizeof digits - at);
}

static bool stands_for_itself(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c != '\0' && strchr("-_.~/:,+", c) != NULL);
}

static bool put_encoded(struct hbg__trace_line *line, const char *text, bool one_part)
{
    static const char hex[] = "0123456789ABCDEF";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (stands_for_itself(c) && !(one_part && c == '.')) {
            if (line->used == ROOM) return false;
            line->text[line->used++] = (char)c;
        } else {
            char code[3] = { '%', hex[c >> 4], hex[c & 15] };
            if (!hbg__line_raw(line, code, sizeof code)) return false;
        }
    }
    return true;
}

bool hbg__line_u64(struct hbg__trace_line *line, const char *key, uint64_t value)
{
    size_t used = line->used;
    return (put_key(line, key) && put_number(line, value)) || refuse(line, used);
}

bool hbg__line_hex(struct hbg__trace_line *line, const char *key, uint64_t value)
{
    size_t used = line->used;
    char digits[16];
    for (int i = 15; i >= 0; i--, value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
    return (put_key(line, key) && hbg__line_raw(line, digits, sizeof digits)) || refuse(line, used);
}

bool hbg__line_text(struct hbg__trace_line *line, const char *key, const char *value)
{
    size_t used = line->used;
    return (put_key(line, key) && put_encoded(line, value, false)) || refuse(line, used);
}

bool hbg__line_note(struct hbg__trace_line *line, const char *key, const char *value)
{
    size_t used = line->used;
    return (hbg__line_raw(line, " ", 1) && put_encoded(line, key, false) && hbg__line_raw(line, "=", 1) && put_encoded(line, value, false)) || refuse(line, used);
}

bool hbg__line_name(struct hbg__trace_line *line, const char *prefix, const char *first, const char *second)
{
    size_t used = line->used;
    bool fits = put_key(line, "name") && hbg__line_raw(line, prefix, strlen(prefix));
    if (fits && first) fits = hbg__line_raw(line, ".", 1) && put_encoded(line, first, true);
    if (fits && second) fits = hbg__line_raw(line, ".", 1) && put_encoded(line, second, false);
    return fits || refuse(line, used);
}

void hbg__line_end(struct hbg__trace_line *line)
{
    const char *tail = line->cut ? " cut=1 ;\n" : " ;\n";
    size_t size = strlen(tail);
    memcpy(line->text + line->used, tail, size);
    line->used += size;
}
