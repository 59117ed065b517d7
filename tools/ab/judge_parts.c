/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects on the parts of what is compared: where an effect comes from. They are looked at together, so their p are adjusted (Holm).
 */
#include "tools/ab/judge.h"

#include "tools/ab/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct ab_part *find(const struct ab_batch *batch, const char *name)
{
    for (size_t i = 0; i < batch->part_count; i++)
        if (strcmp(batch->part[i].name, name) == 0)
            return &batch->part[i];
    return NULL;
}

/* Sums over blocks that count. False: a batch has no such part, or one that took no time. */
static bool add_up(const struct ab_series *s, const char *name, double *count, double *sum, double *squares, double *level_a)
{
    double d = 0.0;

    *count = *sum = *squares = *level_a = 0.0;
    for (size_t i = 0; i < s->batch_count; i++) {
        const struct ab_batch *b = &s->batch[i];
        const struct ab_part *part = find(b, name);

        if (s->dropped[b->block])
            continue;
        if (!part || !(part->level > 0.0))
            return false;
        d += (b->arm == AB_B ? .5 : -.5) * log(part->level);
        *level_a += b->arm == AB_A ? log(part->level) : 0.0;
        if (b->slot != AB_BATCHES - 1)
            continue;
        *count += 1.0;
        *sum += d;
        *squares += d * d;
        d = 0.0;
    }
    *level_a = exp(*level_a / (2.0 * *count));
    return *count > 1.0;
}

static bool judge_part(struct ab_part_effect *e, const struct ab_series *s, const char *name)
{
    double n, sum, squares, level_a, mean, error, t;

    if (!add_up(s, name, &n, &sum, &squares, &level_a))
        return false;
    mean = sum / n;
    error = sqrt(fmax(0.0, squares - sum * mean) / (n - 1.0) / n);
    t = hbg__student_quantile(.975, n - 1.0);
    *e = (struct ab_part_effect){ .name = name, .level_a = level_a, .effect = expm1(mean), .low = expm1(mean - t * error), .high = expm1(mean + t * error) };
    e->p = error > 0.0 ? 2.0 * hbg__student_cdf(-fabs(mean / error), n - 1.0) : mean == 0.0 ? 1.0 : 0.0;
    return true;
}

static int by_p(const void *a, const void *b)
{
    const struct ab_part_effect *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

size_t hbg__ab_judge_parts(struct ab_part_effect *effect, size_t room, const struct ab_series *series)
{
    const struct ab_batch *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < series->batch_count && !first; i++)
        if (!series->dropped[series->batch[i].block])
            first = &series->batch[i];
    for (size_t i = 0; first && i < first->part_count && count < room; i++)
        count += judge_part(&effect[count], series, first->part[i].name);
    if (count)
        qsort(effect, count, sizeof *effect, by_p);
    for (size_t i = 0; i < count; i++)
        effect[i].holm = fmin(1.0, fmax(i ? effect[i - 1].holm : 0.0, effect[i].p * (double)(count - i)));
    return count;
}
