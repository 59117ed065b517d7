/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: options, numbers, and sentences for what cannot be understood.
 *
 * Exit statuses of the command: 0 all that was asked for succeeded; 1 something failed; 2 the command line is wrong, or asks for
 * what this version or this workload does not have; of hbg ab 3, the comparison is INVALID. Nothing is taken twice: neither an option nor a parameter.
 */
#ifndef HBG_TOOLS_CLI_H
#define HBG_TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hbg/status.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_MISUSED = 2 };

/* One option: with `value` set it takes a value, with `flag` set it takes none, with both it may have
   one behind an equals sign, and no number may follow it otherwise: whoever types one means it as the value. */
struct cli_option {
    const char *name;                   /* "--rounds" */
    const char **value;                 /* borrowed from argv */
    bool *flag;
    const char *help;                   /* "N  timed rounds (10)" */
};

struct cli_command {
    const char *name;                   /* "run" */
    const char *usage;                  /* "WORKLOAD [key=value ...]" */
    const char *help;                   /* a sentence */
    const struct cli_option *option;
    size_t option_count;                /* at most 64 */
};

enum cli_outcome { CLI_PARSED, CLI_HELP_SHOWN, CLI_REFUSED };

static inline int cli_outcome_status(enum cli_outcome outcome)
{
    return outcome == CLI_REFUSED ? CLI_MISUSED : CLI_OK;
}

/* Fills options and packs what is no option into rest[0..*rest_count), room for argc of them; with NULL for both nothing but
   options is taken. "--" ends the options. */
enum cli_outcome hbg__cli_parse(const struct cli_command *command, int argc, char **argv, const char **rest, size_t *rest_count);

/* A command with its options parsed: what it does with the rest of the line, and its exit status. */
typedef int cli_run_fn(const void *typed, const char *const *rest, size_t count);

/* Parses, and runs where the line is not refused and its help not asked for. Returns the exit status. */
int hbg__cli_run(const struct cli_command *command, int argc, char **argv, cli_run_fn *run, const void *typed);

/* "hbg run: sentence" on standard error */
__attribute__((format(printf, 2, 3))) void hbg__cli_error(const char *command, const char *format, ...);

/* NULL and the value, or what is wrong with the text: "is not a whole number", .. */
const char *hbg__cli_i64(const char *text, int64_t *value);
const char *hbg__cli_u64(const char *text, uint64_t *value);
const char *hbg__cli_f64(const char *text, double *value);

/* The value of an option, which may be NULL and leaves *value alone then. False, with the sentence: no whole number from least to most. */
bool hbg__cli_take(const char *command, const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* "; did you mean `x`?" for a name that is nearly one of those known, else "; known are a, b, .." */
const char *hbg__cli_hint(const char *name, const char *const *known, size_t count, char *text, size_t text_size);

/* `text` as one word of a shell, in quotes where it needs them. */
void hbg__cli_word(char *word, size_t size, const char *text);

/* The exit status after the device of a spec was opened: a spec that asks for what there is not is a wrong command line. */
int hbg__cli_device_status(enum hbg_status status);

/* Standard output: 0 if all that was printed arrived, or why not. */
int hbg__cli_flush(void);

/* Is there no such file? "-" is standard input, which there always is. */
bool hbg__cli_missing(const char *path);

/* An output file: "-" is standard output. False: it could not be opened, or not all of it was written. */
struct cli_output {
    const char *command, *path;
    FILE *stream;
    char *text;                         /* of a file, until it is written at close: an interrupted command leaves the old one */
    size_t length;
};
bool hbg__cli_output_open(struct cli_output *output, const char *command, const char *path);
bool hbg__cli_output_check(const char *command, const char *path);     /* could it be opened? False: it was said why not */
bool hbg__cli_output_close(struct cli_output *output);

#endif
