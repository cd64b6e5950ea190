/* SPDX-License-Identifier: Apache-2.0 */
/* Correct runs of the command queue of which the trace shows only a part, or in other pieces:
 * nothing of them is wrong, whatever profile the host follows. */
#include "checker/hang/hang.h"
#include "formats/profile/profile.h"
#include "tests/cq_run.h"
#include "tests/effort.h"

enum { LINE = 64 };

/* One of so many is tried. */
static unsigned step(void)
{
    return SANITIZED ? 5 : effort(0, 0) > 0 ? 1 : 2;
}

/* How a run is shown. */
struct showing {
    size_t from;           /* the first event that is shown */
    size_t lost, lost_end; /* those that a `drop` stands for; equal: none */
    bool no_memory;        /* host memory is not observed */
    uint64_t piece; /* writes of the host to memory end where such pieces do; 0: they are whole */
};

static void add_pieces(struct run_trace *t, const struct nocap_event *whole, uint64_t piece)
{
    struct nocap_event e = *whole;
    uint64_t done = 0;
    bool cut = piece != 0 && e.kind == NOCAP_EV_WRITE && e.by == NOCAP_BY_HOST &&
               e.space == NOCAP_SPACE_SYSMEM && e.data_size == e.size;
    while (cut && done + piece < whole->size) {
        e.size = piece - e.addr % piece;
        e.data_size = (uint32_t)e.size;
        run_trace_add(t, &e);
        done += e.size;
        e.addr += e.size;
        e.data += e.data_size;
    }
    e.size = whole->size - done;
    e.data_size = whole->data_size - (uint32_t)(cut ? done : 0);
    run_trace_add(t, &e);
}

static bool is_memory(const struct nocap_event *e)
{
    return (e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ) &&
           e->space == NOCAP_SPACE_SYSMEM;
}

static struct nocap_report *
report_of(const struct run *run, const struct nocap_sim_options *options, const struct showing *how)
{
    struct run_trace t = run_trace_of(options);
    t.header.observes &= how->no_memory ? ~(uint32_t)NOCAP_CLASS_SYSMEM : UINT32_MAX;
    t.header.complete = how->from != 0 ? NOCAP_FALSE : t.header.complete;
    run_trace_open(&t, "shown.nocap");
    for (size_t i = how->from; i < run->count; i++) {
        if (i == how->lost && how->lost != how->lost_end) {
            const struct nocap_event drop = {.kind = NOCAP_EV_DROP,
                                             .t = run->events[i].t,
                                             .has = NOCAP_F_DROPPED,
                                             .value = how->lost_end - how->lost};
            run_trace_add(&t, &drop);
            i = how->lost_end;
        }
        const struct nocap_event *e = &run->events[i];
        if (!how->no_memory || !is_memory(e)) {
            add_pieces(&t, e, how->piece);
        }
    }
    return run_trace_check(&t);
}

static void assert_no_error(const struct run *run, const struct nocap_sim_options *options,
                            const struct showing *how)
{
    struct nocap_report *report = report_of(run, options, how);
    for (size_t i = 0; i < report->finding_count; i++) {
        if (report->findings[i].rule != TRC_003) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("%s, seed %u: from %zu, lost %zu to %zu, pieces of %u", options->profile,
                     (unsigned)options->seed, how->from, how->lost, how->lost_end,
                     (unsigned)how->piece);
        }
    }
    nocap_report_free(report);
}

/* Number `i` of the runs: of hosts that put several commands into an entry, that work with two
 * dispatchers, and of others. */
static struct nocap_sim_options options_of(unsigned i)
{
    static const enum nocap_sim_scenario scenarios[] = {
        NOCAP_SIM_FAST_DISPATCH_PACKED, NOCAP_SIM_FAST_DISPATCH,
        NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAST_DISPATCH_RINGS};
    static const enum nocap_sim_view views[] = {NOCAP_SIM_VIEW_RAW, NOCAP_SIM_VIEW_CQ,
                                                NOCAP_SIM_VIEW_ALL, NOCAP_SIM_VIEW_HOST};
    size_t count = 0,
           first = i % 2 == 0 ? 1 : 0; /* that profile has one dispatcher, packs nothing */
    while (nocap_profile_name(count) != NULL) {
        count++;
    }
    return (struct nocap_sim_options){.size = sizeof(struct nocap_sim_options),
                                      .scenario = scenarios[i % 4],
                                      .view = views[i / 4 % 4],
                                      .workers = 1 + i % 3,
                                      .launches = 8,
                                      .seed = i,
                                      .variant = i,
                                      .profile = nocap_profile_name(first + i % (count - first))};
}

enum { RUNS = 36, RAW_PACKED = 16 }; /* so many further on the view and the host are the same */

/* The same, and runs of hosts that have go words multicast: the first runtime does not. */
enum { ALL_RUNS = RUNS + 8 };
static struct nocap_sim_options any_of(unsigned i)
{
    struct nocap_sim_options options = options_of(i);
    if (i >= RUNS) {
        options.scenario = NOCAP_SIM_FAST_DISPATCH_MULTICAST;
        options.view = (enum nocap_sim_view)(i % NOCAP_SIM_VIEW_COUNT);
        options.profile = nocap_profile_name(1 + i % 5);
    }
    return options;
}

static void a_trace_begins_anywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL_RUNS; i += step()) {
        const struct nocap_sim_options options = any_of(i);
        struct run run = run_with(options);
        const size_t points = effort(5, 3);
        for (size_t p = 0; p < points; p++) {
            const struct showing how = {.from = 1 + p * run.count / points,
                                        .piece = p % 2 != 0 ? LINE : 0};
            assert_no_error(&run, &options, &how);
        }
        run_free(&run);
    }
}

static void events_are_lost_anywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL_RUNS; i += step()) {
        const struct nocap_sim_options options = any_of(i);
        struct run run = run_with(options);
        const size_t points = effort(5, 3);
        for (size_t p = 0; p < points; p++) {
            const size_t from = 1 + p * (run.count - 3) / points, left = run.count - from - 1;
            const struct showing how = {.lost = from, .lost_end = from + 1 + p * 37 % left};
            assert_no_error(&run, &options, &how);
        }
        run_free(&run);
    }
}

static void the_host_writes_in_pieces(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL_RUNS; i += step()) {
        const struct nocap_sim_options options = any_of(i);
        struct run run = run_with(options);
        for (uint64_t piece = 16; piece <= 256; piece *= 2) {
            assert_no_error(&run, &options, &(struct showing){.piece = piece});
        }
        run_free(&run);
    }
}

/* Which commands there are is not known then. */
static void host_memory_is_not_observed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL_RUNS; i += step()) {
        const struct nocap_sim_options options = any_of(i);
        struct run run = run_with(options);
        assert_no_error(&run, &options, &(struct showing){.no_memory = true});
        run_free(&run);
    }
}

/* Of the bytes that the host writes, and of records, only the first ones were captured. */
static void keep_heads(struct run *run, uint32_t most)
{
    for (size_t i = 0; i < run->count; i++) {
        struct nocap_event *e = &run->events[i];
        bool record = e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RECORD;
        bool write = is_memory(e) && e->by == NOCAP_BY_HOST && e->kind == NOCAP_EV_WRITE;
        if ((record || write) && (e->has & NOCAP_F_DATA) != 0 && e->data_size > most) {
            e->hash = nocap_fnv1a64(NOCAP_FNV1A64_START, e->data, e->data_size);
            e->data_size = most;
            e->has = (e->has & ~NOCAP_F_DATA) | NOCAP_F_HEAD | NOCAP_F_HASH;
        }
    }
}

static void only_the_first_bytes_were_captured(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ALL_RUNS; i += step()) {
        const struct nocap_sim_options options = any_of(i);
        for (uint32_t most = 1 + i % 5; most < 420; most += 13 + most / 8) {
            struct run run = run_with(options);
            keep_heads(&run, most);
            assert_no_error(&run, &options, &(struct showing){0});
            run_free(&run);
        }
    }
}

/* ---- what is wrong, or waits ---- */

enum { OF_PREFETCH = 2, OF_DISPATCH = 3 };

/* The semaphore of the two kernels that counts pages, or the one that STALL waits for; and how many
 * pages their buffer has. */
static uint64_t semaphore_of(const struct nocap_sim_options *options, bool sync, uint64_t *pages)
{
    struct nocap_error err;
    struct nocap_header header;
    struct nocap_profile profile;
    assert_int_equal(nocap_profile_find(&profile, options->profile, &err), NOCAP_OK);
    assert_int_equal(nocap_sim_header(options, &header, &err), NOCAP_OK);
    uint64_t base = header.cq.kernel_config;
    nocap_header_free(&header);
    *pages = profile.queue.buffer_pages;
    return base + profile.queue.semaphores +
           (sync ? profile.queue.sync_semaphore * profile.queue.semaphore_stride : 0);
}

static bool adds(const struct nocap_event *e, uint8_t y, uint64_t addr)
{
    return e->kind == NOCAP_EV_NOC && e->op == NOCAP_OP_ATOMIC && e->d.y == y && e->daddr == addr;
}

static bool polls(const struct nocap_event *e, uint64_t addr)
{
    return e->kind == NOCAP_EV_READ && e->by == NOCAP_BY_BRISC && e->at.y == OF_PREFETCH &&
           e->space == NOCAP_SPACE_TILE && e->addr == addr;
}

/* Without what says that pages are free again. */
static void forget_releases(struct run *run, uint64_t semaphore)
{
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct nocap_event *e = &run->events[i];
        if (adds(e, OF_PREFETCH, semaphore) || polls(e, semaphore)) {
            free((void *)(uintptr_t)e->data);
        } else {
            run->events[count++] = *e;
        }
    }
    run->count = count;
}

/* At its credit at the latest, and not before it is taken: bytes from elsewhere take their pages as
 * they come. */
static void the_first_page_that_is_not_free_is_found(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RUNS; i += step()) {
        struct nocap_sim_options options = options_of(RAW_PACKED * i);
        options.launches = 60;
        uint64_t pages, semaphore = semaphore_of(&options, false, &pages);
        struct run run = run_with(options);
        forget_releases(&run, semaphore);
        struct nocap_report *report = report_of(&run, &options, &(struct showing){0});
        uint64_t index = UINT64_MAX, published = 0;
        for (size_t f = 0; f < report->finding_count; f++) {
            const struct nocap_finding *found = &report->findings[f];
            index = found->rule == CQ_035 && found->index < index ? found->index : index;
        }
        assert_true(index < run.count);
        for (size_t e = 0; e < run.count && (e < index || published <= pages); e++) {
            bool adds_pages = adds(&run.events[e], OF_DISPATCH, semaphore);
            published += adds_pages ? run.events[e].value : 0;
            assert_true(e < index ? published <= pages : !adds_pages || published > pages);
        }
        nocap_report_free(report);
        run_free(&run);
    }
}

/* In STALL the prefetcher polls the semaphore that a WAIT of the dispatcher counts up. */
static void a_prefetcher_in_stall_says_for_what(void **state)
{
    (void)state;
    unsigned named = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        const struct nocap_sim_options options = options_of(RAW_PACKED * i);
        uint64_t pages, semaphore = semaphore_of(&options, true, &pages);
        struct run run = run_with(options);
        size_t at = 0;
        while (at < run.count && !polls(&run.events[at], semaphore)) {
            at++;
        }
        struct nocap_error err = {{0}};
        struct nocap_hang *hang;
        const struct nocap_hang_options until = {
            .size = sizeof until, .has_at = true, .at = at < run.count ? run.events[at].t : 0};
        run_trace_write("shown.nocap", &options, &run);
        assert_int_equal(nocap_hang(&hang, "shown.nocap", &until, &err), NOCAP_OK);
        for (size_t w = 0; at < run.count && w < hang->wait_count; w++) {
            named += strstr(hang->waits[w].what, "the dispatcher's notify: semaphore 1") != NULL;
        }
        nocap_hang_free(hang);
        run_free(&run);
    }
    assert_true(named > RUNS / 2);
}

/* The next record of this run gathers two pages, of which the prefetcher needs one to go on. */
static void bytes_from_elsewhere_wait_for_one_page(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH_PACKED,
                                              .workers = 1,
                                              .launches = 10,
                                              .seed = 480,
                                              .variant = 480,
                                              .profile = "tt-metal-2026-06",
                                              .fault = NOCAP_SIM_FAULT_RELEASE_MISSED};
    struct nocap_error err = {{0}};
    struct nocap_hang *hang;
    struct run run = run_with(options);
    unsigned named = 0;
    run_trace_write("shown.nocap", &options, &run);
    assert_int_equal(nocap_hang(&hang, "shown.nocap", NULL, &err), NOCAP_OK);
    for (size_t w = 0; w < hang->wait_count; w++) {
        named += strstr(hang->waits[w].what, "1 free page of the dispatch buffer") != NULL;
    }
    assert_int_equal(named, 1);
    nocap_hang_free(hang);
    run_free(&run);
}

/* Its pages come in pieces: after the first of them the record still goes on. */
static void a_trace_begins_with_bytes_from_elsewhere(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH_PACKED,
                                              .view = NOCAP_SIM_VIEW_ALL,
                                              .workers = 4,
                                              .launches = 8,
                                              .profile = "tt-metal-2026-06"};
    struct run run = run_with(options);
    for (size_t from = 1; from + 1 < run.count; from += 30 * step()) {
        assert_no_error(&run, &options, &(struct showing){.from = from});
    }
    run_free(&run);
}

/* Moves each `cq` event of the device before the accesses that it restates. */
static void put_units_first(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct nocap_event unit = run->events[i];
        size_t first = i;
        for (size_t j = i; j > 0 && run->events[j].t == unit.t; j--) {
            const struct nocap_event *e = &run->events[j - 1];
            first = (e->has & NOCAP_F_SEQ) != 0 && e->seq == unit.seq ? j - 1 : first;
        }
        if (unit.kind == NOCAP_EV_CQ && (unit.has & NOCAP_F_SEQ) != 0) {
            struct nocap_event *at = &run->events[first];
            memmove(at + 1, at, (i - first) * sizeof *at);
            *at = unit;
            at->t = at[1].t;
        }
    }
}

/* The packet of a read that is one is not there, only its unit is. */
static void lose_packet(struct run *run)
{
    const struct nocap_event *e = &run->events[run->count / 2];
    while (e->kind != NOCAP_EV_NOC || e->op != NOCAP_OP_READ || (e->has & NOCAP_F_SEQ) == 0 ||
           e->phase != NOCAP_PHASE_ISSUE || e->size >= NOCAP_CQ_BURST) {
        e++;
    }
    const size_t at = (size_t)(e - run->events);
    memmove(&run->events[at], &run->events[at + 1], (--run->count - at) * sizeof *e);
}

/* In either order the accesses say what the unit does not: where a read lands, what is relayed, the
 * steps of the prefetcher. */
static void units_come_before_what_they_restate(void **state)
{
    static const char *const rules[] = {"CQ-030", "CQ-031", "CQ-033", "CQ-034",
                                        "CQ-035", "CQ-037", "CQ-038", "CQ-071"};
    static const char *const profiles[] = {"blackhole-py", "tt-metal-2026-06"};
    (void)state;
    for (size_t p = 0; p < sizeof profiles / sizeof profiles[0]; p++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH_RINGS,
                                                  .view = NOCAP_SIM_VIEW_ALL,
                                                  .launches = 6,
                                                  .profile = profiles[p]};
        struct run run = run_with(options);
        put_units_first(&run);
        assert_no_error(&run, &options, &(struct showing){.from = 0});
        for (size_t from = 1, reads = 0; from < run.count; from++) { /* after the entry was read */
            const struct nocap_event *e = &run.events[from];
            bool unit = e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_FETCH;
            if (unit && reads++ % 40 == 0) {
                assert_no_error(&run, &options, &(struct showing){.from = from});
            }
        }
        run_trace_write("first.nocap", &options, &run);
        struct nocap_report *report;
        struct nocap_error err;
        assert_int_equal(nocap_check(&report, "first.nocap", NULL, &err), NOCAP_OK);
        for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
            if (report->rules[nocap_rule_from_id(rules[i])].exercised == 0) {
                fail_msg("%s: %s is not judged", profiles[p], rules[i]);
            }
        }
        nocap_report_free(report);
        lose_packet(&run);
        run_trace_write("lost.nocap", &options, &run);
        assert_int_equal(nocap_check(&report, "lost.nocap", NULL, &err), NOCAP_OK);
        assert_in_range(report->finding_count, 0, 1); /* its acknowledgement is of nothing */
        nocap_report_free(report);
        run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_begins_with_bytes_from_elsewhere),
        cmocka_unit_test(a_trace_begins_anywhere),
        cmocka_unit_test(events_are_lost_anywhere),
        cmocka_unit_test(the_host_writes_in_pieces),
        cmocka_unit_test(host_memory_is_not_observed),
        cmocka_unit_test(only_the_first_bytes_were_captured),
        cmocka_unit_test(the_first_page_that_is_not_free_is_found),
        cmocka_unit_test(a_prefetcher_in_stall_says_for_what),
        cmocka_unit_test(bytes_from_elsewhere_wait_for_one_page),
        cmocka_unit_test(units_come_before_what_they_restate),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
