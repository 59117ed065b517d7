/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs of NVIDIA, as the program nvidia-smi tells of them: clocks, power, temperature, why clocks are held down, who else works there.
 *
 * A look starts that program twice, which takes tens of milliseconds and locks of the driver. So it is taken between processes of the arms and
 * never while a round is timed: before the first of a batch, behind the last, and half way where a batch has more than one. Looks
 * at both ends lie outside of the stretch that the other conditions of a batch are taken of; that in the middle is in it, and its processes count as the tool's own.
 *
 * Where nvidia-smi is missing, finds nothing, fails or hangs there are no looks, and no comparison fails for it. CUDA_VISIBLE_DEVICES that hides
 * all of them ("", "-1") says that the arms use none.
 */
#ifndef HBG_TOOLS_AB_GPU_H
#define HBG_TOOLS_AB_GPU_H

#include "tools/ab/record.h"

enum { AB_GPUS_MOST = 64, AB_GPU_UUID = 64 };

/* What holds clocks down, as bits of nvmlClocksThrottleReasons; the four of AB_GPU_SLOWED are steps of throttling. A limit on power that is
   reached (4) is how such a device works. */
enum { AB_GPU_HW_SLOWDOWN = 0x8, AB_GPU_SW_THERMAL = 0x20, AB_GPU_HW_THERMAL = 0x40, AB_GPU_POWER_BRAKE = 0x80 };
enum { AB_GPU_SLOWED = AB_GPU_HW_SLOWDOWN | AB_GPU_SW_THERMAL | AB_GPU_HW_THERMAL | AB_GPU_POWER_BRAKE };

struct ab_gpu_row { struct ab_gpu gpu; char uuid[AB_GPU_UUID]; };

/* Lines of index, uuid, clocks.sm, clocks.mem, power.draw, temperature.gpu and the reasons, as csv,noheader,nounits. A number that is none, as
   "[N/A]", is NaN; a line without index or uuid is left out. Returns how many. */
size_t hbg__ab_gpu_read(const char *text, struct ab_gpu_row *row, size_t room);

/* Lines of pid, gpu_uuid and used_memory: counts them into the rows. With `holders` a fact for each as well. False: no memory. */
bool hbg__ab_gpu_read_processes(const char *text, struct ab_gpu_row *row, size_t count, struct ab_facts *holders);

/* Those bits of AB_GPU_SLOWED that are set; none where nothing is told, or nothing that can be. */
uint64_t hbg__ab_gpu_slowed(double throttle);

/* "hardware slowdown, power brake"; "" for other bits. `text` is returned. */
const char *hbg__ab_gpu_words(double throttle, char *text, size_t size);

/* Looks are taken while it is `there`. Nothing is waited for longer than `timeout_s`. */
struct ab_gpus { bool there; uint32_t failures; uint32_t field; double timeout_s, look_s; };

/* Two first looks, with `timeout_s` set: are there any, and how long does a look take? Adds "GPU 0" and so on with their uuid to `host`,
   "nvidia-smi" if it was found and tells nothing, and to `holders` who works on them. False: no memory. */
bool hbg__ab_gpus_find(struct ab_gpus *gpus, struct ab_facts *host, struct ab_facts *holders);

/* At that moment of the batch. After a look that took too long, or three in a row that failed, there are no more, and "nvidia-smi" in `host`
   says why. False: no memory. */
bool hbg__ab_gpus_look(struct ab_gpus *gpus, struct ab_batch *batch, uint32_t moment, struct ab_facts *host);

#endif
