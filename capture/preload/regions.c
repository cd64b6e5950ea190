/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses stand for device memory. Looked up in signal handlers: a table that readers copy
 * from without a lock, and try again if it changed meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/preload/preload.h"

static struct region table[REGIONS_MAX]; /* by start */
static _Atomic unsigned count;
static _Atomic uint32_t version; /* odd: it is being changed */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;

/* A handler of the changing thread must not look meanwhile. */
static void begin(sigset_t *before)
{
    sigset_t every;
    sigfillset(&every);
    next()->pthread_sigmask(SIG_SETMASK, &every, before);
    pthread_mutex_lock(&changes);
    atomic_fetch_add(&version, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

static void end(const sigset_t *before)
{
    atomic_fetch_add(&version, 1);
    pthread_mutex_unlock(&changes);
    next()->pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The first region that ends after `address`. */
static unsigned position(uintptr_t address)
{
    unsigned low = 0, high = atomic_load_explicit(&count, memory_order_relaxed);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (table[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t region_version(void)
{
    return atomic_load_explicit(&version, memory_order_acquire);
}

/* Copies it. */
bool region_next(uintptr_t address, struct region *region, uint32_t *at_version)
{
    for (;;) {
        uint32_t before = *at_version = atomic_load(&version);
        unsigned i = position(address);
        bool any = i < atomic_load_explicit(&count, memory_order_relaxed) && i < REGIONS_MAX;
        if (any) {
            memcpy(region, &table[i], sizeof *region);
        }
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && atomic_load(&version) == before) {
            return any;
        }
    }
}

bool region_find(uintptr_t address, struct region *region)
{
    uint32_t v;
    return region_next(address, region, &v) && region->start <= address;
}

bool region_overlaps(uintptr_t start, size_t size)
{
    struct region region;
    uint32_t v;
    return atomic_load_explicit(&count, memory_order_relaxed) != 0 && size != 0 &&
           region_next(start, &region, &v) && region.start < start + size;
}

static void insert(unsigned at, const struct region *region)
{
    unsigned n = atomic_load(&count);
    memmove(&table[at + 1], &table[at], (n - at) * sizeof *table);
    table[at] = *region;
    atomic_store(&count, n + 1);
}

static bool has_room(void)
{
    return atomic_load(&count) + 1 < REGIONS_MAX;
}

bool region_add(const struct region *region)
{
    sigset_t before;
    begin(&before);
    bool room = has_room();
    if (room) {
        insert(position(region->start), region);
    }
    end(&before);
    return room;
}

static void erase(unsigned at)
{
    unsigned n = atomic_load(&count);
    memmove(&table[at], &table[at + 1], (n - at - 1) * sizeof *table);
    atomic_store(&count, n - 1);
}

/* Unmaps a part, or all, of the device's side. False: there is no room, or the driver refuses: it
 * keeps windows whole. */
static bool take_out(unsigned at, uintptr_t from, uintptr_t to)
{
    struct region *r = &table[at], tail = *r;
    bool head = r->start < from, rest = to < r->end;
    if (head && rest && !has_room()) {
        errno = ENOMEM;
        return false;
    }
    if (next()->munmap(r->alias + (from - r->start), to - from) != 0) {
        return false;
    }
    tail.alias += to - r->start;
    tail.offset += to - r->start;
    tail.start = to;
    if (head) {
        r->end = from;
        if (rest) {
            insert(at + 1, &tail);
        }
    } else if (rest) {
        *r = tail;
    } else {
        erase(at);
    }
    return true;
}

/* Parts first: where one is refused, all that is whole stays. */
bool region_remove(uintptr_t start, size_t size)
{
    sigset_t before;
    uintptr_t stop = start + size;
    bool done = true;
    begin(&before);
    for (unsigned pass = 0; pass < 2; pass++) {
        unsigned i = position(start);
        while (done && i < atomic_load(&count) && table[i].start < stop) {
            const struct region *r = &table[i];
            bool whole = r->start >= start && r->end <= stop;
            if (whole && pass == 0) {
                i++;
            } else {
                done =
                    take_out(i, r->start > start ? r->start : start, r->end < stop ? r->end : stop);
                i = position(start);
            }
        }
    }
    end(&before);
    return done;
}

bool region_release(uintptr_t address)
{
    sigset_t before;
    bool done = true;
    begin(&before);
    unsigned i = position(address);
    if (i < atomic_load(&count) && table[i].start <= address) {
        struct region r = table[i];
        size_t size = r.end - r.start;
        done = next()->mremap(r.alias, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                              (void *)r.start) != MAP_FAILED;
        if (done) {
            erase(i);
        }
    }
    end(&before);
    return done;
}
