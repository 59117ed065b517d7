/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: pairs of a label and a value, and numbers with units.
 */
#ifndef HBG_TOOLS_TABLE_H
#define HBG_TOOLS_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* "tasks            3,456": labels in one column, values behind it */
__attribute__((format(printf, 2, 3))) void hbg__table_line(const char *label, const char *format, ...);

/* `columns` headings over rows of `cells`, right-aligned: whole numbers where a column has no others, else 8 digits each */
void hbg__table_numbers(char *const *columns, size_t column_count, const double *cells, size_t row_count);

/* "1.234 ms" and "1.5 MiB (1,572,864 bytes)"; `text` has room for 64 characters and is returned */
const char *hbg__table_time(double ns, char *text);
const char *hbg__table_bytes(uint64_t bytes, char *text);

/* "f32", "record[18]"; `text` as above */
const char *hbg__table_dtype(int dtype, char *text);

/* "1,234,567" */
const char *hbg__table_count(uint64_t count, char *text);

#endif
