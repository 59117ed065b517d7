/* SPDX-License-Identifier: Apache-2.0 */
/* hbg.h - the whole public interface, in reading order.
 *
 * A device runs programs. A program is a table of kernels and a build function. A run calls the build function, which submits tasks
 * over the arguments of the run; what orders the tasks follows from the regions that they read and write.
 *
 *     hbg_device_open -> hbg_program_create -> { hbg_run_sync } * -> hbg_program_destroy -> hbg_device_close
 *
 * One list, one numbering: an argument's position is its place among the regions and scalars of the list it was passed in.
 * hbg_after() takes no position. The same positions are used by the submit, by the kernel's view and by the boundary.
 *
 * The library never prints, never ends the process for what a user did, sets no signal handlers and leaves the affinity of the
 * caller's threads alone.
 */
#ifndef HBG_HBG_H
#define HBG_HBG_H

#include <hbg/version.h>
#include <hbg/status.h>
#include <hbg/types.h>
#include <hbg/region.h>
#include <hbg/arg.h>
#include <hbg/kernel.h>
#include <hbg/graph.h>
#include <hbg/subgraph.h>
#include <hbg/log.h>
#include <hbg/trace.h>
#include <hbg/platform.h>
#include <hbg/device.h>
#include <hbg/run.h>
#include <hbg/image.h>
#include <hbg/describe.h>
#include <hbg/workload.h>

#endif /* HBG_HBG_H */
