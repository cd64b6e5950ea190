/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that record: no allocation, no lock, no system call but to wake the writer. */
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "capture/recorder/recorder.h"

/* The ring that the thread used last. Initial-exec: a load, also in a library. */
static _Thread_local struct {
    uint64_t capture_id;
    struct thread_ring *ring;
    uint64_t refused_id; /* the capture that had no ring for it, when so many were released */
    uint64_t refused_at;
} current __attribute__((tls_model("initial-exec")));

enum { WAKES_A_RING = 4, WAIT_NANOSECONDS = 20000, SHARE_A_READING = 8 };

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

/* Whether `bytes` fit after the head; sets where to look again, and wakes the writer. In its first
 * round a ring wants pages, too, which a thread that had to make them itself would wait for. */
static bool make_room(struct nocap_capture *c, struct thread_ring *r, uint64_t bytes, uint64_t t)
{
    uint64_t size = r->mask + 1;
    const bool fresh = r->head < size;
    const uint64_t step = size / (fresh ? RING_PARTS : WAKES_A_RING);
    bool pending = atomic_load_explicit(&r->shared->dropped, memory_order_relaxed) != r->announced;
    uint64_t need = bytes + (pending ? sizeof(struct ring_dropped) : 0);
    for (;;) {
        if (atomic_load_explicit(&c->stopped, memory_order_relaxed) || need > size / 2) {
            return false;
        }
        uint64_t tail = atomic_load_explicit(&r->shared->tail, memory_order_acquire);
        bool fits = r->head + need <= tail + size;
        if (fresh || r->head - tail >= step) {
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

/* What one thread records is in its order anyway. Where several do, an event must not be stamped
 * before what its thread has just learned from another one, and the processor reads the counter
 * ahead of loads that it still waits for, if it is not told to wait. (A second thread says that
 * there are several before its first event is there, so whoever learns from it sees that too.) */
static inline bool must_wait(const struct nocap_capture *c)
{
    return atomic_load_explicit(&c->several, memory_order_relaxed);
}

static uint64_t stamp(const struct nocap_capture *c)
{
    if (c->clock == NOCAP_CAPTURE_CLOCK_USER) {
        return atomic_load_explicit(&c->user_time, memory_order_relaxed);
    }
    return capture_raw_time(c->tsc, must_wait(c) || current.capture_id != c->id);
}

/* The same where it takes no call. */
static inline bool clock_is_quick(const struct nocap_capture *c)
{
    return c->tsc || c->clock == NOCAP_CAPTURE_CLOCK_USER;
}

static inline uint64_t quick_stamp(const struct nocap_capture *c, struct thread_ring *r)
{
    if (c->clock == NOCAP_CAPTURE_CLOCK_USER) {
        return atomic_load_explicit(&c->user_time, memory_order_relaxed);
    }
    const bool wait = must_wait(c);
    if (c->clock == NOCAP_CAPTURE_CLOCK_TSC_COARSE && r->shares != 0 && !wait) {
        r->shares--;
        return r->reading;
    }
    r->shares = SHARE_A_READING - 1;
    return r->reading = capture_raw_time(true, wait);
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
    r->shares = 0; /* this event's time is a reading of its own */
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

void nocap_recorder_calling(struct nocap_capture *c, bool calling)
{
    atomic_store_explicit(&c->file->ring[0].calling, calling, memory_order_relaxed);
}

/* ---- accesses ---- */

/* The members of struct nocap_place as two numbers, as they come in registers. */
struct place_words {
    uint64_t first;  /* at, to, chip, space, multicast */
    uint32_t window; /* has_window, noc, order, map */
};
_Static_assert(sizeof(struct nocap_place) == 12 && offsetof(struct nocap_place, to) == 2 &&
                   offsetof(struct nocap_place, chip) == 4 &&
                   offsetof(struct nocap_place, space) == 6 &&
                   offsetof(struct nocap_place, multicast) == 7 &&
                   offsetof(struct nocap_place, has_window) == 8 &&
                   offsetof(struct nocap_place, map) == 11,
               "what struct place_words says");
_Static_assert(offsetof(struct ring_access, src) == 16 && offsetof(struct ring_access, to) == 22 &&
                   offsetof(struct ring_access, kind) == 24 &&
                   offsetof(struct ring_access, noc) == 28 &&
                   offsetof(struct ring_access, has) == 31 &&
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "what fill_access says");

static inline struct place_words place_words(struct nocap_place p)
{
    struct place_words words;
    memcpy(&words.first, &p, sizeof words.first);
    memcpy(&words.window, &p.has_window, sizeof words.window);
    return words;
}

/* A record in words: bytes one by one would be the larger part of what a call costs. */
static inline void fill_access(uint64_t *to, uint32_t src, uint64_t t, unsigned kind,
                               struct place_words p, unsigned by, uint64_t addr, unsigned size,
                               uint64_t value)
{
    const uint64_t space = p.first >> 48 & 0xFF, chip = p.first >> 32 & 0xFFFF;
    const bool tile = space == NOCAP_SPACE_TILE, many = tile && p.first >> 56 != 0;
    const uint64_t places = p.first & (many ? UINT32_MAX : tile ? UINT16_MAX : 0);
    const uint64_t has =
        (tile ? RING_HAS_AT : RING_HAS_SPACE) | (many ? RING_HAS_TO : 0) |
        ((p.window & 0xFF) != 0 ? RING_HAS_NOC | RING_HAS_ORDER | RING_HAS_MAP : 0);
    to[0] = sizeof(struct ring_access) / 8 | (uint64_t)RING_ACCESS << 32 | chip << 48;
    to[1] = t;
    to[2] = src | places << 32;
    to[3] = kind | (uint64_t)(by & 0xFF) << 8 | space << 16 | (uint64_t)(size & 0xFF) << 24 |
            (uint64_t)(p.window >> 8) << 32 | has << 56;
    to[4] = addr;
    to[5] = value;
}

/* The lines of the ring that come next are in the cache of the processor that read them a round
 * ago: asked for one by one, with the stores that need them, they would cost more than the rest of
 * a call. A ring is mapped twice, so that this stays in it. */
static inline void fetch_ahead(const uint64_t *record)
{
    enum { AHEAD = 1024 / sizeof *record };
    _Static_assert(AHEAD * sizeof *record < RING_BYTES_MIN, "within the second mapping");
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(record[AHEAD])); /* where it is not known, no operation */
#else
    __builtin_prefetch(record + AHEAD, 1);
#endif
}

/* Where the thread has no ring yet, or no room in it, or is in a call, or the clock is slow. */
static inline bool record_slowly(struct nocap_capture *c, struct nocap_place place, unsigned by,
                                 uint64_t addr, unsigned size, uint64_t value, unsigned kind)
{
    struct thread_ring *r;
    uint64_t t = stamp(c);
    uint64_t *to = reserve(c, sizeof(struct ring_access), t, &r);
    if (to == NULL) {
        return false;
    }
    fill_access(to, r->src, t, kind, place_words(place), by, addr, size, value);
    return publish(r, sizeof(struct ring_access));
}

/* A call with nothing in the way: what reserve, stamp and publish do there. The other calls have
 * the parameters of the one that they stand for, so that nothing has to be kept for them. */
#define RECORD_ACCESS(name, KIND)                                                                  \
    static __attribute__((noinline)) bool slow_##name(                                             \
        struct nocap_capture *c, struct nocap_place place, unsigned by, uint64_t addr,             \
        unsigned size, uint64_t value)                                                             \
    {                                                                                              \
        return record_slowly(c, place, by, addr, size, value, KIND);                               \
    }                                                                                              \
    bool nocap_capture_##name(struct nocap_capture *c, struct nocap_place place, unsigned by,      \
                              uint64_t addr, unsigned size, uint64_t value)                        \
    {                                                                                              \
        struct thread_ring *r = current.ring;                                                      \
        if (__builtin_expect(current.capture_id != c->id || r->busy != 0 || !clock_is_quick(c) ||  \
                                 r->head + sizeof(struct ring_access) > r->stop,                   \
                             0)) {                                                                 \
            return slow_##name(c, place, by, addr, size, value);                                   \
        }                                                                                          \
        r->busy = 1;                                                                               \
        atomic_signal_fence(memory_order_seq_cst);                                                 \
        uint64_t *const to = (uint64_t *)(r->base + (r->head & r->mask));                          \
        fetch_ahead(to);                                                                           \
        fill_access(to, r->src, quick_stamp(c, r), KIND, place_words(place), by, addr, size,       \
                    value);                                                                        \
        return publish(r, sizeof(struct ring_access));                                             \
    }
RECORD_ACCESS(write, NOCAP_EV_WRITE)
RECORD_ACCESS(read, NOCAP_EV_READ)

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
