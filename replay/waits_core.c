/* What a core looks at again and again tells what it waits for. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/blackhole/registers.h"
#include "replay/noc.h"
#include "replay/waits_private.h"

/* Which requests a counter counts; -1: it is no counter of responses. */
static int counted_op(uint32_t counter)
{
    switch (counter) {
    case NOCAP_COUNTER_MST_RD_RESP_RECEIVED: return PACE_READ;
    case NOCAP_COUNTER_MST_WR_ACK_RECEIVED:
    case NOCAP_COUNTER_MST_NONPOSTED_WR_REQ_SENT:
    case NOCAP_COUNTER_MST_POSTED_WR_REQ_SENT: return PACE_WRITE;
    case NOCAP_COUNTER_MST_ATOMIC_RESP_RECEIVED: return PACE_ATOMIC;
    default: return -1;
    }
}

static const char *const op_names[PACE_OPS] = {"read", "write", "atomic"};

/* "2 reads issued, 1 known to have ended; without an end #17 from 2,2" */
static void describe_requests(const struct pace_requests *r, int op, char *text, size_t size)
{
    if (r->issued == 0) {
        snprintf(text, size, "and no %s was issued that it could count", op_names[op]);
        return;
    }
    int at = snprintf(text, size, "%" PRIu64 " %s%s issued, %" PRIu64 " known to have ended",
                      r->issued, op_names[op], r->issued > 1 ? "s" : "",
                      r->ended < r->issued ? r->ended : r->issued);
    for (uint32_t i = 0; i < r->open_count && at > 0 && (size_t)at < size; i++) {
        const struct pace_request *one = &r->open[i];
        at += snprintf(text + at, size - (size_t)at, "%s #%" PRIu64,
                       i == 0 ? "; without an end" : ",", one->index);
        if (one->has_far && (size_t)at < size) {
            at += snprintf(text + at, size - (size_t)at, " %s %u,%u",
                           op == PACE_READ ? "from" : "to", one->far.x, one->far.y);
        }
    }
}

/* A barrier: what was issued, what has ended. */
static void tell_barrier(const struct telling *t, struct nocap_wait *w,
                         const struct nocap_register_place *place, const struct look *l)
{
    int op = counted_op(place->id + place->index);
    const struct pace_requests *r = &t->tile->pace.requests[place->noc][op < 0 ? 0 : op];
    char what[WAIT_TEXT], name[64], requests[160] = "";
    nocap_register_name(l->addr, NOCAP_BY_BRISC, name, sizeof name);
    if (op >= 0) {
        describe_requests(r, op, requests, sizeof requests);
    }
    snprintf(what, sizeof what, "%s stays 0x%" PRIx64 "%s%s", name, l->value,
             requests[0] != '\0' ? ": " : "", requests);
    w->what = what;
    w->state = "in a NOC barrier";
    w->release = "the responses that are missing";
    w->counted = op >= 0 && r->issued > 0;
    w->have = r->ended < r->issued ? r->ended : r->issued;
    w->need = r->issued;
    wait_tell(t, w);
}

/* Who wrote last where the core looks would have to again. Says so in `text` where that one is
 * through with its kernel. */
static void name_writer(const struct telling *t, struct nocap_wait *w, const struct look *l,
                        char *text, size_t size)
{
    const struct pace_writer *writer = pace_writer(t->m, t->tile->chip, t->tile->at, l->addr);
    const struct nocap_core_info *core = writer != NULL ? nocap_core(writer->agent) : NULL;
    text[0] = '\0';
    if (core == NULL || (writer->agent == w->who.agent && writer->at.x == t->tile->at.x &&
                         writer->at.y == t->tile->at.y)) {
        return;
    }
    const struct tile *tile = tile_find(t->m, t->tile->chip, writer->at);
    if (tile != NULL && tile->launch.kernels[core->processor].inside == NO) {
        snprintf(text, size, "; %s of %u,%u wrote it last, at index %" PRIu64 ", and is through",
                 nocap_agent_name(writer->agent), writer->at.x, writer->at.y, writer->index);
    } else {
        w->by = wait_party_at(t, writer->agent, writer->at);
    }
}

/* A counter of a circular buffer: the producer or the consumer does not move it. */
static bool tell_buffer(const struct telling *t, struct nocap_wait *w,
                        const struct nocap_register_place *place, const struct look *l)
{
    char what[WAIT_TEXT], last[96];
    bool received = place->index == NOCAP_STREAM_TILES_RECEIVED;
    if (place->stream < NOCAP_CB_STREAM || place->stream >= NOCAP_CB_STREAM + NOCAP_CB_COUNT ||
        (!received && place->index != NOCAP_STREAM_TILES_ACKED)) {
        return false;
    }
    name_writer(t, w, l, last, sizeof last);
    snprintf(what, sizeof what, "circular buffer %u: polls tiles %s, which stay 0x%" PRIx64 "%s",
             place->stream - NOCAP_CB_STREAM, received ? "received" : "acked", l->value, last);
    w->what = what;
    w->state = received ? "waiting for tiles" : "waiting for room";
    w->release = received ? "a push_back of its producer" : "a pop_front of its consumer";
    wait_tell(t, w);
    return true;
}

bool waits_core_looks(const struct telling *t, unsigned processor, const char *state)
{
    const struct look *l = pace_looks_at(&t->tile->pace.agents[PACE_CORE0 + processor]);
    unsigned agent = nocap_cores[processor].agent;
    struct nocap_register_place place = {.family = NOCAP_FAMILY_NONE};
    char name[64], what[WAIT_TEXT], last[96];
    bool mailbox = l != NULL && l->addr < SHADOW_SIZE;
    if (l == NULL || mailbox) { /* the mailbox is told by its own model */
        return false;
    }
    struct nocap_wait w = wait_begin(t, agent, l->since);
    w.addr = l->addr;
    w.size = 4;
    if (nocap_register_find(l->addr, agent, &place)) {
        nocap_register_name(l->addr, agent, name, sizeof name);
        if (place.family == NOCAP_FAMILY_NIU_COUNTER) {
            tell_barrier(t, &w, &place, l);
            return true;
        }
    } else {
        snprintf(name, sizeof name, "L1 0x%" PRIx64, l->addr);
    }
    if (place.family == NOCAP_FAMILY_STREAM && tell_buffer(t, &w, &place, l)) {
        return true;
    }
    name_writer(t, &w, l, last, sizeof last);
    snprintf(what, sizeof what, "%s: polls %s, which stays 0x%" PRIx64 " (%" PRIu64 " times)%s",
             state, name, l->value, l->count, last);
    w.what = what;
    w.state = "polling";
    w.release = "another value there";
    wait_tell(t, &w);
    return true;
}

static void tell_said(const struct telling *t, unsigned agent, const struct noc_wait *said)
{
    static const int ops[NOC_ANSWERS] = {[NOC_ANSWER_READ] = PACE_READ,
                                         [NOC_ANSWER_WRITE] = PACE_WRITE,
                                         [NOC_ANSWER_ATOMIC] = PACE_ATOMIC};
    struct nocap_wait w = wait_begin(t, agent, said->since);
    char what[WAIT_TEXT], requests[160];
    w.said = true;
    if (said->semaphore) {
        w.what = "waits for a semaphore in its L1";
        w.state = "waiting for a semaphore";
        w.release = "a change of the semaphore";
        wait_tell(t, &w);
        return;
    }
    int op = ops[said->answer];
    const struct pace_requests *r = &t->tile->pace.requests[said->noc][op];
    describe_requests(r, op, requests, sizeof requests);
    snprintf(what, sizeof what, "waits for its %ss on noc%u%s%s", op_names[op], said->noc,
             r->issued > 0 ? ": " : "", r->issued > 0 ? requests : "");
    w.what = what;
    w.state = "in a NOC barrier";
    w.release = "the answers to its requests";
    wait_tell(t, &w);
}

void waits_said(const struct telling *t)
{
    for (unsigned p = 0; p < CORES; p++) {
        unsigned agent = nocap_cores[p].agent;
        const struct noc_wait *said = noc_waiting(t->tile, agent);
        if (said != NULL && said->polls == 0) { /* polls tell more */
            tell_said(t, agent, said);
        }
    }
}
