/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as RFC 8259 has it, read into a tree: for files that the command wrote itself and for what other programs print.
 *
 * One value after the other is taken, so that lines of JSON are read as well. Strings are decoded in place and end with a zero byte; one
 * that holds a zero byte itself is refused. Nesting deeper than JSON_DEPTH_MAX is refused too. Keys that come twice are both kept.
 */
#ifndef HBG_TOOLS_JSON_READ_H
#define HBG_TOOLS_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_DEPTH_MAX = 64 };
enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
    enum json_kind kind;
    double number;
    const char *key, *text;             /* of a member of an object; of a string */
    struct json_value *first, *next;    /* the first element or member; the next one beside this */
};

struct json_document {
    char *text;                         /* owned; strings point into it */
    struct json_value *first;           /* values, one beside the other */
    const char *why;                    /* what is wrong, or NULL */
    size_t line;                        /* where, from 1 */
    struct json_chunk *chunk;           /* owned: the tree */
};

/* Takes text[0..size], which malloc() gave and which ends with a zero byte at text[size]. False: `why` and `line` say what is wrong. Either way
   the document is to be freed. */
bool hbg__json_parse(struct json_document *document, char *text, size_t size);
void hbg__json_free(struct json_document *document);

/* The first member of that key; NULL: none, or `value` is no object, or NULL. */
const struct json_value *hbg__json_get(const struct json_value *value, const char *key);

/* Numbers and strings of members; false: there is none of that kind. A null is the number NaN. */
bool hbg__json_number(const struct json_value *value, const char *key, double *number);
bool hbg__json_text(const struct json_value *value, const char *key, const char **text);

/* Calls `found` for each number that the path leads to: keys with dots between them; a step into an array goes to all of its elements, or
   to one where the step is a number. False: `found` returned false. */
typedef bool json_found_fn(void *context, double number);
bool hbg__json_walk(const struct json_value *value, const char *path, json_found_fn *found, void *context);

/* Of a path that leads to no number: how far it comes, and what is there, as "`a` has the keys x, y". Of arrays that it steps into without
   a number the first element stands for all. `text` is returned. */
const char *hbg__json_stuck(const struct json_value *value, const char *path, char *text, size_t size);

#endif
