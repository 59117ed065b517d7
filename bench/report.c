/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - a bench as text and as JSON. */
#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "bench/bench.h"
#include "bench/metg.h"
#include "bench/suite.h"

/* ---- JSON ---- */

/* what is not known is null */
static void put_known(struct hbg__json *json, const char *key, double value)
{
    hbg__json_key(json, key);
    if (value > 0) hbg__json_f64(json, value);
    else hbg__json_null(json);
}

static void put_machine(struct hbg__json *json, const struct bench_machine *m)
{
    hbg__json_key(json, "machine");
    hbg__json_open_object(json);
    hbg__json_key_i64(json, "cpus", m->cpus);
    hbg__json_key_string(json, "model", m->model[0] ? m->model : NULL);
    hbg__json_key_string(json, "governor", m->governor[0] ? m->governor : NULL);
    hbg__json_key_string(json, "kernel", m->kernel);
    hbg__json_key_string(json, "compiler", m->compiler);
    hbg__json_key_string(json, "library", m->library);
    hbg__json_key_string(json, "blas", m->blas);
    hbg__json_key_string(json, "begun", m->begun);
    put_known(json, "round_trip_ns", m->round_trip_ns);
    put_known(json, "round_trip_after_ns", m->round_trip_after_ns);
    hbg__json_key_f64(json, "load", m->load);
    hbg__json_key_f64(json, "load_after", m->load_after);
    hbg__json_close(json);
}

/* granularity in us and efficiency, from long tasks to short ones */
static void put_curve(struct hbg__json *json, const struct metg_curve *curve)
{
    hbg__json_key(json, "curve");
    hbg__json_open_array(json);
    for (uint32_t i = 0; i < curve->count; i++) {
        hbg__json_open_object(json);
        hbg__json_key_f64(json, "granularity", curve->point[i].granularity_ns / 1000);
        hbg__json_key_f64(json, "efficiency", curve->point[i].efficiency);
        hbg__json_close(json);
    }
    hbg__json_close(json);
}

static void put_case(struct hbg__json *json, const struct bench_case *c)
{
    hbg__json_open_object(json);
    hbg__json_key_string(json, "case", c->name);
    hbg__json_key_string(json, "runtime", c->runtime);
    hbg__json_key_u64(json, "workers", c->workers);
    hbg__json_key_string(json, "unit", c->unit);
    hbg__json_key_f64(json, "median", c->median);
    hbg__json_key_f64(json, "p10", c->p10);
    hbg__json_key_f64(json, "p90", c->p90);
    hbg__json_key_u64(json, "reps", c->reps);
    put_known(json, "target", c->target);
    if (c->has_cold) hbg__json_key_f64(json, "cold", c->cold);
    if (c->of_peak > 0) hbg__json_key_f64(json, "of_peak", c->of_peak);
    if (c->curve) put_curve(json, c->curve);
    hbg__json_close(json);
}

static void put_results(struct hbg__json *json, const struct bench *b)
{
    hbg__json_key(json, "results");
    hbg__json_open_array(json);
    for (size_t i = 0; i < b->case_count; i++) put_case(json, &b->cases[i]);
    hbg__json_close(json);
}

static void put_benches(struct hbg__json *json, const struct bench_suite *suite)
{
    hbg__json_key(json, "benches");
    hbg__json_open_array(json);
    for (size_t i = 0; i < suite->count; i++) {
        hbg__json_open_object(json);
        hbg__json_key_string(json, "bench", suite->bench[i]->name);
        put_results(json, suite->bench[i]);
        hbg__json_close(json);
    }
    hbg__json_close(json);
}

bool hbg__bench_suite_print_json(FILE *file, const struct bench_suite *suite, const struct bench_machine *machine)
{
    struct hbg__json json;
    const struct bench *first = suite->bench[0];
    hbg__json_begin(&json, file);
    hbg__json_open_object(&json);
    hbg__json_key_string(&json, "bench", suite->count == 1 ? first->name : "all");
    put_machine(&json, machine);
    hbg__json_key_bool(&json, "quick", first->quick);
    if (suite->count == 1) put_results(&json, first);
    else put_benches(&json, suite);
    hbg__json_close(&json);
    return hbg__json_end(&json);
}

/* ---- text ---- */

void hbg__bench_print_machine(const struct bench_machine *m)
{
    printf("machine     %d %s, %s%s%s, %s\n", m->cpus, m->cpus == 1 ? "cpu" : "cpus", m->model[0] ? m->model : "model not told", m->governor[0] ? ", governor " : "", m->governor, m->kernel);
    printf("built       hbg %s, %s; %s%s\n", m->library, m->compiler, m->blas ? "OpenBLAS with kernels for " : "without OpenBLAS", m->blas ? m->blas : "");
    if (m->blas && strcmp(m->blas, "Prescott") == 0) printf("            slow ones, for a processor that OpenBLAS does not know: set OPENBLAS_CORETYPE, to Haswell where there is AVX2\n");
    if (m->round_trip_ns > 0)
        printf("round trip  %.0f ns from core to core and back before, %.0f ns after\n", m->round_trip_ns, m->round_trip_after_ns);
    else
        printf("round trip  not measured: this process may use one CPU\n");
    printf("load        %.2f before, %.2f after (mean of a minute; a bench of two workers adds up to 2), begun %s\n", m->load, m->load_after, m->begun);
}

/* as many digits as the value deserves */
static void print_value(double value)
{
    printf(" %11.*f", fabs(value) < 10 ? 3 : fabs(value) < 1000 ? 2 : 0, value);
}

/* The case of hbg that stands for the same as this one; where it was kept and built, the way that this one was run in decides. */
static const struct bench_case *beside(const struct bench *b, const struct bench_case *c)
{
    const char *way = strrchr(c->runtime, ',');
    for (size_t i = 0; i < b->case_count; i++) {
        const struct bench_case *o = &b->cases[i];
        const char *own = strrchr(o->runtime, ',');
        if (strncmp(o->runtime, "hbg", 3) || strcmp(o->name, c->name) || o->workers != c->workers) continue;
        if (!own || !way || strcmp(own, way) == 0) return o;
    }
    return NULL;
}

/* what the columns are called besides those that are always there */
struct columns { bool runtime, cold, peak; };

static void print_case(const struct bench *b, const struct bench_case *c, struct columns columns)
{
    const struct bench_case *own = columns.runtime ? beside(b, c) : NULL;
    printf("%-22s", c->name);
    if (columns.runtime) printf(" %-32s", c->runtime);
    printf(" %7u", c->workers);
    print_value(c->median);
    print_value(c->p10);
    print_value(c->p90);
    if (c->target > 0) printf(" %9.*f %6.2f", c->target >= 1000 || c->target == (double)(int)c->target ? 0 : 2, c->target, c->median / c->target);
    else printf(" %9s %6s", "-", "-");
    if (columns.runtime && own && own != c) printf(" %8.*f", columns.peak ? 3 : 1, c->median / own->median);
    else if (columns.runtime) printf(" %8s", "-");
    if (columns.cold && c->has_cold) print_value(c->cold);
    if (columns.peak) printf(" %8.3f", c->of_peak);
    putchar('\n');
}

static struct columns choose_columns(const struct bench *b)
{
    struct columns columns = { false, false, false };
    for (size_t i = 0; i < b->case_count; i++) {
        columns.runtime |= strcmp(b->cases[i].runtime, "hbg") != 0;
        columns.cold |= b->cases[i].has_cold;
        columns.peak |= b->cases[i].of_peak > 0;
    }
    return columns;
}

/* A case of another unit than the first one's, which stands in the heading. */
static const struct bench_case *of_another_unit(const struct bench *b)
{
    for (size_t i = 1; i < b->case_count; i++)
        if (strcmp(b->cases[i].unit, b->cases[0].unit) != 0) return &b->cases[i];
    return NULL;
}

static bool has_targets(const struct bench *b)
{
    for (size_t i = 0; i < b->case_count; i++)
        if (b->cases[i].target > 0) return true;
    return false;
}

void hbg__bench_print_text(const struct bench *b)
{
    struct columns columns = choose_columns(b);
    const struct bench_case *other = of_another_unit(b);
    printf("\n%s, %s", b->name, b->cases[0].unit);
    if (other) printf(" (%s: %s)", other->name, other->unit);
    printf("; %u %s%s\n", b->cases[0].reps, b->cases[0].curve ? "searches" : b->cases[0].more_is_better ? "runs" : "batches", b->quick ? " (quick: no figures to quote)" : "");
    if (b->quick && has_targets(b)) printf("targets are for a quiet machine of two cores; this was a look, and a ratio above 1 says little\n");
    printf("median, p10 and p90 are of these; ratio is median / target%s%s%s\n\n", columns.runtime ? "; / hbg is the runtime's median / that of hbg" : "",
           columns.cold ? "; cold is the first run of all" : "", columns.peak ? "; of peak: as a share of the workers' dgemm; more is better" : "");
    printf("%-22s", "case");
    if (columns.runtime) printf(" %-32s", "runtime");
    printf(" %7s %11s %11s %11s %9s %6s%s%s%s\n", "workers", "median", "p10", "p90", "target", "ratio", columns.runtime ? "    / hbg" : "", columns.cold ? "        cold" : "",
           columns.peak ? "  of peak" : "");
    for (size_t i = 0; i < b->case_count; i++) print_case(b, &b->cases[i], columns);
}
