/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/cite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/blackhole/mailbox.h"
#include "formats/import/import.h"

/* `lands`: writes of the network are seen arriving, so a request of one changes nothing yet. */
static void see(struct nocap_cite *c, const struct nocap_event *e, bool lands)
{
    bool counts = e->index < c->before && e->t <= c->until && e->chip == c->chip;
    enum nocap_touch how = counts ? nocap_touch(e, &c->bytes) : NOCAP_TOUCH_NONE;
    if (!nocap_touch_writes(how) || (lands && how == NOCAP_TOUCH_REQUEST)) {
        return;
    }
    uint64_t start = nocap_touch_start(e, how);
    uint64_t size = e->kind == NOCAP_EV_MEM ? e->data_size : e->size;
    for (unsigned i = 0; i <= c->bytes.last - c->bytes.first; i++) {
        struct nocap_cite_byte *b = &c->bytes_seen[i];
        uint64_t addr = c->bytes.first + i;
        uint8_t value = 0;
        bool known = nocap_touch_byte(e, how, addr, &value);
        if (known || (addr >= start && addr - start < size)) {
            *b = (struct nocap_cite_byte){.written = true,
                                          .known = known,
                                          .value = value,
                                          .agent =
                                              (e->has & NOCAP_F_BY) != 0 ? e->by : NOCAP_BY_NONE,
                                          .how = how,
                                          .index = e->index};
        }
    }
}

/* The bytes `first` to `last` of those that were asked for. */
static void describe_span(struct nocap_cite *c, unsigned first, unsigned last)
{
    const struct nocap_cite_byte *latest = NULL;
    uint64_t value = 0;
    bool known = true;
    char shown[32] = "";
    for (unsigned i = first; i <= last; i++) {
        const struct nocap_cite_byte *b = &c->bytes_seen[i];
        value |= (uint64_t)b->value << 8 * (i - first);
        known &= b->known;
        latest = b->written && (latest == NULL || b->index > latest->index) ? b : latest;
    }
    if (latest == NULL) {
        return;
    }
    if (known) {
        snprintf(shown, sizeof shown, "0x%" PRIx64 " at ", value);
    }
    bool no_agent = latest->how == NOCAP_TOUCH_HELD || latest->agent == NOCAP_BY_NONE;
    snprintf(c->text, sizeof c->text, "%s0x%" PRIx64 ", %s%s%s at #%" PRIu64, shown,
             c->bytes.first + first, latest->how == NOCAP_TOUCH_HELD ? "there" : "last written",
             no_agent ? "" : " by ", no_agent ? "" : nocap_agent_name(latest->agent),
             latest->index);
}

static void describe(struct nocap_cite *c)
{
    unsigned last = (unsigned)(c->bytes.last - c->bytes.first), one = last + 1;
    for (unsigned i = 0; c->apart && i <= last; i++) {
        const struct nocap_cite_byte *b = &c->bytes_seen[i];
        bool later = one > last || b->index > c->bytes_seen[one].index;
        one = b->known && b->value != 0 && later ? i : one;
    }
    describe_span(c, one > last ? 0 : one, one > last ? last : one);
}

enum nocap_status nocap_cite(struct nocap_reader *reader, struct nocap_cite *cites, size_t count,
                             struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t events_count;
    uint64_t last = 0, until = 0;
    bool lands = false;
    enum nocap_status status = NOCAP_OK;
    for (size_t i = 0; i < count; i++) {
        last = cites[i].before > last ? cites[i].before : last;
        until = cites[i].until > until ? cites[i].until : until;
    }
    until = nocap_reader_time_ordered(reader) ? until : UINT64_MAX;
    while (count > 0 && status == NOCAP_OK) {
        status = nocap_reader_next(reader, &events, &events_count, err);
        if (status == NOCAP_OK && (events[0].index >= last || events[0].t > until)) {
            status = NOCAP_END;
        }
        for (size_t i = 0; status == NOCAP_OK && i < events_count; i++) {
            lands |= events[i].kind == NOCAP_EV_WRITE && events[i].by == NOCAP_BY_NOC;
            for (size_t k = 0; k < count; k++) {
                see(&cites[k], &events[i], lands);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        describe(&cites[i]);
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

/* ---- findings ---- */

struct asking {
    struct nocap_cite cites[NOCAP_CITES_MAX];
    struct nocap_finding *findings[NOCAP_CITES_MAX];
    size_t count;
    const struct nocap_mailbox_layout *layout; /* NULL: unknown */
};

static void add(struct asking *a, struct nocap_finding *f, struct nocap_bytes_at bytes,
                uint64_t before)
{
    a->cites[a->count] =
        (struct nocap_cite){.bytes = bytes,
                            .chip = f->chip,
                            .before = before,
                            .until = UINT64_MAX,
                            .apart = a->layout != NULL && bytes.first == a->layout->sync};
    a->findings[a->count++] = f;
}

/* What the model has looked at; else the bytes of the load that the finding is about. */
static enum nocap_status ask(struct asking *a, struct nocap_reader *reader,
                             struct nocap_finding *finding, struct nocap_error *err)
{
    const struct nocap_seen *seen = &finding->seen;
    const struct nocap_event *e;
    size_t count;
    if (a->count == NOCAP_CITES_MAX || finding->place != NOCAP_PLACE_EVENT) {
        return NOCAP_OK;
    }
    if (seen->size != 0) {
        add(a, finding, (struct nocap_bytes_at){seen->at, seen->addr, seen->addr + seen->size - 1},
            finding->at_end ? UINT64_MAX : finding->index);
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_reader_seek_index(reader, finding->index, err));
    enum nocap_status status = nocap_reader_next(reader, &e, &count, err);
    if (status == NOCAP_END) { /* what is found at the end may be after the last event */
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(status);
    if (e->index == finding->index && e->kind == NOCAP_EV_READ && e->space == NOCAP_SPACE_TILE &&
        (e->has & NOCAP_F_AT) != 0 && e->size != 0 && e->size <= NOCAP_CITE_BYTES) {
        add(a, finding, (struct nocap_bytes_at){e->at, e->addr, e->addr + e->size - 1}, e->index);
    }
    return NOCAP_OK;
}

static enum nocap_status cite_all(struct asking *a, struct nocap_report *report,
                                  struct nocap_reader *reader, struct nocap_error *err)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        RETURN_IF_FAILED(ask(a, reader, &report->findings[i], err));
    }
    if (a->count == 0) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_reader_seek_index(reader, 0, err));
    RETURN_IF_FAILED(nocap_cite(reader, a->cites, a->count, err));
    for (size_t i = 0; i < a->count; i++) {
        if (a->cites[i].text[0] != 0) {
            a->findings[i]->written = strdup(a->cites[i].text);
            RETURN_ERROR_IF(a->findings[i]->written == NULL, err, NOCAP_E_MEMORY, "out of memory");
        }
    }
    return NOCAP_OK;
}

enum nocap_status nocap_cite_findings(struct nocap_report *report, const char *path, bool dense,
                                      struct nocap_error *err)
{
    struct nocap_reader *reader;
    struct nocap_import_result imported;
    struct stat st;
    if (report->finding_count == 0 || report->arch != NOCAP_ARCH_BLACKHOLE ||
        stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        return NOCAP_OK;
    }
    struct asking *a = calloc(1, sizeof *a);
    RETURN_ERROR_IF(a == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = nocap_import_open(&reader, path, dense, &imported, err);
    if (status == NOCAP_OK) {
        a->layout = nocap_header_layout(nocap_reader_header(reader), NULL);
        status = cite_all(a, report, reader, err);
        nocap_reader_close(reader);
    }
    free(a);
    return status;
}
