/* The network interfaces of a tile: command buffers keep their registers, a store to CMD_CTRL makes
 * a request of them. Where the trace has `noc` events too, each restates one such store. Rules
 * NOC-019, NOC-023, NOC-031, NOC-040. */
#include "replay/noc.h"
#include "replay/race.h"

#include <stdlib.h>
#include <string.h>

enum { SENT = 1, WORD_TAG = NOCAP_NIU_PACKET_TAG / 4 };

struct noc_tile *noc_of(struct model *m, struct tile *tile)
{
    if (tile->noc == NULL) {
        tile->noc = calloc(1, sizeof *tile->noc);
        m->out_of_memory |= tile->noc == NULL;
    }
    return tile->noc;
}

void noc_forget(struct tile *tile)
{
    free(tile->noc);
    tile->noc = NULL;
}

/* All loads of registers are in the trace. */
static bool sees_loads(const struct model *m, const struct tile *tile)
{
    const uint32_t both = NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO;
    return tile->in_scope && (m->header->observes & both) == both;
}

/* ---- from registers to a request ---- */

static bool word(const struct noc_buffer *b, enum nocap_niu_offset offset, uint32_t *v)
{
    *v = b->words[offset / 4];
    return (b->known >> offset / 4 & 1) != 0;
}

/* LO and MID of an address. */
static bool address(const struct noc_buffer *b, enum nocap_niu_offset lo, uint64_t *v)
{
    uint32_t low, mid;
    bool known = word(b, lo, &low) && word(b, (enum nocap_niu_offset)(lo + 4), &mid);
    *v = known ? (uint64_t)mid << 32 | low : 0;
    return known;
}

static void set_end(struct nocap_event *e, const struct noc_buffer *b, enum nocap_niu_offset lo,
                    bool source)
{
    uint32_t hi;
    uint64_t addr;
    if (address(b, lo, &addr)) {
        *(source ? &e->saddr : &e->daddr) = addr;
        e->has |= source ? NOCAP_F_SADDR : NOCAP_F_DADDR;
    }
    if (!word(b, (enum nocap_niu_offset)(lo + 8), &hi)) {
        return;
    }
    *(source ? &e->s : &e->d) = nocap_niu_xy(hi);
    e->has |= source ? NOCAP_F_S : NOCAP_F_D;
    if (!source && e->mcast) {
        e->d2 = e->d;
        e->d = nocap_niu_start(hi);
        e->has |= NOCAP_F_D2;
    }
}

static void set_answer(struct nocap_event *e, const struct noc_buffer *b)
{
    uint32_t hi;
    if (address(b, NOCAP_NIU_RET_ADDR_LO, &e->raddr)) {
        e->has |= NOCAP_F_RADDR;
    }
    if (word(b, NOCAP_NIU_RET_ADDR_HI, &hi)) {
        e->ret = nocap_niu_xy(hi);
        e->has |= NOCAP_F_RET;
    }
}

static void set_operand(struct nocap_event *e, const struct noc_buffer *b)
{
    uint32_t v;
    e->size = NOCAP_NIU_MMIO_SIZE;
    e->has |= NOCAP_F_SIZE;
    if (word(b, NOCAP_NIU_AT_DATA, &v)) {
        e->value = v;
        e->has |= NOCAP_F_VALUE;
    }
}

static void set_ends(struct nocap_event *e, const struct noc_buffer *b)
{
    switch (e->op) {
    case NOCAP_OP_READ:
    case NOCAP_OP_WRITE:
        set_end(e, b, NOCAP_NIU_TARG_ADDR_LO, true);
        set_end(e, b, NOCAP_NIU_RET_ADDR_LO, false);
        break;
    case NOCAP_OP_ATOMIC: set_answer(e, b); /* fall through */
    default:
        set_end(e, b, NOCAP_NIU_TARG_ADDR_LO, false);
        set_operand(e, b);
        break;
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

static bool same(enum nocap_field field, const struct nocap_event *a, const struct nocap_event *b)
{
    uint64_t bit = UINT64_C(1) << field;
    uint64_t mask = field == NOCAP_FIELD_CTRL ? ~(uint64_t)NOCAP_CTRL_VOLATILE : ~UINT64_C(0);
    return (a->has & b->has & bit) == 0 ||
           ((nocap_event_number(a, field) ^ nocap_event_number(b, field)) & mask) == 0;
}

/* Name of the first field in which the two differ, NULL: none. Corners of a rectangle may be named
 * in any order, and a read has no posted form. */
static const char *difference(const struct nocap_event *a, const struct nocap_event *b)
{
    static const enum nocap_field always[] = {
        NOCAP_FIELD_SADDR, NOCAP_FIELD_DADDR, NOCAP_FIELD_SIZE,  NOCAP_FIELD_VALUE,
        NOCAP_FIELD_RET,   NOCAP_FIELD_RADDR, NOCAP_FIELD_CTRL,  NOCAP_FIELD_LEN_BE,
        NOCAP_FIELD_TAG,   NOCAP_FIELD_S,     NOCAP_FIELD_MCAST, NOCAP_FIELD_LINKED};
    if (a->op != b->op) {
        return "op";
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (!same(always[i], a, b)) {
            return nocap_fields[always[i]].key;
        }
    }
    if (!a->mcast && !same(NOCAP_FIELD_D, a, b)) {
        return nocap_fields[NOCAP_FIELD_D].key;
    }
    if (a->op != NOCAP_OP_READ && !same(NOCAP_FIELD_POSTED, a, b)) {
        return nocap_fields[NOCAP_FIELD_POSTED].key;
    }
    return NULL;
}

/* The notify of a finished launch is an inline write that adds to a stream's counter. A trace may
 * state what it does, an atomic increment of that counter, instead of what it is. */
static bool restates_notify(const struct nocap_event *request, const struct nocap_event *e)
{
    return request->op == NOCAP_OP_INLINE && e->op == NOCAP_OP_ATOMIC &&
           noc_adds_to_stream(request->daddr) && same(NOCAP_FIELD_DADDR, request, e) &&
           same(NOCAP_FIELD_D, request, e);
}

static struct noc_buffer *owed_by(struct noc_interface *n, const struct nocap_event *e)
{
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        struct noc_buffer *b = &n->buffers[i];
        bool named = (e->has & NOCAP_F_BUF) != 0;
        if (b->owed &&
            (named ? e->buf == i : b->request.op == e->op || restates_notify(&b->request, e))) {
            return b;
        }
    }
    return NULL;
}

/* A finding names the fault already that makes the event differ. */
static bool told_elsewhere(const struct model *m)
{
    return told_now(m, MAP_001, MAP_015) || told_now(m, GO_015, GO_016) ||
           told_now(m, CQ_033, CQ_037) || told_now(m, NOC_001, NOC_032);
}

/* An event that no store stands for, of a command buffer whose requests show as stores. */
static void judge_stray(struct model *m, struct tile *tile, const struct noc_interface *n,
                        const struct nocap_event *e)
{
    bool programmed = (e->has & NOCAP_F_BUF) != 0 && n->buffers[e->buf].restated;
    if (programmed && tile->in_scope && (m->header->observes & NOCAP_CLASS_CORE_MMIO) != 0 &&
        !told_elsewhere(m)) {
        EXPECT(m, tile, NOC_040, false, RELATED(n->buffers[e->buf].sent),
               "a store to CMD_CTRL for every noc event", "none behind that of request %llu",
               (unsigned long long)n->buffers[e->buf].sent);
    }
}

static void match(struct model *m, struct tile *tile, struct noc_interface *n,
                  const struct nocap_event *e)
{
    struct noc_buffer *b = owed_by(n, e);
    if (b == NULL) {
        judge_stray(m, tile, n, e);
        return;
    }
    const char *what = restates_notify(&b->request, e) ? NULL : difference(&b->request, e);
    b->owed = false;
    b->restated = true;
    if (what != NULL && told_elsewhere(m)) {
        return;
    }
    EXPECT(m, tile, NOC_040, what == NULL, RELATED(b->sent),
           "a noc event that says what the registers of its command buffer say",
           "they differ in \"%s\"", what);
}

void noc_observe(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct noc_tile *t = noc_of(m, tile);
    if (t == NULL) {
        return;
    }
    struct noc_interface *n = &t->noc[e->noc];
    if (e->phase == NOCAP_PHASE_ISSUE || (e->has & NOCAP_F_ID) == 0) {
        noc_wait_ends(tile, e->by);
    }
    if (e->phase != NOCAP_PHASE_ISSUE) {
        noc_phase(m, tile, n, e);
        return;
    }
    if (m->knows_tiles) {
        noc_judge_request(m, tile, e);
        match(m, tile, n, e);
    }
    noc_take(m, tile, e);
    noc_owe(m, tile, e);
}

/* ---- stores and loads of the registers ---- */

static void judge_free(struct model *m, struct tile *tile, struct noc_interface *n,
                       struct noc_buffer *b)
{
    bool possible = b->unconfirmed && sees_loads(m, tile) && !n->fifo;
    if (b->busy || sees_loads(m, tile)) {
        EXPECT(m, tile, NOC_023, !b->busy && !possible, RELATED(b->sent),
               "a command buffer left alone until CMD_CTRL reads 0", "%s",
               b->busy ? "a store while it was last seen busy"
                       : "a store with neither CMD_CTRL nor a counter read since the last request");
    }
    b->busy = b->unconfirmed = false;
}

/* The request without an event is the notify that was told missing since. */
static bool is_missed_notify(const struct model *m, const struct noc_buffer *b)
{
    return b->request.op == NOCAP_OP_INLINE && noc_adds_to_stream(b->request.daddr) &&
           (m->told[GO_015] > b->sent || m->told[CQ_055] > b->sent);
}

/* True: nothing else in the trace stands for this request. */
static bool send(struct model *m, struct tile *tile, unsigned noc, unsigned buffer,
                 struct nocap_event *request)
{
    struct noc_interface *n = &tile->noc->noc[noc];
    struct noc_buffer *b = &n->buffers[buffer];
    bool restated = (m->header->observes & NOCAP_CLASS_NOC) != 0 && tile->in_scope;
    uint32_t ctrl;
    if (b->owed && noc_sees_requests(m) && !is_missed_notify(m, b)) {
        EXPECT(m, tile, NOC_040, false, RELATED(b->sent), "a noc event for every request", "%s",
               "none for the request before this one");
    }
    b->owed = false;
    n->programmed = true;
    b->unconfirmed = b->unread = true;
    b->sent = m->event->index;
    bool known = derive(b, m->event, noc, buffer, &b->request);
    b->request.by = m->event->by;
    if (!restated && word(b, NOCAP_NIU_CTRL, &ctrl) && nocap_niu_op(ctrl) == NOCAP_OP_NONE) {
        EXPECT(m, tile, NOC_019, false, NOTHING, "request type 0, 1 or 2", "CTRL was 0x%x", ctrl);
    }
    b->owed = restated && known;
    b->restated &= known; /* the event of this one may come unmatched */
    *request = b->request;
    return known && !restated;
}

static bool buffer_store(struct model *m, struct tile *tile, unsigned noc, unsigned buffer,
                         uint32_t reg, bool known, uint32_t v, struct nocap_event *request)
{
    struct noc_interface *n = &tile->noc->noc[noc];
    struct noc_buffer *b = &n->buffers[buffer];
    if (reg == NOCAP_NIU_CMD_CTRL) {
        if (!known) { /* it may be a request */
            b->owed = b->restated = false;
        }
        if (!known || (v & SENT) == 0) {
            return false;
        }
        judge_free(m, tile, n, b);
        return send(m, tile, noc, buffer, request);
    }
    if (reg / 4 >= NOC_BUFFER_WORDS) {
        return false;
    }
    judge_free(m, tile, n, b);
    b->words[reg / 4] = v;
    b->known = (uint16_t)(known ? b->known | 1u << reg / 4 : b->known & ~(1u << reg / 4));
    if (reg / 4 == WORD_TAG) {
        b->tag_by = m->event->by;
        b->tag_index = m->event->index;
    }
    return false;
}

static void other_store(struct noc_interface *n, uint32_t offset, uint32_t v)
{
    if (offset == NOCAP_NIU_NIU_CFG_0) {
        n->fifo = (v & NOCAP_NIU_CFG_FIFO) != 0;
    } else if (offset == NOCAP_NIU_CLEAR_OUTSTANDING_REQ_CNT) {
        for (unsigned id = 0; id < NOCAP_TRIDS; id++) {
            n->outstanding[id] = (v >> id & 1) != 0 ? 0 : n->outstanding[id];
        }
    }
}

static void judge_read_back(struct model *m, struct tile *tile, struct noc_interface *n)
{
    const struct noc_buffer *unread = NULL;
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        struct noc_buffer *b = &n->buffers[i];
        if (b->unread && b->request.by == m->event->by) {
            unread = b;
        }
        b->busy = b->unconfirmed = b->unread = false; /* whoever waits for an end knows it left */
    }
    if (n->programmed && sees_loads(m, tile)) {
        EXPECT(m, tile, NOC_031, unread == NULL, RELATED(unread->sent),
               "CMD_CTRL read back between a request and the first look at a counter", "%s",
               "a counter was read first");
    }
}

static void load(struct model *m, struct tile *tile, struct noc_interface *n, uint32_t offset,
                 bool known, uint32_t v)
{
    uint32_t reg = offset % NOCAP_NIU_BUFFER_STRIDE;
    if (reg == NOCAP_NIU_CMD_CTRL) {
        struct noc_buffer *b = &n->buffers[offset / NOCAP_NIU_BUFFER_STRIDE];
        b->busy = known && (v & SENT) != 0;
        b->unconfirmed = b->unconfirmed && b->busy;
        b->unread = false;
        return;
    }
    if (offset < NOCAP_NIU_COUNTER_BASE ||
        offset >= NOCAP_NIU_COUNTER_BASE + 4 * NOCAP_COUNTER_COUNT) {
        return;
    }
    judge_read_back(m, tile, n);
    n->polled = true;
    unsigned counter = (offset - NOCAP_NIU_COUNTER_BASE) / 4;
    unsigned noc = (unsigned)(n - tile->noc->noc);
    enum noc_look look = noc_poll(m, tile, noc, counter, known ? &v : NULL);
    if (look == NOC_LOOK_OPEN) {
        return;
    }
    noc_counter_load(n, counter);
    race_counter(m, tile, noc, counter);
    if (look == NOC_LOOK_OVER) {
        static const enum pace_op ops[] = {
            [NOCAP_COUNTER_MST_ATOMIC_RESP_RECEIVED] = PACE_ATOMIC,
            [NOCAP_COUNTER_MST_WR_ACK_RECEIVED] = PACE_WRITE,
            [NOCAP_COUNTER_MST_RD_RESP_RECEIVED] = PACE_READ,
        };
        pace_all_ended(m, tile, noc, ops[counter]);
    }
}

/* What firmware does between kernels is far enough from the last request. */
static void mailbox_store(struct tile *tile, unsigned by)
{
    for (unsigned i = 0; i < NOC_NOCS * NOCAP_NIU_BUFFERS; i++) {
        struct noc_buffer *b =
            &tile->noc->noc[i / NOCAP_NIU_BUFFERS].buffers[i % NOCAP_NIU_BUFFERS];
        b->unread = b->unread && b->request.by != by;
    }
}

/* A look at a counter: what a core does while it waits. */
static bool is_poll(const struct access *a)
{
    uint64_t base = nocap_niu_base(a->addr >= NOCAP_BASE_NIU1);
    return !a->store && a->addr >= base + NOCAP_NIU_COUNTER_BASE &&
           a->addr < base + NOCAP_NIU_COUNTER_BASE + 4 * NOCAP_COUNTER_COUNT;
}

bool noc_core_access(struct model *m, struct tile *tile, const struct access *a,
                     struct nocap_event *request)
{
    if (tile->noc != NULL && !is_poll(a)) {
        noc_wait_ends(tile, a->by);
    }
    if (a->addr < NOCAP_L1_SIZE) {
        if (tile->noc != NULL) {
            noc_memory_access(m, tile, a);
            if (a->store && a->addr < SHADOW_SIZE) {
                mailbox_store(tile, a->by);
            }
        }
        return false;
    }
    if (a->addr < NOCAP_BASE_NIU0 || a->addr > NOCAP_LAST_NIU1 || noc_of(m, tile) == NULL) {
        return false;
    }
    unsigned noc = a->addr >= NOCAP_BASE_NIU1;
    uint32_t offset = (uint32_t)(a->addr - nocap_niu_base(noc));
    unsigned buffer = offset / NOCAP_NIU_BUFFER_STRIDE;
    uint32_t reg = offset % NOCAP_NIU_BUFFER_STRIDE, v = 0;
    bool known = access_word(a, a->addr, &v);
    struct noc_interface *n = &tile->noc->noc[noc];
    if (buffer >= NOCAP_NIU_BUFFERS) {
        return false;
    }
    if (!a->store) {
        load(m, tile, n, offset, known, v);
        return false;
    }
    noc_register_store(m, tile, a);
    if (reg <= NOCAP_NIU_CMD_CTRL) {
        return buffer_store(m, tile, noc, buffer, reg, known, v, request);
    }
    if (known) {
        other_store(n, offset, v);
    }
    return false;
}
