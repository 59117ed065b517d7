/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a comparison, "hbg-ab 2", written.
 */
#include "tools/ab/result.h"

#include "tools/ab/floor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the checksum ---- */

static uint64_t mix(uint64_t hash, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void hbg__ab_file_checksum(const char *text, size_t size, char sum[AB_SUM_DIGITS + 1])
{
    size_t tail = sizeof AB_SUM_TAIL - 1, behind = size < tail ? size : tail, digits = size - behind < AB_SUM_DIGITS ? 0 : AB_SUM_DIGITS;
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), text, size - behind - digits);

    snprintf(sum, AB_SUM_DIGITS + 1, "%016" PRIx64, mix(hash, text + size - behind, behind));
}

void hbg__ab_file_seal(char *text, size_t size)
{
    char sum[AB_SUM_DIGITS + 1];

    hbg__ab_file_checksum(text, size, sum);
    memcpy(text + size - (sizeof AB_SUM_TAIL - 1) - AB_SUM_DIGITS, sum, AB_SUM_DIGITS);
}

/* ---- writing ---- */

void hbg__ab_facts_write(struct hbg__json *j, const char *key, const struct ab_facts *facts)
{
    hbg__json_key(j, key);
    hbg__json_open_array(j);
    for (size_t i = 0; i < facts->count; i++) {
        hbg__json_open_array(j);
        hbg__json_string(j, facts->fact[i].name);
        hbg__json_string(j, facts->fact[i].value);
        hbg__json_close(j);
    }
    hbg__json_close(j);
}

static void write_values(struct hbg__json *j, const char *key, const double *value, size_t count)
{
    hbg__json_key(j, key);
    hbg__json_open_array(j);
    for (size_t i = 0; i < count; i++)
        hbg__json_f64(j, value[i]);
    hbg__json_close(j);
}

static void write_batch(struct hbg__json *j, const struct ab_batch *b)
{
    hbg__json_open_object(j);
    hbg__json_key_u64(j, "block", b->block);
    hbg__json_key_u64(j, "slot", b->slot);
    hbg__json_key_string(j, "arm", b->arm == AB_A ? "A" : "B");
    hbg__json_key_u64(j, "padding", b->padding);
    hbg__json_key_f64(j, "counter", b->counter);
    hbg__json_key_f64(j, "switches", b->switches);
    hbg__json_key_f64(j, "wait_s", b->wait_s);
    write_values(j, "cold", b->cold, b->cold_count);
    write_values(j, "rounds", b->round, b->round_count);
    hbg__json_key(j, "parts");
    hbg__json_open_object(j);
    for (size_t i = 0; i < b->part_count; i++)
        hbg__json_key_f64(j, b->part[i].name, b->part[i].level);
    hbg__json_close(j);
    hbg__json_key(j, "gpus");
    hbg__json_open_array(j);
    for (size_t i = 0; i < b->gpu_count; i++) {
        hbg__json_open_object(j);
        hbg__json_key_string(j, "moment", hbg__ab_moment_name[b->gpu[i].moment]);
        hbg__json_key_u64(j, "index", b->gpu[i].index);
#define AB_WRITE(name, words) hbg__json_key_f64(j, #name, b->gpu[i].name);
        AB_GPU_MAP(AB_WRITE)
#undef AB_WRITE
        hbg__json_close(j);
    }
    hbg__json_close(j);
    hbg__json_key(j, "conditions");
    hbg__json_open_array(j);
    for (int i = 0; i < AB_SAMPLES; i++) {
        hbg__json_open_object(j);
#define AB_WRITE(name, words) hbg__json_key_f64(j, #name, b->sample[i].name);
        AB_SAMPLE_MAP(AB_WRITE)
#undef AB_WRITE
        hbg__json_close(j);
    }
    hbg__json_close(j);
    hbg__json_close(j);
}

static void write_outcome(struct hbg__json *j, const struct ab_outcome *o)
{
    hbg__json_key(j, "outcome");
    hbg__json_open_object(j);
    hbg__json_key_string(j, "verdict", hbg__ab_verdict_name(o->verdict));
    hbg__json_key_string(j, "why", o->why);
#define AB_WRITE(name, words) hbg__json_key_f64(j, #name, o->name);
    AB_NUMBER_MAP(AB_WRITE)
#undef AB_WRITE
    hbg__json_close(j);
}

static void write_series(struct hbg__json *j, const struct ab_record *record, size_t index)
{
    const struct ab_series *s = &record->series[index];
    char seed[24];

    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);           /* a string: other readers have doubles alone */
    hbg__json_open_object(j);
    hbg__json_key_bool(j, "control", record->control[index]);
    hbg__json_key_string(j, "seed", seed);
    hbg__json_key_u64(j, "blocks", s->block_count);
    hbg__json_key(j, "dropped");
    hbg__json_open_array(j);
    for (uint32_t i = 0; i < s->block_count; i++)
        hbg__json_string(j, s->dropped[i]);
    hbg__json_close(j);
    hbg__json_key(j, "batches");
    hbg__json_open_array(j);
    for (size_t i = 0; i < s->batch_count; i++)
        write_batch(j, &s->batch[i]);
    hbg__json_close(j);
    write_outcome(j, &record->outcome[index]);
    hbg__json_close(j);
}

static void write_declared(struct hbg__json *j, const struct ab_record *record)
{
    hbg__json_key(j, "declared");
    hbg__json_open_object(j);
    hbg__json_key_string(j, "a", record->command[AB_A]);
    hbg__json_key_string(j, "b", record->command[AB_B]);
    hbg__json_key_string(j, "metric", record->metric);
    hbg__json_key_string(j, "counter", record->counter);
    hbg__json_key_string(j, "expect", hbg__ab_expectation_name[record->expect]);
    hbg__json_key_bool(j, "inner", record->inner);
    hbg__json_key_f64(j, "rounds", record->rounds);
    hbg__json_key_f64(j, "cold", record->cold);
    hbg__json_key_f64(j, "timeout_s", record->timeout_s);
    hbg__json_key_f64(j, "cool_down_s", record->cool_down_s);
    hbg__json_key_f64(j, "projected_s", record->projected_s);
    hbg__json_key_f64(j, "gpu_look_s", record->gpu_look_s);
#define AB_WRITE(name, words) hbg__json_key_f64(j, #name, (double)record->rules.name);
    AB_DECLARED_MAP(AB_WRITE)
#undef AB_WRITE
    hbg__json_close(j);
}

static void write_remembered(struct hbg__json *j, const struct ab_record *record)
{
    hbg__json_key_string(j, "configuration", *record->configuration ? record->configuration : NULL);
    hbg__json_key(j, "remembered");
    if (!record->remembered.measured) {
        hbg__json_null(j);
        return;
    }
    hbg__json_open_object(j);
    hbg__ab_floor_write(j, &record->remembered);
    hbg__json_close(j);
}

/* With zeros for its checksum. */
static bool write_unsealed(FILE *file, const struct ab_record *record)
{
    struct hbg__json json, *j = &json;

    hbg__json_begin(j, file);
    hbg__json_open_object(j);
    hbg__json_key_string(j, "format", AB_FORMAT);
    hbg__json_key_string(j, "verdict", hbg__ab_verdict_name(record->verdict));
    hbg__json_key_string(j, "why", record->why);
    hbg__json_key_f64(j, "noise_floor", record->noise_floor);
    hbg__json_key_string(j, "noise_floor_from", isnan(record->noise_floor) ? NULL : record->floor_remembered ? "remembered" : "series");
    hbg__json_key_string(j, "control_why", record->control_left_out ? AB_CONTROL_LEFT_OUT : NULL);
    write_remembered(j, record);
    hbg__json_key_bool(j, "expectation_met", record->expectation_met);
    write_declared(j, record);
    hbg__ab_facts_write(j, "a", &record->arm[AB_A]);
    hbg__ab_facts_write(j, "b", &record->arm[AB_B]);
    hbg__ab_facts_write(j, "differences", &record->differences);
    hbg__json_key_i64(j, "causes", record->causes);
    hbg__json_key_bool(j, "outputs_equal", record->outputs_equal);
    hbg__ab_facts_write(j, "host", &record->host);
    hbg__ab_facts_write(j, "surroundings", &record->surroundings);
    hbg__ab_facts_write(j, "holders", &record->holders);
    hbg__ab_facts_write(j, "attempts", &record->attempts);
    hbg__json_key(j, "series");
    hbg__json_open_array(j);
    for (size_t i = 0; i < record->series_count; i++)
        write_series(j, record, i);
    hbg__json_close(j);
    hbg__json_key_string(j, "checksum", AB_NO_SUM);
    hbg__json_close(j);
    return hbg__json_end(j);
}

bool hbg__ab_record_write(FILE *file, const struct ab_record *record)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    bool good = stream && write_unsealed(stream, record);

    if (stream && fclose(stream) != 0)
        good = false;
    if (good) {
        hbg__ab_file_seal(text, size);
        good = fwrite(text, 1, size, file) == size && fflush(file) == 0;
    }
    free(text);
    return good;
}
