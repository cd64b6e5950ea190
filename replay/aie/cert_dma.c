/* SPDX-License-Identifier: Apache-2.0 */
/* The uC-DMA: chains of descriptors, what they write, the handles that stand for them. */
#include <string.h>

#include "replay/aie/cert_private.h"

struct cert_chain *cert_chain(struct cert_uc *uc, uint64_t number)
{
    struct cert_chain *chain = &uc->chains[number % CERT_CHAINS];
    return number != 0 && chain->number == number ? chain : NULL;
}

/* The oldest one that is remembered, and is after `chain`; NULL: the first. */
static struct cert_chain *next_chain(struct cert_uc *uc, const struct cert_chain *chain)
{
    uint64_t oldest = uc->chain_count < CERT_CHAINS ? 1 : uc->chain_count - CERT_CHAINS + 1;
    return cert_chain(uc, chain == NULL ? oldest : chain->number + 1);
}

struct cert_chain *cert_chain_open(struct cert_uc *uc, const struct cert_chain *chain)
{
    struct cert_chain *next = uc->open_chains == 0 ? NULL : next_chain(uc, chain);
    while (next != NULL && next->done) {
        next = next_chain(uc, next);
    }
    return next;
}

/* The newest chain of that handle. */
const struct cert_chain *cert_chain_by_handle(const struct cert_uc *uc, uint32_t handle)
{
    for (uint64_t n = uc->chain_count; n > 0 && n + CERT_CHAINS > uc->chain_count; n--) {
        const struct cert_chain *chain = &uc->chains[n % CERT_CHAINS];
        if (chain->has_handle && chain->handle == handle) {
            return chain;
        }
    }
    return NULL;
}

static void take_handle(struct cert_uc *uc, struct cert_chain *chain)
{
    chain->has_handle = uc->next_handle.known;
    chain->handle = uc->next_handle.v++;
}

void cert_dma_start(struct model *m, const struct cert_at *at)
{
    struct cert_step *step = &at->job->step;
    bool sync = step->info->opcode == NOCAP_AIE_UC_DMA_WRITE_DES_SYNC;
    uint32_t pointer = sync ? CERT_V(step, UC_DMA_WRITE_DES_SYNC, descriptor_ptr)
                            : CERT_V(step, UC_DMA_WRITE_DES, descriptor_ptr);
    struct cert_chain *chain = &at->uc->chains[++at->uc->chain_count % CERT_CHAINS];
    at->uc->open_chains -= chain->number != 0 && !chain->done ? 1 : 0; /* forgotten */
    at->uc->open_chains++;
    *chain = (struct cert_chain){.number = at->uc->chain_count,
                                 .known = at->page->code != NULL,
                                 .since = step->since,
                                 .at = cert_now(m, at->uc),
                                 .code = at->page->code,
                                 .patched = cert_patched(at->uc, at->page->index),
                                 .first = pointer + NOCAP_AIE_HEADER_SIZE,
                                 .work.bd = pointer + NOCAP_AIE_HEADER_SIZE};
    take_handle(at->uc, chain);
    step->chain = chain->number;
}

void cert_dma_queued(struct cert_uc *uc, struct cert_step *step, const struct nocap_event *e)
{
    struct cert_chain *chain = step == NULL ? NULL : cert_chain(uc, step->chain);
    uint32_t handle = (uint32_t)e->handle;
    if ((e->has & NOCAP_F_HANDLE) == 0 || (step != NULL && chain == NULL)) {
        return;
    }
    if (chain != NULL) {
        chain->handle = handle;
        chain->has_handle = true;
    }
    if (!uc->next_handle.known || handle >= uc->next_handle.v) {
        value_set(&uc->next_handle, handle + 1);
    }
}

void cert_dma_blocked(struct cert_uc *uc, const struct cert_step *step)
{
    struct cert_chain *chain = cert_chain(uc, step->chain);
    if (chain != NULL && chain->has_handle && step->why == NOCAP_WHY_QUEUE) {
        chain->has_handle = false;
        uc->next_handle.known &= chain->handle + 1 == uc->next_handle.v;
        uc->next_handle.v = chain->handle;
    } else if (chain != NULL && !chain->has_handle && step->why == NOCAP_WHY_DMA) {
        take_handle(uc, chain);
    }
}

/* ---- what a chain writes ---- */

struct piece {
    uint64_t addr;
    const uint8_t *bytes;
    uint32_t at, size; /* at: offset of the bytes in the page */
};

static bool bytes_known(const struct cert_chain *chain, uint32_t at, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        if (cert_is_patched(chain->patched, at + i)) {
            return false;
        }
    }
    return true;
}

/* What the chain writes next; false at its end, or if it is not known. */
static bool next_piece(struct cert_chain *chain, struct piece *piece)
{
    struct nocap_aie_bd bd;
    struct cert_progress *w = &chain->work;
    for (; chain->known && !w->written; w->bd += NOCAP_AIE_BD_SIZE) {
        if (w->bd > NOCAP_AIE_PAGE_SIZE - NOCAP_AIE_BD_SIZE ||
            !bytes_known(chain, w->bd, NOCAP_AIE_BD_SIZE)) {
            return chain->known = false;
        }
        nocap_aie_bd_decode(chain->code->bytes + w->bd, &bd);
        uint32_t local = w->bd + bd.local, size = bd.length * 4;
        if (bd.external || !bd.local_relative || local > NOCAP_AIE_PAGE_SIZE ||
            size > NOCAP_AIE_PAGE_SIZE - local) {
            return chain->known = false;
        }
        if (w->bytes < size) {
            *piece = (struct piece){.addr = bd.remote + w->bytes,
                                    .bytes = chain->code->bytes + local + w->bytes,
                                    .at = local + w->bytes,
                                    .size = size - w->bytes};
            return true;
        }
        w->bytes = 0;
        w->written = !bd.next;
    }
    return false;
}

static bool same_data(const struct cert_chain *chain, const struct piece *piece,
                      const struct access *a)
{
    for (uint64_t i = 0; i < a->known; i++) {
        if (a->bytes[i] != piece->bytes[i] &&
            !cert_is_patched(chain->patched, piece->at + (uint32_t)i)) {
            return false;
        }
    }
    return true;
}

/* Whether this may be the next write of the chain; its data count only if they are asked for. */
static bool may_write(struct cert_chain *chain, const struct access *a, bool data,
                      struct piece *piece)
{
    return next_piece(chain, piece) && piece->addr == a->addr && a->size != 0 &&
           a->size <= piece->size && (!data || same_data(chain, piece, a));
}

static bool same_descriptors(const struct cert_chain *a, const struct cert_chain *b)
{
    return a->code == b->code && a->first == b->first;
}

/* Whether the write may be that of another chain too, one that differs: then neither is known any
 * more. */
static bool ambiguous(struct cert_uc *uc, struct cert_chain *chain, const struct access *a)
{
    struct piece piece;
    bool found = false;
    for (struct cert_chain *c = chain; (c = cert_chain_open(uc, c)) != NULL;) {
        /* of twins it does not matter which of the two made it */
        if (may_write(c, a, true, &piece) &&
            !(same_descriptors(chain, c) && chain->known && c->known)) {
            c->known = false;
            found = true;
        }
    }
    chain->known &= !found;
    return found;
}

bool cert_dma_write(struct model *m, struct cert_uc *uc, const struct access *a, bool wrong)
{
    struct piece piece;
    struct cert_chain *chain = cert_chain_open(uc, NULL);
    while (chain != NULL && !may_write(chain, a, !wrong, &piece)) {
        chain = cert_chain_open(uc, chain);
    }
    if (chain == NULL) {
        return false;
    }
    if (wrong) {
        CERT_EXPECT_AFTER(m, uc, AIE_067, chain->since, false, RELATED(chain->at.index),
                          "the data of the descriptor",
                          "%u bytes written to 0x%llx differ from the page's at offset %u",
                          (unsigned)a->size, (unsigned long long)a->addr, piece.at);
    } else if (ambiguous(uc, chain, a)) {
        return true;
    }
    chain->work.bytes += (uint32_t)a->size;
    return true;
}

void cert_dma_disturb(struct cert_uc *uc, fault_id since)
{
    for (struct cert_chain *c = NULL; (c = cert_chain_open(uc, c)) != NULL;) {
        c->since = either(c->since, since);
    }
}

/* ---- ends ---- */

/* The chain that a handle stands for: if only one has no handle yet, it is that one. */
static struct cert_chain *owner(struct cert_uc *uc, uint32_t handle)
{
    const struct cert_chain *by_handle = cert_chain_by_handle(uc, handle);
    struct cert_chain *lone = NULL;
    unsigned count = 0;
    if (by_handle != NULL) {
        return cert_chain(uc, by_handle->number);
    }
    for (struct cert_chain *c = NULL; (c = cert_chain_open(uc, c)) != NULL;) {
        lone = c->has_handle ? lone : c;
        count += !c->has_handle;
    }
    if (count != 1) {
        return NULL;
    }
    lone->handle = handle;
    lone->has_handle = true;
    return lone;
}

/* Gives a chain the progress of a twin that has written all, if it has not itself. Where that of
 * the twin is not known, its own is not either: the writes may have been its own. */
static void take_twin(struct cert_uc *uc, struct cert_chain *chain)
{
    struct piece piece;
    for (struct cert_chain *c = NULL; (c = cert_chain_open(uc, c)) != NULL;) {
        bool twin = same_descriptors(chain, c) && next_piece(chain, &piece);
        if (!twin || next_piece(c, &piece)) {
            continue;
        }
        if (!c->known) {
            chain->known = false;
        } else {
            const struct cert_progress own = chain->work;
            chain->work = c->work;
            c->work = own;
        }
    }
}

void cert_dma_done(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_chain *chain = owner(uc, (uint32_t)e->handle);
    struct piece piece;
    if (chain == NULL || chain->done) {
        return;
    }
    take_twin(uc, chain);
    bool more = next_piece(chain, &piece);
    if (chain->known) {
        CERT_EXPECT_AFTER(m, uc, AIE_067, chain->since, !more, RELATED(chain->at.index),
                          "a transfer to write all of its chain before it is done",
                          "handle %u is done, %u bytes at 0x%llx were not written", chain->handle,
                          piece.size, (unsigned long long)piece.addr);
    }
    chain->done = true;
    uc->open_chains--;
}
