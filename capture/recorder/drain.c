/* SPDX-License-Identifier: Apache-2.0 */
/* The writer thread: takes what the rings hold, by time, into blocks of the trace. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/recorder/recorder.h"

enum { LOOK_MILLISECONDS = 100 };

/* What was added up to here is in the file: one switch of `commit` makes it so for whoever comes
 * after a kill, then the threads may overwrite it. */
static void commit(struct nocap_capture *c)
{
    struct ring_file_head *file = c->file;
    unsigned other = 1 - atomic_load(&file->commit);
    struct ring_commit *to = &file->commits[other];
    struct nocap_trace_totals totals;
    nocap_writer_totals(c->writer, &totals);
    to->trace_bytes = totals.bytes;
    to->lost_reported = c->lost_reported;
    for (unsigned i = 0; i < c->merge->count; i++) {
        to->ring[i] = c->merge->cursor[i].at;
    }
    if (!ring_trace_hash(c->trace_fd, totals.bytes, &to->trace_hash)) {
        c->status = nocap_fail(&c->err, NOCAP_E_OUTPUT, "cannot read back %s", c->path);
        return;
    }
    atomic_store(&file->commit, other);
    for (unsigned i = 0; i < c->merge->count; i++) {
        c->committed[i] = c->merge->cursor[i].at.tail;
        atomic_store_explicit(&file->ring[i].tail, c->committed[i], memory_order_release);
    }
    c->blocks = totals.blocks;
    c->safe = (struct nocap_capture_totals){
        .events = totals.events, .bytes = totals.bytes, .dropped = c->dropped};
}

/* After what was added: a block that ended is in the file. */
static bool added(struct nocap_capture *c, uint64_t t)
{
    c->last_time = t > c->last_time ? t : c->last_time;
    if (c->status == NOCAP_OK && nocap_writer_blocks(c->writer) != c->blocks) {
        commit(c);
    }
    return c->status == NOCAP_OK;
}

static bool add(struct nocap_capture *c, const struct nocap_event *event)
{
    if (event->kind == NOCAP_EV_DROP) {
        c->dropped += event->value;
    }
    c->status = nocap_writer_add(c->writer, event, &c->err);
    return added(c, event->t);
}

/* What follows the event that was just added, as long as it is more of the same. */
static bool add_run(struct nocap_capture *c, uint64_t limit)
{
    enum { ROWS = 128 };
    struct ring_merge *m = c->merge;
    struct access_row rows[ROWS];
    bool ok = true;
    for (size_t n; ok && (n = ring_merge_peek(m, limit, rows, ROWS)) != 0;) {
        n = nocap_writer_add_rows(c->writer, &m->taken->event, rows, n, &c->status, &c->err);
        ring_merge_take(m, n);
        ok = added(c, n != 0 ? rows[n - 1].t : 0);
    }
    return ok;
}

/* A store that changes nothing, whatever the ring's thread stores there meanwhile. A page that is
 * mapped may still cost the first store to it microseconds: in a virtual machine whose page tables
 * are shadowed. */
static __attribute__((no_sanitize("thread"))) void touch(uint8_t *page)
{
    __atomic_fetch_or(page, 0, __ATOMIC_RELAXED);
}

void capture_populate(struct nocap_capture *c, unsigned slot, uint64_t to)
{
    uint64_t from = c->populated[slot];
    to = to < c->ring_bytes ? (to + RING_PAGE - 1) / RING_PAGE * RING_PAGE : c->ring_bytes;
    if (from >= to || atomic_load(&c->stop)) {
        return;
    }
#ifdef MADV_POPULATE_WRITE
    madvise(c->base[slot] + from, (size_t)(to - from), MADV_POPULATE_WRITE);
#endif
    for (; from < to; from += RING_PAGE) {
        touch(c->base[slot] + from);
    }
    c->populated[slot] = to;
}

/* So that the thread that records finds pages there: some more than the first, and a quarter of the
 * ring ahead of one that goes on. At the end they are not needed. */
static void populate_ahead(struct nocap_capture *c, unsigned slot, uint64_t head)
{
    const uint64_t part = c->ring_bytes / RING_PARTS;
    capture_populate(c, slot, head < part ? 4 * part : head / part * part + c->ring_bytes / 4);
}

/* Events up to raw time `limit`. */
static void drain(struct nocap_capture *c, uint64_t limit)
{
    struct ring_merge *m = c->merge;
    m->count = atomic_load(&c->file->slots_used);
    for (unsigned i = 0; i < m->count; i++) {
        m->cursor[i].base = c->base[i];
        m->cursor[i].end = atomic_load_explicit(&c->file->ring[i].head, memory_order_acquire);
        populate_ahead(c, i, m->cursor[i].end);
    }
    const struct nocap_event *event;
    bool ok = c->status == NOCAP_OK;
    while (ok && (event = ring_merge_next(m, limit)) != NULL) {
        ok = add(c, event) && add_run(c, limit);
    }
    uint64_t lost = atomic_load(&c->file->lost);
    if (c->status == NOCAP_OK && lost != c->lost_reported) {
        struct nocap_event lost_ones;
        ring_drop_event(&lost_ones, c->last_time, RING_SRC_NONE, lost - c->lost_reported);
        c->lost_reported = lost;
        add(c, &lost_ones);
    }
}

/* Whether a ring is full enough that its thread needs room soon. */
static bool room_is_short(const struct nocap_capture *c)
{
    for (unsigned i = 0; i < c->merge->count; i++) {
        if (c->merge->cursor[i].at.tail - c->committed[i] >= c->ring_bytes / 4) {
            return true;
        }
    }
    return false;
}

static void flush(struct nocap_capture *c)
{
    if (c->status == NOCAP_OK) {
        c->status = nocap_writer_flush(c->writer, &c->err);
    }
    if (c->status == NOCAP_OK) {
        commit(c);
    }
}

static struct timespec after(uint64_t milliseconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t ns = (uint64_t)t.tv_nsec + milliseconds * 1000000u;
    t.tv_sec += (time_t)(ns / 1000000000u);
    t.tv_nsec = (long)(ns % 1000000000u);
    return t;
}

static bool is_past(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

void *capture_writer_main(void *capture)
{
    struct nocap_capture *c = capture;
    uint32_t look = c->flush_interval < LOOK_MILLISECONDS ? c->flush_interval : LOOK_MILLISECONDS;
    struct timespec due = after(c->flush_interval);
    while (!atomic_load(&c->stop) && c->status == NOCAP_OK) {
        struct timespec until = after(look);
        sem_clockwait(&c->wake, CLOCK_MONOTONIC, &until);
        uint64_t wanted = atomic_load(&c->flush_wanted);
        bool hurry = atomic_exchange(&c->hurry, false);
        drain(c, c->clock == NOCAP_CAPTURE_CLOCK_USER ? UINT64_MAX : capture_raw_time(c->tsc, true));
        bool due_now = is_past(&due);
        if (hurry || due_now || wanted != atomic_load(&c->flush_done) || room_is_short(c)) {
            flush(c);
            due = after(c->flush_interval);
            atomic_store(&c->flush_done, wanted);
        }
    }
    if (c->status != NOCAP_OK) {
        atomic_store(&c->stopped, true);
    }
    return NULL;
}

/* What a reader finds after the part of the file that is safe, as nocap_rings_recover does. */
static void count_left(struct nocap_capture *c, struct nocap_capture_totals *totals)
{
    struct ring_merge *m = c->merge;
    const struct ring_file_head *file = c->file;
    const struct ring_commit *from = &file->commits[atomic_load(&file->commit)];
    const struct nocap_event *event;
    m->count = atomic_load(&file->slots_used);
    m->taken = NULL;
    for (unsigned i = 0; i < m->count; i++) {
        m->cursor[i] = (struct ring_cursor){
            .base = c->base[i], .at = from->ring[i], .end = atomic_load(&file->ring[i].head)};
    }
    while ((event = ring_merge_next(m, UINT64_MAX)) != NULL) {
        totals->events++;
        totals->dropped += event->kind == NOCAP_EV_DROP ? event->value : 0;
    }
    for (unsigned i = 0; i < m->count; i++) {
        uint64_t unreported = atomic_load(&file->ring[i].dropped) - m->cursor[i].at.reported;
        totals->events += unreported != 0;
        totals->dropped += unreported;
    }
    uint64_t lost = atomic_load(&file->lost) - from->lost_reported;
    totals->events += lost != 0;
    totals->dropped += lost;
}

enum nocap_status capture_finish(struct nocap_capture *c, struct nocap_capture_totals *totals,
                                 struct nocap_error *err)
{
    struct nocap_trace_totals trace = {0};
    drain(c, UINT64_MAX);
    for (unsigned i = 0; c->status == NOCAP_OK && i < c->merge->count; i++) {
        struct ring_head *head = &c->file->ring[i];
        struct ring_position *at = &c->merge->cursor[i].at;
        uint64_t dropped = atomic_load(&head->dropped);
        if (dropped != at->reported) {
            struct nocap_event event;
            ring_drop_event(&event, c->last_time, atomic_load(&head->src), dropped - at->reported);
            at->reported = dropped;
            add(c, &event);
        }
    }
    flush(c);
    if (c->status == NOCAP_OK) {
        c->status = nocap_writer_close(c->writer, &trace, &c->err);
    } else {
        nocap_writer_abandon(c->writer);
    }
    c->writer = NULL;
    *totals = c->safe;
    if (c->status == NOCAP_OK) {
        totals->bytes = trace.bytes;
    } else {
        count_left(c, totals);
        if (err != NULL) {
            *err = c->err;
        }
    }
    return c->status;
}
