/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.h - one number for the layout of an image: any change of a wire struct changes it.
 *
 * It stands in the head. Who reads an image compares it first: a skewed layout gives wrong values, not failures.
 */
#ifndef HBG_IMAGE_FINGERPRINT_H
#define HBG_IMAGE_FINGERPRINT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the sizes and the field offsets of every struct that travels, and of the constants between them. Never 0. */
uint64_t hbg__image_fingerprint(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_IMAGE_FINGERPRINT_H */
