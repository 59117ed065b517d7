/* SPDX-License-Identifier: Apache-2.0 */
/* run_mode.h - how a graph is run: kept and run again, built and run each time, or built alone, in the order of enum rival_mode; and what hbg
 * alone has, built from the start each time, where `anew` compares the build with the last one.
 */
#ifndef HBG_BENCH_RUN_MODE_H
#define HBG_BENCH_RUN_MODE_H

enum bench_mode { BENCH_AGAIN, BENCH_ANEW, BENCH_SUBMIT, BENCH_MODES, BENCH_MADE = BENCH_MODES, BENCH_OWN_MODES };

#endif /* HBG_BENCH_RUN_MODE_H */
