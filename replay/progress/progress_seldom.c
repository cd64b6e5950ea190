/* SPDX-License-Identifier: Apache-2.0 */
/* What only some traces have: requests, and what small ones write; notes about cores. */
#include <string.h>

#include "formats/trace/note.h"
#include "replay/progress/progress_private.h"

static void remove_request(struct progress_requests *r, uint32_t i)
{
    r->open_count--;
    memmove(r->open + i, r->open + i + 1, (r->open_count - i) * sizeof r->open[0]);
}

static void open_request(struct progress_requests *r, const struct nocap_event *e)
{
    bool load = e->op == NOCAP_OP_READ;
    r->issued++;
    if (r->open_count == PROGRESS_OPEN) {
        remove_request(r, 0);
    }
    r->open[r->open_count++] =
        (struct progress_request){.index = e->index,
                                  .id = (e->has & NOCAP_F_ID) != 0 ? e->id : UINT64_MAX,
                                  .has_far = (e->has & (load ? NOCAP_F_S : NOCAP_F_D)) != 0,
                                  .far = load ? e->s : e->d};
}

static void close_request(struct progress_requests *r, uint64_t id)
{
    uint32_t i = 0;
    while (i < r->open_count && r->open[i].id != id) {
        i++;
    }
    if (i < r->open_count) {
        remove_request(r, i);
    }
}

void progress_end_requests(struct progress_requests *r)
{
    r->ended = r->issued;
    r->open_count = 0;
}

/* A small write to other tiles: perhaps a semaphore. */
static void note_request(struct model *m, const struct nocap_event *e)
{
    bool small = e->op == NOCAP_OP_ATOMIC || e->op == NOCAP_OP_INLINE ||
                 (e->op == NOCAP_OP_WRITE && e->size <= PROGRESS_WRITER_BYTES);
    if (!trace_of(m)->polls || !small || e->phase != NOCAP_PHASE_ISSUE ||
        (~e->has & (NOCAP_F_D | NOCAP_F_DADDR)) != 0) {
        return;
    }
    struct nocap_noc_ends ends = nocap_noc_ends(e);
    for (struct nocap_tiles t = nocap_tiles(ends.to, ends.to_other); !t.over; nocap_next_tile(&t)) {
        last_writer_note(m, t.at, e->daddr, e->at);
    }
}

void progress_request(struct model *m, const struct tile *tile, const struct nocap_event *e)
{
    note_request(m, e);
    struct progress_requests *r = &progress_of(tile)->requests[e->noc][nocap_requests_of(e->op)];
    if (e->phase == NOCAP_PHASE_ISSUE && !e->posted) {
        open_request(r, e);
    } else if (e->phase == NOCAP_PHASE_DONE && (e->has & NOCAP_F_ID) != 0) {
        r->ended++;
        close_request(r, e->id);
    } else if (e->phase == NOCAP_PHASE_DONE) { /* a barrier: all of them */
        progress_end_requests(r);
    }
}

/* The name's place in the table, 0 where it has no room: a name too long, or one too many. */
static uint16_t kernel_named(struct trace_progress *p, const char *name, uint32_t size)
{
    if (size >= PROGRESS_KERNEL_NAME || memchr(name, 0, size) != NULL) {
        return 0;
    }
    for (uint16_t i = 1; i <= p->kernel_count; i++) {
        if (strncmp(p->kernels[i], name, size) == 0 && p->kernels[i][size] == '\0') {
            return i;
        }
    }
    if (p->kernel_count + 1 == PROGRESS_KERNELS) {
        return 0;
    }
    memcpy(p->kernels[++p->kernel_count], name, size);
    return p->kernel_count;
}

void progress_take_note(struct model *m, const struct tile *tile, const struct nocap_event *event)
{
    const struct nocap_note note = nocap_note_read(event);
    struct progress_agent *agent = progress_core(tile, note.by);
    if (note.form == NOCAP_NOTE_AT) {
        memcpy(agent->waypoint, note.code, sizeof agent->waypoint);
    } else if (note.form == NOCAP_NOTE_RUNS) {
        agent->kernel = kernel_named(trace_of(m), note.name, note.name_size);
    }
}
