/* SPDX-License-Identifier: Apache-2.0 */
/* What the host looks at: go words, registers, its own memory; how long it took to be answered. */
#include "replay/progress/progress_private.h"

/* Source: firmware upload and boot document, debug bus. */
enum { DEBUG_SELECT = 1 << 29 | 1 << 25 | 7 << 16 };
#define DEBUG_PC_MASK UINT32_C(0x3FFFFFFF)

/* The host found what it has asked for since `asked`; `wait` says where. */
static void answered(const struct model *m, struct nocap_slow_wait *slow,
                     const struct event_ref *asked, struct nocap_slow_wait wait)
{
    uint64_t took = m->event->t > asked->t ? m->event->t - asked->t : 0;
    slow->count++;
    if (took > slow->took) {
        wait.index = asked->index;
        wait.until = m->event->index;
        wait.took = took;
        wait.others = slow->took;
        wait.count = slow->count;
        *slow = wait;
    } else if (took > slow->others) {
        slow->others = took;
    }
}

/* The host asks whether the tile is done. */
static void ask(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress *p = progress_of(tile);
    uint8_t signal;
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint32_t at = nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE;
        if (!access_byte(a, at, &signal)) {
            if (touches(a, at, 1) && p->asked_at == at) { /* what it was answered is not known */
                p->asked.index = NO_INDEX;
            }
            continue;
        }
        bool ends = signal == NOCAP_GO_DONE;
        bool waited = p->asked.index != NO_INDEX && p->asked_at == at;
        if (waited && ends && p->asked_signal == NOCAP_GO_GO) {
            answered(m, &trace_of(m)->slow, &p->asked,
                     (struct nocap_slow_wait){.at = tile->at, .addr = at});
        }
        if (ends) {
            p->asked.index = p->asked_at == at ? NO_INDEX : p->asked.index;
        } else {
            bool same = waited && p->asked_signal == signal;
            p->asked = waited ? p->asked : now(m);
            p->asked_count = (same ? p->asked_count : 0) + progress_times(m->event);
            p->asked_last = now(m);
            p->asked_last.t = progress_end_of(m->event);
            p->asked_at = at;
            p->asked_signal = signal;
        }
        return;
    }
}

/* The debug bus shows the host where a core is. */
static void take_debug_bus(struct model *m, struct progress *p, const struct access *a)
{
    uint32_t v;
    for (unsigned i = 0; access_word(a, NOCAP_REG_DBG_RD_DATA, &v) && i < CORES; i++) {
        if (p->debug_select == (DEBUG_SELECT | (uint32_t)nocap_cores[i].debug_signal)) {
            p->agents[PROGRESS_CORE0 + i].pc = v & DEBUG_PC_MASK;
            p->agents[PROGRESS_CORE0 + i].pc_index = m->event->index;
        }
    }
}

void progress_host_read(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress *p = progress_of(tile);
    const struct poll *before = progress_find_poll(&p->agents[PROGRESS_HOST], a->addr);
    uint64_t seen = before != NULL ? before->seen : 0;
    bool stores = p->all.known && (m->header->observes & NOCAP_CLASS_CORE_STORE) != 0;
    bool changed = false;
    uint64_t polls = progress_poll(m, &p->agents[PROGRESS_HOST], a, &changed);
    /* What others see of its stores. Where something else was seen to happen since the place was
     * last looked at, it may have changed then: that is no news. */
    if (changed && !stores && (p->all.index == NO_INDEX || seen >= p->all.t)) {
        progress_move(m, tile, true);
    }
    progress_count_polls(m, tile, polls);
    trace_of(m)->host = now(m);
    if (access_word(a, m->layout->sync, &p->sync)) {
        p->sync_seen = now(m);
    }
    ask(m, tile, a);
    take_debug_bus(m, p, a);
    bool ones = a->known >= 4 && a->known == a->size;
    for (uint64_t i = 0; ones && i < a->known; i++) {
        ones = a->bytes[i] == 0xFF;
    }
    p->ones = p->ones_count == 0 ? now(m) : p->ones;
    p->ones_count = ones ? p->ones_count + progress_times(m->event) : 0;
}

void progress_host_store(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress *p = progress_of(tile);
    bool reset = touches(a, NOCAP_REG_SOFT_RESET_0, 4);
    (void)access_word(a, NOCAP_REG_DBG_BUS_CNTL, &p->debug_select);
    if (p->asked.index == NO_INDEX || (!reset && !touches(a, p->asked_at, 1))) {
        return;
    }
    if (reset && p->all.polls >= PROGRESS_GAVE_UP && trace_of(m)->gave_up.index == NO_INDEX) {
        trace_of(m)->gave_up = (struct nocap_gave_up){
            .index = p->asked_last.index, .t = p->asked_last.t, .chip = tile->chip, .at = tile->at};
    }
    /* who starts anew, or takes the cores into reset, does not wait any more */
    p->asked.index = NO_INDEX;
}

void progress_sysmem_read(struct model *m, const struct nocap_event *e)
{
    struct access a = access_of_event(e, e->addr, e->size);
    struct trace_progress *p = trace_of(m);
    const struct poll *before = progress_find_poll(&p->memory, a.addr);
    uint64_t since = before != NULL ? before->since.t : e->t;
    bool changed = false;
    uint64_t polls = progress_poll(m, &p->memory, &a, &changed);
    bool asked = p->memory_asked.index != NO_INDEX && p->memory_asked_at == a.addr;
    if (changed && asked) {
        answered(m, &p->memory_slow, &p->memory_asked,
                 (struct nocap_slow_wait){.in_memory = true, .addr = a.addr});
        p->memory_asked.index = NO_INDEX;
    } else if (polls > 0 && !asked) {
        p->memory_asked = now(m);
        p->memory_asked_at = a.addr;
    }
    if (changed && e->t > since && e->t - since > p->all.max_gap) {
        p->all.max_gap = e->t - since; /* the device took so long to show something new */
    }
    if (polls < progress_times(e)) {
        progress_step(&p->all, e, false);
    }
    p->all.polls += polls;
}
