/* SPDX-License-Identifier: Apache-2.0 */
/* The mailbox, looked at from time to time. What a word held at a look is certain, and so is what
 * two words held at the same one; in which order they came there between two looks is not. The
 * words of a look come in the order of their addresses, and those that did not change since the
 * look before are left out: so after its go word all of the tile's memory is as it was then. */
#include "replay/launch/launch_private.h"

/* The byte, where the tile's own cores changed it: the host's stores are seen. */
static bool changed_byte(const struct tile *tile, const struct access *a, uint32_t addr,
                         uint8_t *old, uint8_t *v)
{
    return access_byte(a, addr, v) && shadow_byte(&tile->l1, addr, old) && *old != *v;
}

/* DONE in the go word that the tile polls, and what the sync word holds with it. A slot that is
 * preloaded may be at work without GO. */
static void sampled_done(struct model *m, struct tile *tile, uint8_t old)
{
    uint32_t word;
    if (!shadow_word(&tile->l1, m->layout->sync, &word)) {
        return;
    }
    bool idle = true;
    for (unsigned i = 0; i < SUBORDINATES; i++) {
        uint8_t v = (uint8_t)(word >> 8 * i);
        idle &= v == NOCAP_SYNC_DONE || v == NOCAP_SYNC_INIT_REGISTERS;
    }
    if (old == NOCAP_GO_INIT) {
        CHECK_SEEING(m, tile, m->layout->sync, 4, RST_013, FAULT_NONE, idle, NO_REFS,
                     "DONE only after all subordinates cleared INIT",
                     "boot DONE and sync word 0x%08x at one poll", word);
    } else if (old == NOCAP_GO_GO && launch_preloads(m, tile) == NO) {
        CHECK_SEEING(m, tile, m->layout->sync, 4, GO_004, FAULT_NONE, idle,
                     RELATED(launch_of(tile)->go.index),
                     "DONE only while the sync word is 0 or 0x00000300",
                     "launch DONE and sync word 0x%08x at one poll", word);
    }
}

void sampled_judge(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    uint8_t old, v;
    uint32_t before, rd_ptr;
    if ((o->event->has & NOCAP_F_SINCE) == 0 || tile->sees_cores) {
        return;
    }
    for (unsigned byte = 0; byte < SUBORDINATES; byte++) {
        if (changed_byte(tile, a, m->layout->sync + byte, &old, &v)) {
            CHECK(m, tile, SYN_003, sync_value_allowed(byte, v), NO_REFS, sync_values(byte),
                  "unknown sync byte value 0x%02x at this poll, 0x%02x at the one before", v, old);
        }
    }
    if (access_word(a, m->layout->rd_ptr, &rd_ptr) &&
        shadow_word(&tile->l1, m->layout->rd_ptr, &before) && before != rd_ptr) {
        CHECK(m, tile, GO_008, rd_ptr < NOCAP_LAUNCH_SLOTS, NO_REFS, "rd_ptr below 8",
              "rd_ptr %u at this poll, %u at the one before", rd_ptr, before);
    }
    for (int i = 0; i < NOCAP_GO_WORDS; i++) {
        if (changed_byte(tile, a, go_signal_address(m, (unsigned)i), &old, &v)) {
            CHECK(m, tile, GO_001, nocap_go_name(v) != NULL, NO_REFS, "one of 00 40 80 C0 E0 F0",
                  "unknown signal 0x%02x in a go message at this poll, 0x%02x at the one before", v,
                  old);
            if (i == tile_go_index(m, tile) && v == NOCAP_GO_DONE) {
                sampled_done(m, tile, old);
            }
        }
    }
}
