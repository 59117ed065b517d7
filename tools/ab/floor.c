/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise floors, remembered.
 */
#include "tools/ab/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 20, NAME_ROOM = 64 };
static const char format_name[] = "hbg-aa 1";

/* ---- the configuration ---- */

/* But for what went wrong with GPUs, which is another sentence each time. */
static bool add_all(struct ab_facts *to, const char *before, const struct ab_facts *from)
{
    char name[96];
    bool good = true;

    for (size_t i = 0; i < from->count && good; i++) {
        if (strcmp(from->fact[i].name, "nvidia-smi") == 0)
            continue;
        snprintf(name, sizeof name, "%s%s", before, from->fact[i].name);
        good = hbg__ab_fact(to, name, "%s", from->fact[i].value);
    }
    return good;
}

/* Names and values, each with the zero byte at its end, so that no two lists run together to the same bytes. */
static void name_configuration(const struct ab_facts *facts, char id[AB_SUM_DIGITS + 1])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < 2 * facts->count; i++) {
        const char *text = i % 2 ? facts->fact[i / 2].value : facts->fact[i / 2].name;
        for (size_t k = 0; k <= strlen(text); k++)
            hash = (hash ^ (unsigned char)text[k]) * UINT64_C(0x100000001b3);       /* FNV-1a */
    }
    snprintf(id, AB_SUM_DIGITS + 1, "%016" PRIx64, hash);
}

bool hbg__ab_floor_configure(struct ab_facts *facts, struct ab_record *record, bool cold_given)
{
    const struct ab_rules *rules = &record->rules;
    bool good = add_all(facts, "", &record->host) && add_all(facts, "", &record->surroundings) && add_all(facts, "A ", &record->arm[AB_A]) &&
                hbg__ab_fact(facts, "metric", "%s, %s of a batch", record->metric, rules->mean ? "mean" : "median");

    good = good && (record->rounds > 0.0 ? hbg__ab_fact(facts, "rounds", "%.0f", record->rounds) : hbg__ab_fact(facts, "rounds", "calibrated"));
    good = good && (cold_given ? hbg__ab_fact(facts, "cold", "%.0f", record->cold) : hbg__ab_fact(facts, "cold", "as is usual"));
    good = good && (rules->resolve > 0.0 ? hbg__ab_fact(facts, "blocks", "that resolve %g", rules->resolve)
                    : hbg__ab_fact(facts, "blocks", "%u", rules->blocks));
    good = good && hbg__ab_fact(facts, "cool-down", "%g s", record->cool_down_s) && hbg__ab_fact(facts, "gate", "%s", rules->gate ? "on" : "off");
    if (good)
        name_configuration(facts, record->configuration);
    return good;
}

/* ---- what the controls came to ---- */

bool hbg__ab_floor_of(struct ab_floor *now, const struct ab_record *record, int64_t seconds)
{
    const struct ab_outcome *last = NULL;

    *now = (struct ab_floor){ .measured = seconds };
    for (size_t i = 0; i < record->series_count && now->controls < AB_CONTROLS; i++) {
        if (!record->control[i])
            continue;
        last = &record->outcome[i];
        now->control[now->controls++] = (struct ab_floor_control){ .seed = record->series[i].seed, .effect = last->effect,
                                                                   .low = last->low, .high = last->high };
    }
    if (!last || last->verdict == AB_INVALID)
        return false;
    now->half = expm1(last->half);
    for (uint32_t i = 0; i < now->controls; i++)
        if (!isfinite(now->control[i].low) || !isfinite(now->control[i].high))
            return false;
    now->rounds = record->rounds;
    now->blocks = last->blocks;
    now->runs = 1;
    now->invalid_runs = hbg__ab_floor_invalid(now);
    return isfinite(now->half);
}

void hbg__ab_floor_write(struct hbg__json *j, const struct ab_floor *floor)
{
    char seed[24];

    hbg__json_key_i64(j, "measured", floor->measured);
    hbg__json_key_f64(j, "noise_floor", floor->half);
    hbg__json_key_f64(j, "rounds", floor->rounds);
    hbg__json_key_f64(j, "blocks", floor->blocks);
    hbg__json_key_u64(j, "runs", floor->runs);
    hbg__json_key_u64(j, "invalid_runs", floor->invalid_runs);
    hbg__json_key(j, "controls");
    hbg__json_open_array(j);
    for (uint32_t i = 0; i < floor->controls; i++) {
        snprintf(seed, sizeof seed, "%" PRIu64, floor->control[i].seed);
        hbg__json_open_object(j);
        hbg__json_key_string(j, "seed", seed);
        hbg__json_key_f64(j, "effect", floor->control[i].effect);
        hbg__json_key_f64(j, "low", floor->control[i].low);
        hbg__json_key_f64(j, "high", floor->control[i].high);
        hbg__json_close(j);
    }
    hbg__json_close(j);
}

/* A number that is one, and at least `least`. */
static bool take(const struct json_value *v, const char *key, double least, double most, double *number)
{
    return hbg__json_number(v, key, number) && *number >= least && *number <= most;
}

bool hbg__ab_floor_read(struct ab_floor *floor, const struct json_value *v)
{
    const struct json_value *controls = hbg__json_get(v, "controls");
    double measured, runs, invalid;
    const char *seed;

    *floor = (struct ab_floor){ .measured = 0 };
    if (!take(v, "measured", 1, 1e12, &measured) || !take(v, "noise_floor", 0, INFINITY, &floor->half) || !take(v, "rounds", 1, 1e9, &floor->rounds) ||
        !take(v, "blocks", 2, 1e9, &floor->blocks) || !take(v, "runs", 1, UINT32_MAX, &runs) || !take(v, "invalid_runs", 0, runs, &invalid) ||
        !controls || controls->kind != JSON_ARRAY)
        return false;
    for (const struct json_value *c = controls->first; c; c = c->next) {
        struct ab_floor_control *control = &floor->control[floor->controls];

        if (floor->controls++ == AB_CONTROLS || !hbg__json_text(c, "seed", &seed) || !take(c, "effect", -1, INFINITY, &control->effect) ||
            !take(c, "low", -1, INFINITY, &control->low) || !take(c, "high", -1, INFINITY, &control->high))
            return false;
        control->seed = strtoull(seed, NULL, 10);
    }
    floor->measured = (int64_t)measured;
    floor->runs = (uint32_t)runs;
    floor->invalid_runs = (uint32_t)invalid;
    return floor->controls > 0;
}

/* ---- files ---- */

/* False, with a sentence: there is no such place. */
static bool find_folder(char *path, size_t size, char *why, size_t why_size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;

    if (state && *state == '/')
        length = snprintf(path, size, "%s/hbg/aa", state);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.local/state/hbg/aa", home);
    if (length >= 0 && (size_t)length + NAME_ROOM < size)
        return true;
    snprintf(why, why_size, "neither XDG_STATE_HOME nor HOME names a folder for it");
    return false;
}

/* All of a plain file of this user, and a zero byte; NULL with the sentence, or with "" where there is none. */
static char *read_file(const char *path, size_t *size, char *why, size_t why_size)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    char *text = NULL;
    ssize_t got = -1;

    why[0] = '\0';
    if (file < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            snprintf(why, why_size, "it cannot be opened: %s", errno == ELOOP ? "it is a link" : strerror(errno));
        return NULL;
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        snprintf(why, why_size, "it is no plain file");
    else if (about.st_uid != geteuid())
        snprintf(why, why_size, "it is another user's");
    else if (about.st_size > FILE_MOST)
        snprintf(why, why_size, "it is too large");
    else if ((text = malloc((size_t)about.st_size + 1)))
        got = pread(file, text, (size_t)about.st_size, 0);
    close(file);
    if (got < 0) {
        if (!*why)
            snprintf(why, why_size, "it cannot be read");
        free(text);
        return NULL;
    }
    text[got] = '\0';
    *size = (size_t)got;
    return text;
}

/* A byte that is no UTF-8 was written as U+FFFD. */
static bool same_text(const char *written, const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";

    for (; *written || *text; text++) {
        bool replaced = strncmp(written, replacement, 3) == 0 && strncmp(text, replacement, 3) != 0 && (unsigned char)*text >= 0x80;

        if (!replaced && *written != *text)
            return false;
        written += replaced ? 3 : 1;
    }
    return true;
}

static bool same_facts(const struct json_value *list, const struct ab_facts *facts)
{
    const struct json_value *pair = list && list->kind == JSON_ARRAY ? list->first : NULL;

    for (size_t i = 0; i < facts->count; i++, pair = pair->next) {
        const struct json_value *name = pair && pair->kind == JSON_ARRAY ? pair->first : NULL, *value = name ? name->next : NULL;

        if (!value || name->kind != JSON_STRING || value->kind != JSON_STRING || !same_text(name->text, facts->fact[i].name) ||
            !same_text(value->text, facts->fact[i].value))
            return false;
    }
    return !pair;
}

bool hbg__ab_floor_find(struct ab_floor *floor, const struct ab_facts *configuration, const char *id, char *why, size_t size)
{
    char path[PATH_MAX], wrong[96] = "", sum[AB_SUM_DIGITS + 1], *text;
    const char *format = "", *stored = "";
    struct json_document document;
    size_t length;

    *floor = (struct ab_floor){ .measured = 0 };
    why[0] = '\0';
    if (!find_folder(path, sizeof path, wrong, sizeof wrong))
        return false;
    snprintf(path + strlen(path), NAME_ROOM, "/%s.json", id);
    text = read_file(path, &length, wrong, sizeof wrong);
    if (text) {
        hbg__ab_file_checksum(text, length, sum);
        if (!hbg__json_parse(&document, text, length))
            snprintf(wrong, sizeof wrong, "it is damaged");
        else if (!hbg__json_text(document.first, "format", &format) || strcmp(format, format_name) != 0)
            snprintf(wrong, sizeof wrong, "it is none of A against A, or of another hbg");
        else if (!hbg__json_text(document.first, "checksum", &stored) || strcmp(stored, sum) != 0 ||
                 !hbg__ab_floor_read(floor, hbg__json_get(document.first, "remembered")))
            snprintf(wrong, sizeof wrong, "it is damaged");
        else if (!same_facts(hbg__json_get(document.first, "configuration"), configuration))
            snprintf(wrong, sizeof wrong, "it is of another configuration");
        hbg__json_free(&document);
    }
    if (*wrong) {
        *floor = (struct ab_floor){ .measured = 0 };
        snprintf(why, size, "`%s` is not used: %s", path, wrong);
    }
    return floor->measured != 0;
}

/* The folder and those above it that are missing, for this user alone. 0, or an error number. */
static int make_folders(char *path)
{
    for (char *at = path + 1; ; at++) {
        char here = *at;
        int failed;

        if (here != '/' && here != '\0')
            continue;
        *at = '\0';
        failed = mkdir(path, 0700) != 0 && errno != EEXIST ? errno : 0;
        *at = here;
        if (failed || here == '\0')
            return failed;
    }
}

/* Written whole under another name, then renamed. 0, or an error number. */
static int put_file(const char *path, const char *text, size_t size)
{
    char beside[PATH_MAX + 8];
    ssize_t written;
    int file, why = 0;

    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    file = mkostemp(beside, O_CLOEXEC);
    if (file < 0)
        return errno;
    written = write(file, text, size);
    if (written < 0 || (size_t)written != size)
        why = written < 0 ? errno : ENOSPC;
    if (close(file) != 0 && !why)
        why = errno;
    if (!why && rename(beside, path) != 0)
        why = errno;
    if (why)
        unlink(beside);
    return why;
}

/* The file as text; NULL: no memory. The caller frees it. */
static char *compose(const struct ab_floor *floor, const struct ab_facts *configuration, size_t *size)
{
    struct hbg__json json, *j = &json;
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    bool good;

    if (!stream)
        return NULL;
    hbg__json_begin(j, stream);
    hbg__json_open_object(j);
    hbg__json_key_string(j, "format", format_name);
    hbg__ab_facts_write(j, "configuration", configuration);
    hbg__json_key(j, "remembered");
    hbg__json_open_object(j);
    hbg__ab_floor_write(j, floor);
    hbg__json_close(j);
    hbg__json_key_string(j, "checksum", AB_NO_SUM);
    hbg__json_close(j);
    good = hbg__json_end(j);
    if (fclose(stream) == 0 && good) {
        hbg__ab_file_seal(text, *size);
        return text;
    }
    free(text);
    return NULL;
}

static uint32_t add(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

/* `path` is that of the folder, and then that of the file. 0, or an error number. */
static int count_and_put(char *path, const struct ab_floor *floor, const struct ab_facts *configuration, const char *id)
{
    struct ab_floor before, all = *floor;
    size_t length = 0;
    char *text, unused[1];
    int failed;

    hbg__ab_floor_find(&before, configuration, id, unused, sizeof unused);
    all.runs = add(before.runs, floor->runs);
    all.invalid_runs = add(before.invalid_runs, floor->invalid_runs);
    text = compose(&all, configuration, &length);
    snprintf(path + strlen(path), NAME_ROOM, "/%s.json", id);
    failed = !text ? ENOMEM : length > FILE_MOST ? EFBIG : put_file(path, text, length);
    free(text);
    return failed;
}

bool hbg__ab_floor_keep(const struct ab_floor *floor, const struct ab_facts *configuration, const char *id, char *why, size_t size)
{
    char path[PATH_MAX];
    int folder, failed;

    if (!find_folder(path, sizeof path, why, size))
        return false;
    failed = make_folders(path);
    if (!failed) {
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder >= 0)
            flock(folder, LOCK_EX);     /* where locks are refused, of two that end at once one may not be counted */
        failed = count_and_put(path, floor, configuration, id);
        if (folder >= 0)
            close(folder);
    }
    if (failed)
        snprintf(why, size, "`%s` cannot be written: %s", path, strerror(failed));
    return !failed;
}
