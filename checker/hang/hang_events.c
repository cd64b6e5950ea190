/* SPDX-License-Identifier: Apache-2.0 */
/* What the trace says when it is read once more: the last events that touched what the root is
 * stuck at, and who wrote the bytes that parties wait for. */
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "checker/hang/hang_private.h"
#include "checker/query/cite.h"
#include "formats/blackhole/cores.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/xy.h"
#include "formats/export/text.h"

enum { EVENTS_DEFAULT = 10, EVENTS_MAX = 1000 };

/* The latest indexes, a ring. */
struct latest {
    uint64_t index[EVENTS_MAX];
    uint64_t count;
    uint32_t size;
};

static bool meets(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + (a_size > 0 ? a_size : 1);
}

/* Whether the event is an act of the party, its core's reset, or an access to where its wait can be
 * seen. */
static bool touches(const struct nocap_hang *h, size_t root, const struct nocap_event *e)
{
    const struct nocap_party *p = &h->parties[root].id;
    const struct nocap_wait *w =
        h->parties[root].wait != SIZE_MAX ? &h->waits[h->parties[root].wait].wait : NULL;
    bool shown = e->kind == NOCAP_EV_MEM;
    bool access = shown || e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ;
    bool here = !p->has_tile || (e->chip == p->chip && nocap_goes_to(e, p->at));
    bool place = w != NULL && w->size > 0 && access &&
                 meets(e->addr, shown ? e->data_size : e->size, w->addr, w->size);
    if (place && w->in_sysmem) {
        return e->space == NOCAP_SPACE_SYSMEM;
    }
    if (place && here && e->space == NOCAP_SPACE_TILE) {
        return true;
    }
    if (!p->has_tile || !here || e->space != NOCAP_SPACE_TILE) {
        bool job = e->kind == NOCAP_EV_CERT && e->uc == p->agent - NOCAP_BY_UC0 &&
                   (int64_t)e->job == p->job;
        return p->agent >= NOCAP_BY_UC0 && (job || e->by == p->agent);
    }
    if (e->kind == NOCAP_EV_NOTE && (e->has & NOCAP_F_AT) != 0) {
        return true; /* a remark about the tile */
    }
    bool thread = w != NULL && w->thread >= 0 && e->kind == NOCAP_EV_TENSIX &&
                  e->thread == (uint8_t)w->thread;
    bool reset = e->kind == NOCAP_EV_WRITE && nocap_core(p->agent) != NULL &&
                 meets(e->addr, e->size, NOCAP_REG_SOFT_RESET_0, 4);
    return thread || reset || e->by == (nocap_hang_is_queue(p->agent) ? NOCAP_BY_BRISC : p->agent);
}

/* From event `first` on. */
static enum nocap_status collect_from(const struct nocap_hang *h, struct nocap_reader *reader,
                                      const struct nocap_hang_options *options, size_t root,
                                      uint64_t first, struct latest *latest,
                                      struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t count;
    const struct nocap_header *header = nocap_reader_header(reader);
    const bool ends = options->has_at && nocap_reader_time_ordered(reader);
    enum nocap_status status = nocap_reader_seek_index(reader, first, err);
    latest->count = 0;
    while (status == NOCAP_OK) {
        status = nocap_reader_next(reader, &events, &count, err);
        if (status == NOCAP_OK && ends && events[0].t > options->at) {
            status = NOCAP_END;
        }
        for (size_t i = 0; status == NOCAP_OK && i < count; i++) {
            const struct nocap_event *e = &events[i];
            bool judged = !(options->has_at && e->t > options->at) &&
                          nocap_header_event_problem(header, e) == NULL;
            if (judged && touches(h, root, e)) {
                latest->index[latest->count++ % latest->size] = e->index;
            }
        }
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

/* They are near the end as a rule, so that is looked at first, then more and more. */
static enum nocap_status collect(const struct nocap_hang *h, struct nocap_reader *reader,
                                 const struct nocap_hang_options *options, size_t root,
                                 struct latest *latest, struct nocap_error *err)
{
    enum { NEAR = 1 << 16, WIDER = 16 };
    const uint64_t all = h->report->events;
    enum nocap_status status = NOCAP_OK;
    for (uint64_t span = NEAR; status == NOCAP_OK && latest->count < latest->size; span *= WIDER) {
        uint64_t first = span < all ? all - span : 0;
        status = collect_from(h, reader, options, root, first, latest, err);
        if (first == 0) {
            break;
        }
    }
    return status;
}

static enum nocap_status print_one(struct nocap_hang *h, struct nocap_reader *reader,
                                   const struct nocap_text_style *style, uint64_t index,
                                   struct nocap_error *err)
{
    const struct nocap_event *events;
    struct nocap_text text = {0};
    size_t count;
    RETURN_IF_FAILED(nocap_reader_seek_index(reader, index, err));
    RETURN_IF_FAILED(nocap_reader_next(reader, &events, &count, err));
    enum nocap_status status = nocap_text_print_event(style, &text, &events[0], err);
    if (status == NOCAP_OK && text.size > 0) {
        text.data[text.size - 1] = '\0'; /* instead of its newline */
        char *line = foreign_copy(text.data);
        if (line == NULL) {
            status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
        } else {
            h->events[h->event_count++] = line;
        }
    }
    free(text.data);
    return status;
}

static enum nocap_status print_all(struct nocap_hang *h, struct nocap_reader *reader,
                                   const struct latest *latest, struct nocap_error *err)
{
    const struct nocap_text_style style = nocap_text_style(nocap_reader_header(reader), false);
    uint64_t kept = latest->count < latest->size ? latest->count : latest->size;
    h->events = calloc(kept + 1, sizeof *h->events);
    RETURN_ERROR_IF(h->events == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (uint64_t i = latest->count - kept; i < latest->count; i++) {
        RETURN_IF_FAILED(print_one(h, reader, &style, latest->index[i % latest->size], err));
    }
    return NOCAP_OK;
}

enum nocap_status nocap_hang_events(struct nocap_hang *h, struct nocap_reader *reader,
                                    const struct nocap_hang_options *options,
                                    struct nocap_error *err)
{
    size_t root = nocap_hang_root(h);
    uint32_t size = options->events == 0           ? EVENTS_DEFAULT
                    : options->events < EVENTS_MAX ? options->events
                                                   : EVENTS_MAX;
    if (root == SIZE_MAX) {
        return NOCAP_OK;
    }
    struct latest *latest = calloc(1, sizeof *latest);
    RETURN_ERROR_IF(latest == NULL, err, NOCAP_E_MEMORY, "out of memory");
    latest->size = size;
    struct nocap_error why;
    enum nocap_status status = collect(h, reader, options, root, latest, &why);
    if (status == NOCAP_E_MEMORY) {
        *err = why;
    } else if (status == NOCAP_OK) {
        status = print_all(h, reader, latest, err);
    } else { /* a pipe cannot be read twice: the answer stands without them */
        status = NOCAP_OK;
    }
    free(latest);
    return status;
}

/* ---- who wrote it ---- */

/* Whether the wait is seen in bytes of a tile. */
static bool is_seen(const struct nocap_wait *w)
{
    return !w->in_sysmem && w->who.has_tile && w->size > 0 && w->size <= NOCAP_CITE_BYTES;
}

static enum nocap_status keep(struct nocap_hang *h, const struct nocap_cite *cites,
                              const size_t *waits, size_t count, struct nocap_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (cites[i].text[0] != 0) {
            h->waits[waits[i]].written = strdup(cites[i].text);
            RETURN_ERROR_IF(h->waits[waits[i]].written == NULL, err, NOCAP_E_MEMORY,
                            "out of memory");
        }
    }
    return NOCAP_OK;
}

enum nocap_status nocap_hang_cite(struct nocap_hang *h, struct nocap_reader *reader,
                                  const struct nocap_hang_options *options, struct nocap_error *err)
{
    struct nocap_cite cites[NOCAP_CITES_MAX];
    size_t waits[NOCAP_CITES_MAX], count = 0;
    struct nocap_error why;
    for (size_t i = 0; i < h->wait_count && count < NOCAP_CITES_MAX; i++) {
        const struct nocap_wait *w = &h->waits[i].wait;
        if (is_seen(w)) {
            cites[count] = (struct nocap_cite){.bytes = {w->who.at, w->addr, w->addr + w->size - 1},
                                               .chip = w->who.chip,
                                               .before = UINT64_MAX,
                                               .until = options->has_at ? options->at : UINT64_MAX};
            waits[count++] = i;
        }
    }
    /* a pipe cannot be read twice: the answer stands without it */
    if (count == 0 || nocap_reader_seek_index(reader, 0, &why) != NOCAP_OK) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_cite(reader, cites, count, err));
    return keep(h, cites, waits, count, err);
}
