/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of tables: what it takes, and the line and sentence for everything else.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/gp/csv.h"

static bool read_text(const char *text, size_t size, const char *x, const char *y, struct csv_columns *columns)
{
    FILE *file = size ? fmemopen((void *)(uintptr_t)text, size, "r") : fopen("/dev/null", "r");
    bool good;

    assert_non_null(file);
    good = hbg__csv_read(file, x, y, columns);
    fclose(file);
    return good;
}

/* the table's rows are these, x and y alternating */
static void expect_rows(const char *text, const char *x, const char *y, int64_t rows, const double *value)
{
    struct csv_columns columns;

    if (!read_text(text, strlen(text), x, y, &columns))
        fail_msg("refused: %s\n%s", columns.error, text);
    assert_int_equal(columns.rows, rows);
    for (int64_t i = 0; i < rows; i++) {
        assert_true(columns.x[i] == value[2 * i]);
        assert_true(columns.y[i] == value[2 * i + 1]);
    }
    hbg__csv_release(&columns);
}

static void expect_refusal(const char *text, const char *x, const char *y, const char *error)
{
    struct csv_columns columns;

    assert_false(read_text(text, strlen(text), x, y, &columns));
    assert_string_equal(columns.error, error);
    assert_null(columns.x);
    assert_null(columns.y);
    assert_int_equal(columns.rows, 0);
}

static void takes_first_two_columns(void **state)
{
    const double value[] = { 1.0, 2.0, 3.5, -4e2 };
    (void)state;

    expect_rows("t,v\n1,2\n3.5,-4e2\n", "", "", 2, value);
    expect_rows("t,v\n1,2\n3.5,-4e2", "", "", 2, value);                       /* no end of the last line */
    expect_rows("t,v,w\n1,2,\n3.5,-4e2,text\n", "", "", 2, value);             /* other columns may hold anything */
    expect_rows("t,v\r\n1,2\r\n3.5,-4e2\r\n\r\n  \n", "", "", 2, value);       /* CRLF, empty lines at the end */
    expect_rows("\xef\xbb\xbft,v\n1,2\n3.5,-4e2\n", "t", "", 2, value);        /* byte order mark */
    expect_rows(" t , v \n 1 ,\t2\n+3.5 , -4e2 \n", "t", "v", 2, value);       /* blanks around fields */
}

static void takes_columns_by_name(void **state)
{
    const double value[] = { 2.0, 3.0, 5.0, 6.0 }, swapped[] = { 3.0, 2.0, 6.0, 5.0 };
    (void)state;

    expect_rows("a,b,c\n1,2,3\n4,5,6\n", "b", "c", 2, value);
    expect_rows("a,b,c\n1,2,3\n4,5,6\n", "c", "b", 2, swapped);
    expect_rows("\"a\",\"b\",\"c, or \"\"d\"\"\"\n1,\"2\",3\n4,5,\"6\" \n", "b", "c, or \"d\"", 2, value);
}

static void takes_many_rows(void **state)
{
    static char text[200000];
    struct csv_columns columns;
    size_t used = (size_t)sprintf(text, "t,v\n");
    (void)state;

    for (int i = 0; i < 10000; i++)
        used += (size_t)sprintf(text + used, "%d,%d.5\n", i, -i);
    assert_true(read_text(text, used, "", "", &columns));
    assert_int_equal(columns.rows, 10000);
    for (int i = 0; i < 10000; i++)
        assert_true(columns.x[i] == i && columns.y[i] == -(i + (i ? 0.5 : -0.5)));
    hbg__csv_release(&columns);
}

static void refuses_bad_headers(void **state)
{
    (void)state;
    expect_refusal("", "", "", "line 1: the file is empty; a header and rows of numbers are needed");
    expect_refusal("t\n1\n2\n", "", "", "line 1: the header names one column, and two are needed, separated by a comma");
    expect_refusal("t;v\n1;2\n", "", "", "line 1: the header names one column, and two are needed, separated by a comma");
    expect_refusal("1,2\n3,4\n", "", "", "line 1: a header with the columns' names is needed, and this line holds numbers");
    expect_refusal("t,v\n1,2\n3,4\n", "year", "", "line 1: there is no column `year`; the header names t, v");
    expect_refusal("t,v\n1,2\n3,4\n", "", "T", "line 1: there is no column `T`; the header names t, v");
    expect_refusal("t,v,v\n1,2,3\n4,5,6\n", "", "v", "line 1: column `v` stands 2 times in the header");
    expect_refusal("t,v\n1,2\n3,4\n", "v", "", "line 1: x and y are both column `v`");
}

static void refuses_bad_rows(void **state)
{
    (void)state;
    expect_refusal("t,v\n", "", "", "line 1: no row follows the header, and at least two are needed");
    expect_refusal("t,v\n1,2\n", "", "", "line 2: this is the only row, and at least two are needed");
    expect_refusal("t,v\n1,2\n3\n", "", "", "line 3: it has 1 field where the header has 2");
    expect_refusal("t,v\n1,2\n3,4,5\n", "", "", "line 3: it has 3 fields where the header has 2");
    expect_refusal("t,v\n1,2\n\n3,4\n", "", "", "line 3: it is empty, and rows follow it");
    expect_refusal("t,v\n1,2\n3,\"4\n", "", "", "line 3: a quote is opened and not closed on the line");
    expect_refusal("t,v\n1,2\n3,\"4\"5\n", "", "", "line 3: text follows a closing quote");
}

static void refuses_bad_numbers(void **state)
{
    (void)state;
    expect_refusal("t,v\n1,2\n3,abc\n", "", "", "line 3: column `v`: `abc` is not a number");
    expect_refusal("t,v\n1,2\n3x,4\n", "", "", "line 3: column `t`: `3x` is not a number");
    expect_refusal("t,v\n1,0x10\n3,4\n", "", "", "line 2: column `v`: `0x10` is not a number");
    expect_refusal("t,v\n1,1 2\n3,4\n", "", "", "line 2: column `v`: `1 2` is not a number");
    expect_refusal("t,v\n1,-\n3,4\n", "", "", "line 2: column `v`: `-` is not a number");
    expect_refusal("t,v\n1,2\n,4\n", "", "", "line 3: column `t`: `` is empty where a number is needed");
    expect_refusal("t,v\n1,nan\n3,4\n", "", "", "line 2: column `v`: `nan` is not a finite number");
    expect_refusal("t,v\n1,NaN\n3,4\n", "", "", "line 2: column `v`: `NaN` is not a finite number");
    expect_refusal("t,v\n1,-inf\n3,4\n", "", "", "line 2: column `v`: `-inf` is not a finite number");
    expect_refusal("t,v\n1,1e999\n3,4\n", "", "", "line 2: column `v`: `1e999` is too large for a number");
}

static void refuses_zero_bytes(void **state)
{
    static const char text[] = "t,v\n1,2\n3\0,4\n";
    struct csv_columns columns;
    (void)state;

    assert_false(read_text(text, sizeof text - 1, "", "", &columns));
    assert_string_equal(columns.error, "line 3: it holds a zero byte: this is no text file");
}

static void long_names_do_not_overflow(void **state)
{
    static char text[5000];
    struct csv_columns columns;
    size_t used = 0;
    (void)state;

    for (int i = 0; i < 100; i++)
        used += (size_t)sprintf(text + used, "%sa_rather_long_column_name_%d", i ? "," : "", i);
    sprintf(text + used, "\n");
    assert_false(read_text(text, strlen(text), "missing", "", &columns));
    assert_memory_equal(columns.error, "line 1: there is no column `missing`; the header names a_rather_long", 60);
    assert_true(strlen(columns.error) < sizeof columns.error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_first_two_columns), cmocka_unit_test(takes_columns_by_name), cmocka_unit_test(takes_many_rows),
        cmocka_unit_test(refuses_bad_headers), cmocka_unit_test(refuses_bad_rows), cmocka_unit_test(refuses_bad_numbers),
        cmocka_unit_test(refuses_zero_bytes), cmocka_unit_test(long_names_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
