/* SPDX-License-Identifier: Apache-2.0 */
/* What a host launches: its GO against what it has written and seen before. Rules GO-021 to
 * GO-025. */
#include "replay/host/host_private.h"

/* Where more is observed than what a host does, and still not the tile's network, messages and
 * kernels may be those of a dispatcher that is not. */
static bool hides_dispatcher(const struct model *m, const struct tile *tile)
{
    const uint32_t host =
        NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_SAMPLED;
    bool network = (m->header->observes & NOCAP_CLASS_NOC) != 0 && tile->in_scope;
    return !network && (m->header->observes & ~host) != 0;
}

/* The go word with what is stored of it now. False: not known. */
static bool host_go_word(const struct model *m, const struct tile *tile, const struct access *store,
                         uint32_t *word)
{
    uint32_t at = tile_signal_address(m, tile) - NOCAP_GO_SIGNAL_BYTE;
    return access_word(store, at, word) || shadow_word(&tile->l1, at, word);
}

/* A GO that went to a wrong tile is missing elsewhere. */
static void note_wrong_tile(struct model *m)
{
    host_state_of(m)->wrong_tile_index = m->event->index;
    host_state_of(m)->wrong_tile_since = m->fault;
}

/* What a dispatcher of whom nothing is observed writes, and which slots it lets run, the host's own
 * stores do not tell. A go word names it. */
static bool names_unseen_dispatcher(const struct model *m, const struct tile *tile,
                                    const struct access *store)
{
    bool network = (m->header->observes & NOCAP_CLASS_NOC) != 0 && tile->in_scope;
    uint32_t word;
    if (network || !host_go_word(m, tile, store, &word)) {
        return false;
    }
    struct nocap_go_word go = nocap_go_decode(word);
    const struct nocap_xy at = {go.master_x, go.master_y};
    const struct tile *master = tile_find(m, tile->chip, at);
    bool complete = host_of(tile)->written != NULL && model_is_tensix(m, at);
    /* .. where a kernel may have been launched since power-on */
    return (at.x | at.y) != 0 && (!complete || (master != NULL && host_of(master)->launched));
}

/* The slot that BRISC will read; -1: not known, or it still boots and will overwrite the GO. */
static int next_slot(const struct model *m, const struct tile *tile)
{
    const struct launch_facts *f = &tile->launch;
    uint32_t rd_ptr;
    uint8_t signal;
    if (!tile->sees_cores) {
        return host_of(tile)->rd_ptr;
    }
    bool certain = f->active == NO && f->advance != UNKNOWN &&
                   shadow_byte(&tile->l1, tile_signal_address(m, tile), &signal) &&
                   signal != NOCAP_GO_INIT && (f->request == 0 || f->request_done == YES) &&
                   shadow_word(&tile->l1, m->layout->rd_ptr, &rd_ptr);
    return certain ? (int)((rd_ptr + (f->advance == YES)) % NOCAP_LAUNCH_SLOTS) : -1;
}

/* In front of a table of banks the initial contents of local memory lie while firmware boots: no
 * kernel. */
static bool has_text(const struct written *w, const struct nocap_launch *message, uint32_t entry)
{
    const uint32_t base = message->kernel_config_base[0];
    const uint32_t table = base + NOCAP_BANK_TABLE_FROM_KERNEL_CONFIG;
    const bool scratch =
        entry >= base && entry < table && (written_when(w, table) & WRITTEN_BEFORE) != 0;
    return written_when(w, entry) > (scratch ? WRITTEN_BEFORE : 0);
}

static void judge_texts(struct model *m, struct tile *tile)
{
    struct host_tile *h = host_of(tile);
    uint32_t entry = 0;
    unsigned lacking = CORES;
    for (unsigned p = CORES; p-- > 0;) {
        uint32_t at = nocap_kernel_entry(&h->message, (enum nocap_processor)p);
        if (nocap_launch_starts(&h->message, p) && !has_text(h->written, &h->message, at)) {
            lacking = p;
            entry = at;
        }
    }
    CHECK_ONCE(m, tile, GO_024, since_or(h->go_since, h->texts_since), lacking == CORES,
               RELATED(h->slot >= 0 ? h->message_indexes[h->slot] : h->message_index),
               "the kernels of all enabled processors in L1 when GO is stored",
               "GO with nothing written to 0x%x, where the kernel of %s begins", entry,
               lacking < CORES ? nocap_agent_name(nocap_cores[lacking].agent) : "");
    h->texts_since = lacking == CORES ? FAULT_NONE : m->fault;
    h->go_since = lacking == CORES ? h->go_since : m->fault;
}

/* The message in a slot, in the state of L1 before this store, which may bring it. False: it is not
 * known. */
static bool read_slot(const struct model *m, const struct tile *tile, unsigned slot,
                      const struct access *store, struct nocap_launch *message)
{
    const uint32_t at = nocap_launch_slot(m->layout, slot), size = m->layout->launch_size;
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    if (touches(store, at, size) || !shadow_copy(&tile->l1, at, size, bytes)) {
        return false;
    }
    nocap_launch_decode(m->layout, bytes, message);
    return true;
}

/* A message of HOST mode that stays in its slot would run again; where the cores are observed it is
 * the launches' own (GO-007). */
static void judge_slot(struct model *m, struct tile *tile)
{
    struct host_tile *h = host_of(tile);
    bool written = (h->slots_written >> h->slot & 1) != 0;
    bool again = (h->slots_run >> h->slot & 1) != 0 && !tile->sees_cores && h->message_known &&
                 h->message.mode == NOCAP_MODE_HOST && h->message.enables != 0;
    bool right = written && !again;
    fault_id since = since_or(h->go_since, h->message_since);
    since = since_or(since, tile->sees_cores ? tile->launch.slot_since : FAULT_NONE);
    CHECK_ONCE(m, tile, GO_023, since, right, RELATED(written ? h->go.index : NO_INDEX),
               "a launch message in the slot that BRISC reads when GO is stored",
               written ? "GO for launch slot %d, not written since the GO that ran its message"
                       : "GO for launch slot %d, to which no agent has written",
               h->slot);
    h->go_since = right ? h->go_since : m->fault;
    if (!written) {
        note_wrong_tile(m);
        h->message_known = false;
    }
    h->message_since = right ? FAULT_NONE : m->fault;
    h->slots_run |= (uint8_t)(1u << h->slot);
}

/* Whether the launch is one of DEV mode, whatever slot has it. */
static bool runs_dev(const struct model *m, const struct tile *tile, const struct access *store)
{
    const struct host_tile *h = host_of(tile);
    bool any = false;
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        struct nocap_launch message;
        if ((h->slots_written >> i & 1) == 0 || (h->slot >= 0 && (unsigned)h->slot != i)) {
            continue;
        }
        if (!read_slot(m, tile, i, store, &message) || message.mode != NOCAP_MODE_DEV ||
            message.enables == 0) {
            return false;
        }
        any = true;
    }
    return any;
}

/* Where the cores are observed it is the launches' own. */
static void judge_master(struct model *m, struct tile *tile, const struct access *store)
{
    uint32_t word;
    if (!tile->sees_cores && host_go_word(m, tile, store, &word) && runs_dev(m, tile, store)) {
        struct nocap_go_word go = nocap_go_decode(word);
        CHECK_ONCE(m, tile, GO_019, FAULT_NONE, (go.master_x | go.master_y) != 0, NO_REFS,
                   "the dispatch core's coordinates in the go message",
                   "GO in DEV mode with master (0,0)%s", "");
    }
}

void host_judge_go(struct model *m, struct tile *tile, const struct access *store)
{
    struct host_tile *h = host_of(tile);
    struct host_state *s = host_state_of(m);
    bool complete = h->written != NULL;
    tile->go_since = FAULT_NONE;
    if (complete && h->running != UNKNOWN) {
        fault_id since = asked_for(m, tile) ? h->held_since : s->held_since;
        bool held = host_holds(tile);
        CHECK_ONCE(m, tile, GO_025, since, !held, NO_REFS,
                   "GO to a worker core whose BRISC was released from reset",
                   "GO to worker core %u,%u, whose BRISC is held in reset", tile->at.x, tile->at.y);
        tile->go_since = h->held_since = held ? m->fault : FAULT_NONE;
        if (held) {
            s->held_since = m->fault;
            note_wrong_tile(m);
        }
    }
    if (host_holds(tile)) {
        return;
    }
    if (h->done_pending != UNKNOWN && h->go.index != NO_INDEX && !tile->sees_cores) {
        CHECK_ONCE(m, tile, GO_021, h->go_since, h->done_pending == NO, RELATED(h->go.index),
                   "DONE (0x00) loaded from the signal of the go message since the last GO",
                   "GO stored before a load has shown DONE of the GO at #%llu",
                   (unsigned long long)h->go.index);
    }
    h->go_since = h->done_pending == YES && !tile->sees_cores ? m->fault : FAULT_NONE;
    h->rd_ptr = h->done_pending == NO && !names_unseen_dispatcher(m, tile, store) ? h->rd_ptr : -1;
    h->slot = next_slot(m, tile);
    h->message_known = h->slot >= 0 && read_slot(m, tile, (unsigned)h->slot, store, &h->message);
    judge_master(m, tile, store);
    complete &= !hides_dispatcher(m, tile);
    if (complete && h->slot >= 0) {
        judge_slot(m, tile);
    }
    tile->go_since = h->message_since;
    if (complete && h->message_known) {
        judge_texts(m, tile);
    }
    h->done_pending = YES;
    h->go = now(m);
    if (h->rd_ptr >= 0) {
        bool moves = h->message_known && h->message.mode == NOCAP_MODE_DEV;
        h->rd_ptr = !h->message_known ? -1 : (h->rd_ptr + moves) % NOCAP_LAUNCH_SLOTS;
    }
}

/* What the launch that the host has not seen end works with; NULL: nothing of that. */
static const char *part_in_use(const struct model *m, const struct tile *tile,
                               const struct access *a)
{
    const struct host_tile *h = host_of(tile);
    uint8_t signal;
    if (access_byte(a, tile_signal_address(m, tile), &signal) && signal != NOCAP_GO_GO &&
        signal != NOCAP_GO_DONE) {
        return "the go message";
    }
    if (touches(a, m->layout->go_message_index, 4)) {
        return "go_message_index";
    }
    if (h->slot >= 0 &&
        touches(a, nocap_launch_slot(m->layout, (unsigned)h->slot), m->layout->launch_size)) {
        return "the launch message";
    }
    for (unsigned p = 0; h->message_known && p < CORES; p++) {
        uint32_t entry = nocap_kernel_entry(&h->message, (enum nocap_processor)p);
        for (uint32_t i = 0;
             nocap_launch_starts(&h->message, p) && i < IMAGES && i < h->image_count; i++) {
            const struct image *image = &h->images[i];
            if (image->addr <= entry && entry < image->addr + image->size &&
                touches(a, image->addr, image->size)) {
                return "the image of the kernels";
            }
        }
    }
    return NULL;
}

void host_judge_intrusion(struct model *m, struct tile *tile, const struct access *a)
{
    struct host_tile *h = host_of(tile);
    const char *part = part_in_use(m, tile, a);
    CHECK_ONCE(m, tile, GO_022, h->go_since, part == NULL, RELATED(h->go.index),
               "what a launch works with not written before DONE was loaded",
               "%s written before a load has shown DONE: %llu bytes at 0x%llx", part,
               (unsigned long long)a->size, (unsigned long long)a->addr);
    h->go_since = part == NULL ? h->go_since : m->fault;
}
