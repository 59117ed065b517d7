/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of a workload's results.
 */
#include "verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- elements as numbers ---- */

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                 : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

static double bfloat_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return value;
}

#define ELEMENT(type) (((const type *)data)[i])
/* element i as a number; a record is none */
static double element(const void *data, int64_t i, enum hbg_dtype dtype)
{
    switch (dtype) {
    case HBG_BOOL: case HBG_U8: return ELEMENT(uint8_t);
    case HBG_I8: return ELEMENT(int8_t);
    case HBG_I16: return ELEMENT(int16_t);
    case HBG_U16: return ELEMENT(uint16_t);
    case HBG_I32: return ELEMENT(int32_t);
    case HBG_U32: return ELEMENT(uint32_t);
    case HBG_I64: return (double)ELEMENT(int64_t);
    case HBG_U64: return (double)ELEMENT(uint64_t);
    case HBG_F16: return half_value(ELEMENT(uint16_t));
    case HBG_BF16: return bfloat_value(ELEMENT(uint16_t));
    case HBG_F32: return ELEMENT(float);
    case HBG_F64: return ELEMENT(double);
    default: return NAN;
    }
}
#undef ELEMENT

static bool is_float(enum hbg_dtype dtype)
{
    return dtype >= HBG_F16 && dtype <= HBG_F64;
}

/* |got - expected|: 0 for equal bits, infinite where either is no number */
static double error_of(const struct setup_tensor *t, int64_t i, double *got, double *expected)
{
    size_t size = (size_t)hbg_dtype_size(t->dtype);
    double error;

    if (memcmp((const char *)t->data + (size_t)i * size, (const char *)t->expected + (size_t)i * size, size) == 0)
        return 0.0;
    *got = element(t->data, i, t->dtype);
    *expected = element(t->expected, i, t->dtype);
    error = fabs(*got - *expected);
    if (isnan(error))
        return INFINITY;
    return is_float(t->dtype) || error >= 1.0 ? error : 1.0;    /* integers above 2^53 may look equal here */
}

/* ---- the verdict ---- */

__attribute__((format(printf, 2, 3)))
static void find_fault(struct verdict *v, const char *format, ...)
{
    va_list list;

    if (!v->verified)
        return;
    v->verified = false;
    va_start(list, format);
    vsnprintf(v->text, sizeof v->text, format, list);
    va_end(list);
}

static void compare(const struct hbg_workload *w, const struct setup_tensor *t, struct verdict *v)
{
    for (int64_t i = 0; i < t->count; i++) {
        double got = 0.0, expected = 0.0, error = error_of(t, i, &got, &expected);
        if (error > v->max_abs_error)
            v->max_abs_error = error;
        if (error > 0.0 && !(error <= t->abs_tolerance + w->rel_tolerance * fabs(expected)))
            find_fault(v, "run %llu: %s, element %lld is %.9g where %.9g is expected", (unsigned long long)v->runs, t->name,
                       (long long)i, got, expected);
    }
}

/* eight bytes at a time; what is left over is padded with zeros */
static uint64_t add_to_digest(uint64_t digest, const struct setup_tensor *t)
{
    const char *data = t->data;

    for (size_t at = 0; at < t->size_bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t left = t->size_bytes - at;
        memcpy(&word, data + at, left < sizeof word ? left : sizeof word);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 32;
    }
    return digest;
}

/* the first byte where the run differs from the first one */
static void compare_bits(const struct setup_tensor *t, struct verdict *v)
{
    size_t at = 0, element_size = (size_t)hbg_dtype_size(t->dtype);

    if (memcmp(t->data, t->first, t->size_bytes) == 0)
        return;
    while (((const char *)t->data)[at] == ((const char *)t->first)[at])
        at++;
    find_fault(v, "run %llu: %s, element %zu has other bits than after the first run", (unsigned long long)v->runs, t->name,
               at / element_size);
}

static bool check_residual(struct hbg_setup *s, struct verdict *v)
{
    if (!s->workload.residual)
        return true;
    if (s->workload.residual(s, &v->residual) != 0 || s->failed) {
        hbg_setup_fail(s, "its residual could not be computed");
        return false;
    }
    v->has_residual = true;
    if (!(v->residual <= s->workload.residual_tolerance))
        find_fault(v, "the residual is %.3g, and at most %.3g is allowed", v->residual, s->workload.residual_tolerance);
    return true;
}

bool hbg__verify_prepare(struct hbg_setup *s, struct verdict *v)
{
    memset(v, 0, sizeof *v);
    v->verified = true;
    if (s->workload.golden(s) != 0 || s->failed) {
        hbg_setup_fail(s, "its reference could not be computed");
        return false;
    }
    for (size_t i = 0; i < s->boundary_count; i++) {
        struct setup_tensor *t = &s->tensor[i];
        char text[160];
        if (!setup_is_result(t))
            continue;
        t->first = hbg__setup_alloc(t->size_bytes);
        if (t->expected && t->first)
            continue;
        snprintf(text, sizeof text, t->first ? "its reference gives no expected copy of %s" : "no memory for a copy of %s", t->name);
        hbg_setup_fail(s, text);
        return false;
    }
    return true;
}

bool hbg__verify_run(struct hbg_setup *s, struct verdict *v)
{
    bool first = v->runs++ == 0;

    for (size_t i = 0; i < s->boundary_count; i++) {
        struct setup_tensor *t = &s->tensor[i];
        if (!setup_is_result(t))
            continue;
        if (first) {
            memcpy(t->first, t->data, t->size_bytes);
            compare(&s->workload, t, v);
            v->digest = add_to_digest(v->digest, t);
        } else {
            compare_bits(t, v);
        }
    }
    return !first || check_residual(s, v);
}
