/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors: loaded from files, and looked at before anything of them is used.
 *
 * A file is loaded with all its symbols resolved at once, so that a function that is missing is told of here and not in a kernel.
 * Nothing of it is looked at before its size and its ABI are known to be what this command was built for.
 */
#include "descriptor.h"

#include "cli.h"
#include "crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define EXPORTED "hbg_workload"

/* ---- is it one? ---- */

bool hbg__param_read(const char *text, struct param_text *param)
{
    const char *equals = strchr(text, '='), *end;

    if (!equals || equals == text || strcspn(text, " \t") < (size_t)(equals - text))
        return false;
    end = equals + 1 + strcspn(equals + 1, " \t");
    *param = (struct param_text){ .name = text, .usual = equals + 1, .help = end + strspn(end, " \t"),
                                  .name_length = (size_t)(equals - text), .usual_length = (size_t)(end - equals - 1) };
    return true;
}

/* a part that every workload needs and this one lacks, or NULL */
static const char *missing_part(const struct hbg_workload *w)
{
    if (!w->name || !*w->name) return "name";
    if (!w->doc) return "doc";
    if (!w->inputs) return "inputs";
    if (!w->build) return "build";
    return w->kernel_count && !w->kernels ? "kernels" : NULL;
}

/* Is a byte set behind those that this command knows? */
static bool sets_more(const struct hbg_workload *w)
{
    const unsigned char *byte = (const unsigned char *)w;

    for (size_t i = sizeof *w; i < w->size; i++)
        if (byte[i])
            return true;
    return false;
}

/* why a parameter is no good, or NULL */
static const char *params_refusal(const struct hbg_workload *w, char *text, size_t text_size)
{
    for (size_t i = 0; w->params && w->params[i]; i++) {
        struct param_text param, other;
        if (!hbg__param_read(w->params[i], &param)) {
            snprintf(text, text_size, "its parameter `%.64s` is not written name=default, or name=default and, behind a blank, its help", w->params[i]);
            return text;
        }
        for (size_t k = 0; k < i; k++) {
            hbg__param_read(w->params[k], &other);
            if (param.name_length != other.name_length || strncmp(param.name, other.name, param.name_length) != 0)
                continue;
            snprintf(text, text_size, "its descriptor has two parameters `%.*s`", (int)param.name_length, param.name);
            return text;
        }
    }
    return NULL;
}

const char *hbg__descriptor_refusal(const struct hbg_workload *w, char *text, size_t text_size)
{
    enum { MOST = 4096 };
    const size_t least = offsetof(struct hbg_workload, rel_tolerance) + sizeof w->rel_tolerance;
    const char *missing;

    if (w->size < least || w->size > MOST)
        snprintf(text, text_size, "its descriptor says that it has %zu bytes; one has %zu to %d: `.size = sizeof(struct hbg_workload)`", w->size, least, MOST);
    else if (!w->abi)
        snprintf(text, text_size, "its descriptor has no ABI: `.abi = HBG_WORKLOAD_ABI`");
    else if (strcmp(w->abi, HBG_WORKLOAD_ABI) != 0)
        snprintf(text, text_size, "its descriptor is of ABI `%.64s`, this command takes `%s`: build it with the headers of hbg %s", w->abi,
                 HBG_WORKLOAD_ABI, hbg_version());
    else if ((missing = missing_part(w)))
        snprintf(text, text_size, "its descriptor lacks `%s`", missing);
    else if (sets_more(w))
        snprintf(text, text_size, "its descriptor sets members that this command does not know: it was built with newer headers than those of hbg %s",
                 hbg_version());
    else
        return params_refusal(w, text, text_size);
    return text;
}

/* ---- in a file ---- */

bool hbg__descriptor_is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

/* why there is no file to load, or NULL; the loader would wait for ever at a pipe */
static const char *why_no_file(const char *path)
{
    struct stat there;

    if (stat(path, &there) != 0)
        return strerror(errno);
    return S_ISREG(there.st_mode) ? NULL : S_ISDIR(there.st_mode) ? strerror(EISDIR) : "it is no regular file";
}

static const struct hbg_workload *refused(const char *command, const char *path, const char *why)
{
    size_t length = strlen(path);

    if (strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0)
        why += length + 2;                              /* the loader begins with the path, too */
    hbg__cli_error(command, "`%s` cannot be loaded: %s", path, why);
    return NULL;
}

const struct hbg_workload *hbg__descriptor_load(const char *command, const char *name)
{
    const struct hbg_workload *workload;
    char path[4096], text[320];
    const char *why;
    void *file;

    snprintf(path, sizeof path, "%s%s", strchr(name, '/') ? "" : "./", name);      /* never from the loader's folders */
    why = strlen(name) + 3 > sizeof path ? strerror(ENAMETOOLONG) : why_no_file(path);
    if (why)
        return refused(command, name, why);
    hbg__crash_watch(command, name, NULL);
    file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        return refused(command, path, dlerror());
    workload = dlsym(file, EXPORTED);
    if (!workload)
        return refused(command, name, "it exports no `" EXPORTED "`: a workload is defined by HBG_WORKLOAD = { .. }; at file level");
    why = hbg__descriptor_refusal(workload, text, sizeof text);
    return why ? refused(command, name, why) : workload;
}
