/* SPDX-License-Identifier: Apache-2.0 */
/* tbb.cpp - oneTBB's flow graph: nodes and edges are made once, by hand, and the graph is run again. */
#include <deque>
#include <memory>
#include <vector>

#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>

#include "bench/rivals/rival.h"

namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct state {
    tbb::task_arena arena;
    std::unique_ptr<tbb::flow::graph> graph;
    std::deque<node> nodes;             /* nodes stay where they are */
    std::vector<node *> roots;

    explicit state(int workers) : arena(workers, 1) {}
};

void *open_graph(const rival_graph *g, int workers)
{
    auto s = std::make_unique<state>(workers);
    s->arena.execute([&] {
        s->graph = std::make_unique<tbb::flow::graph>();
        for (uint32_t i = 0; i < g->task_count; i++) {
            s->nodes.emplace_back(*s->graph, [](const tbb::flow::continue_msg &) {});
            if (g->first[i] == g->first[i + 1]) s->roots.push_back(&s->nodes.back());
            for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++) tbb::flow::make_edge(s->nodes[g->producer[e]], s->nodes[i]);
        }
    });
    return s.release();
}

uint64_t run_graph(void *of)
{
    auto *s = static_cast<state *>(of);
    uint64_t elapsed = 0;
    s->arena.execute([&] {
        uint64_t begin = rival_clock_ns();
        for (node *root : s->roots) root->try_put(tbb::flow::continue_msg());
        s->graph->wait_for_all();
        elapsed = rival_clock_ns() - begin;
    });
    return elapsed;
}

void close_graph(void *of) { delete static_cast<state *>(of); }

} // namespace

int main(int argc, char **argv)
{
    const rival tbb_rival = { "oneTBB flow graph, run again", open_graph, run_graph, close_graph, nullptr, nullptr };
    return rival_main(&tbb_rival, argc, argv);
}
