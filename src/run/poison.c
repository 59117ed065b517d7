/* SPDX-License-Identifier: Apache-2.0 */
/* poison.c - with poison=1, everything that a run must not read holds bytes that nobody can mistake for a value.
 *
 *   | what                                | filled with                                        | when                    |
 *   | committed pages of the image arena  | 0xaa                                               | before the build        |
 *   | those of the arena of bodies        | 0xaa                                               | before each recording   |
 *   | image zone on the device            | 0xaa, then the live prefix is copied over it       | before the upload       |
 *   | staging                             | 0xaa                                               | before the arguments    |
 *   | `out` arguments                     | 0xaa                                               | after the arguments     |
 *   | heap                                | 0xaa                                               | before the descriptor   |
 *   | activations and their base tables   | 0xaa                                               | before the descriptor   |
 *   | slot words                          | an epoch of another run, any value, "closed" too   | before the descriptor   |
 *   | activations and their base tables   | 0xaa                                               | before the descriptor   |
 *   | launch descriptor                   | 0xaa                                               | before it is filled     |
 *   | the host's base table, if copied    | 0xaa                                               | after the copy          |
 *
 * What must not be filled, since it is used again, is watched instead: watch.h.
 *
 * An `out` argument that shares a group with one that is read is left alone: its bytes may be the other's input.
 */
#include <string.h>

#include "base/rng.h"
#include "platform/transfer.h"
#include "run/run.h"

enum { SLOTS_AT_ONCE = 256 };

void hbg__poison_arena(struct hbg__arena *arena)
{
    if (arena->origin) memset(arena->origin - arena->below, HBG__POISON, arena->below + arena->above);
}

/* Words {epoch, value} of any epoch but the coming one; some of one that nobody wrote into a launch descriptor. The link is 0xaa:
   whoever queues a task writes it first. */
static enum hbg_status poison_slots(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    const struct hbg__bank *bank = &run->bank;
    unsigned char block[SLOTS_AT_ONCE * sizeof(struct hbg__slot)];
    struct hbg__rng rng;
    hbg__rng_seed(&rng, bank->epoch);
    memset(block, HBG__POISON, sizeof block);
    for (uint64_t done = 0; done < bank->slots.size_bytes;) {
        uint64_t size = bank->slots.size_bytes - done < sizeof block ? bank->slots.size_bytes - done : sizeof block;
        for (uint64_t at = 0; at < size; at += sizeof(struct hbg__slot)) {
            uint64_t word = hbg__rng_next(&rng);
            if (word & 4) word = (word & ~(uint64_t)UINT32_MAX) | (word & 3);       /* half of them: empty and closed states */
            if (word & 1024) word = (word & UINT32_MAX) | (uint64_t)0xaaaaaaaa << 32;
            if (word >> 32 == bank->epoch) word ^= (uint64_t)1 << 63;
            memcpy(block + at, &word, sizeof word);
        }
        enum hbg_status status = device->ops->copy_in(device->platform, run->streams.stream[HBG__STREAM_WORK], bank->slots.address + done, block, size);
        if (status) return status;
        done += size;
    }
    return HBG_OK;
}

static enum hbg_status poison_zone(struct hbg__run *run, const struct hbg__zone *zone)
{
    if (zone->size_bytes == 0) return HBG_OK;
    return run->device->ops->fill(run->device->platform, run->streams.stream[HBG__STREAM_WORK], zone->address, HBG__POISON, zone->size_bytes);
}

enum hbg_status hbg__poison_staging(struct hbg__run *run) { return poison_zone(run, &run->bank.staging); }

enum hbg_status hbg__poison_bank(struct hbg__run *run)
{
    enum hbg_status status = poison_zone(run, &run->bank.heap);
    if (!status) status = poison_zone(run, &run->bank.activations);
    if (!status) status = poison_zone(run, &run->bank.bases);
    return status ? status : poison_slots(run);
}

enum hbg_status hbg__poison_outputs(struct hbg__run *run)
{
    struct hbg_device *device = run->device;
    struct hbg__view view;
    for (uint32_t g = 0; g < run->group_count; g++) run->placed[g].has_input = false;
    for (uint32_t i = 0; i < run->arg_count; i++) {
        const struct hbg__boundary_arg *bound = &run->arg[i];
        if (bound->group != UINT32_MAX && hbg__arg_is_read(&bound->arg)) run->placed[bound->group].has_input = true;
    }
    for (uint32_t i = 0; i < run->arg_count; i++) {
        const struct hbg__boundary_arg *bound = &run->arg[i];
        const struct hbg_region *r = &bound->arg.u.region;
        if (bound->arg.kind != HBG_ARG_OUT || run->placed[bound->group].has_input) continue;
        if (!hbg__view_canonical(&view, bound->displacement, hbg_dtype_size(r->dtype), r->rank, r->shape, r->stride_bytes)) continue;
        enum hbg_status status = hbg__transfer_fill(device->ops, device->platform, run->streams.stream[HBG__STREAM_COPY],
                                                    run->placed[bound->group].address, HBG__POISON, &view);
        if (status) return status;
    }
    return HBG_OK;
}
