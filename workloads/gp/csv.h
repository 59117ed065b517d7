/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two columns of a comma-separated table.
 */
#ifndef HBG_WORKLOADS_GP_CSV_H
#define HBG_WORKLOADS_GP_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv_columns {
    int64_t rows;
    double *x, *y;                      /* owned: hbg__csv_release() */
    char error[320];                    /* "line 12: .." when a call returns false */
};

/**
 * hbg__csv_read - read two columns of numbers.
 *
 * file        in   read to its end, not closed
 * x_name      in   a column's name in the header; "" takes the first column
 * y_name      in   likewise; "" takes the second
 *
 * The first line names the columns. Fields are separated by commas and may stand in double quotes, in which a quote is
 * doubled; lines end with LF or CRLF. Every row has as many fields as the header; the two columns hold finite decimal
 * numbers; blanks around a field do not count. Empty lines may follow the last row. At least two rows are needed.
 * Anything else is refused with the line and a sentence.
 */
bool hbg__csv_read(FILE *file, const char *x_name, const char *y_name, struct csv_columns *columns);
void hbg__csv_release(struct csv_columns *columns);

/* NULL and the value of a finite decimal number with blanks around it, or what is wrong: "is not a number", .. */
const char *hbg__csv_number(const char *text, double *value);

#endif
