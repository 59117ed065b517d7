/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line's parser.
 */
#include "cli.h"

#include "replace.h"

#include "base/option.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hbg__cli_error(const char *command, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    fprintf(stderr, "hbg%s%s: ", *command ? " " : "", command);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

/* ---- numbers ---- */

static bool is_number_start(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '.';
}

const char *hbg__cli_i64(const char *text, int64_t *value)
{
    char *end;
    long long v;

    if (!is_number_start(*text))
        return "is not a whole number";
    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || *end)
        return "is not a whole number";
    if (errno == ERANGE)
        return "is out of range for a whole number";
    *value = v;
    return NULL;
}

const char *hbg__cli_u64(const char *text, uint64_t *value)
{
    char *end;
    unsigned long long v;

    if (*text < '0' || *text > '9')
        return "is not a whole number of 0 or more";
    errno = 0;
    v = strtoull(text, &end, 10);
    if (*end)
        return "is not a whole number of 0 or more";
    if (errno == ERANGE)
        return "is out of range for a whole number";
    *value = v;
    return NULL;
}

const char *hbg__cli_f64(const char *text, double *value)
{
    char *end;
    double v;

    if (!is_number_start(*text) || text[strspn(text, "0123456789.eE+-")])
        return "is not a number";
    v = strtod(text, &end);
    if (end == text || *end)
        return "is not a number";
    if (!isfinite(v))
        return "is out of range for a number";
    *value = v;
    return NULL;
}

bool hbg__cli_take(const char *command, const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    uint64_t given = 0;
    const char *wrong = text ? hbg__cli_u64(text, &given) : NULL;

    if (wrong)
        hbg__cli_error(command, "%s: `%s` %s", option, text, wrong);
    else if (text && (given < least || given > most))
        hbg__cli_error(command, "%s: `%s` is not between %" PRIu64 " and %" PRIu64, option, text, least, most);
    else if (text)
        *value = given;
    return !wrong && (!text || (given >= least && given <= most));
}

/* ---- files ---- */

bool hbg__cli_missing(const char *path) { return strcmp(path, "-") != 0 && access(path, F_OK) != 0; }

/* ---- names ---- */

const char *hbg__cli_hint(const char *name, const char *const *known, size_t count, char *text, size_t text_size)
{
    const char *nearest = hbg__option_nearest(name, known, (int)count);
    size_t used;

    if (nearest) {
        snprintf(text, text_size, "; did you mean `%s`?", nearest);
        return text;
    }
    used = (size_t)snprintf(text, text_size, count ? "; known are " : "; there are none");
    for (size_t i = 0; i < count && used < text_size; i++)
        used += (size_t)snprintf(text + used, text_size - used, "%s%s", i ? ", " : "", known[i]);
    return text;
}

void hbg__cli_word(char *word, size_t size, const char *text)
{
    size_t used = 0;

    if (!text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+")]) {
        snprintf(word, size, "%s", text);
        return;
    }
    word[used++] = '\'';
    for (; *text && used + 6 < size; text++) {
        if (*text == '\'') {
            memcpy(word + used, "'\\''", 4);
            used += 4;
        } else {
            word[used++] = *text;
        }
    }
    word[used++] = '\'';
    word[used] = '\0';
}

/* ---- options ---- */

enum { HELP_WIDTH = 110, LEFT_MOST = 32 };

/* "N  timed rounds" is a value's name and what the option does; where there is no value, all of it is that. */
static const char *help_text(const struct cli_option *option, int *value_length)
{
    *value_length = option->value ? (int)strcspn(option->help, " ") : 0;
    return option->help + *value_length + strspn(option->help + *value_length, " ");
}

/* between an option and its value: "--rounds N", "--wait[=SECONDS]" */
static const char *value_gap(const struct cli_option *option)
{
    return option->value && *option->help != '[' ? " " : "";
}

static int left_width(const struct cli_option *option)
{
    int value_length;

    help_text(option, &value_length);
    return (int)strlen(option->name) + (int)strlen(value_gap(option)) + value_length;
}

/* words from column `left` on, in lines of HELP_WIDTH */
static void show_words(const char *text, int left)
{
    int column = left;

    for (bool first = true; *text; first = false) {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > HELP_WIDTH)
            column = printf("\n%*s", left, "") - 1;
        else if (!first)
            column += printf(" ");
        column += printf("%.*s", length, text);
        text += length + (int)strspn(text + length, " ");
    }
    putchar('\n');
}

static void show_help(const struct cli_command *command)
{
    int widest = 0, value_length;

    printf("usage: hbg %s %s\n\n%s\n", command->name, command->usage, command->help);
    for (size_t i = 0; i < command->option_count; i++) {
        int width = left_width(&command->option[i]);
        if (width > widest && width <= LEFT_MOST)
            widest = width;
    }
    if (command->option_count)
        putchar('\n');
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->option[i];
        const char *text = help_text(option, &value_length);
        printf("  %s%s%.*s%*s", option->name, value_gap(option), value_length, option->help, widest - left_width(option) + 2, "");
        show_words(text, 2 + widest + 2);
    }
}

static const struct cli_option *find_option(const struct cli_command *command, const char *text, size_t length)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strncmp(command->option[i].name, text, length) == 0 && command->option[i].name[length] == '\0')
            return &command->option[i];
    return NULL;
}

static bool unknown_option(const struct cli_command *command, const char *text, size_t length)
{
    char name[64], hint[256];
    const char *names[32];
    size_t count = 0;

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (; count < command->option_count && count < 32; count++)
        names[count] = command->option[count].name;
    hbg__cli_error(command->name, "there is no option `%s`%s", name, hbg__cli_hint(name, names, count, hint, sizeof hint));
    return false;
}

/* the option at argv[*at], and its value behind `=` or in the next place; `given` has a bit for each option seen so far */
static bool take_option(const struct cli_command *command, int argc, char **argv, int *at, uint64_t *given)
{
    const char *text = argv[*at], *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    double number;
    const struct cli_option *option = find_option(command, text, length);

    if (!option)
        return unknown_option(command, text, length);
    if (*given & UINT64_C(1) << (option - command->option)) {
        hbg__cli_error(command->name, "option %s is given twice", option->name);
        return false;
    }
    *given |= UINT64_C(1) << (option - command->option);
    if (option->flag) {
        if (equals && option->value) {
            *option->value = equals + 1;
        } else if (equals) {
            hbg__cli_error(command->name, "option %s takes no value", option->name);
            return false;
        } else if (option->value && *at + 1 < argc && !hbg__cli_f64(argv[*at + 1], &number)) {
            hbg__cli_error(command->name, "the value of %s stands behind an equals sign: %s=%s", option->name, option->name, argv[*at + 1]);
            return false;
        }
        *option->flag = true;
        return true;
    }
    if (!equals && *at + 1 >= argc) {
        hbg__cli_error(command->name, "option %s needs a value", option->name);
        return false;
    }
    *option->value = equals ? equals + 1 : argv[++*at];
    return true;
}

enum cli_outcome hbg__cli_parse(const struct cli_command *command, int argc, char **argv, const char **rest, size_t *rest_count)
{
    bool options_end = false;
    uint64_t given = 0;

    if (rest)
        *rest_count = 0;
    for (int i = 0; i < argc; i++) {
        bool is_option = !options_end && argv[i][0] == '-' && argv[i][1] != '\0';
        if (is_option && strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if (is_option && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            show_help(command);
            return CLI_HELP_SHOWN;
        } else if (is_option) {
            if (!take_option(command, argc, argv, &i, &given))
                return CLI_REFUSED;
        } else if (rest) {
            rest[(*rest_count)++] = argv[i];
        } else {
            hbg__cli_error(command->name, "`%s` is one argument too many", argv[i]);
            return CLI_REFUSED;
        }
    }
    return CLI_PARSED;
}

int hbg__cli_run(const struct cli_command *command, int argc, char **argv, cli_run_fn *run, const void *typed)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    enum cli_outcome outcome;
    size_t count = 0;
    int status;

    if (!rest) {
        hbg__cli_error(command->name, "no memory for the command line");
        return CLI_FAILED;
    }
    outcome = hbg__cli_parse(command, argc, argv, rest, &count);
    status = outcome == CLI_PARSED ? run(typed, rest, count) : cli_outcome_status(outcome);
    free(rest);
    return status;
}

int hbg__cli_device_status(enum hbg_status status)
{
    return status == HBG_OK ? CLI_OK : status == HBG_E_OPTION || status == HBG_E_UNSUPPORTED ? CLI_MISUSED : CLI_FAILED;
}

/* ---- output files ---- */

static bool refuse_to_write(const char *command, const char *path, int why)
{
    hbg__cli_error(command, "`%s` cannot be written: %s", path, strerror(why));
    return false;
}

bool hbg__cli_output_check(const char *command, const char *path)
{
    int why = strcmp(path, "-") == 0 ? 0 : hbg__replace_check(path);
    return why == 0 || refuse_to_write(command, path, why);
}

bool hbg__cli_output_open(struct cli_output *output, const char *command, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    *output = (struct cli_output){ .command = command, .path = path, .stream = standard ? stdout : NULL };
    if (standard) return true;
    if (!hbg__cli_output_check(command, path)) return false;
    output->stream = open_memstream(&output->text, &output->length);
    return output->stream != NULL || refuse_to_write(command, path, errno);
}

/* All of it, in place of the file that may be there; 0, or why not. */
static int write_file(const struct cli_output *output)
{
    struct replacement file;
    int why = hbg__replace_open(&file, output->path);

    if (why) return why;
    hbg__replace_write(&file, output->text, output->length);
    why = hbg__replace_end(&file);
    if (!why) return hbg__replace_commit(&file);
    hbg__replace_drop(&file);
    return why;
}

int hbg__cli_flush(void)
{
    int why;

    errno = 0;
    why = fflush(stdout) != 0 ? errno : 0;
    if (!why && ferror(stdout)) why = write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;      /* what is lost is lost: one more byte tells why */
    return why;
}

bool hbg__cli_output_close(struct cli_output *output)
{
    FILE *stream = output->stream;
    int why = stream == stdout ? hbg__cli_flush() : ferror(stream) ? ENOMEM : 0;

    if (stream != stdout && fclose(stream) != 0 && !why) why = errno;
    if (stream != stdout && !why && output->length > 0) why = write_file(output);
    free(output->text);
    output->text = NULL;
    output->stream = NULL;
    if (why && stream == stdout) hbg__cli_error(output->command, "standard output was not written whole: %s", strerror(why));
    else if (why) hbg__cli_error(output->command, "`%s` was not written whole: %s", output->path, strerror(why));
    return !why;
}
