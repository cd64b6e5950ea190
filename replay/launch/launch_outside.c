/* SPDX-License-Identifier: Apache-2.0 */
/* Go words, launch messages and kernel images as they arrive from outside: the host's, or the
 * dispatcher's by NOC. Rules GO. */
#include <string.h>

#include "replay/launch/launch_private.h"

/* The queue whose dispatcher sends what the event tells; NULL: none. */
static const struct queue_facts *sender(const struct model *m, const struct observation *o)
{
    const struct queue_facts *queue =
        o->event->kind == NOCAP_EV_NOC ? queue_at(m, o->tile->chip, o->event->at) : NULL;
    return queue != NULL && queue_dispatches(queue, o->event->at) ? queue : NULL;
}

/* What is wrong with the queue's records arrives long after it was found: what the dispatcher sends
 * is known since then. */
static fault_id sent_since(const struct model *m, const struct observation *o)
{
    const struct queue_facts *queue = sender(m, o);
    return queue != NULL ? queue->launches_since : FAULT_NONE;
}

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

void launch_locate_texts(struct launch *l)
{
    l->text_count = 0;
    l->texts_first = UINT32_MAX;
    l->texts_end = 0;
    for (unsigned p = 0; l->message_known && p < CORES; p++) {
        if (!nocap_launch_starts(&l->message, p)) {
            continue;
        }
        uint32_t entry = nocap_kernel_entry(&l->message, (enum nocap_processor)p);
        const struct span *s = image_at(l, entry);
        const struct text text = {.entry = entry,
                                  .first = s != NULL ? s->addr : entry,
                                  .end = s != NULL ? s->addr + s->size : entry + 4};
        l->texts_first = text.first < l->texts_first ? text.first : l->texts_first;
        l->texts_end = text.end > l->texts_end ? text.end : l->texts_end;
        l->texts[l->text_count++] = text;
    }
}

/* A host leaves all alone that it wrote together with a kernel. What comes by NOC may be a
 * semaphore or an argument in the same piece: from the kernel's entry to its end is text. */
static bool hits_image(const struct launch *l, const struct access *a)
{
    if (a->addr >= l->texts_end || a->addr + a->size <= l->texts_first) {
        return false;
    }
    bool hit = false;
    for (unsigned i = 0; i < l->text_count; i++) {
        const struct text *t = &l->texts[i];
        uint32_t first = a->by == NOCAP_BY_HOST ? t->first : t->entry;
        hit |= touches(a, first, t->end - first);
    }
    return hit;
}

/* What a running launch works with, by name; NULL: the write hits none of it. */
static const char *active_part(const struct model *m, const struct observation *o)
{
    const struct launch *l = launch_of(o->tile);
    const struct access *a = &o->access;
    if ((o->places & PLACE(GO_INDEX)) != 0) {
        return "go_message_index";
    }
    int active = (o->places & PLACE(GO)) != 0 ? tile_go_index(m, o->tile) : -1;
    if (nocap_is_core(a->by) && active >= 0 &&
        touches(a, nocap_go_word_address(m->layout, (unsigned)active), NOCAP_GO_SIGNAL_BYTE)) {
        return "the active go message";
    }
    if ((o->places & PLACE(LAUNCH)) != 0 && l->slot >= 0 &&
        touches(a, nocap_launch_slot(m->layout, (unsigned)l->slot), m->layout->launch_size)) {
        return "the active launch message";
    }
    return hits_image(l, a) ? "the active kernel image" : NULL;
}

/* Of a launch that is not DONE yet. */
static void judge_intrusion(struct model *m, const struct observation *o, const char *part)
{
    struct launch *l = launch_of(o->tile);
    if (l->go_pending != YES) {
        return;
    }
    const struct access *a = &o->access;
    fault_id since = since_or(since_or(l->parts_since, l->notify_early), sent_since(m, o));
    CHECK_AFTER(m, o->tile, GO_006, since, part == NULL, RELATED(l->go.index),
                "what a launch works with left alone between GO and DONE",
                "%s written between GO and DONE: %llu bytes at 0x%llx", part,
                (unsigned long long)a->size, (unsigned long long)a->addr);
    l->parts_since = part == NULL ? l->parts_since : m->fault;
    if (l->slot >= 0 &&
        touches(a, nocap_launch_slot(m->layout, (unsigned)l->slot), m->layout->launch_size)) {
        l->slots[l->slot].early = m->fault;
    }
    if (since == FAULT_NONE) { /* else what is missing is a fault of its own */
        store_strays(m);
    }
}

void launch_judge_intrusion(struct model *m, const struct observation *o)
{
    judge_intrusion(m, o, launch_of(o->tile)->go_pending == YES ? active_part(m, o) : NULL);
}

/* A slot that got a message since the last launch, other than `slot`; -1: none. */
static int other_slot(const struct launch *l, int slot)
{
    for (int i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        if (i != slot && l->slots[i].fresh == YES && l->slots[i].turn > l->done.turn) {
            return i;
        }
    }
    return -1;
}

/* Nothing but zeros: a message may enable no core, but it is not empty. Decoding sets what lies
 * between members to zero, too. */
static bool is_blank(const struct nocap_launch *message)
{
    static const struct nocap_launch blank;
    return memcmp(message, &blank, sizeof blank) == 0; /* NOLINT(*-memory-comparison,cert-*) */
}

/* GO-007, when GO is written: is the message there that BRISC will read? */
static void judge_freshness(struct model *m, const struct observation *o, int slot,
                            const struct nocap_launch *message)
{
    struct tile *tile = o->tile;
    struct launch *l = launch_of(tile);
    int other = other_slot(l, slot);
    if (l->slots[slot].fresh == YES) {
        MARK_EXERCISED(m, GO_007);
        l->slot_since = other < 0 ? FAULT_NONE : l->slot_since; /* else it may be an older one */
        return;
    }
    bool empty = message->enables == 0;
    if (l->slots[slot].fresh == UNKNOWN && !(other >= 0 && is_blank(message))) {
        return; /* it may have been written before the trace began */
    }
    bool right = empty && other < 0;
    fault_id since = since_or(since_or(l->rd_since, l->slot_since), sent_since(m, o));
    since = since_or(since, l->slots[slot].early);
    const struct nocap_launch_place *enables = &m->layout->fields[NOCAP_LAUNCH_enables];
    SEEING(
        m, tile->at, nocap_launch_slot(m->layout, (unsigned)slot) + enables->offset, enables->width,
        CHECK_AFTER(
            m, tile, GO_007, since, right, RELATED(other >= 0 ? l->slots[other].index : NO_INDEX),
            "a new launch message in the slot that BRISC reads next",
            empty ? "GO for launch slot %d, which is empty; a message was written to slot %d"
                  : "GO for launch slot %d, whose message has run already",
            slot, other));
    if (!right) { /* or rd_ptr is another */
        l->go_since = l->rd_since = m->fault;
        l->slot_since = other >= 0 ? m->fault : l->slot_since;
    }
}

/* The slot that was written last; -1: none. */
static int latest_slot(const struct launch *l)
{
    int latest = -1;
    for (int i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        bool later = latest < 0 || l->slots[i].turn > l->slots[latest].turn;
        latest = l->slots[i].fresh == YES && later ? i : latest;
    }
    return latest;
}

/* What is wrong with the command that a go word is sent for: the word itself, or anything. */
static fault_id named_since(const struct model *m, const struct observation *o)
{
    uint32_t word;
    const struct queue_facts *queue = sender(m, o);
    bool same = queue != NULL && access_word(&o->access, o->access.addr, &word) &&
                word == queue->wrong.go_word;
    return same ? queue->wrong.go_since : FAULT_NONE;
}

static fault_id word_since(const struct model *m, const struct observation *o)
{
    const struct queue_facts *queue = sender(m, o);
    return queue == NULL ? FAULT_NONE
                         : since_or(since_or(queue->message, launch_written_since(m, o->tile)),
                                    named_since(m, o));
}

/* A go word that is to be answered names the tile to notify. */
static void judge_master(struct model *m, const struct observation *o, struct nocap_go_word go)
{
    struct launch *l = launch_of(o->tile);
    CHECK_AFTER(m, o->tile, GO_019, l->master_since, (go.master_x | go.master_y) != 0, NO_REFS,
                "the dispatch core's coordinates in the go message",
                "go message with signal 0x%02x and master (0,0)", go.signal);
    l->master_since = since_or(l->master_since, m->fault);
}

static void judge_go(struct model *m, const struct observation *o, struct nocap_go_word go)
{
    struct tile *tile = o->tile;
    struct launch *l = launch_of(tile);
    const struct queue_facts *queue = sender(m, o);
    fault_id written = launch_written_since(m, tile);
    if (queue != NULL && nocap_xy_equal(tile->at, queue->wrong.listed)) {
        written = since_or(written, queue->wrong.listed_since);
    }
    if (o->access.by == NOCAP_BY_HOST) {
        boot_host_go(m, tile);
    }
    if (tile->sees_cores && l->go_pending != UNKNOWN) {
        fault_id launch = since_or(since_or(l->go_since, l->parts_since), l->notify_early);
        CHECK_SEEING(
            m, tile, tile_signal_address(m, tile), 1, GO_003, since_or(launch, written),
            l->go_pending == NO, RELATED(l->go.index), "GO only while the worker core is not busy",
            "GO over the GO that is not DONE yet (signal 0x%02x): it will be lost", go.signal);
    }
    if (l->go_pending == YES) { /* which of the two BRISC obeys is not certain */
        launch_fault(l, m->fault);
        return;
    }
    l->go_since = written;
    int slot = l->active == YES ? l->slot : launch_next_slot(m, tile);
    /* a message that the host copied in pieces is whole now */
    const int whole = tile->sees_cores && slot >= 0 ? slot : latest_slot(l);
    const struct nocap_launch *message =
        launch_reports_message(m, tile, whole) ? launch_message(m, tile, whole) : NULL;
    if (message != NULL) {
        launch_judge_message(m, tile, (unsigned)whole, message);
    }
    message = launch_message(m, tile, slot);
    if (message == NULL) {
        return;
    }
    bool shown = launch_reports_message(m, tile, slot);
    if (tile->sees_cores && (shown || other_slot(l, slot) >= 0)) {
        judge_freshness(m, o, slot, message);
    }
    bool hosts = o->access.by == NOCAP_BY_HOST && !tile->sees_cores; /* it is judged as such */
    if (shown && !hosts && message->mode == NOCAP_MODE_DEV && message->enables != 0) {
        judge_master(m, o, go);
    }
}

/* Whether go word `i` is the one that the index selects. */
static bool judge_selected(struct model *m, const struct observation *o, unsigned i, int active)
{
    struct tile *tile = o->tile;
    struct launch *l = launch_of(tile);
    bool again = l->index_since != FAULT_NONE && l->index_word == i, right = (int)i == active;
    fault_id written = since_or(launch_written_since(m, tile), word_since(m, o));
    fault_id since = again ? l->index_since : written;
    CHECK_SEEING(m, tile, m->layout->go_message_index, 4, GO_017, since, right, NO_REFS,
                 "the go message that go_message_index selects",
                 "go message %u written, go_message_index selects %d", i, active);
    l->index_since = right ? FAULT_NONE : m->fault;
    l->index_word = i;
    if (!right) {
        l->go_since = l->ignored_since = m->fault; /* or BRISC reads another than is believed */
        l->by_host |= o->access.by == NOCAP_BY_HOST;
    }
    return right;
}

/* Whether a GO in word `i` may be for the launch that is under way, where it is not known which
 * word the index selects: one does. */
static bool judge_one_word(struct model *m, const struct observation *o, unsigned i)
{
    struct launch *l = launch_of(o->tile);
    if (l->go_pending != YES) {
        return true;
    }
    CHECK(m, o->tile, GO_017, l->go_word == i, RELATED(l->go.index),
          "the go message that go_message_index selects",
          "go message %u written, and %u before it: the index selects one", i, l->go_word);
    return l->go_word == i;
}

/* A write from outside to go word `i`. */
static void judge_go_word(struct model *m, const struct observation *o, unsigned i)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    struct launch *l = launch_of(tile);
    uint32_t at = nocap_go_word_address(m->layout, i), word;
    uint8_t signal;
    if (!access_byte(a, go_signal_address(m, i), &signal)) {
        if (tile->sees_cores && (int)i == tile_go_index(m, tile)) {
            judge_intrusion(m, o, "the active go message");
        }
        return;
    }
    struct nocap_go_word go = {.signal = signal};
    if (access_word(a, at, &word) || shadow_word(&tile->l1, at, &word)) {
        go = nocap_go_decode(word);
        go.signal = signal;
    }
    int active = tile_go_index(m, tile);
    if (signal == NOCAP_GO_DONE && (int)i != active) {
        return; /* clearing words that no agent reads is no act */
    }
    bool named = nocap_go_name(signal) != NULL;
    CHECK_AFTER(m, tile, GO_001, word_since(m, o), named, NO_REFS, "one of 00 40 80 C0 E0 F0",
                "unknown signal 0x%02x in a go message", signal);
    if (!named) {
        if ((int)i == active) {
            fault_id fault = m->fault;
            launch_lose_request(m, tile, signal, FAULT_NONE);
            judge_intrusion(m, o, "the active go message");
            l->go_since = l->ignored_since = fault; /* BRISC obeys it, or does not */
        }
        return;
    }
    if (tile->sees_cores) {
        CHECK_AFTER(m, tile, GO_002, named_since(m, o), signal != NOCAP_GO_DONE, NO_REFS,
                    "DONE stored by BRISC only", "DONE stored by %s", nocap_agent_name(a->by));
        if (signal == NOCAP_GO_DONE && m->fault != FAULT_UNREPORTED) {
            l->go_since = m->fault;
        }
    }
    if (active >= 0 ? !judge_selected(m, o, i, active) : !judge_one_word(m, o, i)) {
        return;
    }
    l->go_word = i;
    l->ignored_since = FAULT_NONE;
    launch_lose_request(m, tile, signal, FAULT_NONE);
    l->master = (struct nocap_xy){go.master_x, go.master_y};
    l->master_since = named_since(m, o);
    if (signal == NOCAP_GO_GO) {
        judge_go(m, o, go);
    } else if (signal != NOCAP_GO_DONE) {
        judge_intrusion(m, o, "the active go message");
    }
    if (signal == NOCAP_GO_RESET_READ_PTR || signal == NOCAP_GO_REPLAY_TRACE) {
        judge_master(m, o, go);
    }
}

/* Messages that arrive. */
static void judge_messages(struct model *m, const struct observation *o, fault_id since)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    struct launch *l = launch_of(tile);
    const struct queue_facts *queue = sender(m, o);
    since = since_or(since, queue != NULL ? queue->message : FAULT_NONE); /* of its command */
    for (unsigned i = 0; (o->places & PLACE(LAUNCH)) != 0 && i < NOCAP_LAUNCH_SLOTS; i++) {
        uint32_t at = nocap_launch_slot(m->layout, i), size = m->layout->launch_size;
        if (touches(a, at, size)) {
            struct slot *s = &l->slots[i];
            s->fresh = YES;
            s->index = o->event->index;
            s->turn = m->turn;
            s->judged = false;
            s->since = since;
            s->early = FAULT_NONE;
            const struct nocap_launch *message = launch_message_after(m, tile, (int)i, a);
            if (brisc_may_run(tile) && message != NULL) {
                bool whole = a->addr <= at && at + size <= a->addr + a->size;
                if (whole || a->by != NOCAP_BY_HOST) {
                    launch_judge_message(m, tile, i, message);
                }
                l->by_host |= a->by == NOCAP_BY_HOST && message->mode == NOCAP_MODE_HOST;
            }
        }
    }
}

void launch_judge_outside_store(struct model *m, const struct observation *o, fault_id since)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    uint32_t index;
    if (a->addr >= NOCAP_L1_SIZE) {
        return;
    }
    judge_messages(m, o, since); /* first: one write may bring the message and its GO */
    if (brisc_may_run(tile)) {
        for (unsigned i = 0; (o->places & PLACE(GO)) != 0 && i < NOCAP_GO_WORDS; i++) {
            if (touches(a, nocap_go_word_address(m->layout, i), NOCAP_GO_WORD_SIZE)) {
                judge_go_word(m, o, i);
            }
        }
        if (access_word(a, m->layout->go_message_index, &index)) {
            CHECK(m, tile, GO_017, index < NOCAP_GO_WORDS, NO_REFS,
                  "a go_message_index from 0 to 8",
                  "go_message_index %u, there are go messages 0 to 8", index);
            if (index < NOCAP_GO_WORDS && tile_go_index(m, tile) < 0) {
                (void)judge_one_word(m, o, index);
            }
            launch_of(tile)->index_since = FAULT_NONE;
        }
        if (tile->sees_cores) {
            launch_judge_intrusion(m, o);
        }
    }
}

static void take_go(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    /* where BRISC's stores are not observed, the latest launch moves rd_ptr on, but in HOST mode */
    bool stays = l->message_known && l->message.mode == NOCAP_MODE_HOST;
    if (!tile->sees_cores && l->go.index != NO_INDEX && !stays) {
        shadow_forget(&tile->l1, m->layout->rd_ptr, 4);
    }
    if (l->open) { /* its end was not seen */
        launch_report(m, tile, false);
    }
    l->go = now(m);
    l->open = true;
    l->go_since = since_or(l->go_since, l->by_host ? tile->go_since : tile->go_misled);
    if (l->active != YES || !tile->sees_cores) { /* else it still ends what came before */
        launch_start(m, tile, launch_next_slot(m, tile));
        /* in a trace that begins here, others may have had their commands before */
        l->active = l->active == UNKNOWN && launch_preloads(m, tile) == YES ? UNKNOWN : NO;
    } else {
        launch_locate_texts(l);
    }
}

static void take_signal(struct model *m, struct tile *tile, const struct access *a, uint8_t signal)
{
    struct launch *l = launch_of(tile);
    uint32_t rd_ptr;
    bool request = signal == NOCAP_GO_RESET_READ_PTR || signal == NOCAP_GO_REPLAY_TRACE ||
                   signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST;
    if (signal == NOCAP_GO_GO) {
        bool fresh = l->go_pending != YES;
        l->by_host = a->by == NOCAP_BY_HOST;
        l->request = 0;
        l->go_pending = tile->sees_cores ? YES : UNKNOWN;
        if (fresh) {
            take_go(m, tile);
        }
    } else if (request && signal != l->request) { /* once more it says nothing new */
        l->request = signal;
        l->asked = true;
        l->requested = now(m);
        l->request_done = tile->sees_cores ? NO : UNKNOWN;
        if (!tile->sees_cores &&
            (!shadow_word(&tile->l1, m->layout->rd_ptr, &rd_ptr) || rd_ptr != 0)) {
            shadow_forget(&tile->l1, m->layout->rd_ptr, 4);
        }
    }
}

void launch_take_outside_store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    bool goes = (o->places & PLACE(GO)) != 0;
    int active = goes ? tile_go_index(m, tile) : -1;
    for (unsigned i = 0; goes && i < NOCAP_GO_WORDS; i++) {
        uint8_t signal;
        if ((active >= 0 && (int)i != active) || !touches(a, go_signal_address(m, i), 1)) {
            continue;
        }
        if (access_byte(a, go_signal_address(m, i), &signal)) {
            take_signal(m, tile, a, signal);
        } else {
            launch_forget(tile);
        }
    }
}

void launch_note_image(const struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    struct launch *l = launch_of(o->tile);
    if (a->addr >= NOCAP_L1_ZEROS && a->addr < NOCAP_L1_SIZE) {
        l->images[l->image_count++ % IMAGE_SPANS] =
            (struct span){.addr = (uint32_t)a->addr, .size = (uint32_t)a->size, .turn = m->turn};
    }
}
