/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c - see signature.h. The three arrays share one allocation, the widest first, for their alignment. */
#include "graph/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char *const dtype_names[] = { "", "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64" };
static const char *const mode_names[] = { "", "in", "out", "inout", "accumulate", "untracked" };
enum { DTYPE_NAMES = sizeof dtype_names / sizeof dtype_names[0], MODE_NAMES = sizeof mode_names / sizeof mode_names[0] };
enum { WORD_MAX = 32, BYTES_MAX = 4096, ARGS_MAX = 65535, BYTES_PER_ARGUMENT = sizeof(uint32_t) + sizeof(uint16_t) + sizeof(uint8_t) };

struct word { char text[WORD_MAX]; size_t length; };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/* The next word before a comma, a blank or the end; false: it is too long. */
static bool next_word(const char **at, struct word *word)
{
    word->length = 0;
    while (is_blank(**at)) ++*at;
    while (**at && **at != ',' && !is_blank(**at)) {
        if (word->length + 1 == WORD_MAX) return false;
        word->text[word->length++] = *(*at)++;
    }
    word->text[word->length] = '\0';
    while (is_blank(**at)) ++*at;
    return true;
}

static int index_of(const char *text, const char *const *names, int count)
{
    for (int i = 1; i < count; i++) {
        if (!strcmp(text, names[i])) return i;
    }
    return 0;
}

/* "name[N]" with 1 <= N <= limit; "name" alone is N = 0. */
static bool sized(const char *text, const char *name, long limit, long *size)
{
    size_t length = strlen(name);
    char *end;
    if (strncmp(text, name, length)) return false;
    *size = 0;
    if (text[length] == '\0') return true;
    if (text[length] != '[' || text[length + 1] < '0' || text[length + 1] > '9') return false;
    *size = strtol(text + length + 1, &end, 10);
    return end[0] == ']' && end[1] == '\0' && *size >= 1 && *size <= limit;
}

static bool parse_dtype(const char *text, bool scalar, uint16_t *dtype)
{
    long bytes;
    int named = index_of(text, dtype_names, DTYPE_NAMES);
    if (named) *dtype = (uint16_t)named;
    else if (!strcmp(text, "any")) *dtype = 0;
    else if (!scalar && sized(text, "record", HBG_RECORD_MAX_ - HBG_RECORD_0, &bytes)) *dtype = (uint16_t)(HBG_RECORD_0 + bytes);
    else return false;
    return true;
}

/* One argument up to its comma; *word is the one that does not fit. */
static bool parse_argument(const char **at, uint8_t *kind, uint16_t *dtype, struct word *word)
{
    long bytes;
    if (!next_word(at, word)) return false;
    int mode = index_of(word->text, mode_names, MODE_NAMES);
    if (mode) {
        *kind = (uint8_t)mode;
        if (!next_word(at, word) || !parse_dtype(word->text, false, dtype)) return false;
    } else if (sized(word->text, "bytes", BYTES_MAX, &bytes)) {
        *kind = HBG_ARG_BYTES;
        *dtype = (uint16_t)bytes;
    } else {
        *kind = HBG_ARG_SCALAR;
        if (!parse_dtype(word->text, true, dtype)) return false;
    }
    if (**at && **at != ',') {
        (void)next_word(at, word);
        return false;
    }
    return true;
}

static size_t count_arguments(const char *text)
{
    size_t commas = 0;
    const char *at = text;
    while (is_blank(*at)) at++;
    if (*at == '\0') return 0;
    for (; *at; at++) commas += *at == ',';
    return commas + 1;
}

enum hbg_status hbg__signature_parse(const char *text, struct hbg__memory *memory, const char *what, struct hbg__signature *signature,
                                     struct hbg_error *error)
{
    struct word word;
    const char *at = text;
    *signature = (struct hbg__signature){ 0 };
    if (!text) return HBG_OK;
    signature->given = true;
    size_t count = count_arguments(text);
    if (count == 0) return HBG_OK;
    if (count > ARGS_MAX) return hbg__error_set(error, HBG_E_SIGNATURE, what, "the signature of %s has %zu arguments; %d are possible", what, count, ARGS_MAX);
    uint32_t *want = hbg__alloc(memory, count * BYTES_PER_ARGUMENT, _Alignof(uint32_t));
    if (!want) return hbg__error_no_memory(error, "signature", count * BYTES_PER_ARGUMENT);
    uint16_t *dtypes = (uint16_t *)(want + count);
    uint8_t *kinds = (uint8_t *)(dtypes + count);
    signature->want = want;
    signature->dtype = dtypes;
    signature->kind = kinds;
    signature->arg_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        if (!parse_argument(&at, &kinds[i], &dtypes[i], &word)) {
            hbg__signature_free(signature, memory);
            return hbg__error_set_argument(error, HBG_E_SIGNATURE, (int)i, what,
                "argument %zu of the signature of %s does not read as a mode and a dtype, a dtype, or bytes[N] at \"%.31s\"", i, what, word.text);
        }
        want[i] = kinds[i] | (uint32_t)dtypes[i] << 16;
        if (*at == ',') at++;
    }
    return HBG_OK;
}

void hbg__signature_free(struct hbg__signature *signature, struct hbg__memory *memory)
{
    hbg__free(memory, (void *)(uintptr_t)signature->want, signature->arg_count * BYTES_PER_ARGUMENT, _Alignof(uint32_t));
    *signature = (struct hbg__signature){ 0 };
}

bool hbg__signature_permits(const struct hbg__signature *signature, uint32_t i, const struct hbg_arg *arg)
{
    uint16_t want = signature->dtype[i];
    int kind = arg->kind == HBG_ARG_BOUND ? HBG_ARG_SCALAR : arg->kind;
    if (signature->kind[i] != kind) return false;
    if (want == 0) return true;
    if (kind == HBG_ARG_BYTES) return arg->index == want;
    uint16_t have = kind == HBG_ARG_SCALAR ? arg->dtype : arg->u.region.dtype;
    return want == HBG_RECORD_0 ? have >= HBG_RECORD_0 && have <= HBG_RECORD_MAX_ : have == want;
}

static void text_of(int kind, unsigned dtype, char *text)
{
    const char *mode = kind > 0 && kind < MODE_NAMES ? mode_names[kind] : "";
    const char *gap = *mode ? " " : "";
    if (kind == HBG_ARG_BYTES && dtype) snprintf(text, 32, "bytes[%u]", dtype);
    else if (kind == HBG_ARG_BYTES) snprintf(text, 32, "bytes");
    else if (dtype == 0) snprintf(text, 32, "%s%sany", mode, gap);
    else if (dtype < DTYPE_NAMES) snprintf(text, 32, "%s%s%s", mode, gap, dtype_names[dtype]);
    else if (dtype == HBG_RECORD_0) snprintf(text, 32, "%s%srecord", mode, gap);
    else snprintf(text, 32, "%s%srecord[%u]", mode, gap, dtype - HBG_RECORD_0);
}

void hbg__signature_text_of_arg(const struct hbg_arg *arg, char *text)
{
    int kind = arg->kind == HBG_ARG_BOUND ? HBG_ARG_SCALAR : arg->kind;
    text_of(kind, kind == HBG_ARG_BYTES ? arg->index : kind == HBG_ARG_SCALAR ? arg->dtype : arg->u.region.dtype, text);
}

void hbg__signature_text_of(const struct hbg__signature *signature, uint32_t i, char *text)
{
    text_of(signature->kind[i], signature->dtype[i], text);
}
