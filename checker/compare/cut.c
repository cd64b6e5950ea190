/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/cut.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checker/compare/cut_memory.h"
#include "formats/blackhole/tile_map.h"
#include "formats/import/import.h"

enum { FINDINGS_MAX = 1000, LEAD_FIRST = 16, LEAD_SMALL = 4096, LEAD_STEP = 4, LEAD_LEAP = 16 };

struct cut {
    struct nocap_cut_options options;
    struct nocap_cut_result *result;
    const char *path, *out_path;
    struct nocap_reader *reader;
    struct cut_memory *memory;
    struct nocap_writer *writer;
    struct nocap_report *whole; /* what the checker says of the whole trace */
    uint64_t first, last;       /* indexes of the first and the last event of the part */
    uint64_t start;             /* `first` less the lead-in */
    uint64_t t_first, t_last;   /* of the whole trace */
    uint64_t next;              /* index of the event that comes next if none is missing */
    uint32_t dropped;           /* classes of which events between them are left out */
    uint32_t elsewhere, here;   /* .. at other tiles than the one that is asked for, and kept */
    bool truncated;             /* the file is cut short: its last event is not the run's */
};

/* ---- what belongs to the part ---- */

static bool of_queue(const struct nocap_header *header, struct nocap_xy tile)
{
    return (header->cq.has_prefetch && nocap_xy_equal(tile, header->cq.prefetch)) ||
           (header->cq.has_dispatch && nocap_xy_equal(tile, header->cq.dispatch));
}

/* A queue is one object of the host: its commands, and what it stores to either core. */
static bool at_tile(const struct cut *cut, const struct nocap_event *event)
{
    const struct nocap_header *header = nocap_reader_header(cut->reader);
    const uint32_t queue = NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CQ;
    const struct nocap_xy tile = cut->options.tile;
    bool ends = event->kind == NOCAP_EV_NOC &&
                (nocap_xy_equal(event->s, tile) || nocap_xy_equal(event->d, tile));
    if ((event->has & NOCAP_F_AT) == 0) {
        return of_queue(header, tile) || (nocap_event_class(event) & queue) == 0;
    }
    if (event->kind == NOCAP_EV_CQ) { /* an act of the queue, whichever core it names */
        return of_queue(header, tile) && of_queue(header, event->at);
    }
    return nocap_goes_to(event, tile) || ends ||
           (event->by == NOCAP_BY_HOST && of_queue(header, event->at) && of_queue(header, tile));
}

/* Whether the options ask for it, apart from when. */
static bool chosen(const struct cut *cut, const struct nocap_event *event)
{
    const struct nocap_cut_options *o = &cut->options;
    return (!o->has_tile || at_tile(cut, event)) &&
           (o->filter == NULL || nocap_filter_match(o->filter, event));
}

static bool in_time(const struct cut *cut, const struct nocap_event *event)
{
    const struct nocap_cut_options *o = &cut->options;
    return (!o->has_from || event->t >= o->from) && (!o->has_to || event->t <= o->to) &&
           (!o->has_index || (event->index >= o->first_index && event->index <= o->last_index));
}

/* What is not well formed is copied, and says nothing of memory. */
static bool well_formed(const struct cut *cut, const struct nocap_event *event)
{
    return nocap_header_event_problem(nocap_reader_header(cut->reader), event) == NULL;
}

/* ---- passes over the trace ---- */

typedef enum nocap_status visit(struct cut *cut, const struct nocap_event *event,
                                struct nocap_error *err);

/* From event `from` on; a visit ends the pass with NOCAP_END. */
static enum nocap_status pass(struct cut *cut, uint64_t from, visit *each, struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_reader_seek_index(cut->reader, from, err));
    for (;;) {
        const struct nocap_event *events;
        size_t count;
        enum nocap_status status = nocap_reader_next(cut->reader, &events, &count, err);
        if (status != NOCAP_OK) {
            return status == NOCAP_END ? NOCAP_OK : status;
        }
        for (size_t i = 0; i < count; i++) {
            status = each(cut, &events[i], err);
            if (status != NOCAP_OK) {
                return status == NOCAP_END ? NOCAP_OK : status;
            }
        }
    }
}

static enum nocap_status find_bounds(struct cut *cut, const struct nocap_event *event,
                                     struct nocap_error *err)
{
    (void)err;
    bool first = cut->result->events == 0;
    cut->t_first = first || event->t < cut->t_first ? event->t : cut->t_first;
    cut->t_last = first || event->t > cut->t_last ? event->t : cut->t_last;
    cut->result->events = event->index + 1;
    if (in_time(cut, event) && chosen(cut, event)) {
        cut->first = event->index < cut->first ? event->index : cut->first;
        cut->last = event->index;
    }
    return NOCAP_OK;
}

/* Between start and last all that is chosen is kept: a time that goes back leaves no holes. */
static bool kept(const struct cut *cut, const struct nocap_event *event)
{
    return event->index >= cut->start && event->index <= cut->last && chosen(cut, event);
}

static enum nocap_status want_memory(struct cut *cut, const struct nocap_event *event,
                                     struct nocap_error *err)
{
    (void)err;
    if (event->index > cut->last) {
        return NOCAP_END;
    }
    if (kept(cut, event)) {
        cut->here |= nocap_event_class(event);
        if (well_formed(cut, event)) {
            cut_memory_want(cut->memory, event);
        }
    } else if (event->index >= cut->start) {
        bool there = cut->options.has_tile && !at_tile(cut, event);
        *(there ? &cut->elsewhere : &cut->dropped) |= nocap_event_class(event);
    }
    return NOCAP_OK;
}

/* Events that the file has lost to damage before this one: in the part a `drop` event says so, and
 * before it the contents of memory are unknown. */
static enum nocap_status take_gap(struct cut *cut, const struct nocap_event *event,
                                  struct nocap_error *err)
{
    uint64_t missing = event->index - cut->next;
    cut->next = event->index + 1;
    if (missing == 0) {
        return NOCAP_OK;
    }
    if (event->index <= cut->start) {
        cut_memory_forget(cut->memory);
        return NOCAP_OK;
    }
    const struct nocap_event drop = {.kind = NOCAP_EV_DROP,
                                     .t = event->t,
                                     .src = event->src,
                                     .has = NOCAP_F_DROPPED,
                                     .value = missing};
    cut->result->missing += missing;
    return nocap_writer_add(cut->writer, &drop, err);
}

static enum nocap_status copy(struct cut *cut, const struct nocap_event *event,
                              struct nocap_error *err)
{
    uint8_t bytes[8];
    struct nocap_event mem;
    if (event->index > cut->last) {
        return NOCAP_END;
    }
    RETURN_IF_FAILED(take_gap(cut, event, err));
    if (event->index < cut->start) {
        if (well_formed(cut, event)) {
            cut_memory_store(cut->memory, event);
        }
        return NOCAP_OK;
    }
    if (event->index == cut->start && cut->start != 0) {
        RETURN_IF_FAILED(
            cut_memory_write(cut->memory, cut->writer, event->t, &cut->result->mem, err));
    }
    if (kept(cut, event)) {
        cut->result->kept++;
        cut->result->lead += event->index < cut->first;
        return nocap_writer_add(cut->writer, event, err);
    }
    if (event->index <= cut->last && well_formed(cut, event) &&
        cut_memory_as_mem(cut->memory, event, bytes, &mem)) {
        cut->result->mem++;
        return nocap_writer_add(cut->writer, &mem, err);
    }
    return NOCAP_OK;
}

/* ---- writing ---- */

static enum nocap_status make_header(const struct cut *cut, struct nocap_header *header,
                                     struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_header_copy(header, nocap_reader_header(cut->reader), err));
    if (cut->start > 0) {
        header->complete = NOCAP_FALSE;
    }
    if (cut->last + 1 < cut->result->events || cut->truncated) {
        header->open_end = NOCAP_TRUE;
    }
    if ((header->observes & cut->dropped) != 0) {
        for (size_t i = 0; i < header->observed_count; i++) {
            free(header->observed[i]);
        }
        header->observed_count = 0;
        header->observes &= ~cut->dropped;
    }
    if (cut->options.has_tile) {
        struct nocap_xy *scope = realloc(header->scope, sizeof *scope);
        if (scope == NULL) {
            nocap_header_free(header);
            return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
        }
        scope[0] = cut->options.tile;
        header->scope = scope;
        header->scope_count = nocap_header_in_scope(nocap_reader_header(cut->reader), scope[0]);
        header->has_scope = true;
    }
    return NOCAP_OK;
}

/* Where only other tiles show such events, this one is not observed in that way. */
static const uint32_t of_others = NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST |
                                  NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO |
                                  NOCAP_CLASS_KERNEL;

static enum nocap_status write_part(struct cut *cut, struct nocap_error *err)
{
    struct nocap_header header;
    cut->result->kept = cut->result->lead = cut->result->mem = cut->result->missing = 0;
    cut->dropped = cut->elsewhere = cut->here = 0;
    cut->next = 0;
    cut_memory_free(cut->memory);
    RETURN_IF_FAILED(cut_memory_new(&cut->memory, err));
    RETURN_IF_FAILED(pass(cut, cut->start, want_memory, err));
    cut->dropped |= cut->elsewhere & ~cut->here & of_others;
    RETURN_IF_FAILED(make_header(cut, &header, err));
    enum nocap_status status = nocap_writer_open(&cut->writer, cut->out_path, &header, NULL, err);
    if (status == NOCAP_OK) {
        status = pass(cut, 0, copy, err);
        if (status == NOCAP_OK) {
            status = nocap_writer_close(cut->writer, NULL, err);
        } else {
            nocap_writer_abandon(cut->writer);
        }
    }
    nocap_header_free(&header);
    return status;
}

/* ---- checking ---- */

static bool same_finding(const struct nocap_finding *a, const struct nocap_finding *b)
{
    return a->rule == b->rule && a->t == b->t && a->chip == b->chip &&
           nocap_xy_equal(a->at, b->at) && a->agent == b->agent && a->thread == b->thread;
}

/* Of the file, not of its events: a part is a file of its own, which says `drop` where the other
 * one is damaged. */
static bool of_file(const struct nocap_finding *finding)
{
    return finding->rule == TRC_001 || finding->rule == TRC_002 || finding->rule == TRC_003 ||
           finding->rule == TRC_007;
}

/* Findings of the whole trace that the part should have too. */
static bool expected(const struct cut *cut, const struct nocap_finding *finding)
{
    const struct nocap_xy tile = cut->options.tile;
    bool here = !cut->options.has_tile || !finding->has_tile || nocap_xy_equal(finding->at, tile);
    return finding->index >= cut->first && finding->index <= cut->last && here;
}

/* Counts each finding of the whole trace that the part lacks, and the other way round. */
static enum nocap_status compare(struct cut *cut, const struct nocap_report *part,
                                 struct nocap_error *err)
{
    struct nocap_cut_result *r = cut->result;
    bool *met = calloc(part->finding_count + 1, sizeof *met);
    RETURN_ERROR_IF(met == NULL, err, NOCAP_E_MEMORY, "out of memory");
    r->findings = r->lost = r->added = r->before = 0;
    for (size_t i = 0; i < cut->whole->finding_count; i++) {
        const struct nocap_finding *finding = &cut->whole->findings[i];
        size_t k = 0;
        if (of_file(finding) || finding->index > cut->last) {
            continue;
        }
        while (k < part->finding_count && (met[k] || !same_finding(finding, &part->findings[k]))) {
            k++;
        }
        if (expected(cut, finding)) {
            r->findings++;
            r->lost += k == part->finding_count;
        } else {
            r->before += k != part->finding_count;
        }
        met[k] = true; /* findings of the lead-in are met, not missed */
    }
    for (size_t k = 0; k < part->finding_count; k++) {
        r->added += !met[k] && !of_file(&part->findings[k]);
    }
    free(met);
    return NOCAP_OK;
}

/* The part is judged with the same firmware, wherever it is written. */
static enum nocap_status check(const struct cut *cut, const char *path,
                               struct nocap_report **report, struct nocap_error *err)
{
    const struct nocap_check_options options = {.size = sizeof options,
                                                .max_per_rule = FINDINGS_MAX,
                                                .elf = cut->options.elf,
                                                .elf_count = cut->options.elf_count,
                                                .trust_paths = cut->options.trust_paths,
                                                .dense = cut->options.dense,
                                                .profile = cut->options.profile,
                                                .firmware_beside = cut->path};
    return nocap_check(report, path, &options, err);
}

static enum nocap_status check_part(struct cut *cut, struct nocap_error *err)
{
    struct nocap_report *part;
    RETURN_IF_FAILED(check(cut, cut->out_path, &part, err));
    enum nocap_status status = compare(cut, part, err);
    nocap_report_free(part);
    return status;
}

/* Each lead-in that is tried takes a pass over the trace; short ones are worth it, since few of
 * them have findings of their own. */
static uint64_t next_lead(uint64_t lead)
{
    return lead == 0 ? LEAD_FIRST : lead * (lead < LEAD_SMALL ? LEAD_STEP : LEAD_LEAP);
}

/* Longer and longer lead-ins, until the part has the findings of the whole and no others. */
static enum nocap_status write_parts(struct cut *cut, struct nocap_error *err)
{
    for (uint64_t lead = 0;; lead = next_lead(lead)) {
        cut->start = lead < cut->first ? cut->first - lead : 0;
        RETURN_IF_FAILED(write_part(cut, err));
        if (cut->options.unchecked) {
            return NOCAP_OK;
        }
        RETURN_IF_FAILED(check_part(cut, err));
        if (cut->start == 0 || cut->options.as_it_is ||
            cut->result->lost + cut->result->added == 0) {
            return NOCAP_OK;
        }
    }
}

static enum nocap_status run(struct cut *cut, struct nocap_error *err)
{
    RETURN_ERROR_IF(strcmp(cut->path, "-") == 0, err, NOCAP_E_USAGE,
                    "the trace is read several times: name a file");
    if (!cut->options.unchecked) {
        RETURN_IF_FAILED(check(cut, cut->path, &cut->whole, err));
    }
    RETURN_IF_FAILED(nocap_import_open(&cut->reader, cut->path, cut->options.dense, NULL, err));
    if (cut->options.profile != NULL) {
        RETURN_IF_FAILED(nocap_header_replace_profile(nocap_reader_own_header(cut->reader),
                                                      cut->options.profile, err));
    }
    RETURN_IF_FAILED(pass(cut, 0, find_bounds, err));
    const struct nocap_integrity *integrity = nocap_reader_integrity(cut->reader);
    for (size_t i = 0; i < integrity->count && i < NOCAP_DAMAGE_KEPT; i++) {
        cut->truncated |= integrity->damage[i].kind == NOCAP_DAMAGE_CUT;
    }
    cut->result->truncated = cut->truncated;
    RETURN_ERROR_IF(cut->result->events == 0, err, NOCAP_E_USAGE, "%s has no event", cut->path);
    RETURN_ERROR_IF(cut->first == UINT64_MAX, err, NOCAP_E_USAGE,
                    "none of the trace's %" PRIu64 " events is in the part: its times are %" PRIu64
                    " to %" PRIu64,
                    cut->result->events, cut->t_first, cut->t_last);
    return write_parts(cut, err);
}

enum nocap_status nocap_cut(const char *path, const char *out_path,
                            const struct nocap_cut_options *options,
                            struct nocap_cut_result *result, struct nocap_error *err)
{
    struct cut cut = {.options = {.size = sizeof cut.options},
                      .result = result,
                      .path = path,
                      .out_path = out_path,
                      .first = UINT64_MAX};
    if (options != NULL) {
        size_t size = options->size < sizeof cut.options ? options->size : sizeof cut.options;
        memcpy(&cut.options, options, size);
    }
    *result = (struct nocap_cut_result){0};
    enum nocap_status status = run(&cut, err);
    nocap_report_free(cut.whole);
    nocap_reader_close(cut.reader);
    cut_memory_free(cut.memory);
    return status;
}
