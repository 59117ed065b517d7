/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - see inside.h. */
#include "base/inside.h"

_Thread_local enum hbg__inside hbg__inside = HBG__INSIDE_NOTHING;
