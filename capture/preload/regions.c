/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses stand for device memory. Looked up in signal handlers: a table that readers copy
 * from without a lock, and try again if it changed meanwhile. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/preload/preload.h"

static struct region table[REGIONS_MAX]; /* by start */
static _Atomic unsigned count;
static _Atomic uint32_t version; /* odd: it is being changed */
static struct {
    uint8_t *alias;
    size_t size;
    unsigned regions; /* that use it; 0: free */
} mappings[REGIONS_MAX];
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

/* The first region that ends behind `address`. */
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
    mappings[region->mapping].regions++;
}

bool region_add(const struct region *region, size_t alias_size)
{
    sigset_t before;
    struct region r = *region;
    begin(&before);
    static unsigned m; /* where the last one was free */
    for (unsigned i = 0; i < REGIONS_MAX && mappings[m].regions != 0; i++) {
        m = (m + 1) % REGIONS_MAX;
    }
    bool room = mappings[m].regions == 0 && atomic_load(&count) + 1 < REGIONS_MAX;
    if (room) {
        mappings[m].alias = r.alias;
        mappings[m].size = alias_size;
        r.mapping = m;
        insert(position(r.start), &r);
    }
    end(&before);
    return room;
}

static void take_out(unsigned at)
{
    unsigned m = table[at].mapping, n = atomic_load(&count);
    memmove(&table[at], &table[at + 1], (n - at - 1) * sizeof *table);
    atomic_store(&count, n - 1);
    if (--mappings[m].regions == 0) {
        next()->munmap(mappings[m].alias, mappings[m].size);
    }
}

void region_remove(uintptr_t start, size_t size)
{
    sigset_t before;
    uintptr_t stop = start + size;
    begin(&before);
    for (unsigned i = position(start); i < atomic_load(&count) && table[i].start < stop;) {
        struct region *r = &table[i], tail = *r;
        if (r->start < start && r->end > stop && atomic_load(&count) + 1 < REGIONS_MAX) {
            tail.alias += stop - r->start;
            tail.offset += stop - r->start;
            tail.start = stop;
            r->end = start;
            insert(i + 1, &tail);
            break;
        }
        if (r->start < start) {
            r->end = start;
            i++;
        } else if (r->end > stop) {
            r->alias += stop - r->start;
            r->offset += stop - r->start;
            r->start = stop;
            break;
        } else {
            take_out(i);
        }
    }
    end(&before);
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
            unsigned n = atomic_load(&count);
            memmove(&table[i], &table[i + 1], (n - i - 1) * sizeof *table);
            atomic_store(&count, n - 1);
            mappings[r.mapping].regions--;
        }
    }
    end(&before);
    return done;
}
