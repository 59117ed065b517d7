/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg new: a folder with a workload that builds and runs, to start from. All of it is written, or nothing.
 */
#include "command.h"

#include "cli.h"
#include "hbg_new.h"
#include "provenance.h"

#include <hbg/hbg.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MOST = 40, PATH_BYTES = 128 };

/* What stands between two @ in a text, and what is written there. */
struct word { const char *name, *value; };
struct language { const char *name, *suffix, *standard, *source; };
struct new_file { const char *name, *text; };

static const struct language languages[] = {
    { "C", "c", "11", hbg__new_c },
    { "CXX", "cpp", "17", hbg__new_cpp },
};

/* why this cannot be the name of a workload, a CMake target and a folder, or NULL */
static const char *name_refusal(const char *name)
{
    static const char *const taken[] = { "all", "clean", "depend", "edit_cache", "help", "hbg", "install", "package", "preinstall",
                                         "rebuild_cache", "test", "build" };
    size_t length = strlen(name);

    if (!islower((unsigned char)name[0]) || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != length)
        return "is no name of a workload: it begins with a small letter, and small letters, digits and _ follow";
    if (length > NAME_MOST)
        return "is longer than 40 letters";
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return "is a name that CMake or hbg uses itself";
    return NULL;
}

/* the text with its words put in */
static void write_text(FILE *file, const char *text, const struct word *word, size_t word_count)
{
    while (*text) {
        size_t i, length = strcspn(text, "@");
        fwrite(text, 1, length, file);
        text += length;
        for (i = 0; *text && i < word_count; i++) {
            length = strlen(word[i].name);
            if (strncmp(text + 1, word[i].name, length) != 0 || text[1 + length] != '@')
                continue;
            fputs(word[i].value, file);
            text += length + 2;
            break;
        }
        if (*text && i == word_count)
            fputc(*text++, file);
    }
}

/* 0, or why not: an errno */
static int write_file(const char *folder, const struct new_file *new_file, const struct word *word, size_t word_count)
{
    char path[PATH_BYTES];
    FILE *file;
    int why = 0;

    snprintf(path, sizeof path, "%s/%s", folder, new_file->name);
    errno = 0;
    file = fopen(path, "wxe");
    if (!file)
        return errno;
    write_text(file, new_file->text, word, word_count);
    if (ferror(file))
        why = errno ? errno : EIO;
    if (fclose(file) != 0 && !why)
        why = errno;
    return why;
}

static void remove_files(const char *folder, const struct new_file *file, size_t count)
{
    char path[PATH_BYTES];

    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, file[i].name);
        unlink(path);
    }
    rmdir(folder);
}

/* Where CMake finds this hbg: the build tree or the prefix that the command lies in; "" where CMake looks by itself, or nobody knows. */
static void find_prefix(char prefix[PATH_MAX])
{
    struct provenance p;
    char *slash;

    hbg__provenance_get(&p);
    snprintf(prefix, PATH_MAX, "%s", *p.source ? p.build : p.command_path);
    for (int up = 0; !*p.source && up < 2; up++)        /* PREFIX/bin/hbg */
        if ((slash = strrchr(prefix, '/')))
            *slash = '\0';
    if (strcmp(prefix, "/usr") == 0 || strcmp(prefix, "/usr/local") == 0)
        *prefix = '\0';
}

/* The lines that build and run it, with this hbg. */
static void print_next(const char *name)
{
    char prefix[PATH_MAX], word[PATH_MAX + PATH_MAX / 2];

    find_prefix(prefix);
    hbg__cli_word(word, sizeof word, prefix);
    printf("    cmake -S %s -B %s/build%s%s && cmake --build %s/build\n", name, name, *prefix ? " -DCMAKE_PREFIX_PATH=" : "", *prefix ? word : "", name);
    hbg__cli_word(word, sizeof word, strchr(program_invocation_name, '/') ? program_invocation_name : "hbg");
    printf("    %s run %s/build/%s.so --verify\n", word, name, name);
}

static int write_folder(const char *name, const struct language *language)
{
    char source[PATH_BYTES], version[32];
    const struct word word[] = { { "NAME", name }, { "LANGUAGE", language->name }, { "SUFFIX", language->suffix },
                                 { "STANDARD", language->standard }, { "VERSION", version } };
    const struct new_file file[] = { { source, language->source }, { "CMakeLists.txt", hbg__new_cmake }, { "README.md", hbg__new_readme } };
    enum { FILE_COUNT = sizeof file / sizeof *file };
    int why;

    snprintf(version, sizeof version, "%d.%d", HBG_VERSION_MAJOR, HBG_VERSION_MINOR);
    snprintf(source, sizeof source, "%s.%s", name, language->suffix);
    if (mkdir(name, 0777) != 0) {
        hbg__cli_error("new", "the folder `%s` cannot be made: %s%s", name, strerror(errno), errno == EEXIST ? "; take another name, or remove it" : "");
        return CLI_FAILED;
    }
    for (size_t i = 0; i < FILE_COUNT; i++) {
        why = write_file(name, &file[i], word, sizeof word / sizeof *word);
        if (!why)
            continue;
        hbg__cli_error("new", "`%s/%s` was not written whole: %s", name, file[i].name, strerror(why));
        remove_files(name, file, i + 1);
        return CLI_FAILED;
    }
    printf("%s/%s, %s/CMakeLists.txt and %s/README.md are written. Next:\n\n", name, source, name, name);
    print_next(name);
    return CLI_OK;
}

static int new_line(const void *cxx, const char *const *rest, size_t count)
{
    const char *wrong;

    if (count == 0)
        hbg__cli_error("new", "a name is needed");
    else if (count > 1)
        hbg__cli_error("new", "`%s` is one argument too many", rest[1]);
    else if ((wrong = name_refusal(rest[0])))
        hbg__cli_error("new", "`%s` %s", rest[0], wrong);
    else
        return write_folder(rest[0], &languages[*(const bool *)cxx]);
    return CLI_MISUSED;
}

int hbg__cmd_new(int argc, char **argv)
{
    bool cxx = false;
    const struct cli_option option[] = { { "--cxx", NULL, &cxx, "C++ instead of C" } };
    const struct cli_command command = {
        "new", "NAME [--cxx]", "Writes a folder NAME with a workload to start from: its source, a CMakeLists.txt and a README.", option, 1,
    };

    return hbg__cli_run(&command, argc, argv, new_line, &cxx);
}
