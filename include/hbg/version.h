/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - the library's version, and how its symbols are exported. */
#ifndef HBG_VERSION_H
#define HBG_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HBG_API __attribute__((visibility("default")))
#define HBG_CHECK __attribute__((warn_unused_result))
#define HBG__INLINE static inline __attribute__((always_inline, unused))
#else
#define HBG_API
#define HBG_CHECK
#define HBG__INLINE static inline
#endif

#define HBG_VERSION_MAJOR 0
#define HBG_VERSION_MINOR 1
#define HBG_VERSION_PATCH 0

/* Version, commit and dirty flag of the library that is loaded: "0.1.0 (1a2b3c4d, dirty)". Never NULL, static storage. */
HBG_API const char *hbg_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_VERSION_H */
