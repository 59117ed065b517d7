/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - creating and destroying programs. Everything of the options is copied, so they may lie on the caller's stack. */
#include "run/program.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "graph/signature.h"
#include "run/abi.h"
#include "run/run.h"

enum { PARAMS_ALIGN = 16, KERNELS_MAX = 65535 };
static const size_t scratch_max = (size_t)1 << 30;

static struct hbg__atomic_u64 programs;         /* made so far */

static char *copy_text(struct hbg__memory *memory, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? hbg__alloc(memory, size, 1) : NULL;
    if (copy) memcpy(copy, text, size);
    return copy;
}

static void free_text(struct hbg__memory *memory, const char *text)
{
    if (text) hbg__free(memory, (void *)(uintptr_t)text, strlen(text) + 1, 1);
}

const char *hbg__program_kernel_name(const struct hbg_program *program, uint32_t kernel)
{
    return kernel < program->kernel_count ? program->kernels[kernel].name : "noop";
}

static enum hbg_status check_kernel(const struct hbg_kernel *kernel, size_t place, struct hbg_error *error)
{
    const char *name = kernel->name ? kernel->name : "?";
    if (kernel->id < 0 || (size_t)kernel->id != place)
        return hbg__error_set(error, HBG_E_OPTION, name, "kernel \"%.60s\" has the id %d and stands at place %zu of the table", name, kernel->id, place);
    if (!kernel->run) return hbg__error_set(error, HBG_E_NULL, name, "kernel \"%.60s\" at place %zu has no function", name, place);
    if (!kernel->name) return hbg__error_set(error, HBG_E_NULL, "name", "the kernel at place %zu has no name", place);
    if ((unsigned)kernel->kind > HBG_VECTOR)
        return hbg__error_set(error, HBG_E_OPTION, name, "kernel \"%.60s\" has the core kind %d, which does not exist", name, (int)kernel->kind);
    if (kernel->kind != HBG_ANY)
        return hbg__error_set(error, HBG_E_UNSUPPORTED, name, "kernel \"%.60s\" asks for a core kind, which is not supported yet", name);
    if (kernel->scratch_bytes > scratch_max)
        return hbg__error_set(error, HBG_E_OPTION, name, "kernel \"%.60s\" wants %zu bytes of scratch; %zu are possible", name, kernel->scratch_bytes, scratch_max);
    return HBG_OK;
}

static enum hbg_status copy_kernels(struct hbg_program *program, const struct hbg_program_options *options)
{
    struct hbg__memory *memory = &program->device->memory;
    size_t count = options->kernel_count;
    if (count > KERNELS_MAX)
        return hbg__error_set(options->error, HBG_E_OPTION, "kernel_count", "a program of %zu kernels; %d are possible", count, KERNELS_MAX);
    if (count && !options->kernels) return hbg__error_set(options->error, HBG_E_NULL, "kernels", "kernel_count is %zu and there is no table", count);
    program->kernels = hbg__alloc_zero(memory, count * sizeof *program->kernels, _Alignof(struct hbg_kernel));
    program->signatures = hbg__alloc_zero(memory, count * sizeof *program->signatures, _Alignof(struct hbg__signature));
    program->kernel_count = (uint32_t)count;
    if (!program->kernels || !program->signatures) return hbg__error_no_memory(options->error, "kernel table", count * sizeof *program->kernels);
    for (size_t i = 0; i < count; i++) {
        const struct hbg_kernel *given = &options->kernels[i];
        enum hbg_status status = check_kernel(given, i, options->error);
        if (status) return status;
        struct hbg_kernel *kernel = &program->kernels[i];
        kernel->id = given->id;
        kernel->run = given->run;
        kernel->user = given->user;
        kernel->kind = given->kind;
        kernel->scratch_bytes = given->scratch_bytes;
        kernel->name = copy_text(memory, given->name);
        kernel->signature = copy_text(memory, given->signature);
        if (!kernel->name || (given->signature && !kernel->signature)) return hbg__error_no_memory(options->error, "kernel names", strlen(given->name) + 1);
        status = hbg__signature_parse(given->signature, memory, given->name, &program->signatures[i], options->error);
        if (status) return status;
    }
    return HBG_OK;
}

/* All that a definition takes from the table: its records name kernels by their places. */
static uint64_t kernel_set_of(const struct hbg_program *program)
{
    uint64_t hash = hbg__hash_u64(program->kernel_count);
    for (uint32_t i = 0; i < program->kernel_count; i++) {
        const struct hbg_kernel *k = &program->kernels[i];
        uint64_t of[] = { (uint64_t)(uintptr_t)k->run, (uint64_t)(uintptr_t)k->user, (uint64_t)k->kind, k->scratch_bytes };
        hash = hbg__hash_bytes(of, sizeof of, hbg__hash_bytes(k->name, strlen(k->name), hash));
        hash = k->signature ? hbg__hash_bytes(k->signature, strlen(k->signature), hash) : hbg__hash_u64(hash);
    }
    return hash;
}

static uint64_t hash_of(const struct hbg_program *program)
{
    uint64_t hash = hbg__hash_bytes(program->name, strlen(program->name), program->pure);
    hash = hbg__hash_bytes(program->params, program->params_size, hash);
    for (uint32_t i = 0; i < program->kernel_count; i++) hash = hbg__hash_bytes(program->kernels[i].name, strlen(program->kernels[i].name), hash);
    return hash;
}

static enum hbg_status copy_options(struct hbg_program *program, const struct hbg_program_options *options)
{
    struct hbg__memory *memory = &program->device->memory;
    program->name = copy_text(memory, options->name ? options->name : "program");
    if (!program->name) return hbg__error_no_memory(options->error, "program name", strlen(options->name ? options->name : "program") + 1);
    program->build = options->build;
    program->pure = options->pure_build;
    program->no_compare = options->no_compare;
    program->limit_tasks = options->limit_tasks;
    program->params_size = options->params_size;
    if (options->params_size) {
        if (!options->params) return hbg__error_set(options->error, HBG_E_NULL, "params", "params_size is %zu and there are no params", options->params_size);
        program->params = hbg__alloc(memory, options->params_size, PARAMS_ALIGN);
        if (!program->params) return hbg__error_no_memory(options->error, "params", options->params_size);
        memcpy(program->params, options->params, options->params_size);
    }
    enum hbg_status status = hbg__signature_parse(options->boundary, memory, "the boundary", &program->boundary, options->error);
    return status ? status : copy_kernels(program, options);
}

/* Nobody uses it and its device memory is gone; the device lock is not held. */
static void free_program(struct hbg_program *program)
{
    struct hbg__memory *memory = &program->device->memory;
    struct hbg__buffer_ops buffers = hbg__device_buffer_ops(program->device);
    for (int i = 0; i < HBG__KEPT_MAX; i++) hbg__recording_release(&program->kept[i].recording, memory, &buffers);
    for (uint32_t i = 0; program->kernels && program->signatures && i < program->kernel_count; i++) {
        free_text(memory, program->kernels[i].name);
        free_text(memory, program->kernels[i].signature);
        hbg__signature_free(&program->signatures[i], memory);
    }
    hbg__free(memory, program->kernels, program->kernel_count * sizeof *program->kernels, _Alignof(struct hbg_kernel));
    hbg__free(memory, program->signatures, program->kernel_count * sizeof *program->signatures, _Alignof(struct hbg__signature));
    hbg__signature_free(&program->boundary, memory);
    hbg__free(memory, program->params, program->params_size, PARAMS_ALIGN);
    free_text(memory, program->name);
    pthread_mutex_destroy(&program->lock);
    HBG__DELETE(memory, program);
}

void hbg__program_forget_memory(struct hbg_program *program)
{
    struct hbg_device *device = program->device;
    device->ops->program_release(device->platform, program->kernel_table);
    program->kernel_table = 0;
    for (int i = 0; i < HBG__KEPT_MAX; i++) {
        device->ops->zone_close(device->platform, &program->kept[i].device_zone);
        program->kept[i].device_image = 0;
    }
}

void hbg__program_unlock_drop(struct hbg_program *program)
{
    struct hbg_device *device = program->device;
    bool last = --program->references == 0;
    if (!last) {
        pthread_mutex_unlock(&device->lock);
        return;
    }
    *program->link = program->next;
    if (program->next) program->next->link = program->link;
    if (!device->closed) hbg__program_forget_memory(program);
    pthread_mutex_unlock(&device->lock);
    free_program(program);
    pthread_mutex_lock(&device->lock);
    hbg__device_unlock_drop(device);
}

/* Kernel table on the device and place in its list; no error text is lost on the way. */
static enum hbg_status attach(struct hbg_program *program, struct hbg_error *error)
{
    struct hbg_device *device = program->device;
    enum hbg_status status = HBG_OK;
    pthread_mutex_lock(&device->lock);
    if (device->closed) status = hbg__error_set(error, HBG_E_DEVICE, "device", "the device was closed");
    if (!status) {
        pthread_mutex_lock(&device->bootstrap_lock);
        status = device->ops->program_register(device->platform, device->bootstrap.stream[HBG__STREAM_WORK], program->kernels,
                                               program->kernel_count, &program->kernel_table);
        pthread_mutex_unlock(&device->bootstrap_lock);
        if (status) hbg__error_set(error, status, program->name, "the kernels of program \"%.60s\" cannot be registered: %s", program->name, hbg_status_text(status));
    }
    if (!status) {
        program->next = device->programs;
        program->link = &device->programs;
        if (program->next) program->next->link = &program->next;
        device->programs = program;
        program->references = 1;
        hbg__device_hold(device);
        hbg__count(&device->counters.programs_registered, 1);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

enum hbg_status hbg_program_create(struct hbg_device *device, const struct hbg_program_options *options, struct hbg_program **program)
{
    if (!options) return HBG_E_NULL;
    enum hbg_status status = hbg__abi_program_options(options, device ? &device->log : NULL);
    if (status) return status;
    hbg__error_clear(options->error);
    status = hbg__device_check(device, "hbg_program_create", options->error);
    if (status) return status;
    if (!device || !program) return hbg__error_set(options->error, HBG_E_NULL, device ? "program" : "device", "hbg_program_create got no %s", device ? "place for the program" : "device");
    if (!options->build) return hbg__error_set(options->error, HBG_E_NULL, "build", "the program has no build function");
    struct hbg_program *made = HBG__NEW(&device->memory, struct hbg_program);
    if (!made) return hbg__error_no_memory(options->error, "program", sizeof *made);
    made->device = device;
    pthread_mutex_init(&made->lock, NULL);
    status = copy_options(made, options);
    if (!status) made->number = hbg__fetch_add_relaxed64(&programs, 1) + 1;     /* relaxed: a number of its own is all that is wanted */
    if (!status) made->kernel_set = kernel_set_of(made);
    if (!status) made->hash = hash_of(made);
    if (!status) status = attach(made, options->error);
    if (status) {
        free_program(made);
        return status;
    }
    *program = made;
    return HBG_OK;
}

void hbg_program_destroy(struct hbg_program *program)
{
    if (!program || program->device->fork_count != hbg__process_fork_count()) return;
    pthread_mutex_lock(&program->device->lock);
    hbg__program_unlock_drop(program);
}
