/* SPDX-License-Identifier: Apache-2.0 */
/* From DONE to the next launch: what must have happened before it, and what must follow it. Rules
 * GO. */
#include <string.h>

#include "replay/launch/launch_private.h"

/* Each processor: got its commands, was in its kernel once. */
static void judge_processor(struct model *m, struct tile *tile, unsigned p)
{
    struct launch *l = launch_of(tile);
    struct kernel *k = &l->kernels[p];
    const char *name = nocap_agent_name(nocap_cores[p].agent);
    bool on = nocap_launch_starts(&l->message, p);
    if (nocap_cores[p].sync_byte >= 0 && on) {
        bool commanded = (l->got_go >> p & 1) != 0;
        fault_id owed = sync_of(tile)->owed[nocap_cores[p].sync_byte];
        CHECK_AFTER(m, tile, SYN_014, since_or(owed, launch_enabled_since(l, p)), commanded,
                    RELATED(l->slots[l->slot].index), "GO to every enabled RISC before DONE",
                    "DONE without a GO to %s, enables 0x%02x", name, l->message.enables);
        if (!commanded && k->entered == 0) { /* else it was */
            launch_group_fault(l, launch_group(p), m->fault);
        }
    }
    if (on && !state_of(m)->kernels_shown && (m->header->observes & NOCAP_CLASS_KERNEL) != 0) {
        launch_unshown(tile, now(m), &state_of(m)->kernels);
        return;
    }
    fault_id since = k->entered == k->left ? launch_enabled_since(l, p) : l->since[p];
    if (k->left > k->entered) {
        since = since_or(since, k->exit_owed);
        k->exit_owed = FAULT_NONE;
    }
    CHECK_AFTER(m, tile, GO_012, since, k->entered == on && k->left == on,
                RELATED(l->slots[l->slot].index),
                on ? "an enabled RISC to enter and leave its kernel once before DONE"
                   : "a RISC that is not enabled stays out of its kernel",
                "%s entered its kernel %u times and left it %u times before DONE, enables 0x%02x",
                name, k->entered, k->left, l->message.enables);
}

/* Whether the processor is through with its part, though not all are; `word`: the sync word. */
static bool is_over(const struct launch *l, unsigned p, uint32_t word)
{
    const int i = nocap_cores[p].sync_byte;
    const uint8_t byte = (uint8_t)(i >= 0 ? word >> 8 * i : NOCAP_SYNC_DONE);
    return nocap_launch_starts(&l->message, p) && l->kernels[p].inside == NO &&
           l->kernels[p].left > 0 && (byte == NOCAP_SYNC_DONE || byte == NOCAP_SYNC_INIT_REGISTERS);
}

/* DONE is stored; `uncaused`: by no GO, since. */
static void judge_launch(struct model *m, struct tile *tile, fault_id uncaused)
{
    struct launch *l = launch_of(tile);
    fault_id early = FAULT_NONE;
    struct kernel *brisc = &l->kernels[NOCAP_PROCESSOR_BRISC];
    uint32_t word = NOCAP_SYNC_ALL_DONE;
    bool known = shadow_word(&tile->l1, m->layout->sync, &word), inside = brisc->inside == YES;
    bool idle = word == NOCAP_SYNC_ALL_DONE || word == NOCAP_SYNC_REGISTER_INIT;
    /* what lacks is known to lack, so DONE itself comes in time */
    bool explained = l->go_since == FAULT_NONE && sync_since(tile, word) != FAULT_NONE;
    if (known) {
        fault_id since = since_or(l->go_since, sync_since(tile, word));
        CHECK_SEEING(m, tile, m->layout->sync, 4, GO_004, since, idle, RELATED(l->go.index),
                     "DONE only while the sync word is 0 or 0x00000300",
                     "launch DONE stored with sync word 0x%08x, not 0 or 0x300", word);
    }
    if (!idle) {
        early = explained ? FAULT_NONE : m->fault;
        sync_overrun(tile, word, m->fault);
    } else if (known) {
        sync_idle(tile);
    }
    if (brisc->inside != UNKNOWN) {
        CHECK_AFTER(m, tile, GO_005, since_or(l->go_since, early), !inside,
                    RELATED(brisc->enter_index), "DONE only after BRISC's own kernel exited", "%s",
                    "launch DONE stored while BRISC's own kernel still runs");
    }
    if (inside) {
        early = m->fault;
        kernel_overrun(brisc, early);
    }
    for (unsigned p = 0; l->message_known && l->active == YES && !l->begun && p < CORES; p++) {
        if ((idle && !inside) || is_over(l, p, word)) {
            judge_processor(m, tile, p);
        }
    }
    early = since_or(uncaused, early);
    if (early != FAULT_NONE) {
        launch_fault(l, early); /* up to the next GO BRISC may still be at this launch */
    }
}

static void await_notify(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    int index = tile_go_index(m, tile);
    uint32_t word;
    l->notify_pending = true;
    l->notify_since = since_or(since_or(l->go_since, l->parts_since), l->notify_early);
    l->notify_early = FAULT_NONE;
    l->notify_known =
        part_of(tile)->sees_outside && index >= 0 &&
        shadow_word(&tile->l1, nocap_go_word_address(m->layout, (unsigned)index), &word);
    l->notify = l->notify_known ? nocap_go_decode(word) : (struct nocap_go_word){0};
}

void launch_report(const struct model *m, struct tile *tile, bool done)
{
    struct launch *l = launch_of(tile);
    bool called = l->open, works = l->active == YES;
    l->open = false;
    if (m->launched == NULL) {
        return;
    }
    struct nocap_launched launched = {
        .chip = tile->chip,
        .at = tile->at,
        .go_by = called ? l->go.agent : NOCAP_BY_NONE,
        .done_by = done ? l->done.agent : NOCAP_BY_NONE,
        .preloaded = works && l->cause == CAUSE_PRELOAD,
        .has_enables = works && l->message_known,
        .enables = l->message.enables,
        .go_index = called ? l->go.index : NO_INDEX,
        .go_t = l->go.t,
        .done_index = done ? l->done.index : NO_INDEX,
        .done_t = l->done.t,
    };
    for (unsigned p = 0; p < CORES && works; p++) {
        const struct kernel *k = &l->kernels[p];
        launched.kernels[p].entered = k->entered > 0;
        launched.kernels[p].left = k->left > 0;
        launched.kernels[p].enter_t = k->enter_time;
        launched.kernels[p].exit_t = k->exit_time;
    }
    m->launched(m->context, &launched);
}

/* What BRISC has to do now, and that it is idle. */
static void end_launch(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    if (l->slot >= 0) {
        struct slot *slot = &l->slots[l->slot];
        slot->fresh = NO;
        l->rd_since = since_or(slot->since, l->rd_since); /* its mode cannot be relied on */
    }
    l->finished_host = !l->message_known ? UNKNOWN : l->message.mode == NOCAP_MODE_HOST ? YES : NO;
    bool dev = l->message_known && l->message.mode == NOCAP_MODE_DEV;
    l->advance = dev ? YES : l->finished_host == YES ? NO : UNKNOWN;
    if (dev) {
        await_notify(m, tile);
    }
    l->go_pending = part_of(tile)->sees_outside ? NO : UNKNOWN;
    l->active = NO;
    l->cause = CAUSE_NONE;
    sync_launch_over(tile);
}

/* A reset request that waits in the go word is overwritten by another signal. */
void launch_lose_request(struct model *m, struct tile *tile, uint8_t signal, fault_id since)
{
    struct launch *l = launch_of(tile);
    uint32_t rd_ptr;
    if (l->request == 0 || l->request == signal || !tile->sees_cores) {
        return;
    }
    if (l->request_done == YES) {
        MARK_EXERCISED(m, GO_013);
        MARK_EXERCISED(m, GO_014);
    } else if (l->request_done == NO && shadow_word(&tile->l1, m->layout->rd_ptr, &rd_ptr)) {
        since = since_or(since_or(since, l->rd_since), launch_written_since(m, tile));
        CHECK_SEEING(
            m, tile, m->layout->rd_ptr, 4, GO_013, since, rd_ptr == 0, RELATED(l->requested.index),
            "the reset request obeyed (rd_ptr stored 0) before it is overwritten",
            "reset request 0x%02x overwritten while rd_ptr was %u, not 0", l->request, rd_ptr);
        l->rd_since = rd_ptr != 0 || l->advance == NO ? m->fault : l->rd_since;
        if (rd_ptr != 0) {
            l->slot_since = m->fault;
        } else {
            CHECK_SEEING(
                m, tile, m->layout->rd_ptr, 4, GO_014, since, false, RELATED(l->requested.index),
                "the reset request obeyed before it is overwritten",
                "reset request 0x%02x overwritten before it was obeyed; rd_ptr was 0 already",
                l->request);
        }
    }
    l->request = 0;
}

/* BRISC stores DONE: the end of a launch, or the answer to a reset request. */
void launch_finish_done(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    if (l->active != YES && l->go_pending != YES && l->request != 0 &&
        l->request != NOCAP_GO_RESET_READ_PTR_FROM_HOST) {
        MARK_EXERCISED(m, GO_020);
        launch_lose_request(m, tile, NOCAP_GO_DONE, FAULT_NONE); /* unless it was obeyed */
        launch_notify_missing(m, tile, "the next DONE came");
        l->done = now(m);
        l->request = 0;
        l->advance = l->finished_host = NO;
        await_notify(m, tile);
        return;
    }
    if (l->active == NO && l->go_pending == NO && l->advance != YES &&
        (launch_preloads(m, tile) == YES || l->ignored_since != FAULT_NONE)) {
        launch_act(m, tile); /* preloaded, or by a wrong GO; nothing of it was seen */
    }
    bool known = tile->sees_cores && l->go_pending != UNKNOWN &&
                 !(l->active == YES && l->cause == CAUSE_UNKNOWN);
    bool caused = l->go_pending == YES || (l->active == YES && l->cause != CAUSE_NONE);
    known = known && (caused || !launch_unseen(m, tile));
    fault_id uncaused = FAULT_NONE;
    if (known) {
        fault_id since = since_or(l->go_since, launch_written_since(m, tile));
        since = since_or(since, tile->go_misled);
        CHECK_AFTER(m, tile, GO_020, since, caused, RELATED(l->done.index),
                    "DONE only after a GO, a reset request or a preload", "%s",
                    "DONE without a GO, a reset request or a preload since the last DONE");
        uncaused = m->fault;
        if (!caused) {
            launch_lose_request(m, tile, NOCAP_GO_DONE, uncaused);
            if (l->active != YES) {
                launch_fault(l, uncaused);
                return; /* nothing was finished */
            }
        }
    }
    if (l->parts_since != FAULT_NONE) { /* it came while the launch ran */
        launch_lose_request(m, tile, NOCAP_GO_DONE, l->parts_since);
    }
    l->done = now(m);
    launch_report(m, tile, true);
    judge_launch(m, tile, uncaused);
    end_launch(m, tile);
}

void launch_notify_missing(struct model *m, struct tile *tile, const char *when)
{
    struct launch *l = launch_of(tile);
    if (l->notify_pending) {
        fault_id since = since_or(l->notify_since, tile->notified_since);
        l->notify_pending = false;
        CHECK_AFTER(m, tile, GO_015, since, !noc_sees_requests(m), RELATED(l->done.index),
                    "one notify to the dispatch core after DONE",
                    "no notify to the dispatch core after DONE, and %s", when);
        l->notify_late = m->fault;
    }
}

/* The read pointer leaves this slot, known since. The host may have written to it since DONE. */
static void judge_cleared(struct model *m, struct tile *tile, unsigned slot, fault_id since)
{
    struct launch *l = launch_of(tile);
    const struct nocap_launch *message = launch_message(m, tile, (int)slot);
    bool again = l->done.index != NO_INDEX && l->slots[slot].turn > l->done.turn;
    if (message != NULL && !again) {
        const struct nocap_launch_place *left =
            &m->layout->fields[message->enables != 0 ? NOCAP_LAUNCH_enables : NOCAP_LAUNCH_preload];
        CHECK_SEEING(m, tile, nocap_launch_slot(m->layout, slot) + left->offset, left->width,
                     GO_018, since, message->enables == 0 && message->preload == 0,
                     RELATED(l->done.index),
                     "enables and preload of the finished slot cleared before rd_ptr moves on",
                     "rd_ptr moved on while slot %u has enables 0x%02x, preload 0x%02x", slot,
                     message->enables, message->preload);
    }
}

/* What BRISC may do with the read pointer. */
enum rd_ptr_at { AT_BOOT, AFTER_HOST, BEFORE_DONE, AFTER_DEV, AT_ANY_TIME };

static const struct {
    const char *expected, *found;
} rd_ptr_texts[] = {
    [AT_BOOT] = {"rd_ptr set to 0 at boot", " while BRISC boots, it was"},
    [AFTER_HOST] = {"rd_ptr left alone after a launch in HOST mode",
                    " after a launch in HOST mode, it was"},
    [BEFORE_DONE] = {"rd_ptr left alone until a launch in DEV mode is DONE",
                     " before the launch is DONE, it was"},
    [AFTER_DEV] = {"rd_ptr moved on by one after a launch in DEV mode",
                   " after a launch in DEV mode, it was"},
    [AT_ANY_TIME] = {"rd_ptr stored 0 or moved on by one", ", neither 0 nor one more than"},
};

static enum rd_ptr_at rd_ptr_now(const struct tile *tile, bool whole)
{
    const struct launch *l = launch_of(tile);
    const bool began = l->done.index == NO_INDEX && whole; /* perhaps while it was to move on */
    if (boot_of(tile)->phase == BOOT_RELEASED) {
        return AT_BOOT;
    }
    if (l->request != 0) {
        return AT_ANY_TIME;
    }
    if (l->finished_host == YES) {
        return AFTER_HOST;
    }
    if (l->advance == NO && l->go_pending == YES && l->active == NO && !began) {
        return BEFORE_DONE;
    }
    return l->advance == YES ? AFTER_DEV : AT_ANY_TIME;
}

static bool rd_ptr_right(const struct launch *l, enum rd_ptr_at at, uint32_t v, bool next)
{
    const bool early = l->notify_early != FAULT_NONE; /* its DONE was lost */
    switch (at) {
    case AT_BOOT: return v == 0;
    /* a reset since the launch, whose message is known, would be seen */
    case AFTER_HOST: return (v == 0 && l->asked) || ((v == 0 || next) && early);
    case BEFORE_DONE: return v == 0 || (next && early);
    case AFTER_DEV: return next;
    default: return v == 0 || next;
    }
}

/* The read pointer moves on, and DONE was not stored. */
static void end_without_done(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    fault_id fault = l->notify_early;
    launch_report(m, tile, false);
    end_launch(m, tile);
    l->notify_pending = false;
    l->go_since = fault; /* perhaps it is only late */
}

/* BRISC stores the read pointer. */
void launch_rd_ptr_store(struct model *m, struct tile *tile, uint32_t v, bool whole)
{
    struct launch *l = launch_of(tile);
    uint32_t old;
    if (l->request != 0 && v == 0) {
        l->request_done = YES;
        l->slot_since = FAULT_NONE;
    }
    if (!shadow_word(&tile->l1, m->layout->rd_ptr, &old)) {
        if (v != 0 && v < NOCAP_LAUNCH_SLOTS && l->done.index != NO_INDEX) {
            judge_cleared(m, tile, v - 1, FAULT_NONE); /* it is one more than it was */
        }
        l->advance = NO;
        l->rd_since = FAULT_NONE;
        return;
    }
    const enum rd_ptr_at at = rd_ptr_now(tile, whole);
    const bool next = v == (old + 1) % NOCAP_LAUNCH_SLOTS, right = rd_ptr_right(l, at, v, next);
    fault_id since = since_or(l->rd_since, tile->notified_since);
    since = whole ? since : FAULT_NONE; /* in part it is never stored */
    CHECK_SEEING(m, tile, m->layout->rd_ptr, 4, GO_008, since, right, RELATED(l->done.index),
                 rd_ptr_texts[at].expected, "rd_ptr set to %u%s %u", v, rd_ptr_texts[at].found,
                 old);
    l->rd_since = m->fault;
    if (since == FAULT_NONE) { /* else what is missing is a fault of its own */
        store_strays(m);
    }
    if (at != AT_BOOT && l->request == 0) {
        if (l->active == YES && l->notify_early != FAULT_NONE) {
            end_without_done(m, tile);
        }
        if (l->advance == YES) {
            launch_notify_missing(m, tile, "rd_ptr moved on");
        }
        /* 0 may be a reset that was asked for before the trace */
        if (right && next && (v != 0 || at == AFTER_DEV)) {
            judge_cleared(m, tile, old % NOCAP_LAUNCH_SLOTS, since);
        }
    }
    l->advance = NO;
}

/* A notify: an inline write (or, in abstract traces, an atomic) of BRISC to a stream's space
 * register; where one is pending, an inline write of its value to anywhere. Of a core that is not
 * named it is one where one is pending. */
static bool looks_like_notify(const struct launch *l, const struct nocap_event *e)
{
    bool own = e->by == NOCAP_BY_BRISC || (e->by == NOCAP_BY_NONE && l->notify_pending);
    bool issues = own && e->phase == NOCAP_PHASE_ISSUE;
    bool space =
        (e->op == NOCAP_OP_INLINE || e->op == NOCAP_OP_ATOMIC) && nocap_adds_to_stream(e->daddr);
    uint32_t word = 0;
    bool value = l->notify_pending && e->op == NOCAP_OP_INLINE && nocap_event_word(e, &word) &&
                 word == NOCAP_NOTIFY_VALUE;
    return issues && (space || value);
}

/* Whether BRISC is certainly in no kernel of its own, which may write to streams as it likes. */
static bool brisc_outside(const struct model *m, const struct tile *tile)
{
    const struct launch *l = launch_of(tile);
    bool shown = state_of(m)->kernels_shown && tile->in_scope;
    bool enabled = !l->message_known || nocap_launch_starts(&l->message, NOCAP_PROCESSOR_BRISC);
    return l->kernels[NOCAP_PROCESSOR_BRISC].inside == NO && (shown || !enabled);
}

/* The one that is due. */
static void judge_notify(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct launch *l = launch_of(tile);
    const struct nocap_go_word *go = &l->notify;
    uint32_t word = 0, want = nocap_notify_address(go->offset);
    bool inlines = e->op == NOCAP_OP_INLINE;
    bool there = !l->notify_known ||
                 (e->daddr == want && ((e->has & NOCAP_F_D) == 0 ||
                                       (e->d.x == go->master_x && e->d.y == go->master_y)));
    bool value = !nocap_event_word(e, &word) || !inlines || word == NOCAP_NOTIFY_VALUE;
    bool posted = !inlines || (e->has & NOCAP_F_POSTED) == 0 || e->posted != 0;
    l->notify_pending = false;
    part_of(tile)->changed = true;
    CHECK_AFTER(m, tile, GO_015, l->notify_since, there && value && posted, RELATED(l->done.index),
                "a posted inline write of 0x40 to the stream that the go message names",
                "%snotify of 0x%x to (%u,%u) 0x%llx, the go message names (%u,%u) 0x%x",
                posted ? "" : "non-posted ", word, e->d.x, e->d.y, (unsigned long long)e->daddr,
                go->master_x, go->master_y, want);
}

void launch_noc(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct launch *l = launch_of(tile);
    const enum known inside = l->kernels[NOCAP_PROCESSOR_BRISC].inside;
    if (!looks_like_notify(l, e) || inside == YES) {
        return;
    }
    if (l->notify_pending) {
        judge_notify(m, tile, e);
        return;
    }
    /* one too many: of the launch that is not DONE yet, or of the last one */
    const bool early = l->active == YES;
    const bool knows = early ? l->message_known && brisc_outside(m, tile)
                             : inside == NO && l->done.index != NO_INDEX && l->active == NO;
    if (!tile->sees_cores || !knows || (!early && l->finished_host == UNKNOWN)) {
        return; /* nothing is known of what it answers */
    }
    const uint64_t index = early ? l->go.index : l->done.index;
    const fault_id since = early ? l->go_since : since_or(l->go_since, l->parts_since);
    if (early ? l->message.mode == NOCAP_MODE_HOST : l->finished_host == YES) {
        CHECK_AFTER(m, tile, GO_016, since, false, RELATED(index),
                    early ? "no notify of a launch in HOST mode"
                          : "no notify after a launch in HOST mode",
                    "notify to (%u,%u) 0x%llx %s a launch in HOST mode", e->d.x, e->d.y,
                    (unsigned long long)e->daddr, early ? "before DONE of" : "after");
        return;
    }
    CHECK_AFTER(m, tile, GO_015, since_or(since, early ? FAULT_NONE : l->notify_late), false,
                RELATED(index), early ? "one notify, after DONE" : "exactly one notify after DONE",
                "%snotify to (%u,%u) 0x%llx %s", early ? "" : "a second ", e->d.x, e->d.y,
                (unsigned long long)e->daddr,
                early ? "before DONE of its launch" : "after one DONE");
    if (early) {
        l->notify_early = m->fault; /* it is the one that will be missing, or one too many */
    } else {
        l->notify_late = FAULT_NONE;
    }
}
