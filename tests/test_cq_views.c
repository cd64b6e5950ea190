/* SPDX-License-Identifier: Apache-2.0 */
/* A correct run of the command queue of which only a part is seen: nothing of it is wrong. Each
 * test is the trace that a rule of the model must let pass. */
#include "tests/cq_run.h"

enum { OF_PREFETCH = 2, OF_DISPATCH = 3 };

/* What of a run the trace shows. */
struct part {
    struct nocap_xy hidden; /* the tile that is out of scope; 0,0: none is */
    bool scopeless;         /* the header does not say so */
    uint32_t lost;          /* classes that are not observed */
    size_t partly;          /* of so many events one is missing, of the tile or of these classes */
    size_t from, to;        /* events */
    bool (*shows)(const struct nocap_event *e); /* NULL: all */
};

/* What the host does to a tile is seen all the same. */
static bool is_hidden(const struct nocap_event *e, struct nocap_xy at)
{
    return at.x != 0 && e->by != NOCAP_BY_HOST && nocap_xy_equal(e->at, at);
}

static struct nocap_report *
check_part(const struct run *run, const struct nocap_sim_options *options, const struct part *part)
{
    struct run_trace t = run_trace_of(options);
    for (size_t i = 0; i < t.header.scope_count; i++) {
        if (nocap_xy_equal(t.header.scope[i], part->hidden)) {
            t.header.scope[i] = t.header.scope[--t.header.scope_count];
        }
    }
    t.header.observes &= ~part->lost;
    t.header.has_scope &= !part->scopeless;
    run_trace_open(&t, "part.nocap");
    for (size_t i = part->from; i < part->to && i < run->count; i++) {
        const struct nocap_event *e = &run->events[i];
        bool is_lost = part->partly != 0 && (nocap_event_class(e) & part->lost) != 0;
        bool hidden = is_hidden(e, part->hidden) || is_lost;
        if (!(hidden && (part->partly == 0 || i % part->partly == 0)) &&
            (part->shows == NULL || part->shows(e))) {
            run_trace_add(&t, e);
        }
    }
    return run_trace_check(&t);
}

static void assert_part_clean(const struct run *run, const struct nocap_sim_options *options,
                              const struct part *part, const char *exercises)
{
    struct nocap_report *report = check_part(run, options, part);
    if (report->finding_count != 0) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("a false alarm");
    }
    assert_true(report->rules[nocap_rule_from_id(exercises)].exercised > 0);
    nocap_report_free(report);
}

/* The dispatcher is not seen: how many pages it released only the prefetcher's semaphore shows. */
static void released_pages_show_in_the_semaphore(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 20};
    struct run run = run_with(options);
    const struct part part = {.hidden = {14, OF_DISPATCH}, .to = run.count};
    assert_part_clean(&run, &options, &part, "CQ-035");
    run_free(&run);
}

/* A worker is not seen: its notifies are counted by the dispatcher all the same. */
static void a_worker_out_of_scope_owes_no_notify(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 12};
    struct run run = run_with(options);
    const struct part part = {.hidden = {1, 2}, .to = run.count};
    assert_part_clean(&run, &options, &part, "CQ-058");
    run_free(&run);
}

/* A second dispatcher is not seen, nor the go messages that it sends: the notifies that it passes
 * on are counted all the same. */
static void a_second_dispatcher_out_of_scope_sends_go_messages(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
                                              .board = NOCAP_BOARD_P150,
                                              .workers = 1,
                                              .launches = 9,
                                              .seed = 1,
                                              .variant = 1,
                                              .apart = true};
    struct run run = run_with(options);
    const struct part part = {.hidden = {13, 6}, .to = run.count};
    assert_part_clean(&run, &options, &part, "CQ-038");
    run_free(&run);
}

/* A prefetcher that is not in scope shows a part of what it does. */
static void a_part_of_a_prefetcher_out_of_scope_is_not_followed(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 20};
    struct run run = run_with(options);
    const struct part part = {.hidden = {14, OF_PREFETCH}, .partly = 20, .to = run.count};
    assert_part_clean(&run, &options, &part, "CQ-038");
    run_free(&run);
}

/* The dispatcher may look at a command again. */
static void a_command_loaded_twice_is_executed_once(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 12};
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    run_trace_open(&t, "part.nocap");
    for (size_t i = 0; i < run.count; i++) {
        const struct nocap_event *e = &run.events[i];
        run_trace_add(&t, e);
        if (e->kind == NOCAP_EV_READ && e->by == NOCAP_BY_BRISC && e->at.y == OF_DISPATCH &&
            e->addr >= NOCAP_CQ_CMDDAT_END && e->addr < NOCAP_CQ_BUFFER_END && e->at.x == 14) {
            run_trace_add(&t, e);
        }
    }
    struct nocap_report *report = run_trace_check(&t);
    assert_int_equal(report->finding_count, 0);
    nocap_report_free(report);
    run_free(&run);
}

/* So does one of a trace without scope, of which no event was seen. */
static void without_scope_a_worker_that_shows_nothing_owes_nothing(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 12};
    struct run run = run_with(options);
    const struct part part = {.hidden = {1, 2}, .scopeless = true, .to = run.count};
    struct nocap_report *report = check_part(&run, &options, &part);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].rule, nocap_rule_from_id("TRC-009"));
    assert_true(report->rules[nocap_rule_from_id("CQ-058")].exercised > 0);
    nocap_report_free(report);
    run_free(&run);
}

/* The header leaves out a class that is there: perhaps not all of it is. */
static void stores_of_a_class_that_is_not_declared_are_not_judged(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 12};
    struct run run = run_with(options);
    const struct part part = {.lost = NOCAP_CLASS_CORE_STORE, .to = run.count};
    assert_part_clean(&run, &options, &part, "CQ-061");
    run_free(&run);
}

/* .. and here indeed not. */
static void a_part_of_a_class_that_is_not_declared_is_not_followed(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 20};
    struct run run = run_with(options);
    const struct {
        uint32_t class;
        const char *exercises;
    } rows[] = {
        {NOCAP_CLASS_HOST_MMIO, "CQ-038"},  {NOCAP_CLASS_SYSMEM, "CQ-038"},
        {NOCAP_CLASS_CORE_STORE, "CQ-038"}, {NOCAP_CLASS_CORE_LOAD, "CQ-061"},
        {NOCAP_CLASS_CORE_MMIO, "CQ-038"},  {NOCAP_CLASS_NOC, "CQ-024"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t partly = 2; partly <= 8; partly++) {
            const struct part part = {.lost = rows[i].class, .partly = partly, .to = run.count};
            assert_part_clean(&run, &options, &part, rows[i].exercises);
        }
    }
    run_free(&run);
}

/* The trace ends while TERMINATE is executed: the pages of the end are still to come. */
static void terminate_that_is_not_over_owes_nothing(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .view = NOCAP_SIM_VIEW_CQ,
                                              .launches = 20,
                                              .variant = 3}; /* which ends */
    struct run run = run_with(options);
    struct part part = {.to = run.count};
    while (part.to > 0 && (run.events[part.to - 1].kind != NOCAP_EV_CQ ||
                           run.events[part.to - 1].op != NOCAP_OP_EXEC)) {
        part.to--;
    }
    assert_part_clean(&run, &options, &part, "CQ-039");
    run_free(&run);
}

/* A capture that stops after TERMINATE need not say so: the rest may be on its way. */
static void a_capture_that_stops_before_the_last_credits_owes_nothing(void **state)
{
    enum { LAST = 40 }; /* events */
    (void)state;
    for (enum nocap_sim_view view = NOCAP_SIM_VIEW_RAW; view <= NOCAP_SIM_VIEW_CQ; view++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH,
                                                  .view = view,
                                                  .launches = 20,
                                                  .variant = 3}; /* which ends */
        struct run run = run_with(options);
        for (size_t left = 0; left < LAST; left++) {
            const struct part part = {.to = run.count - left};
            assert_part_clean(&run, &options, &part, "CQ-039");
        }
        run_free(&run);
    }
}

/* ---- a run with events between its own ---- */

static const struct nocap_sim_options programs = {
    .size = sizeof programs, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 12};

/* A trace that begins anywhere while the queue is set up. */
static void a_trace_begins_within_the_set_up(void **state)
{
    (void)state;
    struct run run = run_with(programs);
    for (size_t from = 1; from < 80; from++) {
        const struct part part = {.from = from, .to = run.count};
        assert_part_clean(&run, &programs, &part, "CQ-061");
    }
    run_free(&run);
}

/* Makes room for an event after number `at`, of the same time. */
static struct nocap_event *insert_event(struct run *run, size_t at)
{
    assert_true(at < run->count);
    run->events = realloc(run->events, (run->count + 1) * sizeof *run->events);
    assert_non_null(run->events);
    struct nocap_event *e = &run->events[at + 1];
    memmove(e + 1, e, (run->count++ - at - 1) * sizeof *e);
    *e = run->events[at];
    e->data = NULL;
    e->data_size = 0;
    e->has &= ~(uint64_t)(NOCAP_F_SEQ | NOCAP_F_DATA);
    return e;
}

static bool stores(const struct nocap_event *e, unsigned by, unsigned y, uint64_t addr)
{
    return e->kind == NOCAP_EV_WRITE && e->by == by && e->space == NOCAP_SPACE_TILE &&
           e->at.y == y && e->addr == addr;
}

/* The first such store from number `from` on. */
static size_t find_store(const struct run *run, size_t from, unsigned by, unsigned y, uint64_t addr)
{
    while (from < run->count && !stores(&run->events[from], by, y, addr)) {
        from++;
    }
    assert_true(from < run->count);
    return from;
}

/* What the pointers were set to is known, though the queue was zeroed before the trace: the first
 * that goes elsewhere is found. */
static void the_first_pointer_is_known(void **state)
{
    (void)state;
    static const struct {
        uint8_t by;
        uint64_t addr;
        const char *rule;
    } pointers[] = {{NOCAP_BY_BRISC, NOCAP_CQ_COMPLETION_WR, "CQ-061"},
                    {NOCAP_BY_HOST, NOCAP_CQ_COMPLETION_RD, "CQ-063"}};
    for (unsigned i = 0; i < 2; i++) {
        struct run run = run_with(programs);
        const struct part part = {
            .from = 1 + find_store(&run, 0, NOCAP_BY_HOST, OF_PREFETCH, NOCAP_CQ_QUEUE),
            .to = run.count};
        size_t set = find_store(&run, part.from, NOCAP_BY_HOST, OF_DISPATCH, pointers[i].addr);
        size_t moved = find_store(&run, set + 1, pointers[i].by, OF_DISPATCH, pointers[i].addr);
        run.events[moved].value += NOCAP_CQ_PAGE_UNITS;
        struct nocap_report *report = check_part(&run, &programs, &part);
        assert_true(report->finding_count > 0);
        assert_string_equal(nocap_rules[report->findings[0].rule].id, pointers[i].rule);
        assert_int_equal(report->findings[0].index, moved - part.from);
        nocap_report_free(report);
        run_free(&run);
    }
}

/* Nobody reads the copy of the read pointer: it may be set after the GO of the prefetcher. */
static void the_copy_of_the_pointer_is_set_late(void **state)
{
    (void)state;
    struct run run = run_with(programs);
    const struct part part = {.to = run.count};
    size_t copy = 0, go = find_store(&run, 0, NOCAP_BY_HOST, OF_DISPATCH, NOCAP_CQ_COMPLETION_RD);
    while (run.events[copy].space != NOCAP_SPACE_SYSMEM ||
           run.events[copy].addr != NOCAP_CQ_HOST_RD) {
        copy++;
    }
    assert_true(copy < go);
    struct nocap_event late = run.events[copy];
    late.t = run.events[go].t;
    memmove(&run.events[copy], &run.events[copy + 1], (go - copy) * sizeof late);
    run.events[go] = late;
    assert_part_clean(&run, &programs, &part, "CQ-064");
    run_free(&run);
}

/* The host may look at all of a running queue, and store to the registers of its tiles. */
static void the_host_looks_and_stores_to_registers(void **state)
{
    (void)state;
    struct run run = run_with(programs);
    const struct part part = {.to = SIZE_MAX};
    size_t at = find_store(&run, run.count / 2, NOCAP_BY_HOST, OF_DISPATCH, NOCAP_CQ_COMPLETION_RD);
    struct nocap_event *e = insert_event(&run, at);
    e->kind = NOCAP_EV_READ;
    e->addr = NOCAP_CQ_COMPLETION_WR;
    assert_part_clean(&run, &programs, &part, "CQ-032");
    e->kind = NOCAP_EV_WRITE;
    e->addr = NOCAP_REG_SOFT_RESET_0;
    e->value = NOCAP_SOFT_RESET_NCRISC;
    assert_part_clean(&run, &programs, &part, "CQ-032");
    e->addr = NOCAP_BASE_STREAM;
    assert_part_clean(&run, &programs, &part, "CQ-032");
    run_free(&run);
}

/* While its core is in reset, the host sets up again what it likes. */
static void a_core_in_reset_is_set_up_again(void **state)
{
    (void)state;
    struct run run = run_with(programs);
    const struct part part = {.to = SIZE_MAX};
    struct nocap_event *e = insert_event(&run, run.count - 1);
    e->kind = NOCAP_EV_WRITE;
    run.events[run.count - 1] =
        run.events[find_store(&run, 0, NOCAP_BY_HOST, OF_PREFETCH, NOCAP_CQ_RD_PTR_ECHO)];
    run.events[run.count - 1].t = run.events[run.count - 2].t;
    e = insert_event(&run, run.count - 2);
    e[0] = e[1];
    e->addr = NOCAP_REG_SOFT_RESET_0;
    e->value = NOCAP_SOFT_RESET_ALL;
    assert_part_clean(&run, &programs, &part, "CQ-032");
    run_free(&run);
}

/* What two cores tell each other by, and its bytes were not captured: nothing is known after it.
 */
static void a_word_that_was_not_captured_is_not_judged(void **state)
{
    (void)state;
    struct run run = run_with(programs);
    const struct part part = {.to = SIZE_MAX};
    for (size_t i = run.count / 3; i < run.count; i += 13) {
        struct nocap_event *e = &run.events[i], kept = *e;
        bool request = e->kind == NOCAP_EV_NOC && e->phase == NOCAP_PHASE_ISSUE &&
                       (e->at.y == OF_PREFETCH || e->op == NOCAP_OP_ATOMIC);
        if (e->at.x != 14 || (!request && e->kind != NOCAP_EV_WRITE)) {
            continue;
        }
        e->has &= ~(uint64_t)(NOCAP_F_VALUE | NOCAP_F_DATA | (request ? NOCAP_F_DADDR : 0));
        e->data = NULL;
        e->data_size = 0;
        assert_part_clean(&run, &programs, &part, "CQ-061");
        *e = kept;
    }
    run_free(&run);
}

/* ---- an act that nobody may do ---- */

/* Made of the first event of its kind in the second half of a run. */
struct act {
    const char *rule;
    uint8_t kind, op, y; /* of a core of the queue; 0: of a worker */
    uint64_t addr, value;
};

static const struct act core_acts[] = {
    {"CQ-041", NOCAP_EV_WRITE, 0, OF_PREFETCH, NOCAP_CQ_SEM0, 7},
    {"CQ-041", NOCAP_EV_WRITE, 0, OF_DISPATCH, NOCAP_CQ_SEM0, 7},
    {"CQ-062", NOCAP_EV_WRITE, 0, OF_DISPATCH, NOCAP_CQ_COMPLETION_RD, 7},
    {"CQ-056", NOCAP_EV_WRITE, 0, OF_DISPATCH, 0xFFB70028, 7},
    {"CQ-056", NOCAP_EV_NOC, NOCAP_OP_INLINE, 0, 0xFFB70438, 0xFFFFFFC0},
    {"CQ-043", NOCAP_EV_NOC, NOCAP_OP_ATOMIC, OF_PREFETCH, NOCAP_CQ_SUBORDINATE_BUFFER, 1},
};
static const struct act queue_acts[] = {
    {"CQ-036", NOCAP_EV_CQ, NOCAP_OP_RELAY, 0, NOCAP_CQ_BUFFER_END, 0},
    {"CQ-038", NOCAP_EV_CQ, NOCAP_OP_EXEC, 0, NOCAP_CQ_BUFFER_END, 0},
};

static bool is_like(const struct nocap_event *e, const struct act *a)
{
    bool here =
        a->kind == NOCAP_EV_CQ || (a->y != 0 ? e->at.x == 14 && e->at.y == a->y : e->at.x != 14);
    return e->kind == a->kind && here &&
           (e->kind == NOCAP_EV_WRITE ? e->by == NOCAP_BY_BRISC && e->size == 4
                                      : e->op == a->op && e->phase == NOCAP_PHASE_ISSUE);
}

static void assert_acts_found(const struct nocap_sim_options *options, const struct act *acts,
                              size_t count)
{
    for (const struct act *a = acts; a < acts + count; a++) {
        struct run run = run_with(*options);
        const struct part part = {.to = SIZE_MAX};
        size_t at = run.count / 2, found = 0;
        while (at < run.count && !is_like(&run.events[at], a)) {
            at++;
        }
        struct nocap_event *e = insert_event(&run, at);
        *(e->kind == NOCAP_EV_NOC ? &e->daddr : &e->addr) = a->addr;
        e->value = a->value;
        struct nocap_report *report = check_part(&run, options, &part);
        for (size_t i = 0; i < report->finding_count; i++) {
            const char *id = nocap_rules[report->findings[i].rule].id;
            found += strcmp(id, a->rule) == 0 ? 1 : id[0] == 'C' ? 100 : 0;
        }
        if (found != 1) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("act %zu: of the queue %s alone is to be found", (size_t)(a - acts), a->rule);
        }
        nocap_report_free(report);
        run_free(&run);
    }
}

static void an_act_that_nobody_may_do_is_found(void **state)
{
    (void)state;
    const struct nocap_sim_options records = {.size = sizeof records,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .view = NOCAP_SIM_VIEW_CQ,
                                              .launches = 12};
    assert_acts_found(&programs, core_acts, sizeof core_acts / sizeof core_acts[0]);
    assert_acts_found(&records, queue_acts, sizeof queue_acts / sizeof queue_acts[0]);
}

/* The device writes to the issue region: the request, and its arrival, are one fault. */
static void a_device_write_to_the_issue_region_is_found_once(void **state)
{
    (void)state;
    struct run run = run_with(programs);
    const struct part part = {.to = SIZE_MAX};
    size_t at = 0;
    while (run.events[at].by != NOCAP_BY_DMA || run.events[at].kind != NOCAP_EV_WRITE ||
           run.events[at].addr < NOCAP_CQ_COMPLETION ||
           run.events[at].addr >= NOCAP_CQ_TIMESTAMPS) {
        at++;
    }
    struct nocap_event *arrival = &run.events[at];
    uint64_t addr = arrival->addr;
    arrival->addr = NOCAP_CQ_ISSUE + NOCAP_CQ_ISSUE_SIZE / 2;
    for (size_t i = 0; i < at; i++) {
        struct nocap_event *e = &run.events[i];
        if (e->kind == NOCAP_EV_NOC && e->phase == NOCAP_PHASE_ISSUE &&
            e->daddr == (NOCAP_CQ_PCIE_ADDRESS_BIT | (NOCAP_CQ_SYSMEM_BASE + addr))) {
            e->daddr += arrival->addr - addr;
        }
    }
    struct nocap_report *report = check_part(&run, &programs, &part);
    size_t found = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        found += strcmp(nocap_rules[report->findings[i].rule].id, "CQ-026") == 0;
    }
    assert_int_equal(found, 1);
    nocap_report_free(report);
    run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(released_pages_show_in_the_semaphore),
        cmocka_unit_test(a_worker_out_of_scope_owes_no_notify),
        cmocka_unit_test(a_second_dispatcher_out_of_scope_sends_go_messages),
        cmocka_unit_test(a_part_of_a_prefetcher_out_of_scope_is_not_followed),
        cmocka_unit_test(a_command_loaded_twice_is_executed_once),
        cmocka_unit_test(without_scope_a_worker_that_shows_nothing_owes_nothing),
        cmocka_unit_test(stores_of_a_class_that_is_not_declared_are_not_judged),
        cmocka_unit_test(a_part_of_a_class_that_is_not_declared_is_not_followed),
        cmocka_unit_test(terminate_that_is_not_over_owes_nothing),
        cmocka_unit_test(a_capture_that_stops_before_the_last_credits_owes_nothing),
        cmocka_unit_test(a_trace_begins_within_the_set_up),
        cmocka_unit_test(the_first_pointer_is_known),
        cmocka_unit_test(the_copy_of_the_pointer_is_set_late),
        cmocka_unit_test(the_host_looks_and_stores_to_registers),
        cmocka_unit_test(a_core_in_reset_is_set_up_again),
        cmocka_unit_test(an_act_that_nobody_may_do_is_found),
        cmocka_unit_test(a_device_write_to_the_issue_region_is_found_once),
        cmocka_unit_test(a_word_that_was_not_captured_is_not_judged),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
