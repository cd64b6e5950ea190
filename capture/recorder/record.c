/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that record: no allocation, no lock, no system call but to wake the writer. */
#include <string.h>
#include <time.h>

#include "capture/recorder/recorder.h"

/* The ring that the thread used last. Initial-exec: a load, also in a library. */
static _Thread_local struct {
    uint64_t capture_id;
    struct thread_ring *ring;
    uint64_t refused_id; /* the capture that had no ring for it, when so many were given back */
    uint64_t refused_at;
} current __attribute__((tls_model("initial-exec")));

enum { WAKES_A_RING = 4, WAIT_NANOSECONDS = 20000 };

void capture_forget(void)
{
    current.capture_id = 0;
}

/* An event that has no place; counted, told of with the next one that has. */
static void drop(struct thread_ring *r)
{
    atomic_fetch_add_explicit(&r->shared->dropped, 1, memory_order_release);
    r->stop = 0;
}

/* Tells of drops in a record of its own. */
static void announce(struct thread_ring *r, uint64_t t)
{
    struct ring_dropped *d = (void *)(r->base + (r->head & r->mask));
    uint64_t total = atomic_load_explicit(&r->shared->dropped, memory_order_relaxed);
    *d = (struct ring_dropped){.word = {.words = sizeof *d / 8, .format = RING_DROPPED},
                               .t = t,
                               .src = r->src,
                               .total = total};
    r->head += sizeof *d;
    r->announced = total;
    atomic_store_explicit(&r->shared->head, r->head, memory_order_release);
}

/* Whether `bytes` fit behind the head; sets where to look again, and wakes the writer. */
static bool make_room(struct nocap_capture *c, struct thread_ring *r, uint64_t bytes, uint64_t t)
{
    uint64_t size = r->mask + 1, step = size / WAKES_A_RING;
    bool pending = atomic_load_explicit(&r->shared->dropped, memory_order_relaxed) != r->announced;
    uint64_t need = bytes + (pending ? sizeof(struct ring_dropped) : 0);
    for (;;) {
        if (atomic_load_explicit(&c->stopped, memory_order_relaxed) || need > size / 2) {
            return false;
        }
        uint64_t tail = atomic_load_explicit(&r->shared->tail, memory_order_acquire);
        bool fits = r->head + need <= tail + size;
        if (r->head - tail >= step) {
            sem_post(&c->wake);
        }
        if (fits) {
            if (pending) {
                announce(r, t);
            }
            uint64_t next = (r->head + bytes + step) / step * step;
            r->stop = next < tail + size ? next : tail + size;
            return true;
        }
        if (c->policy == NOCAP_CAPTURE_DROP) {
            return false;
        }
        atomic_store(&c->hurry, true);
        sem_post(&c->wake);
        nanosleep(&(struct timespec){0, WAIT_NANOSECONDS}, NULL);
    }
}

static inline uint64_t stamp(const struct nocap_capture *c)
{
    return __builtin_expect(c->clock == NOCAP_CAPTURE_CLOCK_TSC, 1)
               ? capture_raw_time(c->tsc)
               : atomic_load_explicit(&c->user_time, memory_order_relaxed);
}

/* The thread's first event here. One that got no ring asks again only when there may be one: asking
 * takes system calls. */
static struct thread_ring *first_ring(struct nocap_capture *c)
{
    uint64_t released = atomic_load(&c->released);
    if (current.refused_id == c->id && current.refused_at == released) {
        if (c->file != NULL) {
            atomic_fetch_add_explicit(&c->file->lost, 1, memory_order_relaxed);
        }
        return NULL;
    }
    struct thread_ring *r = capture_claim(c);
    if (r == NULL) {
        current.refused_id = c->id;
        current.refused_at = released;
    }
    return r;
}

/* A place for a record of `bytes`, NULL: dropped. Ends with publish. */
static inline void *reserve(struct nocap_capture *c, uint64_t bytes, uint64_t t,
                            struct thread_ring **ring)
{
    struct thread_ring *r = current.ring;
    if (__builtin_expect(current.capture_id != c->id, 0)) {
        r = first_ring(c);
        if (r == NULL) {
            return NULL;
        }
        current.ring = r;
        current.capture_id = c->id;
    }
    if (__builtin_expect(r->busy != 0, 0)) {
        drop(r);
        return NULL;
    }
    r->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(r->head + bytes > r->stop, 0) && !make_room(c, r, bytes, t)) {
        drop(r);
        r->busy = 0;
        return NULL;
    }
    *ring = r;
    return r->base + (r->head & r->mask);
}

static inline bool publish(struct thread_ring *r, uint64_t bytes)
{
    r->head += bytes;
    atomic_store_explicit(&r->shared->head, r->head, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    r->busy = 0;
    return true;
}

void nocap_capture_set_time(struct nocap_capture *c, uint64_t t)
{
    atomic_store_explicit(&c->user_time, t, memory_order_relaxed);
}

/* ---- accesses ---- */

static inline uint8_t place_has(const struct nocap_place *p)
{
    bool tile = p->space == NOCAP_SPACE_TILE;
    return (uint8_t)((tile ? RING_HAS_AT : RING_HAS_SPACE) |
                     (tile && p->multicast ? RING_HAS_TO : 0) |
                     (p->has_window ? RING_HAS_NOC | RING_HAS_ORDER | RING_HAS_MAP : 0));
}

static inline bool record_access(struct nocap_capture *c, unsigned kind, struct nocap_place p,
                                 unsigned by, uint64_t addr, unsigned size, uint64_t value)
{
    struct thread_ring *r;
    uint64_t t = stamp(c);
    struct ring_access *a = reserve(c, sizeof *a, t, &r);
    if (a == NULL) {
        return false;
    }
    uint8_t has = place_has(&p);
    a->word = (struct ring_word){sizeof *a / 8, RING_ACCESS, p.chip};
    a->t = t;
    a->src = r->src;
    a->at = (has & RING_HAS_AT) != 0 ? p.at : (struct nocap_xy){0, 0};
    a->to = (has & RING_HAS_TO) != 0 ? p.to : (struct nocap_xy){0, 0};
    a->kind = (uint8_t)kind;
    a->by = (uint8_t)by;
    a->space = p.space;
    a->size = (uint8_t)size;
    a->noc = p.noc;
    a->order = p.order;
    a->map = p.map;
    a->has = has;
    a->addr = addr;
    a->value = value;
    return publish(r, sizeof *a);
}

bool nocap_capture_write(struct nocap_capture *c, struct nocap_place place, unsigned by,
                         uint64_t addr, unsigned size, uint64_t value)
{
    return record_access(c, NOCAP_EV_WRITE, place, by, addr, size, value);
}

bool nocap_capture_read(struct nocap_capture *c, struct nocap_place place, unsigned by,
                        uint64_t addr, unsigned size, uint64_t value)
{
    return record_access(c, NOCAP_EV_READ, place, by, addr, size, value);
}

/* ---- any event ---- */

bool nocap_recorder_event(struct nocap_capture *c, const struct nocap_event *e)
{
    uint32_t slots = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < NOCAP_SLOTS; i++) {
        slots |= e->slot[i] != 0 ? 1u << i : 0;
        count += e->slot[i] != 0;
    }
    struct thread_ring *r;
    uint64_t t = c->clock == NOCAP_CAPTURE_CLOCK_USER && e->t != 0 ? e->t : stamp(c);
    uint64_t bytes = (sizeof(struct ring_event) + count * 8 + e->data_size + 7) & ~UINT64_C(7);
    struct ring_event *to = reserve(c, bytes, t, &r);
    if (to == NULL) {
        return false;
    }
    *to = (struct ring_event){.word = {(uint32_t)(bytes / 8), RING_EVENT, e->chip},
                              .t = t,
                              .has = e->has,
                              .src = r->src,
                              .data_size = e->data_size,
                              .at = e->at,
                              .to = e->to,
                              .slots = (uint16_t)slots};
    memcpy(to->what, &e->kind, sizeof to->what);
    uint64_t *word = (uint64_t *)(to + 1);
    for (uint32_t rest = slots; rest != 0; rest &= rest - 1) {
        *word++ = e->slot[__builtin_ctz(rest)];
    }
    if (e->data_size != 0) {
        memcpy(word, e->data, e->data_size);
    }
    return publish(r, bytes);
}
