/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the built-in device model that make it hang: verdict and root. And what is no hang:
 * traces that finished, traces cut anywhere, slow work. */
#include "tests/hang_answers.h"

#include "tests/run_trace.h"

struct device_case {
    const char *name;
    enum nocap_sim_scenario scenario;
    enum nocap_sim_fault fault;
    unsigned agent;
    struct nocap_xy at;
    int cause; /* rule that is cited, -1: none has to be */
};

static const struct device_case device_cases[] = {
    {"a slot of the prefetch queue is left out: the host sees it full, the prefetcher empty",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_SLOT_SKIPPED,
     NOCAP_BY_HOST,
     {0, 0},
     CQ_029},
    {"a command that the prefetcher cannot execute",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_PREFETCH_ILLEGAL,
     NOCAP_BY_PREFETCH,
     {14, 2},
     CQ_005},
    {"pages are credited to nobody: the prefetcher runs dry",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_RELEASE_MISSED,
     NOCAP_BY_DISPATCH,
     {14, 3},
     -1},
    {"the worker-done count that is waited for lies in the future",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_WAIT_COUNT_HIGH,
     NOCAP_BY_DISPATCH,
     {14, 3},
     CQ_048},
    {"published pages never reach the dispatcher's semaphore",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_CREDIT_MISSED,
     NOCAP_BY_PREFETCH,
     {14, 2},
     CQ_037},
    {"the go words name another stream than the one that is waited for",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_GO_WRONG_STREAM,
     NOCAP_BY_DISPATCH,
     {14, 3},
     CQ_021},
    {"launch messages ask for HOST mode: no worker notifies",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_MESSAGE_HOST_MODE,
     NOCAP_BY_BRISC,
     {1, 2},
     CQ_053},
    {"one worker sends no notify",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_WORKER_NOTIFY_MISSING,
     NOCAP_BY_BRISC,
     {1, 2},
     CQ_055},
    {"the kernel of one worker never ends",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS,
     NOCAP_BY_BRISC,
     {1, 2},
     -1},
    {"the prefetcher stops",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_PREFETCHER_DEAD,
     NOCAP_BY_PREFETCH,
     {14, 2},
     -1},
    {"a record after TERMINATE: the host waits for its completion",
     NOCAP_SIM_FAST_DISPATCH,
     NOCAP_SIM_FAULT_RECORD_AFTER_END,
     NOCAP_BY_DISPATCH,
     {14, 3},
     CQ_069},
    {"the jump to the firmware misses it",
     NOCAP_SIM_LAUNCH_HOST,
     NOCAP_SIM_FAULT_JAL_WRONG,
     NOCAP_BY_BRISC,
     {1, 2},
     RST_002},
    {"a subordinate starts at a wrong address",
     NOCAP_SIM_LAUNCH_HOST,
     NOCAP_SIM_FAULT_RESET_PC_WRONG,
     NOCAP_BY_TRISC1,
     {1, 3},
     RST_005},
    {"a subordinate loops at its first instruction",
     NOCAP_SIM_LAUNCH_DEV,
     NOCAP_SIM_FAULT_BOOT_HANG_TRISC1,
     NOCAP_BY_TRISC1,
     {1, 2},
     -1},
    {"a store to the FIFO of another thread hangs the core",
     NOCAP_SIM_LAUNCH_HOST,
     NOCAP_SIM_FAULT_TRISC_PUSHES_T1,
     NOCAP_BY_TRISC0,
     {1, 3},
     MAP_007},
    {"the kernel of TRISC1 never ends",
     NOCAP_SIM_LAUNCH_HOST,
     NOCAP_SIM_FAULT_HANG_TRISC1,
     NOCAP_BY_TRISC1,
     {1, 3},
     -1},
    {"the kernel of NCRISC never ends",
     NOCAP_SIM_LAUNCH_DEV,
     NOCAP_SIM_FAULT_HANG_NCRISC,
     NOCAP_BY_NCRISC,
     {1, 2},
     -1},
    {"the kernel of BRISC never ends",
     NOCAP_SIM_LAUNCH_HOST,
     NOCAP_SIM_FAULT_HANG_BRISC,
     NOCAP_BY_BRISC,
     {1, 3},
     -1},
    {"a SEMPOST too few",
     NOCAP_SIM_LAUNCH_HOST,
     NOCAP_SIM_FAULT_HANG_SEM,
     NOCAP_BY_TRISC2,
     {1, 3},
     TNX_040},
};

/* Writes the first `count` events of a run; fewer if it has fewer. */
static void write_run(const struct nocap_sim_options *options, const struct run *run, size_t count)
{
    struct run_trace t = run_trace_of(options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < count && i < run->count; i++) {
        run_trace_add(&t, &run->events[i]);
    }
    run_trace_close(&t);
}

static void faults_of_the_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof device_cases / sizeof device_cases[0]; i++) {
        const struct device_case *c = &device_cases[i];
        const struct nocap_sim_options options = {
            .size = sizeof options, .scenario = c->scenario, .fault = c->fault, .tiles = 2};
        struct run run = run_with(options);
        write_run(&options, &run, SIZE_MAX);
        run_free(&run);
        struct nocap_hang *h = hang_of("run.nocap");
        if (h->verdict != NOCAP_HANG_HUNG || root_named(h, c->agent, c->at) == NULL ||
            root_count(h, c->at) != 1 || !cites(h, c->cause)) {
            print(h);
            fail_msg("%s", c->name);
        }
        nocap_hang_free(h);
    }
}

/* A prefetcher at a STALL, which lost the pages before it: the dispatcher waits for these. */
static void lost_pages_before_a_stall(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH_PACKED,
                                              .fault = NOCAP_SIM_FAULT_CREDIT_MISSED,
                                              .launches = 3,
                                              .workers = 3};
    struct run run = run_with(options);
    write_run(&options, &run, SIZE_MAX);
    run_free(&run);
    struct nocap_hang *h = hang_of("run.nocap");
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_non_null(root_named(h, NOCAP_BY_PREFETCH, (struct nocap_xy){14, 2}));
    assert_int_equal(root_count(h, (struct nocap_xy){14, 3}), 0);
    nocap_hang_free(h);
}

/* What shows too little of a queue that broke does not let it pass for idle. */
static void a_broken_queue_is_not_idle(void **state)
{
    (void)state;
    static const struct {
        enum nocap_sim_fault fault;
        enum nocap_sim_view view;
        enum nocap_hang_verdict verdict;
    } views[] = {
        {NOCAP_SIM_FAULT_PREFETCH_ILLEGAL, NOCAP_SIM_VIEW_HOST, NOCAP_HANG_INCONCLUSIVE},
        {NOCAP_SIM_FAULT_CREDIT_MISSED, NOCAP_SIM_VIEW_CQ, NOCAP_HANG_INCONCLUSIVE},
        {NOCAP_SIM_FAULT_NONE, NOCAP_SIM_VIEW_HOST, NOCAP_HANG_NONE},
        {NOCAP_SIM_FAULT_NONE, NOCAP_SIM_VIEW_CQ, NOCAP_HANG_NONE},
    };
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH,
                                                  .fault = views[i].fault,
                                                  .view = views[i].view};
        struct run run = run_with(options);
        write_run(&options, &run, SIZE_MAX);
        run_free(&run);
        struct nocap_hang *h = hang_of("run.nocap");
        if (h->verdict != views[i].verdict) {
            print(h);
            fail_msg("view %zu", i);
        }
        nocap_hang_free(h);
    }
}

/* A thread that waits for a semaphore is no root while another core can still post it. */
static void who_can_still_post(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_HOST,
                                              .fault = NOCAP_SIM_FAULT_HANG_TRISC1,
                                              .tiles = 2};
    struct run run = run_with(options);
    write_run(&options, &run, SIZE_MAX);
    run_free(&run);
    struct nocap_hang *h = hang_of("run.nocap");
    size_t waits = 0;
    for (size_t i = 0; i < h->wait_count; i++) {
        waits += h->waits[i].wait.thread == 2 && h->waits[i].wait.by.agent == NOCAP_BY_TRISC1;
    }
    assert_int_equal(waits, 1);
    assert_null(root_named(h, NOCAP_BY_TRISC2, (struct nocap_xy){1, 3}));
    nocap_hang_free(h);
}

/* Of two that run, the one that posted the semaphore before will post it again. */
static void who_posted_before(void **state)
{
    (void)state;
#define TILE "\"x\":1,\"y\":2,"
#define ENTER(t, who)                                                                              \
    "{\"t\":" #t ",\"ev\":\"kernel\",\"op\":\"enter\"," TILE "\"by\":\"" #who "\"}\n"
#define WORD(t, op, n, word)                                                                       \
    "{\"t\":" #t ",\"ev\":\"tensix\",\"op\":\"" #op "\"," TILE "\"thread\":" #n                    \
    ",\"word\":\"" #word "\"}\n"
#define ISSUED(t, n, word) WORD(t, push, n, word) WORD(t, issue, n, word)
    write_text(
        "posted.jsonl",
        "{\"nocap\":1,\"arch\":\"blackhole\",\"complete\":true,\"observes\":[\"kernel\","
        "\"tensix-push\",\"tensix-issue\",\"core-mmio\",\"core-load\",\"core-store\"]}\n" ENTER(
            5, trisc0) ENTER(6, trisc1) ENTER(7, trisc2) ISSUED(10, 1, 0xa3200008)
            ISSUED(11, 1, 0xa4000008) ISSUED(12, 2, 0xa5000008) ISSUED(13, 2, 0xa6010009)
                WORD(14, push, 2, 0xa5000008) "{\"t\":1000000,\"ev\":\"note\"}\n");
    struct nocap_hang *h = hang_of("posted.jsonl");
    assert_int_equal(h->wait_count, 1);
    assert_int_equal(h->waits[0].wait.thread, 2);
    assert_int_equal(h->waits[0].wait.by.agent, NOCAP_BY_TRISC1);
    nocap_hang_free(h);
}

/* A bank of Src is handed over by the unpackers of thread 0, given back by the math of thread 1. */
static void who_hands_a_bank_over(void **state)
{
    (void)state;
#define BANK(t, n, side, owner)                                                                    \
    "{\"t\":" #t ",\"ev\":\"tensix\",\"op\":\"src\"," TILE "\"thread\":" #n                        \
    ",\"bank\":\"a\",\"side\":\"" #side "\",\"owner\":\"" #owner "\"}\n"
#define BANKS(owner)                                                                               \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"complete\":true,\"observes\":[\"tensix-push\","         \
    "\"tensix-issue\",\"tensix-unit\",\"core-mmio\",\"core-load\",\"core-store\"]}\n" BANK(        \
        5, 0, unpack, owner) BANK(6, 1, math, owner)
#define END "{\"t\":1000000,\"ev\":\"note\"}\n"
    static const struct {
        const char *trace, *what;
        unsigned waits, by; /* threads */
    } banks[] = {
        {BANKS(unpackers) ISSUED(10, 1, 0xa2400080) WORD(13, push, 1, 0x26c00000)
             WORD(20, push, 0, 0x42008041) END,
         "SRCA_VLD still blocks", 1, 0},
        {BANKS(matrix) ISSUED(10, 0, 0xa2400020) WORD(13, push, 0, 0xb00c0045)
             WORD(20, push, 1, 0x26c00000) END,
         "SRCA_CLR still blocks", 0, 1},
    };
    for (size_t i = 0; i < sizeof banks / sizeof banks[0]; i++) {
        write_text("bank.jsonl", banks[i].trace);
        struct nocap_hang *h = hang_of("bank.jsonl");
        const struct nocap_hang_wait *w = &h->waits[banks[i].waits];
        assert_int_equal(h->wait_count, 2);
        assert_int_equal(w->wait.thread, banks[i].waits);
        assert_non_null(strstr(w->what, banks[i].what));
        assert_int_equal(w->wait.by.agent, NOCAP_BY_TRISC0 + banks[i].by);
        nocap_hang_free(h);
    }
}

/* No hang where a run is well, wherever its trace is cut. */
static void cut_anywhere(void **state)
{
    (void)state;
    for (int scenario = 0; scenario < NOCAP_SIM_SCENARIO_COUNT; scenario++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = (enum nocap_sim_scenario)scenario,
                                                  .tiles = 2,
                                                  .launches = 4,
                                                  .seed = 7};
        struct run run = run_with(options);
        for (size_t part = 1; part <= 12; part++) {
            write_run(&options, &run, run.count * part / 12);
            struct nocap_hang *h = hang_of("run.nocap");
            if (h->verdict == NOCAP_HANG_HUNG || (part == 12 && h->verdict != NOCAP_HANG_NONE)) {
                print(h);
                fail_msg("%s, %zu of 12", nocap_sim_scenarios[scenario].name, part);
            }
            nocap_hang_free(h);
        }
        run_free(&run);
    }
}

/* Of two that do not go on, the one that did wrong is spoken of. */
static void the_faulty_core_is_the_root(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_HOST,
                                              .fault = NOCAP_SIM_FAULT_TRISC_PUSHES_T1};
    struct run run = run_with(options);
    write_run(&options, &run, SIZE_MAX);
    run_free(&run);
    struct nocap_hang *h = hang_of("run.nocap");
    char *json = printed(nocap_hang_json, h);
    assert_contains(json, "\"chain\":[\"host 1,5\",\"brisc 1,5\",\"trisc0 1,5\"]");
    assert_contains(json,
                    "\"causes\":[{\"rule\":\"MAP-007\",\"severity\":\"error\",\"index\":7363,");
    assert_contains(json, "\"x\":1,\"y\":5,\"agent\":\"trisc0\"");
    free(json);
    FILE *out = tmpfile();
    struct nocap_error err;
    char text[4096] = "";
    assert_non_null(out);
    assert_int_equal(nocap_hang_text(out, h, false, &err), NOCAP_OK);
    rewind(out);
    assert_true(fread(text, 1, sizeof text - 1, out) > 0);
    (void)fclose(out);
    assert_contains(text, "MAP-007 at 7363, t 51965, core(x=0,y=3) virtual(x=1,y=5), trisc0");
    nocap_hang_free(h);
}

/* A deadlock of the coprocessor needs no silence, and none is given as the reason. */
static void a_certain_hang_says_so(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_HOST,
                                              .fault = NOCAP_SIM_FAULT_HANG_SEM};
    struct run run = run_with(options);
    write_run(&options, &run, SIZE_MAX);
    run_free(&run);
    struct nocap_hang *h;
    struct nocap_error err;
    const struct nocap_hang_options early = {.size = sizeof early, .has_at = true, .at = 54500};
    assert_int_equal(nocap_hang(&h, "run.nocap", &early, &err), NOCAP_OK);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_true(h->quiet < h->expected);
    assert_contains(h->why, "no pending event can unblock");
    nocap_hang_free(h);
}

/* What a lost block did is unknown: nothing is found after it, and nobody hangs. */
static void a_damaged_block_is_the_only_finding(void **state)
{
    (void)state;
    enum { PLACES = 9, HEADER_BYTES = 600 };
    for (int scenario = 0; scenario < NOCAP_SIM_SCENARIO_COUNT; scenario++) {
        const struct nocap_sim_options options = {
            .size = sizeof options, .scenario = (enum nocap_sim_scenario)scenario, .launches = 12};
        struct run run = run_with(options);
        write_run(&options, &run, SIZE_MAX);
        run_free(&run);
        size_t size;
        char *bytes = read_bytes("run.nocap", &size);
        for (size_t i = 0; i < PLACES; i++) {
            size_t at = HEADER_BYTES + (size - 2 * HEADER_BYTES) * i / PLACES;
            bytes[at] = (char)~bytes[at];
            write_bytes("bad.nocap", bytes, size);
            bytes[at] = (char)~bytes[at];
            struct nocap_report *report;
            struct nocap_error err;
            assert_int_equal(nocap_check(&report, "bad.nocap", NULL, &err), NOCAP_OK);
            struct nocap_hang *h = hang_of("bad.nocap");
            if (report->finding_count != 1 || report->findings[0].rule != TRC_002 ||
                h->verdict == NOCAP_HANG_HUNG || h->damage.count != 1) {
                (void)nocap_report_text(stderr, report, false, true, &err);
                print(h);
                fail_msg("%s, byte %zu", nocap_sim_scenarios[scenario].name, at);
            }
            nocap_hang_free(h);
            nocap_report_free(report);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_of_the_device),
        cmocka_unit_test(lost_pages_before_a_stall),
        cmocka_unit_test(who_can_still_post),
        cmocka_unit_test(who_posted_before),
        cmocka_unit_test(who_hands_a_bank_over),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(the_faulty_core_is_the_root),
        cmocka_unit_test(a_broken_queue_is_not_idle),
        cmocka_unit_test(a_certain_hang_says_so),
        cmocka_unit_test(a_damaged_block_is_the_only_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
