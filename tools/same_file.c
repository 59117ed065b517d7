/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which names of a command line are one file.
 */
#include "same_file.h"

#include "cli.h"
#include "replace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* a file that is not there yet: its folder, and its name in it */
static void identify_new(struct named_files *f, struct named_file *file)
{
    char *target = hbg__replace_target(file->path), *slash = target ? strrchr(target, '/') : NULL;
    struct stat folder;

    if (!target)
        return;
    file->name = strdup(slash ? slash + 1 : target);
    f->no_memory = f->no_memory || !file->name;
    if (slash)
        slash[1] = '\0';
    file->comparable = file->name && stat(slash ? target : ".", &folder) == 0;
    if (file->comparable) {
        file->device = folder.st_dev;
        file->inode = folder.st_ino;
    }
    free(target);
}

static void identify(struct named_files *f, struct named_file *file)
{
    bool standard = file->output && strcmp(file->path, "-") == 0;
    struct stat there;

    if ((standard ? fstat(STDOUT_FILENO, &there) : stat(file->path, &there)) != 0) {
        if (file->output && !standard)
            identify_new(f, file);
        return;
    }
    file->there = true;
    file->comparable = !S_ISCHR(there.st_mode) && (file->output || S_ISREG(there.st_mode));
    file->device = there.st_dev;
    file->inode = there.st_ino;
}

static void add(struct named_files *f, bool output, const char *what, const char *name, const char *path)
{
    struct named_file *file = realloc(f->file, (f->count + 1) * sizeof *file);
    size_t size = strlen(what) + (name ? strlen(name) : 0) + 2;

    if (file)
        f->file = file;
    if (!file || !(f->file[f->count].label = malloc(size))) {
        f->no_memory = true;
        return;
    }
    file = &f->file[f->count++];
    *file = (struct named_file){ .label = file->label, .path = path, .output = output };
    snprintf(file->label, size, "%s%s%s", what, name ? " " : "", name ? name : "");
    identify(f, file);
}

void hbg__named_output(struct named_files *f, const char *option, const char *name, const char *path)
{
    if (path)
        add(f, true, option, name, path);
}

void hbg__named_output_list(struct named_files *f, const char *option, char *list)
{
    char *entry, *equals;

    while ((entry = strsep(&list, ","))) {
        equals = strchr(entry, '=');
        if (!equals || !equals[1])
            continue;
        *equals = '\0';
        hbg__named_output(f, option, entry, equals + 1);
    }
}

void hbg__named_input(struct named_files *f, const char *name, const char *path)
{
    add(f, false, "the input", name, path);
}

void hbg__named_assignments(struct named_files *f, const char *const *assignment, size_t count)
{
    double number;

    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(assignment[i], '=');
        char *name = equals ? strndup(assignment[i], (size_t)(equals - assignment[i])) : NULL;
        f->no_memory = f->no_memory || (equals && !name);
        if (name && hbg__cli_f64(equals + 1, &number))
            hbg__named_input(f, name, equals + 1);
        free(name);
    }
}

void hbg__named_standard_output(struct named_files *f)
{
    struct stat there;

    for (size_t i = 0; i < f->count; i++)
        if (f->file[i].output && strcmp(f->file[i].path, "-") == 0)
            return;
    if (fstat(STDOUT_FILENO, &there) == 0 && S_ISREG(there.st_mode))
        add(f, true, "standard output", NULL, "-");
}

static bool same(const struct named_file *a, const struct named_file *b)
{
    if (a->output && b->output && strcmp(a->path, "-") == 0 && strcmp(b->path, "-") == 0)
        return true;
    if (!a->comparable || !b->comparable || a->there != b->there || a->device != b->device || a->inode != b->inode)
        return false;
    return a->there || strcmp(a->name, b->name) == 0;
}

static void tell(const char *command, const struct named_file *a, const struct named_file *b)
{
    bool twice = strcmp(a->path, b->path) == 0;

    if (twice && strcmp(a->path, "-") == 0)
        hbg__cli_error(command, "%s and %s name the same file: standard output", a->label, b->label);
    else if (twice || strcmp(b->path, "-") == 0)
        hbg__cli_error(command, "%s and %s name the same file, `%s`", a->label, b->label, a->path);
    else
        hbg__cli_error(command, "%s and %s name the same file: `%s` and `%s`", a->label, b->label, a->path, b->path);
}

bool hbg__named_files_apart(struct named_files *f, const char *command)
{
    const struct named_file *a = NULL, *b = NULL;

    for (size_t i = 0; i < f->count && !b; i++)
        for (size_t k = i + 1; k < f->count && !b; k++)
            if ((f->file[i].output || f->file[k].output) && same(&f->file[i], &f->file[k])) {
                a = &f->file[i];
                b = &f->file[k];
            }
    if (b)
        tell(command, a, b);
    else if (f->no_memory)
        hbg__cli_error(command, "no memory for the names of its files");
    for (size_t i = 0; i < f->count; i++) {
        free(f->file[i].label);
        free(f->file[i].name);
    }
    free(f->file);
    return !b && !f->no_memory;
}
