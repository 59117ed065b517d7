/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - one submit in progress, between the short way of submit.c and the general one of argument.c. */
#ifndef HBG_GRAPH_SUBMIT_H
#define HBG_GRAPH_SUBMIT_H

#include "graph/graph.h"

struct hbg__submit {
    struct hbg_graph *g;
    const struct hbg__signature *signature;     /* NULL: a noop, whose arguments are not recorded */
    const char *kernel_name;
    uint32_t arg_count;                         /* positions taken so far */
};

/* Check one argument, write its 16 bytes above payload_top, collect its producers. May move the payload. False: latched. */
bool hbg__submit_argument(struct hbg__submit *s, const struct hbg_arg *arg);

#endif /* HBG_GRAPH_SUBMIT_H */
