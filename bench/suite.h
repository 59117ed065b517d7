/* SPDX-License-Identifier: Apache-2.0 */
/* suite.h - `hbg bench all`: every bench, one after the other, in one file. */
#ifndef HBG_BENCH_SUITE_H
#define HBG_BENCH_SUITE_H

#include "bench/bench.h"

struct bench_entry { const char *name; bench_measure_fn *measure; bool is_apart; };     /* apart: an experiment, which `all` leaves out */
extern const struct bench_entry hbg__bench_entries[];           /* ends with a NULL name */

enum { SUITE_MAX = 16 };

struct bench_suite {
    struct bench *bench[SUITE_MAX];
    size_t count;
    bool has_cases;                     /* of any of them */
};

/* Measures `only`, or all of them where it is NULL, as `how` says (rivals, quick, ..); with `print` a table as soon as each is done.
   False: said why; what was measured is there. */
bool hbg__bench_suite_run(struct bench_suite *suite, const struct bench *how, const struct bench_entry *only, bool print);
void hbg__bench_suite_free(struct bench_suite *suite);

/* One bench as an object, several as an object with all of them. False: not all of it was written. */
bool hbg__bench_suite_print_json(FILE *file, const struct bench_suite *suite, const struct bench_machine *machine);

#endif /* HBG_BENCH_SUITE_H */
