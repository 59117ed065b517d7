/* SPDX-License-Identifier: Apache-2.0 */
/* A build that named a device buffer found it, and held it some steps later: a thread that destroyed the buffer in between freed what was then held. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { RUNS = 3000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hbg_region named;
static atomic_bool stop;

static int add(const struct hbg_task_view *t)
{
    HBG_VIEW(int32_t, t, 0)[0]++;
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, add, "inout i32") };

/* Names a buffer that is there as the build begins, and perhaps no longer when it is named. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    pthread_mutex_lock(&lock);
    struct hbg_region buffer = named;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 20; i++) hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)));
    for (int i = 0; i < 3; i++) hbg_submit(g, 0, hbg_inout(buffer));
    hbg_submit(g, 0, hbg_inout(hbg_args_region(args, 0)));
}

static struct hbg_buffer *publish(struct hbg_device *device)
{
    struct hbg_buffer *made = NULL;
    if (hbg_buffer_create(device, 64, &made) != HBG_OK) return NULL;
    pthread_mutex_lock(&lock);
    named = hbg_buffer_region(made, 0, HBG_I32, HBG_SHAPE(4));
    pthread_mutex_unlock(&lock);
    return made;
}

/* A new one takes the place of the old one, which goes. */
static void *replace(void *device)
{
    struct hbg_buffer *buffer = NULL;
    for (unsigned round = 0; !atomic_load(&stop); round++) {
        struct hbg_buffer *next = publish(device);
        hbg_buffer_destroy(buffer);
        buffer = next;
        for (volatile unsigned pause = 0; pause < round * 37 % 1000; pause++) continue;
    }
    return buffer;
}

static void a_build_has_the_buffer_or_is_refused(void **state)
{
    (void)state;
    for (int no_compare = 0; no_compare < 2; no_compare++) {
        struct hbg_device *device = device_open("cpu:workers=1", NULL);
        struct hbg_program_options options = HBG_OPTIONS(program_options);
        struct hbg_program *program = NULL;
        pthread_t thread;
        void *last = NULL;
        options.build = build;
        options.kernels = kernels;
        options.kernel_count = 1;
        options.no_compare = no_compare;
        assert_int_equal(hbg_program_create(device, &options, &program), HBG_OK);
        struct hbg_buffer *first = publish(device);
        assert_non_null(first);
        atomic_store(&stop, false);
        assert_int_equal(pthread_create(&thread, NULL, replace, device), 0);
        for (int run = 0; run < test_scaled(RUNS); run++) {
            int32_t x[1] = { 0 };
            struct hbg_result result = HBG_OPTIONS(result);
            enum hbg_status status = hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(x, 1))), &result);
            if (status == HBG_OK) assert_int_equal(x[0], 21);
            else assert_int_equal(status, HBG_E_REGION);
        }
        atomic_store(&stop, true);
        assert_int_equal(pthread_join(thread, &last), 0);
        hbg_buffer_destroy(last);
        hbg_buffer_destroy(first);
        hbg_program_destroy(program);
        device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_build_has_the_buffer_or_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
