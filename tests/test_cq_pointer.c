/* SPDX-License-Identifier: Apache-2.0 */
/* The completion pointer where little of the queue is observed: host memory alone, or what the host
 * does. A pointer that is wrong once is one finding. */
#include "tests/cq_run.h"

enum { RUN_PROGRAMS = 20 };

static const struct nocap_sim_options raw_view = {.size = sizeof raw_view,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH,
                                                  .launches = RUN_PROGRAMS,
                                                  .seed = 5,
                                                  .variant = 5};

static bool in_memory(const struct nocap_event *e)
{
    bool access = e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ;
    return access && (e->has & NOCAP_F_SPACE) != 0 && e->space == NOCAP_SPACE_SYSMEM;
}

static bool by_host(const struct nocap_event *e)
{
    return (e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ) && e->by == NOCAP_BY_HOST;
}

static bool lands(const struct nocap_event *e)
{
    return in_memory(e) && e->by == NOCAP_BY_DMA && e->kind == NOCAP_EV_WRITE;
}

static bool is_pointer(const struct nocap_event *e)
{
    return in_memory(e) && e->addr == NOCAP_CQ_HOST_WR &&
           (lands(e) || (by_host(e) && e->kind == NOCAP_EV_READ));
}

static uint32_t pointer_of(const struct nocap_event *e)
{
    uint32_t value = (uint32_t)e->value;
    if ((e->has & NOCAP_F_DATA) != 0) {
        memcpy(&value, e->data, sizeof value);
    }
    return value;
}

/* Those of the run's events that `keeps` chooses, with `observes`; event `where` has the pointer
 * `value` in place of its own. SIZE_MAX: none has. */
static struct nocap_report *check_part(const struct run *run, uint32_t observes,
                                       bool (*keeps)(const struct nocap_event *e), size_t where,
                                       uint32_t value)
{
    struct run_trace t = run_trace_of(&raw_view);
    t.header.observes = observes;
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run->count; i++) {
        struct nocap_event e = run->events[i];
        if (i == where && (e.has & NOCAP_F_DATA) != 0) {
            e.data = (const uint8_t *)&value;
        } else if (i == where) {
            e.value = value;
        }
        if (keeps(&e)) {
            run_trace_add(&t, &e);
        }
    }
    return run_trace_check(&t);
}

static void assert_judgement(struct nocap_report *report, const char *rule, const char *what)
{
    bool right = rule == NULL ? report->finding_count == 0
                              : report->finding_count == 1 &&
                                    strcmp(nocap_rules[report->findings[0].rule].id, rule) == 0;
    if (!right) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("%s: %s is to be found", what, rule != NULL ? rule : "nothing");
    }
    nocap_report_free(report);
}

/* The pointer in the middle of the run, and the one before it that differs. */
static size_t middle(const struct run *run, bool (*keeps)(const struct nocap_event *e),
                     uint32_t *before)
{
    uint32_t last = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct nocap_event *e = &run->events[i];
        if (!keeps(e) || !is_pointer(e)) {
            continue;
        }
        uint32_t value = pointer_of(e);
        if (i > run->count / 2 && value != last) {
            *before = last;
            return i;
        }
        last = value;
    }
    fail_msg("no pointer");
    return 0;
}

static void assert_judged(uint32_t observes, bool (*keeps)(const struct nocap_event *e))
{
    struct run run = run_with(raw_view);
    uint32_t before;
    size_t where = middle(&run, keeps, &before);
    uint32_t value = pointer_of(&run.events[where]);
    assert_judgement(check_part(&run, observes, keeps, SIZE_MAX, 0), NULL, "as it is");
    assert_judgement(check_part(&run, observes, keeps, where, before - NOCAP_CQ_PAGE_UNITS),
                     "CQ-061", "back");
    assert_judgement(check_part(&run, observes, keeps, where, value ^ NOCAP_CQ_TOGGLE), "CQ-061",
                     "turned");
    assert_judgement(check_part(&run, observes, keeps, where, value + 7 * NOCAP_CQ_PAGE_UNITS),
                     "CQ-061", "7 pages on");
    run_free(&run);
}

static void landings_show_the_pointer(void **state)
{
    (void)state;
    assert_judged(NOCAP_CLASS_SYSMEM, in_memory);
}

static void the_host_shows_the_pointer(void **state)
{
    (void)state;
    assert_judged(NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM, by_host);
}

/* A pointer that lands in place of its page, which lands next. */
static void a_pointer_before_its_page_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(raw_view);
    uint32_t before;
    size_t pointer = middle(&run, lands, &before), page = pointer - 1;
    while (!lands(&run.events[page]) || run.events[page].addr < NOCAP_CQ_COMPLETION) {
        page--;
    }
    struct nocap_event late = run.events[page];
    run.events[page] = run.events[pointer];
    run.events[page].t = late.t;
    late.t = run.events[pointer].t;
    run.events[pointer] = late;
    assert_judgement(check_part(&run, NOCAP_CLASS_SYSMEM, in_memory, SIZE_MAX, 0), "CQ-060",
                     "the pointer first");
    run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(landings_show_the_pointer),
        cmocka_unit_test(the_host_shows_the_pointer),
        cmocka_unit_test(a_pointer_before_its_page_is_one_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
