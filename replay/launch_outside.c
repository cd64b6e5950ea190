/* Go words, launch messages and kernel images as they arrive from outside: the host's, or the
 * dispatcher's by NOC. Rules GO. */
#include "replay/cq.h"
#include "replay/tile.h"

/* The write from outside, before GO, that brought the byte at `addr`. */
static const struct span *image_at(const struct launch *l, uint32_t addr)
{
    uint32_t kept = l->image_count < IMAGE_SPANS ? l->image_count : IMAGE_SPANS;
    for (uint32_t i = 1; i <= kept; i++) {
        const struct span *s = &l->images[(l->image_count - i) % IMAGE_SPANS];
        if (s->turn < l->go.turn && s->addr <= addr && addr < s->addr + s->size) {
            return s;
        }
    }
    return NULL;
}

/* A host leaves all alone that it wrote together with a kernel. What comes by NOC may be a
 * semaphore or an argument in the same piece: from the kernel's entry to its end is text. */
static bool hits_image(const struct launch *l, const struct access *a)
{
    for (unsigned p = 0; l->message_known && p < CORES; p++) {
        uint32_t entry = nocap_kernel_entry(&l->message, (enum nocap_processor)p);
        const struct span *s = image_at(l, entry);
        uint32_t first = s != NULL && a->by == NOCAP_BY_HOST ? s->addr : entry;
        uint32_t end = s != NULL ? s->addr + s->size : entry + 4;
        if (launch_enabled(&l->message, p) && touches(a, first, end - first)) {
            return true;
        }
    }
    return false;
}

/* What a running launch works with, by name; NULL: the write hits none of it. */
static const char *active_part(const struct model *m, const struct tile *tile,
                               const struct access *a)
{
    const struct launch *l = &tile->launch;
    if (touches(a, m->layout->go_message_index, 4)) {
        return "go_message_index";
    }
    int active = launch_go_index(m, tile);
    if (nocap_is_core(a->by) && active >= 0 &&
        touches(a, nocap_go_word_address(m->layout, (unsigned)active), NOCAP_GO_SIGNAL_BYTE)) {
        return "the active go word";
    }
    if (l->slot >= 0 &&
        touches(a, nocap_launch_slot(m->layout, (unsigned)l->slot), m->layout->launch_size)) {
        return "the active launch message";
    }
    return hits_image(l, a) ? "the active kernel image" : NULL;
}

static void judge_intrusion(struct model *m, struct tile *tile, const struct access *a,
                            const char *part)
{
    struct launch *l = &tile->launch;
    if (cq_owns_noc(m)) {
        return; /* CQ-050 */
    }
    if (part == NULL) {
        HOLDS(m, GO_006);
    } else if (!l->intruded) {
        EXPECT(m, tile, GO_006, false, RELATED(l->go.index),
               "what a launch works with left alone between GO and DONE",
               "%s written: %llu bytes at 0x%llx", part, (unsigned long long)a->size,
               (unsigned long long)a->addr);
        l->intruded = true;
    }
}

/* A reset request that waits in the go word is overwritten by another signal. */
static void judge_lost_request(struct model *m, struct tile *tile)
{
    struct launch *l = &tile->launch;
    uint32_t rd_ptr;
    if (l->request == 0 || !tile->sees_cores) {
        return;
    }
    if (l->request_done == YES) {
        HOLDS(m, GO_013);
        HOLDS(m, GO_014);
    } else if (l->request_done == NO && shadow_word(&tile->l1, NOCAP_RD_PTR, &rd_ptr)) {
        EXPECT(m, tile, GO_013, rd_ptr == 0, RELATED(l->requested.index),
               "the reset request obeyed (rd_ptr stored 0) before it is overwritten",
               "signal 0x%02x overwritten while rd_ptr was %u", l->request, rd_ptr);
        if (rd_ptr == 0) {
            EXPECT(m, tile, GO_014, false, RELATED(l->requested.index),
                   "the reset request obeyed before it is overwritten",
                   "signal 0x%02x overwritten; rd_ptr was 0 already", l->request);
        } else {
            l->slots[rd_ptr % NOCAP_LAUNCH_SLOTS].fresh = YES; /* what runs now is the same fault */
        }
    }
    l->request = 0;
}

/* A slot that got a message since the last launch, other than `slot`; -1: none. */
static int other_slot(const struct launch *l, int slot)
{
    for (int i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        if (i != slot && l->slots[i].fresh == YES &&
            (l->done.index == NO_INDEX || l->slots[i].turn > l->done.turn)) {
            return i;
        }
    }
    return -1;
}

/* Nothing but zeros: a message may enable nobody, but it is not empty. */
static bool is_blank(const struct model *m, const struct tile *tile, int slot)
{
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX] = {0};
    bool known = shadow_copy(&tile->l1, nocap_launch_slot(m->layout, (unsigned)slot),
                             m->layout->launch_size, bytes);
    for (uint32_t i = 0; known && i < m->layout->launch_size; i++) {
        known = bytes[i] == 0;
    }
    return known;
}

/* GO-007, when GO is written: is the message there that BRISC will read? */
static void judge_freshness(struct model *m, struct tile *tile, int slot)
{
    struct launch *l = &tile->launch;
    struct nocap_launch message;
    if (slot < 0 || !tile->sees_cores || cq_owns_noc(m) ||
        !launch_read_message(m, tile, (unsigned)slot, &message)) {
        return;
    }
    if (l->slots[slot].fresh == YES) {
        HOLDS(m, GO_007);
        return;
    }
    int other = other_slot(l, slot);
    bool empty = message.enables == 0;
    if (l->slots[slot].fresh == UNKNOWN && !(other >= 0 && is_blank(m, tile, slot))) {
        return; /* it may have been written before the trace began */
    }
    bool right = empty && other < 0;
    EXPECT(m, tile, GO_007, right, RELATED(other >= 0 ? l->slots[other].index : NO_INDEX),
           "a new launch message in the slot that BRISC reads next",
           empty ? "slot %d is empty, a message was written to slot %d"
                 : "slot %d holds a message that has run already",
           slot, other);
    l->doubtful |= !right;
}

static void judge_go(struct model *m, struct tile *tile, struct nocap_go_word go)
{
    struct launch *l = &tile->launch;
    if (tile->sees_cores && l->go_pending != UNKNOWN) {
        EXPECT(m, tile, GO_003, l->go_pending == NO, RELATED(l->go.index),
               "GO only while the tile is not busy",
               "GO over the GO that is not DONE yet (signal 0x%02x): it will be lost", go.signal);
    }
    if (l->go_pending == YES) {
        l->doubtful = true;
        return;
    }
    int slot = l->active == YES ? l->slot : launch_next_slot(tile);
    bool told = launch_tells_message(m, tile, slot);
    if (told || other_slot(l, slot) >= 0) {
        judge_freshness(m, tile, slot);
    }
    if (!told) {
        return;
    }
    struct nocap_launch message;
    if (launch_read_message(m, tile, (unsigned)slot, &message)) {
        launch_judge_message(m, tile, (unsigned)slot);
        if (message.mode == NOCAP_MODE_DEV && message.enables != 0) {
            EXPECT(m, tile, GO_019, (go.master_x | go.master_y) != 0, NOTHING,
                   "the dispatch tile's coordinates in the go word",
                   "GO in DEV mode with master (0,0)%s", "");
        }
    }
}

static bool is_request(uint8_t signal)
{
    return signal == NOCAP_GO_RESET_READ_PTR || signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST ||
           signal == NOCAP_GO_REPLAY_TRACE;
}

/* A write from outside to go word `i`. */
static void judge_go_word(struct model *m, struct tile *tile, const struct access *a, unsigned i)
{
    struct launch *l = &tile->launch;
    uint32_t at = nocap_go_word_address(m->layout, i), word;
    uint8_t signal;
    if (!access_byte(a, at + NOCAP_GO_SIGNAL_BYTE, &signal)) {
        if (l->go_pending == YES && tile->sees_cores && (int)i == launch_go_index(m, tile)) {
            judge_intrusion(m, tile, a, "the active go word");
        }
        return;
    }
    struct nocap_go_word go = {.signal = signal};
    if (access_word(a, at, &word)) {
        go = nocap_go_decode(word);
    } else if (shadow_word(&tile->l1, at, &word)) {
        go = nocap_go_decode(word);
        go.signal = signal;
    }
    int active = launch_go_index(m, tile);
    if (signal == NOCAP_GO_DONE && (int)i != active) {
        return; /* clearing words that nobody reads is no act */
    }
    bool named = nocap_go_name(signal) != NULL;
    EXPECT(m, tile, GO_001, named, NOTHING, "one of 00 40 80 C0 E0 F0", "signal 0x%02x", signal);
    if (!named) {
        if ((int)i == active) {
            judge_lost_request(m, tile);
        }
        return;
    }
    EXPECT(m, tile, GO_002, signal != NOCAP_GO_DONE, NOTHING, "DONE stored by BRISC only",
           "%s stored it", nocap_agent_name(a->by));
    if (active >= 0) {
        EXPECT(m, tile, GO_017, (int)i == active, NOTHING,
               "the go word that go_message_index selects", "go word %u, go_message_index is %d", i,
               active);
        if ((int)i != active) {
            l->doubtful = true; /* perhaps BRISC reads another word than is believed here */
            return;
        }
    }
    judge_lost_request(m, tile);
    if (signal == NOCAP_GO_GO) {
        judge_go(m, tile, go);
    } else if (l->go_pending == YES && signal != NOCAP_GO_DONE) {
        judge_intrusion(m, tile, a, "the active go word");
    }
    if (signal == NOCAP_GO_RESET_READ_PTR || signal == NOCAP_GO_REPLAY_TRACE) {
        EXPECT(m, tile, GO_019, (go.master_x | go.master_y) != 0, NOTHING,
               "the dispatch tile's coordinates in the go word", "signal 0x%02x with master (0,0)",
               signal);
    }
}

/* The index selects one of nine go words. */
static void judge_go_index(struct model *m, struct tile *tile, const struct access *a)
{
    uint32_t index;
    if (access_word(a, m->layout->go_message_index, &index)) {
        EXPECT(m, tile, GO_017, index < NOCAP_GO_WORDS, NOTHING, "a go_message_index from 0 to 8",
               "%u", index);
    }
}

void launch_judge_outside_store(struct model *m, struct tile *tile, const struct access *a)
{
    if (!brisc_may_run(tile) || a->addr >= NOCAP_L1_SIZE) {
        return;
    }
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        if (touches(a, nocap_go_word_address(m->layout, i), NOCAP_GO_WORD_SIZE)) {
            judge_go_word(m, tile, a, i);
        }
    }
    judge_go_index(m, tile, a);
    if (tile->launch.go_pending == YES && tile->sees_cores) {
        judge_intrusion(m, tile, a, active_part(m, tile, a));
    }
}

/* The same for the tile's other cores: their kernels may write to L1, but not to what BRISC
 * launches from. */
void launch_judge_core_store(struct model *m, struct tile *tile, const struct access *a)
{
    if (tile->launch.go_pending == YES && a->addr < NOCAP_L1_SIZE) {
        judge_intrusion(m, tile, a, active_part(m, tile, a));
    }
}

/* Where BRISC's stores are not observed, a launch that is not certainly of HOST mode leaves rd_ptr
 * unknown. */
static void lose_rd_ptr(struct tile *tile)
{
    const struct launch *l = &tile->launch;
    bool stays = l->message_known && l->message.mode == NOCAP_MODE_HOST;
    if (!tile->sees_cores && l->go.index != NO_INDEX && !stays) {
        shadow_forget(&tile->l1, NOCAP_RD_PTR, 4);
    }
}

static void take_signal(struct model *m, struct tile *tile, uint8_t signal)
{
    struct launch *l = &tile->launch;
    if (signal == NOCAP_GO_GO) {
        l->by_host = m->event->by == NOCAP_BY_HOST;
        bool fresh = l->go_pending != YES;
        l->request = 0;
        l->go_pending = tile->sees_cores ? YES : UNKNOWN;
        if (fresh) {
            lose_rd_ptr(tile);
            l->go = now(m);
            if (l->active != YES || !tile->sees_cores) { /* else it still ends what came before */
                bool doubtful = l->doubtful;             /* of this very GO */
                uint8_t obscure = l->obscure;
                launch_start(m, tile, doubtful ? -1 : launch_next_slot(tile));
                l->doubtful = doubtful;
                l->obscure = obscure; /* until BRISC acts */
                /* in a trace that begins here, others may have had their commands before */
                l->active = l->active == UNKNOWN && launch_may_preload(m, tile) ? UNKNOWN : NO;
            }
        }
    } else if (is_request(signal)) {
        l->request = signal;
        l->requested = now(m);
        l->request_done = tile->sees_cores ? NO : UNKNOWN;
        if (!tile->sees_cores) {
            uint32_t rd_ptr;
            if (!shadow_word(&tile->l1, NOCAP_RD_PTR, &rd_ptr) || rd_ptr != 0) {
                shadow_forget(&tile->l1, NOCAP_RD_PTR, 4);
            }
        }
    }
}

/* After the store took effect. */
void launch_take_outside_store(struct model *m, struct tile *tile, const struct access *a)
{
    struct launch *l = &tile->launch;
    if (a->addr >= NOCAP_L1_SIZE) {
        return;
    }
    for (unsigned slot = 0; slot < NOCAP_LAUNCH_SLOTS; slot++) {
        if (touches(a, nocap_launch_slot(m->layout, slot), m->layout->launch_size)) {
            l->slots[slot] = (struct slot){.fresh = YES, .index = m->event->index, .turn = m->turn};
            if (brisc_may_run(tile)) {
                launch_judge_message(m, tile, slot);
                struct nocap_launch message;
                l->by_host |= m->event->by == NOCAP_BY_HOST &&
                              launch_read_message(m, tile, slot, &message) &&
                              message.mode == NOCAP_MODE_HOST;
            }
        }
    }
    int active = launch_go_index(m, tile);
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint8_t signal;
        if ((active < 0 || (int)i == active) &&
            access_byte(a, nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE, &signal)) {
            take_signal(m, tile, signal);
        } else if ((active < 0 || (int)i == active) &&
                   touches(a, nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE, 1)) {
            launch_forget(tile);
        }
    }
    if (a->addr >= NOCAP_L1_ZEROS) {
        l->images[l->image_count++ % IMAGE_SPANS] = (struct span){.addr = (uint32_t)a->addr,
                                                                  .size = (uint32_t)a->size,
                                                                  .index = m->event->index,
                                                                  .turn = m->turn};
    }
}
