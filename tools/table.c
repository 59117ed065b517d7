/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people.
 */
#include "table.h"

#include <hbg/types.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_WIDTH = 24, CELL_WIDTH = 14, CELL_WIDTH_MOST = 64, TEXT_SIZE = 64, WHOLE_MOST = 1000000000 };

void hbg__table_line(const char *label, const char *format, ...)
{
    va_list list;

    printf("%-*s ", LABEL_WIDTH, label);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

/* can the numbers of a column be written without decimals? */
static bool all_whole(const double *cells, size_t column, size_t column_count, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++) {
        double cell = cells[i * column_count + column];
        if (!(fabs(cell) < WHOLE_MOST) || cell != floor(cell))
            return false;
    }
    return true;
}

static int cell_width(const char *name)
{
    size_t length = strlen(name) + 2;

    return length < CELL_WIDTH ? CELL_WIDTH : length < CELL_WIDTH_MOST ? (int)length : CELL_WIDTH_MOST;
}

void hbg__table_numbers(char *const *columns, size_t column_count, const double *cells, size_t row_count)
{
    for (size_t j = 0; j < column_count; j++)
        printf("%*s", cell_width(columns[j]), columns[j]);
    putchar('\n');
    for (size_t i = 0; i < row_count; i++) {
        for (size_t j = 0; j < column_count; j++) {
            double cell = cells[i * column_count + j];
            if (all_whole(cells, j, column_count, row_count))
                printf("%*.0f", cell_width(columns[j]), cell);
            else
                printf("%#*.8g", cell_width(columns[j]), cell);
        }
        putchar('\n');
    }
}

const char *hbg__table_time(double ns, char *text)
{
    static const struct { double ns; const char *name; } unit[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1.0, "ns" } };
    size_t i = 0;

    while (i < 3 && ns < unit[i].ns)
        i++;
    snprintf(text, TEXT_SIZE, "%.4g %s", ns / unit[i].ns, unit[i].name);
    return text;
}

const char *hbg__table_count(uint64_t count, char *text)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *hbg__table_bytes(uint64_t bytes, char *text)
{
    static const char *const name[] = { "KiB", "MiB", "GiB", "TiB" };
    char count[TEXT_SIZE / 2];
    double value = (double)bytes / 1024.0;
    size_t i = 0;

    hbg__table_count(bytes, count);
    if (bytes < 1024) {
        snprintf(text, TEXT_SIZE, "%s bytes", count);
        return text;
    }
    for (; value >= 1024.0 && i < 3; i++)
        value /= 1024.0;
    snprintf(text, TEXT_SIZE, "%s bytes (%.4g %s)", count, value, name[i]);
    return text;
}

const char *hbg__table_dtype(int dtype, char *text)
{
    static const char *const name[] = { "value", "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64" };

    if (dtype >= 0 && (size_t)dtype < sizeof name / sizeof *name)
        snprintf(text, TEXT_SIZE, "%s", name[dtype]);
    else
        snprintf(text, TEXT_SIZE, "record[%lld]", (long long)hbg_dtype_size(dtype));
    return text;
}
