/* SPDX-License-Identifier: Apache-2.0 */
/* option.h - options written as text: "cpu:workers=4,memory=discrete", or key=value words of a command line.
 *
 *     struct hbg__option_set set;
 *     hbg__option_parse(&set, "cpu:workers=4");               set.name is "cpu"
 *     int64_t workers = 0;
 *     hbg__option_i64(&set, "workers", 1, 1024, &workers);    absent: the variable keeps its value
 *     if (!hbg__option_finish(&set)) ...                      set.problem is a sentence, set.problem_key the option
 *
 * The first problem is kept and later calls do nothing, so one look at the end is enough. A key that no getter asked for is a
 * problem whose sentence names the nearest key that one did ask for. A key given twice is a problem. Nothing is allocated; the
 * set holds a copy of the text and points into itself, so it is not copied. It depends on libc alone, so that the command can compile it in.
 */
#ifndef HBG_BASE_OPTION_H
#define HBG_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HBG__OPTION_COUNT_MAX = 32, HBG__OPTION_TEXT_MAX = 1024 };

struct hbg__option { const char *key, *value; bool asked; };    /* point into the set's text */

/* What a getter was asked for: what may stand there, and the value of the variable before. */
enum hbg__option_kind { HBG__OPTION_I64, HBG__OPTION_U64, HBG__OPTION_F64, HBG__OPTION_BOOL, HBG__OPTION_TEXT, HBG__OPTION_CHOICE };
union hbg__option_value { int64_t i; uint64_t u; double f; const char *text; };
struct hbg__option_about {
    enum hbg__option_kind kind;
    union hbg__option_value low, high, preset;
    const char *const *choices;         /* borrowed from the getter's caller; low.i is 0, high.i their number */
};

struct hbg__option_set {
    const char *name;                   /* what stands before the colon; "" without */
    struct hbg__option item[HBG__OPTION_COUNT_MAX];
    int count;
    const char *known[HBG__OPTION_COUNT_MAX];   /* keys that getters asked for; borrowed from them */
    struct hbg__option_about about[HBG__OPTION_COUNT_MAX];
    int known_count;
    char problem[256];                  /* one sentence; "" while there is none */
    char problem_key[64];
    size_t text_used;
    char text[HBG__OPTION_TEXT_MAX];
};

/* An empty set of that name; options are added word by word. */
void hbg__option_begin(struct hbg__option_set *set, const char *name);

/* "key=value" or "key" (its value is then "1"). */
bool hbg__option_add(struct hbg__option_set *set, const char *word);

/* NAME[:key[=value][,key[=value]]...]; NULL is "". */
bool hbg__option_parse(struct hbg__option_set *set, const char *spec);

/* Getters: false after any problem; *value is set only when the key is there and right. Integers take the suffixes k, m and g
   (powers of 1024) and need them in range after that. */
bool hbg__option_i64(struct hbg__option_set *set, const char *key, int64_t low, int64_t high, int64_t *value);
bool hbg__option_u64(struct hbg__option_set *set, const char *key, uint64_t low, uint64_t high, uint64_t *value);
bool hbg__option_f64(struct hbg__option_set *set, const char *key, double low, double high, double *value);
bool hbg__option_bool(struct hbg__option_set *set, const char *key, bool *value);       /* 0 1 no yes off on false true */
bool hbg__option_text(struct hbg__option_set *set, const char *key, const char **value);/* borrowed from the set */

/* *value becomes the index of the choice; choices is a list of `count` words that outlives the set. */
bool hbg__option_choice(struct hbg__option_set *set, const char *key, const char *const *choices, int count, int *value);

/* Of the key known[at]: what may stand behind it, "1..1024", "0|1", "unified|discrete", "text", and what it was before; ""
   where that is none of them. */
void hbg__option_describe(const struct hbg__option_set *set, int at, char *values, size_t values_size, char *preset, size_t preset_size);

/* True: no problem, and every key given was asked for. */
bool hbg__option_finish(struct hbg__option_set *set);

/* The word of the list that is nearest to `text` by single-letter edits, when that is near enough to be meant; else NULL. */
const char *hbg__option_nearest(const char *text, const char *const *words, int count);

#endif /* HBG_BASE_OPTION_H */
