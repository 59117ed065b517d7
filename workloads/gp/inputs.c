/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp: parameters, the table, the prediction times, the report, and the descriptor.
 */
#include "gp.h"
#include "csv.h"
#include "table_file.h"
#include "workloads/dense/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hbg__gp_covariance_params(struct hbg_setup *s, struct gp_covariance *c)
{
    const struct { const char *name; double *value; bool zero_allowed; } params[] = {
        { "trend_amplitude", &c->trend_amplitude, true }, { "trend_length", &c->trend_length, false },
        { "season_amplitude", &c->season_amplitude, true }, { "season_decay", &c->season_decay, false },
        { "season_width", &c->season_width, false },
        { "medium_amplitude", &c->medium_amplitude, true }, { "medium_length", &c->medium_length, false },
        { "medium_shape", &c->medium_shape, false },
        { "local_amplitude", &c->local_amplitude, true }, { "local_length", &c->local_length, false },
        { "noise", &c->noise, true },
    };

    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        double value = hbg_setup_f64(s, params[i].name);
        if (!(value > 0.0) && !(params[i].zero_allowed && value == 0.0)) {
            char text[96];
            snprintf(text, sizeof text, "%s must %s", params[i].name, params[i].zero_allowed ? "not be negative" : "be above zero");
            return hbg_setup_fail(s, text);
        }
        *params[i].value = value;
    }
    return 0;
}

/* how many elements the vector in a tensor's file has; -1 where none is given */
static int64_t given_vector(struct hbg_setup *s, const char *name)
{
    struct hbg_shape shape;

    if (!hbg_setup_given(s, name, &shape))
        return -1;
    return shape.rank == 1 ? shape.dim[0] : 0;  /* what is no vector does not fit one of 0 elements */
}

/* "1998.0,1998.5,..": the tensor t */
static int prediction_list(struct hbg_setup *s)
{
    char *list = strdup(hbg_setup_text(s, "predict")), *rest = list, *entry, text[160];
    int64_t count = 1;
    double *t;
    int status = 0;

    if (!list)
        return hbg_setup_fail(s, "no memory for the prediction times");
    for (const char *p = list; *p; p++)
        count += *p == ',';
    t = hbg_setup_tensor(s, "t", HBG_ARG_IN, HBG_F64, HBG_SHAPE(count));
    for (int64_t i = 0; t && status == 0 && (entry = strsep(&rest, ",")); i++) {
        const char *wrong = hbg__csv_number(entry, &t[i]);
        if (wrong) {
            snprintf(text, sizeof text, "predict: entry %lld, `%.40s`, %s", (long long)i + 1, entry, wrong);
            status = hbg_setup_fail(s, text);
        }
    }
    free(list);
    return t ? status : -1;
}

/* the tensor t, from the list or from a file, and the two results of its size */
static int prediction_times(struct hbg_setup *s)
{
    int64_t count = given_vector(s, "t");

    if (count < 0 ? prediction_list(s) != 0 : !hbg_setup_tensor(s, "t", HBG_ARG_IN, HBG_F64, HBG_SHAPE(count)))
        return -1;
    count = hbg_setup_count(s, "t");
    if (!hbg_setup_tensor(s, "prediction", HBG_ARG_OUT, HBG_F64, HBG_SHAPE(count))
        || !hbg_setup_tensor(s, "deviation", HBG_ARG_OUT, HBG_F64, HBG_SHAPE(count)))
        return -1;
    return 0;
}

/* the tensors times and values, both from files: no table is needed */
static int given_columns(struct hbg_setup *s, int64_t rows)
{
    double *times = hbg_setup_tensor(s, "times", HBG_ARG_IN, HBG_F64, HBG_SHAPE(rows));
    double *values = hbg_setup_tensor(s, "values", HBG_ARG_IN, HBG_F64, HBG_SHAPE(rows));

    if (!times || !values)
        return -1;
    return rows < 2 ? hbg_setup_fail(s, "tensor times has fewer than the two values that are needed") : 0;
}

/* the tensors times and values from the table; a file of the same size may stand for one of them */
static int table(struct hbg_setup *s)
{
    const char *name = hbg_setup_text(s, "data");
    struct csv_columns columns;
    char text[512];
    double *x, *y;
    FILE *file = hbg__table_open(name, text, sizeof text);
    bool good;

    if (!file)
        return hbg_setup_fail(s, text);
    good = hbg__csv_read(file, hbg_setup_text(s, "x"), hbg_setup_text(s, "y"), &columns);
    fclose(file);
    if (!good) {
        snprintf(text, sizeof text, "%.180s: %s", name, columns.error);
        return hbg_setup_fail(s, text);
    }
    x = hbg_setup_tensor(s, "times", HBG_ARG_IN, HBG_F64, HBG_SHAPE(columns.rows));
    y = hbg_setup_tensor(s, "values", HBG_ARG_IN, HBG_F64, HBG_SHAPE(columns.rows));
    if (x && y) {
        memcpy(x, columns.x, (size_t)columns.rows * sizeof *x);
        memcpy(y, columns.y, (size_t)columns.rows * sizeof *y);
    }
    hbg__csv_release(&columns);
    return x && y ? 0 : -1;
}

int hbg__gp_inputs(struct hbg_setup *s)
{
    struct gp_params params;
    int64_t rows = given_vector(s, "times");
    int status;

    memset(&params, 0, sizeof params);
    status = hbg__workload_param(s, "tile", 1, WORKLOAD_TILE_MOST, &params.tile);
    if (!status)
        status = hbg__gp_covariance_params(s, &params.covariance);
    if (!status)
        status = rows >= 0 && hbg_setup_given(s, "values", NULL) ? given_columns(s, rows) : table(s);
    if (!status)
        status = prediction_times(s);
    if (status)
        return status;
    if (!hbg_setup_tensor(s, "likelihood", HBG_ARG_OUT, HBG_F64, HBG_SHAPE(1)))
        return -1;
    hbg_setup_params(s, &params, sizeof params);
    hbg__dense_prepare();
    return 0;
}

int hbg__gp_report(struct hbg_setup *s)
{
    static const char *const columns[] = { "time", "mean", "deviation" };
    const double *t = hbg_setup_input(s, "t"), *prediction = hbg_setup_result(s, "prediction");
    const double *deviation = hbg_setup_result(s, "deviation"), *likelihood = hbg_setup_result(s, "likelihood");
    int64_t count = hbg_setup_count(s, "t");
    double *cells;

    if (!t || !prediction || !deviation || !likelihood)
        return -1;
    cells = malloc((size_t)count * 3 * sizeof *cells);
    if (!cells)
        return hbg_setup_fail(s, "no memory for the table of predictions");
    for (int64_t i = 0; i < count; i++) {
        cells[3 * i] = t[i];
        cells[3 * i + 1] = prediction[i];
        cells[3 * i + 2] = deviation[i];
    }
    hbg_setup_value(s, "n", (double)hbg_setup_count(s, "times"));
    hbg_setup_value(s, "log_marginal_likelihood", *likelihood);
    hbg_setup_table(s, columns, 3, cells, (size_t)count);
    free(cells);
    return 0;
}

static const char *const params[] = {
    "data=mauna_loa_co2.csv  a table with a header line, comma-separated",
    "x=  name of its column of times; empty: the first",
    "y=  name of its column of values; empty: the second",
    "tile=64  edge of a tile of the covariance",
    "predict=1998.0,1998.5,1999.0,1999.5,2000.0,2000.5,2001.0,2001.5,2002.0,2002.5  times to predict, separated by commas",
    "trend_amplitude=66.0  of the smooth trend",
    "trend_length=67.0  in units of x",
    "season_amplitude=2.4  of the season, whose period is 1",
    "season_decay=90.0  over which the shape of the season drifts",
    "season_width=1.3  how smooth a season is",
    "medium_amplitude=0.66  of the medium-term term",
    "medium_length=1.2  in units of x",
    "medium_shape=0.78  of the rational quadratic",
    "local_amplitude=0.18  of the local term",
    "local_length=0.134  in units of x",
    "noise=0.19  standard deviation of one value",
    NULL,
};

const struct hbg_workload hbg__gp_workload = {
    WORKLOAD_PARTS(gp, GP_KERNEL_COUNT),
    .doc = "Gaussian-process regression on a table of times and values; predicts at given times",
    .abs_tolerance = 1e-7,
    .rel_tolerance = 1e-8,
    .pure_build = true,
    .report = hbg__gp_report,
};
