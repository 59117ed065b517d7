/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of built-in workloads.
 */
#include "workloads.h"

const struct hbg_workload *const hbg__workloads[] = {
    &hbg__vector_workload,
    &hbg__bgemm_workload,
    &hbg__cholesky_workload,
    &hbg__gp_workload,
    NULL,
};
