/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - the bytes of a graph that a device needs. docs/image-format.md describes them. */
#ifndef HBG_IMAGE_H
#define HBG_IMAGE_H

#include <hbg/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * hbg_run_image - the image that a run executes: the host's copy, complete and constant.
 *
 * run         in   prepared and not finished
 * image       out  borrowed until hbg_run_finish()
 * size_bytes  out  its size
 *
 * Threads  any
 * Errors   HBG_E_STALE, HBG_E_NULL, HBG_E_REENTRANT, HBG_E_DEVICE (in the child of a fork)
 */
HBG_API HBG_CHECK enum hbg_status hbg_run_image(struct hbg_run run, const void **image, size_t *size_bytes);

/**
 * hbg_image_verify - walk a whole image and trust nothing in it.
 *
 * image       in   size_bytes bytes, 8-byte aligned; borrowed for the call
 * error       out  may be NULL: what is wrong, and at which task
 *
 * What it finds: any word with which a reader that follows the format would leave the image, the heap or the base table, miss a task
 * or wait for ever. What it cannot know: whether a value is the one that was meant.
 *
 * Threads  any, at any time
 * Cost     O(tasks + edges + arguments), one allocation of a word per task
 * Errors   HBG_E_IMAGE (damaged or foreign), HBG_E_NULL, HBG_E_NO_MEMORY
 */
HBG_API HBG_CHECK enum hbg_status hbg_image_verify(const void *image, size_t size_bytes, struct hbg_error *error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_IMAGE_H */
