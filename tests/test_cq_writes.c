/* SPDX-License-Identifier: Apache-2.0 */
/* The queue's device against its records: a correct run in which one request of the prefetcher or
 * of the dispatcher differs is one finding, whatever workers do with it afterwards. */
#include "tests/cq_run.h"

enum { RUN_PROGRAMS = 6, PLACES = 12, OF_PREFETCH = 2, OF_DISPATCH = 3 };

static const struct nocap_sim_options raw_view = {.size = sizeof raw_view,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH,
                                                  .launches = RUN_PROGRAMS,
                                                  .seed = 23,
                                                  .variant = 4};

/* Of the run, without event `without`; SIZE_MAX: of all. */
static struct nocap_report *check_events(const struct run *run,
                                         const struct nocap_sim_options *options, size_t without)
{
    struct run_trace t = run_trace_of(options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run->count; i++) {
        if (i != without) {
            run_trace_add(&t, &run->events[i]);
        }
    }
    return run_trace_check(&t);
}

static void assert_only(struct nocap_report *report, const char *rule, size_t where,
                        const char *what)
{
    if (report->finding_count != 1 || strcmp(nocap_rules[report->findings[0].rule].id, rule) != 0) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("%s, event %zu: %s alone is to be found", what, where, rule);
    }
    nocap_report_free(report);
}

/* A write that a command of the dispatcher says, other than a completion. */
static bool is_write(const struct nocap_event *e)
{
    const uint64_t base = NOCAP_CQ_PCIE_ADDRESS_BIT | NOCAP_CQ_SYSMEM_BASE;
    bool completion =
        e->daddr == base + NOCAP_CQ_HOST_WR ||
        (e->daddr >= base + NOCAP_CQ_COMPLETION && e->daddr < base + NOCAP_CQ_COMPLETION_END);
    return e->kind == NOCAP_EV_NOC && e->op == NOCAP_OP_WRITE && e->phase == NOCAP_PHASE_ISSUE &&
           e->at.y == OF_DISPATCH && !completion;
}

static bool to_tile(const struct nocap_event *e)
{
    return is_write(e) && (e->daddr & NOCAP_CQ_PCIE_ADDRESS_BIT) == 0;
}

static bool has_bytes(const struct nocap_event *e)
{
    return to_tile(e) && e->data_size > 0;
}

static bool to_rectangle(const struct nocap_event *e)
{
    return to_tile(e) && e->mcast;
}

static bool is_stamp(const struct nocap_event *e)
{
    return is_write(e) && (e->daddr & NOCAP_CQ_PCIE_ADDRESS_BIT) != 0;
}

static bool is_relay(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_NOC && e->op == NOCAP_OP_WRITE && e->phase == NOCAP_PHASE_ISSUE &&
           e->at.y == OF_PREFETCH && e->data_size > 0;
}

static void move(struct nocap_event *e)
{
    e->daddr += NOCAP_CQ_L1_ALIGN;
}

static void move_below(struct nocap_event *e)
{
    e->daddr = NOCAP_CQ_QUEUE_END; /* nothing lies there in the dispatch tile */
}

static void aim_elsewhere(struct nocap_event *e)
{
    if (e->mcast) {
        e->d2.x++;
    } else {
        e->d.y++;
    }
}

static void change_byte(struct nocap_event *e)
{
    ((uint8_t *)(uintptr_t)e->data)[e->data_size / 2] ^= 1;
}

static void cut_short(struct nocap_event *e)
{
    e->size -= NOCAP_CQ_L1_ALIGN;
    e->data_size = e->data_size > NOCAP_CQ_L1_ALIGN ? e->data_size - NOCAP_CQ_L1_ALIGN : 0;
}

static bool is_long(const struct nocap_event *e)
{
    return to_tile(e) && e->size > NOCAP_CQ_L1_ALIGN;
}

static void use_other_network(struct nocap_event *e)
{
    e->noc = NOCAP_CQ_NOC_UPSTREAM;
}

static const struct {
    const char *what;
    bool (*is)(const struct nocap_event *e);
    void (*change)(struct nocap_event *e); /* NULL: it is left out */
    const char *rule;
} changes[] = {
    {"another address", to_tile, move, "CQ-072"},
    {"another tile", to_tile, aim_elsewhere, "CQ-072"},
    {"another byte", has_bytes, change_byte, "CQ-072"},
    {"less than all", is_long, cut_short, "CQ-072"},
    {"another network", to_tile, use_other_network, "CQ-072"},
    {"left out", to_rectangle, NULL, "CQ-072"},
    {"another slot", is_stamp, move, "CQ-072"},
    {"a stamp left out", is_stamp, NULL, "CQ-072"},
    {"relayed to another tile", is_relay, aim_elsewhere, "CQ-036"},
    {"relayed below the buffer", is_relay, move_below, "CQ-036"},
    {"another byte relayed", is_relay, change_byte, "CQ-071"},
};

/* What the request brings to host memory; NULL: it goes elsewhere. */
static struct nocap_event *arrival_of(struct run *run, size_t request)
{
    const struct nocap_event *r = &run->events[request];
    for (size_t i = request + 1; i < run->count && is_stamp(r); i++) {
        struct nocap_event *e = &run->events[i];
        if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_DMA && e->size == r->size) {
            return e;
        }
    }
    return NULL;
}

static void one_change_is_one_finding(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
        struct run run = run_with(raw_view);
        size_t end = run.count - run.count / 8; /* after the last nothing need follow */
        size_t count = 0, checked = 0;
        for (size_t i = 0; i < end; i++) {
            count += changes[c].is(&run.events[i]);
        }
        for (size_t i = 0, nth = 0; i < end; i++) {
            struct nocap_event *e = &run.events[i], before = *e;
            if (!changes[c].is(e) || nth++ * PLACES / count < checked) {
                continue;
            }
            bool without = changes[c].change == NULL;
            struct nocap_event *arrival = without ? arrival_of(&run, i) : NULL;
            struct nocap_event arrived = arrival != NULL ? *arrival : *e;
            if (!without) {
                changes[c].change(e);
            } else if (arrival != NULL) { /* nothing arrives; the endpoint reads */
                arrival->kind = NOCAP_EV_READ;
                arrival->data_size = 0;
                arrival->has &= ~(uint64_t)NOCAP_F_DATA;
            }
            assert_only(check_events(&run, &raw_view, without ? i : SIZE_MAX), changes[c].rule, i,
                        changes[c].what);
            if (changes[c].change == change_byte) {
                change_byte(e);
            }
            *e = before;
            if (arrival != NULL) {
                *arrival = arrived;
            }
            checked++;
        }
        assert_int_equal(checked, count < PLACES ? count : PLACES);
        assert_true(count > 4);
        run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_change_is_one_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
