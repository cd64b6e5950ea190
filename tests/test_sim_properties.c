/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in device model: what always holds on real firmware, in any interleaving; how many
 * tiles and launches it does; that every fault shows; what it costs. */
#include <stdio.h>
#include <time.h>

#include "formats/trace/trace.h"
#include "tests/sim_run.h"

/* ---- temporal properties, by a scan that knows nothing but the stores ---- */

enum { DM1, TRISC0, TRISC1, TRISC2, SYNC_BYTES };

struct tile {
    uint8_t sync[SYNC_BYTES];
    bool in_kernel[SYNC_BYTES];
    bool released;    /* the subordinates */
    bool booted;      /* boot DONE was stored */
    bool invalidated; /* instruction caches, since the last DONE */
    bool done;        /* DONE was stored, and no launch began since */
    uint32_t rd_ptr, counters;
    unsigned dones, notifies, messages, enters;
    bool seen;
};

static uint32_t word(const struct tile *t)
{
    return t->sync[DM1] | (uint32_t)t->sync[TRISC0] << 8 | (uint32_t)t->sync[TRISC1] << 16 |
           (uint32_t)t->sync[TRISC2] << 24;
}

/* The byte of a subordinate. */
static int byte_of(unsigned by)
{
    return by >= NOCAP_BY_NCRISC && by <= NOCAP_BY_TRISC2 ? (int)(by - NOCAP_BY_NCRISC) : -1;
}

static void brisc_stores_sync_byte(struct tile *t, unsigned i, uint8_t value)
{
    uint8_t old = t->sync[i];
    if (i == DM1) {
        assert_true((value == 0x01 && old == 0) || (value == 0x80 && old == 0x01));
        t->done = false;
    } else if (value == 0x03) {
        assert_int_equal(i, TRISC0);
        assert_int_equal(word(t), 0);
        t->counters = 0;
    } else {
        assert_int_equal(value, 0x80);
        assert_int_equal(old, 0);
        assert_true(i != TRISC0 || t->invalidated);
        t->done = false;
    }
    t->sync[i] = value;
}

static void brisc_stores(struct tile *t, const struct nocap_event *e)
{
    if (e->addr == 0x68 && e->size == 4) {
        assert_int_equal(e->value, 0x40404040);
        memset(t->sync, 0x40, sizeof t->sync);
    } else if (e->addr >= 0x68 && e->addr < 0x6C) {
        assert_int_equal(e->size, 1);
        brisc_stores_sync_byte(t, (unsigned)(e->addr - 0x68), (uint8_t)e->value);
    } else if (e->addr == 0xFFB121B0) {
        assert_int_equal(word(t), 0x40404040);
        t->released = true;
    } else if (e->addr == 0xFFEF02E4) {
        t->invalidated = true;
    } else if (e->addr == 0x373) {
        assert_int_equal(e->value, 0);
        assert_true(word(t) == 0 || (t->booted && word(t) == 0x300));
        t->booted = t->done = true;
        t->invalidated = false;
        t->dones++;
    } else if (e->addr == 0x6C) {
        assert_true(e->value == 0 || e->value == (t->rd_ptr + 1) % 8);
        t->rd_ptr = (uint32_t)e->value;
    }
}

static void subordinate_stores(struct tile *t, const struct nocap_event *e, unsigned i)
{
    bool counter = e->addr >= 0xFFB48000 && e->addr < 0xFFB68000;
    if (e->addr >= 0x60 && e->addr < 0x3A4) {
        assert_int_equal(e->addr, 0x68 + i);
        assert_int_equal(e->size, 1);
        assert_int_equal(e->value, 0);
        assert_false(t->in_kernel[i]);
        assert_true(t->sync[i] == 0x40 || t->sync[i] == 0x80 || (i == TRISC0 && t->sync[i] == 3));
        assert_true(t->sync[i] != 3 || t->counters == 64);
        t->sync[i] = 0;
    } else if (i == TRISC0 && t->sync[i] == 3) {
        assert_true(counter && e->value == 0);
        t->counters++;
    }
}

static void enters_or_leaves(struct tile *t, const struct nocap_event *e)
{
    int i = byte_of(e->by);
    t->enters += e->op == NOCAP_OP_ENTER;
    if (i >= 0) {
        assert_true(t->in_kernel[i] == (e->op == NOCAP_OP_EXIT));
        assert_int_equal(t->sync[i], 0x80);
        t->in_kernel[i] = e->op == NOCAP_OP_ENTER;
    }
}

struct tiles {
    struct tile at[32][32];
    uint64_t polls, collapsed;
};

static enum nocap_status scan(void *context, const struct nocap_event *e, struct nocap_error *err)
{
    struct tiles *tiles = context;
    struct tile *t = &tiles->at[e->at.x % 32][e->at.y % 32];
    int i = byte_of(e->by);
    (void)err;
    if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_BRISC) {
        brisc_stores(t, e);
    } else if (e->kind == NOCAP_EV_WRITE && i >= 0) {
        assert_true(t->released);
        subordinate_stores(t, e, (unsigned)i);
    } else if (e->kind == NOCAP_EV_KERNEL) {
        enters_or_leaves(t, e);
    } else if (e->kind == NOCAP_EV_NOC && e->op == NOCAP_OP_INLINE) {
        assert_true(t->done && e->posted && e->value == 0x40 && e->daddr == 0xFFB70438);
        t->notifies++;
    } else if (e->kind == NOCAP_EV_WRITE && e->size == 96) {
        t->messages++;
    }
    t->seen |= e->kind == NOCAP_EV_WRITE && (i >= 0 || e->by == NOCAP_BY_BRISC);
    return NOCAP_OK;
}

static struct tiles *scan_with(struct nocap_sim_options options)
{
    struct nocap_error err = {{0}};
    struct tiles *tiles = calloc(1, sizeof *tiles);
    assert_non_null(tiles);
    options.size = sizeof options;
    if (nocap_sim_run(&options, scan, tiles, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return tiles;
}

static void what_always_holds_holds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        for (unsigned scenario = 0; scenario <= NOCAP_SIM_LAUNCH_DEV; scenario++) {
            free(scan_with((struct nocap_sim_options){
                .scenario = scenario, .launches = 20, .seed = seed, .variant = seed}));
        }
    }
}

/* ---- sizes ---- */

static unsigned tiles_seen(const struct tiles *tiles)
{
    unsigned seen = 0;
    for (unsigned x = 0; x < 32; x++) {
        for (unsigned y = 0; y < 32; y++) {
            seen += tiles->at[x][y].seen;
        }
    }
    return seen;
}

/* Every tile does every launch, and nothing else does anything. */
static void assert_sizes(enum nocap_board board, uint32_t tiles, uint64_t launches)
{
    struct nocap_sim_options options = {
        .scenario = NOCAP_SIM_LAUNCH_HOST, .board = board, .tiles = tiles, .launches = launches};
    struct tiles *scanned = scan_with(options);
    assert_int_equal(tiles_seen(scanned), tiles);
    for (unsigned x = 0; x < 32; x++) {
        for (unsigned y = 0; y < 32; y++) {
            const struct tile *t = &scanned->at[x][y];
            assert_int_equal(t->dones, t->seen ? 1 + launches : 0);
            assert_int_equal(t->messages, t->seen ? launches : 0);
            assert_int_equal(t->notifies, 0);
        }
    }
    free(scanned);
    options.scenario = NOCAP_SIM_LAUNCH_DEV;
    scanned = scan_with(options);
    assert_int_equal(tiles_seen(scanned), tiles);
    unsigned workers = 0;
    for (unsigned x = 0; x < 32; x++) {
        for (unsigned y = 0; y < 32; y++) {
            const struct tile *t = &scanned->at[x][y];
            workers += t->messages == launches;
            assert_true(t->messages == launches || t->messages == 0);
            assert_true(!t->seen || t->dones == t->notifies + 1);
        }
    }
    assert_int_equal(workers, tiles > 1 ? tiles - 1 : 1);
    free(scanned);
}

static void tiles_and_launches_are_as_asked(void **state)
{
    (void)state;
    assert_sizes(NOCAP_BOARD_P100, 1, 1);
    assert_sizes(NOCAP_BOARD_P100, 3, 40);
    assert_sizes(NOCAP_BOARD_P100, 120, 4);
    assert_sizes(NOCAP_BOARD_P150, 140, 4);
}

static enum nocap_status refuse(struct nocap_sim_options options)
{
    struct run run = {0};
    struct nocap_error err = {{0}};
    struct nocap_header header;
    options.size = sizeof options;
    enum nocap_status status = nocap_sim_run(&options, keep, &run, &err);
    assert_true(strlen(err.text) > 0);
    assert_int_equal(run.count, 0);
    assert_int_equal(nocap_sim_header(&options, &header, &err), status);
    return status;
}

static void senseless_options_are_refused(void **state)
{
    (void)state;
    assert_int_equal(refuse((struct nocap_sim_options){.tiles = 121}), NOCAP_E_USAGE);
    assert_int_equal(refuse((struct nocap_sim_options){.tiles = 141, .board = NOCAP_BOARD_P150}),
                     NOCAP_E_USAGE);
    assert_int_equal(refuse((struct nocap_sim_options){.fault = NOCAP_SIM_FAULT_HANG_SEM}),
                     NOCAP_E_USAGE);
    assert_int_equal(refuse((struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST,
                                                       .launches = 1,
                                                       .fault = NOCAP_SIM_FAULT_STALE_MESSAGE}),
                     NOCAP_E_USAGE);
    assert_int_equal(nocap_sim_fault_from_name("no-such-fault"), -1);
    assert_int_equal(nocap_sim_scenario_from_name("no-such-scenario"), -1);
    assert_int_equal(nocap_sim_scenario_from_name("launch-dev"), NOCAP_SIM_LAUNCH_DEV);
}

static enum nocap_status stop_at_once(void *context, const struct nocap_event *event,
                                      struct nocap_error *err)
{
    (void)event;
    ++*(unsigned *)context;
    return nocap_fail(err, NOCAP_E_OUTPUT, "full");
}

static void a_sink_that_fails_ends_the_run(void **state)
{
    (void)state;
    unsigned calls = 0;
    struct nocap_error err;
    struct nocap_sim_options options = {.size = sizeof options};
    assert_int_equal(nocap_sim_run(&options, stop_at_once, &calls, &err), NOCAP_E_OUTPUT);
    assert_int_equal(calls, 1);
    assert_string_equal(err.text, "full");
}

static void the_header_says_what_was_simulated(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_header header;
    struct nocap_sim_options options = {.size = sizeof options, .tiles = 2, .seed = 9};
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_int_equal(header.board, NOCAP_BOARD_P100);
    assert_true(header.complete == NOCAP_TRUE && header.has_scope);
    assert_int_equal(header.scope_count, 2);
    assert_true(nocap_header_in_scope(&header, (struct nocap_xy){1, 3}));
    assert_false(nocap_header_in_scope(&header, (struct nocap_xy){1, 4}));
    assert_string_equal(header.producer, "nocap built-in device model, scenario boot, seed 9, variant 0");
    assert_string_equal(header.layout, "bh-launch96");
    assert_int_equal(header.observes & NOCAP_CLASS_CORE_LOAD, 0);
    nocap_header_free(&header);
    options.board = NOCAP_BOARD_P150;
    options.tiles = 140;
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_false(header.has_scope);
    nocap_header_free(&header);
}

/* ---- faults ---- */

/* Two faults that strike the same launch and leave the same events: one of them does not strike. */
static void every_fault_changes_the_events(void **state)
{
    (void)state;
    for (unsigned scenario = 0; scenario <= NOCAP_SIM_LAUNCH_DEV; scenario++) {
        uint64_t hashes[NOCAP_SIM_FAULT_COUNT];
        unsigned count = 0;
        for (unsigned fault = 0; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
            const struct nocap_sim_fault_info *info = &nocap_sim_faults[fault];
            if (fault != NOCAP_SIM_FAULT_NONE && !nocap_sim_fault_triggers(info, scenario)) {
                continue;
            }
            struct run run = run_with((struct nocap_sim_options){
                .scenario = scenario, .fault = fault, .launches = 6, .seed = 3});
            assert_in_range(run.count, 100, 100000);
            for (unsigned i = 0; i < count; i++) {
                if (hashes[i] == run.hash) {
                    fail_msg("%s changes nothing in %s", info->name,
                             nocap_sim_scenarios[scenario].name);
                }
            }
            hashes[count++] = run.hash;
            run_free(&run);
            assert_int_equal(fault == NOCAP_SIM_FAULT_NONE ? -1 : (int)fault,
                             fault == NOCAP_SIM_FAULT_NONE ? -1
                                                           : nocap_sim_fault_from_name(info->name));
        }
    }
}

/* A hang: the host polls for a long time, sees GO, and gives up. */
static void a_hang_ends_with_a_host_that_gives_up(void **state)
{
    (void)state;
    static const enum nocap_sim_fault hangs[] = {
        NOCAP_SIM_FAULT_HANG_BRISC, NOCAP_SIM_FAULT_HANG_NCRISC, NOCAP_SIM_FAULT_HANG_TRISC1,
        NOCAP_SIM_FAULT_HANG_SEM, NOCAP_SIM_FAULT_TRISC_PUSHES_T1};
    for (unsigned i = 0; i < sizeof hangs / sizeof hangs[0]; i++) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            struct run run = run_with((struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST,
                                                                 .fault = hangs[i],
                                                                 .seed = seed,
                                                                 .variant = seed});
            const struct nocap_event *last = &run.events[run.count - 3], *poll = last - 1;
            while (poll->space == NOCAP_SPACE_BAR0) {
                poll--;
            }
            assert_true(poll->kind == NOCAP_EV_READ && poll->addr == 0x373 && poll->n > 100);
            assert_int_equal(poll->value, 0x80);
            assert_true(last->addr == 0x370 && last->value == 0x80000000);
            run_free(&run);
        }
    }
}

/* ---- speed ---- */

static enum nocap_status count_event(void *context, const struct nocap_event *event,
                                     struct nocap_error *err)
{
    (void)event;
    (void)err;
    ++*(uint64_t *)context;
    return NOCAP_OK;
}

static void runs_of_millions_of_events_end(void **state)
{
    (void)state;
    struct nocap_error err;
    for (unsigned scenario = NOCAP_SIM_LAUNCH_HOST; scenario <= NOCAP_SIM_LAUNCH_DEV; scenario++) {
        struct nocap_sim_options options = {
            .size = sizeof options, .scenario = scenario, .tiles = 8, .launches = 2000};
        uint64_t events = 0;
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        assert_int_equal(nocap_sim_run(&options, count_event, &events, &err), NOCAP_OK);
        clock_gettime(CLOCK_MONOTONIC, &to);
        double seconds =
            (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        print_message("%s: %.1f M events, %.1f M/s\n", nocap_sim_scenarios[scenario].name,
                      1e-6 * (double)events, 1e-6 * (double)events / seconds);
        assert_true(events > 2000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_always_holds_holds),
        cmocka_unit_test(tiles_and_launches_are_as_asked),
        cmocka_unit_test(senseless_options_are_refused),
        cmocka_unit_test(a_sink_that_fails_ends_the_run),
        cmocka_unit_test(the_header_says_what_was_simulated),
        cmocka_unit_test(every_fault_changes_the_events),
        cmocka_unit_test(a_hang_ends_with_a_host_that_gives_up),
        cmocka_unit_test(runs_of_millions_of_events_end),
    };
    return cmocka_run_group_tests_name("built-in device model, properties", tests, NULL, NULL);
}
