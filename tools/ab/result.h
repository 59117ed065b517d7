/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison as a whole: what was declared, what was found, what follows; and its file.
 *
 * The file is JSON. What follows from the rest (outcomes, verdict) is written too, for other programs; a reader computes it anew
 * and compares. A checksum covers every byte of the file, so that a change is noticed even where no verdict follows from what was changed:
 *
 *     {
 *       "format": "hbg-ab 2",
 *       ..
 *       "checksum": "0123456789abcdef"
 *     }
 *
 * It is the 64-bit FNV-1a of all bytes but its own 16 digits, the line end behind the last brace included. It guards against accidents,
 * not against somebody who computes it again; what follows from the rounds is checked for them.
 */
#ifndef HBG_TOOLS_AB_RESULT_H
#define HBG_TOOLS_AB_RESULT_H

#include "tools/ab/judge.h"

#include <stdio.h>

enum ab_expectation { AB_EXPECT_NOTHING, AB_EXPECT_FASTER, AB_EXPECT_EQUIVALENT, AB_EXPECT_NOT_SLOWER, AB_EXPECTATIONS };
extern const char *const hbg__ab_expectation_name[AB_EXPECTATIONS];             /* "nothing", "faster", .. */

/* Numbers that are declared: field, type's letter, what it is. */
#define AB_DECLARED_MAP(X)                                                                                                   \
    X(margin, "the effect that does not matter") X(mean, "1: a batch is its mean") X(higher, "1: more is better") X(differs, "1: counters must differ") \
    X(gate, "1: conditions drop blocks") X(blocks, "planned") X(pilot, "blocks of the pilot, or 0") X(resolve, "half width asked for, or 0")

struct ab_record {
    char *command[AB_ARMS];             /* owned, as all texts are */
    char *metric, *counter;             /* "wall", "json:..", "span ..", an expression; NULL: no counter */
    enum ab_expectation expect;
    bool inner;                         /* a process reports many rounds */
    double rounds, cold;                /* of a batch; cold ones of a process, or processes before a batch */
    double timeout_s, cool_down_s, projected_s;
    struct ab_rules rules;
    struct ab_facts arm[AB_ARMS], differences, host, holders, attempts;
    int causes;                         /* how many things the differences are */
    bool outputs_equal;                 /* of the first run of each arm */
    struct ab_series series[1 + AB_CONTROLS];
    bool control[1 + AB_CONTROLS];      /* A against A */
    size_t series_count;
    bool control_left_out;              /* asked for, and not run: the comparison is INVALID */

    /* what follows */
    struct ab_outcome outcome[1 + AB_CONTROLS];
    enum ab_verdict verdict;
    char why[AB_TEXT];
    double noise_floor;                 /* half width of the control, as a relative effect; NaN without one */
    bool expectation_met;
};

void hbg__ab_record_free(struct ab_record *record);

#define AB_CONTROL_LEFT_OUT "not run, the comparison is INVALID"

/* The rules of a series: a control knows no pilot and no counter. */
struct ab_rules hbg__ab_rules_of(const struct ab_record *record, size_t series);

/* Judges all series, and from them the comparison. False: no memory. */
bool hbg__ab_conclude(struct ab_record *record);

/* 0 a verdict was reached, 1 the expectation is not met, 3 INVALID. */
int hbg__ab_exit_status(const struct ab_record *record);

#define AB_FORMAT "hbg-ab 2"
#define AB_FORMAT_BEFORE "hbg-ab 1"     /* its checksum leaves out most of it; refused */

/* Where the digits of the checksum stand: this many, and this behind them ends the file. */
enum { AB_SUM_DIGITS = 16 };
#define AB_SUM_TAIL "\"\n}\n"

/* The checksum of a whole file, and a zero byte. */
void hbg__ab_file_checksum(const char *text, size_t size, char sum[AB_SUM_DIGITS + 1]);

/* False: not all was written. */
bool hbg__ab_record_write(FILE *file, const struct ab_record *record);

/* Reads and concludes. False, with a sentence: the file is damaged or of an earlier format, or what it says does not follow from its rounds. */
bool hbg__ab_record_read(struct ab_record *record, const char *path, char *why, size_t size);

/* One line of an attempt, for the list of attempts. The caller frees it. NULL: no memory. */
char *hbg__ab_attempt_words(const struct ab_record *record);

#endif
