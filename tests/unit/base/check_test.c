/* SPDX-License-Identifier: Apache-2.0 */
/* check_test.c - a failed assertion ends the process with SIGABRT and leaves its place; a true one does nothing. */
#include "base/check.h"

#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void fail_one(void) { HBG_ASSERT(1 + 1 == 3); }
static void fail_debug_one(void) { HBG_DEBUG_ASSERT(1 + 1 == 3); }

static char *shared_place;

static void keep_place(int number)
{
    (void)number;
    memcpy(shared_place, hbg__check_place, sizeof hbg__check_place);
    _exit(3);
}

/* Runs body in a child: 3 when it aborted, 0 when it returned. What stands in hbg__check_place is in shared_place. */
static int run_in_child(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, keep_place);
        if (!freopen("/dev/null", "w", stderr)) _exit(4);
        body();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void failed_assertion_aborts_and_names_itself(void **state)
{
    (void)state;
    assert_int_equal(run_in_child(fail_one), 3);
    assert_non_null(strstr(shared_place, "check_test.c:"));
    assert_non_null(strstr(shared_place, ": 1 + 1 == 3"));
}

static void debug_assertion_follows_the_build(void **state)
{
    (void)state;
#ifdef HBG_DEBUG
    assert_int_equal(run_in_child(fail_debug_one), 3);
#else
    assert_int_equal(run_in_child(fail_debug_one), 0);
#endif
}

static void condition_is_evaluated_as_often_as_promised(void **state)
{
    (void)state;
    int calls = 0;
    HBG_ASSERT(++calls == 1);
    assert_int_equal(calls, 1);
    HBG_DEBUG_ASSERT(++calls == 2);
#ifdef HBG_DEBUG
    assert_int_equal(calls, 2);
#else
    assert_int_equal(calls, 1);
#endif
    assert_string_equal(hbg__check_place, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_assertion_aborts_and_names_itself),
        cmocka_unit_test(debug_assertion_follows_the_build),
        cmocka_unit_test(condition_is_evaluated_as_often_as_promised),
    };
    shared_place = mmap(NULL, sizeof hbg__check_place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_place == MAP_FAILED) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
