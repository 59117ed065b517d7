/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - the library's version, and how its symbols are exported.
 *
 * Structs that may grow begin with their size, which HBG_OPTIONS() sets. A call that is given a smaller one than its library knows, or
 * options that set something behind what it knows, returns HBG_E_ABI. Every header compiles alone, as C11 and as C++17.
 */
#ifndef HBG_VERSION_H
#define HBG_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* HBG_API marks what the shared library exports. HBG_CHECK marks functions whose status must be looked at: a compiler that knows
   the attribute warns where it is dropped. */
#if defined(__GNUC__)
#define HBG_API __attribute__((visibility("default")))
#define HBG_CHECK __attribute__((warn_unused_result))
#define HBG__INLINE static inline __attribute__((always_inline, unused))
#else
#define HBG_API
#define HBG_CHECK
#define HBG__INLINE static inline
#endif

/* Casts and the null pointer as each language writes them, so that a C++ program may have warnings for those of C. */
#ifdef __cplusplus
#define HBG__CAST(type, x) static_cast<type>(x)
#define HBG__POINTER(type, bits) reinterpret_cast<type>(bits)
#define HBG__NULL nullptr
#else
#define HBG__CAST(type, x) ((type)(x))
#define HBG__POINTER(type, bits) ((type)(uintptr_t)(bits))
#define HBG__NULL NULL
#endif

/* The version of these headers; hbg_version() tells that of the library which was loaded. */
#define HBG_VERSION_MAJOR 0
#define HBG_VERSION_MINOR 1
#define HBG_VERSION_PATCH 0

/**
 * hbg_version - the version of the library that is loaded, and the commit it was built from.
 *
 * Returns  "0.1.0 (1a2b3c4d, dirty)": "dirty" where a tracked file differed from the commit, "0.1.0" alone where the build knew
 *          no commit. Never NULL; static storage.
 *
 * Threads  any, at any time
 */
HBG_API const char *hbg_version(void);

/**
 * hbg_version_commit - the commit that the library was built from.
 *
 * Returns  its whole name, 40 or 64 hexadecimal digits; "" where the build knew none. Never NULL; static storage. A program that
 *          was built with its library can compare it with its own; the command `hbg` does, and refuses to run with another
 *
 * Threads  any, at any time
 */
HBG_API const char *hbg_version_commit(void);

/**
 * hbg_version_dirty - did a tracked file differ from that commit when the library was built?
 *
 * Threads  any, at any time
 */
HBG_API bool hbg_version_dirty(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_VERSION_H */
