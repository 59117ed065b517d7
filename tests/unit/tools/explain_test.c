/* SPDX-License-Identifier: Apache-2.0 */
/* explain_test.c - reasons are counted, told apart up to a number, and kept in the order in which they came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_write.h"
#include "tools/explain.h"

static void add(struct explanation *e, bool replayed, const char *why, uint32_t recorded, uint32_t found, uint32_t missed, const char *subgraph_why)
{
    struct hbg_result result = HBG_OPTIONS(result);
    result.replayed = replayed;
    snprintf(result.why, sizeof result.why, "%s", why);
    result.subgraphs_recorded = recorded;
    result.subgraphs_replayed = found;
    result.subgraphs_missed = missed;
    snprintf(result.subgraph_why, sizeof result.subgraph_why, "%s", subgraph_why);
    hbg__explain_add(e, &result);
}

static void runs_and_bodies_are_counted(void **state)
{
    (void)state;
    struct explanation e = { .pure = true };
    add(&e, false, "", 2, 38, 0, "");
    add(&e, true, "", 0, 0, 0, "");
    add(&e, false, "argument 2: its shape, strides or type", 1, 39, 1, "\"layer\" argument 0: its shape, strides or type");
    add(&e, false, "a value that the build has read", 0, 40, 0, "");
    add(&e, false, "argument 2: its shape, strides or type", 0, 40, 0, "");
    assert_int_equal(e.built, 4);
    assert_int_equal(e.replayed, 1);
    assert_int_equal(e.recorded, 3);
    assert_int_equal(e.found, 157);
    assert_int_equal(e.missed, 1);
    assert_int_equal(e.build.count, 2);
    assert_string_equal(e.build.reason[0].text, "argument 2: its shape, strides or type");
    assert_int_equal(e.build.reason[0].count, 2);
    assert_int_equal(e.build.reason[1].count, 1);
    assert_int_equal(e.body.count, 1);

    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    struct hbg__json json;
    hbg__json_begin(&json, file);
    hbg__json_open_object(&json);
    hbg__explain_json(&json, &e);
    hbg__json_close(&json);
    assert_true(hbg__json_end(&json));
    assert_int_equal(fclose(file), 0);
    for (char *from = text, *to = text;; from++) {      /* without the white space between the parts */
        if (*from != ' ' && *from != '\n') *to++ = *from;
        if (!*from) break;
    }
    assert_non_null(strstr(text, "\"built\":4,\"replayed\":1,\"built_again\":[{\"why\":\"argument2:itsshape,stridesortype\",\"count\":2},"));
    assert_non_null(strstr(text, "\"bodies_missed\":1,\"bodies_missed_first\":[{\"why\":\"\\\"layer\\\"argument0:itsshape,stridesortype\",\"count\":1}]"));
    free(text);
}

static void many_reasons_are_one(void **state)
{
    (void)state;
    struct explanation e = { .pure = true };
    for (int i = 0; i < 3 * EXPLAIN_REASONS; i++) {
        char why[64];
        snprintf(why, sizeof why, "argument %d", i);
        add(&e, false, why, 0, 0, 0, "");
    }
    add(&e, false, "argument 1", 0, 0, 0, "");
    assert_int_equal(e.build.count, EXPLAIN_REASONS);
    assert_int_equal(e.build.others, 2 * EXPLAIN_REASONS);
    assert_int_equal(e.build.reason[1].count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(runs_and_bodies_are_counted), cmocka_unit_test(many_reasons_are_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
