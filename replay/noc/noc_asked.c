/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked for, and will arrive. Rule NOC-047 compares it with what does. */
#include "replay/noc/noc_landings.h"

enum { ATOMIC_WORDS = 16 }; /* an atomic is a 16-byte piece of memory for who captures it */

/* The worker tiles that a request certainly reaches for. Whether a multicast leaves out its sender
 * is known by CTRL alone. */
static uint32_t count_tiles(const struct model *m, struct noc_part *part, struct noc_waited *w,
                            const struct nocap_event *e)
{
    const bool one = nocap_xy_equal(w->to, w->to_other);
    const bool own = one || (e->ctrl & NOCAP_CTRL_BROADCAST_SOURCE) != 0;
    uint32_t count = 0;
    for (struct nocap_tiles t = nocap_tiles(w->to, w->to_other); !t.over; nocap_next_tile(&t)) {
        const bool self = nocap_xy_equal(t.at, e->at), worker = tile_is_worker(m, t.at);
        count += worker && (!self || own);
        part->elsewhere |= (uint8_t)(worker ? 0 : 1u << model_tile_kind(m, t.at));
        w->may_return |= self && !own && (e->has & NOCAP_F_CTRL) == 0;
    }
    w->sender = e->at;
    return count;
}

/* What arrives there would be observed. */
static bool sees_arrival(const struct model *m, uint16_t chip, const struct nocap_noc_ends *ends)
{
    const struct tile *to = m->header->has_scope ? tile_find(m, chip, ends->to) : NULL;
    bool one = nocap_xy_equal(ends->to, ends->to_other);
    return !m->header->has_scope || (one && to != NULL && to->in_scope);
}

static void wait_for(struct noc_landings *l, const struct noc_waited *w)
{
    if (w->tiles == 0) {
        return;
    }
    l->marks[l->count % WAITED] = (uint8_t)w->id;
    struct noc_waited *slot = &l->waited[l->count++ % WAITED];
    if (l->count > WAITED && !is_over(slot)) {
        l->lost = true;
        l->lost_t = slot->at.t;
    }
    *slot = *w;
}

static void take_piece(struct noc_waited *w, uint64_t addr)
{
    w->addr = addr - addr % ATOMIC_WORDS;
    w->end = w->addr + ATOMIC_WORDS;
}

/* What an atomic finds comes back to where it says. */
static void wait_for_result(const struct model *m, struct noc_part *part, struct noc_landings *l,
                            struct noc_waited w, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    if ((e->has & NOCAP_F_RET) != 0 && (e->has & NOCAP_F_RADDR) != 0) {
        w.to = w.to_other = o->ends->raw ? nocap_noc1_raw(e->ret) : e->ret;
        w.must_arrive = false;
        take_piece(&w, e->raddr);
        w.tiles = count_tiles(m, part, &w, e);
        wait_for(l, &w);
    }
}

/* Who asks, and in which source that is said. */
static void note_asker(struct noc_state *s, struct noc_part *part, const struct nocap_event *e)
{
    s->src = s->asked ? s->src : e->src;
    s->sources |= s->src != e->src;
    s->asked = true;
    part->opaque |= part->asks && part->src != e->src;
    part->since = part->asks ? part->since : e->t;
    part->src = e->src;
    part->asks = true;
}

void noc_landing_request(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    const struct nocap_noc_ends *ends = o->ends;
    struct noc_part *part = noc_part(o->tile);
    const bool read = e->op == NOCAP_OP_READ, atomic = e->op == NOCAP_OP_ATOMIC;
    const bool word = atomic || e->op == NOCAP_OP_INLINE;
    const bool sized = word || ((e->has & NOCAP_F_SIZE) != 0 && e->size > 0);
    const bool memory = (e->daddr & m->profile->queue.pcie_address_bit) != 0;
    const bool wraps = ends->to.x > ends->to_other.x || ends->to.y > ends->to_other.y;
    note_asker(noc_state(m), part, e);
    if (!ends->to_known || wraps || !sized || (e->has & NOCAP_F_DADDR) == 0) {
        part->opaque = true;
        return;
    }
    struct noc_landings *l = noc_landings_of(m, memory ? &part->memory : &part->landings);
    if (l == NULL) {
        return;
    }
    uint64_t size = word ? NOCAP_NIU_MMIO_SIZE : e->size;
    const fault_id since = m->faults > m->faults_before ? m->faults_before + 1 : FAULT_NONE;
    struct noc_waited w = {.at = now(m),
                           .id = e->id,
                           .has_id = (e->has & NOCAP_F_ID) != 0,
                           .addr = e->daddr,
                           .end = e->daddr + size,
                           .next = e->daddr,
                           .since = since,
                           .answered = read || (e->op != NOCAP_OP_INLINE && !e->posted),
                           .kind = (uint8_t)nocap_requests_of(e->op),
                           .noc = e->noc,
                           .by = e->by,
                           .sum = NOCAP_FNV1A64_START,
                           .tiles = 1,
                           .to = MEMORY,
                           .to_other = MEMORY};
    const struct access bytes = access_of_event(e, e->daddr, size);
    /* where so many did not show, nothing arrives that bytes could be compared with; hashing them
     * is 2 % of the checking of a queue, and more where payloads are long */
    bool compared = m->landings || memory || l->count < WAITED;
    w.has_hash = compared && !atomic && hash_of(&bytes, &w.hash);
    w.must_arrive =
        e->op != NOCAP_OP_INLINE && w.end <= NOCAP_L1_SIZE && sees_arrival(m, e->chip, ends);
    if (atomic) {
        take_piece(&w, e->daddr);
    }
    w.back = w.end;
    w.rest = w.hash;
    if (memory) {
        part->elsewhere |= 1u << NOCAP_TILE_PCIE;
    } else {
        w.to = ends->to;
        w.to_other = ends->to_other;
        w.tiles = count_tiles(m, part, &w, e);
    }
    wait_for(l, &w);
    if (atomic) {
        wait_for_result(m, part, l, w, o);
    }
}
