/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/foreign_text.h"
#include "checker/core/check_private.h"
#include "checker/core/feed.h"
#include "checker/core/notes.h"
#include "checker/core/selection.h"
#include "checker/report/waivers.h"
#include "formats/import/import.h"
#include "formats/trace/note.h"

static void report_observes(struct check *check, const char *observed)
{
    const struct nocap_divergence divergence = {
        .rule = TRC_009,
        .t = check->report->t_first,
        .present = UINT64_MAX,
        .thread = -1,
        .expected = "the event classes that the capture records",
        .observed = observed,
    };
    nocap_findings_add(&check->findings, &divergence);
}

/* A class of which there must be events, and there are none. */
static void report_absent(struct check *check, enum nocap_class_bit bit)
{
    const struct nocap_profile_choice *c = &check->choice;
    const struct class_proof *proof = &c->proofs[bit];
    char part[48] = "the whole trace", expected[80], observed[200];
    if (c->looked_at != UINT64_MAX) {
        snprintf(part, sizeof part, "the first %llu events", (unsigned long long)c->looked_at);
    }
    snprintf(expected, sizeof expected, "%s events, which `observes` lists", nocap_class_name(bit));
    snprintf(observed, sizeof observed,
             "no %s event in %s, and here %s: record them, or leave %s out of `observes`",
             nocap_class_name(bit), part, proof->act, nocap_class_name(bit));
    const struct nocap_divergence divergence = {
        .rule = TRC_009,
        .index = proof->index,
        .t = proof->t,
        .has_tile = proof->at.x != 0 || proof->at.y != 0, /* and not host memory */
        .at = proof->at,
        .present = UINT64_MAX,
        .thread = -1,
        .expected = expected,
        .observed = observed,
    };
    nocap_findings_add(&check->findings, &divergence);
}

static void judge_observes(struct check *check)
{
    const struct nocap_header *header = nocap_reader_header(check->reader);
    const char *name;
    if (!header->has_observes) {
        report_observes(check, "the header has no `observes`: only rules that need no event class "
                               "can be judged");
    }
    for (size_t i = 0; (name = nocap_header_observed(header, i)) != NULL; i++) {
        char text[200];
        if (nocap_class_unknown(name, text, sizeof text)) {
            report_observes(check, text);
        }
    }
    for (unsigned bit = 0; bit < NOCAP_CLASS_COUNT; bit++) {
        if ((check->choice.absent >> bit & 1u) != 0) {
            report_absent(check, (enum nocap_class_bit)bit);
        }
    }
}

/* What a capture that was killed left in its rings, and what is wrong with them. */
static enum nocap_status open_trace(struct check *check, const char *path, struct nocap_error *err)
{
    char text[NOCAP_RINGS_TEXT];
    struct nocap_import_result imported;
    RETURN_IF_FAILED(nocap_import_open(&check->reader, path, check->options.dense, &imported, err));
    nocap_rings_describe(&imported.recovered, path, text, sizeof text);
    if (text[0] == '\0') {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_report_add_note(check->report, "killed-capture", text, err));
    check->report->rings = check->report->notes[check->report->note_count - 1];
    return NOCAP_OK;
}

/* What was seen that no profile explains; without events of a queue nothing is missing there. */
static void judge_profile(struct check *check)
{
    const struct nocap_profile_choice *c = &check->choice;
    if (!c->unexplained && !c->queue_unexplained) {
        return;
    }
    const struct nocap_divergence divergence = {
        .rule = TRC_010,
        .index = c->unexplained ? c->index : c->queue_index,
        .t = c->unexplained ? c->t : c->queue_t,
        .present = UINT64_MAX,
        .thread = -1,
        .expected =
            c->unexplained
                ? "a mailbox of one of nocap profile list; or give one with --profile"
                : "a command queue of one of nocap profile list; or give one with --profile",
        .observed = c->unexplained ? c->seen : c->queue_seen,
    };
    nocap_findings_add(&check->findings, &divergence);
}

static enum nocap_status open_inputs(struct check *check, const char *path, struct nocap_error *err)
{
    struct nocap_report *report = check->report;
    RETURN_IF_FAILED(nocap_selection_parse(report->rules, check->options.rules, err));
    report->path = foreign_copy(path);
    RETURN_ERROR_IF(report->path == NULL, err, NOCAP_E_MEMORY, "out of memory");
    check->findings = (struct nocap_findings){.report = report, .options = &check->options};
    check->unsure = (struct unsure){.sink = nocap_findings_add, .context = &check->findings};
    RETURN_IF_FAILED(nocap_findings_open(&check->findings, err));
    RETURN_IF_FAILED(check->grows ? nocap_reader_open(&check->reader, path, err)
                                  : open_trace(check, path, err));
    const struct nocap_header *header = nocap_reader_header(check->reader);
    report->arch = header->arch;
    report->board = header->arch == NOCAP_ARCH_BLACKHOLE ? header->board : NOCAP_BOARD_UNKNOWN;
    report->time_unit = header->time_unit;
    report->clock_hz = header->clock_hz;
    const char *beside = check->options.firmware_beside;
    RETURN_IF_FAILED(nocap_images_open(&check->images, &check->options,
                                       beside != NULL ? beside : path, header, report, err));
    RETURN_IF_FAILED(nocap_profile_complete(&check->choice, check->reader, check->grows ? "" : path,
                                            check->options.profile, err));
    nocap_selection_observe(report->rules, header, check->images.any);
    if (check->choice.unexplained) {
        nocap_selection_unexplained(report->rules, true);
    } else if (check->choice.queue_unexplained) {
        nocap_selection_unexplained(report->rules, false);
    }
    return NOCAP_OK;
}

/* ---- what the engine tells ---- */

static void diverged(void *context, const struct nocap_divergence *divergence)
{
    struct check *check = context;
    if (check->grows || check->options.reported != NULL) {
        nocap_findings_add(&check->findings, divergence); /* as it is found */
    } else {
        unsure_add(&check->unsure, divergence);
    }
}

static void missing(void *context, uint32_t src, uint64_t since)
{
    struct check *check = context;
    unsure_lost(&check->unsure, src, since);
}

static void unordered(void *context, uint16_t chip, struct nocap_xy at, int thread,
                      enum nocap_rule rule)
{
    struct check *check = context;
    unsure_unordered(&check->unsure, chip, at, thread, rule);
}

static void requested(void *context, const struct nocap_event *request)
{
    const struct nocap_check_watch *watch = ((struct check *)context)->options.watch;
    watch->requested(watch->context, request);
}

static void requests_ended(void *context, const struct nocap_requests_end *end)
{
    const struct nocap_check_watch *watch = ((struct check *)context)->options.watch;
    watch->ended(watch->context, end);
}

/* Where the host alone is seen, its polls are the only sign of a hang, and they are few. */
static bool follows_waits(const struct nocap_header *header)
{
    const uint32_t host = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CQ_HOST;
    return header->observes != 0 && (header->observes & ~host) == 0;
}

static void judged(void *context, const struct nocap_event *event)
{
    const struct nocap_check_watch *watch = ((struct check *)context)->options.watch;
    watch->seen(watch->context, event);
}

static enum nocap_status open_engine(struct check *check, struct nocap_error *err)
{
    const struct nocap_header *header = nocap_reader_header(check->reader);
    const bool watched = check->options.watch != NULL;
    bool observable[NOCAP_RULE_COUNT], asked[NOCAP_RULE_COUNT];
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        observable[i] = check->report->rules[i].obstacle == NOCAP_OBSERVABLE;
        asked[i] = nocap_selection_judged(&check->report->rules[i]);
    }
    nocap_fold_close_over(asked);
    const struct nocap_elf_image *firmware[NOCAP_BY_TRISC2 + 1];
    memcpy(firmware, check->images.cores.image, sizeof firmware);
    const struct nocap_engine_options options = {
        .size = sizeof options,
        .observable = observable,
        .wanted = asked,
        .diverged = diverged,
        .requested = watched ? requested : NULL,
        .ended = watched ? requests_ended : NULL,
        .judged = watched ? judged : NULL,
        .missing = missing,
        .unordered = unordered,
        .context = check,
        .firmware = firmware,
        .waits = check->options.ended != NULL || follows_waits(header),
        .unexplained = check->choice.unexplained,
        .queue_unexplained = check->choice.queue_unexplained,
        .control_code = check->images.by_uc,
        .has_tile = check->options.has_tile,
        .tile = check->options.tile,
        .beside = check->options.beside && check->options.reported == NULL,
    };
    return nocap_engine_new(&check->engine, header, &options, err);
}

/* Where times are in order, the first and the last event tell those of all. */
static void count_events(struct nocap_report *report, const struct nocap_event *events,
                         size_t count, bool ordered)
{
    uint64_t first = report->t_first, last = report->t_last;
    if (report->events == 0 && count > 0) {
        first = last = events[0].t;
    }
    for (size_t i = 0; i < count; i = ordered && i + 1 < count ? count - 1 : i + 1) {
        first = events[i].t < first ? events[i].t : first;
        last = events[i].t > last ? events[i].t : last;
    }
    report->t_first = first;
    report->t_last = last;
    report->events += count;
}

static enum nocap_status open_watch(struct check *check, struct nocap_error *err)
{
    const struct nocap_check_watch *watch = check->options.watch;
    RETURN_IF_FAILED(nocap_engine_settle_alone(check->engine, err));
    check->opened = true;
    watch->opens(watch->context, check->engine);
    return NOCAP_OK;
}

static enum nocap_status replay(struct check *check, const struct nocap_event *events, size_t count,
                                struct nocap_error *err)
{
    const struct nocap_check_watch *watch = check->options.watch;
    size_t n = 0;
    if (watch != NULL && !check->opened) {
        n = watch->leads(watch->context, events, count);
        RETURN_IF_FAILED(nocap_engine_feed(check->engine, events, n, err));
        if (n == count) {
            return NOCAP_OK;
        }
        RETURN_IF_FAILED(open_watch(check, err));
    }
    return nocap_engine_feed(check->engine, events + n, count - n, err);
}

enum nocap_status check_take(void *context, const struct nocap_event *events, size_t count,
                             struct nocap_error *err)
{
    struct check *check = context;
    size_t n = 0;
    while (check->options.has_to && n < count && events[n].t <= check->options.to) {
        n++;
    }
    n = check->options.has_to ? n : count;
    count_events(check->report, events, n, nocap_reader_time_ordered(check->reader));
    check->stopped = n < count;
    check->report->ended = n > 0 && nocap_note_read(&events[n - 1]).form == NOCAP_NOTE_ENDED;
    enum nocap_status status = replay(check, events, n, err);
    return status == NOCAP_OK && check->stopped ? NOCAP_END : status;
}

static void gap(void *context)
{
    struct check *check = context;
    bool left_out = check->report->begins_at != 0 && check->report->events == 0;
    nocap_engine_forget(check->engine);
    if (check->options.watch != NULL && !left_out) {
        nocap_engine_settle(check->engine, NULL); /* without memory it fails at the end */
        check->options.watch->lost(check->options.watch->context);
    }
}

/* What the reader found wrong with the file, as findings. */
static enum nocap_status judge_file(struct check *check, struct nocap_error *err)
{
    static const struct {
        enum nocap_rule rule;
        const char *expected;
    } rows[] = {
        [NOCAP_DAMAGE_CUT] = {TRC_001, "an end that is not cut off"},
        [NOCAP_DAMAGE_BLOCK] = {TRC_002, "a whole block"},
        [NOCAP_DAMAGE_COUNTS] = {TRC_007, "the counts of the footer"},
    };
    const struct nocap_integrity *integrity = nocap_reader_integrity(check->reader);
    size_t kept = integrity->count < NOCAP_DAMAGE_KEPT ? integrity->count : NOCAP_DAMAGE_KEPT;
    for (size_t i = 0; i < kept; i++) {
        const struct nocap_damage *damage = &integrity->damage[i];
        const struct nocap_divergence divergence = {
            .rule = rows[damage->kind].rule,
            .index = damage->index,
            .t = check->report->t_last,
            .present = UINT64_MAX,
            .thread = -1,
            .expected = rows[damage->kind].expected,
            .observed = damage->text,
        };
        if (damage->kind == NOCAP_DAMAGE_CUT && damage->index > 0) {
            check->report->truncated = true;
            check->report->cut_after = damage->index - 1;
        }
        nocap_findings_add(&check->findings, &divergence);
    }
    if (integrity->count > kept) {
        char note[80];
        snprintf(note, sizeof note, "%zu more damaged places of the file are not listed",
                 integrity->count - kept);
        RETURN_IF_FAILED(nocap_report_add_note(check->report, "more-damage", note, err));
    }
    return NOCAP_OK;
}

/* The file was read to its end once, and each event was looked at. */
static void count_exercised(struct check *check)
{
    static const enum nocap_rule of_file[] = {TRC_001, TRC_002, TRC_007, TRC_009};
    static const enum nocap_rule of_event[] = {TRC_003, TRC_004, TRC_005, TRC_006, TRC_008};
    check->report->dropped = nocap_engine_dropped(check->engine);
    memcpy(check->exercised, nocap_engine_exercised(check->engine), sizeof check->exercised);
    for (size_t i = 0; i < sizeof of_file / sizeof of_file[0]; i++) {
        check->exercised[of_file[i]] = check->stopped || check->report->begins_at != 0 ? 0 : 1;
    }
    for (size_t i = 0; i < sizeof of_event / sizeof of_event[0]; i++) {
        check->exercised[of_event[i]] = check->report->events;
    }
    check->exercised[TRC_010] = check->choice.judged;
}

/* The index of the first event at or after the time, or of the end. */
static enum nocap_status index_at(struct nocap_reader *reader, uint64_t t, uint64_t *index,
                                  struct nocap_error *err)
{
    enum nocap_status status = nocap_reader_seek_time(reader, t, err);
    bool before = true;
    *index = 0;
    while (status == NOCAP_OK && before) {
        const struct nocap_event *events;
        size_t count;
        status = nocap_reader_next(reader, &events, &count, err);
        for (size_t i = 0; status == NOCAP_OK && i < count && before; i++) {
            before = events[i].t < t;
            *index = events[i].index + before;
        }
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

/* Leaves out what is long before the time that is asked for. */
static enum nocap_status begin_late(struct check *check, struct nocap_error *err)
{
    const struct nocap_check_options *options = &check->options;
    uint64_t index;
    if (!options->has_lead) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(index_at(check->reader, options->lead_to, &index, err));
    index = index > options->lead ? index - options->lead : 0;
    RETURN_IF_FAILED(nocap_reader_seek_index(check->reader, index, err));
    check->report->begins_at = index;
    return index == 0 ? NOCAP_OK : nocap_note_begins_at(check->report, err);
}

enum nocap_status check_begin(struct check *check, const char *path, struct nocap_error *err)
{
    RETURN_IF_FAILED(open_inputs(check, path, err));
    RETURN_IF_FAILED(begin_late(check, err));
    if (check->options.watch != NULL) {
        check->options.watch->begin(check->options.watch->context, check->reader);
    }
    return open_engine(check, err);
}

enum nocap_status check_judge_end(struct check *check, struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_engine_settle(check->engine, err));
    unsure_finish(&check->unsure);
    if (check->options.watch != NULL && !check->opened) {
        RETURN_IF_FAILED(open_watch(check, err));
    }
    if (!check->stopped) {
        RETURN_IF_FAILED(judge_file(check, err));
    }
    judge_observes(check);
    judge_profile(check);
    /* Whether the last events are missing: then a missing end proves nothing. */
    bool cut = check->stopped || check->report->truncated ||
               nocap_reader_header(check->reader)->open_end == NOCAP_TRUE ||
               nocap_reader_integrity(check->reader)->lost_end;
    nocap_findings_commit(&check->findings);
    if (check->options.ended != NULL) {
        RETURN_IF_FAILED(check->options.ended(check->options.ended_context, check->engine,
                                              check->reader, &check->images.cores, err));
    }
    if (!cut && check->options.ended == NULL) {
        RETURN_IF_FAILED(nocap_note_waits(check->report, check->engine, err));
    }
    RETURN_IF_FAILED(nocap_engine_finish(check->engine, cut, err));
    unsure_finish(&check->unsure);
    RETURN_IF_FAILED(
        nocap_note_layout(check->report, check->engine, nocap_reader_header(check->reader), err));
    RETURN_IF_FAILED(
        nocap_note_queue(check->report, check->engine, nocap_reader_header(check->reader), err));
    RETURN_IF_FAILED(nocap_note_queue_gaps(check->report, check->engine, err));
    count_exercised(check);
    check->report->outside = check->options.has_from && check->options.from > check->report->t_last;
    if (check->options.has_tile) {
        RETURN_IF_FAILED(nocap_note_tile(check->report, check->engine, check->options.tile, err));
    }
    RETURN_IF_FAILED(nocap_note_process_ended(check->report, err));
    if (nocap_engine_full(check->engine)) {
        char note[80];
        snprintf(note, sizeof note,
                 "the trace names more than %d cores: those beyond are not judged",
                 NOCAP_TILES_MAX);
        RETURN_IF_FAILED(nocap_report_add_note(check->report, "too-many-tiles", note, err));
    }
    return nocap_findings_finish(&check->findings, check->exercised, err);
}

static enum nocap_status run(struct check *check, const char *path, struct nocap_error *err)
{
    RETURN_IF_FAILED(check_begin(check, path, err));
    RETURN_IF_FAILED(nocap_feed(check->reader, path, check_take, gap, check, err));
    return check_judge_end(check, err);
}

enum nocap_status check_init(struct check *check, const struct nocap_check_options *options,
                             struct nocap_error *err)
{
    *check = (struct check){.options = {.size = sizeof check->options}};
    if (options != NULL) {
        size_t size = options->size < sizeof check->options ? options->size : sizeof check->options;
        memcpy(&check->options, options, size);
    }
    check->report = calloc(1, sizeof *check->report);
    return check->report == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory for a report")
                                 : NOCAP_OK;
}

void check_end(struct check *check, bool whole, struct nocap_report **report)
{
    nocap_engine_free(check->engine);
    unsure_free(&check->unsure);
    nocap_findings_close(&check->findings);
    nocap_images_close(&check->images);
    nocap_reader_close(check->reader);
    if (!whole) {
        nocap_report_free(check->report);
        check->report = NULL;
    }
    if (report != NULL) {
        *report = check->report;
    }
}

enum nocap_status nocap_check(struct nocap_report **report, const char *path,
                              const struct nocap_check_options *options, struct nocap_error *err)
{
    struct check check;
    enum nocap_status status = check_init(&check, options, err);
    *report = check.report;
    if (status == NOCAP_OK) {
        status = run(&check, path, err);
    }
    check_end(&check, status == NOCAP_OK, report);
    return status;
}
