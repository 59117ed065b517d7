/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.c - graphs of programs, and such as strain a scheduler in one way each.
 *
 *     chain         steps tasks, each after the one before
 *     independent   width tasks without order
 *     wavefront     width x width cells; each reads its upper and its left neighbour
 *     cholesky      width x width tiles of a matrix, factored in place
 *     gemm          C += A B with width x width tiles each: width^3 tasks, those of one tile of C one after the other
 *     reduction     width leaves, joined in pairs
 *     random        steps tasks; each reads `radix` cells that were written before, drawn at random, and writes its own
 *     layered       steps layers of width tasks; each reads `radix` cells of the layer before, drawn at random, and writes its own
 *     decoder       steps layers of a transformer that makes one token: `width` heads, each of `radix` pieces, and `width` tiles of each product
 *
 * All but chain, cholesky, gemm, reduction and decoder write each cell once.
 */
#include <stddef.h>

#include "bench/dag/dag.h"

static void chain(struct dag *dag, struct dag_size size)
{
    for (uint32_t i = 0; i < size.steps; i++) hbg__dag_add(dag, 0, true, DAG_NONE);
}

static void independent(struct dag *dag, struct dag_size size)
{
    for (uint32_t i = 0; i < size.width; i++) hbg__dag_add(dag, i, true, DAG_NONE);
}

static void wavefront(struct dag *dag, struct dag_size size)
{
    for (uint32_t i = 0; i < size.width; i++)
        for (uint32_t j = 0; j < size.width; j++) {
            hbg__dag_add(dag, i * size.width + j, false, DAG_NONE);
            if (i) hbg__dag_read(dag, (i - 1) * size.width + j);
            if (j) hbg__dag_read(dag, i * size.width + j - 1);
        }
}

static void cholesky(struct dag *dag, struct dag_size size)
{
    uint32_t side = size.width;
    for (uint32_t k = 0; k < side; k++) {
        hbg__dag_add(dag, k * side + k, true, DAG_POTRF);
        for (uint32_t i = k + 1; i < side; i++) {
            hbg__dag_add(dag, i * side + k, true, DAG_TRSM);
            hbg__dag_read(dag, k * side + k);
        }
        for (uint32_t i = k + 1; i < side; i++) {
            hbg__dag_add(dag, i * side + i, true, DAG_SYRK);
            hbg__dag_read(dag, i * side + k);
            for (uint32_t j = k + 1; j < i; j++) {
                hbg__dag_add(dag, i * side + j, true, DAG_GEMM_NT);
                hbg__dag_read(dag, i * side + k);
                hbg__dag_read(dag, j * side + k);
            }
        }
    }
}

/* cells of C, then those of A, then those of B */
static void gemm(struct dag *dag, struct dag_size size)
{
    uint32_t side = size.width, a = side * side, b = 2 * a;
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++)
            for (uint32_t k = 0; k < side; k++) {
                hbg__dag_add(dag, i * side + j, true, DAG_GEMM_NN);
                hbg__dag_read(dag, a + i * side + k);
                hbg__dag_read(dag, b + k * side + j);
            }
    dag->cell_count = 3 * a;
}

static void reduction(struct dag *dag, struct dag_size size)
{
    for (uint32_t i = 0; i < size.width; i++) hbg__dag_add(dag, i, false, DAG_NONE);
    for (uint32_t apart = 1; apart < size.width; apart *= 2)
        for (uint32_t i = 0; i + apart < size.width; i += 2 * apart) {
            hbg__dag_add(dag, i, true, DAG_NONE);
            hbg__dag_read(dag, i + apart);
        }
}

/* a number below `below`, by a linear congruential generator */
static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

static void random_reads(struct dag *dag, struct dag_size size)
{
    uint64_t state = 12345;
    hbg__dag_add(dag, 0, false, DAG_NONE);
    for (uint32_t i = 1; i < size.steps; i++) {
        hbg__dag_add(dag, i, false, DAG_NONE);
        for (uint32_t n = 0; n < size.radix; n++) hbg__dag_read(dag, draw(&state, i));
    }
}

static void layered(struct dag *dag, struct dag_size size)
{
    uint64_t state = 12345;
    for (uint32_t step = 0; step < size.steps; step++)
        for (uint32_t i = 0; i < size.width; i++) {
            hbg__dag_add(dag, step * size.width + i, false, DAG_NONE);
            for (uint32_t n = 0; step && n < size.radix; n++) hbg__dag_read(dag, (step - 1) * size.width + draw(&state, size.width));
        }
}

/* `count` tasks, from cell `own` on; each reads `reads` cells from `from` on, those that follow for each task where it is `apart` */
static void group(struct dag *dag, uint32_t count, uint32_t own, bool updates, uint32_t from, uint32_t reads, uint32_t apart)
{
    for (uint32_t i = 0; i < count; i++) {
        hbg__dag_add(dag, own + i, updates, DAG_NONE);
        for (uint32_t n = 0; n < reads; n++) hbg__dag_read(dag, from + i * apart + n);
    }
}

/* Cell 0 is what goes from layer to layer; the cells of a layer are its own. */
static void decoder_layer(struct dag *dag, uint32_t first, uint32_t width, uint32_t pieces)
{
    uint32_t norm = first, query = norm + 2, cache = query + width, part = cache + width, mixed = part + width * pieces, out = mixed + width;
    uint32_t wide = out + width, down = wide + 2 * width;
    group(dag, 1, norm, false, 0, 1, 0);
    group(dag, width, query, false, norm, 1, 0);
    for (uint32_t h = 0; h < width; h++) {
        group(dag, 1, cache + h, true, query + h, 1, 0);
        for (uint32_t n = 0; n < pieces; n++) {
            group(dag, 1, part + h * pieces + n, false, query + h, 1, 0);
            hbg__dag_read(dag, cache + h);
        }
        group(dag, 1, mixed + h, false, part + h * pieces, pieces, 0);
    }
    group(dag, width, out, false, mixed, width, 0);
    group(dag, 1, 0, true, out, width, 0);
    group(dag, 1, norm + 1, false, 0, 1, 0);
    group(dag, 2 * width, wide, false, norm + 1, 1, 0);
    group(dag, width, wide, true, wide + width, 1, 1);
    group(dag, width, down, false, wide, width, 0);
    group(dag, 1, 0, true, down, width, 0);
}

static void decoder(struct dag *dag, struct dag_size size)
{
    uint32_t cells = 2 + size.width * (7 + size.radix);
    hbg__dag_add(dag, 0, false, DAG_NONE);
    for (uint32_t layer = 0; layer < size.steps; layer++) decoder_layer(dag, 1 + layer * cells, size.width, size.radix);
}

const struct dag_maker hbg__dag_graphs[] = {
    { "chain", chain, { 1, 100000, 1 } },
    { "independent", independent, { 100000, 1, 1 } },
    { "wavefront", wavefront, { 316, 1, 2 } },
    { "cholesky", cholesky, { 64, 1, 2 } },
    { "gemm", gemm, { 32, 1, 2 } },
    { "reduction", reduction, { 65536, 1, 1 } },
    { "random", random_reads, { 1, 100000, 4 } },
    { "layered", layered, { 256, 390, 16 } },
    { "decoder", decoder, { 16, 40, 4 } },
    { NULL, NULL, { 0, 0, 0 } },
};
