/* SPDX-License-Identifier: Apache-2.0 */
/* option.c - see option.h. */
#include "base/option.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 63 };     /* letters that the edit distance looks at */

/* Keeps the first problem. Always false. */
__attribute__((format(printf, 3, 4)))
static bool give_problem(struct hbg__option_set *set, const char *key, const char *format, ...)
{
    if (set->problem[0]) return false;
    snprintf(set->problem_key, sizeof set->problem_key, "%s", key);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(set->problem, sizeof set->problem, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- taking the text apart ---- */

void hbg__option_begin(struct hbg__option_set *set, const char *name)
{
    memset(set, 0, sizeof *set);
    size_t length = strlen(name);
    set->name = set->text;
    if (length >= sizeof set->text) {
        give_problem(set, "", "the name is longer than %d letters", HBG__OPTION_TEXT_MAX - 1);
        set->text_used = 1;
        return;
    }
    memcpy(set->text, name, length + 1);
    set->text_used = length + 1;
}

static bool add_word(struct hbg__option_set *set, const char *word, size_t length)
{
    if (set->problem[0]) return false;
    if (set->count == HBG__OPTION_COUNT_MAX) return give_problem(set, "", "more than %d options", HBG__OPTION_COUNT_MAX);
    if (set->text_used + length + 1 > sizeof set->text)
        return give_problem(set, "", "the options are longer than %d letters", HBG__OPTION_TEXT_MAX - 1);

    char *key = set->text + set->text_used;
    memcpy(key, word, length);
    key[length] = '\0';
    set->text_used += length + 1;
    char *equals = strchr(key, '=');
    if (equals) *equals = '\0';
    if (!key[0]) return give_problem(set, "", "an option without a name: \"%.*s\"", (int)(length < 60 ? length : 60), word);
    for (int i = 0; i < set->count; i++) {
        if (strcmp(set->item[i].key, key) == 0) return give_problem(set, key, "option \"%.60s\" is given twice", key);
    }
    set->item[set->count++] = (struct hbg__option){ .key = key, .value = equals ? equals + 1 : "1" };
    return true;
}

bool hbg__option_add(struct hbg__option_set *set, const char *word) { return add_word(set, word, strlen(word)); }

bool hbg__option_parse(struct hbg__option_set *set, const char *spec)
{
    if (!spec) spec = "";
    size_t name_length = strcspn(spec, ":");
    char name[WORD_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)(name_length < WORD_MAX ? name_length : WORD_MAX), spec);
    hbg__option_begin(set, name);
    if (name_length > WORD_MAX) return give_problem(set, "", "the name is longer than %d letters", WORD_MAX);
    if (spec[name_length] == '\0' || spec[name_length + 1] == '\0') return true;

    const char *at = spec + name_length + 1;
    for (;;) {
        size_t length = strcspn(at, ",");
        if (!add_word(set, at, length)) return false;
        if (at[length] == '\0') return true;
        at += length + 1;
    }
}

/* ---- getters ---- */

/* The option of that key, or NULL; notes that it is known, and what it is. */
static struct hbg__option *ask(struct hbg__option_set *set, const char *key, struct hbg__option_about about)
{
    if (set->problem[0]) return NULL;
    bool is_known = false;
    for (int i = 0; i < set->known_count; i++) is_known |= strcmp(set->known[i], key) == 0;
    if (!is_known && set->known_count < HBG__OPTION_COUNT_MAX) {
        set->about[set->known_count] = about;
        set->known[set->known_count++] = key;
    }
    for (int i = 0; i < set->count; i++) {
        if (strcmp(set->item[i].key, key) == 0) {
            set->item[i].asked = true;
            return &set->item[i];
        }
    }
    return NULL;
}

static bool no_problem(const struct hbg__option_set *set) { return !set->problem[0]; }

/* Digits with a suffix, without sign. False: no such number, or larger than 64 bits. */
static bool read_magnitude(const char *text, uint64_t *value)
{
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno) return false;
    int shift = 0;
    switch (tolower((unsigned char)*end)) {
    case 'k': shift = 10; end++; break;
    case 'm': shift = 20; end++; break;
    case 'g': shift = 30; end++; break;
    default: break;
    }
    if (*end || number > UINT64_MAX >> shift) return false;
    *value = number << shift;
    return true;
}

bool hbg__option_i64(struct hbg__option_set *set, const char *key, int64_t low, int64_t high, int64_t *value)
{
    const struct hbg__option *option = ask(set, key, (struct hbg__option_about){ .kind = HBG__OPTION_I64, .low.i = low, .high.i = high, .preset.i = *value });
    if (!option) return no_problem(set);
    bool negative = option->value[0] == '-';
    uint64_t magnitude;
    int64_t number = 0;
    bool is_number = read_magnitude(option->value + negative, &magnitude) && magnitude <= (uint64_t)INT64_MAX + negative;
    if (is_number) number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    if (!is_number || number < low || number > high)
        return give_problem(set, key, "option \"%s\" is \"%.60s\"; it is a whole number from %" PRId64 " to %" PRId64, key,
                            option->value, low, high);
    *value = number;
    return true;
}

bool hbg__option_u64(struct hbg__option_set *set, const char *key, uint64_t low, uint64_t high, uint64_t *value)
{
    const struct hbg__option *option = ask(set, key, (struct hbg__option_about){ .kind = HBG__OPTION_U64, .low.u = low, .high.u = high, .preset.u = *value });
    if (!option) return no_problem(set);
    uint64_t number;
    if (!read_magnitude(option->value, &number) || number < low || number > high)
        return give_problem(set, key, "option \"%s\" is \"%.60s\"; it is a whole number from %" PRIu64 " to %" PRIu64, key,
                            option->value, low, high);
    *value = number;
    return true;
}

bool hbg__option_f64(struct hbg__option_set *set, const char *key, double low, double high, double *value)
{
    const struct hbg__option *option = ask(set, key, (struct hbg__option_about){ .kind = HBG__OPTION_F64, .low.f = low, .high.f = high, .preset.f = *value });
    if (!option) return no_problem(set);
    char *end;
    double number = strtod(option->value, &end);
    if (end == option->value || *end || !isfinite(number) || number < low || number > high)
        return give_problem(set, key, "option \"%s\" is \"%.60s\"; it is a number from %g to %g", key, option->value, low, high);
    *value = number;
    return true;
}

bool hbg__option_bool(struct hbg__option_set *set, const char *key, bool *value)
{
    static const char *const words[] = { "0", "1", "no", "yes", "off", "on", "false", "true" };
    const struct hbg__option *option = ask(set, key, (struct hbg__option_about){ .kind = HBG__OPTION_BOOL, .preset.i = *value });
    if (!option) return no_problem(set);
    for (int i = 0; i < 8; i++) {
        if (strcmp(option->value, words[i]) == 0) {
            *value = i % 2 == 1;
            return true;
        }
    }
    return give_problem(set, key, "option \"%s\" is \"%.60s\"; it is 0 or 1", key, option->value);
}

bool hbg__option_text(struct hbg__option_set *set, const char *key, const char **value)
{
    const struct hbg__option *option = ask(set, key, (struct hbg__option_about){ .kind = HBG__OPTION_TEXT, .preset.text = *value });
    if (option) *value = option->value;
    return no_problem(set);
}

/* The words in order, cut where the space ends. */
static void join_words(char *text, size_t size, const char *const *words, int count, const char *separator)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++) {
        int written = snprintf(text + used, size - used, "%s%s", i ? separator : "", words[i]);
        used += (size_t)written;
    }
}

bool hbg__option_choice(struct hbg__option_set *set, const char *key, const char *const *choices, int count, int *value)
{
    const struct hbg__option *option = ask(set, key, (struct hbg__option_about){ .kind = HBG__OPTION_CHOICE, .high.i = count, .preset.i = *value, .choices = choices });
    if (!option) return no_problem(set);
    for (int i = 0; i < count; i++) {
        if (strcmp(option->value, choices[i]) == 0) {
            *value = i;
            return true;
        }
    }
    char list[200];
    join_words(list, sizeof list, choices, count, ", ");
    return give_problem(set, key, "option \"%s\" is \"%.40s\"; it is one of: %s", key, option->value, list);
}

bool hbg__option_finish(struct hbg__option_set *set)
{
    if (set->problem[0]) return false;
    for (int i = 0; i < set->count; i++) {
        const char *key = set->item[i].key;
        if (set->item[i].asked) continue;
        const char *nearest = hbg__option_nearest(key, set->known, set->known_count);
        char list[200];
        join_words(list, sizeof list, set->known, set->known_count, ", ");
        if (nearest) return give_problem(set, key, "there is no option \"%.60s\"; did you mean \"%s\"?", key, nearest);
        if (list[0]) return give_problem(set, key, "there is no option \"%.60s\"; there are: %s", key, list);
        return give_problem(set, key, "there is no option \"%.60s\", and no other", key);
    }
    return true;
}

/* ---- what the keys are ---- */

void hbg__option_describe(const struct hbg__option_set *set, int at, char *values, size_t values_size, char *preset, size_t preset_size)
{
    const struct hbg__option_about *about = &set->about[at];
    values[0] = preset[0] = '\0';
    switch (about->kind) {
    case HBG__OPTION_I64:
        snprintf(values, values_size, "%" PRId64 "..%" PRId64, about->low.i, about->high.i);
        if (about->preset.i >= about->low.i && about->preset.i <= about->high.i) snprintf(preset, preset_size, "%" PRId64, about->preset.i);
        break;
    case HBG__OPTION_U64:
        snprintf(values, values_size, "%" PRIu64 "..%" PRIu64, about->low.u, about->high.u);
        if (about->preset.u >= about->low.u && about->preset.u <= about->high.u) snprintf(preset, preset_size, "%" PRIu64, about->preset.u);
        break;
    case HBG__OPTION_F64:
        snprintf(values, values_size, "%g..%g", about->low.f, about->high.f);
        snprintf(preset, preset_size, "%g", about->preset.f);
        break;
    case HBG__OPTION_BOOL:
        snprintf(values, values_size, "0|1");
        snprintf(preset, preset_size, "%d", (int)about->preset.i);
        break;
    case HBG__OPTION_TEXT:
        snprintf(values, values_size, "text");
        snprintf(preset, preset_size, "%s", about->preset.text ? about->preset.text : "");
        break;
    case HBG__OPTION_CHOICE:
        join_words(values, values_size, about->choices, (int)about->high.i, "|");
        if (about->preset.i >= 0 && about->preset.i < about->high.i) snprintf(preset, preset_size, "%s", about->choices[about->preset.i]);
        break;
    }
}

/* ---- near words ---- */

/* Insertions, deletions, substitutions and swaps of neighbours that lead from a to b; both at most WORD_MAX letters. */
static int edit_distance(const char *a, const char *b)
{
    int a_length = (int)strlen(a), b_length = (int)strlen(b);
    int row[3][WORD_MAX + 1];       /* rows i - 2, i - 1 and i of the table, by i % 3 */
    for (int k = 0; k <= b_length; k++) row[0][k] = k;
    for (int i = 1; i <= a_length; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *before_that = row[(i + 1) % 3];
        now[0] = i;
        for (int k = 1; k <= b_length; k++) {
            int best = before[k - 1] + (a[i - 1] != b[k - 1]);
            if (before[k] + 1 < best) best = before[k] + 1;
            if (now[k - 1] + 1 < best) best = now[k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before_that[k - 2] + 1 < best)
                best = before_that[k - 2] + 1;
            now[k] = best;
        }
    }
    return row[a_length % 3][b_length];
}

const char *hbg__option_nearest(const char *text, const char *const *words, int count)
{
    size_t length = strlen(text);
    if (length > WORD_MAX) return NULL;
    const char *nearest = NULL;
    int smallest = length < 6 ? 1 : (int)length / 3;    /* farther words are no misspelling */
    for (int i = 0; i < count; i++) {
        if (strlen(words[i]) > WORD_MAX) continue;
        int distance = edit_distance(text, words[i]);
        if (distance >= (int)length) continue;          /* no letter left in common */
        if (distance < smallest || (distance == smallest && !nearest)) {
            nearest = words[i];
            smallest = distance;
        }
    }
    return nearest;
}
