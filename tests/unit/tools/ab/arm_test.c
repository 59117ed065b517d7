/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of commands, and how many causes their differences are.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/ab/arm.h"

static void words(void **state)
{
    static const char command[] = "a 'b c'  \"d 'e\" f\\ g h'i'\"j\" '' ";
    static const char wanted[] = "a\0b c\0d 'e\0f g\0hij\0\0";
    char *found = hbg__ab_words(command);
    (void)state;

    assert_memory_equal(found, wanted, sizeof wanted);
    free(found);
    found = hbg__ab_words("  ");
    assert_true(found[0] == '\0');
    free(found);
}

/* Causes of a difference; the differences stay in *differences. */
static int causes(const char *a, const char *b, struct ab_facts *differences)
{
    struct ab_facts of_a = { NULL, 0 }, of_b = { NULL, 0 };
    int count;

    *differences = (struct ab_facts){ NULL, 0 };
    assert_true(hbg__ab_arm_look(&of_a, a) && hbg__ab_arm_look(&of_b, b));
    count = hbg__ab_arms_compare(differences, &of_a, &of_b);
    hbg__ab_facts_free(&of_a);
    hbg__ab_facts_free(&of_b);
    return count;
}

static void differences(void **state)
{
    static const struct { const char *a, *b; int causes; const char *first; } known[] = {
        { "true", "true", 0, NULL },
        { "true  x", "true x", 0, NULL },
        { "true -n 4 x", "true -n 8 x", 1, "4 | 8" },
        { "true x", "true --fast x", 1, "(nothing) | --fast" },
        { "true --size 3 x", "true x", 1, "--size 3 | (nothing)" },
        { "true -n 4 x -m 1", "true -n 8 x -m 2", 2, "4 | 8" },
        { "true -a -b", "true -c -d", 2, "-a -b | -c -d" },
        { "X=1 true", "X=2 true", 1, "X=1 | X=2" },
        { "true", "X=2 true", 1, "(nothing) | X=2" },
        { "X=1 true a", "X=2 true b", 2, "X=1 | X=2" },
    };
    struct ab_facts found;
    (void)state;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(causes(known[i].a, known[i].b, &found), known[i].causes);
        assert_true(found.count >= (known[i].first ? 1 : 0));
        if (known[i].first)
            assert_string_equal(found.fact[0].value, known[i].first);
        hbg__ab_facts_free(&found);
    }
}

static void write_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

/* Another path to the same bytes is no difference, other bytes are one. */
static void programs(void **state)
{
    char folder[] = "/tmp/hbg_arm_test_XXXXXX", a[64], b[64];
    struct ab_facts found;
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
    write_script(a, "#!/bin/sh\nexit 0\n");
    write_script(b, "#!/bin/sh\nexit 0\n");
    assert_int_equal(causes(a, b, &found), 0);
    hbg__ab_facts_free(&found);
    write_script(b, "#!/bin/sh\nexit 0 \n");
    assert_int_equal(causes(a, b, &found), 1);
    assert_non_null(hbg__ab_fact_get(&found, "hash"));
    assert_non_null(hbg__ab_fact_get(&found, "program"));
    hbg__ab_facts_free(&found);
    assert_int_equal(causes("cd /", "umask 0", &found), 2);     /* the shell's own words */
    hbg__ab_facts_free(&found);
    unlink(a);
    unlink(b);
    rmdir(folder);
}

/* Files that a command names are seen. */
static void facts(void **state)
{
    struct ab_facts found = { NULL, 0 };
    (void)state;

    assert_true(hbg__ab_arm_look(&found, "cat /proc/self/nothing /etc/passwd"));
    assert_non_null(hbg__ab_fact_get(&found, "hash"));
    assert_non_null(strstr(hbg__ab_fact_get(&found, "file"), " /etc/passwd"));
    hbg__ab_facts_free(&found);
    assert_int_equal(chdir("/etc"), 0);
    assert_true(hbg__ab_arm_look(&found, "cat passwd -n"));
    assert_non_null(strstr(hbg__ab_fact_get(&found, "file"), " passwd"));
    hbg__ab_facts_free(&found);
    assert_true(hbg__ab_host_look(&found));
    assert_non_null(hbg__ab_fact_get(&found, "kernel"));
    assert_non_null(hbg__ab_fact_get(&found, "processor"));
    hbg__ab_facts_free(&found);
}

/* The machine by a hash, the CPUs by number. */
static void host(void **state)
{
    struct ab_facts all = { NULL, 0 }, one = { NULL, 0 };
    cpu_set_t before, set;
    int last = -1;
    char wanted[32];
    (void)state;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        last = CPU_ISSET(i, &before) ? i : last;
    CPU_ZERO(&set);
    CPU_SET(last, &set);
    assert_true(hbg__ab_host_look(&all));
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
    assert_true(hbg__ab_host_look(&one));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(strlen(hbg__ab_fact_get(&one, "machine")), 16);
    assert_string_equal(hbg__ab_fact_get(&one, "machine"), hbg__ab_fact_get(&all, "machine"));
    snprintf(wanted, sizeof wanted, " CPUs: %d", last);
    assert_non_null(strstr(hbg__ab_fact_get(&one, "affinity"), wanted));
    assert_ptr_equal(strstr(hbg__ab_fact_get(&one, "affinity"), "1 of "), hbg__ab_fact_get(&one, "affinity"));
    hbg__ab_facts_free(&all);
    hbg__ab_facts_free(&one);
}

static void surroundings(void **state)
{
    struct ab_facts found = { NULL, 0 };
    size_t count = 0;
    (void)state;

    assert_int_equal(clearenv(), 0);
    for (const char *const *name = (const char *const[]){ "OMP_PROC_BIND", "HOME", "LC_ALL", "XOMP_", "MALLOC_ARENA_MAX", NULL }; *name; name++)
        assert_int_equal(setenv(*name, "x", 1), 0);
    assert_true(hbg__ab_surroundings_look(&found));
    assert_int_equal(*hbg__ab_fact_get(&found, "folder"), '/');
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(found.fact[i].name, "variable") == 0)
            assert_string_equal(found.fact[i].value, ((const char *const[]){ "LC_ALL=x", "MALLOC_ARENA_MAX=x", "OMP_PROC_BIND=x" })[count++]);
    assert_int_equal(count, 3);
    hbg__ab_facts_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(words), cmocka_unit_test(differences), cmocka_unit_test(programs), cmocka_unit_test(facts),
                                       cmocka_unit_test(host), cmocka_unit_test(surroundings) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
