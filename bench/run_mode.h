/* SPDX-License-Identifier: Apache-2.0 */
/* run_mode.h - how a graph is run: kept and run again, built and run each time, or built alone. In the order of enum rival_mode. */
#ifndef HBG_BENCH_RUN_MODE_H
#define HBG_BENCH_RUN_MODE_H

enum bench_mode { BENCH_AGAIN, BENCH_ANEW, BENCH_SUBMIT, BENCH_MODES };

#endif /* HBG_BENCH_RUN_MODE_H */
