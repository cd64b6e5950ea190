/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/profile_choice.h"

#include <stdlib.h>
#include <string.h>

#include "checker/core/queue_evidence.h"
#include "formats/blackhole/mailbox.h"
#include "formats/profile/profile.h"

enum {
    LOOKED_AT = 1 << 16,    /* events: launches come early, or not at all */
    RECORDS = 256,          /* of a queue are enough */
    QUEUE_BEGINS = 1 << 14, /* events */
    STRANGERS = 16,         /* addresses of go messages that no layout has */
};

struct stranger {
    uint32_t address, inits, gos;
    uint64_t index, t; /* of the first one */
};

struct evidence {
    uint32_t
        goes[NOCAP_LAYOUT_COUNT];  /* by layout: so many go messages where it has the first one */
    uint64_t shown_index, shown_t; /* of the first one of the last of these layouts */
    struct stranger strangers[STRANGERS];
    uint8_t message[NOCAP_LAUNCH_SIZE_MAX]; /* the first launch message that came as a whole */
    size_t message_size;
    uint8_t last[NOCAP_LAUNCH_SIZE_MAX]; /* the latest one since a GO; of no bytes: none */
    size_t last_size;
    uint32_t sense[NOCAP_LAYOUT_COUNT]; /* GOs with a message that starts cores, by layout */
    struct stranger nonsense[NOCAP_LAYOUT_COUNT]; /* with one that does not */
    uint32_t largest;                             /* store to the launch ring, bytes */
    uint32_t ring;                                /* .. that it was, or the first that there is */
    struct queue_evidence *queue;                 /* NULL: not wanted */
    struct class_evidence classes;
    uint64_t looked_at; /* events; UINT64_MAX: all */
};

static bool starts_core(const struct nocap_mailbox_layout *layout, const uint8_t *message)
{
    const uint64_t enables = nocap_launch_get(layout, message, NOCAP_LAUNCH_enables, 0);
    return enables != 0 && enables <= NOCAP_ENABLES_ALL;
}

/* A GO, and the message that it is about. */
static void look_at_launch(struct evidence *e, const struct nocap_event *event,
                           const struct nocap_mailbox_layout *layout, bool init)
{
    const size_t i = (size_t)(layout - nocap_layouts);
    if (init || e->last_size != layout->launch_size) {
        return;
    }
    e->last_size = 0;
    if (starts_core(nocap_layout_refine(layout, e->last, layout->launch_size), e->last)) {
        e->sense[i]++;
    } else if (e->nonsense[i].gos++ == 0) {
        e->nonsense[i].index = event->index;
        e->nonsense[i].t = event->t;
    }
}

static void look_at_word(struct evidence *e, const struct nocap_event *event, uint64_t addr,
                         uint32_t word)
{
    uint8_t signal = nocap_go_decode(word).signal;
    bool init = signal == NOCAP_GO_INIT;
    if ((!init && signal != NOCAP_GO_GO) || addr < e->ring || addr >= NOCAP_MAILBOX_END ||
        addr % NOCAP_GO_WORD_SIZE != 0) {
        return;
    }
    const struct nocap_mailbox_layout *layout = nocap_layout_from_go_address(addr);
    if (layout != NULL) {
        if (e->goes[layout - nocap_layouts]++ == 0) {
            e->shown_index = event->index;
            e->shown_t = event->t;
        }
        look_at_launch(e, event, layout, init);
        return;
    }
    for (unsigned i = 0; i < STRANGERS; i++) {
        struct stranger *s = &e->strangers[i];
        if (s->inits + s->gos == 0) {
            *s = (struct stranger){.address = (uint32_t)addr, .index = event->index, .t = event->t};
        }
        if (s->address == addr) {
            s->inits += init;
            s->gos += !init;
            return;
        }
    }
}

/* Whether a layout has its launch ring there. */
static bool is_ring(uint64_t addr)
{
    bool is = false;
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        is |= nocap_layouts[i].launch_base == addr;
    }
    return is;
}

static uint32_t first_ring(void)
{
    uint32_t first = UINT32_MAX;
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        first = nocap_layouts[i].launch_base < first ? nocap_layouts[i].launch_base : first;
    }
    return first;
}

static void look(struct evidence *e, const struct nocap_event *event)
{
    bool host = event->kind == NOCAP_EV_WRITE && event->by == NOCAP_BY_HOST &&
                event->space == NOCAP_SPACE_TILE && (event->has & NOCAP_F_ADDR) != 0;
    bool request = event->kind == NOCAP_EV_NOC && (event->has & NOCAP_F_DADDR) != 0;
    if ((!host && !request) || (event->has & NOCAP_F_SIZE) == 0) {
        return;
    }
    uint64_t addr = host ? event->addr : event->daddr;
    uint32_t word;
    if (event->size == NOCAP_GO_WORD_SIZE && nocap_event_word(event, &word)) {
        look_at_word(e, event, addr, word);
    } else if (is_ring(addr) && event->size > e->largest) {
        e->ring = (uint32_t)addr;
        e->largest = event->size < UINT32_MAX ? (uint32_t)event->size : UINT32_MAX;
    }
    if (is_ring(addr) && e->message_size == 0 && event->data_size == event->size) {
        e->message_size =
            event->data_size < sizeof e->message ? event->data_size : sizeof e->message;
        memcpy(e->message, event->data, e->message_size);
    }
    if (is_ring(addr) && event->data_size == event->size && event->data_size <= sizeof e->last) {
        e->last_size = event->data_size;
        memcpy(e->last, event->data, e->last_size);
    }
}

static bool is_go_word(const struct nocap_mailbox_layout *layout, uint32_t address)
{
    return address >= layout->go_messages &&
           address - layout->go_messages < NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE;
}

/* The layout whose go messages were written most; NULL: none. */
static const struct nocap_mailbox_layout *shown_layout(const struct evidence *e)
{
    const struct nocap_mailbox_layout *shown = NULL;
    uint32_t most = 0;
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        if (e->goes[i] > most) {
            most = e->goes[i];
            shown = nocap_layout_refine(&nocap_layouts[i], e->message, e->message_size);
        }
    }
    return shown;
}

/* A word that gets INIT, and GO, after something as large as launch messages; of a queue
 * that is no profile's, one that gets GO again. Of the layout that is said, firmware begins
 * with its first word alone. */
static const struct stranger *find_stranger(const struct evidence *e,
                                            const struct nocap_mailbox_layout *said, bool alien)
{
    const struct stranger *found = NULL;
    for (unsigned i = 0; i < STRANGERS; i++) {
        const struct stranger *s = &e->strangers[i];
        bool after = s->address >= e->ring + NOCAP_LAUNCH_SLOTS * e->largest;
        bool large = e->largest >= MESSAGE_LEAST && after && !is_go_word(said, s->address);
        if (s->gos > 0 && s->address == said->go_messages) {
            return NULL;
        }
        bool go = s->gos > 0 && (s->inits > 0 || large || (alien && s->gos > 1));
        found = found == NULL && go ? s : found;
    }
    return found;
}

/* Where no records are observed, a queue need not be there at all. */
static bool wants_queue(const struct evidence *e)
{
    const uint32_t records = NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_SYSMEM;
    const struct queue_evidence *q = e->queue;
    return q != NULL && q->records < RECORDS &&
           (queue_evidence_count(q) != 0 || e->looked_at < QUEUE_BEGINS ||
            (e->classes.header->observes & records) != 0);
}

static bool wants_profile(const struct evidence *e)
{
    return e->classes.header->arch == NOCAP_ARCH_BLACKHOLE &&
           (e->goes[NOCAP_LAYOUT_A] == 0 || wants_queue(e));
}

static void gather_batch(struct evidence *e, const struct nocap_event *events, size_t count)
{
    const bool profile = wants_profile(e);
    const struct nocap_header *header = e->classes.header;
    for (size_t i = 0; i < count; i++) {
        class_evidence_look(&e->classes, &events[i]);
        if (profile) {
            look(e, &events[i]);
        }
        if (profile && e->queue != NULL && nocap_header_lists(header, &events[i])) {
            queue_evidence_look(e->queue, &events[i]);
        }
        if (profile && e->queue != NULL && events[i].by == NOCAP_BY_HOST) {
            class_evidence_doorbell(&e->classes, queue_evidence_doorbells(e->queue), &events[i]);
        }
    }
    e->looked_at += count;
}

static void gather(struct evidence *e, struct nocap_reader *reader)
{
    const struct nocap_event *events;
    size_t count;
    while (e->looked_at < LOOKED_AT && (wants_profile(e) || class_evidence_open(&e->classes))) {
        if (nocap_reader_next(reader, &events, &count, NULL) != NOCAP_OK) {
            e->looked_at = UINT64_MAX; /* what cannot be read is reported by the other reader */
            return;
        }
        gather_batch(e, events, count);
    }
}

/* By a reader of its own, so that damage is met once. */
static enum nocap_status gather_from(struct evidence *e, const struct nocap_reader *reader,
                                     struct nocap_error *err)
{
    struct nocap_reader *own;
    RETURN_IF_FAILED(nocap_reader_again(&own, reader, err));
    gather(e, own);
    nocap_reader_close(own);
    return NOCAP_OK;
}

static void unexplained(struct nocap_profile_choice *c, uint64_t index, uint64_t t)
{
    c->unexplained = c->judged = true;
    c->index = index;
    c->t = t;
}

/* The go messages are of a mailbox that is known, and the launch messages are none of it. */
static bool is_nonsense(struct nocap_profile_choice *c, const struct evidence *e,
                        const struct nocap_mailbox_layout *shown)
{
    const uint32_t go = shown->go_messages;
    const struct nocap_mailbox_layout *first = nocap_layout_from_go_address(go);
    const size_t i = (size_t)(first - nocap_layouts);
    if (e->sense[i] != 0 || e->nonsense[i].gos < 2) {
        return false;
    }
    unexplained(c, e->nonsense[i].index, e->nonsense[i].t);
    snprintf(
        c->seen, sizeof c->seen,
        "go messages at 0x%x as %s has them, and launch messages of %u bytes that start no RISC "
        "there",
        go, shown->name, shown->launch_size);
    return true;
}

/* Whether the go messages are of another mailbox than header or user say. */
static bool is_other(struct nocap_profile_choice *c, const struct evidence *e,
                     const struct nocap_mailbox_layout *said,
                     const struct nocap_mailbox_layout *shown)
{
    const struct nocap_mailbox_layout *likely = nocap_layout_from_go_address(said->go_messages);
    if (shown->go_messages == said->go_messages ||
        (likely != NULL && e->goes[likely - nocap_layouts] != 0)) {
        return false;
    }
    for (unsigned i = 0; i < STRANGERS; i++) {
        if (e->strangers[i].gos > 0 && e->strangers[i].address == said->go_messages) {
            return false;
        }
    }
    unexplained(c, e->shown_index, e->shown_t);
    snprintf(c->seen, sizeof c->seen,
             "go messages at 0x%x as %s has them, and none at 0x%x as %s has", shown->go_messages,
             shown->name, said->go_messages, said->name);
    return true;
}

static void decide_stranger(struct nocap_profile_choice *c, const struct evidence *e,
                            const struct nocap_header *header)
{
    const struct nocap_mailbox_layout *said = nocap_header_layout(header, NULL);
    const bool strange = shown_layout(e) == NULL && said != NULL && !c->unexplained;
    const struct stranger *stranger = strange ? find_stranger(e, said, c->queue_unexplained) : NULL;
    if (stranger != NULL) {
        unexplained(c, stranger->index, stranger->t);
        int size = snprintf(c->seen, sizeof c->seen, "go messages at 0x%x", stranger->address);
        if (e->largest != 0) {
            size += snprintf(c->seen + size, sizeof c->seen - (size_t)size,
                             ", and launch messages of %u bytes", e->largest);
        }
        snprintf(c->seen + size, sizeof c->seen - (size_t)size, "; no known mailbox has that");
    }
}

static void decide(struct nocap_profile_choice *c, const struct evidence *e,
                   const struct nocap_header *header)
{
    const struct nocap_mailbox_layout *shown = shown_layout(e);
    const struct nocap_mailbox_layout *said = nocap_header_layout(header, NULL);
    const bool named = header->layout != NULL || header->profile != NULL;
    if (shown != NULL && !named && !is_nonsense(c, e, shown)) {
        c->judged = true;
        snprintf(c->why, sizeof c->why, "go messages are written to 0x%x", shown->go_messages);
        c->layout = shown == said ? NULL : shown;
        return;
    }
    if (shown != NULL && named && said != NULL) {
        (void)is_other(c, e, said, shown);
        return;
    }
    decide_stranger(c, e, header);
}

/* Whose queue it is. A layout in the header, or one that go messages show, stays the mailbox. */
static void decide_queue(struct nocap_profile_choice *c, const struct evidence *e,
                         const struct nocap_header *header)
{
    struct queue_evidence *q = e->queue;
    const struct nocap_mailbox_layout *shown = header->layout == NULL ? shown_layout(e) : NULL;
    if (shown != NULL) {
        queue_evidence_mailbox(q, shown->name);
    }
    if (queue_evidence_count(q) == 0 && !queue_places_elsewhere(q)) {
        return;
    }
    const struct queue_candidate *best =
        queue_evidence_best(q, header, c->queue_seen, sizeof c->queue_seen);
    if (best == NULL) {
        c->queue_unexplained = c->judged = true;
        c->queue_index = q->index;
        c->queue_t = q->t;
        decide_stranger(c, e, header);
        return;
    }
    if (shown == NULL && best->messages == 0 && best->others > 1 && !c->unexplained) {
        unexplained(c, q->index, q->t);
        snprintf(c->seen, sizeof c->seen,
                 "launch messages in %u commands of the queue, none where a mailbox has them",
                 best->others);
    }
    if (header->profile != NULL) {
        c->own_sysmem = best->own_sysmem;
        c->own_kernels = best->own_kernels;
        return;
    }
    if (best->profile.queue.p100_x == 0) {
        c->has_prefetch = q->has_prefetch && !header->cq.has_prefetch;
        c->has_dispatch = q->has_dispatch && !header->cq.has_dispatch;
        c->prefetch = q->prefetch;
        c->dispatch = q->dispatch;
    }
    if (strcmp(best->profile.name, nocap_profile_default()->name) != 0 || q->has_dispatch) {
        c->judged = true;
        c->layout = shown;
        if (shown == NULL && header->layout == NULL) {
            c->layout = nocap_layout_find(best->profile.mailbox.name);
        }
        snprintf(c->profile, sizeof c->profile, "%s", best->profile.name);
        snprintf(c->why, sizeof c->why,
                 "it explains %u of %u commands of the queue, %u of %u stores of the host "
                 "to it",
                 best->records, q->records, best->stores, q->stores);
    }
}

enum nocap_status nocap_profile_choose(struct nocap_profile_choice *c, struct nocap_reader *reader,
                                       const char *path, struct nocap_error *err)
{
    const struct nocap_header *header = nocap_reader_header(reader);
    *c = (struct nocap_profile_choice){.why = "the default"};
    if (header->layout != NULL || header->profile != NULL) {
        strcpy(c->why, "the header says so");
    }
    if (header->arch == NOCAP_ARCH_WORMHOLE || path[0] == '\0') {
        return NOCAP_OK;
    }
    const struct nocap_mailbox_layout *said = nocap_header_layout(header, NULL);
    if (said != NULL && nocap_profile_mailbox_problem(said) != NULL) {
        c->unexplained = c->judged = true;
        snprintf(c->seen, sizeof c->seen, "a profile of which %s",
                 nocap_profile_mailbox_problem(said));
        return NOCAP_OK;
    }
    struct evidence *e = calloc(1, sizeof *e);
    RETURN_ERROR_IF(e == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = NOCAP_OK;
    e->ring = first_ring();
    class_evidence_init(&e->classes, header);
    if (queue_evidence_wanted(header)) {
        status = queue_evidence_new(&e->queue, header, err);
    }
    if (status == NOCAP_OK) {
        status = gather_from(e, reader, err);
    }
    if (status == NOCAP_OK) {
        decide(c, e, header);
        if (e->queue != NULL) {
            decide_queue(c, e, header);
        }
        c->absent = class_evidence_absent(&e->classes);
        c->looked_at = e->looked_at;
        memcpy(c->proofs, e->classes.proofs, sizeof c->proofs);
    }
    free(e->queue);
    free(e);
    return status;
}

enum nocap_status nocap_profile_complete(struct nocap_profile_choice *c,
                                         struct nocap_reader *reader, const char *path,
                                         const char *json, struct nocap_error *err)
{
    struct nocap_header *header = nocap_reader_own_header(reader);
    if (json != NULL) {
        RETURN_IF_FAILED(nocap_header_replace_profile(header, json, err));
    }
    if (nocap_header_layout(header, err) == NULL || nocap_header_profile(header, err) == NULL) {
        return path[0] == '\0' ? NOCAP_E_INPUT : nocap_fail_context(err, NOCAP_E_INPUT, "%s", path);
    }
    RETURN_IF_FAILED(nocap_profile_choose(c, reader, path, err));
    if (c->profile[0] != '\0') {
        char name[NOCAP_PROFILE_NAME_SIZE + 2];
        snprintf(name, sizeof name, "\"%s\"", c->profile);
        RETURN_IF_FAILED(nocap_header_set_profile(header, name, err));
    }
    header->observes &= ~c->absent;
    header->cq.has_sysmem &= !c->own_sysmem;
    header->cq.has_kernel_config &= !c->own_kernels;
    if (c->has_prefetch) {
        header->cq.has_prefetch = true;
        header->cq.prefetch = c->prefetch;
    }
    if (c->has_dispatch) {
        header->cq.has_dispatch = true;
        header->cq.dispatch = c->dispatch;
    }
    return c->layout == NULL ? NOCAP_OK : nocap_header_set_layout(header, c->layout->name, err);
}
