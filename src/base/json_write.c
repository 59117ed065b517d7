/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.c - see json_write.h. */
#include "base/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void hbg__json_begin(struct hbg__json *json, FILE *out)
{
    memset(json, 0, sizeof *json);
    json->out = out;
}

bool hbg__json_end(struct hbg__json *json)
{
    if (json->depth != 0 || !json->is_complete) json->failed = true;
    fputc('\n', json->out);
    if (fflush(json->out) != 0 || ferror(json->out)) json->failed = true;
    return !json->failed;
}

static void new_line(struct hbg__json *json)
{
    fputc('\n', json->out);
    for (int i = 0; i < json->depth; i++) fputs("  ", json->out);
}

/* Comma and line break before an element of the innermost object or array. */
static void next_item(struct hbg__json *json)
{
    bool *has_items = &json->has_items[json->depth - 1];
    if (*has_items) fputc(',', json->out);
    *has_items = true;
    new_line(json);
}

/* Called before every value; false: a value may not stand here. */
static bool begin_value(struct hbg__json *json)
{
    if (json->depth == 0) {
        if (json->is_complete) json->failed = true;
        json->is_complete = true;
    } else if (json->in_object[json->depth - 1]) {
        if (!json->after_key) json->failed = true;
        json->after_key = false;
    } else {
        next_item(json);
    }
    return !json->failed;
}

/* Length of the well-formed UTF-8 sequence at `at`, 0 when there is none: no overlong forms, no surrogates, at most U+10FFFF. */
static int sequence_length(const unsigned char *at)
{
    if (at[0] < 0x80) return 1;
    int length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
    if (at[0] < 0xc2 || at[0] > 0xf4 || at[1] < low || at[1] > high) return 0;
    for (int i = 2; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
    }
    return length;
}

static void write_text(struct hbg__json *json, const char *text)
{
    fputc('"', json->out);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int length = sequence_length(at);
        if (length == 0) {
            fputs("\\ufffd", json->out);
            length = 1;
        } else if (*at == '"' || *at == '\\') {
            fprintf(json->out, "\\%c", *at);
        } else if (*at == '\n') {
            fputs("\\n", json->out);
        } else if (*at == '\t') {
            fputs("\\t", json->out);
        } else if (*at < 0x20) {
            fprintf(json->out, "\\u%04x", *at);
        } else {
            fwrite(at, 1, (size_t)length, json->out);
        }
        at += length;
    }
    fputc('"', json->out);
}

static void open_nest(struct hbg__json *json, char bracket, bool is_object)
{
    if (json->depth == HBG__JSON_DEPTH_MAX) json->failed = true;
    if (!begin_value(json)) return;
    fputc(bracket, json->out);
    json->in_object[json->depth] = is_object;
    json->has_items[json->depth] = false;
    json->depth++;
}

void hbg__json_open_object(struct hbg__json *json) { open_nest(json, '{', true); }
void hbg__json_open_array(struct hbg__json *json) { open_nest(json, '[', false); }

void hbg__json_close(struct hbg__json *json)
{
    if (json->depth == 0 || json->after_key) json->failed = true;
    if (json->failed) return;
    json->depth--;
    if (json->has_items[json->depth]) new_line(json);
    fputc(json->in_object[json->depth] ? '}' : ']', json->out);
}

void hbg__json_key(struct hbg__json *json, const char *key)
{
    if (json->depth == 0 || !json->in_object[json->depth - 1] || json->after_key) json->failed = true;
    if (json->failed) return;
    next_item(json);
    write_text(json, key);
    fputs(": ", json->out);
    json->after_key = true;
}

void hbg__json_string(struct hbg__json *json, const char *text)
{
    if (!begin_value(json)) return;
    if (text) write_text(json, text);
    else fputs("null", json->out);
}

void hbg__json_i64(struct hbg__json *json, int64_t value)
{
    if (begin_value(json)) fprintf(json->out, "%" PRId64, value);
}

void hbg__json_u64(struct hbg__json *json, uint64_t value)
{
    if (begin_value(json)) fprintf(json->out, "%" PRIu64, value);
}

void hbg__json_f64(struct hbg__json *json, double value)
{
    if (!begin_value(json)) return;
    if (!isfinite(value)) {
        fputs("null", json->out);
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, json->out);
}

void hbg__json_bool(struct hbg__json *json, bool value)
{
    if (begin_value(json)) fputs(value ? "true" : "false", json->out);
}

void hbg__json_null(struct hbg__json *json)
{
    if (begin_value(json)) fputs("null", json->out);
}

#define KEY_VALUE(kind, type)                                                                                          \
    void hbg__json_key_##kind(struct hbg__json *json, const char *key, type value)                                     \
    {                                                                                                                  \
        hbg__json_key(json, key);                                                                                      \
        hbg__json_##kind(json, value);                                                                                 \
    }
KEY_VALUE(string, const char *)
KEY_VALUE(i64, int64_t)
KEY_VALUE(u64, uint64_t)
KEY_VALUE(f64, double)
KEY_VALUE(bool, bool)
#undef KEY_VALUE
