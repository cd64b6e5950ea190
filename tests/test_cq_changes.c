/* SPDX-License-Identifier: Apache-2.0 */
/* A correct run of the command queue in which one event is left out, doubled, changed or late: one
 * finding, by the rule of what was changed, wherever in the run it is. */
#include "tests/cq_change.h"

#include "formats/blackhole/mailbox.h"

enum { COMMANDS = 20, GO_SIGNAL = 0x373 };

/* Which events: accesses by an agent to an address range of a tile or of host memory, or requests
 * to an address. */
struct target {
    uint8_t kind, by, space, op;
    uint64_t first, last;
};
#define STORES(agent, from, to)                                                                    \
    {                                                                                              \
        NOCAP_EV_WRITE, NOCAP_BY_##agent, NOCAP_SPACE_TILE, 0, from, to                            \
    }
#define LOADS(agent, from, to)                                                                     \
    {                                                                                              \
        NOCAP_EV_READ, NOCAP_BY_##agent, NOCAP_SPACE_TILE, 0, from, to                             \
    }
#define TO_MEMORY(agent, from, to)                                                                 \
    {                                                                                              \
        NOCAP_EV_WRITE, NOCAP_BY_##agent, NOCAP_SPACE_SYSMEM, 0, from, to                          \
    }
#define RANGE(operation, y, from, to)                                                              \
    {                                                                                              \
        NOCAP_EV_NOC, 0, y, NOCAP_OP_##operation, from, to                                         \
    }
#define REQUESTS(operation, y, at) RANGE(operation, y, at, at)
__extension__ enum {
    UPDATE = 0xFFB70438,
    COUNT = 0xFFB704A4,
    OF_PREFETCH = 2,
    OF_DISPATCH = 3,
    PCIE = 24,
    TIMESTAMPS = 0x1000000046000000,
    MEMORY = NOCAP_CQ_PCIE_ADDRESS_BIT | NOCAP_CQ_SYSMEM_BASE
};
#define COMPLETIONS                                                                                \
    RANGE(WRITE, PCIE, MEMORY + NOCAP_CQ_COMPLETION, MEMORY + NOCAP_CQ_COMPLETION_END - 1)

struct one_change {
    struct target target;
    enum change change;
    const char *rules; /* one of them */
};
static const struct one_change changes[] = {
    {STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), DROPPED, "CQ-029"},
    {STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), DOUBLED, "CQ-028"},
    {STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), COUNTED_UP, "CQ-002"},
    {TO_MEMORY(HOST, NOCAP_CQ_ISSUE, NOCAP_CQ_ISSUE_END - 1), MOVED, "CQ-001"},
    {TO_MEMORY(HOST, NOCAP_CQ_ISSUE, NOCAP_CQ_ISSUE_END - 1), SHIFTED, "CQ-027"},
    {STORES(BRISC, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), DROPPED, "CQ-030"},
    {STORES(BRISC, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), DOUBLED, "CQ-028"},
    {STORES(BRISC, NOCAP_CQ_RD_PTR_ECHO, NOCAP_CQ_RD_PTR_ECHO), COUNTED_UP, "CQ-031"},
    {STORES(BRISC, NOCAP_CQ_RD_PTR_ECHO, NOCAP_CQ_RD_PTR_ECHO), DOUBLED, "CQ-030"},
    {STORES(BRISC, NOCAP_CQ_RD_PTR_ECHO, NOCAP_CQ_RD_PTR_ECHO), LATE, "CQ-030"},
    {STORES(BRISC, NOCAP_CQ_PCIE_PTR_ECHO, NOCAP_CQ_PCIE_PTR_ECHO), DROPPED, "CQ-030"},
    {STORES(BRISC, NOCAP_CQ_PCIE_PTR_ECHO, NOCAP_CQ_PCIE_PTR_ECHO), DOUBLED, "CQ-030"},
    {STORES(BRISC, NOCAP_CQ_PCIE_PTR_ECHO, NOCAP_CQ_PCIE_PTR_ECHO), BEFORE_READ, "CQ-030"},
    {REQUESTS(ATOMIC, OF_DISPATCH, NOCAP_CQ_SEM0), DROPPED, "CQ-037"},
    {REQUESTS(ATOMIC, OF_DISPATCH, NOCAP_CQ_SEM0), DOUBLED, "CQ-037"},
    {REQUESTS(ATOMIC, OF_DISPATCH, NOCAP_CQ_SEM0), COUNTED_UP, "CQ-037"},
    {REQUESTS(ATOMIC, OF_PREFETCH, NOCAP_CQ_SEM0), DROPPED, "CQ-040"},
    {REQUESTS(ATOMIC, OF_PREFETCH, NOCAP_CQ_SEM0), DOUBLED, "CQ-039"},
    {REQUESTS(ATOMIC, OF_PREFETCH, NOCAP_CQ_SEM0), COUNTED_UP, "CQ-039"},
    {STORES(BRISC, GO_SIGNAL, GO_SIGNAL), DROPPED, "CQ-054"},
    {REQUESTS(INLINE, OF_DISPATCH, UPDATE), DROPPED, "CQ-055"},
    {REQUESTS(INLINE, OF_DISPATCH, UPDATE), DOUBLED, "CQ-055"},
    {REQUESTS(INLINE, OF_DISPATCH, UPDATE), NEGATIVE, "CQ-056"},
    {RANGE(WRITE, PCIE, TIMESTAMPS, TIMESTAMPS + 0xFFFF), DROPPED, "NOC-047"},
    {COMPLETIONS, DROPPED, "CQ-060"}, /* its bytes arrive all the same */
    {COMPLETIONS, DOUBLED, "CQ-059"},
    {RANGE(WRITE, PCIE, MEMORY + NOCAP_CQ_HOST_WR, MEMORY + NOCAP_CQ_HOST_WR), DROPPED, "NOC-047"},
    {LOADS(BRISC, NOCAP_CQ_CMDDAT_END, NOCAP_CQ_BUFFER_END - 1), DROPPED, "CQ-038"},
    {STORES(BRISC, UPDATE, UPDATE), COUNTED_UP, "CQ-056"},
    {STORES(BRISC, NOCAP_CQ_COMPLETION_WR, NOCAP_CQ_COMPLETION_WR), DROPPED, "CQ-061"},
    {STORES(BRISC, NOCAP_CQ_COMPLETION_WR, NOCAP_CQ_COMPLETION_WR), DOUBLED, "CQ-061"},
    {STORES(BRISC, NOCAP_CQ_COMPLETION_WR, NOCAP_CQ_COMPLETION_WR), COUNTED_UP, "CQ-061"},
    {STORES(HOST, NOCAP_CQ_COMPLETION_RD, NOCAP_CQ_COMPLETION_RD), LATE, "CQ-064"},
    {STORES(HOST, NOCAP_CQ_COMPLETION_RD, NOCAP_CQ_COMPLETION_RD), DROPPED, "CQ-064"},
    {STORES(HOST, NOCAP_CQ_COMPLETION_RD, NOCAP_CQ_COMPLETION_RD), COUNTED_UP, "CQ-063"},
    {STORES(HOST, NOCAP_CQ_COMPLETION_RD, NOCAP_CQ_COMPLETION_RD), SHIFTED, "CQ-032"},
    {TO_MEMORY(HOST, NOCAP_CQ_HOST_RD, NOCAP_CQ_HOST_RD), DROPPED, "CQ-064"},
    {TO_MEMORY(HOST, NOCAP_CQ_HOST_RD, NOCAP_CQ_HOST_RD), COUNTED_UP, "CQ-064"},
    /* what is missing in one place since it is in another */
    {STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), AWAY, "CQ-032"},
    {TO_MEMORY(HOST, NOCAP_CQ_ISSUE, NOCAP_CQ_ISSUE_END - 1), BACK, "CQ-025 CQ-027"},
    {TO_MEMORY(HOST, NOCAP_CQ_HOST_RD, NOCAP_CQ_HOST_RD), BACK, "CQ-062"},
    {STORES(BRISC, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), MOVED, "CQ-029"},
    {STORES(BRISC, NOCAP_CQ_RD_PTR_ECHO, NOCAP_CQ_RD_PTR_ECHO), TO_SLOTS, "CQ-029"},
    {RANGE(READ, OF_PREFETCH, NOCAP_CQ_CMDDAT, NOCAP_CQ_CMDDAT_END - 1), MOVED, "CQ-027"},
    {RANGE(READ, OF_PREFETCH, NOCAP_CQ_CMDDAT, NOCAP_CQ_CMDDAT_END - 1), LANDS_BACK, "CQ-033"},
};
/* Stores to slots that restate records. */
static const struct one_change host_changes[] = {
    {STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), AWAY, "CQ-032"},
    {STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), BACK_A_SLOT, "CQ-028 CQ-002"},
};
/* Commands and the stores of their entries, both. */
static const struct one_change changes_of_two[] = {
    {STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1), SHIFTED, "CQ-029"},
    {{NOCAP_EV_CQ, 0, 0, NOCAP_OP_RECORD, NOCAP_CQ_ISSUE, NOCAP_CQ_ISSUE_END - 1}, BACK, "CQ-027"},
};
/* Entries of several commands, with a subordinate dispatcher. */
static const struct one_change subordinate_changes[] = {
    {RANGE(WRITE, OF_DISPATCH, 0x1C000, 0x9BFFF), DROPPED, "CQ-037"},
    {RANGE(WRITE, OF_DISPATCH, 0x9C000, 0x9CFFF), DROPPED, "CQ-037"},
    {RANGE(WRITE, OF_DISPATCH, 0x9C000, 0x9CFFF), DOUBLED, "CQ-037"},
};

static bool is_target(const struct nocap_event *e, const struct target *t)
{
    if (e->kind != t->kind || (e->kind == NOCAP_EV_CQ && e->op != t->op)) {
        return false;
    }
    if (e->kind == NOCAP_EV_NOC) {
        return e->op == t->op && e->phase == NOCAP_PHASE_ISSUE && e->daddr >= t->first &&
               e->daddr <= t->last && e->d.y == t->space;
    }
    return e->by == t->by && e->space == t->space && e->addr >= t->first && e->addr <= t->last;
}

/* The number of the `nth` such event, or of the last one. */
static size_t find_target(const struct run *run, const struct target *t, size_t nth)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < run->count; i++) {
        if (is_target(&run->events[i], t)) {
            found = i;
            if (nth-- == 0) {
                break;
            }
        }
    }
    assert_int_not_equal(found, SIZE_MAX);
    return found;
}

static size_t count_targets(const struct run *run, const struct target *t)
{
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) {
        count += is_target(&run->events[i], t);
    }
    return count;
}

/* The change at several places of the run, one at a time. */
static void try_change(const struct run *run, const struct nocap_sim_options *options,
                       const struct one_change *c, size_t places)
{
    size_t count = count_targets(run, &c->target);
    for (size_t place = 0; place < places; place++) {
        /* not the first ones, which set the queue up, nor the last, after which it ends */
        size_t nth = count / 4 + place * (count / 2) / places;
        size_t where = find_target(run, &c->target, nth);
        struct nocap_report *report = check_changed(run, options, where, c->change);
        if (report->finding_count != 1 ||
            strstr(c->rules, nocap_rules[report->findings[0].rule].id) == NULL) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("change %d at event %zu: %s alone is to be found", c->change, where, c->rules);
        }
        nocap_report_free(report);
    }
}

static void try_changes(struct nocap_sim_options options, const struct one_change *c, size_t count,
                        size_t places)
{
    options.size = sizeof options;
    options.launches = RUN_PROGRAMS;
    options.seed = 11;
    struct run run = run_with(options);
    for (size_t i = 0; i < count; i++) {
        try_change(&run, &options, &c[i], places);
    }
    run_free(&run);
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static void one_change_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH};
    try_changes(options, changes, COUNT_OF(changes), PLACES);
}

static void one_change_of_the_host_alone_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .view = NOCAP_SIM_VIEW_HOST};
    try_changes(options, host_changes, COUNT_OF(host_changes), PLACES);
}

static void one_change_of_command_or_entry_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .view = NOCAP_SIM_VIEW_ALL};
    try_changes(options, changes_of_two, COUNT_OF(changes_of_two), PLACES);
}

static void one_change_of_a_relay_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE};
    try_changes(options, subordinate_changes, COUNT_OF(subordinate_changes), PLACES);
}

/* The dispatcher passes over a command: the next that it reads is where it is, so go words that it
 * multicasts later are still those of their commands. Where it releases pages before that, it is
 * one page short. */
static void a_command_passed_is_one_finding(void **state)
{
    (void)state;
    const struct one_change change = {LOADS(BRISC, NOCAP_CQ_CMDDAT_END, NOCAP_CQ_BUFFER_END - 1),
                                      DROPPED, "CQ-038 CQ-039"};
    const struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH_MULTICAST};
    try_changes(options, &change, 1, COMMANDS);
}

/* What comes late is a finding of the network too. */
static void assert_late_found_once(struct target target)
{
    struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};
    struct run run = run_with(options);
    size_t where = find_target(&run, &target, count_targets(&run, &target) / 2);
    struct nocap_report *report = check_changed(&run, &options, where, LATE);
    size_t found = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        found += nocap_rules[report->findings[i].rule].id[0] == 'C';
    }
    if (found != 1) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("%zu findings of the queue in place of one", found);
    }
    nocap_report_free(report);
    run_free(&run);
}

/* The pointer is copied to host memory before it is stored. */
static void a_pointer_copied_first_is_one_finding(void **state)
{
    const struct target store = STORES(BRISC, NOCAP_CQ_COMPLETION_WR, NOCAP_CQ_COMPLETION_WR);
    (void)state;
    assert_late_found_once(store);
}

/* The pointer moves on before the page is written. */
static void a_page_after_the_pointer_is_one_finding(void **state)
{
    const struct target page = COMPLETIONS;
    (void)state;
    assert_late_found_once(page);
}

static bool is_packet(const struct nocap_event *e, uint8_t operation, uint64_t size)
{
    return e->kind == NOCAP_EV_NOC && e->op == operation && e->phase == NOCAP_PHASE_ISSUE &&
           e->at.y == OF_PREFETCH && e->size > size;
}

/* Packets larger than `size`, of the second half of a run: one that is left out or comes twice,
 * when records are read and when they are relayed. */
static void change_packets(struct nocap_sim_options options, uint64_t size)
{
    const uint8_t operations[] = {NOCAP_OP_READ, NOCAP_OP_WRITE};
    struct run run = run_with(options);
    for (size_t o = 0; o < sizeof operations; o++) {
        size_t checked = 0;
        for (size_t i = run.count / 2; i < run.count && checked < 4 * PLACES; i++) {
            if (!is_packet(&run.events[i], operations[o], size)) {
                continue;
            }
            enum change change = checked++ % 2 == 0 ? DROPPED : DOUBLED;
            struct nocap_report *report = check_changed(&run, &options, i, change);
            if (report->finding_count != 1) {
                (void)nocap_report_text(stderr, report, false, true, NULL);
                fail_msg("change %d at event %zu is to be found once", (int)change, i);
            }
            nocap_report_free(report);
        }
        assert_int_equal(checked, 4 * PLACES);
    }
    run_free(&run);
}

static void a_changed_packet_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options rings = {
        .size = sizeof rings, .scenario = NOCAP_SIM_FAST_DISPATCH_RINGS, .launches = 2};
    const struct nocap_sim_options programs = {
        .size = sizeof programs, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};
    change_packets(rings, NOCAP_CQ_PAGE); /* records of many packets */
    change_packets(programs, 0);
}

/* Where no request is seen to end, the commands say that nothing orders GO after a multicast. */
static void a_missing_barrier_shows_without_acknowledgements(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .launches = RUN_PROGRAMS,
                                              .fault = NOCAP_SIM_FAULT_NO_BARRIER};
    struct run run = run_with(options);
    size_t count = 0;
    for (size_t i = 0; i < run.count; i++) {
        if (run.events[i].kind != NOCAP_EV_NOC || run.events[i].phase == NOCAP_PHASE_ISSUE) {
            run.events[count++] = run.events[i];
        }
    }
    run.count = count;
    assert_only(check_changed(&run, &options, run.count, DROPPED), "CQ-044");
    run_free(&run);
}

static size_t find_host_store(const struct run *run, size_t from, unsigned y, uint64_t addr)
{
    while (from < run->count) {
        const struct nocap_event *e = &run->events[from];
        if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_HOST && e->at.y == y &&
            e->space == NOCAP_SPACE_TILE && e->addr <= addr && addr - e->addr < e->size) {
            return from;
        }
        from++;
    }
    fail_msg("no store to 0x%llx", (unsigned long long)addr);
    return 0;
}

/* A part of the set-up after the GO of its core is late, and neither a store to a queue that runs
 * nor a page released. */
static void a_late_set_up_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};
    const uint64_t words[] = {NOCAP_CQ_COMPLETION_WR, NOCAP_CQ_COMPLETION_RD};
    const struct nocap_mailbox_layout *layout = nocap_layout_find("bh-launch96");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct run run = run_with(options);
        size_t store = find_host_store(&run, 0, OF_DISPATCH, words[i]);
        size_t go = find_host_store(&run, store, OF_DISPATCH, layout->go_messages);
        struct nocap_event late = run.events[store];
        late.t = run.events[go].t;
        memmove(&run.events[store], &run.events[store + 1], (go - store) * sizeof late);
        run.events[go] = late;
        assert_only(check_changed(&run, &options, run.count, DROPPED), "CQ-068");
        run_free(&run);
    }
}

/* An entry is written before its command; the host's load of it, of before that, gives 0 after it.
 */
static void an_entry_before_its_command_is_one_finding(void **state)
{
    (void)state;
    const struct target slots = STORES(HOST, NOCAP_CQ_QUEUE, NOCAP_CQ_QUEUE_END - 1);
    const struct target commands = TO_MEMORY(HOST, NOCAP_CQ_ISSUE, NOCAP_CQ_ISSUE_END - 1);
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};
    struct run run = run_with(options);
    size_t store = find_target(&run, &slots, COMMANDS), command = store;
    while (!is_target(&run.events[command], &commands)) {
        command--;
    }
    struct nocap_event early = run.events[store];
    early.t = run.events[command].t;
    memmove(&run.events[command + 1], &run.events[command], (store - command) * sizeof early);
    run.events[command] = early;
    assert_only(check_changed(&run, &options, run.count, DROPPED), "CQ-024");
    run_free(&run);
}

/* The first read's landing is not in the trace, while another one is in flight: those after it have
 * landed all the same. */
static void a_landing_not_seen_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH_MULTICAST,
                                              .launches = RUN_PROGRAMS};
    struct run run = run_with(options);
    size_t i = 0;
    while (run.events[i].kind != NOCAP_EV_NOC || run.events[i].phase != NOCAP_PHASE_DONE ||
           run.events[i].op != NOCAP_OP_READ) {
        assert_true(++i < run.count);
    }
    assert_only(check_changed(&run, &options, i, DROPPED), "CQ-033"); /* one too many in flight */
    run_free(&run);
}

/* The queue is zeroed but for one bit: it was set up all the same. */
static void a_bit_in_the_zeroed_queue_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};
    struct run run = run_with(options);
    size_t at = find_host_store(&run, 0, OF_PREFETCH, NOCAP_CQ_QUEUE);
    struct nocap_event *e = &run.events[at];
    uint8_t bytes[NOCAP_CQ_QUEUE_END - NOCAP_CQ_QUEUE] = {[99] = 4};
    assert_int_equal(e->data_size, sizeof bytes);
    const uint8_t *own = e->data;
    e->data = bytes;
    assert_only(check_changed(&run, &options, run.count, DROPPED), "CQ-028");
    e->data = own;
    run_free(&run);
}

/* A worker notifies and then stores DONE: after DONE there is no notify, which follows from that.
 */
static void a_notify_before_done_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};
    struct run run = run_with(options);
    size_t checked = 0;
    for (size_t i = run.count / 4, done; checked < PLACES; i++) {
        assert_true(i < run.count);
        struct nocap_event notify = run.events[i];
        if (notify.kind != NOCAP_EV_NOC || notify.op != NOCAP_OP_INLINE || notify.daddr != UPDATE ||
            notify.at.y == OF_DISPATCH) {
            continue;
        }
        for (done = i;
             run.events[done].kind != NOCAP_EV_WRITE || run.events[done].addr != GO_SIGNAL ||
             run.events[done].by != NOCAP_BY_BRISC || !is_at(&run.events[done], notify.at);) {
            assert_true(done-- > 0);
        }
        const struct nocap_event store = run.events[done];
        run.events[done] = notify;
        run.events[done].t = store.t;
        run.events[i] = store;
        run.events[i].t = notify.t;
        assert_only(check_changed(&run, &options, run.count, DROPPED), "CQ-054");
        run.events[done] = store;
        run.events[i] = notify;
        checked++;
    }
    run_free(&run);
}

/* The dispatcher goes on and clears before the last notify of a launch has come: that one is of
 * none of the next. */
static void a_wait_cut_short_is_one_finding(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};
    struct run run = run_with(options);
    const struct target clears = STORES(BRISC, UPDATE, UPDATE), counts = LOADS(BRISC, COUNT, COUNT);
    size_t clear = run.count / 2;
    while (!is_target(&run.events[clear], &clears) || run.events[clear].value == 0) {
        assert_true(++clear < run.count);
    }
    const uint32_t one = 1U << NOCAP_CQ_COUNT_SHIFT;
    const uint64_t all = (0 - (uint32_t)run.events[clear].value) / one;
    for (size_t i = clear; i > 0; i--) {
        struct nocap_event *e = &run.events[i - 1];
        if (is_target(e, &clears)) {
            break;
        }
        e->value -= is_target(e, &counts) && e->value == all;
    }
    run.events[clear].value += one;
    assert_only(check_changed(&run, &options, run.count, DROPPED), "CQ-058");
    run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_change_is_one_finding),
        cmocka_unit_test(one_change_of_the_host_alone_is_one_finding),
        cmocka_unit_test(one_change_of_command_or_entry_is_one_finding),
        cmocka_unit_test(one_change_of_a_relay_is_one_finding),
        cmocka_unit_test(an_entry_before_its_command_is_one_finding),
        cmocka_unit_test(a_landing_not_seen_is_one_finding),
        cmocka_unit_test(a_bit_in_the_zeroed_queue_is_one_finding),
        cmocka_unit_test(a_command_passed_is_one_finding),
        cmocka_unit_test(a_pointer_copied_first_is_one_finding),
        cmocka_unit_test(a_page_after_the_pointer_is_one_finding),
        cmocka_unit_test(a_changed_packet_is_one_finding),
        cmocka_unit_test(a_late_set_up_is_one_finding),
        cmocka_unit_test(a_notify_before_done_is_one_finding),
        cmocka_unit_test(a_wait_cut_short_is_one_finding),
        cmocka_unit_test(a_missing_barrier_shows_without_acknowledgements),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
