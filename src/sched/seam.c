/* SPDX-License-Identifier: Apache-2.0 */
/* seam.c - who is told of the seams. */
#include "sched/seam.h"

#ifdef HBG_DEBUG
void (*hbg__seam)(enum hbg__seam_place place, uint32_t producer, uint32_t task);
#endif
