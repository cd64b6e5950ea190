/* SPDX-License-Identifier: Apache-2.0 */
/* The subordinate dispatcher: NCRISC of the dispatch tile, or of another, which sends go words
 * while the dispatcher prepares what comes next. A page is a command. */
#include <string.h>

#include "capture/sim/cq/machine.h"
#include "formats/blackhole/niu.h"

enum { BOOT = 260, POLL_PAGE = 10, POLL_SYNC = 10, POLL_STREAM = 12, SLOW = 200000 };

static cq_routine boot_streams, loop, set_go, send_go, send_words;

static uint8_t *memory(const struct sim_cq *q)
{
    return sim_cq_l1(q, q->board.subordinate);
}

void sim_cq_subordinate_boot(struct sim_cq *q, struct cq_agent *a)
{
    CO_BEGIN(a);
    CQ_AWAIT(q, a, CQ_WATCH_START,
             memory(q)[nocap_go_word_address(q->layout, 0) + NOCAP_GO_SIGNAL_BYTE] == NOCAP_GO_GO);
    CQ_SLEEP(q, a, BOOT, BOOT);
    q->subordinate.ptr = q->n->subordinate_buffer;
    CO_GOTO(q, a, sim_cq_is_apart(q) ? boot_streams : loop);
    CO_END(a);
}

static uint32_t read_count(struct sim_cq *q, uint32_t stream)
{
    uint32_t count = q->subordinate.streams[stream];
    sim_cq_emit_load_by(
        q, q->board.subordinate, NOCAP_BY_NCRISC,
        nocap_stream_address(q->n->first_stream + stream, NOCAP_STREAM_SPACE_AVAILABLE), 4, count,
        NULL);
    return count;
}

/* The counters of its tile are the dispatcher's, unless it has one of its own. */
static void boot_streams(struct sim_cq *q, struct cq_agent *a)
{
    CO_BEGIN(a);
    for (a->i = 0; a->i < q->n->streams; a->i++) {
        read_count(q, a->i);
        CQ_SLEEP(q, a, 4, 1);
        sim_cq_emit_store(
            q, q->board.subordinate, NOCAP_BY_NCRISC,
            nocap_stream_address(q->n->first_stream + a->i, NOCAP_STREAM_SPACE_UPDATE), 4, 0);
        CQ_SLEEP(q, a, 4, 1);
    }
    CO_GOTO(q, a, loop);
    CO_END(a);
}

/* Apart: while it waits for something else, it lets the dispatcher know of notifies. */
static bool passes_on(struct sim_cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    for (uint32_t i = 0; sim_cq_is_apart(q) && i < q->n->streams; i++) {
        if (s->passed_on[i] != s->streams[i]) {
            s->passed_on[i] = read_count(q, i);
            sim_cq_send_count(q, i, s->passed_on[i]);
        }
    }
    return true;
}

static const struct cq_place *word(struct sim_cq *q, struct cq_agent *a, uint32_t addr,
                                   uint32_t period)
{
    return sim_cq_tile_place(a, q->board.subordinate, NOCAP_BY_NCRISC, addr, 4, period);
}

static void read_command(struct sim_cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    memcpy(s->header, memory(q) + s->ptr, q->n->subordinate_page);
    nocap_cq_decode_by(q->set, NOCAP_CQ_DISPATCH, s->header, q->n->subordinate_page, &s->command);
    uint32_t size = sim_cq_header_size(q, s->command.id);
    uint64_t seq = sim_cq_shows(q, NOCAP_CLASS_CORE_LOAD) ? sim_cq_seq(q) : 0;
    if (seq != 0) {
        q->load_seq = seq;
    }
    sim_cq_emit_load_by(q, q->board.subordinate, NOCAP_BY_NCRISC, s->ptr, size, 0, s->header);
    sim_cq_emit_exec(q, q->board.subordinate, s->ptr, s->header, size, seq);
}

/* Its page goes back. Faults: another one with it; none any more. */
static void release(struct sim_cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    sim_cq_emit_unit(q, NOCAP_OP_DONE, q->board.subordinate, s->ptr, 0, 0);
    bool before = s->taken > 1; /* pages went back */
    s->keeps |= before && sim_cq_fault_due(q, NOCAP_SIM_FAULT_SUBORDINATE_RELEASE_MISSED);
    if (!s->keeps) {
        sim_cq_send_subordinate_release(
            q, sim_cq_fault_due(q, NOCAP_SIM_FAULT_SUBORDINATE_RELEASE_2) ? 2 : 1);
    }
    s->ptr += q->n->subordinate_page;
    if (s->ptr == q->n->subordinate_buffer + q->n->subordinate_size) {
        s->ptr = q->n->subordinate_buffer;
    }
}

/* Faults: it does not go on with what it has read; it takes long, and its pages run out. */
static void loop(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_subordinate *s = &q->subordinate;
    const uint32_t counter = sim_cq_semaphore(q->n, q->n->subordinate_published);
    CO_BEGIN(a);
    do {
        CQ_POLL(q, a, CQ_WATCH_PUBLISHED | CQ_WATCH_STREAM, word(q, a, counter, POLL_PAGE),
                passes_on(q) && sim_cq_load32(memory(q), counter) != s->taken);
        s->taken++;
        read_command(q);
        if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_SUBORDINATE_DEAD)) {
            a->run = NULL;
            return;
        }
        CQ_SLEEP(q, a, 20, 30);
        if (sim_cq_fault_pending(q, NOCAP_SIM_FAULT_SUBORDINATE_CREDIT_IGNORED)) {
            CQ_SLEEP(q, a, SLOW, 1);
        }
        if (s->command.id == NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA) {
            CO_CALL(q, a, set_go);
        } else if (s->command.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) {
            CO_CALL(q, a, send_go);
        }
        CQ_SLEEP(q, a, 6, 6);
        release(q);
    } while (s->command.id != NOCAP_CQ_DISPATCH_TERMINATE);
    a->run = NULL;
    CO_END(a);
}

static void set_go(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_subordinate *s = &q->subordinate;
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    CO_BEGIN(a);
    nocap_cq_subs(&s->command, &subs);
    for (uint32_t i = 0; i < subs.count && i < q->n->go_table; i++) {
        nocap_cq_sub(&subs, i, s->header, q->n->subordinate_page, &sub);
        s->go_table[i] = (uint32_t)sub.noc_xy;
    }
    CQ_SLEEP(q, a, 20, 20);
    CO_RETURN(q, a);
    CO_END(a);
}

static bool is_notified(const struct sim_cq *q, uint32_t stream)
{
    uint32_t notified = sim_cq_load32(memory(q), sim_cq_sync(q->n, stream));
    return (int32_t)(notified - q->subordinate.launched[stream]) > 0;
}

static bool has_counted(struct sim_cq *q)
{
    const struct nocap_cq_command *c = &q->subordinate.command;
    return sim_cq_has_counted(q, q->board.subordinate, c->wait_stream, c->wait_count);
}

/* When the dispatcher has notified it, and the workers of the launch before are done. Faults: it
 * waits for neither. */
static void send_go(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_subordinate *s = &q->subordinate;
    const uint32_t stream = (uint32_t)s->command.wait_stream - q->n->first_stream;
    const uint32_t sync = sim_cq_sync(q->n, stream);
    CO_BEGIN(a);
    s->hasty = s->launched[stream] > 0 && !is_notified(q, stream) &&
               sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_UNNOTIFIED);
    CQ_POLL(q, a, CQ_WATCH_NOTIFIED | CQ_WATCH_STREAM, word(q, a, sync, POLL_SYNC),
            passes_on(q) && (is_notified(q, stream) || s->hasty));
    s->launched[stream]++;
    CQ_SLEEP(q, a, 6, 4);
    s->hasty = !has_counted(q) && sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_UNCOUNTED);
    CQ_POLL(
        q, a, CQ_WATCH_STREAM,
        word(q, a,
             nocap_stream_address((unsigned)s->command.wait_stream, NOCAP_STREAM_SPACE_AVAILABLE),
             POLL_STREAM),
        has_counted(q) || s->hasty);
    CQ_SLEEP(q, a, 5, 4);
    CO_GOTO(q, a, send_words);
    CO_END(a);
}

struct nocap_cq_rect sim_cq_go_rectangle(struct sim_cq *q, const struct nocap_cq_command *c,
                                         const uint32_t *table, uint32_t i)
{
    uint64_t at = c->noc_data_start_index + NOCAP_CQ_MULTICAST_WORDS * (uint64_t)i;
    struct nocap_cq_rect rect = nocap_cq_multicast_words(c) == 0
                                    ? q->cores[CQ_ROLE_ALL].rect[0]
                                    : nocap_cq_rect_decode(table[at % q->n->go_table]);
    bool again = c->wait_count != 0; /* nothing says which one the first should have gone to */
    if (again && sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_SHORT)) {
        bool rows = rect.high.y > rect.low.y || rect.high.x == rect.low.x;
        rect.low.y = (uint8_t)(rect.low.y + rows);
        rect.low.x = (uint8_t)(rect.low.x + !rows);
        rect.high.y = rect.high.y < rect.low.y ? rect.low.y : rect.high.y;
    }
    return rect;
}

/* The go word is put over the command and goes out from there. Faults: one worker, or all, are left
 * out; one gets that of another. */
static void send_words(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_subordinate *s = &q->subordinate;
    CO_BEGIN(a);
    sim_cq_store32(memory(q), s->ptr, (uint32_t)s->command.go_signal);
    sim_cq_emit_store(q, q->board.subordinate, NOCAP_BY_NCRISC, s->ptr, 4, s->command.go_signal);
    CQ_SLEEP(q, a, 6, 4);
    for (s->turn = 0; s->turn < nocap_cq_multicasts(&s->command); s->turn++) {
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, q->packets_out < CQ_PACKETS_OUT);
        if (!sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_LEFT_OUT)) {
            sim_cq_send_go(q, sim_cq_go_rectangle(q, &s->command, s->go_table, s->turn), true,
                           s->ptr);
            CQ_SLEEP(q, a, 6, 6);
        }
    }
    for (s->turn = 0; s->turn < s->command.num_unicast_txns; s->turn++) {
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, q->packets_out < CQ_PACKETS_OUT);
        if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_LEFT_OUT) ||
            sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_SHORT)) {
            continue;
        }
        uint32_t entry = (uint32_t)s->command.noc_data_start_index +
                         nocap_cq_multicast_words(&s->command) + s->turn;
        struct nocap_xy to = nocap_niu_xy(s->go_table[entry % q->n->go_table]);
        to.y = (uint8_t)(to.y + sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_TO_WRONG_TILE));
        sim_cq_send_go(q, (struct nocap_cq_rect){to, to}, false, s->ptr);
        CQ_SLEEP(q, a, 6, 6);
    }
    CO_RETURN(q, a);
    CO_END(a);
}
