/* SPDX-License-Identifier: Apache-2.0 */
/* What the host wrote to the issue region and has not published yet. */
#include <string.h>

#include "replay/cq/cq_private.h"

static struct cq_span *span_at(struct cq *q, uint64_t number)
{
    return &q->host.spans[number % CQ_SPANS];
}

/* Of an earlier write nothing is left, or another part of its bytes is. True: all of `a` is in it.
 */
static bool overwrite(struct cq *q, struct cq_span *s, const struct access *a, uint32_t known)
{
    uint64_t end = a->addr + a->size, last = (uint64_t)s->addr + s->size;
    if (s->taken || end <= s->addr || last <= a->addr) {
        return false;
    }
    if (a->addr <= s->addr && last <= end) {
        s->taken = true;
        return false;
    }
    uint32_t from = a->addr > s->addr ? (uint32_t)a->addr : s->addr;
    uint32_t at = from - s->addr, skip = from - (uint32_t)a->addr;
    uint32_t size = (uint32_t)(last < end ? last : end) - from;
    uint32_t have = known > skip ? known - skip : 0;
    uint32_t room = s->known > at ? s->known - at : 0, n = have < size ? have : size;
    uint8_t *bytes = cq_arena_at(&q->host.heads, s->start);
    if (bytes != NULL && room != 0) {
        memcpy(bytes + at, a->bytes + skip, n < room ? n : room);
    }
    s->known = n < size && n < room ? at + n : s->known; /* of what follows nothing is known */
    return s->addr <= a->addr && end <= last;
}

void cq_span_remember(struct cq *q, const struct access *a)
{
    struct cq_host *h = &q->host;
    uint32_t known = (uint32_t)(a->known < CQ_HEAD ? a->known : CQ_HEAD);
    bool inside = false;
    for (uint64_t n = h->span_count; n > h->span_first && h->span_count - n < CQ_SCAN; n--) {
        inside |= overwrite(q, span_at(q, n - 1), a, known);
    }
    if (inside) {
        return;
    }
    if (h->span_count - h->span_first == CQ_SPANS) {
        h->span_first++;
        h->spans_lost = true;
    }
    if (h->span_count == h->span_first) {
        h->heads.used = 0; /* bytes of no write are needed any more: the same lines of the cache */
    }
    struct cq_span *s = span_at(q, h->span_count++);
    *s = (struct cq_span){.addr = (uint32_t)a->addr,
                          .size = (uint32_t)(a->size < CQ_ARENA ? a->size : CQ_ARENA),
                          .known = known,
                          .start = cq_arena_put(&h->heads, a->bytes, known)};
}

static const uint8_t *span_bytes(const struct cq *q, const struct cq_span *s)
{
    return cq_arena_at(&q->host.heads, s->start);
}

/* The unpublished write that holds `addr`, sought from number `from` on. */
static bool find_span(struct cq *q, uint32_t addr, uint64_t from, uint64_t *number)
{
    struct cq_host *h = &q->host;
    uint64_t count = h->span_count - h->span_first;
    for (uint64_t i = 0; i < count; i++) {
        if (i == CQ_SCAN) {
            h->spans_lost = true; /* far more than a host has under way */
            break;
        }
        uint64_t n = h->span_first + (from - h->span_first + i) % count;
        const struct cq_span *s = span_at(q, n);
        if (!s->taken && s->addr <= addr && addr - s->addr < s->size) {
            *number = n;
            return true;
        }
    }
    return false;
}

struct cq_gathered cq_span_gather(struct cq *q, uint32_t addr, uint32_t size)
{
    struct cq_host *h = &q->host;
    struct cq_gathered g = {0, 0};
    uint64_t number = h->span_first;
    while (g.covered < size && find_span(q, addr + g.covered, number, &number)) {
        struct cq_span *s = span_at(q, number);
        const uint8_t *bytes = span_bytes(q, s);
        uint32_t skip = addr + g.covered - s->addr;
        uint32_t got = s->size - skip, have = s->known > skip ? s->known - skip : 0;
        if (g.known == g.covered && g.known < CQ_HEAD && bytes != NULL) {
            uint32_t n = have < CQ_HEAD - g.known ? have : CQ_HEAD - g.known;
            memcpy(h->head + g.known, bytes + skip, n);
            g.known += n;
        }
        uint32_t used = skip + (got < size - g.covered ? got : size - g.covered);
        s->addr += used; /* perhaps commands follow that are in the same write */
        s->start += used;
        s->known = s->known > used ? s->known - used : 0;
        s->size -= used;
        s->taken = s->size == 0;
        g.covered += got;
    }
    while (h->span_first < h->span_count && span_at(q, h->span_first)->taken) {
        h->span_first++;
    }
    g.known = g.known < size ? g.known : size;
    return g;
}

void cq_span_late(struct cq *q, struct cq_record *r, const struct access *a)
{
    const uint64_t from = a->addr > r->addr ? a->addr : r->addr;
    const uint64_t end = (uint64_t)r->addr + r->size, last = a->addr + a->size;
    const uint32_t size = (uint32_t)((last < end ? last : end) - from);
    struct cq_gathered g = cq_span_gather(q, (uint32_t)from, size);
    r->unwritten -= size < r->unwritten ? size : r->unwritten;
    if (from == r->addr) {
        cq_publish_late(q, r, q->host.head, g.known);
    }
}

/* The bytes of the entry that a host's write begins, by its first command; 0: it does not begin
 * one. Data can look like the header of a command, so all of the header must be right. */
static uint32_t entry_of(const struct cq *q, const struct cq_span *s,
                         const struct nocap_cq_command *c, const uint8_t *bytes)
{
    const uint32_t align = q->numbers->record_align;
    bool relay = c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE &&
                 nocap_cq_align(c->length + NOCAP_CQ_HEADER, align) == c->stride;
    bool ends = c->id == NOCAP_CQ_PREFETCH_TERMINATE;
    uint64_t own = relay ? c->stride : align;
    uint64_t size = q->numbers->inline_only != 0 ? own : s->size; /* several are written at once */
    bool fits = size >= own && size <= q->numbers->entry_max;
    return fits && (relay || ends) && nocap_cq_padding_zero(c, bytes) ? (uint32_t)size : 0;
}

bool cq_span_other_place(struct cq *q, uint32_t size, uint32_t *addr)
{
    struct cq_host *h = &q->host;
    for (uint64_t n = h->span_first; n < h->span_count && n - h->span_first < CQ_SCAN; n++) {
        struct cq_span *s = span_at(q, n);
        const uint8_t *bytes = span_bytes(q, s);
        struct nocap_cq_command c;
        if (s->taken || bytes == NULL ||
            !nocap_cq_decode_by(q->set, NOCAP_CQ_PREFETCH, bytes, s->known, &c)) {
            continue;
        }
        bool fits = c.stride == size || s->size == size;
        bool guessed = s->addr % q->numbers->record_align == 0 && entry_of(q, s, &c, bytes) == size;
        if (h->cursor.known ? fits : guessed) {
            *addr = s->addr;
            return true;
        }
    }
    return false;
}

void cq_span_forget(struct cq *q)
{
    q->host.span_first = q->host.span_count;
}

bool cq_span_begins(struct cq *q, uint32_t addr)
{
    uint64_t number;
    return find_span(q, addr, q->host.span_first, &number) && span_at(q, number)->addr == addr;
}

/* The bytes of the write that begins at `addr` and was not published; 0: there is none. */
static uint32_t write_at(struct cq *q, uint32_t addr)
{
    uint64_t number;
    bool any = find_span(q, addr, q->host.span_first, &number);
    return any && span_at(q, number)->addr == addr ? span_at(q, number)->size : 0;
}

uint32_t cq_span_record(struct cq *q, uint32_t addr)
{
    uint64_t number;
    struct nocap_cq_command c;
    if (!find_span(q, addr, q->host.span_first, &number) || span_at(q, number)->addr != addr) {
        return 0;
    }
    const struct cq_span *s = span_at(q, number);
    const uint8_t *bytes = span_bytes(q, s);
    bool header =
        bytes != NULL && nocap_cq_decode_by(q->set, NOCAP_CQ_PREFETCH, bytes, s->known, &c);
    return header ? entry_of(q, s, &c, bytes) : 0;
}

bool cq_span_judge_left(struct cq *q, uint32_t size)
{
    struct value *cursor = &q->host.cursor;
    const struct cq_record *last = cq_record(q, cq_entries_back(q, q->published, 1));
    const uint32_t left = cursor->known ? write_at(q, cursor->v) : 0;
    if (last == NULL || left == 0 || left == size || q->numbers->inline_only != 0 ||
        cq_span_record(q, cursor->v + left) != size) {
        return false;
    }
    FOLLOWING(q->m, cursor->since,
              CHECK_AT(q->m, NULL, CQ_004, false, last->at, NO_REFS,
                       "a prefetch_q entry that says the length of its commands",
                       "prefetch_q entry says %u bytes, its commands have %u", last->size,
                       last->size + left));
    (void)cq_span_gather(q, cursor->v, left);
    resync(cursor, cursor->v + left, q->m->fault);
    return true;
}
