/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/hang/hang.h"

#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "base/list.h"
#include "checker/hang/hang_private.h"

struct run {
    const struct nocap_hang_options *options;
    struct nocap_hang_waits waits;
};

const char *nocap_hang_verdict_name(enum nocap_hang_verdict verdict)
{
    static const char *const names[NOCAP_HANG_VERDICT_COUNT] = {"idle", "running", "inconclusive",
                                                                "hung"};
    return names[verdict];
}

const char *nocap_party_name(const struct nocap_party *p, char *text, size_t size)
{
    int at = snprintf(text, size, "%s", nocap_agent_name(p->agent));
    if (p->has_tile && at > 0 && (size_t)at < size) {
        at += snprintf(text + at, size - (size_t)at, " %u,%u", p->at.x, p->at.y);
    }
    if (p->chip != 0 && at > 0 && (size_t)at < size) {
        at += snprintf(text + at, size - (size_t)at, " chip %u", p->chip);
    }
    if (p->job >= 0 && at > 0 && (size_t)at < size) {
        snprintf(text + at, size - (size_t)at, "/job%d", p->job);
    }
    return text;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(texts[i]);
    }
    free(texts);
}

void nocap_hang_free(struct nocap_hang *h)
{
    if (h == NULL) {
        return;
    }
    for (size_t i = 0; i < h->wait_count; i++) {
        free(h->waits[i].what);
        free(h->waits[i].state);
        free(h->waits[i].release);
        free(h->waits[i].written);
    }
    for (size_t i = 0; i < h->party_count; i++) {
        free(h->parties[i].source);
    }
    for (size_t i = 0; i < h->tiles_count; i++) {
        free(h->tiles[i].places);
        free(h->tiles[i].state);
    }
    free_texts(h->events, h->event_count);
    free(h->tiles);
    free(h->waits);
    free(h->parties);
    free(h->chain);
    free(h->causes);
    nocap_report_free(h->report);
    free(h);
}

/* ---- waits ---- */

static char *copy(struct nocap_hang_waits *all, const char *text)
{
    char *clean = text != NULL ? foreign_copy(text) : NULL;
    all->memory |= text != NULL && clean == NULL;
    return clean;
}

void nocap_hang_take(void *context, const struct nocap_wait *wait)
{
    struct nocap_hang_waits *all = context;
    struct nocap_hang *h = all->hang;
    struct nocap_hang_wait *w = LIST_NEXT(h->waits, h->wait_count);
    if (w == NULL) {
        all->memory = true;
        return;
    }
    h->wait_count++;
    *w = (struct nocap_hang_wait){.wait = *wait,
                                  .what = copy(all, wait->what),
                                  .state = copy(all, wait->state),
                                  .release = copy(all, wait->release)};
    w->wait.what = w->what;
    w->wait.state = w->state;
    w->wait.release = w->release;
}

/* By place, so that what is printed does not depend on a table in memory. */
static int by_place(const void *a, const void *b)
{
    const struct nocap_hang_wait *v = a, *w = b;
    const struct nocap_party *p = &v->wait.who, *q = &w->wait.who;
    const uint64_t keys[][2] = {
        {p->chip, q->chip},
        {p->at.y, q->at.y},
        {p->at.x, q->at.x},
        {p->agent, q->agent},
        {(uint64_t)(p->job + 1), (uint64_t)(q->job + 1)},
        {v->wait.page, w->wait.page},
        {v->wait.off, w->wait.off},
        {v->wait.by.at.y, w->wait.by.at.y},
        {v->wait.by.at.x, w->wait.by.at.x},
        {v->wait.by.agent, w->wait.by.agent},
        {v->wait.index, w->wait.index},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return strcmp(v->what, w->what);
}

enum nocap_status nocap_hang_link(const struct nocap_hang_waits *all, struct nocap_error *err)
{
    struct nocap_hang *h = all->hang;
    RETURN_ERROR_IF(all->memory, err, NOCAP_E_MEMORY, "out of memory");
    if (h->wait_count > 1) {
        qsort(h->waits, h->wait_count, sizeof *h->waits, by_place);
    }
    return nocap_hang_graph(h, err);
}

/* ---- likely causes ---- */

bool nocap_hang_of_queue(const struct nocap_finding *f)
{
    return strcmp(nocap_families[nocap_rules[f->rule].family].name, "CQ") == 0;
}

/* Whether the finding is about a party of the chain or about the root. */
static bool touches_chain(const struct nocap_hang *h, const struct nocap_finding *f)
{
    size_t root = nocap_hang_root(h);
    for (size_t i = 0; i <= h->chain_count; i++) {
        size_t v = i < h->chain_count ? h->waits[h->chain[i]].who : root;
        const struct nocap_party *p = &h->parties[v].id;
        bool same = f->has_tile && p->has_tile && f->chip == p->chip && f->at.x == p->at.x &&
                    f->at.y == p->at.y;
        bool queue = f->agent == NOCAP_BY_HOST && !f->has_tile && nocap_hang_is_queue(p->agent) &&
                     nocap_hang_of_queue(f);
        bool nowhere = !f->has_tile && f->agent == p->agent && f->agent != NOCAP_BY_NONE;
        if (same || nowhere || queue) {
            return true;
        }
    }
    return false;
}

/* Says of the trace's end what the answer is about. Firmware that was not ready when GO was stored
 * is a cause of the wait behind it. */
static bool is_symptom(const struct nocap_hang *h, const struct nocap_finding *f)
{
    bool before = h->chain_count > 0 && f->index < h->waits[h->chain[0]].wait.index &&
                  h->waits[h->chain[0]].wait.index != UINT64_MAX;
    return f->rule == AIE_066 || (f->rule == RST_017 && !before);
}

enum nocap_status nocap_hang_causes(struct nocap_hang *h, struct nocap_error *err)
{
    if (nocap_hang_root(h) == SIZE_MAX || h->report->finding_count == 0) {
        return NOCAP_OK;
    }
    h->causes = calloc(h->report->finding_count, sizeof *h->causes);
    RETURN_ERROR_IF(h->causes == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < h->report->finding_count; i++) {
        const struct nocap_finding *f = &h->report->findings[i];
        if (f->severity >= NOCAP_WARNING && !f->waived && !is_symptom(h, f) &&
            touches_chain(h, f)) {
            h->causes[h->cause_count++] = f;
        }
    }
    return NOCAP_OK;
}

/* ---- the run ---- */

/* All events were replayed, nothing is judged yet that is owed at the end. */
static enum nocap_status ended(void *context, struct nocap_engine *engine,
                               struct nocap_reader *reader, const struct nocap_elf_cores *cores,
                               struct nocap_error *err)
{
    struct run *run = context;
    struct nocap_hang *h = run->waits.hang;
    h->damage = *nocap_reader_integrity(reader);
    nocap_engine_waits(engine, nocap_hang_take, &run->waits);
    RETURN_IF_FAILED(nocap_hang_link(&run->waits, err));
    struct nocap_progress all = nocap_engine_progress(engine, &h->end);
    if (run->options->has_at && h->end > run->options->at) {
        h->end = run->options->at; /* polls may go on after it */
    }
    nocap_hang_judge(h, engine, &all);
    h->gave_up = nocap_engine_gave_up(engine, &h->last_look);
    h->recovered = nocap_engine_slow_wait(engine, &h->slow);
    RETURN_IF_FAILED(nocap_hang_tiles(h, engine, err));
    RETURN_IF_FAILED(nocap_hang_source(h, engine, cores, err));
    if (run->options->read_once) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_hang_events(h, reader, run->options, err));
    return nocap_hang_cite(h, reader, run->options, err);
}

enum nocap_status nocap_hang(struct nocap_hang **hang, const char *path,
                             const struct nocap_hang_options *given, struct nocap_error *err)
{
    struct nocap_hang_options options = {.size = sizeof options};
    if (given != NULL) {
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    }
    struct nocap_hang *h = calloc(1, sizeof *h);
    struct run run = {.options = &options, .waits = {.hang = h}};
    *hang = NULL;
    RETURN_ERROR_IF(h == NULL, err, NOCAP_E_MEMORY, "out of memory");
    const struct nocap_check_options check = {
        .size = sizeof check,
        .has_to = options.has_at,
        .to = options.at,
        .elf = options.elf,
        .elf_count = options.elf_count,
        .dense = options.dense,
        .trust_paths = options.trust_paths,
        .profile = options.profile,
        .watch = options.watch,
        .has_lead = options.has_lead,
        .lead_to = options.lead_to,
        .lead = options.lead,
        .beside = options.beside,
        .ended = ended,
        .ended_context = &run,
    };
    enum nocap_status status = nocap_check(&h->report, path, &check, err);
    if (status == NOCAP_OK) {
        status = nocap_hang_causes(h, err);
    }
    if (status != NOCAP_OK) {
        nocap_hang_free(h);
        return status;
    }
    *hang = h;
    return NOCAP_OK;
}
