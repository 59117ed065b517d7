/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.h - JSON written value by value to a stream.
 *
 *     struct hbg__json json;
 *     hbg__json_begin(&json, stdout);
 *     hbg__json_open_object(&json);
 *     hbg__json_key(&json, "tasks");
 *     hbg__json_u64(&json, 1000);
 *     hbg__json_close(&json);
 *     if (!hbg__json_end(&json)) ...
 *
 * Commas, line breaks, indentation and escapes are the writer's. Strings are UTF-8; bytes that are not become U+FFFD. Numbers
 * that JSON lacks (infinities, NaN) become null. Doubles are written with as many digits as bring the same value back.
 * A misuse (a value without key in an object, a key outside one, an unclosed or overdeep nest) or a failed write makes the end
 * false. Nothing is allocated. It depends on libc alone, so that the command can compile it in.
 */
#ifndef HBG_BASE_JSON_WRITE_H
#define HBG_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { HBG__JSON_DEPTH_MAX = 32 };

struct hbg__json {
    FILE *out;                          /* borrowed */
    int depth;
    bool in_object[HBG__JSON_DEPTH_MAX];
    bool has_items[HBG__JSON_DEPTH_MAX];
    bool after_key, is_complete, failed;
};

void hbg__json_begin(struct hbg__json *json, FILE *out);

/* A line end and a flush; false: what was written is no complete JSON text, or the stream failed. */
bool hbg__json_end(struct hbg__json *json);

void hbg__json_open_object(struct hbg__json *json);
void hbg__json_open_array(struct hbg__json *json);
void hbg__json_close(struct hbg__json *json);           /* the innermost open object or array */
void hbg__json_key(struct hbg__json *json, const char *key);

void hbg__json_string(struct hbg__json *json, const char *text);        /* NULL: null */
void hbg__json_i64(struct hbg__json *json, int64_t value);
void hbg__json_u64(struct hbg__json *json, uint64_t value);
void hbg__json_f64(struct hbg__json *json, double value);
void hbg__json_bool(struct hbg__json *json, bool value);
void hbg__json_null(struct hbg__json *json);

/* key and value at once */
void hbg__json_key_string(struct hbg__json *json, const char *key, const char *text);
void hbg__json_key_i64(struct hbg__json *json, const char *key, int64_t value);
void hbg__json_key_u64(struct hbg__json *json, const char *key, uint64_t value);
void hbg__json_key_f64(struct hbg__json *json, const char *key, double value);
void hbg__json_key_bool(struct hbg__json *json, const char *key, bool value);

#endif /* HBG_BASE_JSON_WRITE_H */
