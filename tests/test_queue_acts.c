/* SPDX-License-Identifier: Apache-2.0 */
/* Correct runs of a queue, of each kind of runtime, in which one act is left out, done again, late
 * or other than it should be, wherever the trace tells of it: one finding. Two such acts that lie
 * apart are two. */
#include "tests/cq_run.h"

#include "formats/trace/filter.h"

/* An act: an event, and all that restate it or tell how it goes on. */
enum change {
    LEFT_OUT,
    AGAIN, /* once more, after it */
    LATER, /* .. as many acts of its agent later */
    EARLIER,
    VALUE,  /* so much is added to the value that it has */
    PLACE,  /* .. to where it goes */
    LENGTH, /* .. to its bytes */
    BIT,    /* one of the bits of its bytes is another */
    TILE,   /* it goes to the next tile of a row */
    OTHER,  /* another slot, or semaphore */
};

/* clang-format off */
#define ROW(apart, paired, name, scenario, profile, view, act, change, by, rule)                   \
    {name, NOCAP_SIM_##scenario, profile, NOCAP_SIM_VIEW_##view, act, change, by, rule, apart, paired},
#define ACT(...)       ROW(false, false, __VA_ARGS__)
#define ACT_APART(...) ROW(true, false, __VA_ARGS__) /* each kernel of the queue has a core of its own */
#define TWO(name, scenario, profile, view, act, change, by, rule, ...)                             \
    ROW(false, true, name, scenario, profile, view, act, change, by, rule)                         \
    ROW(false, false, name, scenario, profile, view, __VA_ARGS__)
static const struct row {
    const char *name;
    enum nocap_sim_scenario scenario;
    const char *profile;
    enum nocap_sim_view view;
    const char *act; /* a filter: of the events that it matches, the one in the middle */
    enum change change;
    int64_t by;
    const char *rule; /* NULL: nothing is found */
    bool apart;
    bool paired; /* with the next row, whose act is changed, too */
} rows[] = {
#include "tests/cases/queue_acts.def"
};
/* clang-format on */

static bool same_request(const struct nocap_event *a, const struct nocap_event *b)
{
    return a->kind == NOCAP_EV_NOC && b->kind == NOCAP_EV_NOC && (a->has & NOCAP_F_ID) != 0 &&
           a->id == b->id && nocap_xy_equal(a->at, b->at);
}

/* Whether `b` is of the same act: `a` is where it begins. */
static bool same_act(const struct nocap_event *a, const struct nocap_event *b)
{
    bool seq = (a->has & NOCAP_F_SEQ) != 0 && (b->has & NOCAP_F_SEQ) != 0 && a->seq == b->seq;
    bool lands = b > a && b->by == NOCAP_BY_DMA && a->kind == NOCAP_EV_NOC &&
                 (a->daddr & NOCAP_CQ_PCIE_ADDRESS_BIT) != 0 && b->kind == NOCAP_EV_WRITE &&
                 (a->daddr & 0xFFFFFFF) == b->addr;
    return a == b || seq || same_request(a, b) || lands;
}

static bool same_agent(const struct nocap_event *a, const struct nocap_event *b)
{
    return (a->kind == NOCAP_EV_CQ) == (b->kind == NOCAP_EV_CQ) && a->by == b->by &&
           nocap_xy_equal(a->at, b->at) && a->phase == b->phase;
}

static void alter(struct nocap_event *e, const struct row *row)
{
    static uint8_t changed[2][1 << 16];
    uint8_t *bytes = changed[row->paired];
    switch (row->change) {
    case VALUE:
        e->value += (uint64_t)row->by;
        e->entry += (uint32_t)row->by;
        break;
    case PLACE:
        e->addr += (e->has & NOCAP_F_ADDR) != 0 ? (uint64_t)row->by : 0;
        e->daddr += (e->has & NOCAP_F_DADDR) != 0 ? (uint64_t)row->by : 0;
        break;
    case LENGTH:
        e->size += (e->has & NOCAP_F_SIZE) != 0 ? (uint64_t)row->by : 0;
        e->data_size = e->data_size < e->size ? e->data_size : (uint32_t)e->size;
        break;
    case BIT:
        if (e->data_size > (size_t)row->by / 8) {
            memcpy(bytes, e->data, e->data_size);
            bytes[row->by / 8] ^= (uint8_t)(1u << row->by % 8);
            e->data = bytes;
        }
        break;
    case TILE: e->d.x = (uint8_t)(e->d.x + ((e->has & NOCAP_F_D) != 0)); break;
    case OTHER:
        e->slot_index += (e->has & NOCAP_F_SLOT) != 0;
        e->sem ^= (e->has & NOCAP_F_SEM) != 0;
        break;
    case LEFT_OUT:
    case AGAIN:
    case LATER:
    case EARLIER: break;
    }
}

static size_t find_act(const struct run *run, const struct row *row)
{
    struct nocap_error err;
    struct nocap_filter *filter;
    size_t count = 0, where = SIZE_MAX;
    if (nocap_filter_compile(&filter, row->act, &err) != NOCAP_OK) {
        fail_msg("%s: %s", row->name, err.text);
    }
    for (size_t i = 0; i < run->count; i++) {
        count += nocap_filter_match(filter, &run->events[i]);
    }
    size_t left = count / 2;
    for (size_t i = 0; i < run->count && where == SIZE_MAX; i++) {
        if (nocap_filter_match(filter, &run->events[i]) && left-- == 0) {
            where = i;
        }
    }
    nocap_filter_free(filter);
    if (where == SIZE_MAX) {
        fail_msg("%s: no such act", row->name);
    }
    return where;
}

/* After which event the act comes again, or late. */
static size_t find_end(const struct run *run, const struct row *row, size_t where)
{
    const struct nocap_event *act = &run->events[where];
    size_t end = where;
    int64_t left = row->change == LATER ? row->by : 0;
    for (size_t i = where + 1; i < run->count; i++) {
        const struct nocap_event *e = &run->events[i];
        if (left > 0 && same_agent(act, e)) {
            left--;
            end = i;
        } else if (row->change == AGAIN ? same_act(act, e) : i == end + 1 && same_act(e - 1, e)) {
            end = i;
        }
    }
    return end;
}

/* Before which event the act comes early. */
static size_t find_begin(const struct run *run, const struct row *row, size_t where)
{
    size_t begin = where;
    int64_t left = row->change == EARLIER ? row->by : 0;
    while (left > 0 && begin > 0) {
        left -= same_agent(&run->events[where], &run->events[--begin]);
    }
    return begin;
}

/* The run after the change; its bytes are those of `run`. */
static struct run change_act(const struct run *run, const struct row *row)
{
    const size_t where = find_act(run, row), end = find_end(run, row, where);
    const size_t begin = find_begin(run, row, where);
    const struct nocap_event *act = &run->events[where];
    struct run made = {.events = malloc(2 * run->count * sizeof *made.events)};
    assert_non_null(made.events);
    for (size_t i = 0; i < run->count; i++) {
        struct nocap_event e = run->events[i];
        bool own = i >= where && same_act(act, &run->events[i]);
        if (own) {
            alter(&e, row);
        }
        if (i == begin && begin < where) {
            made.events[made.count] = *act;
            made.events[made.count++].t = e.t;
        }
        if (!own || (row->change != LEFT_OUT && row->change != EARLIER &&
                     (row->change != LATER || i > end))) {
            made.events[made.count++] = e;
        }
        for (size_t k = where; i == end && k < run->count; k++) {
            struct nocap_event again = run->events[k];
            bool late = row->change == LATER && k <= end;
            if (same_act(act, &run->events[k]) && (row->change == AGAIN || late)) {
                again.t = e.t;
                again.id += row->change == AGAIN ? run->count : 0;
                again.seq += row->change == AGAIN ? run->count : 0;
                made.events[made.count++] = again;
            }
        }
    }
    return made;
}

static struct nocap_report *check_row(const struct run *run, const struct row *row,
                                      const struct nocap_sim_options *options)
{
    struct run made = change_act(run, row);
    if (row->paired) {
        struct run both = change_act(&made, row + 1);
        free(made.events);
        made = both;
    }
    struct run_trace t = run_trace_of(options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < made.count; i++) {
        run_trace_add(&t, &made.events[i]);
    }
    free(made.events);
    return run_trace_check(&t);
}

/* What the row says, and the next one where they are a pair. */
static bool is_found(const struct nocap_report *report, const struct row *row)
{
    const size_t count = row->paired ? 2 : row->rule != NULL;
    bool right = report->finding_count == count;
    for (size_t i = 0; i < count && right; i++) {
        right = (int)report->findings[i].rule == nocap_rule_from_id(row[i].rule);
    }
    return right;
}

static void one_act_is_one_finding(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r += rows[r].paired ? 2 : 1) {
        const struct row *row = &rows[r];
        struct nocap_sim_options options = {.size = sizeof options,
                                            .scenario = row->scenario,
                                            .profile = row->profile,
                                            .view = row->view,
                                            .apart = row->apart,
                                            .workers = 2,
                                            .launches = 4,
                                            .seed = 7};
        struct run run = run_with(options);
        struct nocap_report *report = check_row(&run, row, &options);
        if (!is_found(report, row)) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            print_error("%s: %zu findings\n", row->name, report->finding_count);
            wrong++;
        }
        nocap_report_free(report);
        run_free(&run);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_act_is_one_finding)};
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
