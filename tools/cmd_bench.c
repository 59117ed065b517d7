/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg bench: submit, bind or dispatch; the measurements are in bench/.
 */
#include "command.h"

#include "bench/bench.h"

int hbg__cmd_bench(int argc, char **argv)
{
    return hbg__bench_main(argc, argv);
}
