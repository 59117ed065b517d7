/* SPDX-License-Identifier: Apache-2.0 */
/* once_test.c - the one call for open, create, run and close: it works, it says why it does not, and it leaves nothing behind. */
#include "support.h"

#include "run/abi.h"
#include "support/devices.h"

static int add(const struct hbg_task_view *t)
{
    *HBG_VIEW(int32_t, t, 0) += hbg_view_i32(t, 1);
    return 0;
}

static int fail_at_seven(const struct hbg_task_view *t)
{
    return hbg_view_i32(t, 1) == 7 ? hbg_fail(t, 42, 7) : add(t);
}

static int call_again(const struct hbg_task_view *t)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    (void)t;
    return hbg_run_once("cpu:workers=1", &options, HBG_NO_ARGS, &result) == HBG_E_REENTRANT && result.error.status == HBG_E_REENTRANT ? 0 : 1;
}

static const struct hbg_kernel once_kernels[] = {
    HBG_KERNEL(0, add, "inout i32, i32"), HBG_KERNEL(1, fail_at_seven, "inout i32, i32"), HBG_KERNEL(2, call_again, ""),
};

/* params: the kernel; 1 + 2 + .. + 10 */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    int32_t kernel = *(const int32_t *)params;
    if (kernel == 2) hbg_submit(g, 2);
    else for (int32_t i = 1; i <= 10; i++) hbg_submit(g, kernel, hbg_inout(hbg_args_region(args, 0)), hbg_i32(i));
}

static int32_t kernel_of_run, x;
static struct hbg_error error;

static struct hbg_program_options sums(int32_t kernel)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    kernel_of_run = kernel;
    x = 0;
    error = HBG_OPTIONS(error);
    options.build = build;
    options.params = &kernel_of_run;
    options.params_size = sizeof kernel_of_run;
    options.kernels = once_kernels;
    options.kernel_count = sizeof once_kernels / sizeof *once_kernels;
    options.error = &error;
    return options;
}
#define X HBG_ARGS(hbg_inout(hbg_host(&x, HBG_I32, HBG_SHAPE(1))))

static void it_works(void **state)
{
    static const char *const specs[] = { "cpu:workers=2", "cpu:workers=1,memory=discrete", NULL };
    struct hbg_program_options options = sums(0);
    struct hbg_result result = HBG_OPTIONS(result);
    int threads = thread_count(), descriptors = 0;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        if (i == 1) {                                   /* a sanitizer has a thread of its own from the first one on */
            threads = settled_thread_count(threads);
            descriptors = open_descriptor_count();
        }
        x = 0;
        assert_int_equal(hbg_run_once(specs[i], &options, X, &result), HBG_OK);
        assert_int_equal(x, 55);
        assert_int_equal(result.tasks, 10);
        assert_int_equal(result.error.status, HBG_OK);
    }
    options.error = NULL;
    x = 0;
    assert_int_equal(hbg_run_once("cpu:workers=1", &options, X, NULL), HBG_OK);
    assert_int_equal(x, 55);
    assert_int_equal(settled_thread_count(threads), threads);
    assert_int_equal(open_descriptor_count(), descriptors);
}

/* Both errors have the status and the sentence. */
#define REFUSED(status_wanted, part, spec, options, list)                                                             \
    do {                                                                                                               \
        struct hbg_result said = HBG_OPTIONS(result);                                                                  \
        assert_int_equal(hbg_run_once((spec), (options), list, &said), (status_wanted));                               \
        assert_int_equal(said.error.status, (status_wanted));                                                          \
        assert_int_equal(error.status, (status_wanted));                                                               \
        if (!strstr(said.error.text, (part)) || strcmp(said.error.text, error.text) != 0)                              \
            fail_msg("\"%s\" and \"%s\" instead of \"%s\"", said.error.text, error.text, (part));                        \
    } while (0)

static void each_step_says_why(void **state)
{
    int threads = thread_count();
    struct hbg_program_options options = sums(0);
    (void)state;
    REFUSED(HBG_E_OPTION, "worker", "cpu:worker=2", &options, X);
    REFUSED(HBG_E_OPTION, "gpu", "gpu", &options, X);
    options.build = NULL;
    REFUSED(HBG_E_NULL, "the program has no build function", "cpu:workers=1", &options, X);
    options = sums(0);
    options.boundary = "inout f64";
    REFUSED(HBG_E_SIGNATURE, "f64", "cpu:workers=1", &options, X);
    options = sums(1);
    REFUSED(HBG_E_KERNEL, "fail_at_seven", "cpu:workers=1", &options, X);
    assert_int_equal(error.code, 42);
    assert_int_equal(error.task, 6);
    options = sums(0);
    REFUSED(HBG_E_REGION, "", "cpu:workers=1", &options, HBG_NO_ARGS);
    assert_int_equal(settled_thread_count(threads), threads);
}

static void wrong_structs(void **state)
{
    struct hbg_program_options options = sums(0);
    struct hbg_result result = HBG_OPTIONS(result);
    (void)state;
    assert_int_equal(hbg_run_once(NULL, NULL, HBG_NO_ARGS, &result), HBG_E_NULL);
    assert_string_equal(result.error.text, "hbg_run_once got no options of a program");
    assert_int_equal(hbg_run_once(NULL, NULL, HBG_NO_ARGS, NULL), HBG_E_NULL);
    options.size = 8;
    REFUSED(HBG_E_ABI, "a struct hbg_program_options says that it has 8 bytes;", NULL, &options, X);
    options.size = HBG__ABI_MOST + 1;                   /* what lies behind such a size was never set */
    options.error = (struct hbg_error *)(uintptr_t)8;
    assert_int_equal(hbg_run_once(NULL, &options, X, &result), HBG_E_ABI);
    assert_non_null(strstr(result.error.text, "a struct hbg_program_options says that it has 4097 bytes;"));
    options = sums(0);
    result.size = 8;
    assert_int_equal(hbg_run_once(NULL, &options, X, &result), HBG_E_ABI);
    assert_int_equal(x, 0);
}

static void not_from_a_kernel(void **state)
{
    struct hbg_program_options options = sums(2);
    (void)state;
    assert_int_equal(hbg_run_once("cpu:workers=1", &options, X, NULL), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_works), cmocka_unit_test(each_step_says_why), cmocka_unit_test(wrong_structs), cmocka_unit_test(not_from_a_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
