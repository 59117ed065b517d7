/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a comparison is and what it measured: everything that its verdict follows from.
 *
 *     round      one timed run, or one value that a command reports of itself
 *     batch      rounds of one arm from fresh processes; never pooled with those of another batch
 *     block      four batches, ABBA or BAAB: the unit that statistics count
 *     series     blocks in the order in which they ran
 *     record     a series of A against B, and up to two of A against A
 */
#ifndef HBG_TOOLS_AB_RECORD_H
#define HBG_TOOLS_AB_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_arm { AB_A, AB_B, AB_ARMS };
enum { AB_BATCHES = 4, AB_LEAST_BLOCKS = 6, AB_PILOT_BLOCKS = 8, AB_LEAST_ROUNDS = 30, AB_CONTROLS = 2, AB_TEXT = 192 };

/* The machine at one moment: field, what it is. Sums count from the start of the machine; NaN is what cannot be read. */
#define AB_SAMPLE_MAP(X)                                                                                                      \
    X(at_s, "seconds since the comparison began") X(busy_s, "CPU seconds of all processes") X(own_s, "of which this command and its ended children") \
    X(steal_s, "CPU seconds taken by the host") X(psi_cpu_s, "stall on CPU") X(psi_memory_s, "on memory") X(psi_io_s, "on input and output") \
    X(throttle, "thermal throttle steps") X(limited, "periods in which the control group was throttled")                     \
    X(mhz, "mean frequency") X(celsius, "hottest zone") X(load, "load average of a minute")

struct ab_sample {
#define AB_FIELD(name, words) double name;
    AB_SAMPLE_MAP(AB_FIELD)
#undef AB_FIELD
};
enum { AB_START, AB_MIDDLE, AB_END, AB_SAMPLES };

/* A GPU at one of these moments, between processes of the arms: field, what it is; NaN is what is not told (gpu.h). */
#define AB_GPU_MAP(X)                                                                                                        \
    X(sm_mhz, "clock of its processors") X(memory_mhz, "of its memory") X(watts, "power") X(celsius, "temperature")          \
    X(throttle, "what holds clocks down, as bits") X(others, "processes on it") X(others_mib, "their memory")

struct ab_gpu {
    uint32_t moment, index;             /* AB_START and so on; as nvidia-smi counts */
#define AB_FIELD(name, words) double name;
    AB_GPU_MAP(AB_FIELD)
#undef AB_FIELD
};

/* What a span inside of the metric's took in a batch: the median of its warm rounds. */
struct ab_part { char *name; double level; };

struct ab_batch {
    uint32_t block, slot, arm, padding; /* the block's number in the series, 0..3, enum ab_arm, bytes in the environment */
    double *round, *cold;               /* owned: in time order; cold ones came before and are kept apart */
    size_t round_count, cold_count;
    double counter;                     /* what --expect-differs looks at; NaN: nothing */
    double switches, wait_s;            /* involuntary switches; time on a run queue of the processes that ended last in each round */
    struct ab_sample sample[AB_SAMPLES];
    struct ab_part *part;               /* owned */
    struct ab_gpu *gpu;                 /* owned: looks, in time order; none without an NVIDIA GPU */
    size_t part_count, gpu_count;
};

struct ab_series {
    uint64_t seed;
    struct ab_batch *batch;             /* owned */
    size_t batch_count, batch_room;
    char **dropped;                     /* owned, one for each block: why it does not count, or NULL */
    uint32_t block_count;               /* begun */
};

/* Declared before anything is timed. */
struct ab_rules {
    double margin;                      /* .02 */
    bool mean, higher;                  /* a batch is its mean, not its median; a larger number is better */
    bool differs;                       /* the counter must differ between the arms */
    bool same_arm;                      /* A against A */
    bool gate;                          /* conditions drop blocks */
    uint32_t blocks, pilot;             /* planned; 0, or the blocks after which `blocks` was fixed */
    double resolve;                     /* the half width asked for, or 0 */
};

/* Names and what they are: of the machine, of an arm. */
struct ab_fact { char *name, *value; };
struct ab_facts { struct ab_fact *fact; size_t count; };

/* False: no memory. */
__attribute__((format(printf, 3, 4))) bool hbg__ab_fact(struct ab_facts *facts, const char *name, const char *format, ...);
const char *hbg__ab_fact_get(const struct ab_facts *facts, const char *name);          /* NULL: there is none */
void hbg__ab_facts_free(struct ab_facts *facts);

void hbg__ab_series_free(struct ab_series *series);

/* A batch at the end of the series, of the latest block or the one after it; NULL: no memory. */
struct ab_batch *hbg__ab_series_add(struct ab_series *series, uint32_t block);

/* A value at the end of a batch's rounds, or of its cold ones. False: no memory. */
bool hbg__ab_batch_add(struct ab_batch *batch, bool cold, double value);

/* A part of a batch. False: no memory. */
bool hbg__ab_batch_part(struct ab_batch *batch, const char *name, double level);

/* A look at a GPU. False: no memory. */
bool hbg__ab_batch_gpu(struct ab_batch *batch, const struct ab_gpu *gpu);

/* Marks a block. False: no memory. */
bool hbg__ab_series_drop(struct ab_series *series, uint32_t block, const char *why);

uint32_t hbg__ab_series_dropped(const struct ab_series *series);

#endif
