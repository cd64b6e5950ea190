/* The uC-DMA: chains of descriptors, what they write, the handles that stand for them. */
#include <string.h>

#include "replay/cert_private.h"

struct cert_chain *cert_chain(struct cert_uc *uc, uint64_t number)
{
    struct cert_chain *chain = &uc->chains[number % CERT_CHAINS];
    return number != 0 && chain->number == number ? chain : NULL;
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
    chain->has_handle = uc->handle_known;
    chain->handle = uc->next_handle++;
}

void cert_dma_start(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                    struct cert_job *job)
{
    struct cert_step *step = &job->step;
    bool sync = step->info->opcode == NOCAP_AIE_UC_DMA_WRITE_DES_SYNC;
    uint32_t pointer = sync ? CERT_V(step, UC_DMA_WRITE_DES_SYNC, descriptor_ptr)
                            : CERT_V(step, UC_DMA_WRITE_DES, descriptor_ptr);
    struct cert_chain *chain = &uc->chains[++uc->chain_count % CERT_CHAINS];
    uc->open_chains -= chain->number != 0 && !chain->done ? 1 : 0; /* forgotten */
    uc->open_chains++;
    *chain = (struct cert_chain){.number = uc->chain_count,
                                 .known = page->code != NULL && !step->doubtful,
                                 .at = cert_now(m, uc),
                                 .job = job->id,
                                 .code = page->code,
                                 .patched = cert_patched(uc, page->index),
                                 .first = pointer + NOCAP_AIE_HEADER_SIZE,
                                 .bd = pointer + NOCAP_AIE_HEADER_SIZE};
    take_handle(uc, chain);
    step->chain = chain->number;
}

void cert_dma_queued(struct cert_uc *uc, struct cert_step *step, const struct nocap_event *e)
{
    struct cert_chain *chain = cert_chain(uc, step->chain);
    if (chain != NULL && (e->has & NOCAP_F_HANDLE) != 0) {
        chain->handle = (uint32_t)e->handle;
        chain->has_handle = true;
        if (!uc->handle_known || chain->handle >= uc->next_handle) {
            uc->next_handle = chain->handle + 1;
            uc->handle_known = true;
        }
    }
}

void cert_dma_refused(struct cert_uc *uc, const struct cert_step *step)
{
    struct cert_chain *chain = cert_chain(uc, step->chain);
    if (chain != NULL && chain->has_handle) {
        chain->has_handle = false;
        uc->handle_known &= chain->handle + 1 == uc->next_handle;
        uc->next_handle = chain->handle;
    }
}

void cert_dma_accepted(struct cert_uc *uc, const struct cert_step *step)
{
    struct cert_chain *chain = cert_chain(uc, step->chain);
    if (chain != NULL && !chain->has_handle) {
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
    while (chain->known && !chain->written) {
        if (chain->bd > NOCAP_AIE_PAGE_SIZE - NOCAP_AIE_BD_SIZE ||
            !bytes_known(chain, chain->bd, NOCAP_AIE_BD_SIZE)) {
            chain->known = false;
            return false;
        }
        nocap_aie_bd_decode(chain->code->bytes + chain->bd, &bd);
        uint32_t local = chain->bd + bd.local, size = bd.length * 4;
        if (bd.external || !bd.local_relative || local > NOCAP_AIE_PAGE_SIZE ||
            size > NOCAP_AIE_PAGE_SIZE - local) {
            chain->known = false;
            return false;
        }
        if (chain->bytes < size) {
            *piece = (struct piece){.addr = bd.remote + chain->bytes,
                                    .bytes = chain->code->bytes + local + chain->bytes,
                                    .at = local + chain->bytes,
                                    .size = size - chain->bytes};
            return true;
        }
        chain->bytes = 0;
        chain->written = !bd.next;
        chain->bd += NOCAP_AIE_BD_SIZE;
    }
    return false;
}

static bool same_data(const struct cert_chain *chain, const struct piece *piece,
                      const struct nocap_event *e)
{
    bool value = (e->has & NOCAP_F_VALUE) != 0;
    const uint8_t *bytes = value ? (const uint8_t *)&e->value : e->data;
    uint64_t known = value ? sizeof e->value : e->data_size;
    for (uint64_t i = 0; i < e->size && i < known; i++) {
        if (bytes[i] != piece->bytes[i] &&
            !cert_is_patched(chain->patched, piece->at + (uint32_t)i)) {
            return false;
        }
    }
    return true;
}

/* Whether this may be the next write of the chain; its data count only if they are asked for. */
static bool may_write(struct cert_chain *chain, const struct nocap_event *e, bool data,
                      struct piece *piece)
{
    return chain != NULL && !chain->done && next_piece(chain, piece) && piece->addr == e->addr &&
           e->size != 0 && e->size <= piece->size && (!data || same_data(chain, piece, e));
}

/* The same descriptors: it does not matter which of the two chains made a write. */
static bool twins(const struct cert_chain *a, const struct cert_chain *b)
{
    return a->code == b->code && a->first == b->first && a->known && b->known;
}

static uint64_t oldest(const struct cert_uc *uc)
{
    return uc->chain_count < CERT_CHAINS ? 1 : uc->chain_count - CERT_CHAINS + 1;
}

/* Whether the write may be that of another chain too, one that differs: then neither is known any
 * more. */
static bool ambiguous(struct cert_uc *uc, struct cert_chain *chain, const struct nocap_event *e)
{
    struct piece piece;
    bool found = false;
    for (uint64_t n = chain->number + 1; n <= uc->chain_count; n++) {
        struct cert_chain *other = cert_chain(uc, n);
        if (may_write(other, e, true, &piece) && !twins(chain, other)) {
            other->known = false;
            found = true;
        }
    }
    chain->known &= !found;
    return found;
}

bool cert_dma_write(struct model *m, struct cert_uc *uc, const struct nocap_event *e, bool wrong)
{
    struct piece piece;
    for (uint64_t n = oldest(uc); uc->open_chains != 0 && n <= uc->chain_count; n++) {
        struct cert_chain *chain = cert_chain(uc, n);
        if (!may_write(chain, e, !wrong, &piece)) {
            continue;
        }
        if (wrong) {
            CERT_EXPECT(m, uc, AIE_067, false, RELATED(chain->at.index),
                        "the data of the descriptor",
                        "%u bytes written to 0x%llx differ from the page's at offset %u",
                        (unsigned)e->size, (unsigned long long)e->addr, piece.at);
        } else if (ambiguous(uc, chain, e)) {
            return true;
        }
        chain->bytes += (uint32_t)e->size;
        return true;
    }
    return false;
}

void cert_dma_doubt(struct cert_uc *uc)
{
    uint64_t n = oldest(uc);
    for (; uc->open_chains != 0 && n <= uc->chain_count; n++) {
        struct cert_chain *chain = cert_chain(uc, n);
        if (chain != NULL && !chain->done) {
            chain->known = false;
        }
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
    uint64_t n = oldest(uc);
    for (; n <= uc->chain_count; n++) {
        struct cert_chain *chain = cert_chain(uc, n);
        if (chain != NULL && !chain->done && !chain->has_handle) {
            lone = chain;
            count++;
        }
    }
    if (count != 1) {
        return NULL;
    }
    lone->handle = handle;
    lone->has_handle = true;
    return lone;
}

/* Gives a chain the progress of a twin that has written all, if it has not itself. */
static void take_twin(struct cert_uc *uc, struct cert_chain *chain)
{
    struct piece piece;
    for (uint64_t n = oldest(uc); n <= uc->chain_count && next_piece(chain, &piece); n++) {
        struct cert_chain *other = cert_chain(uc, n);
        if (other != NULL && !other->done && twins(chain, other) && !next_piece(other, &piece) &&
            other->known) {
            struct cert_chain old = *chain;
            chain->bd = other->bd;
            chain->bytes = other->bytes;
            chain->written = other->written;
            other->bd = old.bd;
            other->bytes = old.bytes;
            other->written = old.written;
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
        CERT_EXPECT(m, uc, AIE_067, !more, RELATED(chain->at.index),
                    "a transfer to write all of its chain before it is done",
                    "handle %u is done, %u bytes at 0x%llx were not written", chain->handle,
                    piece.size, (unsigned long long)piece.addr);
    }
    chain->done = true;
    uc->open_chains--;
}
