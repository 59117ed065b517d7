/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors of a workload as .npy files.
 */
#include "tensor_file.h"

#include "cli.h"
#include "npy.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 64 };

/* names of all tensors, for hints */
static size_t tensor_names(const struct hbg_setup *s, const char **names)
{
    size_t count = 0;

    for (size_t i = 0; i < s->boundary_count && count < NAMES_MOST; i++)
        if (s->tensor[i].name)
            names[count++] = s->tensor[i].name;
    return count;
}

static void unknown_tensor(const struct hbg_setup *s, const char *name, char *text, size_t text_size)
{
    const char *names[NAMES_MOST];
    char hint[256];

    snprintf(text, text_size, "workload %s has no tensor `%.64s`%s", s->workload.name, name,
             hbg__cli_hint(name, names, tensor_names(s, names), hint, sizeof hint));
}

/* ---- input ---- */

static struct setup_given *find_given(struct hbg_setup *s, const char *name)
{
    for (size_t i = 0; i < s->given_count; i++)
        if (strcmp(s->given[i].name, name) == 0)
            return &s->given[i];
    return NULL;
}

bool hbg__given_add(struct hbg_setup *s, const char *assignment, const char *equals)
{
    char *name = strndup(assignment, (size_t)(equals - assignment)), text[480];
    struct setup_given *more = realloc(s->given, (s->given_count + 1) * sizeof *more);

    if (more)
        s->given = more;
    if (!name || !more)
        hbg__setup_fail(s, false, "no memory for the tensors that are given");
    else if (find_given(s, name))
        hbg__setup_fail(s, true, "tensor %.64s is given twice", name);
    else if (!hbg__npy_open(&more[s->given_count].file, equals + 1, text, sizeof text))
        hbg__setup_fail(s, true, "tensor %.64s: %s", name, text);
    if (s->failed) {
        free(name);
        return false;
    }
    more[s->given_count++].name = name;
    return true;
}

bool hbg__given_find(struct hbg_setup *s, const char *name, struct hbg_shape *shape)
{
    const struct setup_given *given = find_given(s, name);

    if (given && shape)
        *shape = given->file.npy.shape;
    return given != NULL;
}

static bool same_shape(const struct hbg_shape *a, const struct hbg_shape *b)
{
    for (int i = 0; i < a->rank && a->rank == b->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return a->rank == b->rank;
}

bool hbg__given_take(struct hbg_setup *s, const struct setup_tensor *t)
{
    const struct setup_given *given = find_given(s, t->name);
    const struct npy *npy = given ? &given->file.npy : NULL;
    char text[480], shape[160], needed[160];

    if (!given)
        return true;
    if (t->access == HBG_ARG_OUT)
        hbg__setup_fail(s, true, "tensor %s is a result: it cannot be given", t->name);
    else if (!hbg__npy_holds(npy, t->dtype))
        hbg__setup_fail(s, true, "tensor %s: `%.200s` holds %s where %s%s is needed", t->name, given->file.path, npy->descr,
                        hbg__npy_descr(t->dtype, text, sizeof text), t->dtype == HBG_BF16 ? " or V2, the bits of bf16," : "");
    else if (!same_shape(&npy->shape, &t->shape))
        hbg__setup_fail(s, true, "tensor %s: `%.200s` has the shape %s where %s is needed", t->name, given->file.path,
                        hbg__npy_shape(&npy->shape, shape), hbg__npy_shape(&t->shape, needed));
    else if (!hbg__npy_load(&given->file, t->data, text, sizeof text))
        hbg__setup_fail(s, false, "tensor %s: %s", t->name, text);
    return !s->failed;
}

bool hbg__given_load(struct hbg_setup *s)
{
    char text[480];

    for (size_t i = 0; i < s->given_count; i++) {
        struct setup_given *given = &s->given[i];
        struct setup_tensor *t = hbg__setup_find_tensor(s, given->name);
        if (!t)
            unknown_tensor(s, given->name, text, sizeof text);
        else if (hbg__npy_load(&given->file, t->data, text, sizeof text))
            continue;
        hbg__setup_fail(s, !t, "%s", text);
        return false;
    }
    return true;
}

/* ---- output ---- */

/* "NAME=FILE", cut in two */
static bool take_one(struct tensor_output *o, struct hbg_setup *s, char *entry, bool *misused, char *text, size_t text_size)
{
    char *equals = strchr(entry, '=');
    int why;

    if (!equals || equals == entry || !equals[1]) {
        snprintf(text, text_size, "--out-npy: `%.64s` is not written NAME=FILE", entry);
        return false;
    }
    *equals = '\0';
    if (strcmp(equals + 1, "-") == 0) {
        snprintf(text, text_size, "--out-npy: tensor %.64s needs a file, standard output will not do", entry);
        return false;
    }
    o->path = equals + 1;
    o->tensor = hbg__setup_find_tensor(s, entry);
    if (!o->tensor) {
        unknown_tensor(s, entry, text, text_size);
        return false;
    }
    why = hbg__replace_check(o->path);
    if (!why)
        return true;
    snprintf(text, text_size, "`%.200s` cannot be written: %s", o->path, strerror(why));
    *misused = false;
    return false;
}

bool hbg__tensor_outputs_take(struct tensor_outputs *o, struct hbg_setup *s, const char *list, bool *misused, char *text, size_t text_size)
{
    size_t most = 1;
    char *rest, *entry;

    *o = (struct tensor_outputs){ 0 };
    *misused = true;
    if (!list)
        return true;
    for (const char *c = list; *c; c++)
        most += *c == ',';
    o->list = rest = strdup(list);
    o->output = calloc(most, sizeof *o->output);
    if (!o->list || !o->output) {
        snprintf(text, text_size, "no memory for the names of the tensors");
        *misused = false;
        return false;
    }
    while ((entry = strsep(&rest, ","))) {
        if (!take_one(&o->output[o->count], s, entry, misused, text, text_size))
            return false;
        o->count++;
    }
    return true;
}

/* 0, or why not: no more than a whole file that is not in its place yet */
static int write_tensor(struct tensor_output *o)
{
    const struct setup_tensor *t = o->tensor;
    unsigned char header[NPY_WRITTEN_MOST];
    size_t size = hbg__npy_header(t->dtype, &t->shape, header);
    int why = hbg__replace_open(&o->file, o->path);

    if (why)
        return why;
    hbg__replace_write(&o->file, header, size);
    hbg__replace_write(&o->file, t->data, t->size_bytes);
    return hbg__replace_end(&o->file);
}

bool hbg__tensor_outputs_write(struct tensor_outputs *o, char *text, size_t text_size)
{
    size_t i = 0;
    int why = 0;

    for (; i < o->count && !why; i++)
        why = write_tensor(&o->output[i]);
    if (!why)
        for (i = 0; i < o->count && !why; i++)
            why = hbg__replace_commit(&o->output[i].file);
    if (why)
        snprintf(text, text_size, "`%.200s` was not written whole: %s", o->output[i - 1].path, strerror(why));
    return !why;
}

void hbg__tensor_outputs_release(struct tensor_outputs *o)
{
    for (size_t i = 0; i < o->count; i++)
        hbg__replace_drop(&o->output[i].file);
    free(o->output);
    free(o->list);
}
