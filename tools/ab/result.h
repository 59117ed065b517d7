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

#include "base/json_write.h"
#include "tools/ab/judge.h"

#include <stdio.h>

enum ab_expectation { AB_EXPECT_NOTHING, AB_EXPECT_FASTER, AB_EXPECT_EQUIVALENT, AB_EXPECT_NOT_SLOWER, AB_EXPECTATIONS };
extern const char *const hbg__ab_expectation_name[AB_EXPECTATIONS];             /* "nothing", "faster", .. */
extern const char *const hbg__ab_moment_name[AB_SAMPLES];                       /* "start", "middle", "end" */

/* Numbers that are declared: field, type's letter, what it is. */
#define AB_DECLARED_MAP(X)                                                                                                   \
    X(margin, "the effect that does not matter") X(mean, "1: a batch is its mean") X(higher, "1: more is better") X(differs, "1: counters must differ") \
    X(gate, "1: conditions drop blocks") X(blocks, "planned") X(pilot, "blocks of the pilot, or 0") X(resolve, "half width asked for, or 0")

/* What A against A came to, the last time that it was run of a configuration (floor.h). */
struct ab_floor_control { uint64_t seed; double effect, low, high; };
struct ab_floor {
    int64_t measured;                   /* seconds since 1970; 0: nothing is remembered */
    double half;                        /* the half width, as a relative effect */
    double rounds, blocks;              /* of a batch; that counted */
    uint32_t controls;                  /* 2: the first one excluded 0 */
    struct ab_floor_control control[AB_CONTROLS];
    uint32_t runs, invalid_runs;        /* of the configuration until then, that one included; those whose controls excluded 0 twice */
};

struct ab_record {
    char *command[AB_ARMS];             /* owned, as all texts are */
    char *metric, *counter;             /* "wall", "json:..", "span ..", an expression; NULL: no counter */
    enum ab_expectation expect;
    bool inner;                         /* a process reports many rounds */
    double rounds, cold;                /* of a batch; cold ones of a process, or processes before a batch */
    double timeout_s, cool_down_s, projected_s;
    double gpu_look_s;                  /* what a look at all GPUs takes; NaN: there are none to look at */
    struct ab_rules rules;
    struct ab_facts arm[AB_ARMS], differences, host, surroundings, holders, attempts;
    char configuration[17];             /* its hash, 16 digits, or "": what A against A is remembered by */
    struct ab_floor remembered;         /* of an earlier control; only where none was asked for */
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
    double noise_floor;                 /* half width of the control, or of the one that is remembered, as a relative effect; NaN without one */
    bool floor_remembered;              /* it is, or INVALID is, of the remembered one */
    bool expectation_met;
};

void hbg__ab_record_free(struct ab_record *record);

#define AB_CONTROL_LEFT_OUT "not run, the comparison is INVALID"

/* Did both of its controls exclude 0? */
bool hbg__ab_floor_invalid(const struct ab_floor *remembered);

/* Was it measured with about as many rounds and blocks as the record has? Where they are not declared they come about anew each time. */
bool hbg__ab_floor_fits(const struct ab_floor *remembered, const struct ab_record *record);

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

#define AB_NO_SUM "0000000000000000"    /* in its place while the rest is written */

/* The checksum of a whole file, and a zero byte; and puts it where it belongs. */
void hbg__ab_file_checksum(const char *text, size_t size, char sum[AB_SUM_DIGITS + 1]);
void hbg__ab_file_seal(char *text, size_t size);

/* A key and a list of pairs. */
void hbg__ab_facts_write(struct hbg__json *json, const char *key, const struct ab_facts *facts);

/* False: not all was written. */
bool hbg__ab_record_write(FILE *file, const struct ab_record *record);

/* Reads and concludes. False, with a sentence: the file is damaged or of an earlier format, or what it says does not follow from its rounds. */
bool hbg__ab_record_read(struct ab_record *record, const char *path, char *why, size_t size);

/* One line of an attempt, for the list of attempts. The caller frees it. NULL: no memory. */
char *hbg__ab_attempt_words(const struct ab_record *record);

#endif
