/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - devices, buffers and programs. */
#ifndef HBG_DEVICE_H
#define HBG_DEVICE_H

#include <hbg/graph.h>
#include <hbg/log.h>
#include <hbg/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hbg_device; struct hbg_buffer; struct hbg_program;
struct hbg_allocator {
    void *(*alloc)(void *user, size_t size_bytes, size_t align_bytes);             /* NULL: no memory */
    void (*free)(void *user, void *block, size_t size_bytes, size_t align_bytes);
    void *user;
};
struct hbg_counters {
    size_t size;
    uint64_t runs, image_copies, image_bytes, descriptor_copies, descriptor_bytes, argument_copies, argument_bytes;
    uint64_t allocations, growths, stream_sets_made, stream_sets_live, programs_registered, libraries_loaded;
    uint64_t builds, replays, replay_misses, definitions_uploaded, reuse_edges;
};
struct hbg_device_options {
    size_t size;
    hbg_log_fn *log; void *log_user; enum hbg_log_level log_level;
    struct hbg_allocator allocator;     /* host metadata; zero: malloc */
    uint64_t reserve_bytes;             /* address space per arena; 0: default; small values grow by moving */
    bool ignore_environment;            /* HBG_TRACE and friends */
    uint64_t limit_heap_bytes, heap_reuse_after_bytes, definition_budget_bytes;   /* 0: default */
    struct hbg_counters *final_counters;/* may be NULL: filled by the close that succeeds */
    struct hbg_error *error;            /* may be NULL: where a failing open says why */
};
HBG_API HBG_CHECK enum hbg_status hbg_device_open(const char *spec, const struct hbg_device_options *options, struct hbg_device **device);
HBG_API HBG_CHECK enum hbg_status hbg_device_close(struct hbg_device *device);    /* HBG_E_BUSY with a run in flight: nothing changed; children may outlive it */
HBG_API HBG_CHECK enum hbg_status hbg_buffer_create(struct hbg_device *device, size_t size_bytes, struct hbg_buffer **buffer);  /* 256-byte aligned */
HBG_API void hbg_buffer_destroy(struct hbg_buffer *buffer);                        /* runs in flight keep it */
HBG_API HBG_CHECK enum hbg_status hbg_buffer_write(struct hbg_buffer *buffer, size_t offset, const void *source, size_t size_bytes); /* after every run launched before it that uses the buffer */
HBG_API HBG_CHECK enum hbg_status hbg_buffer_read(struct hbg_buffer *buffer, size_t offset, void *target, size_t size_bytes);
HBG_API struct hbg_region hbg_buffer_region(struct hbg_buffer *buffer, size_t offset, enum hbg_dtype dtype, struct hbg_shape shape);

struct hbg_program_options {
    size_t size;
    const char *name;
    hbg_build_fn *build; const void *params; size_t params_size;    /* copied */
    const struct hbg_kernel *kernels; size_t kernel_count;          /* copied */
    const char *boundary;               /* NULL or a signature; checked at prepare */
    bool pure_build;
    uint64_t limit_tasks;               /* 0: none */
    struct hbg_error *error;
};
HBG_API HBG_CHECK enum hbg_status hbg_program_create(struct hbg_device *device, const struct hbg_program_options *options, struct hbg_program **program);
HBG_API void hbg_program_destroy(struct hbg_program *program);

HBG_API void hbg_device_counters(const struct hbg_device *device, struct hbg_counters *counters);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_DEVICE_H */
