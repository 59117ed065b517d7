/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of a workload's results.
 *
 * The first run's results are compared with the expected copies, element by element, within the workload's tolerances,
 * and by its residual where it has one. Every later run must leave the same bits as the first.
 */
#ifndef HBG_TOOLS_VERIFY_H
#define HBG_TOOLS_VERIFY_H

#include "setup.h"

struct verdict {
    bool verified;                      /* so far */
    uint64_t runs;                      /* that were looked at */
    double max_abs_error;               /* of all results; infinite where one is no number */
    bool has_residual;
    double residual;
    uint64_t digest;                    /* of the bits of all results: the same for the same results anywhere */
    char text[256];                     /* the first thing that is wrong */
};

/* Calls golden and makes room; before the first run. False: s->text says why. */
bool hbg__verify_prepare(struct hbg_setup *s, struct verdict *v);

/* Looks at what the run just finished left. False: s->text says why it could not look; a wrong result is in the verdict. */
bool hbg__verify_run(struct hbg_setup *s, struct verdict *v);

#endif
