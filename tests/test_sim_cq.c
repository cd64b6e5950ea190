/* The simulated command queue: what its traces hold, by the fact sheet and not by the reference
 * model; then what the checker says of them. */
#include "tests/sim_run.h"

#include <malloc.h>
#include <unistd.h>

#include "checker/checker.h"
#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/cq_layout.h"
#include "formats/blackhole/registers.h"
#include "formats/trace/trace.h"
#include "tests/temp_dir.h"

/* Runs with a sanitizer look for other things, and are ten times as slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SEEDS = 6 };
#else
enum { SEEDS = 50 };
#endif
enum { LONG_RUN = 4400, TO_FIRST_WRAP = 400, BOTH_SCENARIOS = 2 };

static const enum nocap_sim_scenario scenarios[BOTH_SCENARIOS] = {NOCAP_SIM_FAST_DISPATCH,
                                                                  NOCAP_SIM_FAST_DISPATCH_RINGS};

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
    size_t used_first, used_last; /* bytes that malloc has given */
    bool ended; /* part of a block was given back, as at the end of the dispatcher */
};

static bool is_at(const struct nocap_event *e, struct nocap_xy at)
{
    return e->at.x == at.x && e->at.y == at.y;
}

static bool is_slot(const struct nocap_event *e, const struct rings *r)
{
    return is_at(e, r->board.prefetch) && e->size == 2 && e->addr >= NOCAP_CQ_QUEUE &&
           e->addr < NOCAP_CQ_QUEUE_END;
}

/* Slots are filled by the host where they are 0, and freed by the device where they are not, each
 * in turn. */
static void follow_slot(struct rings *r, const struct nocap_event *e)
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

static void follow_noc(struct rings *r, const struct nocap_event *e)
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

static void follow_write(struct rings *r, const struct nocap_event *e)
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

static enum nocap_status follow(void *context, const struct nocap_event *e, struct nocap_error *err)
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
    if (r->events++ == 0) {
        r->used_first = mallinfo2().uordblks;
    } else if (r->events % 100000 == 0) {
        assert_int_equal(mallinfo2().uordblks, r->used_first);
    }
    return NOCAP_OK;
}

static struct rings *follow_run(struct nocap_sim_options options)
{
    struct nocap_error err = {{0}};
    struct rings *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->board = nocap_cq_board(options.board);
    options.size = sizeof options;
    if (nocap_sim_run(&options, follow, r, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(r->published, r->pages);
    assert_int_equal(r->wr, r->rd);
    assert_true(!r->ended || r->released == r->published);
    return r;
}

static void the_rings_are_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (unsigned i = 0; i < BOTH_SCENARIOS; i++) {
            struct rings *r = follow_run((struct nocap_sim_options){
                .scenario = scenarios[i], .board = 1 + seed % 2, .launches = 20, .seed = seed});
            assert_int_equal(r->go, 20 * NOCAP_SIM_WORKERS);
            assert_int_equal(r->notified, r->go);
            assert_true(r->event > 0 && r->records > 20 * 10);
            free(r);
        }
    }
}

static void full_boards_work(void **state)
{
    (void)state;
    static const struct {
        enum nocap_board board;
        uint32_t workers;
    } full[] = {{NOCAP_BOARD_P100, 118}, {NOCAP_BOARD_P150, 138}, {NOCAP_BOARD_P100, 1}};
    for (unsigned i = 0; i < sizeof full / sizeof full[0]; i++) {
        struct rings *r = follow_run((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                                                .board = full[i].board,
                                                                .workers = full[i].workers});
        assert_int_equal(r->go, NOCAP_SIM_LAUNCHES * full[i].workers);
        free(r);
    }
}

/* Ten million events: every ring wraps many times, and nothing is allocated on the way. */
static void long_runs_wrap_every_ring(void **state)
{
    (void)state;
    struct rings *r = follow_run((struct nocap_sim_options){
        .scenario = NOCAP_SIM_FAST_DISPATCH_RINGS, .launches = LONG_RUN, .seed = 1});
    print_message(
        "%.1f M events; wraps: issue region %llu, prefetch queue %llu, command data %llu, "
        "dispatch buffer %llu, completion ring %llu\n",
        1e-6 * (double)r->events, (unsigned long long)r->issue_wraps,
        (unsigned long long)r->queue_wraps, (unsigned long long)r->cmddat_wraps,
        (unsigned long long)r->buffer_wraps, (unsigned long long)r->completion_wraps);
    assert_true(r->events > 10000000);
    assert_true(r->issue_wraps >= 20 && r->queue_wraps >= 20 && r->cmddat_wraps >= 20);
    assert_true(r->buffer_wraps >= 20 && r->completion_wraps >= 20);
    free(r);
}

/* ---- views ---- */

static void count_units(const struct run *run, uint64_t *counts, uint64_t *sum)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct nocap_event *e = &run->events[i];
        if (e->kind == NOCAP_EV_CQ) {
            counts[e->op]++;
            *sum += e->op == NOCAP_OP_CREDIT ? e->value : 0;
        }
    }
}

static void views_tell_one_story(void **state)
{
    (void)state;
    struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH, .seed = 5};
    struct run run[NOCAP_SIM_VIEW_COUNT];
    uint64_t counts[NOCAP_SIM_VIEW_COUNT][NOCAP_OP_COUNT] = {{0}}, sum[NOCAP_SIM_VIEW_COUNT] = {0};
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        options.view = view;
        run[view] = run_with(options);
        count_units(&run[view], counts[view], &sum[view]);
    }
    assert_int_equal(counts[NOCAP_SIM_VIEW_RAW][NOCAP_OP_RECORD], 0);
    assert_int_equal(counts[NOCAP_SIM_VIEW_HOST][NOCAP_OP_RECORD],
                     counts[NOCAP_SIM_VIEW_CQ][NOCAP_OP_RECORD]);
    assert_int_equal(counts[NOCAP_SIM_VIEW_HOST][NOCAP_OP_FETCH], 0);
    for (unsigned op = NOCAP_OP_RECORD; op <= NOCAP_OP_CREDIT; op++) {
        assert_int_equal(counts[NOCAP_SIM_VIEW_CQ][op], counts[NOCAP_SIM_VIEW_ALL][op]);
        assert_true(counts[NOCAP_SIM_VIEW_CQ][op] > 0);
    }
    assert_int_equal(sum[NOCAP_SIM_VIEW_CQ], sum[NOCAP_SIM_VIEW_ALL]);
    assert_int_equal(run[NOCAP_SIM_VIEW_ALL].count,
                     run[NOCAP_SIM_VIEW_RAW].count + run[NOCAP_SIM_VIEW_CQ].count);
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        run_free(&run[view]);
    }
}

/* A unit and the access that it restates carry one number; no other two events do. */
static void units_name_their_accesses(void **state)
{
    (void)state;
    struct run run = run_with((struct nocap_sim_options){
        .scenario = NOCAP_SIM_FAST_DISPATCH, .view = NOCAP_SIM_VIEW_ALL, .seed = 6});
    uint8_t *units = calloc(run.count, 1), *accesses = calloc(run.count, 1);
    assert_true(units != NULL && accesses != NULL);
    for (size_t i = 0; i < run.count; i++) {
        const struct nocap_event *e = &run.events[i];
        if ((e->has & NOCAP_F_SEQ) != 0) {
            assert_true(e->seq < run.count);
            (e->kind == NOCAP_EV_CQ ? units : accesses)[e->seq]++;
        } else if (e->kind == NOCAP_EV_CQ) {
            assert_int_equal(e->op, NOCAP_OP_DONE);
        }
    }
    for (size_t i = 0; i < run.count; i++) {
        assert_true(units[i] <= 1 && units[i] == accesses[i]);
    }
    free(units);
    free(accesses);
    run_free(&run);
}

static void the_same_options_give_the_same_events(void **state)
{
    (void)state;
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        struct nocap_sim_options options = {
            .scenario = scenarios[view % BOTH_SCENARIOS], .view = view, .seed = 7};
        uint64_t hash = hash_with(options);
        assert_int_equal(hash_with(options), hash);
        options.seed = 8;
        assert_int_not_equal(hash_with(options), hash);
        options.board = NOCAP_BOARD_P150;
        assert_int_not_equal(hash_with(options), hash);
    }
}

/* ---- options ---- */

static void headers_say_where_the_queue_is(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_header header;
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = NOCAP_SIM_FAST_DISPATCH,
                                        .board = NOCAP_BOARD_P150,
                                        .workers = 20};
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_true(header.cq.present && header.cq.prefetch.x == 16 && header.cq.prefetch.y == 2);
    assert_true(header.cq.dispatch.x == 16 && header.cq.dispatch.y == 3);
    assert_int_equal(header.cq.sysmem, 0x40000000);
    assert_int_equal(header.cq.kernel_config, 0x86B0);
    assert_int_equal(header.complete, NOCAP_FALSE);
    assert_int_equal(header.scope_count, 4 + 2);
    nocap_header_free(&header);
    options.view = NOCAP_SIM_VIEW_HOST;
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_int_equal(header.observes, NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CQ_HOST);
    assert_false(header.has_scope);
    nocap_header_free(&header);
}

static void assert_refused(struct nocap_sim_options options, const char *part)
{
    struct nocap_error err;
    struct rings r = {0};
    options.size = sizeof options;
    assert_int_equal(nocap_sim_run(&options, follow, &r, &err), NOCAP_E_USAGE);
    assert_contains(err.text, part);
    assert_int_equal(r.events, 0);
}

static void senseless_options_are_refused(void **state)
{
    (void)state;
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH, .workers = 119},
                   "p100 board has 118 tiles for programs");
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .board = NOCAP_BOARD_P150,
                                              .workers = 139},
                   "138");
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .fault = NOCAP_SIM_FAULT_GO_SPLIT},
                   "cannot strike");
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_DEV,
                                              .fault = NOCAP_SIM_FAULT_RELEASE_31},
                   "cannot strike");
    assert_int_equal(nocap_sim_view_from_name("host"), NOCAP_SIM_VIEW_HOST);
    assert_int_equal(nocap_sim_view_from_name("side"), -1);
}

/* ---- faults ---- */

static bool strikes_in(enum nocap_sim_fault fault, enum nocap_sim_scenario scenario)
{
    return (nocap_sim_faults[fault].scenarios >> scenario & 1) != 0;
}

static void every_fault_changes_the_events(void **state)
{
    (void)state;
    uint64_t hashes[NOCAP_SIM_FAULT_COUNT];
    unsigned count = 0;
    for (unsigned fault = 0; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        if (fault != NOCAP_SIM_FAULT_NONE && !strikes_in(fault, NOCAP_SIM_FAST_DISPATCH)) {
            continue;
        }
        uint64_t hash = hash_with((struct nocap_sim_options){
            .scenario = NOCAP_SIM_FAST_DISPATCH, .fault = fault, .seed = 3});
        for (unsigned i = 0; i < count; i++) {
            if (hashes[i] == hash) {
                fail_msg("%s changes nothing", nocap_sim_faults[fault].name);
            }
        }
        hashes[count++] = hash;
    }
    assert_true(count > 12);
}

/* ---- what the checker says ---- */

static enum nocap_status write_event(void *context, const struct nocap_event *event,
                                     struct nocap_error *err)
{
    return nocap_writer_add(context, event, err);
}

static struct nocap_report *check_run(struct nocap_sim_options options)
{
    struct nocap_error err = {{0}};
    struct nocap_header header;
    struct nocap_writer *writer;
    struct nocap_report *report;
    const struct nocap_check_options check = {.size = sizeof check};
    options.size = sizeof options;
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_int_equal(nocap_writer_open(&writer, "run.nocap", &header, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_sim_run(&options, write_event, writer, &err), NOCAP_OK);
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    nocap_header_free(&header);
    if (nocap_check(&report, "run.nocap", &check, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return report;
}

static void assert_clean(struct nocap_sim_options options)
{
    struct nocap_report *report = check_run(options);
    if (report->finding_count > 0) {
        const struct nocap_finding *f = &report->findings[0];
        fail_msg("seed %llu, view %u: %s at event %llu: %s", (unsigned long long)options.seed,
                 options.view, nocap_rules[f->rule].id, (unsigned long long)f->index, f->message);
    }
    nocap_report_free(report);
}

static void skip_without_rules(void)
{
    if (nocap_rule_from_id("CQ-001") < 0) {
        print_message("the checker has no rules for command queues\n");
        skip();
    }
}

static void correct_runs_are_clean(void **state)
{
    (void)state;
    skip_without_rules();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
            assert_clean((struct nocap_sim_options){.scenario = scenarios[seed % BOTH_SCENARIOS],
                                                    .view = view,
                                                    .board = 1 + seed / 2 % 2,
                                                    .workers = 1 + (uint32_t)seed % 9,
                                                    .seed = seed});
        }
    }
}

/* One fault is one finding. */
static void assert_found(struct nocap_sim_options options)
{
    const struct nocap_sim_fault_info *info = &nocap_sim_faults[options.fault];
    struct nocap_report *report = check_run(options);
    if (report->finding_count != 1 ||
        (int)report->findings[0].rule != nocap_rule_from_id(info->rules)) {
        (void)nocap_report_text(stderr, report, false, NULL);
        fail_msg("%s, seed %llu, view %u: %s alone is to be found", info->name,
                 (unsigned long long)options.seed, options.view, info->rules);
    }
    nocap_report_free(report);
}

static void every_fault_is_found(void **state)
{
    (void)state;
    skip_without_rules();
    for (unsigned fault = 1; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        bool hang = nocap_sim_faults[fault].rules[0] == '\0';
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            if (strikes_in(fault, NOCAP_SIM_FAST_DISPATCH) && !hang) {
                assert_found((struct nocap_sim_options){
                    .scenario = NOCAP_SIM_FAST_DISPATCH,
                    .fault = fault,
                    .view = seed % 2 == 0 ? NOCAP_SIM_VIEW_RAW : NOCAP_SIM_VIEW_ALL,
                    .board = 1 + seed / 2 % 2,
                    .workers = 1 + (uint32_t)seed % 7,
                    .launches = 16,
                    .seed = seed});
            }
        }
    }
}

static void write_merged(struct nocap_writer *writer, struct run *run)
{
    struct nocap_error err = {{0}};
    size_t at[2] = {0};
    uint64_t index = 0;
    while (at[0] < run[0].count || at[1] < run[1].count) {
        bool second = at[0] == run[0].count ||
                      (at[1] < run[1].count &&
                       run[1].events[at[1]].t < run[0].events[at[0]].t);
        struct nocap_event event = run[second].events[at[second]++];
        event.chip = second;
        event.index = index++;
        assert_int_equal(nocap_writer_add(writer, &event, &err), NOCAP_OK);
    }
}

/* Two chips in one trace, of which the second has the fault. */
static void chips_are_kept_apart(void **state)
{
    (void)state;
    struct nocap_error err = {{0}};
    struct nocap_header header;
    struct nocap_writer *writer;
    struct nocap_report *report;
    const struct nocap_check_options check = {.size = sizeof check};
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        struct nocap_sim_options options = {.size = sizeof options,
                                            .scenario = NOCAP_SIM_FAST_DISPATCH,
                                            .view = view,
                                            .seed = 1};
        struct run run[2] = {run_with(options)};
        assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
        options.seed = 2;
        options.fault = NOCAP_SIM_FAULT_EVENT_ID_SKIPPED;
        run[1] = run_with(options);
        assert_int_equal(nocap_writer_open(&writer, "run.nocap", &header, NULL, &err), NOCAP_OK);
        write_merged(writer, run);
        assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
        assert_int_equal(nocap_check(&report, "run.nocap", &check, &err), NOCAP_OK);
        assert_int_equal(report->finding_count, 1);
        assert_int_equal(report->findings[0].rule, nocap_rule_from_id("CQ-023"));
        assert_int_equal(report->findings[0].chip, 1);
        nocap_report_free(report);
        nocap_header_free(&header);
        run_free(&run[0]);
        run_free(&run[1]);
    }
}

/* What only a run shows that is long enough to wrap the ring. */
static void every_fault_of_a_wrap_is_found(void **state)
{
    (void)state;
    skip_without_rules();
    for (unsigned fault = 1; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            if (strikes_in(fault, NOCAP_SIM_FAST_DISPATCH_RINGS)) {
                assert_found((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS,
                                                        .fault = fault,
                                                        .launches = TO_FIRST_WRAP,
                                                        .workers = 1,
                                                        .seed = seed});
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rings_are_kept),
        cmocka_unit_test(full_boards_work),
        cmocka_unit_test(long_runs_wrap_every_ring),
        cmocka_unit_test(views_tell_one_story),
        cmocka_unit_test(units_name_their_accesses),
        cmocka_unit_test(the_same_options_give_the_same_events),
        cmocka_unit_test(headers_say_where_the_queue_is),
        cmocka_unit_test(senseless_options_are_refused),
        cmocka_unit_test(every_fault_changes_the_events),
        cmocka_unit_test(correct_runs_are_clean),
        cmocka_unit_test(every_fault_is_found),
        cmocka_unit_test(chips_are_kept_apart),
        cmocka_unit_test(every_fault_of_a_wrap_is_found),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
