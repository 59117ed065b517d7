/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of numpy: the header read and written.
 */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

static const unsigned char magic[6] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };

/* ---- the dictionary of a header ---- */

/* What is left of the text, and where refusals go. */
struct parser {
    const char *at, *end;
    char *text;
    size_t text_size;
};

__attribute__((format(printf, 2, 3)))
static bool refuse(struct parser *p, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(p->text, p->text_size, format, list);
    va_end(list);
    return false;
}

static bool malformed(struct parser *p)
{
    return refuse(p, "has a header that is no dictionary of descr, fortran_order and shape");
}

/* the next character that is no blank; 0 at the end */
static char peek(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static bool take(struct parser *p, char c)
{
    if (peek(p) != c || p->at == p->end)
        return false;
    p->at++;
    return true;
}

static bool take_word(struct parser *p, const char *word)
{
    size_t length = strlen(word);

    peek(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* a string in quotes of either kind, of printable characters without a backslash */
static bool take_string(struct parser *p, char *string, size_t size)
{
    char quote = peek(p);
    size_t length = 0;

    if (quote != '\'' && quote != '"')
        return malformed(p);
    for (p->at++; p->at < p->end && *p->at != quote; p->at++) {
        if (*p->at < ' ' || *p->at > '~' || *p->at == '\\' || length + 1 >= size)
            return malformed(p);
        string[length++] = *p->at;
    }
    string[length] = '\0';
    return p->at++ < p->end || malformed(p);
}

/* "<f4": byte order, kind, bytes; datetime types have a unit behind them and are refused like any other that nothing holds */
static bool take_descr(struct parser *p, struct npy *npy)
{
    const char *digit;

    if (peek(p) == '[')
        return refuse(p, "holds a structured type; one number an element is needed");
    if (!take_string(p, npy->descr, sizeof npy->descr))
        return false;
    if (!strchr("<>|=", npy->descr[0]) || npy->descr[0] == '\0' || npy->descr[1] == '\0')
        return malformed(p);
    npy->kind = npy->descr[1];
    npy->item_bytes = 0;
    for (digit = npy->descr + 2; *digit >= '0' && *digit <= '9' && npy->item_bytes < UINT32_MAX; digit++)
        npy->item_bytes = npy->item_bytes * 10 + (uint64_t)(*digit - '0');
    if (*digit)
        npy->kind = '\0';
    npy->big_endian = npy->descr[0] == '>' && npy->item_bytes > 1;
    return true;
}

static bool take_extent(struct parser *p, int64_t *extent)
{
    char c = peek(p);

    if (c < '0' || c > '9')
        return malformed(p);
    *extent = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) || __builtin_add_overflow(*extent, *p->at - '0', extent))
            return refuse(p, "has a shape that is larger than the address space");
    if (p->at < p->end && *p->at == 'L')        /* as Python 2 wrote them */
        p->at++;
    return true;
}

/* "(3, 4)", "(3,)", "()" */
static bool take_shape(struct parser *p, struct hbg_shape *shape)
{
    int64_t extent = 0;
    int rank = 0;
    bool comma = true;

    if (!take(p, '('))
        return malformed(p);
    while (!take(p, ')')) {
        if (!comma)
            return malformed(p);
        if (!take_extent(p, &extent))
            return false;
        if (rank < HBG_RANK_MAX)
            shape->dim[rank] = extent;
        rank++;
        comma = take(p, ',');
        if (rank == 1 && !comma)        /* (3) is a number */
            return malformed(p);
    }
    shape->rank = rank;
    return rank <= HBG_RANK_MAX || refuse(p, "has %d dimensions; at most %d are possible", rank, HBG_RANK_MAX);
}

static bool take_order(struct parser *p)
{
    if (take_word(p, "True"))
        return refuse(p, "is in Fortran order; numpy.ascontiguousarray() puts it in C order");
    return take_word(p, "False") || malformed(p);
}

static bool take_dictionary(struct parser *p, struct npy *npy)
{
    static const char *const keys[] = { "descr", "fortran_order", "shape" };
    unsigned seen = 0;
    char key[16];
    bool comma = true;

    if (!take(p, '{'))
        return malformed(p);
    while (!take(p, '}')) {
        int i = 0;
        if (!comma || !take_string(p, key, sizeof key))
            return malformed(p);
        while (i < 3 && strcmp(key, keys[i]) != 0)
            i++;
        if (i == 3 || seen & 1u << i || !take(p, ':'))
            return malformed(p);
        seen |= 1u << i;
        if (!(i == 0 ? take_descr(p, npy) : i == 1 ? take_order(p) : take_shape(p, &npy->shape)))
            return false;
        comma = take(p, ',');
    }
    return (seen == 7 && peek(p) == '\0' && p->at == p->end) || malformed(p);
}

/* ---- the whole ---- */

/* length of the header and where it begins */
static bool find_header(struct parser *p, const unsigned char *bytes, size_t size, size_t *at, size_t *length)
{
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return refuse(p, "is no .npy file");
    if (size < 10)
        return refuse(p, "is cut in its header");
    if ((bytes[6] != 1 && bytes[6] != 2) || bytes[7] != 0)
        return refuse(p, "is of version %d.%d; versions 1.0 and 2.0 are read", bytes[6], bytes[7]);
    *at = bytes[6] == 1 ? 10 : 12;
    if (size < *at)
        return refuse(p, "is cut in its header");
    *length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] == 2)
        *length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (*length > NPY_HEADER_MOST)
        return refuse(p, "has a header of %zu bytes; at most %d are read", *length, NPY_HEADER_MOST);
    return *length <= size - *at || refuse(p, "is cut in its header");
}

/* bytes of the data, and whether the file has them; not for kinds whose size is counted otherwise, which nothing holds */
static bool measure(struct parser *p, struct npy *npy, uint64_t file_bytes)
{
    uint64_t there = file_bytes - npy->data_at;
    bool empty = false;

    if (!npy->kind || !strchr("biufcV", npy->kind))
        return true;
    npy->data_bytes = npy->item_bytes;
    for (int i = 0; i < npy->shape.rank; i++)
        empty |= npy->shape.dim[i] == 0;
    for (int i = 0; i < npy->shape.rank && !empty; i++)
        if (__builtin_mul_overflow(npy->data_bytes, (uint64_t)npy->shape.dim[i], &npy->data_bytes) || npy->data_bytes > PTRDIFF_MAX)
            return refuse(p, "has a shape that is larger than the address space");
    if (empty)
        npy->data_bytes = 0;
    if (there < npy->data_bytes)
        return refuse(p, "is cut: it has %llu of its %llu byte%s of data", (unsigned long long)there, (unsigned long long)npy->data_bytes, hbg__s(npy->data_bytes));
    return there == npy->data_bytes || refuse(p, "has %llu byte%s behind its data", (unsigned long long)(there - npy->data_bytes), hbg__s(there - npy->data_bytes));
}

bool hbg__npy_parse(const unsigned char *bytes, size_t size, uint64_t file_bytes, struct npy *npy, char *text, size_t text_size)
{
    struct parser p = { .text = text, .text_size = text_size };
    size_t at = 0, length = 0;

    memset(npy, 0, sizeof *npy);
    if (!find_header(&p, bytes, size, &at, &length))
        return false;
    p.at = (const char *)bytes + at;
    p.end = p.at + length;
    if (!take_dictionary(&p, npy))
        return false;
    npy->data_at = at + length;
    return measure(&p, npy, file_bytes);
}

/* kind and bytes of an element, as numpy names them */
static char kind_of(enum hbg_dtype dtype)
{
    if (dtype >= HBG_RECORD_0)
        return 'V';
    return dtype == HBG_BOOL ? 'b' : dtype >= HBG_F16 && dtype != HBG_BF16 ? 'f'
         : dtype == HBG_I8 || dtype == HBG_I16 || dtype == HBG_I32 || dtype == HBG_I64 ? 'i' : 'u';
}

bool hbg__npy_holds(const struct npy *npy, enum hbg_dtype dtype)
{
    bool same_kind = npy->kind == kind_of(dtype) || (dtype == HBG_BF16 && npy->kind == 'V');

    return same_kind && npy->item_bytes == (uint64_t)hbg_dtype_size(dtype) && (!npy->big_endian || npy->kind == 'V');
}

const char *hbg__npy_descr(enum hbg_dtype dtype, char *text, size_t text_size)
{
    int64_t size = hbg_dtype_size(dtype);

    snprintf(text, text_size, "%c%c%lld", size == 1 || dtype >= HBG_RECORD_0 ? '|' : '<', kind_of(dtype), (long long)size);
    return text;
}

const char *hbg__npy_shape(const struct hbg_shape *shape, char *text)
{
    int used = sprintf(text, "(");

    for (int i = 0; i < shape->rank; i++)
        used += sprintf(text + used, "%s%lld", i ? ", " : "", (long long)shape->dim[i]);
    sprintf(text + used, shape->rank == 1 ? ",)" : ")");
    return text;
}

size_t hbg__npy_header(enum hbg_dtype dtype, const struct hbg_shape *shape, unsigned char *header)
{
    char descr[24], extents[160];
    size_t length, size;

    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    length = (size_t)snprintf((char *)header + 10, NPY_WRITTEN_MOST - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                              hbg__npy_descr(dtype, descr, sizeof descr), hbg__npy_shape(shape, extents));
    size = (10 + length + 1 + 63) / 64 * 64;
    memset(header + 10 + length, ' ', size - 10 - length);
    header[size - 1] = '\n';
    header[8] = (unsigned char)((size - 10) & 255);
    header[9] = (unsigned char)((size - 10) >> 8);
    return size;
}
