/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what a bench ran on. */
#ifndef HBG_BENCH_MACHINE_H
#define HBG_BENCH_MACHINE_H

struct bench_machine {
    int cpus;                           /* that this process may use */
    char model[128];                    /* of the first processor; "" where it is not told */
    char governor[32];                  /* "performance", ..; "" where it is not told */
    char kernel[256];
    const char *compiler, *library, *blas;      /* blas: the kernels of OpenBLAS; NULL: it is not there */
    double round_trip_ns;               /* from core to core and back, before the bench; 0: there are not two cores */
    double round_trip_after_ns;
    char begun[32];                     /* "2026-11-30T10:20:30Z" */
    double load, load_after;            /* runnable threads of the machine, the mean of a minute, before and after */
};

void hbg__bench_machine_get(struct bench_machine *machine);
void hbg__bench_machine_get_after(struct bench_machine *machine);

/* A cache line sent from one CPU to another and back: the median of some thousands; 0: there are not two. About 10 ms. */
double hbg__bench_round_trip_ns(void);

#endif /* HBG_BENCH_MACHINE_H */
