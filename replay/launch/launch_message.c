/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch message says, and whether it can be: rules GO-009, GO-010. */
#include <string.h>

#include "replay/launch/launch_private.h"

static uint32_t slot_address(const struct model *m, int slot)
{
    return nocap_launch_slot(m->layout, (unsigned)slot);
}

/* The bytes of a slot after a store to it: those that it brings, those that were there on both
 * sides. False unless all are known. */
static bool take_store(const struct model *m, const struct tile *tile, int slot,
                       const struct access *store, uint8_t *bytes)
{
    const uint64_t at = slot_address(m, slot), end = at + m->layout->launch_size;
    const uint64_t store_end = store->addr + store->size;
    const uint64_t first = store->addr < at ? at : store->addr < end ? store->addr : end;
    const uint64_t after = store_end > end ? end : store_end > first ? store_end : first;
    if (after > first) {
        if (after - store->addr > store->known) {
            return false;
        }
        memcpy(bytes + (first - at), store->bytes + (first - store->addr), after - first);
    }
    return (first == at || shadow_copy(&tile->l1, (uint32_t)at, (uint32_t)(first - at), bytes)) &&
           (after == end ||
            shadow_copy(&tile->l1, (uint32_t)after, (uint32_t)(end - after), bytes + (after - at)));
}

/* Most messages are those of the tile before, or of the launch before. */
static void decode(const struct model *m, const uint8_t *bytes, struct nocap_launch *message)
{
    struct decoded *latest = &state_of(m)->decoded;
    if (!latest->any || memcmp(latest->bytes, bytes, m->layout->launch_size) != 0) {
        latest->any = true;
        memcpy(latest->bytes, bytes, m->layout->launch_size);
        nocap_launch_decode(m->layout, bytes, &latest->message);
    }
    memcpy(message, &latest->message, sizeof *message); /* with what lies between members */
}

const struct nocap_launch *launch_message_after(const struct model *m, const struct tile *tile,
                                                int slot, const struct access *store)
{
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    struct slot *s = &launch_of(tile)->slots[slot];
    const bool known = store != NULL ? take_store(m, tile, slot, store, bytes)
                                     : shadow_copy(&tile->l1, slot_address(m, slot),
                                                   m->layout->launch_size, bytes);
    if (known) {
        decode(m, bytes, &s->message);
    }
    s->read = known ? YES : NO;
    return launch_message(m, tile, slot);
}

const struct nocap_launch *launch_message(const struct model *m, const struct tile *tile, int slot)
{
    const struct slot *s = &launch_of(tile)->slots[slot];
    if (s->read == UNKNOWN) {
        return launch_message_after(m, tile, slot, NULL);
    }
    return s->read == YES && part_of(tile)->sees_outside ? &s->message : NULL;
}

uint8_t launch_group(unsigned processor)
{
    enum {
        TRISCS =
            1 << NOCAP_PROCESSOR_TRISC0 | 1 << NOCAP_PROCESSOR_TRISC1 | 1 << NOCAP_PROCESSOR_TRISC2
    };
    return (uint8_t)(processor >= NOCAP_PROCESSOR_TRISC0 ? TRISCS : 1 << processor);
}

/* NULL, or what is wrong, as a format for `value`. */
static const char *field_problem(const struct nocap_mailbox_layout *layout,
                                 const struct nocap_launch *l, uint32_t *value)
{
    static const char outside[] = "an offset of 0x%x from kernel_config_base lies outside L1";
    uint64_t base = l->kernel_config_base[0],
             room = base < NOCAP_L1_SIZE ? NOCAP_L1_SIZE - base : 0;
    const struct {
        bool wrong;
        uint32_t value;
        const char *what;
    } fields[] = {
        {(l->enables & ~(uint32_t)NOCAP_ENABLES_ALL) != 0, l->enables,
         "enables 0x%x has reserved bits set"},
        {l->mode != NOCAP_MODE_DEV && l->mode != NOCAP_MODE_HOST, l->mode,
         "mode %u is neither DEV nor HOST"},
        {l->brisc_noc_id > 1, l->brisc_noc_id, "brisc_noc_id %u is neither 0 nor 1"},
        {l->brisc_noc_mode > NOCAP_NOC_MODE_DYNAMIC, l->brisc_noc_mode,
         "brisc_noc_mode %u is not known"},
        {layout->zeros == NOCAP_L1_ZEROS && base < nocap_kernel_config_bases[0], (uint32_t)base,
         "kernel_config_base 0x%x lies in the mailbox or the firmware"},
        {l->sem_offset[0] >= room, l->sem_offset[0], outside},
        {l->local_cb_offset >= room, l->local_cb_offset, outside},
        {l->remote_cb_offset >= room, l->remote_cb_offset, outside},
    };
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *value = fields[i].value;
        if (fields[i].wrong) {
            return fields[i].what;
        }
    }
    for (unsigned p = 0; p < CORES; p++) {
        *value = l->kernel_text_offset[p];
        if ((l->enables >> p & 1) != 0 && l->kernel_text_offset[p] >= room) {
            return "kernel_text_offset 0x%x from kernel_config_base lies outside L1";
        }
        *value = nocap_kernel_entry(l, (enum nocap_processor)p);
        if ((l->enables >> p & 1) != 0 && *value % NOCAP_KERNEL_ALIGN != 0) {
            return "a kernel at 0x%x, which is no multiple of 4";
        }
    }
    return NULL;
}

void launch_judge_message(struct model *m, struct tile *tile, unsigned slot,
                          const struct nocap_launch *l)
{
    struct slot *s = &launch_of(tile)->slots[slot];
    if (s->judged || l->enables == 0) {
        return;
    }
    s->judged = true;
    uint32_t value;
    const char *problem = field_problem(m->layout, l, &value);
    if (judges(m, GO_009) && problem != NULL) {
        FOLLOWING(m, s->since,
                  report_violation(m, tile, GO_009, now(m), -1, RELATED(s->index),
                                   "launch message fields in their range",
                                   WITH_NUMBER(problem, value)));
        s->since = m->fault;
        for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
            struct slot *other = &launch_of(tile)->slots[i]; /* the same write hit it, too */
            other->since = s->turn > 0 && other->turn == s->turn ? m->fault : other->since;
        }
    }
    uint32_t triscs = l->enables >> NOCAP_PROCESSOR_TRISC0;
    CHECK(m, tile, GO_010, (triscs & 7) == 0 || (triscs & 7) == 7, RELATED(s->index),
          "enable bits 2, 3 and 4 equal, since firmware tests bit 2 for all three TRISCs",
          "enables 0x%02x, which name only some of the TRISCs", l->enables);
}

fault_id launch_written_since(const struct model *m, const struct tile *tile)
{
    uint32_t word;
    bool known = shadow_word(&tile->l1, m->layout->go_messages, &word);
    const struct nocap_go_word go = nocap_go_decode(known ? word : 0);
    fault_id since = FAULT_NONE;
    for (uint32_t i = 0; i < m->queue_count && since == FAULT_NONE; i++) {
        const struct queue_facts *q = &m->queues[i];
        const struct nocap_xy at = q->at[QUEUE_SUBORDINATE];
        bool of_other = known && m->queue_count > 1 && (at.x != go.master_x || at.y != go.master_y);
        since = q->chip == tile->chip && !of_other ? q->writes_since : FAULT_NONE;
    }
    return since;
}
