/* SPDX-License-Identifier: Apache-2.0 */
/* Hangs of the command queue for which its cores are not to blame, and a queue that was shut down.
 */
#include "tests/hang_parts.h"

#include "formats/profile/profile.h"

#define LINE(...) #__VA_ARGS__ "\n"
#define HEADER(...)                                                                                \
    LINE({                                                                                         \
        "nocap" : 1,                                                                               \
        "arch" : "blackhole",                                                                      \
        "board" : "p100",                                                                          \
        "observes" : [__VA_ARGS__],                                                                \
        "cq" : {"prefetch" : [ 14, 2 ], "dispatch" : [ 14, 3 ]}                                    \
    })
/* clang-format off */
/* A record of one page, and what the device does with it. */
#define RECORD(t, number, addr, bytes)                                                             \
    LINE({"t":t,"ev":"cq","op":"record","slot":number,"entry":"0x4","addr":addr,"size":64,"head":bytes}) \
    LINE({"t":t,"ev":"cq","op":"fetch","slot":number,"addr":addr,"size":64})                       \
    LINE({"t":t,"ev":"cq","op":"landed","slot":number,"addr":addr,"size":64})
#define RUNS(t, page, bytes)                                                                       \
    LINE({"t":t,"ev":"cq","op":"relay","addr":page,"size":16})                                     \
    LINE({"t":t,"ev":"cq","op":"credit","x":14,"y":3,"sem":0,"by":"prefetch","value":"0x1"})       \
    LINE({"t":t,"ev":"cq","op":"exec","addr":page,"data":bytes})                                   \
    LINE({"t":t,"ev":"cq","op":"done","addr":page})
#define WAITS                                                                                      \
    RECORD(20, 0, "0x100", "0500000010000000400000000000000007010000000000000000000000000000")     \
    RUNS(30, "0x1a000", "07010000000000000000000000000000")
#define ENDS                                                                                       \
    RECORD(40, 1, "0x140", "050000001000000040000000000000000d000000000000000000000000000000")     \
    RUNS(50, "0x1b000", "0d000000000000000000000000000000")                                        \
    LINE({"t":55,"ev":"cq","op":"credit","x":14,"y":2,"sem":0,"by":"dispatch","value":"0x2"})      \
    RECORD(60, 2, "0x180", "0b00000000000000000000000000000000000000000000000000000000000000")
#define HOST_POLLS(count)                                                                          \
    LINE({"t":100,"ev":"read","by":"host","space":"sysmem","addr":"0x80","size":4,                 \
          "value":"0x4400010","n":count,"t2":2000000})
/* clang-format on */

static const struct {
    const char *name, *trace;
    enum nocap_hang_verdict verdict;
    const char *what; /* that the host is a root, and what is said of it; NULL: there is no root */
} cases[] = {
    {"a queue that was shut down in order", HEADER("cq") WAITS ENDS, NOCAP_HANG_NONE, NULL},
    {"a host that polls for an event that it never queued",
     HEADER("cq", "host-mmio", "sysmem") WAITS HOST_POLLS(200000), NOCAP_HANG_HUNG, "never asked"},
    {"a host that looks now and then", HEADER("cq", "host-mmio", "sysmem") WAITS HOST_POLLS(200),
     NOCAP_HANG_NONE, NULL},
};

static void a_host_without_a_queue_that_works(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_text("case.jsonl", cases[i].trace);
        struct nocap_hang *h = hang_of("case.jsonl");
        const struct nocap_hang_party *root = root_named(h, NOCAP_BY_HOST, (struct nocap_xy){0, 0});
        bool there = cases[i].what == NULL
                         ? h->party_count == 0
                         : root != NULL && root->wait != SIZE_MAX &&
                               strstr(h->waits[root->wait].what, cases[i].what) != NULL;
        if (h->verdict != cases[i].verdict || !there) {
            print(h);
            fail_msg("%s", cases[i].name);
        }
        nocap_hang_free(h);
    }
}

static bool is_said(const struct nocap_hang *h, const char *what)
{
    bool said = false;
    for (size_t i = 0; i < h->wait_count; i++) {
        said |= strstr(h->waits[i].what, what) != NULL;
    }
    return said;
}

static const char *said_of_dispatcher(const struct nocap_hang *h)
{
    return said_of(h, NOCAP_BY_DISPATCH, (struct nocap_xy){14, 3});
}

/* The host is the root alone, though it waits, too: for those that wait for what it did wrong. */
static void assert_the_hosts(const struct nocap_hang *h, const char *said)
{
    if (h->verdict != NOCAP_HANG_HUNG || h->chain_count == 0 ||
        strstr(said_of(h, NOCAP_BY_HOST, (struct nocap_xy){0, 0}), said) == NULL ||
        *said_of_dispatcher(h) != '\0') {
        print(h);
        fail_msg("the host %s", said);
    }
}

/* The counter says that every worker has answered. */
/* clang-format off */
/* A buffer of four pages in blocks of one, and commands that fill it. */
#define FOUR_PAGES                                                                                 \
    LINE({"nocap":1,"arch":"blackhole","board":"p100","observes":["cq"],"profile":                 \
          {"base":"blackhole-py","queue":{"buffer_pages":4,"block_pages":1}},                      \
          "cq":{"prefetch":[14,2],"dispatch":[14,3]}})
#define WAIT_64 "0500000010000000400000000000000007010000000000000000000000000000"
#define WAIT_16 "07010000000000000000000000000000"
#define RELAYED(t, page)                                                                           \
    LINE({"t":t,"ev":"cq","op":"relay","addr":page,"size":16})                                     \
    LINE({"t":t,"ev":"cq","op":"credit","x":14,"y":3,"sem":0,"by":"prefetch","value":"0x1"})
#define BEGINS(t, page, bytes) LINE({"t":t,"ev":"cq","op":"exec","addr":page,"data":bytes})
#define RECORDED(t, number, addr, bytes)                                                           \
    LINE({"t":t,"ev":"cq","op":"record","slot":number,"entry":"0x4","addr":addr,"size":64,"head":bytes})
#define RELEASED(t)                                                                                \
    LINE({"t":t,"ev":"cq","op":"credit","x":14,"y":2,"sem":0,"by":"dispatch","value":"0x1"})
static const char stuck_in_a_command[] =
    FOUR_PAGES RECORD(10, 0, "0x100", WAIT_64) RUNS(11, "0x1a000", WAIT_16)
    RECORD(20, 1, "0x140", WAIT_64) RUNS(21, "0x1b000", WAIT_16) RELEASED(22)
    RECORD(30, 2, "0x180", WAIT_64) RELAYED(31, "0x1c000")
    BEGINS(32, "0x1c000", WAIT_16)
    RECORD(40, 3, "0x1c0", WAIT_64) RELAYED(41, "0x1d000")
    RECORD(50, 4, "0x200", WAIT_64) RELAYED(51, "0x1a000")
    RECORD(60, 5, "0x240", WAIT_64)
    RECORDED(9000000, 6, "0x280", WAIT_64);
/* clang-format on */

/* It owes no pages of a command that it has not finished. */
static void a_dispatcher_in_a_command_owes_none_of_its_pages(void **state)
{
    (void)state;
    write_text("stuck.jsonl", stuck_in_a_command);
    struct nocap_hang *h = hang_of("stuck.jsonl");
    const struct nocap_hang_party *root =
        root_named(h, NOCAP_BY_DISPATCH, (struct nocap_xy){14, 3});
    if (root == NULL || root->wait == SIZE_MAX ||
        strstr(h->waits[root->wait].what, "never finished the command") == NULL) {
        print(h);
        fail_msg("the dispatcher is in a command");
    }
    nocap_hang_free(h);
}

static void a_wait_for_one_more_is_the_hosts(void **state)
{
    (void)state;
    struct nocap_hang *h = hang_of_fault(NOCAP_SIM_FAULT_WAIT_COUNT_HIGH, NOCAP_SIM_VIEW_RAW);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_int_equal(count_roots(h), 1);
    assert_non_null(strstr(said_of_dispatcher(h), "sends 4 go messages before it"));
    nocap_hang_free(h);
}

/* Also where neither commands nor the host's own looks are observed: who counts is not idle. */
static void a_dispatcher_that_counts_is_not_idle(void **state)
{
    (void)state;
    struct nocap_hang *h = hang_of_part(NOCAP_SIM_FAULT_WAIT_COUNT_HIGH, NOCAP_SIM_VIEW_RAW, NULL,
                                        true, NOCAP_CLASS_SYSMEM, 0);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_int_equal(count_roots(h), 1);
    assert_non_null(strstr(said_of_dispatcher(h), "no answer to them is missing"));
    nocap_hang_free(h);
}

/* Of a capture of the host that begins late it is not known what it waits for, until it has got
 * what it asked for last. */
static void a_host_that_was_seen_late(void **state)
{
    (void)state;
    static const struct {
        enum nocap_sim_fault fault;
        enum nocap_hang_verdict verdict;
    } rows[] = {{NOCAP_SIM_FAULT_NONE, NOCAP_HANG_NONE},
                {NOCAP_SIM_FAULT_WORKER_NOTIFY_MISSING, NOCAP_HANG_INCONCLUSIVE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_hang *h = hang_of_part(rows[i].fault, NOCAP_SIM_VIEW_HOST, NULL, true, 0, 24);
        assert_int_equal(h->verdict, rows[i].verdict);
        assert_int_equal(h->party_count, 0);
        nocap_hang_free(h);
    }
}

static void a_command_that_is_not_over_when_the_capture_ends(void **state)
{
    (void)state;
    /* clang-format off */
    write_text("case.jsonl",
               HEADER("cq") LINE({"t":20,"ev":"cq","op":"done","addr":"0x1a000"})
               LINE({"t":21,"ev":"cq","op":"exec","addr":"0x1b000",
                     "data":"07083000000000000300000000000000"}));
    /* clang-format on */
    struct nocap_hang *h = hang_of("case.jsonl");
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    assert_non_null(strstr(said_of_dispatcher(h), "3 notifies of workers"));
    nocap_hang_free(h);
}

/* The dispatcher does not look at what is relayed after its end: that is not lost. */
static void the_dispatcher_that_has_ended_is_the_root(void **state)
{
    (void)state;
    struct nocap_hang *h = hang_of_fault(NOCAP_SIM_FAULT_RECORD_AFTER_END, NOCAP_SIM_VIEW_RAW);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_non_null(strstr(said_of_dispatcher(h), "executed TERMINATE"));
    assert_null(root_named(h, NOCAP_BY_PREFETCH, (struct nocap_xy){14, 2}));
    nocap_hang_free(h);
}

/* All that has landed is relayed and executed. */
static void a_read_of_host_memory_that_does_not_land(void **state)
{
    (void)state;
    /* clang-format off */
    write_text("case.jsonl",
               HEADER("cq") WAITS RECORDED(40, 1, "0x140", WAIT_64)
               LINE({"t":41,"ev":"cq","op":"fetch","slot":1,"addr":"0x140","size":64}));
    /* clang-format on */
    struct nocap_hang *h = hang_of("case.jsonl");
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    assert_non_null(
        strstr(said_of(h, NOCAP_BY_PREFETCH, (struct nocap_xy){14, 2}), "which has not landed"));
    nocap_hang_free(h);
}

static void go_words_for_another_stream_are_the_hosts(void **state)
{
    (void)state;
    struct nocap_hang *h = hang_of_fault(NOCAP_SIM_FAULT_GO_WRONG_STREAM, NOCAP_SIM_VIEW_RAW);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_int_equal(count_roots(h), 1);
    assert_non_null(strstr(said_of_dispatcher(h), "stream 49 is named by"));
    nocap_hang_free(h);
}

/* One worker in scope, which never ends: the counter shows that the others have answered. */
static void workers_that_are_not_seen_have_answered(void **state)
{
    const struct nocap_xy stuck = {1, 3};
    (void)state;
    for (int scope = 0; scope < 2; scope++) {
        struct nocap_hang *h = hang_of_part(NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS, NOCAP_SIM_VIEW_RAW,
                                            &stuck, scope != 0, 0, 0);
        assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
        assert_non_null(root_named(h, NOCAP_BY_BRISC, stuck));
        for (size_t i = 0; i < h->party_count; i++) {
            const struct nocap_party *p = &h->parties[i].id;
            assert_true(p->at.x != stuck.x || p->at.y == stuck.y);
        }
        nocap_hang_free(h);
    }
}

/* Nothing shows which core has the second dispatcher, but what its NCRISC polls. */
static void a_second_dispatcher_that_is_not_placed_is_idle(void **state)
{
    enum { TERMINATED = 3 }; /* the variant whose dispatcher executes TERMINATE */
    const uint32_t without = NOCAP_CLASS_NOC | NOCAP_CLASS_SYSMEM;
    (void)state;
    for (unsigned variant = 1; variant <= 4; variant++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
                                                  .apart = true,
                                                  .launches = 4,
                                                  .variant = variant};
        struct run run = run_with(options);
        struct run_trace t = run_trace_of(&options);
        t.header.observes &= ~without;
        run_trace_open(&t, "unplaced.nocap");
        for (size_t i = 0; i < run.count; i++) {
            const struct nocap_event *e = &run.events[i];
            if (e->kind != NOCAP_EV_NOC && e->space != NOCAP_SPACE_SYSMEM) {
                run_trace_add(&t, e);
            }
        }
        run_trace_close(&t);
        struct nocap_hang *h = hang_of("unplaced.nocap");
        bool ends =
            variant == TERMINATED; /* of the others it is not seen what the host waits for */
        assert_int_equal(h->verdict, ends ? NOCAP_HANG_NONE : NOCAP_HANG_INCONCLUSIVE);
        assert_int_equal(count_roots(h), 0);
        nocap_hang_free(h);
        run_free(&run);
    }
}

/* The whole grid is released, and without a scope nothing says that only one tile was recorded. */
static void tiles_that_boot_and_show_nothing_are_no_clean_end(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_BOOT, .tiles = 1};
    struct run run = run_with(options);
    for (int scope = 0; scope < 2; scope++) {
        struct run_trace t = run_trace_of(&options);
        t.header.has_scope = scope != 0;
        run_trace_open(&t, "boot.nocap");
        for (size_t i = 0; i < run.count; i++) {
            run_trace_add(&t, &run.events[i]);
        }
        run_trace_close(&t);
        struct nocap_hang *h = hang_of("boot.nocap");
        assert_int_equal(h->verdict, scope != 0 ? NOCAP_HANG_NONE : NOCAP_HANG_INCONCLUSIVE);
        nocap_hang_free(h);
    }
    run_free(&run);
}

static void a_slot_left_out_is_the_hosts(void **state)
{
    (void)state;
    struct nocap_hang *h = hang_of_fault(NOCAP_SIM_FAULT_SLOT_SKIPPED, NOCAP_SIM_VIEW_CQ);
    assert_non_null(root_named(h, NOCAP_BY_HOST, (struct nocap_xy){0, 0}));
    assert_null(root_named(h, NOCAP_BY_PREFETCH, (struct nocap_xy){14, 2}));
    nocap_hang_free(h);
    h = hang_of_fault(NOCAP_SIM_FAULT_SLOT_SKIPPED, NOCAP_SIM_VIEW_RAW);
    assert_the_hosts(h, "left out prefetch_q entry");
    assert_true(is_said(h, "which the host left out; 1 command behind it"));
    nocap_hang_free(h);
}

/* ---- two dispatchers ---- */

/* Each way in which the subordinate dispatcher waits, or is waited for: who is to act. */
static const struct {
    enum nocap_sim_fault fault;
    uint32_t launches;
    enum nocap_agent root;
    struct nocap_xy at;
    const char *what; /* that the root says */
} split_cases[] = {
    {NOCAP_SIM_FAULT_SUBORDINATE_DEAD, 16, NOCAP_BY_NCRISC, {14, 3}, "never finished the command"},
    {NOCAP_SIM_FAULT_GO_LEFT_OUT, 16, NOCAP_BY_NCRISC, {14, 3}, "left out 1 go message"},
    {NOCAP_SIM_FAULT_GO_SHORT, 16, NOCAP_BY_NCRISC, {14, 3}, "left out 1 go message"},
    {NOCAP_SIM_FAULT_SUBORDINATE_RELEASE_MISSED, 200, NOCAP_BY_NCRISC, {14, 3}, "128 too few"},
    {NOCAP_SIM_FAULT_SUBORDINATE_CREDIT_MISSED,
     16,
     NOCAP_BY_PREFETCH,
     {14, 2},
     "to the subordinate dispatcher and made"},
    {NOCAP_SIM_FAULT_PREFETCHER_DEAD, 16, NOCAP_BY_PREFETCH, {14, 2}, "prefetch command"},
    {NOCAP_SIM_FAULT_NOTIFY_FORGOTTEN,
     16,
     NOCAP_BY_DISPATCH,
     {14, 3},
     "the subordinate dispatcher waits for launch"},
    {NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS, 16, NOCAP_BY_BRISC, {0, 0}, "never reported DONE"},
    {NOCAP_SIM_FAULT_WORKER_NOTIFY_MISSING,
     16,
     NOCAP_BY_BRISC,
     {0, 0},
     "never notified the dispatcher"},
    {NOCAP_SIM_FAULT_SUBORDINATE_UNNOTIFIED,
     16,
     NOCAP_BY_HOST,
     {0, 0},
     "never enqueued the notification"},
    {NOCAP_SIM_FAULT_GO_WAIT_HIGH, 16, NOCAP_BY_NCRISC, {14, 3}, "the host, which enqueued it"},
    {NOCAP_SIM_FAULT_SLOT_SKIPPED, 16, NOCAP_BY_HOST, {0, 0}, "left out prefetch_q entry"},
    {NOCAP_SIM_FAULT_DISPATCH_UNKNOWN, 16, NOCAP_BY_DISPATCH, {14, 3}, "never finished"},
};

static bool is_blamed(const struct nocap_hang *h, size_t i)
{
    bool found = false;
    for (size_t p = 0; p < h->party_count; p++) {
        const struct nocap_hang_party *one = &h->parties[p];
        bool there = split_cases[i].at.x == 0 ||
                     (one->id.at.x == split_cases[i].at.x && one->id.at.y == split_cases[i].at.y);
        found |= one->root && one->id.agent == split_cases[i].root && there &&
                 one->wait != SIZE_MAX && strstr(h->waits[one->wait].what, split_cases[i].what);
    }
    return found;
}

static void hangs_of_two_dispatchers_have_their_roots(void **state)
{
    static const enum nocap_sim_view views[] = {NOCAP_SIM_VIEW_RAW, NOCAP_SIM_VIEW_ALL};
    (void)state;
    for (size_t i = 0; i < sizeof split_cases / sizeof split_cases[0]; i++) {
        bool early = split_cases[i].launches > 100; /* pages run out long after the fault */
        for (uint64_t seed = 0; seed < 6; seed++) {
            struct nocap_sim_options options = {.size = sizeof options,
                                                .scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
                                                .view = views[seed % 2],
                                                .launches = split_cases[i].launches,
                                                .fault = split_cases[i].fault,
                                                .seed = seed,
                                                .variant = early ? 0 : seed,
                                                .profile = nocap_profile_name(2 + seed % 5)};
            struct run_trace trace = run_trace_simulated("run.nocap", options);
            run_trace_close(&trace);
            struct nocap_hang *h = hang_of("run.nocap");
            if (h->verdict != NOCAP_HANG_HUNG || !is_blamed(h, i) || count_roots(h) > 1) {
                print(h);
                fail_msg("%s, seed %u", nocap_sim_faults[split_cases[i].fault].name,
                         (unsigned)seed);
            }
            nocap_hang_free(h);
        }
    }
}

/* clang-format off */
#define ASKS_ALL HEADER("cq", "host-mmio", "core-load", "core-mmio", "noc", "sysmem")
#define ASKED                                                                                      \
    LINE({"t":20,"ev":"cq","op":"record","slot":0,"entry":"0x4","addr":"0x100","size":64,          \
          "data":"05000000200000004000000000000000030100000000000020000000000000000100000000000000000000000000000000000000000000000000000000000000"})
#define EXECUTED                                                                                   \
    LINE({"t":21,"ev":"cq","op":"fetch","slot":0,"addr":"0x100","size":64})                        \
    LINE({"t":22,"ev":"cq","op":"landed","slot":0,"addr":"0x100","size":64})                       \
    LINE({"t":30,"ev":"cq","op":"relay","addr":"0x1a000","size":32})                               \
    LINE({"t":31,"ev":"cq","op":"credit","x":14,"y":3,"sem":0,"by":"prefetch","value":"0x1"})      \
    LINE({"t":32,"ev":"cq","op":"exec","addr":"0x1a000","data":"03010000000000002000000000000000"})
#define POLLS(agent, row, address, bytes, v)                                                       \
    LINE({"t":50,"ev":"read","by":agent,"x":14,"y":row,"addr":address,"size":bytes,"value":v,      \
          "n":200000,"t2":2000000})
/* clang-format on */

/* One record, which asks for an event, and a poll: who polls, on whom it waits, for what. */
static const struct {
    const char *trace, *what;
    unsigned who, by;
} polls[] = {
    {ASKS_ALL ASKED POLLS("host", 2, "0x19840", 2, "0x4"),
     "prefetch_q entry 0, which still holds 0x4", NOCAP_BY_HOST, NOCAP_BY_PREFETCH},
    {ASKS_ALL ASKED EXECUTED POLLS("brisc", 3, "0x196e0", 4, "0x400"),
     "room in the completion queue", NOCAP_BY_DISPATCH, NOCAP_BY_HOST},
    {ASKS_ALL ASKED EXECUTED POLLS("brisc", 3, "0xffb20204", 4, "0x400"),
     "NIU0.MST_WR_ACK_RECEIVED stays 0x400", NOCAP_BY_DISPATCH, NOCAP_BY_NONE},
};

static void what_is_polled_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof polls / sizeof polls[0]; i++) {
        write_text("polls.jsonl", polls[i].trace);
        struct nocap_hang *h = hang_of("polls.jsonl");
        bool there = false;
        for (size_t k = 0; k < h->wait_count; k++) {
            const struct nocap_hang_wait *w = &h->waits[k];
            there |= w->wait.who.agent == polls[i].who && w->wait.by.agent == polls[i].by &&
                     strstr(w->what, polls[i].what) != NULL;
        }
        if (!there) {
            print(h);
            fail_msg("%s", polls[i].what);
        }
        nocap_hang_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_without_a_queue_that_works),
        cmocka_unit_test(a_dispatcher_in_a_command_owes_none_of_its_pages),
        cmocka_unit_test(a_wait_for_one_more_is_the_hosts),
        cmocka_unit_test(a_dispatcher_that_counts_is_not_idle),
        cmocka_unit_test(a_host_that_was_seen_late),
        cmocka_unit_test(a_command_that_is_not_over_when_the_capture_ends),
        cmocka_unit_test(a_read_of_host_memory_that_does_not_land),
        cmocka_unit_test(go_words_for_another_stream_are_the_hosts),
        cmocka_unit_test(the_dispatcher_that_has_ended_is_the_root),
        cmocka_unit_test(workers_that_are_not_seen_have_answered),
        cmocka_unit_test(tiles_that_boot_and_show_nothing_are_no_clean_end),
        cmocka_unit_test(a_second_dispatcher_that_is_not_placed_is_idle),
        cmocka_unit_test(a_slot_left_out_is_the_hosts),
        cmocka_unit_test(hangs_of_two_dispatchers_have_their_roots),
        cmocka_unit_test(what_is_polled_is_said),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
