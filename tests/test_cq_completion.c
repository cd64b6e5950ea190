/* SPDX-License-Identifier: Apache-2.0 */
/* A correct run of the command queue in which a pointer of the completion queue, or an event, has
 * another value: one finding, and later ones agree with either. */
#include "tests/cq_change.h"

enum { OF_DISPATCH = 3 };

static const struct nocap_sim_options raw_view = {
    .size = sizeof raw_view, .scenario = NOCAP_SIM_FAST_DISPATCH, .launches = RUN_PROGRAMS};

/* The store number `skip`. */
static struct nocap_event *find_store(const struct run *run, uint8_t by, uint64_t addr, size_t skip)
{
    struct nocap_event *e = run->events;
    while (!is_store(e, by) || e->addr != addr || skip-- > 0) {
        assert_true(++e < run->events + run->count);
    }
    return e;
}

static void assert_off(uint8_t by, uint64_t addr, size_t which, uint64_t pages, const char *rule)
{
    struct run run = run_with(raw_view);
    find_store(&run, by, addr, which)->value += pages * NOCAP_CQ_PAGE_UNITS;
    assert_only(check_changed(&run, &raw_view, run.count, DROPPED), rule);
    run_free(&run);
}

static void a_pointer_that_is_off_once_is_one_finding(void **state)
{
    (void)state;
    assert_off(NOCAP_BY_BRISC, NOCAP_CQ_COMPLETION_WR, RUN_PROGRAMS / 2, 1, "CQ-061");
    assert_off(NOCAP_BY_HOST, NOCAP_CQ_COMPLETION_WR, 0, 1, "CQ-066");
    assert_off(NOCAP_BY_HOST, NOCAP_CQ_COMPLETION_RD, 0, 1, "CQ-066");
}

/* The dispatcher does not move it on, neither in L1 nor in host memory. */
static void a_pointer_that_stays_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(raw_view);
    struct nocap_event *e =
        find_store(&run, NOCAP_BY_BRISC, NOCAP_CQ_COMPLETION_WR, RUN_PROGRAMS / 2);
    const uint64_t value = e->value, before = value - NOCAP_CQ_PAGE_UNITS;
    const uint8_t *own[2], *bytes = (const uint8_t *)&before;
    struct nocap_event *copies[2];
    for (size_t n = 0; n < 2; e++) {
        if (e->data_size == 4 && memcmp(e->data, &value, 4) == 0) {
            copies[n] = e;
            own[n++] = e->data;
            e->data = bytes;
        }
    }
    find_store(&run, NOCAP_BY_BRISC, NOCAP_CQ_COMPLETION_WR, RUN_PROGRAMS / 2)->value = before;
    assert_only(check_changed(&run, &raw_view, run.count, DROPPED), "CQ-061");
    copies[0]->data = own[0];
    copies[1]->data = own[1];
    run_free(&run);
}

/* The host reads the one that it sent. */
static void an_event_that_is_another_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(raw_view);
    uint8_t bytes[NOCAP_CQ_EVENT_BYTES];
    const uint8_t *own[2];
    struct nocap_event *events[2], *e = run.events + run.count / 2;
    for (size_t n = 0; n < 2; e++) { /* as it leaves, and as it arrives */
        bool next = n == 0 ? e->kind == NOCAP_EV_NOC && e->at.y == OF_DISPATCH
                           : e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_DMA;
        if (next && e->data_size == sizeof bytes &&
            e->data[0] == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST) {
            memcpy(bytes, e->data, sizeof bytes);
            bytes[NOCAP_CQ_HEADER] = 0x77;
            events[n] = e;
            own[n++] = e->data;
            e->data = bytes;
        }
    }
    assert_only(check_changed(&run, &raw_view, run.count, DROPPED), "CQ-065");
    events[0]->data = own[0];
    events[1]->data = own[1];
    run_free(&run);
}

/* The pointer arrives before its page, and the host reads what was there before. */
static void a_page_that_comes_after_its_read_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(raw_view);
    struct nocap_event *page = run.events + run.count / 2, *read;
    while (page->kind != NOCAP_EV_WRITE || page->by != NOCAP_BY_DMA ||
           page->size != NOCAP_CQ_EVENT_BYTES) {
        page++;
    }
    for (read = page; read->kind != NOCAP_EV_READ || read->addr != page->addr + NOCAP_CQ_HEADER;) {
        read++;
    }
    struct nocap_event late = *page, early = *read, *last = read;
    late.t = early.t;
    assert_null(early.data);
    early.value = 0;
    memmove(page, page + 1, (size_t)(last - page) * sizeof *page);
    last[-1] = early;
    *last = late;
    assert_only(check_changed(&run, &raw_view, run.count, DROPPED), "CQ-060");
    run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pointer_that_is_off_once_is_one_finding),
        cmocka_unit_test(a_pointer_that_stays_is_one_finding),
        cmocka_unit_test(an_event_that_is_another_is_one_finding),
        cmocka_unit_test(a_page_that_comes_after_its_read_is_one_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
