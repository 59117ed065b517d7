/* SPDX-License-Identifier: Apache-2.0 */
/* trace_test.c - damaged traces: the reader takes what is whole, counts what is not, and does nothing else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/devices.h"
#include "support/mutate.h"
#include "tools/trace_graph.h"
#include "tools/trace_page.h"
#include "tools/trace_perfetto.h"

enum { CAPACITY = 8192, ROUNDS = 4000, RECORDS = 12 };

/* A log of RECORDS records, and foreign text between them; where each record's line ends goes to end[]. */
static size_t make_log(char text[CAPACITY], size_t end[RECORDS])
{
    size_t used = 0;
    for (int i = 0; i < RECORDS; i++) {
        const char *name = i == 0 ? "trace.begin" : i == RECORDS - 1 ? "trace.end" : "ext.user.a%20b";
        if (i == 5) used += (size_t)snprintf(text + used, CAPACITY - used, "a line of somebody else\n");
        used += (size_t)snprintf(text + used, CAPACITY - used, "[STRACE] v=1 pid=7 tid=%d inv=%d prog=00000000000000ff depth=0 name=%s ts=%d dur=5 dev=1 seq=%d", 7 + i % 2, i, name, 100 * i, i);
        if (i == RECORDS - 1) used += (size_t)snprintf(text + used, CAPACITY - used, " emitted=%d dropped=0", RECORDS - 1);
        used += (size_t)snprintf(text + used, CAPACITY - used, " k=v%%25 ;\n");
        end[i] = used;
    }
    return used;
}

static struct trace_log parse(const char *text, size_t size)
{
    struct trace_log log;
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    assert_true(hbg__trace_log_parse(&log, copy, size));
    return log;
}

/* Cut anywhere: the whole records before the cut are there, and never are all said to be. */
static void cut_anywhere(void **state)
{
    char text[CAPACITY];
    size_t end[RECORDS], size = make_log(text, end);
    (void)state;
    for (size_t cut = 0; cut <= size; cut++) {
        struct trace_log log = parse(text, cut);
        size_t whole = 0;
        while (whole < RECORDS && end[whole] - 1 <= cut) whole++;       /* the line's end is no part of the record */
        assert_int_equal(log.record_count, whole);
        bool complete = log.session_count > 0 && hbg__trace_log_unfinished(&log) == 0 && hbg__trace_log_lost(&log) == 0;
        assert_int_equal(complete, whole == RECORDS);
        hbg__trace_log_free(&log);
    }
}

/* A piece out of the middle: what it took is counted exactly. */
static void torn_in_the_middle(void **state)
{
    char text[CAPACITY], torn[CAPACITY];
    size_t end[RECORDS], size = make_log(text, end);
    (void)state;
    for (int first = 0; first < RECORDS - 1; first++) {
        for (int last = first; last < RECORDS - 1; last++) {
            size_t from = (first ? end[first - 1] : 0) + 30, to = end[last] - 20;
            memcpy(torn, text, from);
            memcpy(torn + from, text + to, size - to);
            struct trace_log log = parse(torn, size - (to - from));
            assert_int_equal(hbg__trace_log_lost(&log), last - first + 1);
            assert_int_equal(log.record_count, RECORDS - (size_t)(last - first + 1));
            hbg__trace_log_free(&log);
        }
    }
}

/* A run with tasks. */
static size_t add_run(char *text, size_t used)
{
    static const char head[] = "[STRACE] v=1 pid=7 tid=7 inv=3 prog=00000000000000ff depth=0";
    used += (size_t)snprintf(text + used, CAPACITY - used, "%s name=chip.run ts=10 dur=90 dev=1 seq=12 slot=0 status=HBG_OK ;\n", head);
    used += (size_t)snprintf(text + used, CAPACITY - used, "%s name=chip.run.bind ts=11 dur=9 dev=1 seq=13 ;\n", head);
    used += (size_t)snprintf(text + used, CAPACITY - used, "%s name=chip.run.runner_run.device_wall ts=30 dur=50 dev=1 seq=14 slot=0 accepted=30 executed=3 skipped=0 ;\n", head);
    for (int i = 0; i < 4; i++)
        used += (size_t)snprintf(text + used, CAPACITY - used, "%s name=chip.run.runner_run.device_wall.%s ts=%d dur=%d dev=1 seq=%d task=%d kernel=k core=%d dispatched=31 ready=30%s ;\n",
                                 head, i == 2 ? "noop" : "task", 32 + 10 * i, i == 2 ? 0 : 7, 15 + i, i, i % 2, i == 3 ? " producers=2,0" : i == 2 ? " producers=1" : "");
    return used;
}

/* Whatever was read, all that can be made of it. */
static void use(const struct trace_log *log)
{
    struct trace_rounds rounds;
    struct trace_graph graph;
    struct trace_path path;
    FILE *sink = fopen("/dev/null", "w");
    uint64_t drawn, edges;
    assert_true(hbg__trace_rounds_make(&rounds, log, 1));
    for (size_t i = 0; i < rounds.round_count; i++) {
        if (hbg__trace_graph_make(&graph, &rounds, &rounds.round[i])) continue;
        assert_true(hbg__trace_path_make(&path, &graph));
        assert_int_equal(path.work + path.scheduler + path.start + path.end, graph.end - graph.begin);
        hbg__trace_path_print(sink, &graph, &path, 1);
        free(path.step);
        hbg__trace_graph_free(&graph);
    }
    hbg__trace_print(sink, &rounds, &(struct trace_wish){ .rounds = true, .tree = true });
    (void)hbg__trace_print_json(sink, &rounds, 1);
    (void)hbg__trace_perfetto(sink, &rounds, 2, &drawn, &edges);
    (void)hbg__trace_page(sink, &rounds);
    (void)hbg__trace_overlap(sink, &rounds);
    hbg__trace_rounds_free(&rounds);
    fclose(sink);
}

static void damaged(void **state)
{
    static const char *const words[] = { "[STRACE] ", "v=1", " ;", ";", "\n", "%", "%41", "=", " ", "seq=", "dev=1", "18446744073709551616", "name=", "trace.begin", "trace.end", "producers=", "task=", "core=", "executed=", "chip.run", "4294967295", ",", "0", "18446744073709551615", NULL };
    char text[CAPACITY];
    size_t end[RECORDS];
    struct hbg__rng rng;
    int less = 0;
    (void)state;
    hbg__rng_seed(&rng, test_seed(4));
    for (int i = 0, rounds = test_scaled(ROUNDS); i < rounds; i++) {
        size_t size = mutate((unsigned char *)text, add_run(text, make_log(text, end)), CAPACITY - 1, words, &rng);
        struct trace_log log = parse(text, size);
        for (size_t k = 0; k < log.record_count; k++) {
            assert_true(log.record[k].session < log.session_count);
            assert_true(log.record[k].first_note + log.record[k].note_count <= log.note_count);
            assert_true(strlen(log.record[k].name) > 0);
        }
        use(&log);
        less += hbg__trace_log_lost(&log) > 0 || hbg__trace_log_unfinished(&log) > 0;
        hbg__trace_log_free(&log);
    }
    assert_true(less > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(cut_anywhere), cmocka_unit_test(torn_in_the_middle), cmocka_unit_test(damaged) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
