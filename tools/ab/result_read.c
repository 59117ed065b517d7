/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a comparison, read back: nothing of it is trusted, and what follows from its rounds is computed anew.
 */
#include "tools/ab/result.h"

#include "tools/ab/floor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What went wrong first. */
struct reading { const char *wrong; };

static double number(struct reading *r, const struct json_value *v, const char *key)
{
    double value = 0.0;

    if (!hbg__json_number(v, key, &value) && !r->wrong)
        r->wrong = key;
    return value;
}

static uint32_t count(struct reading *r, const struct json_value *v, const char *key, uint32_t most)
{
    double value = number(r, v, key);

    if (!(value >= 0.0 && value <= most && value == floor(value))) {
        r->wrong = r->wrong ? r->wrong : key;
        return 0;
    }
    return (uint32_t)value;
}

static bool truth(struct reading *r, const struct json_value *v, const char *key)
{
    const struct json_value *found = hbg__json_get(v, key);

    if ((!found || (found->kind != JSON_TRUE && found->kind != JSON_FALSE)) && !r->wrong)
        r->wrong = key;
    return found && found->kind == JSON_TRUE;
}

static const char *text(struct reading *r, const struct json_value *v, const char *key)
{
    const char *found = "";

    if (!hbg__json_text(v, key, &found) && !r->wrong)
        r->wrong = key;
    return found;
}

static const struct json_value *array(struct reading *r, const struct json_value *v, const char *key)
{
    const struct json_value *found = hbg__json_get(v, key);

    if ((!found || found->kind != JSON_ARRAY) && !r->wrong)
        r->wrong = key;
    return found && found->kind == JSON_ARRAY ? found->first : NULL;
}

static char *owned(struct reading *r, const char *from)
{
    char *copy = strdup(from);

    if (!copy)
        r->wrong = "memory";
    return copy;
}

static void read_facts(struct reading *r, const struct json_value *v, const char *key, struct ab_facts *facts)
{
    for (const struct json_value *f = array(r, v, key); f; f = f->next) {
        if (f->kind != JSON_ARRAY || !f->first || f->first->kind != JSON_STRING || !f->first->next || f->first->next->kind != JSON_STRING)
            r->wrong = key;
        else if (!hbg__ab_fact(facts, f->first->text, "%s", f->first->next->text))
            r->wrong = "memory";
    }
}

static void read_values(struct reading *r, const struct json_value *v, const char *key, struct ab_batch *b, bool cold)
{
    for (const struct json_value *n = array(r, v, key); n && !r->wrong; n = n->next) {
        if (n->kind != JSON_NUMBER || !(n->number > 0.0))
            r->wrong = key;
        else if (!hbg__ab_batch_add(b, cold, n->number))
            r->wrong = "memory";
    }
}

static void read_parts(struct reading *r, const struct json_value *v, struct ab_batch *b)
{
    const struct json_value *parts = hbg__json_get(v, "parts");

    if (!parts || parts->kind != JSON_OBJECT) {
        r->wrong = r->wrong ? r->wrong : "parts";
        return;
    }
    for (const struct json_value *p = parts->first; p; p = p->next) {
        if (p->kind != JSON_NUMBER)
            r->wrong = "parts";
        else if (!hbg__ab_batch_part(b, p->key, p->number))
            r->wrong = "memory";
    }
}

static void read_gpus(struct reading *r, const struct json_value *v, struct ab_batch *b)
{
    for (const struct json_value *g = hbg__json_get(v, "gpus") ? array(r, v, "gpus") : NULL; g && !r->wrong; g = g->next) {
        struct ab_gpu gpu = { .index = count(r, g, "index", 1000000) };
        const char *moment = text(r, g, "moment");

        while (gpu.moment < AB_SAMPLES && strcmp(hbg__ab_moment_name[gpu.moment], moment) != 0)
            gpu.moment++;
#define AB_READ(name, words) gpu.name = number(r, g, #name);
        AB_GPU_MAP(AB_READ)
#undef AB_READ
        if (gpu.moment == AB_SAMPLES)
            r->wrong = r->wrong ? r->wrong : "moment";
        else if (!hbg__ab_batch_gpu(b, &gpu))
            r->wrong = "memory";
    }
}

static void read_batch(struct reading *r, const struct json_value *v, struct ab_series *s)
{
    uint32_t block = count(r, v, "block", s->block_count);
    const char *arm = text(r, v, "arm");
    const struct json_value *sample = array(r, v, "conditions");
    struct ab_batch *b = block < s->block_count ? hbg__ab_series_add(s, block) : NULL;

    if (!b || (strcmp(arm, "A") != 0 && strcmp(arm, "B") != 0)) {
        r->wrong = r->wrong ? r->wrong : b ? "arm" : "block";
        return;
    }
    b->arm = *arm == 'A' ? AB_A : AB_B;
    b->slot = count(r, v, "slot", AB_BATCHES - 1);
    b->padding = count(r, v, "padding", 4080);
    b->counter = number(r, v, "counter");
    b->switches = number(r, v, "switches");
    b->wait_s = number(r, v, "wait_s");
    read_values(r, v, "cold", b, true);
    read_values(r, v, "rounds", b, false);
    read_parts(r, v, b);
    read_gpus(r, v, b);
    for (int i = 0; i < AB_SAMPLES; i++) {
        if (!sample) {
            r->wrong = r->wrong ? r->wrong : "conditions";
            return;
        }
#define AB_READ(name, words) b->sample[i].name = number(r, sample, #name);
        AB_SAMPLE_MAP(AB_READ)
#undef AB_READ
        sample = sample->next;
    }
}

static void read_series(struct reading *r, const struct json_value *v, struct ab_record *record)
{
    struct ab_series *s;
    const struct json_value *dropped;

    if (record->series_count == 1 + AB_CONTROLS) {
        r->wrong = "series";
        return;
    }
    s = &record->series[record->series_count];
    record->control[record->series_count++] = truth(r, v, "control");
    s->seed = strtoull(text(r, v, "seed"), NULL, 10);
    dropped = array(r, v, "dropped");
    for (const struct json_value *d = dropped; d && !r->wrong; d = d->next) {
        char **grown = realloc(s->dropped, (s->block_count + 1) * sizeof *grown);
        if (!grown) {
            r->wrong = "memory";
            return;
        }
        s->dropped = grown;
        s->dropped[s->block_count++] = d->kind == JSON_STRING ? owned(r, d->text) : NULL;
    }
    for (const struct json_value *b = array(r, v, "batches"); b && !r->wrong; b = b->next)
        read_batch(r, b, s);
}

static void read_declared(struct reading *r, const struct json_value *v, struct ab_record *record)
{
    const char *expect = text(r, v, "expect"), *counter = NULL;

    record->command[AB_A] = owned(r, text(r, v, "a"));
    record->command[AB_B] = owned(r, text(r, v, "b"));
    record->metric = owned(r, text(r, v, "metric"));
    if (hbg__json_text(v, "counter", &counter))
        record->counter = owned(r, counter);
    while (record->expect < AB_EXPECTATIONS && strcmp(hbg__ab_expectation_name[record->expect], expect) != 0)
        record->expect++;
    if (record->expect == AB_EXPECTATIONS)
        r->wrong = r->wrong ? r->wrong : "expect";
    record->inner = truth(r, v, "inner");
    record->rounds = number(r, v, "rounds");
    record->cold = number(r, v, "cold");
    record->timeout_s = number(r, v, "timeout_s");
    record->cool_down_s = number(r, v, "cool_down_s");
    record->projected_s = number(r, v, "projected_s");
    if (!hbg__json_number(v, "gpu_look_s", &record->gpu_look_s))
        record->gpu_look_s = NAN;
    record->rules.margin = number(r, v, "margin");
    record->rules.resolve = number(r, v, "resolve");
    record->rules.mean = count(r, v, "mean", 1);
    record->rules.higher = count(r, v, "higher", 1);
    record->rules.differs = count(r, v, "differs", 1);
    record->rules.gate = count(r, v, "gate", 1);
    record->rules.blocks = count(r, v, "blocks", 1000000);
    record->rules.pilot = count(r, v, "pilot", 1000000);
    if (record->rules.pilot == 1)
        r->wrong = r->wrong ? r->wrong : "pilot";
}

static void read_remembered(struct reading *r, const struct json_value *v, struct ab_record *record)
{
    const struct json_value *remembered = hbg__json_get(v, "remembered");
    const char *words;

    if (hbg__json_text(v, "configuration", &words))
        snprintf(record->configuration, sizeof record->configuration, "%s", words);
    if (remembered && remembered->kind != JSON_NULL && !hbg__ab_floor_read(&record->remembered, remembered))
        r->wrong = r->wrong ? r->wrong : "remembered";
}

static void read_record(struct reading *r, const struct json_value *v, struct ab_record *record)
{
    const char *words;

    read_declared(r, hbg__json_get(v, "declared"), record);
    read_facts(r, v, "a", &record->arm[AB_A]);
    read_facts(r, v, "b", &record->arm[AB_B]);
    read_facts(r, v, "differences", &record->differences);
    record->causes = (int)count(r, v, "causes", 10000);
    record->outputs_equal = truth(r, v, "outputs_equal");
    record->control_left_out = hbg__json_text(v, "control_why", &words);
    read_facts(r, v, "host", &record->host);
    if (hbg__json_get(v, "surroundings"))               /* a file may lack these three */
        read_facts(r, v, "surroundings", &record->surroundings);
    read_remembered(r, v, record);
    read_facts(r, v, "holders", &record->holders);
    read_facts(r, v, "attempts", &record->attempts);
    for (const struct json_value *s = array(r, v, "series"); s && !r->wrong; s = s->next)
        read_series(r, s, record);
    if (!record->series_count)
        r->wrong = r->wrong ? r->wrong : "series";
}

/* Does a stored number equal the one computed, to the last digit? */
static bool same_number(const struct json_value *v, const char *key, double wanted)
{
    double stored;

    return hbg__json_number(v, key, &stored) && (stored == wanted || (isnan(stored) && !isfinite(wanted)));
}

/* NULL, or what does not follow from the rounds. */
static const char *check_outcomes(const struct json_value *v, const struct ab_record *record)
{
    const struct json_value *series = hbg__json_get(v, "series")->first, *met = hbg__json_get(v, "expectation_met");
    const char *stored;

    for (size_t i = 0; i < record->series_count; i++, series = series->next) {
        const struct json_value *outcome = hbg__json_get(series, "outcome");
        const struct ab_outcome *o = &record->outcome[i];

        if (!hbg__json_text(outcome, "verdict", &stored) || strcmp(stored, hbg__ab_verdict_name(o->verdict)) != 0)
            return "verdict";
#define AB_CHECK(name, words)                                                                                                \
        if (!same_number(outcome, #name, o->name))                                                                           \
            return #name;
        AB_NUMBER_MAP(AB_CHECK)
#undef AB_CHECK
    }
    if (!hbg__json_text(v, "verdict", &stored) || strcmp(stored, hbg__ab_verdict_name(record->verdict)) != 0)
        return "verdict";
    if (!met || met->kind != (record->expectation_met ? JSON_TRUE : JSON_FALSE))
        return "expectation_met";
    return same_number(v, "noise_floor", record->noise_floor) ? NULL : "noise_floor";
}

/* Is it a result, and whole? False, with a sentence. */
static bool check_whole(const struct json_value *v, const char *sum, char *why, size_t size)
{
    const char *format = "", *stored = "";

    if (!hbg__json_text(v, "format", &format) || v->next || (strcmp(format, AB_FORMAT) != 0 && strcmp(format, AB_FORMAT_BEFORE) != 0))
        snprintf(why, size, "it is no result of `hbg ab`");
    else if (strcmp(format, AB_FORMAT_BEFORE) == 0)
        snprintf(why, size, "it is of an earlier hbg (%s), whose checksum leaves out most of it: compare again", format);
    else if (!hbg__json_text(v, "checksum", &stored) || strcmp(stored, sum) != 0)
        snprintf(why, size, "it is damaged: its bytes do not have its checksum");
    else
        return true;
    return false;
}

static bool read_document(struct ab_record *record, const struct json_document *document, const char *sum, char *why, size_t size)
{
    const struct json_value *v = document->first;
    struct reading r = { NULL };
    const char *differs;

    if (!check_whole(v, sum, why, size))
        return false;
    read_record(&r, v, record);
    if (r.wrong) {
        snprintf(why, size, "it is damaged: `%s` is missing or wrong", r.wrong);
        return false;
    }
    if (!hbg__ab_conclude(record)) {
        snprintf(why, size, "there is no memory to judge it");
        return false;
    }
    differs = check_outcomes(v, record);
    if (differs)
        snprintf(why, size, "its `%s` does not follow from its rounds", differs);
    return !differs;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char *all = NULL;
    size_t room = 0, used = 0, got = 1;

    while (file && got) {
        if (room - used < 2) {
            char *grown = realloc(all, room = room ? room * 2 : 65536);
            if (!grown)
                break;
            all = grown;
        }
        got = fread(all + used, 1, room - used - 1, file);
        used += got;
    }
    if (!file || got || ferror(file)) {
        free(all);
        all = NULL;
    } else {
        all[used] = '\0';
    }
    if (file && file != stdin)
        fclose(file);
    *size = used;
    return all;
}

bool hbg__ab_record_read(struct ab_record *record, const char *path, char *why, size_t size)
{
    struct json_document document;
    size_t length;
    char *all, sum[AB_SUM_DIGITS + 1];
    bool good;

    memset(record, 0, sizeof *record);
    errno = 0;
    all = read_file(path, &length);
    if (!all) {
        snprintf(why, size, "it cannot be read: %s", strerror(errno ? errno : EIO));
        return false;
    }
    hbg__ab_file_checksum(all, length, sum);        /* now: the parser writes into the text */
    if (hbg__json_parse(&document, all, length))
        good = read_document(record, &document, sum, why, size);
    else {
        snprintf(why, size, "it is damaged: in line %zu %s", document.line, document.why);
        good = false;
    }
    hbg__json_free(&document);
    return good;
}
