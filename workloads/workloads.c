/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of built-in workloads, and the parameters that they share the checks of.
 */
#include "workloads.h"

#include <stdio.h>

const struct hbg_workload *const hbg__workloads[] = {
    &hbg__vector_workload,
    &hbg__matmul_workload,
    &hbg__bgemm_workload,
    &hbg__stencil_workload,
    &hbg__cholesky_workload,
    &hbg__paged_attention_workload,
    &hbg__decoder_workload,
    &hbg__gp_workload,
    NULL,
};

int hbg__workload_param(struct hbg_setup *s, const char *name, int64_t least, int64_t most, int64_t *value)
{
    long long lo = least, hi = most;
    char text[160];

    *value = hbg_setup_i64(s, name);
    if (*value >= least && *value <= most)
        return 0;
    if (most == INT64_MAX)
        snprintf(text, sizeof text, "%s must be at least %lld", name, lo);
    else if (most - least == 1)
        snprintf(text, sizeof text, "%s must be %lld or %lld", name, lo, hi);
    else
        snprintf(text, sizeof text, "%s must be between %lld and %lld", name, lo, hi);
    return hbg_setup_fail(s, text);
}

int hbg__workload_word(struct hbg_setup *s, const char *name, const char *const *words, int *place)
{
    const char *given = hbg_setup_text(s, name);
    char text[160];
    int length;

    for (int i = 0; words[i]; i++) {
        if (strcmp(given, words[i]) != 0)
            continue;
        *place = i;
        return 0;
    }
    length = snprintf(text, sizeof text, "%s must be %s", name, words[0]);
    for (int i = 1; words[i] && length < (int)sizeof text; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
    return hbg_setup_fail(s, text);
}
