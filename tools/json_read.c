/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of JSON.
 */
#include "json_read.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512 };

struct json_chunk {
    struct json_chunk *before;
    size_t used;
    struct json_value value[CHUNK];
};

struct reader {
    struct json_document *document;
    char *at, *end;
    int depth;
};

static struct json_value *fail(struct reader *r, const char *why)
{
    if (!r->document->why)
        r->document->why = why;
    return NULL;
}

static struct json_value *new_value(struct reader *r, enum json_kind kind)
{
    struct json_chunk *chunk = r->document->chunk;

    if (!chunk || chunk->used == CHUNK) {
        chunk = malloc(sizeof *chunk);
        if (!chunk)
            return fail(r, "there is no memory for it");
        chunk->before = r->document->chunk;
        chunk->used = 0;
        r->document->chunk = chunk;
    }
    chunk->value[chunk->used] = (struct json_value){ .kind = kind };
    return &chunk->value[chunk->used++];
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* ---- strings ---- */

/* Four hexadecimal digits at `at`, or -1. The text ends with a zero byte, which is no digit. */
static int32_t hex4(const char *at)
{
    int32_t value = 0;

    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *to, int32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* Behind "\u": one character, of two such escapes where the first is half of one. Returns where to write on, or NULL. */
static char *take_escape(struct reader *r, char *to)
{
    int32_t c = hex4(r->at), low;

    if (c <= 0)                                 /* no digits, or the character 0 */
        return NULL;
    r->at += 4;
    if (c >= 0xdc00 && c < 0xe000)
        return NULL;
    if (c >= 0xd800 && c < 0xdc00) {
        if (r->at[0] != '\\' || r->at[1] != 'u')
            return NULL;
        low = hex4(r->at + 2);
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        r->at += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_utf8(to, c);
}

/* From behind the first quote on; decoded, which never takes more room than it had. */
static const char *take_string(struct reader *r)
{
    static const char escape[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    char *begin = r->at, *to = r->at;

    while (r->at < r->end && *r->at != '"') {
        const char *known;

        if ((unsigned char)*r->at < 0x20)
            return (void)fail(r, "a string holds a control character"), NULL;
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        r->at++;
        if (*r->at == 'u') {
            r->at++;
            to = take_escape(r, to);
            if (!to)
                return (void)fail(r, "a string has an escape that is no character"), NULL;
            continue;
        }
        known = *r->at ? strchr(escape, *r->at) : NULL;
        if (!known)
            return (void)fail(r, "a string has an unknown escape"), NULL;
        *to++ = meaning[known - escape];
        r->at++;
    }
    if (r->at == r->end)
        return (void)fail(r, "a string does not end"), NULL;
    *to = '\0';
    r->at++;
    return begin;
}

/* ---- values ---- */

static size_t digits(const char *at)
{
    return strspn(at, "0123456789");
}

static struct json_value *take_number(struct reader *r)
{
    char *at = r->at + (*r->at == '-'), *begin = r->at;
    struct json_value *value;
    size_t whole = digits(at);

    if (!whole || (whole > 1 && *at == '0'))
        return fail(r, "there is no value");
    at += whole;
    if (*at == '.') {
        if (!digits(at + 1))
            return fail(r, "a number ends with its point");
        at += 1 + digits(at + 1);
    }
    if (*at == 'e' || *at == 'E') {
        char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
        if (!digits(exponent))
            return fail(r, "a number ends with its exponent");
        at = exponent + digits(exponent);
    }
    value = new_value(r, JSON_NUMBER);
    if (value)
        value->number = strtod(begin, NULL);
    r->at = at;
    return value;
}

static struct json_value *take_word(struct reader *r)
{
    static const struct { const char *word; enum json_kind kind; } words[] = { { "null", JSON_NULL }, { "false", JSON_FALSE }, { "true", JSON_TRUE } };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(r->at, words[i].word, length) == 0) {
            r->at += length;
            return new_value(r, words[i].kind);
        }
    }
    return take_number(r);
}

static struct json_value *take_value(struct reader *r);

/* Behind the opening bracket: elements or members up to the closing one. */
static struct json_value *take_nest(struct reader *r, bool object)
{
    struct json_value *nest = new_value(r, object ? JSON_OBJECT : JSON_ARRAY), **last = nest ? &nest->first : NULL;
    char close = object ? '}' : ']';

    if (!nest || ++r->depth > JSON_DEPTH_MAX)
        return nest ? fail(r, "it nests too deeply") : NULL;
    skip_space(r);
    while (*r->at != close) {
        const char *key = NULL;

        if (object) {
            if (*r->at++ != '"')
                return fail(r, "a member of an object has no key");
            key = take_string(r);
            if (!key)
                return NULL;
            skip_space(r);
            if (*r->at++ != ':')
                return fail(r, "a key has no colon behind it");
        }
        *last = take_value(r);
        if (!*last)
            return NULL;
        (*last)->key = key;
        last = &(*last)->next;
        skip_space(r);
        if (*r->at != ',' && *r->at != close)
            return fail(r, object ? "an object does not go on and does not end" : "an array does not go on and does not end");
        if (*r->at == ',') {
            r->at++;
            skip_space(r);
            if (*r->at == close)
                return fail(r, "a comma has nothing behind it");
        }
    }
    r->at++;
    r->depth--;
    return nest;
}

static struct json_value *take_value(struct reader *r)
{
    struct json_value *value;

    skip_space(r);
    if (*r->at == '{' || *r->at == '[') {
        bool object = *r->at++ == '{';
        return take_nest(r, object);
    }
    if (*r->at != '"')
        return take_word(r);
    r->at++;
    value = new_value(r, JSON_STRING);
    if (!value)
        return NULL;
    value->text = take_string(r);
    return value->text ? value : NULL;
}

bool hbg__json_parse(struct json_document *document, char *text, size_t size)
{
    struct reader r = { .document = document, .at = text, .end = text + size };
    struct json_value **last = &document->first;

    *document = (struct json_document){ .text = text };
    for (skip_space(&r); r.at < r.end && !document->why; skip_space(&r)) {
        *last = take_value(&r);
        if (*last)
            last = &(*last)->next;
    }
    document->line = 1;
    for (char *at = text; at < r.at && at < r.end; at++)
        document->line += *at == '\n';
    if (!document->first && !document->why)
        document->why = "it is empty";
    return !document->why;
}

void hbg__json_free(struct json_document *document)
{
    while (document->chunk) {
        struct json_chunk *before = document->chunk->before;
        free(document->chunk);
        document->chunk = before;
    }
    free(document->text);
    *document = (struct json_document){ .text = NULL };
}

/* ---- questions ---- */

const struct json_value *hbg__json_get(const struct json_value *value, const char *key)
{
    if (!value || value->kind != JSON_OBJECT)
        return NULL;
    for (const struct json_value *v = value->first; v; v = v->next)
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}

bool hbg__json_number(const struct json_value *value, const char *key, double *number)
{
    const struct json_value *v = hbg__json_get(value, key);

    if (!v || (v->kind != JSON_NUMBER && v->kind != JSON_NULL))
        return false;
    *number = v->kind == JSON_NULL ? NAN : v->number;
    return true;
}

bool hbg__json_text(const struct json_value *value, const char *key, const char **text)
{
    const struct json_value *v = hbg__json_get(value, key);

    if (!v || v->kind != JSON_STRING)
        return false;
    *text = v->text;
    return true;
}

static bool same_step(const char *key, const char *path, size_t length)
{
    return strlen(key) == length && memcmp(key, path, length) == 0;
}

bool hbg__json_walk(const struct json_value *value, const char *path, json_found_fn *found, void *context)
{
    size_t length = strcspn(path, ".");
    const char *rest = path + length + (path[length] == '.');
    char *end;
    unsigned long wanted = length && path[0] >= '0' && path[0] <= '9' ? strtoul(path, &end, 10) : 0, at = 0;
    bool number = length && path[0] >= '0' && path[0] <= '9' && end == path + length, good = true;

    if (value->kind == JSON_NUMBER && !*path)
        return found(context, value->number);
    for (const struct json_value *v = value->first; v && good; v = v->next, at++) {
        if (value->kind == JSON_OBJECT && length && same_step(v->key, path, length))
            good = hbg__json_walk(v, rest, found, context);
        else if (value->kind == JSON_ARRAY && number && at == wanted)
            good = hbg__json_walk(v, rest, found, context);
        else if (value->kind == JSON_ARRAY && !number)
            good = hbg__json_walk(v, path, found, context);
    }
    return good;
}

/* The element or member that the first step of a path leads to, and the rest of the path; NULL: there is none. */
static const struct json_value *take_step(const struct json_value *value, const char **path, unsigned long *index)
{
    size_t length = strcspn(*path, ".");
    const char *rest = *path + length + ((*path)[length] == '.');
    const struct json_value *v = value->first;
    char *end = NULL;
    bool number = length && **path >= '0' && **path <= '9' && (*index = strtoul(*path, &end, 10), end == *path + length);

    if (value->kind == JSON_ARRAY && !number) {
        *index = 0;
        return v;
    }
    if (value->kind == JSON_ARRAY)
        for (unsigned long at = 0; v && at < *index; at++)
            v = v->next;
    else
        while (v && !(length && same_step(v->key, *path, length)))
            v = v->next;
    *path = v ? rest : *path;
    return v;
}

static void put_keys(const struct json_value *value, char *text, size_t size, size_t used)
{
    static const char more[] = ", ..";

    for (const struct json_value *v = value->first; v; v = v->next) {
        size_t length = strlen(v->key) + 2;

        if (used + length + sizeof more > size) {
            snprintf(text + used, size - used, "%s", more);
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", v == value->first ? "" : ", ", v->key);
    }
}

const char *hbg__json_stuck(const struct json_value *value, const char *path, char *text, size_t size)
{
    static const char *const kind[] = { "is null", "is a truth value", "is a truth value", "is a number", "is a string", "is an empty array", "has no keys" };
    const char *whole = path;
    unsigned long index = 0;
    bool element = false;
    int length;

    while (*path || value->kind == JSON_ARRAY) {
        bool array = value->kind == JSON_ARRAY;
        const struct json_value *next = array || value->kind == JSON_OBJECT ? take_step(value, &path, &index) : NULL;

        if (!next)
            break;
        element = array;
        value = next;
    }
    length = (int)(path - whole) - (path > whole && path[-1] == '.');
    if (length > 60)
        length = snprintf(text, size, "what it leads to ");
    else if (element)
        length = snprintf(text, size, "element %lu%s%.*s%s ", index, length ? " of `" : "", length, whole, length ? "`" : "");
    else
        length = length ? snprintf(text, size, "`%.*s` ", length, whole) : snprintf(text, size, "it ");
    if (value->kind == JSON_OBJECT && value->first) {
        length += snprintf(text + length, size - (size_t)length, "has the key%s ", value->first->next ? "s" : "");
        put_keys(value, text, size, (size_t)length);
    } else {
        snprintf(text + length, size - (size_t)length, "%s", value->kind == JSON_ARRAY && value->first ? "has no such element" : kind[value->kind]);
    }
    return text;
}
