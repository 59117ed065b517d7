/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg_setup_*: what a workload calls while it declares its inputs, gives its reference and reports.
 *
 * The functions are exported by the command, where workloads find them. setup.h draws what they fill.
 */
#include "setup.h"

#include "cli.h"
#include "crash.h"
#include "descriptor.h"
#include "tensor_file.h"

#include <ctype.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hbg__setup_fail(struct hbg_setup *s, bool misused, const char *format, ...)
{
    if (!s->failed) {
        va_list list;
        va_start(list, format);
        vsnprintf(s->text, sizeof s->text, format, list);
        va_end(list);
        s->failed = true;
        s->misused = misused;
    }
    return -1;
}

int hbg_setup_fail(struct hbg_setup *s, const char *text)
{
    return hbg__setup_fail(s, true, "%s", text && *text ? text : "it gave up without a reason");
}

/* ---- parameters ---- */

static struct setup_param *find_param(struct hbg_setup *s, const char *name, size_t length)
{
    for (size_t i = 0; i < s->param_count; i++)
        if (strncmp(s->param[i].name, name, length) == 0 && s->param[i].name[length] == '\0')
            return &s->param[i];
    return NULL;
}

bool hbg__setup_assign(struct hbg_setup *s, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    struct setup_param *param;
    char *value;

    if (!equals || equals == assignment) {
        hbg__setup_fail(s, true, "`%s` is no parameter: name=value is needed", assignment);
        return false;
    }
    param = find_param(s, assignment, (size_t)(equals - assignment));
    if (!param && strlen(equals) > 5 && strcmp(equals + strlen(equals) - 4, ".npy") == 0)
        return hbg__given_add(s, assignment, equals);
    if (!param) {
        char name[64], hint[128];
        const char *names[64];
        size_t count = 0;
        const char *dot = strrchr(equals, '.');
        bool is_path = strchr(equals, '/') || (dot && isalpha((unsigned char)dot[1]));
        snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
        for (; count < s->param_count && count < 64; count++)
            names[count] = s->param[count].name;
        hbg__setup_fail(s, true, "workload %s has no parameter `%s`%s%s", s->workload.name, name,
                        hbg__cli_hint(name, names, count, hint, sizeof hint), is_path ? "; a tensor takes a file whose name ends in .npy" : "");
        return false;
    }
    if (param->given) {
        hbg__setup_fail(s, true, "parameter %s is given twice", param->name);
        return false;
    }
    param->given = true;
    value = strdup(equals + 1);
    if (!value) {
        hbg__setup_fail(s, false, "no memory for a parameter");
        return false;
    }
    free(param->value);
    param->value = value;
    return true;
}

bool hbg_setup_given(struct hbg_setup *s, const char *name, struct hbg_shape *shape)
{
    const struct setup_param *param = find_param(s, name, strlen(name));

    if (!param)
        return hbg__given_find(s, name, shape);
    if (shape)
        shape->rank = 0;
    return param->given;
}

const char *hbg_setup_text(struct hbg_setup *s, const char *name)
{
    struct setup_param *param = find_param(s, name, strlen(name));

    if (!param) {
        hbg__setup_fail(s, false, "the workload asks for a parameter `%s` that its descriptor does not name", name);
        return "";
    }
    return param->value;
}

int64_t hbg_setup_i64(struct hbg_setup *s, const char *name)
{
    const char *text = hbg_setup_text(s, name), *wrong;
    int64_t value = 0;

    wrong = s->failed ? NULL : hbg__cli_i64(text, &value);
    if (wrong)
        hbg__setup_fail(s, true, "parameter %s: `%.64s` %s", name, text, wrong);
    return value;
}

double hbg_setup_f64(struct hbg_setup *s, const char *name)
{
    const char *text = hbg_setup_text(s, name), *wrong;
    double value = 0.0;

    wrong = s->failed ? NULL : hbg__cli_f64(text, &value);
    if (wrong)
        hbg__setup_fail(s, true, "parameter %s: `%.64s` %s", name, text, wrong);
    return value;
}

uint64_t hbg_setup_random(struct hbg_setup *s)
{
    s->random_drawn++;
    return hbg__rng_next(&s->random);
}

/* ---- the boundary ---- */

void *hbg__setup_alloc(size_t size_bytes)
{
    size_t rounded = (size_bytes + 63) / 64 * 64;
    void *data;

    if (rounded < size_bytes)
        return NULL;
    data = aligned_alloc(64, rounded ? rounded : 64);
    if (data)
        memset(data, 0, rounded ? rounded : 64);
    return data;
}

static bool grow_boundary(struct hbg_setup *s)
{
    size_t room = s->boundary_room ? 2 * s->boundary_room : 16;
    struct setup_tensor *tensor = realloc(s->tensor, room * sizeof *tensor);
    struct hbg_arg *arg;

    if (tensor)
        s->tensor = tensor;
    arg = realloc(s->arg, room * sizeof *arg);
    if (arg)
        s->arg = arg;
    if (!tensor || !arg)
        return false;
    s->boundary_room = room;
    return true;
}

/* a zeroed place at the boundary's end, or NULL with a failure latched */
static struct setup_tensor *add_position(struct hbg_setup *s)
{
    struct setup_tensor *tensor;
    struct hbg_arg *arg;

    if (s->boundary_count == s->boundary_room && !grow_boundary(s)) {
        hbg__setup_fail(s, false, "no memory for the boundary");
        return NULL;
    }
    tensor = &s->tensor[s->boundary_count];
    arg = &s->arg[s->boundary_count++];
    memset(tensor, 0, sizeof *tensor);
    memset(arg, 0, sizeof *arg);
    return tensor;
}

/* element count and bytes of a tensor: false where they do not fit into the address space */
static bool measure(struct setup_tensor *t)
{
    int64_t element = hbg_dtype_size(t->dtype), size;

    t->count = 1;
    for (int i = 0; i < t->shape.rank; i++)
        if (t->shape.dim[i] < 0 || __builtin_mul_overflow(t->count, t->shape.dim[i], &t->count))
            return false;
    if (__builtin_mul_overflow(t->count, element, &size) || size > PTRDIFF_MAX - 64)
        return false;
    t->size_bytes = (size_t)size;
    return true;
}

void *hbg_setup_tensor(struct hbg_setup *s, const char *name, enum hbg_arg_kind access, enum hbg_dtype dtype, struct hbg_shape shape)
{
    struct setup_tensor *t;
    struct hbg_arg *arg;

    if (s->failed)
        return NULL;
    if (access != HBG_ARG_IN && access != HBG_ARG_OUT && access != HBG_ARG_INOUT) {
        hbg__setup_fail(s, false, "tensor %s: access must be in, out or inout", name);
        return NULL;
    }
    if (hbg_dtype_size(dtype) <= 0 || shape.rank < 0 || shape.rank > HBG_RANK_MAX) {
        hbg__setup_fail(s, false, "tensor %s: its dtype or rank is unknown", name);
        return NULL;
    }
    if (hbg__setup_find_tensor(s, name)) {
        hbg__setup_fail(s, false, "tensor %s is declared twice", name);
        return NULL;
    }
    t = add_position(s);
    if (!t)
        return NULL;
    t->access = access;
    t->dtype = dtype;
    t->shape = shape;
    t->abs_tolerance = s->workload.abs_tolerance;
    if (!measure(t)) {
        hbg__setup_fail(s, true, "tensor %s is larger than the address space", name);
        return NULL;
    }
    t->data = hbg__setup_alloc(t->size_bytes);
    t->name = strdup(name);
    if (!t->data || !t->name || !hbg__name_table_add(&s->tensor_names, t->name, s->boundary_count - 1)) {
        hbg__setup_fail(s, false, "no memory for tensor %s, %zu bytes", name, t->size_bytes);
        return NULL;
    }
    if (!hbg__given_take(s, t))
        return NULL;
    arg = &s->arg[s->boundary_count - 1];
    if (access == HBG_ARG_IN)
        *arg = hbg_in(hbg_host_const(t->data, dtype, shape));
    else
        *arg = access == HBG_ARG_OUT ? hbg_out(hbg_host(t->data, dtype, shape)) : hbg_inout(hbg_host(t->data, dtype, shape));
    return t->data;
}

void hbg_setup_scalar(struct hbg_setup *s, const char *name, struct hbg_arg scalar)
{
    if (s->failed)
        return;
    if (scalar.kind != HBG_ARG_SCALAR)
        hbg__setup_fail(s, false, "scalar %s is no scalar", name);
    else if (add_position(s))
        s->arg[s->boundary_count - 1] = scalar;
}

void hbg_setup_params(struct hbg_setup *s, const void *params, size_t size_bytes)
{
    void *copy = malloc(size_bytes ? size_bytes : 1);

    if (!copy) {
        hbg__setup_fail(s, false, "no memory for the build function's parameters");
        return;
    }
    memcpy(copy, params, size_bytes);
    free(s->params);
    s->params = copy;
    s->params_size = size_bytes;
}

void hbg_setup_kernels(struct hbg_setup *s, const struct hbg_kernel *kernels, size_t count)
{
    if (!kernels)
        hbg__setup_fail(s, false, "the workload changes its kernels, and names none");
    if (s->failed)
        return;
    s->workload.kernels = kernels;
    s->workload.kernel_count = count;
    hbg__crash_kernels(kernels, count);
}

struct setup_tensor *hbg__setup_find_tensor(struct hbg_setup *s, const char *name)
{
    size_t at;

    return hbg__name_table_find(&s->tensor_names, name, &at) ? &s->tensor[at] : NULL;
}

/* the tensor, or NULL with a failure latched */
static struct setup_tensor *need_tensor(struct hbg_setup *s, const char *name)
{
    struct setup_tensor *t = hbg__setup_find_tensor(s, name);

    if (!t)
        hbg__setup_fail(s, false, "the workload asks for a tensor `%s` that its inputs did not declare", name);
    return t;
}

int64_t hbg_setup_count(struct hbg_setup *s, const char *name)
{
    struct setup_tensor *t = need_tensor(s, name);
    return t ? t->count : 0;
}

const void *hbg_setup_input(struct hbg_setup *s, const char *name)
{
    struct setup_tensor *t = need_tensor(s, name);

    if (!t)
        return NULL;
    if (t->access == HBG_ARG_OUT) {
        hbg__setup_fail(s, false, "tensor %s is `out`: the run is given nothing in it", name);
        return NULL;
    }
    return t->input ? t->input : t->data;
}

const void *hbg_setup_result(struct hbg_setup *s, const char *name)
{
    struct setup_tensor *t = need_tensor(s, name);
    return t ? t->data : NULL;
}

void *hbg_setup_expected(struct hbg_setup *s, const char *name)
{
    struct setup_tensor *t = need_tensor(s, name);

    if (!t)
        return NULL;
    if (!setup_is_result(t)) {
        hbg__setup_fail(s, false, "tensor %s is `in`: no run writes it", name);
        return NULL;
    }
    if (!t->expected)
        t->expected = hbg__setup_alloc(t->size_bytes);
    if (!t->expected)
        hbg__setup_fail(s, false, "no memory for the expected copy of tensor %s, %zu bytes", name, t->size_bytes);
    return t->expected;
}

void hbg_setup_tolerance(struct hbg_setup *s, const char *name, double abs_tolerance)
{
    struct setup_tensor *t = need_tensor(s, name);

    if (!t)
        return;
    if (!setup_is_result(t))
        hbg__setup_fail(s, false, "tensor %s is `in`: it has no tolerance", name);
    else if (!(abs_tolerance >= 0.0 && abs_tolerance <= DBL_MAX))
        hbg__setup_fail(s, false, "tensor %s: its inputs are too large, or no numbers: how far a right result may be off cannot be told", name);
    else
        t->abs_tolerance = abs_tolerance;
}

bool hbg__setup_keep_inputs(struct hbg_setup *s)
{
    for (size_t i = 0; i < s->boundary_count; i++) {
        struct setup_tensor *t = &s->tensor[i];
        if (!t->name || t->access != HBG_ARG_INOUT)
            continue;
        t->input = hbg__setup_alloc(t->size_bytes);
        if (!t->input) {
            hbg__setup_fail(s, false, "no memory for a copy of tensor %s, %zu bytes", t->name, t->size_bytes);
            return false;
        }
        memcpy(t->input, t->data, t->size_bytes);
    }
    return true;
}

void hbg__setup_rewind(struct hbg_setup *s)
{
    for (size_t i = 0; i < s->boundary_count; i++) {
        struct setup_tensor *t = &s->tensor[i];
        if (!setup_is_result(t))
            continue;
        if (t->access == HBG_ARG_OUT)
            memset(t->data, 0xaa, t->size_bytes);
        else
            memcpy(t->data, t->input, t->size_bytes);
    }
}

/* ---- report ---- */

void hbg_setup_value(struct hbg_setup *s, const char *name, double value)
{
    struct setup_value *more = realloc(s->value, (s->value_count + 1) * sizeof *more);

    if (more)
        s->value = more;
    if (!more || !(more[s->value_count].name = strdup(name))) {
        hbg__setup_fail(s, false, "no memory for the report");
        return;
    }
    more[s->value_count++].value = value;
}

static void drop_table(struct hbg_setup *s)
{
    for (size_t i = 0; i < s->column_count; i++)
        free(s->column[i]);
    free(s->column);
    free(s->cell);
    s->column = NULL;
    s->cell = NULL;
    s->column_count = s->row_count = 0;
}

void hbg_setup_table(struct hbg_setup *s, const char *const *columns, size_t column_count, const double *cells, size_t row_count)
{
    drop_table(s);
    s->column = calloc(column_count ? column_count : 1, sizeof *s->column);
    bool fits = column_count == 0 || row_count < SIZE_MAX / sizeof *s->cell / column_count;
    s->cell = fits ? calloc(column_count * row_count + 1, sizeof *s->cell) : NULL;
    if (!s->column || !s->cell) {
        hbg__setup_fail(s, false, "no memory for the report's table");
        return;
    }
    for (; s->column_count < column_count; s->column_count++) {
        s->column[s->column_count] = strdup(columns[s->column_count]);
        if (!s->column[s->column_count]) {
            hbg__setup_fail(s, false, "no memory for the report's table");
            return;
        }
    }
    memcpy(s->cell, cells, column_count * row_count * sizeof *cells);
    s->row_count = row_count;
}

/* ---- life ---- */

static bool add_default(struct hbg_setup *s, const char *text)
{
    struct setup_param *more = realloc(s->param, (s->param_count + 1) * sizeof *more);
    struct param_text param;

    if (!more || !hbg__param_read(text, &param))
        return false;
    s->param = more;
    more += s->param_count++;
    *more = (struct setup_param){ .name = strndup(param.name, param.name_length), .usual = strndup(param.usual, param.usual_length),
                                  .value = strndup(param.usual, param.usual_length) };
    return more->name && more->usual && more->value;
}

struct hbg_setup *hbg__setup_create(const struct hbg_workload *workload, uint64_t seed, char *text, size_t text_size)
{
    struct hbg_setup *s;
    bool good = true;

    if (hbg__descriptor_refusal(workload, text, text_size))
        return NULL;
    s = calloc(1, sizeof *s);
    if (s) {
        memcpy(&s->workload, workload, workload->size < sizeof *workload ? workload->size : sizeof *workload);
        s->seed = seed;
        hbg__rng_seed(&s->random, seed);
        for (size_t i = 0; good && workload->params && workload->params[i]; i++)
            good = add_default(s, workload->params[i]);
    }
    if (!s || !good) {
        snprintf(text, text_size, "no memory for its parameters");
        hbg__setup_destroy(s);
        return NULL;
    }
    return s;
}

void hbg__setup_destroy(struct hbg_setup *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->param_count; i++) {
        free(s->param[i].name);
        free(s->param[i].usual);
        free(s->param[i].value);
    }
    for (size_t i = 0; i < s->given_count; i++) {
        free(s->given[i].name);
        hbg__npy_close(&s->given[i].file);
    }
    free(s->given);
    for (size_t i = 0; i < s->boundary_count; i++) {
        free(s->tensor[i].name);
        free(s->tensor[i].data);
        free(s->tensor[i].input);
        free(s->tensor[i].expected);
        free(s->tensor[i].first);
    }
    for (size_t i = 0; i < s->value_count; i++)
        free(s->value[i].name);
    drop_table(s);
    hbg__name_table_free(&s->tensor_names);
    free(s->value);
    free(s->param);
    free(s->tensor);
    free(s->arg);
    free(s->params);
    free(s);
}
