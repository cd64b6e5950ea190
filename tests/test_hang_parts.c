/* SPDX-License-Identifier: Apache-2.0 */
/* Hangs of the command queue of which the trace does not show all. */
#include "tests/hang_parts.h"

#define RAW NOCAP_SIM_VIEW_RAW
#define ALL NOCAP_SIM_VIEW_ALL

static struct nocap_xy place_of(enum nocap_agent agent)
{
    return agent == NOCAP_BY_PREFETCH   ? (struct nocap_xy){14, 2}
           : agent == NOCAP_BY_DISPATCH ? (struct nocap_xy){14, 3}
                                        : (struct nocap_xy){0, 0};
}

static bool in_circle(const struct nocap_hang *h)
{
    bool any = false;
    for (size_t i = 0; i < h->party_count; i++) {
        any |= h->parties[i].root && h->parties[i].in_cycle;
    }
    return any;
}

static bool repeats(const struct nocap_hang *h)
{
    bool any = false;
    for (size_t i = 1; i < h->wait_count; i++) {
        const struct nocap_hang_wait *v = &h->waits[i - 1], *w = &h->waits[i];
        any |= v->who == w->who && v->by == w->by && strcmp(v->what, w->what) == 0;
    }
    return any;
}

/* What is not known of two cores is no circle: they do not wait for each other and for the host. */
static void cores_of_which_little_is_known_make_no_circle(void **state)
{
    static const struct {
        enum nocap_sim_fault fault;
        enum nocap_sim_view view;
        uint32_t without;
        size_t from;
        enum nocap_agent root;
        const char *said; /* of it; "": it is not observed */
    } rows[] = {
        {NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS, RAW, NOCAP_CLASS_CORE_LOAD, 1000, NOCAP_BY_DISPATCH,
         ""},
        {NOCAP_SIM_FAULT_CREDIT_MISSED, RAW, 0, 1000, NOCAP_BY_PREFETCH, "never made ready"},
        {NOCAP_SIM_FAULT_DISPATCH_UNKNOWN, RAW, 0, 0, NOCAP_BY_DISPATCH,
         "never finished the command"},
        {NOCAP_SIM_FAULT_WORKER_NOTIFY_MISSING, RAW, 0, 3000, NOCAP_BY_DISPATCH, "is not observed"},
        {NOCAP_SIM_FAULT_GO_WRONG_STREAM, RAW, NOCAP_CLASS_CORE_MMIO, 0, NOCAP_BY_DISPATCH,
         "notifies"},
        {NOCAP_SIM_FAULT_CREDIT_MISSED, ALL, NOCAP_CLASS_CORE_LOAD, 0, NOCAP_BY_PREFETCH, "ready"},
        {NOCAP_SIM_FAULT_RELEASE_MISSED, RAW, 0, 1000, NOCAP_BY_DISPATCH, "finished all pages"},
        {NOCAP_SIM_FAULT_SLOT_SKIPPED, RAW, NOCAP_CLASS_CORE_LOAD, 0, NOCAP_BY_HOST, "left out"},
        {NOCAP_SIM_FAULT_DISPATCH_UNKNOWN, RAW, NOCAP_CLASS_SYSMEM, 0, NOCAP_BY_DISPATCH,
         "never finished the command"},
        {NOCAP_SIM_FAULT_RELEASE_MISSED, RAW, NOCAP_CLASS_CORE_LOAD, 0, NOCAP_BY_DISPATCH,
         "has not finished"},
        {NOCAP_SIM_FAULT_CREDIT_MISSED, RAW, NOCAP_CLASS_SYSMEM, 0, NOCAP_BY_PREFETCH,
         "made ready"},
        {NOCAP_SIM_FAULT_RECORD_AFTER_END, RAW, NOCAP_CLASS_NOC, 0, NOCAP_BY_DISPATCH,
         "others were enqueued behind it"},
        {NOCAP_SIM_FAULT_RECORD_AFTER_END, RAW, NOCAP_CLASS_SYSMEM, 500, NOCAP_BY_DISPATCH,
         "others were enqueued behind it"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_hang *h =
            hang_of_part(rows[i].fault, rows[i].view, NULL, true, rows[i].without, rows[i].from);
        const struct nocap_xy at = place_of(rows[i].root);
        if (h->verdict != NOCAP_HANG_HUNG || root_named(h, rows[i].root, at) == NULL ||
            strstr(said_of(h, rows[i].root, at), rows[i].said) == NULL || in_circle(h) ||
            repeats(h)) {
            print(h);
            fail_msg("row %zu", i);
        }
        nocap_hang_free(h);
    }
}

/* Of units alone: a WAIT of which it is said that it is over holds the dispatcher no more, and what
 * follows a STALL is not for the prefetcher to relay before its notify. Who waits for room that is
 * there by the wrong toggle of its own pointer waits for none. */
static void the_root_is_alone(void **state)
{
    static const struct {
        enum nocap_sim_fault fault;
        enum nocap_sim_view view;
        enum nocap_agent root;
    } rows[] = {{NOCAP_SIM_FAULT_PREFETCH_ILLEGAL, NOCAP_SIM_VIEW_CQ, NOCAP_BY_PREFETCH},
                {NOCAP_SIM_FAULT_GO_WRONG_STREAM, NOCAP_SIM_VIEW_CQ, NOCAP_BY_DISPATCH},
                {NOCAP_SIM_FAULT_TOGGLE_FLIPPED_EARLY, RAW, NOCAP_BY_DISPATCH}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH_PACKED,
                                                  .view = rows[i].view,
                                                  .launches = 8,
                                                  .fault = rows[i].fault,
                                                  .profile = "tt-metal-2026-06"};
        struct run_trace trace = run_trace_simulated("run.nocap", options);
        run_trace_close(&trace);
        struct nocap_hang *h = hang_of("run.nocap");
        if (root_named(h, rows[i].root, place_of(rows[i].root)) == NULL || count_roots(h) != 1) {
            print(h);
            fail_msg("row %zu", i);
        }
        nocap_hang_free(h);
    }
}

/* What is seen of the prefetcher, of workers or of the second dispatcher tells whom the dispatcher
 * waits for, though it does not show itself. */
static void the_root_is_alone_though_the_dispatcher_is_not_seen(void **state)
{
    static const struct {
        enum nocap_sim_scenario scenario;
        enum nocap_sim_fault fault;
        uint32_t without;
        size_t from;
        enum nocap_agent root;
        const char *said;
    } rows[] = {
        {NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAULT_PREFETCHER_DEAD, NOCAP_CLASS_CORE_LOAD, 0,
         NOCAP_BY_PREFETCH, "never"},
        {NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS, NOCAP_CLASS_CORE_LOAD, 0,
         NOCAP_BY_BRISC, "never reported DONE"},
        {NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS, NOCAP_CLASS_NOC, 0,
         NOCAP_BY_BRISC, "never reported DONE"},
        {NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS, 0, 2865, NOCAP_BY_BRISC,
         "never reported DONE"},
        {NOCAP_SIM_FAST_DISPATCH_MULTICAST, NOCAP_SIM_FAULT_GO_SHORT, NOCAP_CLASS_CORE_STORE, 0,
         NOCAP_BY_DISPATCH, "which of them are missing"},
        {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAULT_SUBORDINATE_UNNOTIFIED, 0, 1000,
         NOCAP_BY_HOST, "never enqueued the notification"},
        {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAULT_NOTIFY_FORGOTTEN,
         NOCAP_CLASS_CORE_STORE, 0, NOCAP_BY_DISPATCH, "notifications of stream"},
        {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAULT_NOTIFY_FORGOTTEN,
         NOCAP_CLASS_CORE_STORE, 1000, NOCAP_BY_NCRISC, "is not observed"},
        {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAULT_NOTIFY_FORGOTTEN, 0, 1000,
         NOCAP_BY_DISPATCH, "of stream"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = rows[i].scenario,
                                                  .launches = 6,
                                                  .fault = rows[i].fault};
        struct nocap_hang *h = hang_of_run(options, NULL, true, rows[i].without, rows[i].from);
        const char *said = "";
        for (size_t p = 0; p < h->party_count; p++) {
            const struct nocap_hang_party *one = &h->parties[p];
            said = one->root && one->id.agent == rows[i].root && one->wait != SIZE_MAX
                       ? h->waits[one->wait].what
                       : said;
        }
        if (h->verdict != NOCAP_HANG_HUNG || count_roots(h) != 1 ||
            strstr(said, rows[i].said) == NULL) {
            print(h);
            fail_msg("row %zu", i);
        }
        nocap_hang_free(h);
    }
}

/* The host's side alone, up to a moment at which it has enqueued more than it got back: whether the
 * queue goes on does not show, though it waits for nothing yet. */
static void a_host_that_is_seen_up_to_its_commands(void **state)
{
    enum { CUT = 80 };
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .view = NOCAP_SIM_VIEW_HOST,
                                              .launches = 6,
                                              .fault = NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS,
                                              .seed = 3};
    (void)state;
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < CUT; i++) {
        run_trace_add(&t, &run.events[i]);
    }
    run_trace_close(&t);
    run_free(&run);
    struct nocap_hang *h = hang_of("run.nocap");
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    nocap_hang_free(h);
}

/* Where kernels are not observed, the sync word tells who may still push what a thread waits for.
 */
static void a_thread_waits_for_a_core_that_was_signalled(void **state)
{
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_HOST,
                                              .tiles = 2,
                                              .fault = NOCAP_SIM_FAULT_HANG_TRISC1};
    (void)state;
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    t.header.observes &= ~(uint32_t)NOCAP_CLASS_KERNEL;
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run.count; i++) {
        if (run.events[i].kind != NOCAP_EV_KERNEL) {
            run_trace_add(&t, &run.events[i]);
        }
    }
    run_trace_close(&t);
    run_free(&run);
    struct nocap_hang *h = hang_of("run.nocap");
    if (root_named(h, NOCAP_BY_TRISC1, (struct nocap_xy){1, 3}) == NULL || count_roots(h) != 1) {
        print(h);
        fail_msg("TRISC1 is the root");
    }
    nocap_hang_free(h);
}

static enum nocap_status plain_text(FILE *out, const struct nocap_hang *h, struct nocap_error *err)
{
    return nocap_hang_text(out, h, false, err);
}

/* Begun late: all that is known is that the dispatcher has not come to the latest command, or to
 * what was made ready for it, or nothing of what the host asks for. */
static void a_queue_that_is_behind_is_not_idle(void **state)
{
    static const struct {
        enum nocap_sim_fault fault;
        enum nocap_sim_view view;
        uint32_t without;
        size_t from;
        enum nocap_hang_verdict verdict;
    } rows[] = {
        {NOCAP_SIM_FAULT_PREFETCHER_DEAD, NOCAP_SIM_VIEW_CQ, 0, 490, NOCAP_HANG_INCONCLUSIVE},
        {NOCAP_SIM_FAULT_SLOT_SKIPPED, NOCAP_SIM_VIEW_CQ, 0, 600, NOCAP_HANG_INCONCLUSIVE},
        {NOCAP_SIM_FAULT_NONE, NOCAP_SIM_VIEW_CQ, 0, 600, NOCAP_HANG_NONE},
        {NOCAP_SIM_FAULT_NONE, RAW, NOCAP_CLASS_HOST_MMIO, 0, NOCAP_HANG_NONE}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_hang *h =
            hang_of_part(rows[i].fault, rows[i].view, NULL, true, rows[i].without, rows[i].from);
        if (h->verdict != rows[i].verdict || h->party_count > 0) {
            print(h);
            fail_msg("row %zu", i);
        }
        nocap_hang_free(h);
    }
}

/* The same words in text and JSON: that an agent is not observed is not that it is not in the
 * trace. */
static void a_root_of_which_nothing_is_known(void **state)
{
    enum nocap_status (*const forms[])(FILE *, const struct nocap_hang *,
                                       struct nocap_error *) = {plain_text, nocap_hang_json};
    (void)state;
    struct nocap_hang *h = hang_of_part(NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS, RAW, NULL, true,
                                        NOCAP_CLASS_CORE_LOAD, 1000);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char *text = printed(forms[i], h);
        assert_non_null(strstr(text, "what it does is not observed"));
        free(text);
    }
    nocap_hang_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_of_which_little_is_known_make_no_circle),
        cmocka_unit_test(the_root_is_alone),
        cmocka_unit_test(the_root_is_alone_though_the_dispatcher_is_not_seen),
        cmocka_unit_test(a_thread_waits_for_a_core_that_was_signalled),
        cmocka_unit_test(a_host_that_is_seen_up_to_its_commands),
        cmocka_unit_test(a_root_of_which_nothing_is_known),
        cmocka_unit_test(a_queue_that_is_behind_is_not_idle),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
