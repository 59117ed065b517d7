/* SPDX-License-Identifier: Apache-2.0 */
/* tbb.cpp - oneTBB's flow graph: nodes and edges are made by hand, once or for each run. */
#include <deque>
#include <memory>
#include <vector>

#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>

#include "bench/rivals/rival.h"

namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct made {
    tbb::flow::graph graph;
    std::deque<node> nodes;             /* nodes stay where they are */
    std::vector<node *> roots;
};

struct state {
    const work *of;
    tbb::task_arena arena;
    std::unique_ptr<made> kept;

    state(const work *w, int workers) : of(w), arena(workers, 1) {}
};

std::unique_ptr<made> make(const work *w)
{
    const dag *d = w->dag;
    auto m = std::make_unique<made>();
    for (uint32_t i = 0; i < d->task_count; i++) {
        m->nodes.emplace_back(m->graph, [w, i](const tbb::flow::continue_msg &) { hbg__work_do(w, i); });
        if (d->first[i] == d->first[i + 1]) m->roots.push_back(&m->nodes.back());
        for (uint32_t e = d->first[i]; e < d->first[i + 1]; e++) tbb::flow::make_edge(m->nodes[d->producer[e]], m->nodes[i]);
    }
    return m;
}

void run_made(made *m)
{
    for (node *root : m->roots) root->try_put(tbb::flow::continue_msg());
    m->graph.wait_for_all();
}

void *open_graph(const work *w, int workers)
{
    return new state(w, workers);
}

/* Taking a graph away again is in no time: what hbg needs for that is in none either. */
uint64_t run_graph(void *of, rival_mode mode)
{
    auto *s = static_cast<state *>(of);
    uint64_t elapsed = 0;
    s->arena.execute([&] {
        if (mode == RIVAL_AGAIN && !s->kept) s->kept = make(s->of);
        uint64_t begin = rival_clock_ns();
        auto fresh = mode == RIVAL_AGAIN ? nullptr : make(s->of);
        if (mode != RIVAL_SUBMIT) run_made(fresh ? fresh.get() : s->kept.get());
        elapsed = rival_clock_ns() - begin;
    });
    return elapsed;
}

void close_graph(void *of)
{
    auto *s = static_cast<state *>(of);
    s->arena.execute([&] { s->kept.reset(); });
    delete s;
}

} // namespace

int main(int argc, char **argv)
{
    const rival tbb_rival = { "oneTBB flow graph", 1 << RIVAL_AGAIN | 1 << RIVAL_ANEW | 1 << RIVAL_SUBMIT, open_graph, run_graph,
                              close_graph, nullptr, nullptr };
    return rival_main(&tbb_rival, argc, argv);
}
