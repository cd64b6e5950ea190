/* SPDX-License-Identifier: Apache-2.0 */
/* A correct run of the command queue of which only a part is seen: nothing of it is wrong. Each
 * test is the trace that a rule of the model must let pass. */
#include "tests/cq_run.h"

enum { OF_PREFETCH = 2, OF_DISPATCH = 3 };

/* What of a run the trace shows. */
struct part {
    uint8_t hidden;  /* y of the core of the queue that is out of scope; 0: none is */
    uint32_t lost;   /* classes that are not observed */
    size_t from, to; /* events */
    bool (*shows)(const struct nocap_event *e); /* NULL: all */
};

/* What the host does to a tile is seen all the same. */
static bool is_hidden(const struct nocap_event *e, unsigned y)
{
    return y != 0 && e->by != NOCAP_BY_HOST && e->at.x == 14 && e->at.y == y;
}

static void write_part(const struct run *run, const struct nocap_sim_options *options,
                       const struct part *part)
{
    struct nocap_error err = {{0}};
    struct nocap_header header;
    struct nocap_writer *writer;
    assert_int_equal(nocap_sim_header(options, &header, &err), NOCAP_OK);
    for (size_t i = 0; i < header.scope_count; i++) {
        if (header.scope[i].x == 14 && header.scope[i].y == part->hidden) {
            header.scope[i] = header.scope[--header.scope_count];
        }
    }
    header.observes &= ~part->lost;
    assert_int_equal(nocap_writer_open(&writer, "part.nocap", &header, NULL, &err), NOCAP_OK);
    for (size_t i = part->from; i < part->to && i < run->count; i++) {
        const struct nocap_event *e = &run->events[i];
        if (!is_hidden(e, part->hidden) && (part->shows == NULL || part->shows(e))) {
            assert_int_equal(nocap_writer_add(writer, e, &err), NOCAP_OK);
        }
    }
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    nocap_header_free(&header);
}

static void assert_part_clean(const struct run *run, const struct nocap_sim_options *options,
                              const struct part *part, const char *exercises)
{
    struct nocap_error err = {{0}};
    struct nocap_report *report;
    const struct nocap_check_options check = {.size = sizeof check};
    write_part(run, options, part);
    assert_int_equal(nocap_check(&report, "part.nocap", &check, &err), NOCAP_OK);
    if (report->finding_count != 0) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("a false alarm");
    }
    assert_true(report->rules[nocap_rule_from_id(exercises)].exercised > 0);
    nocap_report_free(report);
}

/* The dispatcher is not seen: how many pages it gave back only the prefetcher's semaphore shows. */
static void pages_given_back_show_in_the_semaphore(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 20};
    struct run run = run_with(options);
    const struct part part = {.hidden = OF_DISPATCH, .to = run.count};
    assert_part_clean(&run, &options, &part, "CQ-035");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_given_back_show_in_the_semaphore),
        cmocka_unit_test(terminate_that_is_not_over_owes_nothing),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
