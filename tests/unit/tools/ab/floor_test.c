/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What A against A came to: when it counts for a later comparison, what is kept of a record, and its file.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <math.h>

#include "tools/ab/floor.h"

static const struct ab_floor calm = { .measured = 1700000000, .half = .02, .rounds = 10, .blocks = 10, .controls = 1, .runs = 1,
                                      .control = { { .seed = UINT64_MAX, .effect = .001, .low = -.019, .high = .021 } } };

static void sizes(void **state)
{
    struct ab_record record = { .rounds = 10, .rules = { .blocks = 10 } };
    struct ab_floor other = calm;
    (void)state;

    assert_true(hbg__ab_floor_fits(&calm, &record));
    other.measured = 0;                 /* nothing is remembered */
    assert_false(hbg__ab_floor_fits(&other, &record));
    for (int i = 0; i < 2; i++) {
        double *size = i ? &other.blocks : &other.rounds;

        other = calm;
        *size = 15;
        assert_true(hbg__ab_floor_fits(&other, &record));
        *size = 16;
        assert_false(hbg__ab_floor_fits(&other, &record));
        *size = 7;
        assert_true(hbg__ab_floor_fits(&other, &record));
        *size = 6;
        assert_false(hbg__ab_floor_fits(&other, &record));
    }
}

static void twice(void **state)
{
    struct ab_floor floor = calm;
    (void)state;

    assert_false(hbg__ab_floor_invalid(&floor));
    floor.control[0].low = .001;
    assert_false(hbg__ab_floor_invalid(&floor));        /* once: it was repeated */
    floor.controls = 2;
    floor.control[1] = (struct ab_floor_control){ .low = -.01, .high = .01 };
    assert_false(hbg__ab_floor_invalid(&floor));
    floor.control[1].high = -.001;
    assert_true(hbg__ab_floor_invalid(&floor));
}

/* Of a record: its controls alone, and none without a half width or with too many blocks dropped. */
static void of_a_record(void **state)
{
    struct ab_record record = { .rounds = 12, .series_count = 3, .control = { false, true, true } };
    struct ab_floor now;
    (void)state;

    record.outcome[0] = (struct ab_outcome){ .verdict = AB_SLOWER, .low = .1, .high = .2, .half = .1 };
    record.outcome[1] = (struct ab_outcome){ .verdict = AB_SLOWER, .low = .01, .high = .02, .half = .3, .blocks = 9 };
    record.outcome[2] = (struct ab_outcome){ .verdict = AB_EQUIVALENT, .low = -.01, .high = .02, .half = .2, .blocks = 10 };
    record.series[2].seed = 7;
    assert_true(hbg__ab_floor_of(&now, &record, 5));
    assert_true(now.measured == 5 && now.controls == 2 && now.half == expm1(.2) && now.blocks == 10 && now.rounds == 12 && now.control[1].seed == 7);
    assert_true(now.runs == 1 && now.invalid_runs == 0);
    record.outcome[2].low = .001;
    assert_true(hbg__ab_floor_of(&now, &record, 5) && now.invalid_runs == 1);
    record.outcome[2].half = 1e4;                       /* its exponential is no number */
    assert_false(hbg__ab_floor_of(&now, &record, 5));
    record.outcome[2].half = .2;
    record.outcome[1].high = INFINITY;
    assert_false(hbg__ab_floor_of(&now, &record, 5));
    record.outcome[1].high = .02;
    record.outcome[2].half = NAN;
    assert_false(hbg__ab_floor_of(&now, &record, 5));
    record.outcome[2] = (struct ab_outcome){ .verdict = AB_INVALID, .half = .2 };
    assert_false(hbg__ab_floor_of(&now, &record, 5));
    record.series_count = 1;
    assert_false(hbg__ab_floor_of(&now, &record, 5));
}

static void files(void **state)
{
    char folder[] = "/tmp/hbg_floor_test_XXXXXX", path[128], why[512];
    struct ab_facts facts = { NULL, 0 }, others = { NULL, 0 };
    struct ab_floor found;
    (void)state;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
    assert_true(hbg__ab_fact(&facts, "metric", "wall \xff\xe2\x82 na\xefve \xef\xbf\xbd") && hbg__ab_fact(&others, "metric", "span"));      /* bytes that are no text */
    assert_false(hbg__ab_floor_find(&found, &facts, "0123456789abcdef", why, sizeof why));
    assert_string_equal(why, "");
    assert_true(hbg__ab_floor_keep(&calm, &facts, "0123456789abcdef", why, sizeof why));
    assert_true(hbg__ab_floor_find(&found, &facts, "0123456789abcdef", why, sizeof why));
    assert_true(found.half == calm.half && found.control[0].seed == UINT64_MAX && found.control[0].high == .021 && found.measured == calm.measured);
    for (uint32_t runs = found.runs; found.runs < 3 * runs;) {          /* each is counted */
        assert_true(hbg__ab_floor_keep(&calm, &facts, "0123456789abcdef", why, sizeof why));
        assert_true(hbg__ab_floor_find(&found, &facts, "0123456789abcdef", why, sizeof why));
        assert_int_equal(found.runs % runs, 0);
    }
    assert_false(hbg__ab_floor_find(&found, &others, "0123456789abcdef", why, sizeof why));
    assert_non_null(strstr(why, "another configuration"));
    assert_true(found.measured == 0);
    for (const char *const *below = (const char *const[]){ "/hbg/aa/0123456789abcdef.json", "/hbg/aa", "/hbg", "", NULL }; *below; below++) {
        snprintf(path, sizeof path, "%s%s", folder, *below);
        assert_int_equal(below[0][0] && strstr(*below, "json") ? unlink(path) : rmdir(path), 0);
    }
    hbg__ab_facts_free(&facts);
    hbg__ab_facts_free(&others);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sizes), cmocka_unit_test(twice), cmocka_unit_test(of_a_record), cmocka_unit_test(files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
