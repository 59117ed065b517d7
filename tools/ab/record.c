/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a comparison.
 */
#include "tools/ab/record.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hbg__ab_series_free(struct ab_series *series)
{
    for (size_t i = 0; i < series->batch_count; i++) {
        free(series->batch[i].round);
        free(series->batch[i].cold);
        for (size_t k = 0; k < series->batch[i].part_count; k++)
            free(series->batch[i].part[k].name);
        free(series->batch[i].part);
        free(series->batch[i].gpu);
    }
    for (uint32_t i = 0; i < series->block_count; i++)
        free(series->dropped[i]);
    free(series->batch);
    free(series->dropped);
    memset(series, 0, sizeof *series);
}

static bool add_block(struct ab_series *series)
{
    char **grown = realloc(series->dropped, (series->block_count + 1) * sizeof *grown);

    if (!grown)
        return false;
    series->dropped = grown;
    series->dropped[series->block_count++] = NULL;
    return true;
}

struct ab_batch *hbg__ab_series_add(struct ab_series *series, uint32_t block)
{
    struct ab_batch *batch;

    if (block == series->block_count && !add_block(series))
        return NULL;
    if (series->batch_count == series->batch_room) {
        size_t room = series->batch_room ? series->batch_room * 2 : 64;
        struct ab_batch *grown = realloc(series->batch, room * sizeof *grown);
        if (!grown)
            return NULL;
        series->batch = grown;
        series->batch_room = room;
    }
    batch = &series->batch[series->batch_count++];
    memset(batch, 0, sizeof *batch);
    batch->block = block;
    batch->counter = NAN;
    return batch;
}

bool hbg__ab_batch_add(struct ab_batch *batch, bool cold, double value)
{
    double **values = cold ? &batch->cold : &batch->round, *grown;
    size_t *count = cold ? &batch->cold_count : &batch->round_count;

    if ((*count & (*count - 1)) == 0) {                 /* full at each power of two */
        grown = realloc(*values, (*count ? *count * 2 : 1) * sizeof *grown);
        if (!grown)
            return false;
        *values = grown;
    }
    (*values)[(*count)++] = value;
    return true;
}

bool hbg__ab_batch_part(struct ab_batch *batch, const char *name, double level)
{
    struct ab_part *grown = realloc(batch->part, (batch->part_count + 1) * sizeof *grown);
    char *copy = strdup(name);

    if (grown)
        batch->part = grown;
    if (grown && copy)
        batch->part[batch->part_count++] = (struct ab_part){ copy, level };
    else
        free(copy);
    return grown && copy;
}

bool hbg__ab_batch_gpu(struct ab_batch *batch, const struct ab_gpu *gpu)
{
    struct ab_gpu *grown = realloc(batch->gpu, (batch->gpu_count + 1) * sizeof *grown);

    if (!grown)
        return false;
    batch->gpu = grown;
    grown[batch->gpu_count++] = *gpu;
    return true;
}

bool hbg__ab_series_drop(struct ab_series *series, uint32_t block, const char *why)
{
    if (!series->dropped[block])
        series->dropped[block] = strdup(why);
    return series->dropped[block] != NULL;
}

uint32_t hbg__ab_series_dropped(const struct ab_series *series)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < series->block_count; i++)
        count += series->dropped[i] != NULL;
    return count;
}

/* ---- facts ---- */

bool hbg__ab_fact(struct ab_facts *facts, const char *name, const char *format, ...)
{
    struct ab_fact *grown = realloc(facts->fact, (facts->count + 1) * sizeof *grown), *fact;
    va_list list;
    int length;

    if (!grown)
        return false;
    facts->fact = grown;
    fact = &grown[facts->count];
    fact->name = strdup(name);
    va_start(list, format);
    length = vasprintf(&fact->value, format, list);
    va_end(list);
    if (fact->name && length >= 0) {
        facts->count++;
        return true;
    }
    free(fact->name);
    if (length >= 0)
        free(fact->value);
    return false;
}

const char *hbg__ab_fact_get(const struct ab_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].name, name) == 0)
            return facts->fact[i].value;
    return NULL;
}

void hbg__ab_facts_free(struct ab_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->fact[i].name);
        free(facts->fact[i].value);
    }
    free(facts->fact);
    memset(facts, 0, sizeof *facts);
}
