/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/rows_replay.h"

#include <stdio.h>

#include "checker/core/feed.h"
#include "checker/core/profile_choice.h"
#include "checker/core/selection.h"
#include "formats/blackhole/xy.h"
#include "formats/import/import.h"

struct run {
    struct rows_replay *replay;
    struct nocap_engine *engine;
    uint64_t next, dropped; /* index after the latest event; events that were lost */
};

static void lost(struct run *run, uint64_t index)
{
    if (run->replay->lost != NULL) {
        run->replay->lost(run->replay, index);
    }
}

static void see(struct run *run, const struct nocap_event *e)
{
    struct rows_replay *r = run->replay;
    run->next = e->index + 1;
    if (nocap_header_event_problem(r->header, e) != NULL) {
        return;
    }
    if (e->kind == NOCAP_EV_DROP) {
        run->dropped += e->value;
        lost(run, e->index);
    } else if (r->event != NULL) {
        r->event(r, e);
    }
}

static enum nocap_status take(void *context, const struct nocap_event *events, size_t count,
                              struct nocap_error *err)
{
    struct run *run = context;
    struct rows_replay *r = run->replay;
    for (size_t i = 0; i < count; i++) {
        see(run, &events[i]);
    }
    RETURN_IF_FAILED(nocap_engine_feed(run->engine, events, count, err));
    return r->full ? nocap_rows_full(r->rows, err) : NOCAP_OK;
}

static void gap(void *context)
{
    struct run *run = context;
    lost(run, run->next);
    nocap_engine_forget(run->engine);
}

static enum nocap_status replay_all(struct run *run, struct nocap_reader *reader, const char *path,
                                    struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_feed(reader, path, take, gap, run, err));
    bool cut = nocap_reader_integrity(reader)->lost_end || run->replay->header->open_end;
    RETURN_IF_FAILED(nocap_engine_finish(run->engine, cut, err));
    return run->replay->full ? nocap_rows_full(run->replay->rows, err) : NOCAP_OK;
}

enum nocap_status rows_replay(struct rows_replay *replay, const char *path,
                              const struct nocap_row_options *options,
                              struct nocap_engine_options sinks, struct nocap_error *err)
{
    static const bool nothing[NOCAP_RULE_COUNT]; /* is asked for */
    struct nocap_rule_report rules[NOCAP_RULE_COUNT] = {0};
    bool observable[NOCAP_RULE_COUNT];
    struct nocap_reader *reader;
    struct nocap_import_result imported;
    struct nocap_profile_choice choice = {0};
    struct run run = {.replay = replay};
    RETURN_IF_FAILED(nocap_import_open(&reader, path, options->dense, &imported, err));
    enum nocap_status status = nocap_profile_complete(&choice, reader, path, options->profile, err);
    replay->header = nocap_reader_header(reader);
    nocap_selection_observe(rules, replay->header, false);
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        observable[i] =
            rules[i].obstacle == NOCAP_OBSERVABLE; /* what is known is known as in check */
    }
    sinks.size = sizeof sinks;
    sinks.observable = observable;
    sinks.wanted = nothing;
    sinks.context = replay;
    if (status == NOCAP_OK) {
        status = nocap_engine_new(&run.engine, replay->header, &sinks, err);
    }
    if (status == NOCAP_OK) {
        status = replay_all(&run, reader, path, err);
        nocap_rows_damage(options, path, nocap_reader_integrity(reader));
        if (run.dropped != 0 && options->lost != NULL) {
            options->lost(options->context, path, run.dropped);
        }
    }
    nocap_engine_free(run.engine);
    nocap_reader_close(reader);
    return status;
}

int64_t rows_ns(const struct nocap_header *header, int64_t duration)
{
    if (duration == NOCAP_CELL_NONE || header->time_unit == NOCAP_TIME_NS) {
        return duration;
    }
    if (header->clock_hz == 0) {
        return NOCAP_CELL_NONE;
    }
    double ns = (double)duration * 1e9 / (double)header->clock_hz + 0.5;
    return ns < 0x1p63 ? (int64_t)ns : NOCAP_CELL_NONE;
}

int64_t rows_tile(struct nocap_rows *rows, struct nocap_xy at)
{
    return rows_rectangle(rows, at, at);
}

int64_t rows_rectangle(struct nocap_rows *rows, struct nocap_xy from, struct nocap_xy to)
{
    char text[32];
    bool one = nocap_xy_equal(from, to);
    snprintf(text, sizeof text, one ? "%u,%u" : "%u,%u-%u,%u", from.x, from.y, to.x, to.y);
    return nocap_rows_text(rows, text);
}
