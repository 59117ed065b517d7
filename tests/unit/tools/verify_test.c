/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification finds what is wrong: values beyond the tolerance, NaN, other bits in a later run, missing references. The
 * setup's own refusals are here as well.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "tools/setup.h"
#include "tools/verify.h"

enum { N = 4 };

static enum hbg_dtype dtype;
static double residual;

static int inputs(struct hbg_setup *s)
{
    return hbg_setup_tensor(s, "y", HBG_ARG_OUT, dtype, HBG_SHAPE(N)) ? 0 : -1;
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)g; (void)args; (void)params;
}

static int golden(struct hbg_setup *s)
{
    return hbg_setup_expected(s, "y") ? 0 : -1;
}

static int no_golden(struct hbg_setup *s)
{
    (void)s;
    return 0;
}

static int give_residual(struct hbg_setup *s, double *value)
{
    (void)s;
    *value = residual;
    return 0;
}

static const char *const params[] = { "n=4", "scale=0.5", "name=x", NULL };
static const struct hbg_workload workload = {
    .size = sizeof(struct hbg_workload), .abi = HBG_WORKLOAD_ABI, .name = "test", .doc = "A test.", .params = params,
    .inputs = inputs, .build = build, .golden = golden, .abs_tolerance = 0.5, .rel_tolerance = 0.25,
    .residual_tolerance = 1.0,
};

static struct hbg_setup *make(const struct hbg_workload *w)
{
    char text[160];
    struct hbg_setup *s = hbg__setup_create(w, 1, text, sizeof text);

    assert_non_null(s);
    assert_int_equal(w->inputs(s), 0);
    assert_true(hbg__setup_keep_inputs(s));
    hbg__setup_rewind(s);
    return s;
}

/* one run whose result is `got` in element 2 where `expected` is right; the others agree */
static struct verdict verify_f32(float got, float expected)
{
    struct verdict v;
    struct hbg_setup *s;
    float *data;

    dtype = HBG_F32;
    s = make(&workload);
    assert_true(hbg__verify_prepare(s, &v));
    data = s->tensor[0].data;
    for (int i = 0; i < N; i++)
        data[i] = ((float *)s->tensor[0].expected)[i] = 1.0f;
    data[2] = got;
    ((float *)s->tensor[0].expected)[2] = expected;
    assert_true(hbg__verify_run(s, &v));
    hbg__setup_destroy(s);
    return v;
}

static double golden_tolerance;

static int golden_that_tells(struct hbg_setup *s)
{
    hbg_setup_tolerance(s, "y", golden_tolerance);
    return golden(s);
}

/* what golden says stands for the workload's own; what is no tolerance is refused */
static void tolerance_of_the_reference(void **state)
{
    struct hbg_workload w = workload;
    struct hbg_setup *s;
    struct verdict v;
    (void)state;

    w.golden = golden_that_tells;
    dtype = HBG_F32;
    for (golden_tolerance = 0.0; golden_tolerance <= 2.0; golden_tolerance += 1.0) {
        s = make(&w);
        assert_true(hbg__verify_prepare(s, &v));
        for (int i = 0; i < N; i++) {
            ((float *)s->tensor[0].data)[i] = 1.0f;
            ((float *)s->tensor[0].expected)[i] = 0.0f;
        }
        assert_true(hbg__verify_run(s, &v));
        assert_int_equal(v.verified, golden_tolerance >= 1.0);
        hbg__setup_destroy(s);
    }
    for (int i = 0; i < 3; i++) {
        golden_tolerance = i == 0 ? -1.0 : i == 1 ? (double)NAN : (double)INFINITY;
        s = make(&w);
        assert_false(hbg__verify_prepare(s, &v));
        assert_non_null(strstr(s->text, "how far a right result may be off cannot be told"));
        hbg__setup_destroy(s);
    }
}

static void tolerances(void **state)
{
    struct verdict v;
    (void)state;

    v = verify_f32(4.0f, 4.0f);
    assert_true(v.verified && v.max_abs_error == 0.0);
    v = verify_f32(5.5f, 4.0f);                         /* 0.5 + 0.25 * 4 is allowed */
    assert_true(v.verified && v.max_abs_error == 1.5);
    v = verify_f32(5.75f, 4.0f);
    assert_false(v.verified);
    assert_string_equal(v.text, "run 1: y, element 2 is 5.75 where 4 is expected");
    v = verify_f32(NAN, 4.0f);
    assert_true(!v.verified && isinf(v.max_abs_error));
    v = verify_f32(4.0f, NAN);
    assert_false(v.verified);
    v = verify_f32(INFINITY, 4.0f);
    assert_false(v.verified);
    v = verify_f32(INFINITY, INFINITY);
    assert_true(v.verified);
}

static void untouched_results_fail(void **state)
{
    struct verdict v;
    struct hbg_setup *s;
    (void)state;

    dtype = HBG_F32;
    s = make(&workload);
    assert_true(hbg__verify_prepare(s, &v));
    ((float *)s->tensor[0].expected)[0] = 1e6f;
    assert_true(hbg__verify_run(s, &v));                /* 0xAA everywhere */
    assert_false(v.verified);
    hbg__setup_destroy(s);
}

/* bits of one element in each dtype, the value they stand for, and that a difference of one value is seen as 1 */
static void dtypes(void **state)
{
    static const struct { enum hbg_dtype dtype; uint64_t got, expected; double error; } cases[] = {
        { HBG_BOOL, 1, 0, 1.0 }, { HBG_I8, 0xff, 0, 1.0 }, { HBG_U8, 0xff, 0, 255.0 }, { HBG_I16, 0xfffe, 0, 2.0 },
        { HBG_U16, 0xfffe, 0, 65534.0 }, { HBG_I32, 0xffffffff, 0, 1.0 }, { HBG_U32, 0xffffffff, 0, 4294967295.0 },
        { HBG_I64, UINT64_MAX, 0, 1.0 }, { HBG_U64, (UINT64_C(1) << 53) + 1, UINT64_C(1) << 53, 1.0 },
        { HBG_F16, 0x3c00, 0xc000, 3.0 }, { HBG_F16, 0x0001, 0x0000, 0x1p-24 }, { HBG_F16, 0x7bff, 0, 65504.0 },
        { HBG_F16, 0x7c00, 0, (double)INFINITY }, { HBG_BF16, 0x3f80, 0xc000, 3.0 }, { HBG_F64, 0x3ff0000000000000, 0, 1.0 },
        { HBG_RECORD(8), 1, 0, (double)INFINITY },
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict v;
        struct hbg_setup *s;
        size_t size = (size_t)hbg_dtype_size(cases[i].dtype);

        dtype = cases[i].dtype;
        s = make(&workload);
        assert_true(hbg__verify_prepare(s, &v));
        memset(s->tensor[0].data, 0, s->tensor[0].size_bytes);
        memcpy((char *)s->tensor[0].data + 3 * size, &cases[i].got, size);
        memcpy((char *)s->tensor[0].expected + 3 * size, &cases[i].expected, size);
        assert_true(hbg__verify_run(s, &v));
        if (v.max_abs_error != cases[i].error)
            fail_msg("case %zu: error %g where %g is expected", i, v.max_abs_error, cases[i].error);
        hbg__setup_destroy(s);
    }
}

static void later_runs_need_the_same_bits(void **state)
{
    struct verdict v;
    struct hbg_setup *s;
    double *data;
    (void)state;

    dtype = HBG_F64;
    s = make(&workload);
    data = s->tensor[0].data;
    assert_true(hbg__verify_prepare(s, &v));
    memset(data, 0, s->tensor[0].size_bytes);
    assert_true(hbg__verify_run(s, &v));
    assert_true(hbg__verify_run(s, &v));
    assert_true(v.verified && v.runs == 2);
    data[1] = -0.0;                                     /* equal as a number */
    assert_true(hbg__verify_run(s, &v));
    assert_false(v.verified);
    assert_string_equal(v.text, "run 3: y, element 1 has other bits than after the first run");
    hbg__setup_destroy(s);
}

static void residuals(void **state)
{
    struct hbg_workload w = workload;
    (void)state;

    dtype = HBG_F64;
    w.residual = give_residual;
    for (int i = 0; i < 3; i++) {
        static const double value[] = { 1.0, 1.5, (double)NAN };
        struct verdict v;
        struct hbg_setup *s = make(&w);
        residual = value[i];
        assert_true(hbg__verify_prepare(s, &v));
        memset(s->tensor[0].data, 0, s->tensor[0].size_bytes);
        assert_true(hbg__verify_run(s, &v));
        assert_true(v.has_residual && v.verified == (i == 0));
        hbg__setup_destroy(s);
    }
}

static void a_reference_must_cover_every_result(void **state)
{
    struct hbg_workload w = workload;
    struct verdict v;
    struct hbg_setup *s;
    (void)state;

    dtype = HBG_F32;
    w.golden = no_golden;
    s = make(&w);
    assert_false(hbg__verify_prepare(s, &v));
    assert_string_equal(s->text, "its reference gives no expected copy of y");
    hbg__setup_destroy(s);
}

/* ---- setup ---- */

static struct hbg_setup *fresh(void)
{
    char text[160];
    struct hbg_setup *s = hbg__setup_create(&workload, 1, text, sizeof text);

    assert_non_null(s);
    return s;
}

static void expect_misuse(struct hbg_setup *s, bool misused, const char *text)
{
    assert_true(s->failed);
    assert_int_equal(s->misused, misused);
    assert_string_equal(s->text, text);
    hbg__setup_destroy(s);
}

static void parameters(void **state)
{
    struct hbg_setup *s = fresh();
    struct hbg_shape shape = HBG_SHAPE(7);
    (void)state;

    assert_false(hbg_setup_given(s, "n", NULL));
    assert_int_equal(hbg_setup_i64(s, "n"), 4);
    assert_true(hbg__setup_assign(s, "n=12"));
    assert_true(hbg__setup_assign(s, "name="));
    assert_true(hbg__setup_assign(s, "scale=1e-3"));
    assert_int_equal(hbg_setup_i64(s, "n"), 12);
    assert_true(hbg_setup_f64(s, "scale") == 1e-3);
    assert_string_equal(hbg_setup_text(s, "name"), "");
    assert_false(s->failed);
    assert_true(hbg_setup_given(s, "n", &shape) && hbg_setup_given(s, "name", NULL));
    assert_int_equal(shape.rank, 0);
    assert_false(hbg_setup_given(s, "y", NULL));
    assert_false(hbg__setup_assign(s, "scal=1"));
    expect_misuse(s, true, "workload test has no parameter `scal`; did you mean `scale`?");

    s = fresh();
    assert_false(hbg__setup_assign(s, "n"));
    expect_misuse(s, true, "`n` is no parameter: name=value is needed");
    s = fresh();
    assert_true(hbg__setup_assign(s, "n=many"));
    assert_int_equal(hbg_setup_i64(s, "n"), 0);
    expect_misuse(s, true, "parameter n: `many` is not a whole number");
    s = fresh();
    hbg_setup_f64(s, "width");
    expect_misuse(s, false, "the workload asks for a parameter `width` that its descriptor does not name");
}

static void tensors(void **state)
{
    struct hbg_setup *s = fresh();
    (void)state;

    assert_null(hbg_setup_tensor(s, "x", HBG_ARG_IN, HBG_F64, HBG_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40)));
    expect_misuse(s, true, "tensor x is larger than the address space");
    s = fresh();
    assert_null(hbg_setup_tensor(s, "x", HBG_ARG_IN, HBG_F64, HBG_SHAPE(-1)));
    expect_misuse(s, true, "tensor x is larger than the address space");
    s = fresh();
    assert_null(hbg_setup_tensor(s, "x", HBG_ARG_ACCUMULATE, HBG_F64, HBG_SHAPE(1)));
    expect_misuse(s, false, "tensor x: access must be in, out or inout");
    s = fresh();
    assert_non_null(hbg_setup_tensor(s, "x", HBG_ARG_IN, HBG_F64, HBG_SHAPE(0)));
    assert_null(hbg_setup_expected(s, "x"));
    expect_misuse(s, false, "tensor x is `in`: no run writes it");
    s = fresh();
    assert_non_null(hbg_setup_tensor(s, "x", HBG_ARG_OUT, HBG_F64, HBG_SHAPE(1)));
    assert_null(hbg_setup_tensor(s, "x", HBG_ARG_OUT, HBG_F64, HBG_SHAPE(1)));
    expect_misuse(s, false, "tensor x is declared twice");
    s = fresh();
    assert_null(hbg_setup_result(s, "z"));
    expect_misuse(s, false, "the workload asks for a tensor `z` that its inputs did not declare");
}

static void rewinding(void **state)
{
    struct hbg_setup *s = fresh();
    int32_t *y = hbg_setup_tensor(s, "y", HBG_ARG_INOUT, HBG_I32, HBG_SHAPE(2));
    uint8_t *z = hbg_setup_tensor(s, "z", HBG_ARG_OUT, HBG_U8, HBG_SHAPE(2));
    (void)state;

    y[0] = 5;
    assert_true(hbg__setup_keep_inputs(s));
    y[0] = 6;
    z[0] = z[1] = 1;
    hbg__setup_rewind(s);
    assert_int_equal(y[0], 5);
    assert_int_equal(z[1], 0xaa);
    assert_int_equal(((const int32_t *)hbg_setup_input(s, "y"))[0], 5);
    hbg__setup_destroy(s);
}

/* a descriptor of an older build ends before the fields that were appended */
static void shorter_descriptors(void **state)
{
    struct hbg_workload w = workload;
    char text[160];
    struct hbg_setup *s;
    (void)state;

    w.residual = give_residual;
    w.size = offsetof(struct hbg_workload, pure_build);
    s = hbg__setup_create(&w, 1, text, sizeof text);
    assert_non_null(s);
    assert_null(s->workload.residual);
    hbg__setup_destroy(s);
    w.size = 8;
    assert_null(hbg__setup_create(&w, 1, text, sizeof text));
    assert_non_null(strstr(text, "its descriptor says that it has 8 bytes; "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerances), cmocka_unit_test(tolerance_of_the_reference),
        cmocka_unit_test(untouched_results_fail), cmocka_unit_test(dtypes),
        cmocka_unit_test(later_runs_need_the_same_bits), cmocka_unit_test(residuals),
        cmocka_unit_test(a_reference_must_cover_every_result), cmocka_unit_test(parameters), cmocka_unit_test(tensors),
        cmocka_unit_test(rewinding), cmocka_unit_test(shorter_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
