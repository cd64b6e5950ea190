/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "checker/views/watch.h"
#include "formats/blackhole/address_name.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tensix_isa.h"

enum { TILES_A_GO = NOCAP_MARK_FLOWS };

uint32_t watch_core(struct watch *w, struct watch_tile *tile, unsigned processor)
{
    if (tile->cores[processor] != 0) {
        return tile->cores[processor];
    }
    static const char *const names[NOCAP_PROCESSOR_COUNT] = {"BRISC", "NCRISC", "TRISC0", "TRISC1",
                                                             "TRISC2"};
    struct nocap_track made = watch_tile_track(tile, NOCAP_TRACK_SLICES);
    snprintf(made.name, sizeof made.name, "%s", names[processor]);
    return watch_track(w, &tile->cores[processor], &made);
}

static uint32_t value_track(struct watch *w, const struct watch_tile *tile, uint32_t *track,
                            enum nocap_track_kind kind, unsigned bits, const char *name)
{
    if (*track != 0) {
        return *track;
    }
    struct nocap_track made = watch_tile_track(tile, kind);
    made.bits = (uint8_t)bits;
    snprintf(made.name, sizeof made.name, "%s", name);
    return watch_track(w, track, &made);
}

/* ---- mailbox ---- */

/* "smsg:DDDG", a letter a subordinate as the watcher prints them. */
static const char *sync_text(const struct nocap_tile_state *s, char text[16], uint32_t *word)
{
    unsigned at = 0;
    *word = 0;
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        const struct nocap_core_state *core = &s->cores[p];
        if (!core->has_sync || !core->sync_known) {
            continue;
        }
        const char *name = nocap_sync_name(core->sync);
        text[at++] = name != NULL ? name[0] : '?';
        *word |= (uint32_t)core->sync << 8 * nocap_cores[p].sync_byte;
    }
    text[at] = '\0';
    return at == NOCAP_SYNC_BYTES ? text : NULL;
}

static bool is_new_launch(const struct watch_tile *tile, const struct nocap_tile_state *s)
{
    return s->under_way && (!tile->launched || s->go_written != tile->go_written);
}

/* From the GO to its DONE, or to the next GO where the trace does not show DONE. */
static void report_launch(struct watch *w, struct watch_tile *tile, const struct nocap_event *e,
                          const struct nocap_tile_state *s)
{
    struct nocap_track made = watch_tile_track(tile, NOCAP_TRACK_SLICES);
    made.role = NOCAP_ROLE_LAUNCH;
    strcpy(made.name, "launch");
    uint32_t track = watch_track(w, &tile->launches, &made);
    bool begins = is_new_launch(tile, s);
    if (tile->launched && (begins || !s->under_way)) {
        nocap_timeline_end(w->tl, track, e->t);
    }
    if (begins) {
        struct nocap_mark mark = watch_mark("launch", e);
        mark.flows = &tile->flow;
        mark.flow_count = 1;
        nocap_timeline_begin(w->tl, track, e->t, &mark);
    }
    tile->launched = s->under_way;
    tile->go_written = s->go_written;
}

static void report_go(struct watch *w, struct watch_tile *tile, const struct nocap_event *e,
                      const struct nocap_tile_state *s)
{
    char text[8];
    unsigned index = s->go_index_known && s->go_index < NOCAP_GO_WORDS ? s->go_index : 0;
    if (!s->go[index].known) {
        nocap_timeline_unknown(w->tl, tile->go, e->t);
        return;
    }
    unsigned signal = s->go[index].word.signal;
    const char *name = nocap_go_name(signal);
    snprintf(text, sizeof text, "0x%02x", signal);
    struct nocap_mark mark = watch_mark(name != NULL ? name : text, e);
    nocap_timeline_value(w->tl, value_track(w, tile, &tile->go, NOCAP_TRACK_STATE, 8, "go message"),
                         e->t, signal, &mark);
}

static void report_values(struct watch *w, struct watch_tile *tile, const struct nocap_event *e,
                          const struct nocap_tile_state *s)
{
    char text[16];
    uint32_t sync;
    const char *name = sync_text(s, text, &sync);
    report_go(w, tile, e, s);
    if (name != NULL) {
        struct nocap_mark mark = watch_mark(name, e);
        nocap_timeline_value(w->tl,
                             value_track(w, tile, &tile->sync, NOCAP_TRACK_STATE, 32, "smsg"), e->t,
                             sync, &mark);
    } else {
        nocap_timeline_unknown(w->tl, tile->sync, e->t);
    }
    if (s->rd_ptr_known) {
        nocap_timeline_value(
            w->tl, value_track(w, tile, &tile->rd_ptr, NOCAP_TRACK_COUNTER, 8, "launch_msg_rd_ptr"),
            e->t, s->rd_ptr, &watch_counter);
    } else {
        nocap_timeline_unknown(w->tl, tile->rd_ptr, e->t);
    }
}

struct rectangle {
    unsigned x0, y0, x1, y1;
};

/* Gives those that are told to go a flow each; these are told first, since they come from there. */
static void report_goes(struct watch *w, const struct nocap_event *e, const struct rectangle *r)
{
    uint64_t flows[TILES_A_GO];
    uint32_t count = 0;
    struct nocap_tile_state s;
    for (unsigned y = r->y0; y <= r->y1; y++) {
        for (unsigned x = r->x0; x <= r->x1; x++) {
            struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            bool met = nocap_engine_tile_parts(w->engine, e->chip, at, NOCAP_STATE_MAILBOX, &s);
            struct watch_tile *tile = met && s.under_way ? watch_tile(w, e->chip, at) : NULL;
            if (tile != NULL && is_new_launch(tile, &s) && count < TILES_A_GO) {
                flows[count++] = tile->flow = ++w->flows;
            }
        }
    }
    if (count != 0) {
        watch_queue_goes(w, e, flows, count);
    }
}

void watch_mailboxes(struct watch *w, const struct nocap_event *e, struct nocap_xy first,
                     struct nocap_xy last)
{
    const struct rectangle r = {
        first.x < last.x ? first.x : last.x, first.y < last.y ? first.y : last.y,
        first.x < last.x ? last.x : first.x, first.y < last.y ? last.y : first.y};
    struct nocap_tile_state s;
    report_goes(w, e, &r);
    for (unsigned y = r.y0; y <= r.y1; y++) {
        for (unsigned x = r.x0; x <= r.x1; x++) {
            struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            bool met = nocap_engine_tile_parts(w->engine, e->chip, at, NOCAP_STATE_MAILBOX, &s);
            struct watch_tile *tile = met ? watch_tile(w, e->chip, at) : NULL;
            if (tile != NULL) {
                report_launch(w, tile, e, &s);
                report_values(w, tile, e, &s);
            }
        }
    }
}

/* ---- accesses ---- */

static uint32_t source_track(struct watch *w, uint32_t source)
{
    static const struct nocap_track host = {.kind = NOCAP_TRACK_GROUP, .name = "host"};
    struct nocap_track made = {.kind = NOCAP_TRACK_SLICES,
                               .parent = watch_track(w, &w->host, &host)};
    snprintf(made.name, sizeof made.name, "host, source %u", source % WATCH_SOURCES);
    return watch_track(w, &w->sources[source % WATCH_SOURCES], &made);
}

/* One that stands for many that found the same. */
static void report_poll(struct watch *w, const struct nocap_event *e)
{
    char address[NOCAP_ADDRESS_NAME_MAX], name[NOCAP_ADDRESS_NAME_MAX + 24];
    const struct nocap_address place = {.space = (enum nocap_space)e->space,
                                        .board = w->header->board,
                                        .at = e->at,
                                        .layout = w->layout,
                                        .by = e->by,
                                        .addr = e->addr,
                                        .width = e->size};
    const struct nocap_core_info *core = nocap_core(e->by);
    bool of_tile = (e->has & NOCAP_F_AT) != 0 && e->space == NOCAP_SPACE_TILE;
    struct watch_tile *tile = of_tile && core != NULL ? watch_tile(w, e->chip, e->at) : NULL;
    uint32_t track = e->by == NOCAP_BY_HOST ? source_track(w, e->src)
                     : tile != NULL         ? watch_core(w, tile, core->processor)
                                            : 0;
    nocap_address_name(&place, address, sizeof address);
    if (of_tile && core == NULL) {
        snprintf(name, sizeof name, "poll %u,%u %s", e->at.x, e->at.y, address);
    } else {
        snprintf(name, sizeof name, "poll %s", address);
    }
    struct nocap_mark mark = watch_mark(name, e);
    watch_add(&mark, "polls", e->n);
    mark.waits = true;
    nocap_timeline_begin(w->tl, track, e->t, &mark);
    nocap_timeline_end(w->tl, track, e->t2);
}

/* Tiles that a circular buffer holds: those received less those acknowledged. It is shown from the
 * first one on. */
static void report_buffer(struct watch *w, const struct nocap_event *e)
{
    const uint64_t offset = e->addr - NOCAP_BASE_STREAM, stream = offset / NOCAP_STREAM_STRIDE;
    const uint64_t index = offset % NOCAP_STREAM_STRIDE / 4;
    bool received = index == NOCAP_STREAM_TILES_RECEIVED;
    if ((!received && index != NOCAP_STREAM_TILES_ACKED) || (e->has & NOCAP_F_TO) != 0) {
        return;
    }
    struct watch_tile *tile = watch_tile(w, e->chip, e->at);
    struct watch_cb *cb = tile != NULL ? &tile->cbs[stream - NOCAP_CB_STREAM] : NULL;
    if (cb == NULL) {
        return;
    }
    *(received ? &cb->received : &cb->acked) = (uint16_t)e->value;
    *(received ? &cb->received_known : &cb->acked_known) = true;
    uint16_t held = (uint16_t)(cb->received - cb->acked);
    if (cb->received_known && cb->acked_known && (held != 0 || cb->track != 0)) {
        char name[24];
        snprintf(name, sizeof name, "CB %u tiles held", (unsigned)(stream - NOCAP_CB_STREAM));
        nocap_timeline_value(w->tl, value_track(w, tile, &cb->track, NOCAP_TRACK_COUNTER, 16, name),
                             e->t, held, &watch_counter);
    }
}

/* Events were lost. */
void watch_forget_tile(struct watch_tile *tile)
{
    tile->launched = false;
    tile->flow = 0;
    for (unsigned i = 0; i < NOCAP_CB_COUNT; i++) {
        tile->cbs[i].received_known = tile->cbs[i].acked_known = false;
    }
}

void watch_access(struct watch *w, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_T2) != 0 && e->t2 > e->t && (!w->leads || e->t2 >= w->tl->options.from)) {
        report_poll(w, e);
    }
    if (e->space != NOCAP_SPACE_TILE || (e->has & NOCAP_F_AT) == 0) {
        return;
    }
    if (e->addr < NOCAP_MAILBOX_END && !w->leads) {
        watch_mailboxes(w, e, e->at, (e->has & NOCAP_F_TO) != 0 ? e->to : e->at);
    } else if (watch_is_buffer(e->addr) && (e->has & NOCAP_F_VALUE) != 0 &&
               w->header->arch == NOCAP_ARCH_BLACKHOLE) {
        report_buffer(w, e);
    }
}

/* ---- kernels ---- */

/* Of the RISC whose event it is; no tile: it is of none. */
static uint32_t track_of_core(struct watch *w, const struct nocap_event *e,
                              struct watch_tile **tile)
{
    const struct nocap_core_info *core = nocap_core(e->by);
    *tile = core != NULL ? watch_tile(w, e->chip, e->at) : NULL;
    return *tile != NULL ? watch_core(w, *tile, core->processor) : 0;
}

void watch_kernel(struct watch *w, const struct nocap_event *e)
{
    struct watch_tile *tile;
    uint32_t track = track_of_core(w, e, &tile);
    if (tile == NULL) {
        return;
    }
    if (e->op == NOCAP_OP_EXIT) {
        nocap_timeline_end(w->tl, track, e->t);
        return;
    }
    struct nocap_mark mark = watch_mark("kernel", e);
    if ((e->has & NOCAP_F_PC) != 0) {
        watch_add(&mark, "pc", e->pc);
    }
    mark.flows = &tile->flow;
    mark.flow_count = tile->launched && tile->flow != 0;
    nocap_timeline_begin(w->tl, track, e->t, &mark);
}

/* A core that is halted leaves its kernel. */
void watch_reset(struct watch *w, const struct nocap_event *e)
{
    struct watch_tile *tile;
    uint32_t track = track_of_core(w, e, &tile);
    if (tile == NULL) {
        return;
    }
    while (e->op == NOCAP_OP_HALT && nocap_timeline_is_open(w->tl, track)) {
        nocap_timeline_end(w->tl, track, e->t);
    }
    struct nocap_mark mark = watch_mark(e->op == NOCAP_OP_HALT ? "held in reset" : "released", e);
    nocap_timeline_instant(w->tl, track, e->t, &mark);
    watch_mailboxes(w, e, e->at, e->at);
}

/* ---- coprocessor ---- */

static uint32_t thread_track(struct watch *w, struct watch_tile *tile, unsigned thread)
{
    struct nocap_track made = watch_tile_track(tile, NOCAP_TRACK_SLICES);
    snprintf(made.name, sizeof made.name, "T%u", thread);
    return watch_track(w, &tile->threads[thread], &made);
}

static void report_stall(struct watch *w, struct watch_tile *tile, const struct nocap_event *e,
                         unsigned thread, const struct nocap_thread_state *state)
{
    char text[NOCAP_TENSIX_TEXT_MAX];
    uint32_t track = thread_track(w, tile, thread);
    if (nocap_timeline_is_open(w->tl, track)) {
        return;
    }
    nocap_tensix_disassemble(state->held_word, text, sizeof text);
    struct nocap_mark mark = watch_mark(text, e);
    mark.waits = true;
    if (state->condition[0] != '\0') {
        watch_add_text(&mark, "stalled by", state->condition);
    }
    nocap_timeline_begin(w->tl, track, e->t, &mark);
}

static void stall_event(struct watch *w, struct watch_tile *tile, const struct nocap_event *e)
{
    struct nocap_tile_state s;
    struct nocap_thread_state *state = &s.threads[e->thread];
    if (!nocap_engine_tile_parts(w->engine, e->chip, e->at, NOCAP_STATE_THREADS, &s)) {
        state->condition[0] = '\0';
    }
    state->held_word = (uint32_t)e->value;
    report_stall(w, tile, e, e->thread, state);
}

static void report_semaphores(struct watch *w, struct watch_tile *tile, uint64_t t,
                              const struct nocap_tile_state *s)
{
    static const char *const names[NOCAP_SEMAPHORE_COUNT] = {
#define SEMAPHORE(NAME, index) [index] = "semaphore " #NAME,
#include "formats/blackhole/tensix_gate.def"
    };
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        if ((s->semaphores_known >> i & 1) != 0) {
            nocap_timeline_value(
                w->tl, value_track(w, tile, &tile->semaphores[i], NOCAP_TRACK_COUNTER, 4, names[i]),
                t, s->semaphore[i], &watch_counter);
        }
    }
}

static void semaphore_event(struct watch *w, struct watch_tile *tile, const struct nocap_event *e)
{
    unsigned opcode = nocap_tensix_opcode((uint32_t)e->value);
    struct nocap_tile_state s;
    bool changes = opcode == NOCAP_TENSIX_SEMPOST || opcode == NOCAP_TENSIX_SEMGET ||
                   opcode == NOCAP_TENSIX_SEMINIT || (e->has & NOCAP_F_SEM) != 0;
    if (changes && nocap_engine_tile_parts(w->engine, e->chip, e->at, NOCAP_STATE_SEMAPHORES, &s)) {
        report_semaphores(w, tile, e->t, &s);
    }
}

static void report_unit(struct watch *w, struct watch_tile *tile, const struct nocap_event *e)
{
    const char *unit = nocap_field_value_name(NOCAP_FIELD_UNIT, e->unit);
    struct nocap_track made = watch_tile_track(tile, NOCAP_TRACK_SLICES);
    snprintf(made.name, sizeof made.name, "%s for T%u", unit, e->thread);
    uint32_t track = watch_track(w, &tile->units[e->thread][e->unit], &made);
    if (nocap_timeline_is_open(w->tl, track) == (e->busy != 0)) {
        return;
    }
    struct nocap_mark mark = watch_mark("busy", e);
    if (e->busy) {
        nocap_timeline_begin(w->tl, track, e->t, &mark);
    } else {
        nocap_timeline_end(w->tl, track, e->t);
    }
}

void watch_tensix(struct watch *w, const struct nocap_event *e)
{
    struct watch_tile *tile =
        e->thread < NOCAP_TENSIX_THREADS ? watch_tile(w, e->chip, e->at) : NULL;
    if (tile == NULL) {
        return;
    }
    switch (e->op) {
    case NOCAP_OP_STALL: stall_event(w, tile, e); break;
    case NOCAP_OP_ISSUE:
        nocap_timeline_end(w->tl, tile->threads[e->thread], e->t);
        semaphore_event(w, tile, e);
        break;
    case NOCAP_OP_UNIT: report_unit(w, tile, e); break;
    default: break;
    }
}

/* ---- after the lead ---- */

static void catch_up_core(struct watch *w, struct watch_tile *tile, const struct nocap_event *e,
                          unsigned processor)
{
    uint32_t track = watch_core(w, tile, processor);
    if (!nocap_timeline_is_open(w->tl, track)) {
        struct nocap_mark mark = watch_mark("kernel", e);
        nocap_timeline_begin(w->tl, track, e->t, &mark);
    }
}

void watch_catch_up(struct watch *w, const struct nocap_event *e, uint16_t chip, struct nocap_xy at)
{
    struct nocap_tile_state s;
    const unsigned parts = NOCAP_STATE_MAILBOX | NOCAP_STATE_THREADS | NOCAP_STATE_SEMAPHORES;
    struct watch_tile *tile =
        nocap_engine_tile_parts(w->engine, chip, at, parts, &s) ? watch_tile(w, chip, at) : NULL;
    if (tile == NULL) {
        return;
    }
    if (is_new_launch(tile, &s)) {
        tile->flow = ++w->flows;
    }
    report_launch(w, tile, e, &s);
    report_values(w, tile, e, &s);
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        if (s.cores[p].in_kernel == NOCAP_YES) {
            catch_up_core(w, tile, e, p);
        }
    }
    for (unsigned i = 0; i < NOCAP_TENSIX_THREADS; i++) {
        if (s.threads[i].held) {
            report_stall(w, tile, e, i, &s.threads[i]);
        }
    }
    report_semaphores(w, tile, e->t, &s);
    watch_requests_catch_up(w, tile, e->t);
}
