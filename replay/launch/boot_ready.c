/* SPDX-License-Identifier: Apache-2.0 */
/* From release to ready: the subordinates clear their bytes, BRISC stores DONE, the host sees it.
 * Rules RST, third part. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "replay/launch/launch_private.h"

/* Sources may tell of the release and of what came of it in any order: it is certain later. One
 * store releases BRISC of many tiles. */
static void judge_release(struct model *m, struct tile *tile)
{
    for (unsigned i = 0; i < 2; i++) {
        struct event_ref *at = &boot_of(tile)->unreleased[i];
        if (at->index != NO_INDEX) { /* or the store that releases it, or them, went elsewhere */
            fault_id since =
                i == 0 ? stray_since(tile, STRAYS_OF_HOST, 0, NOCAP_SOFT_RESET_ALL,
                                     NOCAP_SOFT_RESET_SUBORDINATES)
                       : stray_since(tile, NOCAP_PROCESSOR_BRISC, boot_of(tile)->released.turn,
                                     NOCAP_SOFT_RESET_ALL, 0);
            FOLLOWING(m, since,
                      CHECK_AT(m, tile, RST_020, false, *at, NO_REFS,
                               "a store to SOFT_RESET_0 that releases the RISC before it runs",
                               "%s runs, and no store to SOFT_RESET_0 has released it",
                               nocap_agent_name(at->agent)));
        }
        at->index = NO_INDEX;
    }
}

/* A subordinate clears its byte while the tile boots. */
void boot_sync_clear(struct model *m, struct tile *tile, unsigned agent, uint8_t old)
{
    struct boot *b = boot_of(tile);
    const struct nocap_core_info *core = nocap_core(agent);
    uint8_t bit = (uint8_t)(1 << core->sync_byte);
    fault_id *since = &sync_of(tile)->since[core->sync_byte];
    CHECK_SEEING(m, tile, nocap_sync_address(m->layout, core), 1, RST_012, *since,
                 old == NOCAP_SYNC_INIT && (b->cleared & bit) == 0, NO_REFS,
                 "INIT (0x40) cleared once", "sync byte cleared at boot over 0x%02x%s", old,
                 (b->cleared & bit) != 0 ? " for the second time" : ", not over INIT (0x40)");
    *since = m->fault;
    for (unsigned i = 0; old != NOCAP_SYNC_INIT && (b->cleared & bit) == 0 && i < SUBORDINATES;
         i++) {
        uint8_t byte; /* one store brings INIT to all */
        if ((b->cleared >> i & 1) == 0 && shadow_byte(&tile->l1, m->layout->sync + i, &byte) &&
            byte != NOCAP_SYNC_INIT) {
            sync_of(tile)->since[i] = m->fault;
        }
    }
    if (core->thread >= 0 && (b->cleared & bit) == 0) {
        bool gprs = b->gpr_zeroed[core->thread] == UINT64_MAX;
        bool seeded = (b->prng_seeded >> core->thread & 1) != 0;
        bool one = __builtin_popcountll(~b->gpr_zeroed[core->thread]) + !seeded == 1;
        fault_id stray = stray_since(tile, core->processor, b->released.turn, UINT32_MAX, 0);
        CHECK_AFTER(m, tile, RST_015, one ? stray : FAULT_NONE, gprs && seeded, NO_REFS,
                    "64 GPRs zeroed and the PRNG seeded before the boot DONE",
                    "reported ready with %d of 64 GPRs zeroed, PRNG %s",
                    __builtin_popcountll(b->gpr_zeroed[core->thread]),
                    seeded ? "seeded" : "not seeded");
    }
    b->cleared |= bit;
    if (b->early_done.index != NO_INDEX) { /* so it was only late: DONE came too early */
        SEEING(m, tile->at, nocap_sync_address(m->layout, core), 1,
               CHECK_AT(m, tile, RST_013, false, b->early_done, RELATED(now(m).index),
                        "DONE only after all subordinates cleared INIT",
                        "boot DONE stored before %s cleared its sync byte",
                        nocap_agent_name(agent)));
        b->early_done.index = NO_INDEX;
        b->phase = BOOT_DONE;
    }
}

/* GO came while the tile booted, and DONE is stored over it. */
static void judge_lost_go(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    if (l->go_pending != YES || boot_of(tile)->seen_ready || tile_go_index(m, tile) != 0) {
        return;
    }
    FOLLOWING(m, l->parts_since,
              CHECK_AT(m, tile, GO_003, false, l->go, RELATED(now(m).index),
                       "GO only while the worker core is not busy", "%s",
                       "GO while the firmware boots: the DONE at the end overwrites it"));
    launch_report(m, tile, false);
    l->go_pending = NO;
}

/* BRISC stores the first DONE after its release. */
void boot_done(struct model *m, struct tile *tile)
{
    struct boot *b = boot_of(tile);
    struct launch_state *s = state_of(m);
    uint64_t took = m->event->t - b->released.t;
    uint32_t word;
    s->boot_took = took > s->boot_took ? took : s->boot_took;
    s->any_ready = true;
    b->phase = BOOT_DONE;
    judge_release(m, tile);
    if (!tile->sees_cores) {
        return;
    }
    MARK_EXERCISED(m, RST_021);
    judge_lost_go(m, tile);
    boot_judge_setup(m, tile, now(m));
    if (!shadow_word(&tile->l1, m->layout->sync, &word)) {
        return;
    }
    fault_id since = FAULT_NONE;
    bool at_init = false;
    for (unsigned i = 0; since == FAULT_NONE && i < SUBORDINATES; i++) {
        since = sync_of(tile)->since[i];
    }
    for (unsigned i = 0; since == FAULT_NONE && i < SUBORDINATES; i++) {
        if ((uint8_t)(word >> 8 * i) == NOCAP_SYNC_INIT) {
            sync_of(tile)->since[i] = FAULT_UNREPORTED;
            at_init = true;
        }
    }
    if (at_init) {
        b->early_done = now(m); /* too early, or a subordinate will never clear its byte */
        b->phase = BOOT_RELEASED;
    } else {
        CHECK_SEEING(m, tile, m->layout->sync, 4, RST_013, since, b->cleared == ALL_BYTES, NO_REFS,
                     "DONE only after all subordinates cleared INIT",
                     "boot DONE before all subordinates cleared INIT, sync word 0x%08x", word);
    }
}

void boot_never_cleared(struct model *m, struct tile *tile, unsigned bytes)
{
    struct boot *b = boot_of(tile);
    const unsigned missing = bytes & ~(unsigned)b->cleared;
    if (b->early_done.index == NO_INDEX || missing == 0) {
        return;
    }
    unsigned byte = (unsigned)__builtin_ctz(missing);
    const char *name = nocap_agent_name(nocap_cores[NOCAP_PROCESSOR_NCRISC + byte].agent);
    fault_id since = stray_since(tile, sync_processor(byte), sync_of(tile)->stored[byte],
                                 UINT32_MAX, NOCAP_SYNC_DONE);
    SEEING(m, tile->at, m->layout->sync + byte, 1,
           FOLLOWING(m, since,
                     CHECK_AT(m, tile, RST_012, false, b->early_done, NO_REFS,
                              "each subordinate to clear its byte from INIT before DONE",
                              "%s never cleared INIT (0x40) in its sync byte", name)));
    sync_of(tile)->since[byte] = m->fault;
    for (unsigned i = byte; i < SUBORDINATES; i++) {
        sync_of(tile)->late[i] = (missing >> i & 1) != 0 ? m->fault : sync_of(tile)->late[i];
    }
    b->early_done.index = NO_INDEX;
    b->phase = BOOT_DONE;
}

bool boot_inits_all(const struct model *m, struct tile *tile, const struct access *a)
{
    struct boot *b = boot_of(tile);
    uint32_t word;
    bool init = access_word(a, m->layout->sync, &word) && word == NOCAP_SYNC_ALL_INIT;
    if (init && b->phase == BOOT_UNKNOWN && launch_of(tile)->active == UNKNOWN) {
        b->phase = BOOT_RELEASED; /* what BRISC did since is not known */
        b->released = now(m);
        b->halfway = true;
        b->setup = BOOT_SETUP_ALL;
        memset(b->zeros, UINT8_MAX, sizeof b->zeros);
    }
    return b->phase == BOOT_RELEASED && a->addr == m->layout->sync && a->size == NOCAP_SYNC_BYTES;
}

/* The host found DONE where INIT stood, and BRISC was not seen to store it. */
static bool done_unstored(struct model *m, struct tile *tile)
{
    const struct boot *b = boot_of(tile);
    if (b->unstored.index == NO_INDEX) {
        return false;
    }
    boot_judge_setup(m, tile, b->unstored);
    CHECK_AT(m, tile, RST_021, false, b->unstored, RELATED(b->released.index),
             "the DONE that a host loads at the end of the boot stored by BRISC", "%s",
             "DONE loaded where INIT was, and no RISC has stored it: the trace lacks the store");
    return true;
}

void boot_over(struct model *m, struct tile *tile)
{
    if (boot_of(tile)->phase == BOOT_RELEASED) {
        judge_release(m, tile);
        done_unstored(m, tile);
        boot_never_cleared(m, tile, ALL_BYTES);
        boot_of(tile)->phase = BOOT_DONE;
    }
}

/* A host that waits for one tile of those that it released has waited for all: one write releases
 * a rectangle of them. */
bool boot_host_waited(const struct model *m, const struct boot *b)
{
    return state_of(m)->ready_turn > b->released.turn;
}

/* Tiles that were released by one write share one finding: whether it is this one's. */
static bool reports_release(struct model *m, const struct tile *tile)
{
    const struct boot *b = boot_of(tile);
    struct launch_state *s = state_of(m);
    uint32_t i = 0;
    while (i < s->unready_count && s->unready[i] != b->released.index) {
        i++;
    }
    const bool first = i == s->unready_count;
    uint64_t *release = first ? LIST_NEXT(s->unready, s->unready_count) : NULL;
    if (release != NULL) {
        *release = b->released.index;
        s->unready_count++;
    }
    return first || asked_for(m, tile);
}

void boot_host_go(struct model *m, struct tile *tile)
{
    struct boot *b = boot_of(tile);
    if (tile->sees_cores || b->phase != BOOT_RELEASED || m->dropped || boot_host_waited(m, b)) {
        return;
    }
    if (reports_release(m, tile)) {
        FOLLOWING(m, since_or(b->jump_since, b->start_since),
                  CHECK(m, tile, RST_017, false, RELATED(b->released.index),
                        "firmware ready before GO: DONE in go message 0", "%s",
                        "GO before the host saw the firmware ready: the DONE of the boot may "
                        "overwrite it"));
    }
    b->phase = BOOT_UNKNOWN;
}

/* Where the host alone tells of a tile: INIT that it finds after its DONE was never cleared, since
 * only the boot stores it. */
static void judge_shown(struct model *m, struct tile *tile, const struct access *a)
{
    struct boot *b = boot_of(tile);
    for (unsigned i = 0; b->shown_done.index != NO_INDEX && i < SUBORDINATES; i++) {
        uint8_t v;
        if (access_byte(a, m->layout->sync + i, &v)) {
            CHECK(m, tile, RST_013, v != NOCAP_SYNC_INIT, RELATED(b->shown_done.index),
                  "DONE only after all subordinates cleared INIT",
                  "%s's sync byte is still 0x%02x, loaded after the boot DONE",
                  nocap_agent_name(nocap_cores[NOCAP_PROCESSOR_NCRISC + i].agent), v);
            b->shown_done.index = v == NOCAP_SYNC_INIT ? NO_INDEX : b->shown_done.index;
        }
    }
}

void boot_host_read(struct model *m, struct tile *tile, const struct access *a)
{
    struct boot *b = boot_of(tile);
    uint8_t signal;
    uint32_t at = m->layout->go_messages + NOCAP_GO_SIGNAL_BYTE;
    if (touches(a, at, 1) && launch_of(tile)->go.index == NO_INDEX &&
        (!access_byte(a, at, &signal) || signal == NOCAP_GO_DONE)) {
        state_of(m)->ready_turn = m->turn;
    }
    judge_shown(m, tile, a);
    if (b->phase != BOOT_RELEASED || !access_byte(a, at, &signal)) {
        if (b->phase == BOOT_RELEASED && touches(a, at, 1) && !tile->sees_cores) {
            b->phase = BOOT_UNKNOWN; /* the host may have seen it ready */
        }
        return;
    }
    b->last_poll = now(m);
    if (signal == NOCAP_GO_DONE) {
        MARK_EXERCISED(m, RST_017);
        const bool alone = launch_host_alone(m, tile, true);
        b->seen_ready = true;
        uint8_t stored;
        bool stays = shadow_byte(&tile->l1, at, &stored) && stored == NOCAP_GO_INIT;
        if (stays && !tile->sees_cores && (m->header->observes & NOCAP_CLASS_SAMPLED) == 0) {
            b->shown_done = now(m);
        } else if (stays && tile->sees_cores && part_of(tile)->shown &&
                   b->unstored.index == NO_INDEX && b->early_done.index == NO_INDEX) {
            b->unstored = now(m);
        }
        if (alone) {
            b->phase = BOOT_DONE;
            for (unsigned p = 0; p < CORES; p++) {
                b->running[p] = YES; /* since BRISC, which released them, waited for all */
            }
        }
    }
}

/* What may be after it, for who has nothing but the host's accesses: a core whose reset PC points
 * to bytes that no agent uploaded, a wrong file. */
static const char *guess(const struct model *m, const struct boot *b, char *text, size_t size)
{
    const bool whole = boot_sees_all(m, b);
    bool elf = m->firmware[NOCAP_PROCESSOR_BRISC] != NULL;
    text[0] = '\0';
    for (unsigned p = NOCAP_PROCESSOR_NCRISC; p < CORES; p++) {
        elf |= m->firmware[p] != NULL;
        if (whole && b->reset_pc_known[p] && boot_span_at(b, b->reset_pc[p]) == NULL) {
            snprintf(text, size,
                     "; the reset PC of %s is 0x%" PRIx32 ", where no agent wrote anything",
                     nocap_agent_name(nocap_cores[p].agent), b->reset_pc[p]);
            return text;
        }
    }
    if (!elf) {
        snprintf(text, size,
                 "; a forgotten or short ELF file? --elf CORE=FILE names the RISC and the address");
    }
    return text;
}

/* Whether the tile had time to show itself: others took less from release to ready. Where the
 * header names the tiles, far less: cores differ in pace, and a capture that stops does not always
 * say so. */
static bool others_boot_faster(const struct model *m, const struct boot *b)
{
    enum { FAR = 16 };
    const struct launch_state *s = state_of(m);
    uint64_t had = m->last_t - b->released.t;
    return s->any_ready && (m->header->has_scope ? had / FAR : had) > s->boot_took;
}

/* Firmware that is waited for, or should be, is not ready. */
static void report_unready(struct model *m, struct tile *tile, fault_id since, const char *until)
{
    struct boot *b = boot_of(tile);
    struct event_ref at = b->last_poll.index != NO_INDEX ? b->last_poll : b->released;
    uint32_t word = 0;
    bool known = shadow_word(&tile->l1, m->layout->sync, &word) && tile->sees_cores;
    char text[96], sync[32] = "";
    if (known) {
        snprintf(sync, sizeof sync, ", sync word 0x%08" PRIx32, word);
    }
    SEEING(
        m, tile->at, m->layout->sync, known ? 4 : 0,
        FOLLOWING(m, since,
                  CHECK_AT(m, tile, RST_017, false, at, RELATED(b->released.index),
                           "firmware ready: DONE in go message 0", "firmware not ready when %s%s%s",
                           until, sync, known ? "" : guess(m, b, text, sizeof text))));
}

void boot_judge_ready(struct model *m, struct tile *tile, bool cut, const char *until)
{
    struct boot *b = boot_of(tile);
    if (!cut) {
        judge_release(m, tile);
    }
    if (b->phase != BOOT_RELEASED) {
        return;
    }
    if (b->early_done.index != NO_INDEX) {
        boot_never_cleared(m, tile, cut ? 0 : ALL_BYTES);
        return;
    }
    if (!cut && done_unstored(m, tile)) {
        return;
    }
    bool polled = b->last_poll.index != NO_INDEX;
    const fault_id since = since_or(b->jump_since, b->start_since);
    if (!cut && !m->dropped && tile->sees_cores && !polled && !part_of(tile)->shown &&
        since == FAULT_NONE && others_boot_faster(m, b)) {
        launch_unshown(tile, b->released, &state_of(m)->tiles);
        return;
    }
    bool owed = polled || (tile->sees_cores && !b->halfway);
    if (!cut && owed && reports_release(m, tile)) {
        report_unready(m, tile, since, until);
    }
}
