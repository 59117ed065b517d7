/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.h - matrices of f64 in tiles, for the graphs `cholesky` and `gemm` of bench/dag: data, work, and what must come out.
 *
 * Cell c of the graph is a tile of edge x edge elements, row-major without gaps. A task does one tile operation, through OpenBLAS on one
 * thread where it was found, else in plain C. `cholesky` factors a symmetric, diagonally dominant matrix; `gemm` computes C = -A B.
 */
#ifndef HBG_BENCH_TILES_H
#define HBG_BENCH_TILES_H

#include <stddef.h>

#include "bench/dag/work.h"

struct tiles {
    const struct dag *dag;
    uint32_t edge;
    uint64_t written;                   /* elements of the cells that tasks write; these come first */
    double *element, *input;            /* the cells; what those that are written hold before a run */
    size_t size_bytes;                  /* of both */
    int file;                           /* an open file that holds both; -1: they are somebody else's */
};

/* The graph is borrowed. False: no memory, or a graph without tile operations; nothing is to be freed. */
bool hbg__tiles_open(struct tiles *tiles, const struct dag *dag, uint32_t edge);
/* Those that another process has opened for the same graph, in `path`: the same pages of memory, since where these lie makes as much as a tenth
   of the time of a run. */
bool hbg__tiles_join(struct tiles *tiles, const struct dag *dag, uint32_t edge, const char *path);
/* Where another process finds them. */
void hbg__tiles_path(const struct tiles *tiles, char *path, size_t size_bytes);
void hbg__tiles_close(struct tiles *tiles);

/* Puts the input back, before a run. */
void hbg__tiles_restore(struct tiles *tiles);

/* What a task does; the work's tile and edge are those of the tiles. */
void hbg__tiles_body(const struct work *work, uint32_t task);

/* How far the last run is off, relative to the result, found with one vector: |A x - L L' x| / |A x|, |C x + A B x| / |A B x|. */
double hbg__tiles_residual(const struct tiles *tiles);

/* Floating point operations of a run. */
double hbg__tiles_flops(const char *name, double n);

/* The same algorithm over the whole matrix by OpenBLAS on so many threads, n x n, in nanoseconds; 0: there is no OpenBLAS, or no memory.
   Threads go back to one. */
uint64_t hbg__tiles_whole(const char *name, uint32_t n, int threads);

/* Which kernels OpenBLAS has chosen, "Haswell": a processor that it does not know gets slow ones. NULL: there is no OpenBLAS. */
const char *hbg__tiles_blas(void);

#endif /* HBG_BENCH_TILES_H */
