/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h - the graphs that are measured, as a user would submit them.
 *
 * A shape is a build function over `buffers` boundary arguments of one extent, each a device buffer of f32. Tiles are 8 x 8
 * elements and blocks 16: what a tile holds plays no part, since kernels are empty.
 */
#ifndef HBG_BENCH_SHAPES_H
#define HBG_BENCH_SHAPES_H

#include <hbg/hbg.h>

/* Parameters of every build function here. */
struct bench_size { int64_t tasks, args; };

struct bench_shape {
    const char *name;
    hbg_build_fn *build;                /* params: struct bench_size */
    uint32_t buffers;                   /* boundary arguments: the first ones `in`, the others `inout` */
    struct hbg_shape extent;            /* of each, in elements */
    uint32_t inputs;                    /* how many are `in` */
    const char *dag;                    /* what bench/dag calls this graph; NULL: it has none such */
};

enum bench_shape_id {
    /* `tasks` tasks of `args` arguments: task i takes buffers i, i+1, .. at tile i / buffers, the first inout, the others in */
    BENCH_ARGS,                         /* over 64 buffers of 64 x 64 tiles */
    BENCH_ARGS_OF_3,                    /* over 3 such buffers */
    BENCH_CHAIN,                        /* 100,000 tasks inout of one block */
    BENCH_INDEPENDENT,                  /* 100,000 blocks, a task each */
    BENCH_WAVEFRONT,                    /* 316 x 316 tiles; each reads its upper and its left neighbour */
    BENCH_CHOLESKY,                     /* 64 x 64 tiles: 45,760 tasks */
    BENCH_GEMM,                         /* 32 x 32 x 32 tasks */
    BENCH_TREE,                         /* 65,536 leaves and 65,535 joins */
    BENCH_RANDOM,                       /* 100,000 tasks; each reads four earlier blocks and writes its own */
    BENCH_LAYERED,                      /* 390 layers of 256 blocks; each reads sixteen of the layer before */
    BENCH_WHOLE,                        /* write a whole buffer, update its 4,096 tiles, read the whole; 12 times */
    BENCH_TRANSPOSED,                   /* tiles of one buffer, read through its transpose, into another, and back */
    BENCH_RESHAPED,                     /* rows written, and read as pieces of the flat view, row by row */
    BENCH_ASKEW,                        /* the same with pieces that lie across rows */
    BENCH_MANY_TO_MANY,                 /* 1,000 writers of a block each, then 1,000 readers of all blocks; 25 times */
    BENCH_SHAPE_COUNT
};

const struct bench_shape *hbg__bench_shape(enum bench_shape_id id);

/* Every kernel does nothing; their signatures are checked at each submit. */
extern const struct hbg_kernel hbg__bench_kernels[];
size_t hbg__bench_kernel_count(void);

/* Bytes that each of the shape's buffers needs. */
size_t hbg__bench_shape_bytes(const struct bench_shape *shape);

#endif /* HBG_BENCH_SHAPES_H */
