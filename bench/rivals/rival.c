/* SPDX-License-Identifier: Apache-2.0 */
/* rival.c - see rival.h. */
#include "bench/rivals/rival.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { GRAPHS_MAX = 64, WORD_MAX = 32, LONG_BATCHES = 20 };

/* A graph that was asked for. `state` is the runtime's. */
struct opened { struct dag dag; struct work work; void *state; };

static struct opened opened[GRAPHS_MAX];
static uint32_t opened_count;
static const struct rival *rival;
static int workers;

uint64_t rival_clock_ns(void) { return hbg__clock_ns(); }

static void say_no(const char *why) { printf("no %s\n", why); }

static void open_graph(const char *line)
{
    char name[WORD_MAX];
    struct dag_size size;
    struct opened *o = &opened[opened_count];
    if (sscanf(line, "open %31s %" SCNu32 " %" SCNu32 " %" SCNu32, name, &size.width, &size.steps, &size.radix) != 4) say_no("such line");
    else if (opened_count == GRAPHS_MAX) say_no("room for one more graph");
    else if (!hbg__dag_make(&o->dag, name, size)) say_no("such graph, or no memory for it");
    else if (!hbg__work_open(&o->work, &o->dag)) say_no("memory");
    else if (!(o->state = rival->open(&o->work, workers))) say_no("way to run it");
    else printf("graph %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", opened_count++, o->dag.task_count, o->dag.first[o->dag.task_count]);
}

/* What a line says of a run; its graph, with body and length set, or NULL once a "no" was said. */
static struct opened *read_run(const char *line, enum rival_mode *mode, uint64_t *ns)
{
    static const char *const modes[RIVAL_MODES] = { "again", "anew", "submit" };
    char how[WORD_MAX], body[WORD_MAX];
    uint32_t index;
    uint64_t length;
    bool known = false;
    int found = sscanf(line, "%*s %" SCNu32 " %31s %31s %" SCNu64 " %" SCNu64, &index, how, body, &length, ns);
    for (*mode = RIVAL_AGAIN; found >= 4 && *mode < RIVAL_MODES && strcmp(modes[*mode], how); ++*mode) continue;
    if (found < 4 || index >= opened_count || *mode == RIVAL_MODES) say_no("such line");
    else if (!(rival->modes >> *mode & 1)) say_no("such way to run it");
    else if (!hbg__work_body(body, &opened[index].work.body, &known)) say_no("memory");
    else if (!known) say_no("such work");
    else {
        opened[index].work.length = length;
        return &opened[index];
    }
    return NULL;
}

static void run_batch(const char *line)
{
    enum rival_mode mode;
    uint64_t wanted_ns = 0, sum_ns = 0, runs = 0;
    struct opened *o = read_run(line, &mode, &wanted_ns);
    if (!o) return;
    uint64_t first_ns = rival->run(o->state, mode);
    if (first_ns >= wanted_ns * LONG_BATCHES) {
        sum_ns = first_ns;
        runs = 1;
    }
    while (runs == 0 || sum_ns < wanted_ns) {
        sum_ns += rival->run(o->state, mode);
        runs++;
    }
    printf("ns %" PRIu64 " %" PRIu64 "\n", sum_ns, runs);
}

static void run_checked(const char *line)
{
    enum rival_mode mode;
    uint64_t ns = 0;
    struct opened *o = read_run(line, &mode, &ns);
    if (!o) return;
    hbg__work_check_begin(&o->work);
    rival->run(o->state, mode);
    printf("wrong %" PRIu64 "\n", hbg__work_check_end(&o->work));
}

static void answer(const char *line)
{
    if (strncmp(line, "open ", 5) == 0) open_graph(line);
    else if (strncmp(line, "batch ", 6) == 0) run_batch(line);
    else if (strncmp(line, "check ", 6) == 0) run_checked(line);
    else say_no("such line");
}

int rival_main(const struct rival *which, int argc, char **argv)
{
    char line[160];
    rival = which;
    workers = argc == 2 ? atoi(argv[1]) : 0;
    if (workers < 1) {
        fprintf(stderr, "usage: %s WORKERS; it is started by `hbg bench --rivals`\n", argv[0]);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (rival->begin && rival->begin(workers)) {
        say_no("start with that many workers");
        return 1;
    }
    printf("rival %u %s\n", rival->modes, rival->label);
    while (fgets(line, sizeof line, stdin)) answer(line);
    if (rival->end) rival->end();
    return 0;
}
