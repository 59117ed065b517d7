/* SPDX-License-Identifier: Apache-2.0 */
/* suite.c - see suite.h. */
#include "bench/suite.h"

#include <stdlib.h>

const struct bench_entry hbg__bench_entries[] = {
    { "submit", hbg__bench_submit, false }, { "bind", hbg__bench_bind, false }, { "dispatch", hbg__bench_dispatch, false }, { "metg", hbg__bench_metg, false },
    { "replay", hbg__bench_replay, false }, { "real", hbg__bench_real, false },
    { "model", hbg__bench_model, true },
    { NULL, NULL, false },
};

static bool run_one(struct bench_suite *suite, const struct bench *how, const struct bench_entry *entry, bool print)
{
    struct bench *b = malloc(sizeof *b);
    if (!b) {
        fputs("hbg bench: no memory for the cases\n", stderr);
        return false;
    }
    *b = *how;
    b->name = entry->name;
    suite->bench[suite->count++] = b;
    bool good = entry->measure(b);
    suite->has_cases |= b->case_count > 0;
    if (good && print && b->case_count) hbg__bench_print_text(b);
    fflush(stdout);
    return good;
}

bool hbg__bench_suite_run(struct bench_suite *suite, const struct bench *how, const struct bench_entry *only, bool print)
{
    if (only) return run_one(suite, how, only, print);
    for (const struct bench_entry *entry = hbg__bench_entries; entry->name && suite->count < SUITE_MAX; entry++)
        if (!entry->is_apart && !run_one(suite, how, entry, print)) return false;
    return true;
}

void hbg__bench_suite_free(struct bench_suite *suite)
{
    while (suite->count > 0) free(suite->bench[--suite->count]);
}
