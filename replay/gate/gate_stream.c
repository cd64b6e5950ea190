/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread must issue: the words that were pushed, through both expanders, in order. Expansion
 * is lazy; a queue keeps what was pushed and has not issued. And the same words as they are pushed,
 * expanded at once: what the core's own stores race with, rule TNX-036, and where issues are not
 * observed the stream that all rules judge. */
#include <stdlib.h>
#include <string.h>

#include "replay/gate/gate_private.h"

/* ---- the queue ---- */

static bool grow(struct gate_queue *q)
{
    uint32_t size = q->size == 0 ? GATE_QUEUE_START : 2 * q->size;
    struct gate_entry *entries = calloc(size, sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    for (uint64_t i = q->first; i < q->first + q->count; i++) {
        entries[i % size] = *gate_entry_of(q, i);
    }
    free(q->entries);
    q->entries = entries;
    q->size = size;
    return true;
}

static void clear(struct gate_stream *s)
{
    s->trisc.first += s->trisc.count;
    s->cursor.at = s->pushed.at = s->trisc.first;
    s->trisc.count = s->brisc.count = 0;
    s->cursor.in_mop = false;
    s->cursor.replay.left = 0;
    s->next.valid = false;
    s->vanished = s->seen = s->missing.count = s->early.count = 0;
}

void stream_lose(struct gate_stream *s)
{
    clear(s);
    s->complete = false;
    s->searching = true;
}

bool stream_push(struct gate_stream *s, uint32_t word, bool by_brisc, fault_id since)
{
    struct gate_queue *q = by_brisc ? &s->brisc : &s->trisc;
    struct gate_entry entry = {.word = word, .drained = s->drained, .since = since};
    unsigned opcode = nocap_tensix_opcode(word);
    if (by_brisc && (opcode == NOCAP_TENSIX_MOP || opcode == NOCAP_TENSIX_MOP_CFG)) {
        stream_lose(s); /* it cannot be expanded there: what issues is not known */
        return true;
    }
    if (q->count == GATE_QUEUE_MAX) {
        stream_lose(s);
    }
    if (opcode == NOCAP_TENSIX_MOP) {
        if (s->config_changed) {
            s->configs[++s->config_at % GATE_CONFIGS] = s->config;
            s->config_changed = false;
        }
        entry.config = s->config_at;
    }
    if (q->count == q->size && !grow(q)) {
        return false;
    }
    *gate_entry_of(q, q->first + q->count++) = entry;
    if (!by_brisc) {
        s->drained = false;
    }
    return true;
}

void stream_mop_store(struct gate_stream *s, unsigned i, const uint32_t *word)
{
    s->config.known &= (uint16_t) ~(1u << i);
    if (word != NULL) {
        s->config.word[i] = *word;
        s->config.known |= (uint16_t)(1u << i);
    }
    s->config_changed = true;
}

void stream_drained(struct gate_stream *s)
{
    s->drained = true;
    if (!stream_is_known(s)) {
        clear(s);
        s->complete = true;
        s->searching = false;
    }
}

/* ---- expansion ---- */

/* The next word in front of the replay expander; false: nothing more was pushed. */
static bool next_unreplayed(const struct gate_stream *s, struct gate_cursor *c, struct gate_next *n)
{
    for (;;) {
        n->expanded = c->in_mop;
        n->since = c->since;
        if (c->in_mop && nocap_mop_next(&c->mop, &n->word)) {
            return true;
        }
        c->in_mop = n->expanded = false;
        if (c->at >= s->trisc.first + s->trisc.count) {
            return false;
        }
        const struct gate_entry *e = gate_entry_of(&s->trisc, c->at++);
        const struct nocap_mop_config *config = &s->configs[e->config % GATE_CONFIGS];
        unsigned opcode = nocap_tensix_opcode(e->word);
        n->word = e->word;
        n->drained |= e->drained;
        n->since = c->since = e->since;
        if (opcode == NOCAP_TENSIX_MOP_CFG) {
            c->mask_high = NOCAP_TENSIX_GET(e->word, MOP_CFG, mask_high);
            c->mask_known = true;
        } else if (opcode != NOCAP_TENSIX_MOP) {
            return true;
        } else if ((uint16_t)(s->config_at - e->config) < GATE_CONFIGS &&
                   nocap_mop_is_known(config, e->word, c->mask_known)) {
            nocap_mop_start(&c->mop, config, e->word, c->mask_high);
            c->in_mop = true;
        } else {
            n->known = false;
            return true;
        }
    }
}

/* The next word that reaches the gate; false: nothing more was pushed. */
static bool produce(const struct gate_stream *s, struct gate_cursor *c, struct gate_next *n)
{
    *n = (struct gate_next){.known = true};
    for (;;) {
        bool idle = c->replay.left == 0;
        if (!idle && nocap_replay_next(&c->replay, &n->word, &n->known)) {
            n->expanded = true;
            n->known &= !c->replay.doubtful;
            return n->valid = true;
        }
        if (!next_unreplayed(s, c, n)) {
            return false;
        }
        if (!n->known || (idle && nocap_tensix_opcode(n->word) != NOCAP_TENSIX_REPLAY) ||
            nocap_replay_take(&c->replay, n->word) == NOCAP_REPLAY_PASSES) {
            return n->valid = true;
        }
    }
}

bool stream_next(struct gate_stream *s)
{
    if (!s->next.valid) {
        produce(s, &s->cursor, &s->next); /* MOP_CFG and REPLAY go even if nothing follows yet */
        s->trisc.count -= (uint32_t)(s->cursor.at - s->trisc.first);
        s->trisc.first = s->cursor.at;
    }
    return s->next.valid;
}

unsigned stream_look_ahead(const struct gate_stream *s, uint32_t *words, unsigned count)
{
    struct gate_cursor copy = s->cursor;
    struct gate_next n = s->next;
    unsigned got = 0;
    bool more = n.valid || produce(s, &copy, &n);
    for (unsigned i = 0; more && i < 2 * count && got < count; i++) {
        if (n.known && !gate_may_vanish(n.word)) {
            words[got++] = n.word;
        }
        more = produce(s, &copy, &n);
    }
    return got;
}

bool stream_head(struct gate_stream *s, uint32_t *word)
{
    if (!stream_is_known(s) || !stream_next(s) || !s->next.known) {
        return false;
    }
    *word = s->next.word;
    return true;
}

bool stream_pending(const struct gate_stream *s, uint32_t *word)
{
    struct gate_strays early = s->early;
    uint32_t words[GATE_STRAYS + 1];
    unsigned count = stream_is_known(s) ? stream_look_ahead(s, words, early.count + 1) : 0;
    for (unsigned i = 0; i < count; i++) {
        if (!gate_stray_take(&early, words[i])) {
            *word = words[i];
            return true;
        }
    }
    return false;
}

uint32_t stream_count(const struct gate_stream *s)
{
    return s->trisc.count + s->brisc.count + s->next.valid;
}

/* ---- the stream as pushed ---- */

/* The fault since which a wait for the configuration has issued that is still to be pushed. */
static fault_id unpushed_wait_since(const struct gate_stream *s)
{
    bool waits = false;
    for (unsigned i = 0; i < s->early.count; i++) {
        waits |= gate_waits_for_config(s->early.words[i]);
    }
    return waits ? s->strays_since : FAULT_NONE;
}

/* UNPACR after its core's store to the configuration. In two sources it is not known which came
 * first, nor what the core waited for. */
static void judge_unpack(const struct gate_word *w)
{
    struct gate_thread *t = w->t;
    const bool stored = t->config_stored;
    const bool placed = !stored || t->config_source == w->m->event->src;
    t->config_stored = false;
    if (placed && !t->unordered) {
        CHECK_WORD_AFTER(
            w, TNX_036, unpushed_wait_since(&t->stream), !stored, RELATED(t->config_index),
            "a wait for TRISC_CFG between a RISC's store to the configuration and UNPACR",
            "UNPACR (0x%08x) without a wait for TRISC_CFG since the RISC's store to the "
            "configuration",
            w->word);
        t->config_since = stored ? w->m->fault : t->config_since;
    }
}

static void word_passes(const struct gate_word *w, bool expanded)
{
    struct gate_thread *t = w->t;
    if (gate_holds_back(&t->pushed_wait, w->word)) { /* it was passed before this word */
        t->config_stored &= (t->pushed_wait.conditions & NOCAP_WAIT_TRISC_CFG) == 0;
    }
    if (nocap_tensix_is_wait(w->word)) {
        t->pushed_wait = gate_wait_of(w->word, w->m->event->index);
    }
    if (w->opcode == NOCAP_TENSIX_UNPACR) {
        judge_unpack(w);
    }
    if (!GATE_HAS_ISSUE(w->m)) {
        if (expanded) {
            gate_judge_expanded(w);
        }
        gate_work_word(w);
    }
}

/* An expansion repeats itself: its first words show all that it does. */
void gate_pushed_word(const struct gate_word *w, bool by_brisc)
{
    struct gate_stream *s = &w->t->stream;
    struct gate_next next;
    bool alone = !by_brisc && s->pushed.replay.left == 0 &&
                 nocap_tensix_opcodes[w->opcode].unit != NOCAP_TENSIX_UNIT_FRONTEND;
    s->pushed.at += alone;
    if (alone ||
        (by_brisc && nocap_replay_take(&s->pushed.replay, w->word) == NOCAP_REPLAY_PASSES)) {
        word_passes(w, false);
    }
    for (unsigned i = 0; !alone && i < GATE_WALK_WORDS && produce(s, &s->pushed, &next); i++) {
        if (next.known) {
            struct gate_word word = gate_word(w->m, w->tile, w->g, w->thread, next.word);
            word_passes(&word, next.expanded);
        }
    }
    s->pushed.in_mop = false;
    if (!GATE_HAS_ISSUE(w->m)) { /* nothing is kept */
        s->trisc.first = s->cursor.at = s->pushed.at;
        s->trisc.count = 0;
    }
}
