/* SPDX-License-Identifier: Apache-2.0 */
/* rival.c - see rival.h. */
#include "bench/rivals/rival.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "bench/tiles.h"

enum { GRAPHS_MAX = 64, WORD_MAX = 32, LONG_BATCHES = 20 };

/* A graph that was asked for. `state` is the runtime's; NULL: it was closed. */
struct opened { struct dag dag; struct work work; struct tiles tiles; void *state; };

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

/* The graph that a line is about, or NULL once a "no" was said. */
static struct opened *find(const char *line)
{
    uint32_t index;
    if (sscanf(line, "%*s %" SCNu32, &index) == 1 && index < opened_count && opened[index].state) return &opened[index];
    say_no("such graph");
    return NULL;
}

static void open_tiles(const char *line)
{
    struct opened *o = find(line);
    char path[64];
    uint32_t edge;
    if (!o) return;
    if (sscanf(line, "%*s %*s %" SCNu32 " %63s", &edge, path) != 2 || o->tiles.element || !hbg__tiles_join(&o->tiles, &o->dag, edge, path)) {
        say_no("tiles, or no memory for them");
        return;
    }
    o->work.tile = o->tiles.element;
    o->work.edge = edge;
    puts("tiles");
}

static void close_graph(const char *line)
{
    struct opened *o = find(line);
    if (!o) return;
    rival->close(o->state);
    hbg__tiles_close(&o->tiles);
    hbg__work_close(&o->work);
    hbg__dag_free(&o->dag);
    o->state = NULL;
    puts("closed");
}

static void say_residual(const char *line)
{
    struct opened *o = find(line);
    if (o && o->tiles.element) printf("residual %g\n", hbg__tiles_residual(&o->tiles));
    else if (o) say_no("tiles");
}

/* "tiles", or a body of work.h. False once a "no" was said. */
static bool set_body(struct opened *o, const char *body)
{
    work_body_fn *found = hbg__tiles_body;
    bool known = strcmp(body, "tiles") == 0 && o->tiles.element, has_memory = known || hbg__work_body(body, &found, &known);
    if (!has_memory) say_no("memory");
    else if (!known) say_no("such work");
    else o->work.body = found;
    return has_memory && known;
}

/* What a line says of a run; its graph, with body and length set, or NULL once a "no" was said. */
static struct opened *read_run(const char *line, enum rival_mode *mode, uint64_t *ns)
{
    static const char *const modes[RIVAL_MODES] = { "again", "anew", "submit" };
    char how[WORD_MAX], body[WORD_MAX];
    struct opened *o = find(line);
    uint64_t length;
    if (!o) return NULL;
    int found = sscanf(line, "%*s %*s %31s %31s %" SCNu64 " %" SCNu64, how, body, &length, ns) + 1;
    for (*mode = RIVAL_AGAIN; found >= 4 && *mode < RIVAL_MODES && strcmp(modes[*mode], how); ++*mode) continue;
    if (found < 4 || *mode == RIVAL_MODES) say_no("such line");
    else if (!(rival->modes >> *mode & 1)) say_no("such way to run it");
    else if (set_body(o, body)) {
        o->work.length = length;
        return o;
    }
    return NULL;
}

static uint64_t run(struct opened *o, enum rival_mode mode)
{
    if (o->tiles.element) hbg__tiles_restore(&o->tiles);
    return rival->run(o->state, mode);
}

static void run_batch(const char *line)
{
    enum rival_mode mode;
    uint64_t wanted_ns = 0, sum_ns = 0, runs = 0;
    struct opened *o = read_run(line, &mode, &wanted_ns);
    if (!o) return;
    uint64_t first_ns = run(o, mode);
    if (first_ns >= wanted_ns * LONG_BATCHES) {
        sum_ns = first_ns;
        runs = 1;
    }
    while (runs == 0 || sum_ns < wanted_ns) {
        sum_ns += run(o, mode);
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
    run(o, mode);
    printf("wrong %" PRIu64 "\n", hbg__work_check_end(&o->work));
}

static void answer(const char *line)
{
    if (strncmp(line, "open ", 5) == 0) open_graph(line);
    else if (strncmp(line, "batch ", 6) == 0) run_batch(line);
    else if (strncmp(line, "check ", 6) == 0) run_checked(line);
    else if (strncmp(line, "tiles ", 6) == 0) open_tiles(line);
    else if (strncmp(line, "residual ", 9) == 0) say_residual(line);
    else if (strncmp(line, "close ", 6) == 0) close_graph(line);
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
    prctl(PR_SET_PDEATHSIG, SIGKILL);   /* a bench that is killed leaves nobody behind who is stopped */
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
