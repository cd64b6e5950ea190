/* SPDX-License-Identifier: Apache-2.0 */
/* Command buffers: they keep their registers, a store to CMD_CTRL makes a request of them. Where
 * the trace has `noc` events too, each restates one such store. Rules NOC-019, NOC-023, NOC-040. */
#include <string.h>

#include "replay/noc/noc_private.h"

enum { SENT = 1, WORD_TAG = NOCAP_NIU_PACKET_TAG / 4 };

/* ---- from registers to a request ---- */

static bool word(const struct noc_buffer *b, enum nocap_niu_offset offset, uint32_t *v)
{
    *v = b->words[offset / 4].v;
    return b->words[offset / 4].known;
}

/* One end, by its registers from `lo` on; `has`: the bits of address and place in the event. */
static void set_end(struct nocap_event *e, const struct noc_buffer *b, enum nocap_niu_offset lo,
                    uint64_t *addr, uint64_t has_addr, struct nocap_xy *at, uint64_t has_at)
{
    const struct value *low = &b->words[lo / 4], *high = low + 2;
    uint64_t number;
    if (noc_pair(low, low + 1, &number)) {
        *addr = number;
        e->has |= has_addr;
    }
    if (high->known) {
        *at = nocap_niu_xy(high->v);
        e->has |= has_at;
    }
    if (high->known && at == &e->d && e->mcast) {
        e->d2 = e->d;
        e->d = nocap_niu_start(high->v);
        e->has |= NOCAP_F_D2;
    }
}

static void set_ends(struct nocap_event *e, const struct noc_buffer *b)
{
    const bool moves = e->op == NOCAP_OP_READ || e->op == NOCAP_OP_WRITE;
    const enum nocap_niu_offset target = NOCAP_NIU_TARG_ADDR_LO, answer = NOCAP_NIU_RET_ADDR_LO;
    uint32_t v;
    set_end(e, b, moves ? answer : target, &e->daddr, NOCAP_F_DADDR, &e->d, NOCAP_F_D);
    if (moves) {
        set_end(e, b, target, &e->saddr, NOCAP_F_SADDR, &e->s, NOCAP_F_S);
        return;
    }
    if (e->op == NOCAP_OP_ATOMIC) {
        set_end(e, b, answer, &e->raddr, NOCAP_F_RADDR, &e->ret, NOCAP_F_RET);
    }
    e->size = NOCAP_NIU_MMIO_SIZE;
    e->has |= NOCAP_F_SIZE;
    if (word(b, NOCAP_NIU_AT_DATA, &v)) {
        e->value = v;
        e->has |= NOCAP_F_VALUE;
    }
}

/* The request that the buffer's registers make; false if CTRL is not known, or asks for nothing. */
static bool derive(const struct noc_buffer *b, const struct nocap_event *store, unsigned noc,
                   unsigned buffer, struct nocap_event *e)
{
    uint32_t ctrl, v;
    memset(e, 0, sizeof *e);
    if (!word(b, NOCAP_NIU_CTRL, &ctrl) || nocap_niu_op(ctrl) == NOCAP_OP_NONE) {
        return false;
    }
    e->kind = NOCAP_EV_NOC;
    e->index = store->index;
    e->t = store->t;
    e->chip = store->chip;
    e->at = store->at;
    e->by = store->by;
    e->noc = (uint8_t)noc;
    e->buf = (uint8_t)buffer;
    e->op = (uint8_t)nocap_niu_op(ctrl);
    e->posted = (ctrl & NOCAP_CTRL_RESPONSE) == 0;
    e->mcast = (ctrl & NOCAP_CTRL_BROADCAST) != 0;
    e->linked = (ctrl & NOCAP_CTRL_VC_LINKED) != 0;
    e->ctrl = ctrl;
    e->has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_NOC | NOCAP_F_BUF | NOCAP_F_POSTED | NOCAP_F_MCAST |
             NOCAP_F_LINKED | NOCAP_F_CTRL;
    if ((ctrl & NOCAP_CTRL_VC_STATIC) != 0) {
        e->vc = (uint8_t)nocap_niu_vc(ctrl);
        e->has |= NOCAP_F_VC;
    }
    if (word(b, NOCAP_NIU_AT_LEN_BE, &v)) {
        e->len_be = v;
        e->has |= NOCAP_F_LEN_BE;
        bool length = e->op == NOCAP_OP_READ ||
                      (e->op == NOCAP_OP_WRITE && (ctrl & NOCAP_CTRL_BYTE_ENABLE) == 0);
        if (length && v != 0) {
            e->size = v;
            e->has |= NOCAP_F_SIZE;
        }
    }
    if (word(b, NOCAP_NIU_PACKET_TAG, &v)) {
        e->tag = v;
        e->trid = (uint8_t)nocap_niu_trid(v);
        e->has |= NOCAP_F_TAG | NOCAP_F_TRID;
    }
    set_ends(e, b);
    return true;
}

/* ---- a `noc` event restates registers ---- */

bool noc_same(enum nocap_field field, const struct nocap_event *a, const struct nocap_event *b)
{
    uint64_t bit = UINT64_C(1) << field;
    uint64_t mask = field == NOCAP_FIELD_CTRL ? ~(uint64_t)NOCAP_CTRL_VOLATILE : ~UINT64_C(0);
    return (a->has & b->has & bit) == 0 ||
           ((nocap_event_number(a, field) ^ nocap_event_number(b, field)) & mask) == 0;
}

enum { AGREE = -1, OTHER_OP = NOCAP_FIELD_COUNT }; /* or enum nocap_field */

/* The first field in which the two differ. Corners of a rectangle may be named in any order, and a
 * read has no posted form. */
static int difference(const struct nocap_event *a, const struct nocap_event *b)
{
    static const enum nocap_field fields[] = {
        NOCAP_FIELD_SADDR, NOCAP_FIELD_DADDR, NOCAP_FIELD_SIZE,  NOCAP_FIELD_VALUE,
        NOCAP_FIELD_RET,   NOCAP_FIELD_RADDR, NOCAP_FIELD_CTRL,  NOCAP_FIELD_LEN_BE,
        NOCAP_FIELD_TAG,   NOCAP_FIELD_S,     NOCAP_FIELD_MCAST, NOCAP_FIELD_LINKED,
        NOCAP_FIELD_D,     NOCAP_FIELD_POSTED};
    const int corner = a->mcast ? NOCAP_FIELD_D : -1;
    const int answer = a->op == NOCAP_OP_READ ? NOCAP_FIELD_POSTED : -1;
    int what = a->op == b->op ? AGREE : OTHER_OP;
    for (size_t i = 0; what == AGREE && i < sizeof fields / sizeof fields[0]; i++) {
        const int field = (int)fields[i];
        what = field == corner || field == answer || noc_same(fields[i], a, b) ? AGREE : field;
    }
    return what;
}

/* The register that says it, the first of several: what it is called differs by request. */
static int register_of(const struct nocap_event *e, int field)
{
    bool moves = e->op == NOCAP_OP_READ || e->op == NOCAP_OP_WRITE;
    switch (field) {
    case AGREE: return AGREE;
    case NOCAP_FIELD_SADDR: return NOCAP_NIU_TARG_ADDR_LO;
    case NOCAP_FIELD_S: return NOCAP_NIU_TARG_ADDR_HI;
    case NOCAP_FIELD_DADDR: return moves ? NOCAP_NIU_RET_ADDR_LO : NOCAP_NIU_TARG_ADDR_LO;
    case NOCAP_FIELD_D: return moves ? NOCAP_NIU_RET_ADDR_HI : NOCAP_NIU_TARG_ADDR_HI;
    case NOCAP_FIELD_RADDR: return NOCAP_NIU_RET_ADDR_LO;
    case NOCAP_FIELD_RET: return NOCAP_NIU_RET_ADDR_HI;
    case NOCAP_FIELD_TAG: return NOCAP_NIU_PACKET_TAG;
    case NOCAP_FIELD_VALUE: return NOCAP_NIU_AT_DATA;
    case NOCAP_FIELD_SIZE:
    case NOCAP_FIELD_LEN_BE: return NOCAP_NIU_AT_LEN_BE;
    default: return NOCAP_NIU_CTRL;
    }
}

/* A stray store of who sent it would have made the request as it is stated, by one of the
 * registers. */
static fault_id register_astray(const struct tile *tile, const struct noc_buffer *b,
                                const struct nocap_event *e)
{
    bool core = nocap_is_core(b->request.by);
    const struct stray *stray =
        &tile->strays[core ? nocap_core(b->request.by)->processor : STRAYS_OF_HOST];
    for (unsigned i = 0; stray->turn > b->sent_before && i < NOC_BUFFER_WORDS; i++) {
        struct noc_buffer right = *b;
        struct nocap_event request;
        noc_word_set(&right.words[i], &stray->value);
        if (derive(&right, &b->request, b->request.noc, b->request.buf, &request) &&
            difference(&request, e) == AGREE) {
            return stray->fault;
        }
    }
    return FAULT_NONE;
}

/* The notify of a finished launch is an inline write that adds to a stream's counter. A trace may
 * state what it does, an atomic increment of that counter, instead of what it is. */
static bool restates_notify(const struct nocap_event *request, const struct nocap_event *e)
{
    bool adds = (request->has & NOCAP_F_DADDR) == 0 || nocap_adds_to_stream(request->daddr);
    return request->op == NOCAP_OP_INLINE && e->op == NOCAP_OP_ATOMIC && adds &&
           noc_same(NOCAP_FIELD_DADDR, request, e) && noc_same(NOCAP_FIELD_D, request, e);
}

static struct noc_buffer *restated_by(struct noc_interface *n, const struct nocap_event *e)
{
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        struct noc_buffer *b = &n->buffers[i];
        bool named = (e->has & NOCAP_F_BUF) != 0;
        if (b->restating == NOC_PENDING &&
            (named ? e->buf == i : b->request.op == e->op || restates_notify(&b->request, e))) {
            return b;
        }
    }
    return NULL;
}

void noc_restate(struct model *m, const struct tile *tile, struct noc_interface *n,
                 const struct nocap_event *e)
{
    struct noc_buffer *b = restated_by(n, e);
    if (b != NULL) {
        int what = restates_notify(&b->request, e) ? AGREE : difference(&b->request, e);
        int where = register_of(e, what);
        fault_id since = where == b->differs_in ? b->restated_since : FAULT_NONE;
        if (what != AGREE && since == FAULT_NONE) {
            since = register_astray(tile, b, e);
        }
        b->restating = NOC_RESTATED;
        b->request.has |= e->has & NOCAP_F_ID;
        b->request.id = e->id;
        CHECK_AFTER(m, tile, NOC_040, since, what == AGREE, RELATED(b->sent),
                    "a noc event that says what the registers of its command buffer say",
                    "noc event and registers of its command buffer differ in \"%s\"",
                    what == OTHER_OP ? "op" : nocap_fields[what].key);
        b->restated_since = m->fault;
        b->differs_in = where;
        if (what == NOCAP_FIELD_TAG && m->fault != FAULT_UNREPORTED) {
            b->words[WORD_TAG].since = m->fault;
        }
        return;
    }
    bool named = (e->has & NOCAP_F_BUF) != 0 && e->buf < NOCAP_NIU_BUFFERS;
    b = named ? &n->buffers[e->buf] : NULL;
    if (b != NULL && b->restating == NOC_RESTATED && tile->in_scope &&
        (m->header->observes & NOCAP_CLASS_CORE_MMIO) != 0) {
        CHECK(m, tile, NOC_040, false, RELATED(b->sent), "a store to CMD_CTRL for every noc event",
              "noc event without a store to CMD_CTRL after that of event %llu",
              (unsigned long long)b->sent);
        b->restated_since = m->fault;
        b->differs_in = AGREE;
    }
}

/* ---- stores and loads ---- */

static void judge_free(struct model *m, const struct tile *tile, const struct noc_interface *n,
                       struct noc_buffer *b)
{
    bool busy = b->use == NOC_BUSY;
    if (noc_sees_loads(m, tile)) { /* else it may have been read again unseen */
        CHECK(m, tile, NOC_023, !busy && (b->use == NOC_FREE || n->fifo), RELATED(b->sent),
              "a command buffer not written until CMD_CTRL reads 0", "%s",
              busy ? "store to a command buffer that was last seen busy"
                   : "store to a command buffer with neither CMD_CTRL nor a counter read since "
                     "its last request");
    }
    b->use = NOC_FREE;
}

/* Raises the request where nothing else in the trace stands for it. */
static void send(struct model *m, struct tile *tile, unsigned noc, unsigned buffer)
{
    struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
    struct noc_buffer *b = &n->buffers[buffer];
    bool restated = (m->header->observes & NOCAP_CLASS_NOC) != 0 && tile->in_scope;
    uint32_t ctrl;
    if (b->restating == NOC_PENDING && noc_sees_requests(m)) {
        CHECK_AFTER(m, tile, NOC_040, b->differs_in == AGREE ? b->restated_since : FAULT_NONE,
                    false, RELATED(b->sent), "a noc event for every request", "%s",
                    "no noc event for the request before this one");
        b->restated_since = m->fault;
        b->differs_in = AGREE;
    }
    noc_tells(m, &n->programmed);
    b->use = NOC_SENT;
    n->unread |= (uint8_t)(1u << buffer);
    b->sent = m->event->index;
    b->sent_before = b->sent_turn;
    b->sent_turn = m->turn;
    bool known = derive(b, m->event, noc, buffer, &b->request);
    b->request.by = m->event->by;
    if (!restated && word(b, NOCAP_NIU_CTRL, &ctrl) && nocap_niu_op(ctrl) == NOCAP_OP_NONE) {
        CHECK(m, tile, NOC_019, false, NO_REFS, "request type 0, 1 or 2",
              "request with CTRL 0x%x, its type not 0, 1 or 2", ctrl);
    }
    b->restating = restated && known ? NOC_PENDING : NOC_NOT_EXPECTED;
    m->due |= known && !restated ? DUE_RAISED : 0;
    m->request = b->request;
}

void noc_buffer_store(struct model *m, struct tile *tile, unsigned noc, unsigned buffer,
                      uint32_t reg, const uint32_t *value)
{
    struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
    struct noc_buffer *b = &n->buffers[buffer];
    if (reg == NOCAP_NIU_CMD_CTRL) {
        if (value == NULL) { /* it may be a request */
            b->restating = NOC_NOT_EXPECTED;
        } else if ((*value & SENT) != 0) {
            judge_free(m, tile, n, b);
            send(m, tile, noc, buffer);
        }
        return;
    }
    if (reg / 4 >= NOC_BUFFER_WORDS) {
        return;
    }
    judge_free(m, tile, n, b);
    noc_word_set(&b->words[reg / 4], value);
    if (reg / 4 == WORD_TAG) {
        b->tag_by = m->event->by;
        b->tag_index = m->event->index;
    }
}

void noc_buffer_load(struct noc_interface *n, unsigned buffer, const uint32_t *value)
{
    n->buffers[buffer].use = value != NULL && (*value & SENT) != 0 ? NOC_BUSY : NOC_FREE;
    n->unread &= (uint8_t) ~(1u << buffer);
}

void noc_buffers_left(struct noc_interface *n, const struct nocap_event *e)
{
    bool one = (e->has & NOCAP_F_ID) != 0;
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        const struct nocap_event *r = &n->buffers[i].request;
        bool own = e->by == NOCAP_BY_NONE || r->by == NOCAP_BY_NONE || r->by == e->by;
        bool same_kind = nocap_requests_of(r->op) == nocap_requests_of(e->op);
        bool left = one ? (r->has & NOCAP_F_ID) != 0 && r->id == e->id : own && same_kind;
        bool any = n->buffers[i].restating == NOC_NOT_EXPECTED; /* of before the trace, perhaps */
        if (any || (n->buffers[i].restating == NOC_RESTATED && left)) {
            n->buffers[i].use = NOC_FREE;
            n->unread &= (uint8_t) ~(1u << i);
        }
    }
}
