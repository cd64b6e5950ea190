/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: runs of the simulated command queue, their rings counted from the events by the fact
 * sheet, and what the checker says of them. */
#ifndef NOCAP_TESTS_CQ_RUN_H
#define NOCAP_TESTS_CQ_RUN_H

#include "tests/run_trace.h"

#include <malloc.h>
#include <unistd.h>

#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/cq_layout.h"
#include "formats/blackhole/registers.h"
#include "tests/temp_dir.h"

/* ---- the rings, as the raw view shows them ---- */

struct rings {
    struct nocap_cq_board board;
    uint64_t events, last_time, records, credits, pages, released, published;
    uint64_t landed, asked;
    uint32_t slot[NOCAP_CQ_QUEUE_SLOTS];
    uint32_t next_host_slot, next_device_slot;
    uint32_t wr, rd, event;
    uint64_t issue, issue_wraps, queue_wraps, buffer_wraps, cmddat_wraps, completion_wraps;
    uint64_t buffer, cmddat;
    uint32_t notified, go, launches;
    size_t used_first; /* bytes that malloc has given */
    bool ended;        /* part of a block was released, as at the end of the dispatcher */
};

static inline bool is_at(const struct nocap_event *e, struct nocap_xy at)
{
    return e->at.x == at.x && e->at.y == at.y;
}

static inline bool is_slot(const struct nocap_event *e, const struct rings *r)
{
    return is_at(e, r->board.prefetch) && e->size == 2 && e->addr >= NOCAP_CQ_QUEUE &&
           e->addr < NOCAP_CQ_QUEUE_END;
}

/* Slots are filled by the host where they are 0, and freed by the device where they are not, each
 * in turn. */
static inline void follow_slot(struct rings *r, const struct nocap_event *e)
{
    uint32_t slot = (uint32_t)(e->addr - NOCAP_CQ_QUEUE) / 2;
    if (e->by == NOCAP_BY_HOST) {
        assert_int_equal(slot, r->next_host_slot);
        assert_int_equal(r->slot[slot], 0);
        assert_true(e->value > 0 && e->value < 0x8000);
        r->next_host_slot = (slot + 1) % NOCAP_CQ_QUEUE_SLOTS;
        r->records++;
    } else {
        assert_int_equal(slot, r->next_device_slot);
        assert_int_not_equal(r->slot[slot], 0);
        assert_int_equal(e->value, 0);
        r->next_device_slot = (slot + 1) % NOCAP_CQ_QUEUE_SLOTS;
        r->queue_wraps += r->next_device_slot == 0;
    }
    r->slot[slot] = (uint32_t)e->value;
}

static inline void follow_noc(struct rings *r, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_DADDR) == 0) {
        return;
    }
    if (e->op == NOCAP_OP_ATOMIC && e->d.y == r->board.dispatch.y) {
        r->published += e->value;
        assert_true(r->published <= r->pages);
    } else if (e->op == NOCAP_OP_ATOMIC) {
        assert_false(r->ended);
        r->released += e->value;
        r->ended = e->value != NOCAP_CQ_BLOCK_PAGES;
        assert_true(r->released <= r->published && e->value <= NOCAP_CQ_BLOCK_PAGES);
    } else if (e->op == NOCAP_OP_READ) {
        r->cmddat_wraps += e->daddr < r->cmddat;
        r->cmddat = e->daddr;
        r->issue_wraps += e->saddr < r->issue;
        r->issue = e->saddr;
        assert_true(e->daddr + e->size <= NOCAP_CQ_CMDDAT_END);
    } else if (e->op == NOCAP_OP_WRITE && is_at(e, r->board.prefetch)) {
        r->buffer_wraps += e->daddr < r->buffer;
        r->buffer = e->daddr;
        uint64_t first = (e->daddr - NOCAP_CQ_BUFFER) % NOCAP_CQ_PAGE;
        r->pages += (first + e->size + NOCAP_CQ_PAGE - 1) / NOCAP_CQ_PAGE;
        assert_true(e->daddr + e->size <= NOCAP_CQ_BUFFER_END);
    } else if (e->op == NOCAP_OP_WRITE && e->size == 4 && e->daddr == 0x370 && !e->mcast) {
        r->go++;
    } else if (e->op == NOCAP_OP_INLINE) {
        assert_true(e->posted && e->value == NOCAP_NOTIFY_VALUE);
        assert_int_equal(e->daddr, nocap_notify_address(0));
        r->notified++;
    }
}

static inline void follow_write(struct rings *r, const struct nocap_event *e)
{
    if (is_slot(e, r)) {
        follow_slot(r, e);
    } else if (e->by == NOCAP_BY_BRISC && e->addr == NOCAP_CQ_COMPLETION_WR) {
        uint32_t turned = ((uint32_t)e->value ^ r->wr) & NOCAP_CQ_TOGGLE;
        uint32_t units = (uint32_t)e->value & ~NOCAP_CQ_TOGGLE;
        assert_int_equal(turned != 0, units == NOCAP_CQ_COMPLETION_FIRST);
        assert_true(turned != 0 || units == (r->wr & ~NOCAP_CQ_TOGGLE) + NOCAP_CQ_PAGE_UNITS);
        r->completion_wraps += turned != 0;
        r->wr = (uint32_t)e->value;
    } else if (e->by == NOCAP_BY_HOST && e->addr == NOCAP_CQ_COMPLETION_RD &&
               e->space == NOCAP_SPACE_TILE) {
        r->rd = (uint32_t)e->value;
    } else if (e->by == NOCAP_BY_HOST && e->addr == NOCAP_CQ_COMPLETION_WR) {
        r->wr = (uint32_t)e->value;
    }
}

static inline enum nocap_status follow(void *context, const struct nocap_event *e,
                                       struct nocap_error *err)
{
    struct rings *r = context;
    (void)err;
    assert_null(nocap_event_problem(e));
    assert_true(e->t >= r->last_time);
    r->last_time = e->t;
    if (e->kind == NOCAP_EV_NOC) {
        follow_noc(r, e);
    } else if (e->kind == NOCAP_EV_WRITE) {
        follow_write(r, e);
    } else if (e->kind == NOCAP_EV_READ && e->by == NOCAP_BY_HOST &&
               e->space == NOCAP_SPACE_SYSMEM && e->addr >= NOCAP_CQ_COMPLETION &&
               e->addr < NOCAP_CQ_COMPLETION_END) {
        assert_int_equal(e->value, ++r->event);
    }
    r->events++;
    return NOCAP_OK;
}

static inline enum nocap_status follow_memory(void *context, const struct nocap_event *e,
                                              struct nocap_error *err)
{
    struct rings *r = context;
    if (r->events == 0) {
        r->used_first = mallinfo2().uordblks;
    } else if (r->events % 100000 == 0) {
        assert_int_equal(mallinfo2().uordblks, r->used_first);
    }
    return follow(context, e, err);
}

static inline struct rings *follow_run(struct nocap_sim_options options)
{
    struct nocap_error err = {{0}};
    struct rings *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->board = nocap_cq_board(options.board);
    options.size = sizeof options;
    if (nocap_sim_run(&options, follow_memory, r, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(r->published, r->pages);
    assert_int_equal(r->wr, r->rd);
    assert_true(!r->ended || r->released == r->published);
    return r;
}

/* ---- what the checker says ---- */

static inline struct nocap_report *check_run(struct nocap_sim_options options)
{
    struct run_trace t = run_trace_simulated("run.nocap", options);
    return run_trace_check(&t);
}

static inline void assert_clean(struct nocap_sim_options options)
{
    struct nocap_report *report = check_run(options);
    if (report->finding_count > 0) {
        const struct nocap_finding *f = &report->findings[0];
        fail_msg("seed %llu, view %u: %s at event %llu: %s", (unsigned long long)options.seed,
                 options.view, nocap_rules[f->rule].id, (unsigned long long)f->index, f->message);
    }
    nocap_report_free(report);
}

static inline bool strikes_in(enum nocap_sim_fault fault, enum nocap_sim_scenario scenario)
{
    return nocap_sim_fault_triggers(&nocap_sim_faults[fault], scenario);
}

/* One fault is one finding. */
static inline void assert_found(struct nocap_sim_options options)
{
    const struct nocap_sim_fault_info *info = &nocap_sim_faults[options.fault];
    struct nocap_report *report = check_run(options);
    if (report->finding_count != 1 ||
        (int)report->findings[0].rule != nocap_rule_from_id(info->rules)) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("%s, seed %llu, view %u: %s alone is to be found", info->name,
                 (unsigned long long)options.seed, options.view, info->rules);
    }
    nocap_report_free(report);
}

#endif
