/* SPDX-License-Identifier: Apache-2.0 */
/* Captures begin when they begin: correct runs of the device model from some event on, without what
 * came before, have no findings. NOCAP_LONG_SEEDS says from how many events on. */
#include "tests/changed.h"
#include "tests/effort.h"

#include "checker/core/checker.h"

static void assert_silent(const struct base *base, const char *text, size_t from)
{
    struct run_trace t = base_trace(base, "begun.nocap");
    for (size_t i = from; i < base->run.count; i++) {
        run_trace_add(&t, &base->run.events[i]);
    }
    struct nocap_report *report = run_trace_check(&t);
    for (size_t i = 0; i < report->finding_count; i++) {
        if (report->findings[i].severity != NOCAP_NOTE) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("%s, from event %zu on: a false alarm", text, from);
        }
    }
    nocap_report_free(report);
}

static struct base base_begun(const char *text)
{
    struct base base = base_of(text);
    base_open(&base);
    base.header.complete = NOCAP_FALSE;
    return base;
}

/* Where what comes first was judged by what is not there. */
static void at_these_events(void **state)
{
    static const struct {
        const char *base;
        size_t from;
    } rows[] = {
        /* the second dispatcher's page, before anything of the queue */
        {"fast-dispatch-subordinate all launches=3 variant=8 tt-metal-2026-10 apart", 120},
        {"fast-dispatch-subordinate all launches=3 variant=8 tt-metal-2026-10 apart", 435},
        /* the set-up of a queue's dispatcher, but not that of its prefetcher */
        {"fast-dispatch-subordinate raw launches=3 queues=2 variant=3 apart tt-metal-2026-06", 28},
        /* pages that are published before their dispatcher is known */
        {"fast-dispatch-subordinate all launches=3 queues=2 variant=5 tt-metal-2026-10 apart", 390},
        /* a second dispatcher that sends go messages, before anything reaches it */
        {"fast-dispatch-subordinate all launches=3 queues=2 variant=5 tt-metal-2026-10 apart", 465},
    };
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct base base = base_begun(rows[row].base);
        assert_silent(&base, rows[row].base, rows[row].from);
        base_close(&base);
    }
}

static void at_any_event(void **state)
{
    static const char *const runs[] = {
        "launch-dev launches=4 variant=1",
        "launch-host launches=4 variant=2",
        "launch-dev launches=4 variant=5 tt-metal-2026-09",
        "fast-dispatch raw launches=3",
        "fast-dispatch cq launches=3 variant=3",
        "fast-dispatch all launches=3 variant=4 tt-metal-2026-03",
        "fast-dispatch raw launches=3 queues=2 variant=2 tt-metal-2026-06",
        "fast-dispatch-packed all launches=3 variant=6",
        "fast-dispatch-multicast raw launches=3 variant=7 tt-metal-2025-12",
        "fast-dispatch-rings all launches=3 tt-metal-2026-10",
        "fast-dispatch-subordinate raw launches=3 variant=9 tt-metal-2026-09",
        "fast-dispatch-subordinate cq launches=3 variant=7 tt-metal-2026-06 apart",
        "fast-dispatch-subordinate all launches=3 queues=2 variant=5 tt-metal-2026-10 apart",
    };
    (void)state;
    const size_t trials = 4 * (size_t)effort(3, 1);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct base base = base_begun(runs[i]);
        const size_t step = base.run.count / (trials + 1) + 1;
        for (size_t from = step - i % step; from < base.run.count; from += step) {
            assert_silent(&base, runs[i], from);
        }
        base_close(&base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_these_events),
        cmocka_unit_test(at_any_event),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
