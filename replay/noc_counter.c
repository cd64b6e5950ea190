/* Barriers as firmware makes them: a core polls a counter of the interface until it shows an answer
 * for every request. Rule NOC-046, and which core still waits. */
#include "formats/trace/note.h"
#include "replay/noc.h"

enum {
    /* So many looks at a counter that owes nothing more are no second barrier. */
    SETTLED_POLLS = 16,
};

static bool answer_of_counter(unsigned counter, enum noc_answer *answer)
{
    switch (counter) {
    case NOCAP_COUNTER_MST_ATOMIC_RESP_RECEIVED: *answer = NOC_ANSWER_ATOMIC; return true;
    case NOCAP_COUNTER_MST_WR_ACK_RECEIVED: *answer = NOC_ANSWER_WRITE; return true;
    case NOCAP_COUNTER_MST_RD_RESP_RECEIVED: *answer = NOC_ANSWER_READ; return true;
    default: return false;
    }
}

static enum noc_answer answer_of_op(unsigned op)
{
    return op == NOCAP_OP_READ     ? NOC_ANSWER_READ
           : op == NOCAP_OP_ATOMIC ? NOC_ANSWER_ATOMIC
                                   : NOC_ANSWER_WRITE;
}

static struct noc_wait *wait_of(struct tile *tile, unsigned by)
{
    return tile->noc == NULL || !nocap_is_core(by) ? NULL
                                                   : &tile->noc->waits[nocap_core(by)->processor];
}

/* ---- what is owed ---- */

/* How many answers a request gets; 0: that cannot be told. */
static uint32_t answers(const struct model *m, const struct nocap_event *e)
{
    bool one_packet = (e->has & NOCAP_F_SIZE) != 0 && e->size <= NOCAP_NIU_PACKET_MAX;
    if (!e->mcast) {
        return e->op == NOCAP_OP_INLINE || e->op == NOCAP_OP_ATOMIC || one_packet ? 1 : 0;
    }
    struct noc_ends ends = noc_ends(e);
    bool self_known = (e->has & NOCAP_F_CTRL) != 0;
    bool self = (e->ctrl & NOCAP_CTRL_BROADCAST_SOURCE) != 0;
    if (!ends.to_known || !one_packet || m->header->board == NOCAP_BOARD_UNKNOWN) {
        return 0;
    }
    struct nocap_xy a = ends.to, b = ends.to_other;
    unsigned left = a.x < b.x ? a.x : b.x, right = a.x < b.x ? b.x : a.x;
    unsigned top = a.y < b.y ? a.y : b.y, bottom = a.y < b.y ? b.y : a.y;
    uint32_t count = 0;
    for (unsigned x = left; x <= right; x++) {
        for (unsigned y = top; y <= bottom; y++) {
            struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            bool own = at.x == e->at.x && at.y == e->at.y;
            if (own && !self_known) {
                return 0;
            }
            count += nocap_is_tensix_tile(m->header->board, at) && (!own || self);
        }
    }
    return count;
}

void noc_owe(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct noc_owed *owed = &tile->noc->noc[e->noc].owed[answer_of_op(e->op)];
    owed->shared = owed->shared || (owed->by != NOCAP_BY_NONE && owed->by != e->by);
    owed->by = e->by;
    if (!owed->known || (e->posted && e->op != NOCAP_OP_READ)) {
        return;
    }
    uint32_t count = answers(m, e);
    owed->known = count != 0;
    bool certain = e->op == NOCAP_OP_READ || (!e->mcast && (e->has & NOCAP_F_POSTED) != 0);
    owed->proved = owed->proved && owed->known && certain;
    owed->total += count;
}

/* ---- who waits ---- */

static bool asks_for(const struct noc_request *r, enum noc_answer answer)
{
    return answer_of_op(r->op) == answer && !(r->posted && r->op != NOCAP_OP_READ);
}

static void begin(struct model *m, struct tile *tile, struct noc_wait *w, unsigned noc,
                  enum noc_answer answer)
{
    const struct noc_interface *n = &tile->noc->noc[noc];
    *w = (struct noc_wait){
        .active = true, .noc = (uint8_t)noc, .answer = (uint8_t)answer, .since = now(m)};
    for (uint32_t i = n->count; i-- > 0 && w->request_count < NOC_WAIT_REQUESTS;) {
        const struct noc_request *r = &n->open[(n->first + i) % NOC_OPEN];
        if (!r->done && asks_for(r, answer)) {
            w->requests[w->request_count++] = r->index;
        }
    }
}

static void judge(struct model *m, const struct tile *tile, struct noc_wait *w, uint64_t polls)
{
    w->settled = w->value == w->total ? w->settled + polls : 0;
    bool stuck = w->settled >= SETTLED_POLLS;
    if (w->settled != 0 && !w->told) {
        EXPECT(
            m, tile, NOC_046, !stuck, RELATED(w->since.index),
            "an end of the barrier: every answer that the requests of this interface get is there",
            "a core that polls on although the counter stands at 0x%x, as it must: more answers "
            "were counted on than there are",
            w->value);
        w->told = stuck;
    }
}

/* Whether a look tells that requests are still under way is believed only where the count has come
 * out once before: a capture need not show every request, or say of each whether it is answered. */
static enum noc_look look(struct noc_owed *owed, uint32_t value, bool idle)
{
    if (!owed->known) {
        return NOC_LOOK_UNSURE;
    }
    if (value == owed->total) {
        owed->proved = owed->proved || !idle;
        return NOC_LOOK_OVER;
    }
    return owed->proved && !owed->shared && !idle ? NOC_LOOK_OPEN : NOC_LOOK_UNSURE;
}

/* The counts of one transaction id go down to 0. */
static enum noc_look look_at_id(unsigned counter, const uint32_t *value)
{
    bool id = counter >= NOCAP_COUNTER_MST_REQS_OUTSTANDING_ID &&
              counter < NOCAP_COUNTER_MST_WRITE_REQS_OUTGOING_ID + NOCAP_TRIDS;
    return id && value != NULL && *value != 0 ? NOC_LOOK_OPEN : NOC_LOOK_UNSURE;
}

enum noc_look noc_poll(struct model *m, struct tile *tile, unsigned noc, unsigned counter,
                       const uint32_t *value)
{
    const struct nocap_event *e = m->event;
    struct noc_wait *w = wait_of(tile, e->by);
    enum noc_answer answer;
    if (w == NULL || !answer_of_counter(counter, &answer)) {
        return look_at_id(counter, value);
    }
    struct noc_owed *owed = &tile->noc->noc[noc].owed[answer];
    if (!w->active || w->semaphore || w->noc != noc || w->answer != answer) {
        begin(m, tile, w, noc, answer);
    }
    uint64_t polls = (e->has & NOCAP_F_N) != 0 ? e->n : 1;
    w->polls += polls;
    w->value_known = value != NULL;
    if (value == NULL) {
        return NOC_LOOK_UNSURE;
    }
    w->value = *value;
    bool idle = w->request_count == 0;
    if (!owed->known || (int32_t)(*value - owed->total) > 0) {
        /* The first look, or somebody else's requests: what it shows when idle is the base. */
        owed->known = idle;
        owed->proved = false;
        owed->total = *value;
    }
    w->total_known = owed->known;
    w->total = owed->total;
    if (owed->known && !idle) {
        judge(m, tile, w, polls);
    }
    return look(owed, *value, idle);
}

void noc_wait_begins(struct model *m, struct tile *tile, const struct nocap_event *note)
{
    const struct nocap_note n = nocap_note_read(note);
    if (n.form == NOCAP_NOTE_WAIT && noc_of(m, tile) != NULL) {
        struct noc_wait *w = wait_of(tile, n.by);
        begin(m, tile, w, n.noc, answer_of_op(n.op));
        w->since.agent = n.by;
        w->semaphore = n.op == NOCAP_OP_NONE;
    }
}

void noc_wait_ends(struct tile *tile, unsigned by)
{
    struct noc_wait *w = wait_of(tile, by);
    if (w != NULL) {
        w->active = false;
    }
}

const struct noc_wait *noc_waiting(const struct tile *tile, unsigned by)
{
    const struct noc_wait *w = tile->noc == NULL || !nocap_is_core(by)
                                   ? NULL
                                   : &tile->noc->waits[nocap_core(by)->processor];
    bool reached = w != NULL && w->value_known && w->total_known && w->value == w->total &&
                   w->settled < SETTLED_POLLS;
    return w == NULL || !w->active || reached ? NULL : w;
}
