/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg ab: which of two commands is faster, on a machine that drifts and is shared, and how sure that is.
 *
 * Exit status: 0 a verdict was reached, whichever; 1 it is not the one expected, or a file could not be read or written; 2 the command line is
 * wrong; 3 INVALID, which a command that fails is too. After a signal nothing is written.
 */
#include "command.h"

#include "ab/arm.h"
#include "ab/child.h"
#include "ab/floor.h"
#include "ab/holders.h"
#include "ab/measure.h"
#include "ab/report.h"
#include "ab/simulate.h"
#include "cli.h"
#include "exclusive.h"
#include "same_file.h"

#include <hbg/hbg.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 + 192, INVALID = 3, TRIALS = 2000, BLOCKS = 10, BLOCKS_MOST = 1000, SIMULATED_MOST = 60 };

/* The command line as it was typed. */
struct typed {
    const char *a, *b, *blocks, *resolve, *rounds, *warmup, *metric, *span, *margin, *seed, *expect, *counter, *out, *json, *page, *recheck, *timeout, *cool_down;
    bool aa, simulate, mean, higher, no_gate, no_memory;
    struct exclusive_typed exclusive;
};

static bool to_stdout(const struct typed *typed)
{
    return (typed->json && strcmp(typed->json, "-") == 0) || (typed->out && strcmp(typed->out, "-") == 0) || (typed->page && strcmp(typed->page, "-") == 0);
}

/* ---- what was typed ---- */

/* A number of at least `least` (or more than it) and at most `most`; false, with the sentence. */
static bool take_f64(const char *option, const char *text, double least, bool more, double most, double *value)
{
    double given = 0.0;
    const char *wrong = text ? hbg__cli_f64(text, &given) : NULL;

    if (!text)
        return true;
    if (!wrong && (given < least || (more && given == least) || given > most))
        hbg__cli_error("ab", "%s: `%s` is not %s %g and at most %g", option, text, more ? "more than" : "at least", least, most);
    else if (wrong)
        hbg__cli_error("ab", "%s: `%s` %s", option, text, wrong);
    else {
        *value = given;
        return true;
    }
    return false;
}

static bool take_expectation(const char *text, enum ab_expectation *expect)
{
    char hint[96];

    for (int i = 1; text && i < AB_EXPECTATIONS; i++)
        if (strcmp(text, hbg__ab_expectation_name[i]) == 0)
            *expect = (enum ab_expectation)i;
    if (!text || *expect)
        return true;
    hbg__cli_error("ab", "--expect: nobody expects `%s`%s", text, hbg__cli_hint(text, hbg__ab_expectation_name + 1, AB_EXPECTATIONS - 1, hint, sizeof hint));
    return false;
}

/* Everything that is declared before the first run. False: with the sentence. */
static bool take_declared(const struct typed *typed, struct ab_record *record, uint64_t *seed)
{
    uint64_t blocks = BLOCKS, rounds = 0, cold = 0;
    double margin = 2.0, resolve = 0.0, cool_down_ms = 0.0;

    record->timeout_s = 600.0;
    *seed = 1;
    if (typed->blocks && typed->resolve) {
        hbg__cli_error("ab", "--blocks and --resolve both say how many blocks there are");
        return false;
    }
    if (!hbg__cli_take("ab", "--blocks", typed->blocks, 1, BLOCKS_MOST, &blocks) || !hbg__cli_take("ab", "--rounds", typed->rounds, 1, 1000000, &rounds) ||
        !hbg__cli_take("ab", "--warmup", typed->warmup, 0, 1000000, &cold) || !hbg__cli_take("ab", "--seed", typed->seed, 0, UINT64_MAX, seed) ||
        !take_f64("--margin", typed->margin, 0.0, true, 99.0, &margin) || !take_f64("--resolve", typed->resolve, 0.0, true, 99.0, &resolve) ||
        !take_f64("--timeout", typed->timeout, 0.0, true, 1e6, &record->timeout_s) ||
        !take_f64("--cool-down", typed->cool_down, 0.0, false, 1e6, &cool_down_ms) ||
        !take_expectation(typed->expect, &record->expect))
        return false;
    record->rounds = (double)rounds;
    record->cold = (double)cold;
    record->cool_down_s = cool_down_ms * 1e-3;
    record->rules = (struct ab_rules){ .margin = margin * .01, .mean = typed->mean, .higher = typed->higher, .differs = typed->counter != NULL, .gate = !typed->no_gate,
                                       .blocks = typed->resolve ? AB_PILOT_BLOCKS : (uint32_t)blocks,
                                       .pilot = typed->resolve ? AB_PILOT_BLOCKS : 0, .resolve = resolve * .01 };
    record->command[AB_A] = strdup(typed->a);
    record->command[AB_B] = strdup(typed->b ? typed->b : typed->a);
    if (typed->span && asprintf(&record->metric, "span %s", typed->span) < 0)
        record->metric = NULL;
    else if (!typed->span)
        record->metric = strdup(typed->metric ? typed->metric : "wall");
    record->counter = typed->counter ? strdup(typed->counter) : NULL;
    if (record->command[AB_A] && record->command[AB_B] && record->metric && (record->counter || !typed->counter))
        return true;
    hbg__cli_error("ab", "no memory for the command line");
    return false;
}

/* ---- before the first run ---- */

/* CLI_OK, or the status with the sentence printed. */
static int look_at_arms(const struct typed *typed, struct ab_record *record)
{
    bool good = hbg__ab_arm_look(&record->arm[AB_A], record->command[AB_A]) &&
                hbg__ab_arm_look(&record->arm[AB_B], record->command[AB_B]) && hbg__ab_host_look(&record->host) &&
                hbg__ab_surroundings_look(&record->surroundings) && hbg__ab_holders_look(&record->holders, NULL);

    record->causes = good ? hbg__ab_arms_compare(&record->differences, &record->arm[AB_A], &record->arm[AB_B]) : -1;
    if (record->causes < 0) {
        hbg__cli_error("ab", "no memory for the arms");
        return CLI_FAILED;
    }
    if (!record->causes && !typed->aa) {
        hbg__cli_error("ab", "the arms do not differ: words, environment and the bytes of the program are the same; --aa compares A with itself");
        return CLI_MISUSED;
    }
    return CLI_OK;
}

/* Attempts that stand in an older file of the same comparison are carried on. */
static void carry_attempts(const char *path, struct ab_record *record)
{
    struct ab_record *before = calloc(1, sizeof *before);
    char why[256], *words, name[32];

    if (!before || !path || strcmp(path, "-") == 0 || access(path, R_OK) != 0 || !hbg__ab_record_read(before, path, why, sizeof why)) {
        if (before)
            hbg__ab_record_free(before);
        free(before);
        return;
    }
    if (strcmp(before->command[AB_A], record->command[AB_A]) == 0 &&
        strcmp(before->command[AB_B], record->command[AB_B]) == 0 && strcmp(before->metric, record->metric) == 0) {
        for (size_t i = 0; i < before->attempts.count; i++)
            (void)hbg__ab_fact(&record->attempts, before->attempts.fact[i].name, "%s", before->attempts.fact[i].value);
        words = hbg__ab_attempt_words(before);
        snprintf(name, sizeof name, "attempt %zu", before->attempts.count + 1);
        if (words)
            (void)hbg__ab_fact(&record->attempts, name, "%s", words);
        free(words);
    }
    hbg__ab_record_free(before);
    free(before);
}

/* ---- the result ---- */

typedef bool write_fn(FILE *file, const struct ab_record *record);

static bool write_one(const char *path, write_fn *write, const struct ab_record *record)
{
    struct cli_output output;
    bool good;

    if (!path)
        return true;
    if (!hbg__cli_output_open(&output, "ab", path))
        return false;
    good = write(output.stream, record);
    if (!hbg__cli_output_close(&output))
        return false;
    if (!good)
        hbg__cli_error("ab", "`%s` was not written: there is no memory for it", path);
    return good;
}

/* Can all be written that was asked for? Found out before hours are spent. */
static bool can_write(const struct typed *typed)
{
    const char *path[] = { typed->out, typed->json, typed->page };

    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++)
        if (path[i] && !hbg__cli_output_check("ab", path[i]))
            return false;
    return true;
}

/* Prints and writes what was asked for; the exit status. */
static int give(const struct typed *typed, const struct ab_record *record, bool declared)
{
    bool good;

    if (!to_stdout(typed)) {
        if (declared)
            hbg__ab_print_declared(stdout, record);
        hbg__ab_print_result(stdout, record);
    }
    good = write_one(typed->out, hbg__ab_record_write, record);
    good = write_one(typed->json, hbg__ab_record_write, record) && good;
    good = write_one(typed->page, hbg__ab_page, record) && good;
    return good ? hbg__ab_exit_status(record) : CLI_FAILED;
}

/* Reads a kept result, which is judged by that. The expectation of this line, if there is one, takes the place of the file's. */
static bool judge_again(const struct typed *typed, struct ab_record *record, enum ab_expectation expect, char *why, size_t size)
{
    if (!hbg__ab_record_read(record, typed->recheck, why, size))
        return false;
    if (!typed->expect)
        return true;
    record->expect = expect;
    if (hbg__ab_conclude(record))
        return true;
    snprintf(why, size, "there is no memory to judge it");
    return false;
}

static int recheck(const struct typed *typed)
{
    enum ab_expectation expect = AB_EXPECT_NOTHING;
    struct ab_record *record;
    char why[256];
    int status = CLI_FAILED;

    if (!take_expectation(typed->expect, &expect))
        return CLI_MISUSED;
    record = calloc(1, sizeof *record);
    if (record && judge_again(typed, record, expect, why, sizeof why))
        status = give(typed, record, true);
    else
        hbg__cli_error("ab", "`%s`: %s", typed->recheck, record ? why : "there is no memory for it");
    if (status == CLI_FAILED && hbg__cli_missing(typed->recheck))
        status = CLI_MISUSED;
    if (record)
        hbg__ab_record_free(record);
    free(record);
    return status;
}

static int simulate(const struct typed *typed)
{
    uint64_t blocks = BLOCKS, seed = 1;

    if (!hbg__cli_take("ab", "--blocks", typed->blocks, 2, SIMULATED_MOST, &blocks) || !hbg__cli_take("ab", "--seed", typed->seed, 0, UINT64_MAX, &seed))
        return CLI_MISUSED;
    hbg__ab_simulate_print(stdout, (uint32_t)blocks, TRIALS, seed);
    return CLI_OK;
}

/* ---- the comparison ---- */

static int ended(const struct ab_measuring *m, enum ab_ending ending)
{
    if (ending == AB_REFUSED)
        hbg__cli_error("ab", "%s", m->why);
    else if (ending == AB_FAILED)
        hbg__cli_error("ab", "INVALID: %s", m->why);
    else if (ending == AB_SIGNALLED)
        hbg__cli_error("ab", "interrupted: nothing is written");
    return ending == AB_REFUSED ? CLI_MISUSED : INVALID;
}

/* Both arms, then the control: once more with a new seed if it differs; none where there is no verdict that it could stand beside. */
static enum ab_ending measure_all(struct ab_measuring *m, bool control, uint64_t seed)
{
    struct ab_record *record = m->record;
    enum ab_ending ending = record->causes ? hbg__ab_measure(m, false, seed) : AB_MEASURED;

    if (control && record->causes && ending == AB_MEASURED) {
        struct ab_rules rules = hbg__ab_rules_of(record, 0);
        struct ab_outcome outcome;

        record->control_left_out = hbg__ab_judge(&outcome, &record->series[0], &rules, NULL) && outcome.verdict == AB_INVALID;
        control = !record->control_left_out;
    }
    for (int i = 0; i < AB_CONTROLS && control && ending == AB_MEASURED; i++) {
        struct ab_rules rules;
        struct ab_outcome outcome;

        ending = hbg__ab_measure(m, true, seed + 1 + (uint64_t)i);
        rules = hbg__ab_rules_of(record, record->series_count - 1);
        if (ending == AB_MEASURED && (!hbg__ab_judge(&outcome, &record->series[record->series_count - 1], &rules, NULL) || !outcome.t_excludes))
            break;
    }
    return ending;
}

/* ---- what A against A came to before, and now ---- */

struct memory { struct ab_facts configuration; struct ab_floor before; };

/* An older control is told of where this comparison has none of its own; where it has one, it is counted with it. */
static void recall(const struct typed *typed, const struct ab_measuring *m, struct memory *memory)
{
    char why[PATH_ROOM];

    if (typed->no_memory || !hbg__ab_floor_configure(&memory->configuration, m->record, m->cold_given))
        return;
    if (!hbg__ab_floor_find(&memory->before, &memory->configuration, m->record->configuration, why, sizeof why) && *why)
        hbg__cli_error("ab", "%s", why);
    if (!typed->aa)
        m->record->remembered = memory->before;
}

static void keep(const struct typed *typed, const struct ab_record *record, const struct memory *memory)
{
    struct ab_floor now;
    char why[PATH_ROOM];

    if (typed->no_memory || !*record->configuration || !hbg__ab_floor_of(&now, record, (int64_t)time(NULL)))
        return;
    if (!hbg__ab_floor_keep(&now, &memory->configuration, record->configuration, why, sizeof why))
        hbg__cli_error("ab", "A against A is not remembered: %s", why);
}

static int measure(const struct typed *typed, struct ab_measuring *m, uint64_t seed, const struct memory *memory)
{
    enum ab_ending ending = hbg__ab_rehearse(m);

    if (ending != AB_MEASURED)
        return ended(m, ending);
    m->record->series[0].seed = seed;
    if (typed->aa && m->record->causes)
        m->record->projected_s *= 2.0;
    if (!m->quiet) {
        m->record->series_count = 1;            /* for the seed */
        hbg__ab_print_declared(stdout, m->record);
        m->record->series_count = 0;
        fflush(stdout);
    }
    ending = measure_all(m, typed->aa, seed);
    if (ending != AB_MEASURED)
        return ended(m, ending);
    if (!hbg__ab_conclude(m->record)) {
        hbg__cli_error("ab", "no memory to judge");
        return CLI_FAILED;
    }
    keep(typed, m->record, memory);
    return give(typed, m->record, false);
}

static int compare(const struct typed *typed, struct ab_record *record)
{
    struct ab_measuring m = { .record = record, .cold_given = typed->warmup != NULL, .live = isatty(STDERR_FILENO) == 1, .quiet = to_stdout(typed) };
    struct memory memory = { .configuration = { NULL, 0 } };
    uint64_t seed;
    int status;

    if (!take_declared(typed, record, &seed))
        return CLI_MISUSED;
    if (!hbg__ab_metric_open(&m.metric, typed->metric, typed->span, m.why, sizeof m.why) ||
        (typed->counter && !hbg__ab_counter_open(&m.counter, typed->counter, typed->span, m.why, sizeof m.why))) {
        hbg__cli_error("ab", "%s", m.why);
        hbg__ab_measuring_end(&m);
        return CLI_MISUSED;
    }
    status = can_write(typed) ? look_at_arms(typed, record) : CLI_FAILED;
    if (status == CLI_OK)
        status = hbg__exclusive_take(&typed->exclusive, "ab", "cpu");
    if (status == CLI_OK) {
        carry_attempts(typed->out, record);
        hbg__ab_signals_hold();
        m.gpus.timeout_s = record->timeout_s;
        if (!hbg__ab_gpus_find(&m.gpus, &record->host, &record->holders))
            hbg__cli_error("ab", "no memory for GPUs: they are not looked at");
        recall(typed, &m, &memory);
        status = measure(typed, &m, seed, &memory);
    }
    hbg__ab_facts_free(&memory.configuration);
    hbg__exclusive_end();
    hbg__ab_measuring_end(&m);
    return status;
}

/* Options that only a comparison has are refused beside --recheck and --simulate, by name. */
static bool stands_alone(const struct typed *t)
{
    enum { RECHECK = 1, SIMULATE = 2 };         /* where it may stand */
    const struct { const char *name; bool given; int may; } option[] = {
        { "--recheck", t->recheck != NULL, RECHECK }, { "-a", t->a != NULL, 0 }, { "-b", t->b != NULL, 0 }, { "--metric", t->metric != NULL, 0 },
        { "--span", t->span != NULL, 0 }, { "--blocks", t->blocks != NULL, SIMULATE }, { "--resolve", t->resolve != NULL, 0 },
        { "--rounds", t->rounds != NULL, 0 }, { "--warmup", t->warmup != NULL, 0 }, { "--margin", t->margin != NULL, 0 }, { "--mean", t->mean, 0 },
        { "--higher-is-better", t->higher, 0 }, { "--seed", t->seed != NULL, SIMULATE }, { "--aa", t->aa, 0 },
        { "--no-memory", t->no_memory, 0 },
        { "--expect-differs", t->counter != NULL, 0 }, { "--expect", t->expect != NULL, RECHECK }, { "--no-gate", t->no_gate, 0 },
        { "--cool-down", t->cool_down != NULL, 0 }, { "--timeout", t->timeout != NULL, 0 }, { "--exclusive", t->exclusive.exclusive, 0 },
        { "--wait", t->exclusive.wait, 0 }, { "--out", t->out != NULL, 0 }, { "--json", t->json != NULL, RECHECK }, { "--page", t->page != NULL, RECHECK },
    };
    int here = t->simulate ? SIMULATE : RECHECK;

    for (size_t i = 0; (t->recheck || t->simulate) && i < sizeof option / sizeof *option; i++) {
        if (!option[i].given || option[i].may & here)
            continue;
        hbg__cli_error("ab", here == SIMULATE ? "%s means nothing beside --simulate, which compares no commands; --blocks and --seed may stand there"
                       : "%s means nothing beside --recheck, which judges what a file holds; --expect, --json and --page may stand there", option[i].name);
        return false;
    }
    return true;
}

/* False, with a sentence: files that are one, or options that do not go together. */
static bool line_makes_sense(const struct typed *typed, const char *const *rest, size_t count)
{
    struct named_files files = { 0 };
    bool alone = typed->recheck || typed->simulate;

    if (count) {
        hbg__cli_error("ab", "`%s` is one argument too many: commands stand behind -a and -b, in quotes", rest[0]);
        return false;
    }
    if (!stands_alone(typed))
        return false;
    if (!alone && (!typed->a || (!typed->b && !typed->aa))) {
        hbg__cli_error("ab", "two commands are needed: -a 'COMMAND' -b 'COMMAND'; or one, with --aa");
        return false;
    }
    hbg__named_output(&files, "--out", NULL, typed->out);
    hbg__named_output(&files, "--json", NULL, typed->json);
    hbg__named_output(&files, "--page", NULL, typed->page);
    if (typed->recheck && strcmp(typed->recheck, "-") != 0)
        hbg__named_input(&files, "result", typed->recheck);
    hbg__named_standard_output(&files);
    return hbg__named_files_apart(&files, "ab");
}

static int ab_line(const void *given, const char *const *rest, size_t count)
{
    const struct typed *typed = given;
    struct ab_record *record;
    int status;

    if (!line_makes_sense(typed, rest, count))
        return CLI_MISUSED;
    if (typed->recheck)
        return recheck(typed);
    if (typed->simulate)
        return simulate(typed);
    record = calloc(1, sizeof *record);
    if (!record) {
        hbg__cli_error("ab", "no memory for a comparison");
        return CLI_FAILED;
    }
    status = compare(typed, record);
    hbg__ab_record_free(record);
    free(record);
    if (hbg__ab_signal_taken())
        hbg__ab_signal_obey();
    return status;
}

int hbg__cmd_ab(int argc, char **argv)
{
    struct typed typed = { .a = NULL };
    const struct cli_option option[] = {
        { "-a", &typed.a, NULL, "COMMAND  the one arm, as a shell takes it; {rounds} in it becomes the number of rounds that it is to report" },
        { "-b", &typed.b, NULL, "COMMAND  the other" },
        { "--metric", &typed.metric, NULL, "wall|REGEX|json:PATH  what is compared: the time of a run (wall), or numbers that it prints: each match's first group, or those at a path of its JSON" },
        { "--span", &typed.span, NULL, "NAME  instead: the spans of that name that hbg traces in it" },
        { "--blocks", &typed.blocks, NULL, "N  blocks of four batches (10); a verdict needs 6" },
        { "--resolve", &typed.resolve, NULL, "PERCENT  as many blocks as that half width needs, told by a pilot of 8" },
        { "--rounds", &typed.rounds, NULL, "N  runs in a batch, or rounds that a run reports, of which a batch needs 30; without it as many as take 100 ms" },
        { "--warmup", &typed.warmup, NULL, "N  cold ones before them, kept apart (2 where a run reports many, else 0)" },
        { "--margin", &typed.margin, NULL, "PERCENT  the effect that does not matter (2)" },
        { "--mean", NULL, &typed.mean, "a batch is the mean of its rounds, not the median" },
        { "--higher-is-better", NULL, &typed.higher, "for a metric like a throughput" },
        { "--seed", &typed.seed, NULL, "S  of the order (1)" },
        { "--aa", NULL, &typed.aa, "A against itself too, afterwards: the noise floor, remembered for this host and configuration; alone without -b" },
        { "--no-memory", NULL, &typed.no_memory, "neither look for what A against A came to before nor remember it" },
        { "--expect-differs", &typed.counter, NULL, "COUNTER  INVALID unless this differs between the arms: REGEX, json:PATH, or with --span the name of a note" },
        { "--expect", &typed.expect, NULL, "WHAT  faster, equivalent or not-slower: exit with 1 unless B is" },
        { "--no-gate", NULL, &typed.no_gate, "report what others do on the machine, and drop no block for it" },
        { "--cool-down", &typed.cool_down, NULL, "MS  a pause before each batch (0)" },
        { "--timeout", &typed.timeout, NULL, "SECONDS  after which a run counts as failed (600)" },
        EXCLUSIVE_OPTIONS(typed.exclusive),
        { "--out", &typed.out, NULL, "FILE  keep the result: every round, order, condition and hash" },
        { "--json", &typed.json, NULL, "FILE|-  the same; - is standard output, then without the text" },
        { "--page", &typed.page, NULL, "FILE|-  write a page for a browser" },
        { "--recheck", &typed.recheck, NULL, "FILE|-  judge a kept result once more, and fail if verdict, a digit or any byte differs; --expect, --json and --page may stand beside it, nothing else" },
        { "--simulate", NULL, &typed.simulate, "the false alarms of the whole analysis on made-up machines that drift, jump or favour a slot; --blocks and --seed may stand beside it" },
    };
    const struct cli_command command = {
        "ab", "-a 'COMMAND' -b 'COMMAND' [options]",
        "Compares two commands: FASTER, SLOWER, EQUIVALENT, INCONCLUSIVE, DETERMINISTIC or INVALID, with the effect and its interval.\n"
        "Exits with 0 where a verdict was reached, 1 where --expect is not met, 3 where the comparison is INVALID.",
        option, sizeof option / sizeof *option,
    };
    return hbg__cli_run(&command, argc, argv, ab_line, &typed);
}
