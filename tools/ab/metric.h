/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number that is compared: the time a command takes, or numbers that it prints or traces.
 *
 *     wall            seconds from start to end
 *     REGEX           each match in its output: the first group, or all of the match, is a number (POSIX extended)
 *     json:PATH       its output is JSON: the numbers that the path leads to, as "json:device_ns.median"
 *     span NAME       ns of the spans of that name in a trace of hbg, those of one run added up
 */
#ifndef HBG_TOOLS_AB_METRIC_H
#define HBG_TOOLS_AB_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <regex.h>

enum ab_metric_kind { AB_WALL, AB_REGEX, AB_JSON, AB_SPAN };
struct ab_metric {
    enum ab_metric_kind kind;
    const char *text;                   /* borrowed: expression, path or name */
    const char *note;                   /* of a span: this note of it and not its duration, or NULL */
    regex_t expression;
    bool compiled;
};

/* One value and the number of its round in the process, from 1. */
struct ab_values {
    double *value;
    uint64_t *round;
    size_t count, room;
    uint64_t program;                   /* of a span: where the last value came from */
    uint32_t session;
};

/* The spans inside of a span: "chip.run.bind.build" of "chip.run.bind". They say where an effect comes from, and have no verdict. */
enum { AB_PARTS_MOST = 32, AB_PART_NAME = 64 };
struct ab_parts {
    char name[AB_PARTS_MOST][AB_PART_NAME];
    struct ab_values of[AB_PARTS_MOST];
    size_t count;
};

/* False: the sentence in `why`. */
bool hbg__ab_metric_open(struct ab_metric *metric, const char *text, const char *span, char *why, size_t size);

/* The counter of --expect-differs: json:PATH, with a span the name of its note, else a REGEX. */
bool hbg__ab_counter_open(struct ab_metric *metric, const char *text, const char *span, char *why, size_t size);
void hbg__ab_metric_close(struct ab_metric *metric);

/* Reads what a process left: its output and the file of its trace. `parts` may be NULL. False: the sentence in `why`. */
bool hbg__ab_metric_read(struct ab_metric *metric, const char *output, size_t size, const char *trace, double seconds, struct ab_values *values,
                         struct ab_parts *parts, char *why, size_t why_size);
void hbg__ab_values_free(struct ab_values *values);
void hbg__ab_parts_free(struct ab_parts *parts);

#endif
