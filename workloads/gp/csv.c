/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of tables. A line is split in place into fields; csv.h says what is accepted.
 */
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
    FILE *file;
    struct csv_columns *out;
    int64_t line_number;
    char *line;
    size_t line_capacity;
    char **field;                       /* into line */
    size_t field_count, field_capacity;
};

__attribute__((format(printf, 2, 3)))
static bool refuse(struct reader *r, const char *format, ...)
{
    char *text = r->out->error;
    size_t size = sizeof r->out->error;
    va_list list;
    int used = snprintf(text, size, "line %lld: ", (long long)r->line_number);

    va_start(list, format);
    vsnprintf(text + used, size - (size_t)used, format, list);
    va_end(list);
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *hbg__csv_number(const char *text, double *value)
{
    const char *end = text + strlen(text), *p;
    char *stop;
    double v;

    while (is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (text == end)
        return "is empty where a number is needed";
    p = text + (*text == '-' || *text == '+');
    if ((*p == 'n' || *p == 'N') && strncasecmp(p, "nan", 3) == 0)
        return "is not a finite number";
    if ((*p == 'i' || *p == 'I') && strncasecmp(p, "inf", 3) == 0)
        return "is not a finite number";
    if (strspn(p, "0123456789.eE+-") < (size_t)(end - p))       /* strtod would take hexadecimal ones, too */
        return "is not a number";
    v = strtod(text, &stop);
    if (stop != end)
        return "is not a number";
    if (!isfinite(v))
        return "is too large for a number";
    *value = v;
    return NULL;
}

static bool add_field(struct reader *r, char *field)
{
    if (r->field_count == r->field_capacity) {
        size_t capacity = r->field_capacity ? 2 * r->field_capacity : 8;
        char **more = realloc(r->field, capacity * sizeof *more);
        if (!more)
            return refuse(r, "no memory for its fields");
        r->field = more;
        r->field_capacity = capacity;
    }
    r->field[r->field_count++] = field;
    return true;
}

/* One field in quotes that begins at `*at`; moves `*at` behind it and takes the quotes away in place. */
static bool unquote(struct reader *r, char **at, char **field)
{
    char *from = *at + 1, *to = *at;

    *field = to;
    for (;; from++) {
        if (*from == '\0')
            return refuse(r, "a quote is opened and not closed on the line");
        if (*from == '"') {
            if (from[1] != '"')
                break;
            from++;
        }
        *to++ = *from;
    }
    for (from++; is_blank(*from); from++)
        ;
    if (*from != '\0' && *from != ',')
        return refuse(r, "text follows a closing quote");
    *to = '\0';                         /* two quotes shorter, so this is never the comma */
    *at = from;
    return true;
}

/* Splits the line at its commas, each of which becomes the end of a field. */
static bool split(struct reader *r)
{
    char *at = r->line;

    r->field_count = 0;
    for (;;) {
        char *field, *end;
        bool last;
        while (is_blank(*at))
            at++;
        if (*at == '"') {
            if (!unquote(r, &at, &field))
                return false;
            last = *at == '\0';
        } else {
            field = at;
            at += strcspn(at, ",");
            last = *at == '\0';
            for (end = at; end > field && is_blank(end[-1]); end--)
                ;
            *end = '\0';
        }
        if (!add_field(r, field))
            return false;
        if (last)
            return true;
        *at++ = '\0';
    }
}

/* The next line without its end. 1: there is one; 0: the file's end; -1: refused. */
static int next_line(struct reader *r)
{
    ssize_t length = getline(&r->line, &r->line_capacity, r->file);

    if (length < 0) {
        int why = errno;
        if (feof(r->file))
            return 0;
        r->line_number++;
        refuse(r, "it cannot be read: %s", strerror(why));
        return -1;
    }
    r->line_number++;
    if (strlen(r->line) != (size_t)length) {
        refuse(r, "it holds a zero byte: this is no text file");
        return -1;
    }
    if (length && r->line[length - 1] == '\n')
        r->line[--length] = '\0';
    if (length && r->line[length - 1] == '\r')
        r->line[--length] = '\0';
    return 1;
}

/* "a, b, c": the header's names, cut where they would not fit */
static const char *list_names(const struct reader *r, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < r->field_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", r->field[i]);
    return text;
}

/* the column called `name`, or column `fallback` without a name */
static bool find_column(struct reader *r, const char *name, size_t fallback, size_t *column)
{
    size_t found = 0;
    char names[160];

    if (!*name) {
        *column = fallback;
        if (fallback < r->field_count)
            return true;
        return refuse(r, "the header names one column, and two are needed, separated by a comma");
    }
    for (size_t i = 0; i < r->field_count; i++) {
        if (strcmp(r->field[i], name) == 0) {
            *column = i;
            found++;
        }
    }
    if (found == 1)
        return true;
    if (found)
        return refuse(r, "column `%s` stands %zu times in the header", name, found);
    return refuse(r, "there is no column `%s`; the header names %s", name, list_names(r, names, sizeof names));
}

/* the header's line: where the two columns stand */
static bool read_header(struct reader *r, const char *x_name, const char *y_name, size_t *x, size_t *y)
{
    int status = next_line(r);
    double number;
    size_t numbers = 0;

    if (status < 0)
        return false;
    if (status == 0) {
        r->line_number = 1;
        return refuse(r, "the file is empty; a header and rows of numbers are needed");
    }
    if (strncmp(r->line, "\xef\xbb\xbf", 3) == 0)               /* a byte order mark */
        memmove(r->line, r->line + 3, strlen(r->line + 3) + 1);
    if (!split(r))
        return false;
    for (size_t i = 0; i < r->field_count; i++)
        numbers += hbg__csv_number(r->field[i], &number) == NULL;
    if (numbers == r->field_count)
        return refuse(r, "a header with the columns' names is needed, and this line holds numbers");
    if (!find_column(r, x_name, 0, x) || !find_column(r, y_name, 1, y))
        return false;
    if (*x == *y)
        return refuse(r, "x and y are both column `%s`", r->field[*x]);
    return strcmp(r->field[*x], r->field[*y]) != 0 || refuse(r, "columns %zu and %zu are both called `%s`", *x + 1, *y + 1, r->field[*x]);
}

static bool add_row(struct csv_columns *out, int64_t *capacity, double x, double y)
{
    if (out->rows == *capacity) {
        int64_t more = *capacity ? 2 * *capacity : 256;
        double *xs = realloc(out->x, (size_t)more * sizeof *xs), *ys;
        if (!xs)
            return false;
        out->x = xs;
        ys = realloc(out->y, (size_t)more * sizeof *ys);
        if (!ys)
            return false;
        out->y = ys;
        *capacity = more;
    }
    out->x[out->rows] = x;
    out->y[out->rows++] = y;
    return true;
}

static bool read_rows(struct reader *r, size_t columns, const char *const name[2], const size_t column[2])
{
    int64_t capacity = 0, empty_line = 0;
    int status;

    while ((status = next_line(r)) > 0) {
        double value[2];
        if (r->line[strspn(r->line, " \t")] == '\0') {
            if (!empty_line)
                empty_line = r->line_number;
            continue;
        }
        if (empty_line) {
            r->line_number = empty_line;
            return refuse(r, "it is empty, and rows follow it");
        }
        if (!split(r))
            return false;
        if (r->field_count != columns)
            return refuse(r, "it has %zu field%s where the header has %zu", r->field_count, r->field_count == 1 ? "" : "s", columns);
        for (int i = 0; i < 2; i++) {
            const char *wrong = hbg__csv_number(r->field[column[i]], &value[i]);
            if (wrong)
                return refuse(r, "column `%s`: `%.40s` %s", name[i], r->field[column[i]], wrong);
        }
        if (!add_row(r->out, &capacity, value[0], value[1]))
            return refuse(r, "no memory for the rows");
    }
    if (status < 0)
        return false;
    if (r->out->rows < 2) {
        r->line_number = r->out->rows ? 2 : 1;
        return refuse(r, r->out->rows ? "this is the only row, and at least two are needed" : "no row follows the header, and at least two are needed");
    }
    return true;
}

bool hbg__csv_read(FILE *file, const char *x_name, const char *y_name, struct csv_columns *columns)
{
    struct reader r = { .file = file, .out = columns };
    size_t column[2] = { 0, 0 };
    char *name[2] = { NULL, NULL };
    bool good = false;

    memset(columns, 0, sizeof *columns);
    if (!read_header(&r, x_name, y_name, &column[0], &column[1]))
        goto out_line;
    name[0] = strdup(r.field[column[0]]);
    name[1] = strdup(r.field[column[1]]);
    if (!name[0] || !name[1])
        refuse(&r, "no memory for the columns' names");
    else
        good = read_rows(&r, r.field_count, (const char *const *)name, column);
    free(name[0]);
    free(name[1]);
out_line:
    free(r.field);
    free(r.line);
    if (!good) {
        free(columns->x);
        free(columns->y);
        columns->x = columns->y = NULL;
        columns->rows = 0;
    }
    return good;
}

void hbg__csv_release(struct csv_columns *columns)
{
    free(columns->x);
    free(columns->y);
    columns->x = columns->y = NULL;
    columns->rows = 0;
}
