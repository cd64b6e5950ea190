/* SPDX-License-Identifier: Apache-2.0 */
/* What two traces say, compared: runs of one program with different stalls do not differ; what was
 * taken away, added, changed or exchanged is found at its place. */
#include "tests/run_trace.h"
#include "tests/temp_dir.h"

#include "checker/compare/diff.h"
#include "checker/compare/diff_private.h"

/* ---- traces ---- */

static void check_status(enum nocap_status status, const struct nocap_error *err)
{
    if (status != NOCAP_OK) {
        fail_msg("%s", err->text);
    }
}

static struct run make_run(const char *path, struct nocap_sim_options options)
{
    options.size = sizeof options;
    struct run run = run_with(options);
    run_trace_write(path, &options, &run);
    return run;
}

static struct nocap_diff *diff_of(const char *a, const char *b)
{
    struct nocap_diff *diff;
    struct nocap_error err;
    check_status(nocap_diff(&diff, a, b, NULL, &err), &err);
    return diff;
}

static char *text_of(const struct nocap_diff *diff, bool json)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(json ? nocap_diff_json(out, diff, NULL)
                          : nocap_diff_text(out, diff, false, 0, NULL),
                     NOCAP_OK);
    fclose(out);
    return text;
}

/* ---- equal programs ---- */

static const struct nocap_sim_options programs[] = {
    {.scenario = NOCAP_SIM_BOOT, .tiles = 3},
    {.scenario = NOCAP_SIM_LAUNCH_HOST, .tiles = 2, .launches = 8},
    {.scenario = NOCAP_SIM_LAUNCH_DEV, .tiles = 2, .launches = 12},
    {.scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 10, .view = NOCAP_SIM_VIEW_RAW},
    {.scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 10, .view = NOCAP_SIM_VIEW_CQ},
    {.scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 10, .view = NOCAP_SIM_VIEW_HOST},
    {.scenario = NOCAP_SIM_FAST_DISPATCH, .launches = 8, .view = NOCAP_SIM_VIEW_ALL},
    {.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS, .launches = 10, .view = NOCAP_SIM_VIEW_RAW},
    {.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS, .launches = 10, .view = NOCAP_SIM_VIEW_CQ},
    {.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS, .launches = 10, .view = NOCAP_SIM_VIEW_HOST},
    {.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS, .launches = 8, .view = NOCAP_SIM_VIEW_ALL},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0], VARIANTS = 5 };

static void other_stalls_do_not_differ(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROGRAMS * VARIANTS; i++) {
        struct nocap_sim_options options = programs[i % PROGRAMS];
        options.variant = i / PROGRAMS;
        options.board = 1 + i % 2;
        options.seed = 2 * i;
        struct run a = make_run("a.nocap", options);
        options.seed = 2 * i + 1;
        struct run b = make_run("b.nocap", options);
        assert_int_not_equal(a.hash, b.hash); /* they are two runs */
        struct nocap_diff *diff = diff_of("a.nocap", "b.nocap");
        if (diff->count != 0) {
            char *text = text_of(diff, false);
            fail_msg("program %u, variant %u: %s", i % PROGRAMS, i / PROGRAMS, text);
        }
        assert_true(diff->compared[0] > a.count / 3);
        nocap_diff_free(diff);
        run_free(&a);
        run_free(&b);
    }
}

static void another_program_differs(void **state)
{
    (void)state;
    struct run a = make_run("a.nocap", programs[1]);
    struct nocap_sim_options other = programs[1];
    other.variant = 1;
    struct run b = make_run("b.nocap", other);
    struct nocap_diff *diff = diff_of("a.nocap", "b.nocap");
    assert_true(diff->count > 0);
    nocap_diff_free(diff);
    run_free(&a);
    run_free(&b);
}

/* ---- injected differences ---- */

enum edit { DROP, DOUBLE, CHANGE, EXCHANGE, EDITS };
static const enum nocap_diff_kind told_as[EDITS] = {NOCAP_DIFF_MISSING, NOCAP_DIFF_EXTRA,
                                                    NOCAP_DIFF_CHANGED, NOCAP_DIFF_REORDERED};

static bool same_step(const struct nocap_event *a, const struct nocap_event *b)
{
    return a->kind == b->kind && a->op == b->op && a->by == b->by && a->chip == b->chip &&
           a->at.x == b->at.x && a->at.y == b->at.y && a->addr == b->addr && a->value == b->value &&
           a->size == b->size;
}

/* Stores of the host and of cores, but for those of the dispatcher, which stores times. */
static bool editable(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_WRITE && (e->has & NOCAP_F_VALUE) != 0 &&
           e->space == NOCAP_SPACE_TILE && e->addr != NOCAP_RD_PTR && e->at.x != 14 &&
           (e->by == NOCAP_BY_HOST || (e->by >= NOCAP_BY_BRISC && e->by <= NOCAP_BY_TRISC2));
}

static bool same_agent(const struct nocap_event *a, const struct nocap_event *b)
{
    return a->by == b->by && (a->by == NOCAP_BY_HOST || (a->at.x == b->at.x && a->at.y == b->at.y));
}

/* The agent's next event; the count if there is none. */
static size_t next_of(const struct run *run, size_t i)
{
    size_t k = i + 1;
    while (k < run->count && !same_agent(&run->events[k], &run->events[i])) {
        k++;
    }
    return k;
}

/* An event from `i` on that can be edited and is followed by another one of its agent that can. */
static size_t find_place(const struct run *run, size_t i)
{
    for (; i < run->count; i++) {
        size_t next = next_of(run, i);
        if (editable(&run->events[i]) && next < run->count && editable(&run->events[next]) &&
            !same_step(&run->events[i], &run->events[next])) {
            return i;
        }
    }
    fail_msg("no place to edit");
    return 0;
}

static void insert(struct run *run, size_t at, const struct nocap_event *event)
{
    struct nocap_event copy = *event;
    run->events = realloc(run->events, (run->count + 1) * sizeof *run->events);
    assert_non_null(run->events);
    memmove(&run->events[at + 1], &run->events[at], (run->count - at) * sizeof copy);
    run->events[at] = copy;
    run->count++;
}

static void edit_at(struct run *run, size_t i, enum edit edit)
{
    struct nocap_event *e = &run->events[i], held = *e;
    size_t next = next_of(run, i);
    switch (edit) {
    case DROP:
        memmove(e, e + 1, (run->count - i - 1) * sizeof *e);
        run->count--;
        break;
    case DOUBLE: insert(run, i + 1, &held); break;
    case CHANGE: e->value ^= 0x10; break;
    default: /* the times stay where they are, so that the file stays in order */
        *e = run->events[next];
        e->t = held.t;
        held.t = run->events[next].t;
        run->events[next] = held;
        break;
    }
}

/* The first row that is not equal tells of the edited event. */
static void assert_found(const struct nocap_diff *diff, enum edit edit, const struct run *a,
                         const struct nocap_event *edited, size_t at)
{
    size_t row = 0;
    assert_true(diff->count >= 1);
    const struct nocap_difference *d = &diff->list[0];
    while (row < d->row_count && d->rows[row].equal) {
        row++;
    }
    assert_true(row < d->row_count);
    const struct nocap_diff_row *r = &d->rows[row];
    if (d->kind != told_as[edit]) {
        char *text = text_of(diff, false);
        fail_msg("edit %d at %zu is told as something else: %s", edit, at, text);
    }
    assert_int_equal(r->has[DIFF_A], edit != DOUBLE);
    assert_int_equal(r->has[DIFF_B], edit != DROP);
    if (edit == DOUBLE) {
        assert_int_equal(r->index[DIFF_B], at + 1);
    } else {
        if (!same_step(&a->events[r->index[DIFF_A]], edited)) {
            char *text = text_of(diff, false);
            fail_msg("edit %d at %zu is told at another place: %s", edit, at, text);
        }
    }
    if (edit == CHANGE || edit == EXCHANGE) {
        assert_int_equal(r->index[DIFF_B], at);
    }
}

static void each_injected_difference_is_found_at_its_place(void **state)
{
    (void)state;
    enum { PLACES = 15 };
    static const unsigned used[] = {0, 1, 2, 3, 7}; /* programs with stores of host and cores */
    for (unsigned n = 0; n < PLACES * EDITS; n++) {
        struct nocap_sim_options options = programs[used[n % 5]];
        options.variant = n % 3;
        struct run a = make_run("a.nocap", options);
        options.seed = 1 + n;
        options.size = sizeof options;
        struct run b = run_with(options), changed = b;
        changed.events = malloc(b.count * sizeof *b.events);
        assert_non_null(changed.events);
        memcpy(changed.events, b.events, b.count * sizeof *b.events);
        size_t at = find_place(&b, b.count * (n / EDITS) / PLACES);
        struct nocap_event edited = b.events[at];
        edit_at(&changed, at, (enum edit)(n % EDITS));
        run_trace_write("b.nocap", &options, &changed);
        struct nocap_diff *diff = diff_of("a.nocap", "b.nocap");
        assert_found(diff, (enum edit)(n % EDITS), &a, &edited, at);
        nocap_diff_free(diff);
        run_free(&a);
        run_free(&b);
        free(changed.events); /* the payloads were those of b */
    }
}

/* ---- small traces ---- */

#define HEADER "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\",\"core-store\"]}\n"
#define WRITE(t, by, addr, value)                                                                  \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"" #by "\",\"x\":1,\"y\":2,\"addr\":\"" #addr          \
    "\",\"size\":4,\"value\":\"" #value "\"}\n"
#define READ(t, by, addr, value)                                                                   \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"" #by "\",\"x\":1,\"y\":2,\"addr\":\"" #addr           \
    "\",\"size\":4,\"value\":\"" #value "\"}\n"

static struct nocap_diff *diff_texts(const char *a, const char *b)
{
    write_text("a.jsonl", a);
    write_text("b.jsonl", b);
    return diff_of("a.jsonl", "b.jsonl");
}

static void agents_that_change_their_order_at_a_word_differ(void **state)
{
    (void)state;
    struct nocap_diff *diff =
        diff_texts(HEADER WRITE(1, host, 0x370, 0x80000000) WRITE(2, brisc, 0x370, 0x0)
                       WRITE(3, host, 0x370, 0x80000000) WRITE(4, brisc, 0x370, 0x0),
                   HEADER WRITE(1, host, 0x370, 0x80000000) WRITE(2, host, 0x370, 0x80000000)
                       WRITE(3, brisc, 0x370, 0x0) WRITE(4, brisc, 0x370, 0x0));
    assert_int_equal(diff->count, 1);
    assert_string_equal(diff->list[0].where, "core 1,2 go_messages[0]");
    assert_int_equal(diff->list[0].kind, NOCAP_DIFF_REORDERED);
    char *text = text_of(diff, false);
    assert_contains(text,
                    "1. core 1,2 go_messages[0]: 2 steps in another order, after 1 equal one");
    assert_contains(text, "1 2 1,2 brisc write go_messages[0] 0x370:4 = 0x0 DONE");
    assert_contains(text, "| 1 2 1,2 host write go_messages[0]");
    free(text);
    nocap_diff_free(diff);
}

static void agents_at_different_words_are_free(void **state)
{
    (void)state;
    struct nocap_diff *diff =
        diff_texts(HEADER WRITE(1, host, 0x370, 0x80000000) WRITE(2, brisc, 0x37000, 0x0),
                   HEADER WRITE(1, brisc, 0x37000, 0x0) WRITE(2, host, 0x370, 0x80000000));
    assert_int_equal(diff->count, 0);
    char *text = text_of(diff, false);
    assert_contains(text, "no difference\n");
    free(text);
    nocap_diff_free(diff);
}

static void what_stays_the_same_is_no_poll(void **state)
{
    (void)state;
    /* the host reads back what nobody changes: another value there is a difference */
    struct nocap_diff *diff =
        diff_texts(HEADER READ(1, host, 0x37000, 0x1), HEADER READ(1, host, 0x37004, 0x1));
    assert_int_equal(diff->count, 1);
    assert_int_equal(diff->list[0].kind, NOCAP_DIFF_CHANGED);
    nocap_diff_free(diff);
    diff = diff_texts(HEADER READ(1, host, 0x37000, 0x0) READ(2, host, 0x37000, 0x0)
                          READ(3, host, 0x37000, 0x1) WRITE(4, host, 0x37100, 0x1),
                      HEADER READ(1, host, 0x37000, 0x1) WRITE(4, host, 0x37100, 0x1));
    assert_int_equal(diff->count, 0);
    nocap_diff_free(diff);
}

static void times_count_on_demand(void **state)
{
    (void)state;
    struct nocap_diff *diff;
    struct nocap_diff_options options = {.size = sizeof options, .with_time = true};
    write_text("a.jsonl", HEADER WRITE(1, host, 0x37000, 0x1));
    write_text("b.jsonl", HEADER WRITE(2, host, 0x37000, 0x1));
    assert_int_equal(nocap_diff(&diff, "a.jsonl", "b.jsonl", &options, NULL), NOCAP_OK);
    assert_int_equal(diff->count, 1);
    nocap_diff_free(diff);
    assert_int_equal(nocap_diff(&diff, "a.jsonl", "b.jsonl", NULL, NULL), NOCAP_OK);
    assert_int_equal(diff->count, 0);
    nocap_diff_free(diff);
}

static void limits_are_told(void **state)
{
    (void)state;
    struct nocap_diff *diff =
        diff_texts(HEADER WRITE(1, host, 0x37000, 0x1),
                   "{\"nocap\":1,\"arch\":\"wormhole\",\"observes\":[\"host-mmio\"]}\n" WRITE(
                       1, host, 0x37000, 0x1));
    char *json = text_of(diff, true);
    assert_contains(json,
                    "{\"nocap_diff\":1,\"a\":{\"path\":\"a.jsonl\",\"events\":1,\"compared\":1}");
    assert_contains(json, "\"count\":0,\"differences\":[],\"notes\":[\"A is of blackhole, B of "
                          "wormhole\",\"only A observes core-store\"]}\n");
    free(json);
    nocap_diff_free(diff);
}

static void the_first_difference_comes_first(void **state)
{
    (void)state;
    struct nocap_diff *diff =
        diff_texts(HEADER WRITE(1, trisc0, 0x37000, 0x1) WRITE(20, trisc0, 0x37000, 0x2)
                       WRITE(10, host, 0x37000, 0x5),
                   HEADER WRITE(1, trisc0, 0x37000, 0x1) WRITE(20, trisc0, 0x37000, 0x3)
                       WRITE(10, host, 0x37000, 0x6));
    assert_int_equal(diff->count, 2);
    assert_string_equal(diff->list[0].where, "host, src 0");
    assert_int_equal(diff->list[0].t, 10);
    assert_string_equal(diff->list[1].where, "core 1,2 trisc0");
    assert_int_equal(diff->list[1].equal, 1);
    char *json = text_of(diff, true);
    assert_contains(json, "{\"where\":\"host, src 0\",\"kind\":\"changed\",\"t\":10,\"equal\":0,"
                          "\"steps\":[1,1],\"rows\":[{\"equal\":false,\"a\":{\"index\":2,\"t\":10,"
                          "\"event\":\"2 10 1,2 host write L1 0x37000:4 = 0x5\"},");
    free(json);
    nocap_diff_free(diff);
}

static void streams_that_never_meet_are_given_up(void **state)
{
    (void)state;
    enum { LINES = 2000 };
    FILE *a = fopen("a.jsonl", "w"), *b = fopen("b.jsonl", "w");
    assert_non_null(a);
    assert_non_null(b);
    fputs(HEADER, a);
    fputs(HEADER, b);
    for (int i = 0; i < LINES; i++) {
        static const char line[] = "{\"t\":%d,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,"
                                   "\"addr\":\"0x37000\",\"size\":4,\"value\":\"0x%x\"}\n";
        fprintf(a, line, i, i);
        fprintf(b, line, i, i + LINES);
    }
    fclose(a);
    fclose(b);
    struct nocap_diff *diff = diff_of("a.jsonl", "b.jsonl");
    assert_int_equal(diff->count, 1);
    assert_int_equal(diff->list[0].kind, NOCAP_DIFF_APART);
    assert_true(diff->list[0].row_count <= NOCAP_DIFF_ROWS_MAX);
    char *text = text_of(diff, false);
    assert_contains(text, "streams do not resynchronise after this point");
    assert_contains(text, "more of A\n");
    free(text);
    nocap_diff_free(diff);
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    struct nocap_diff *diff;
    struct nocap_error err;
    const struct nocap_diff_options wide = {.size = sizeof wide,
                                            .context = NOCAP_DIFF_CONTEXT_MAX + 1};
    write_text("a.jsonl", HEADER);
    assert_int_equal(nocap_diff(&diff, "a.jsonl", "none", NULL, &err), NOCAP_E_INPUT);
    assert_null(diff);
    assert_int_equal(nocap_diff(&diff, "-", "a.jsonl", NULL, &err), NOCAP_E_USAGE);
    assert_contains(err.text, "name two files");
    assert_int_equal(nocap_diff(&diff, "a.jsonl", "a.jsonl", &wide, &err), NOCAP_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_stalls_do_not_differ),
        cmocka_unit_test(another_program_differs),
        cmocka_unit_test(each_injected_difference_is_found_at_its_place),
        cmocka_unit_test(agents_that_change_their_order_at_a_word_differ),
        cmocka_unit_test(agents_at_different_words_are_free),
        cmocka_unit_test(what_stays_the_same_is_no_poll),
        cmocka_unit_test(times_count_on_demand),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(the_first_difference_comes_first),
        cmocka_unit_test(streams_that_never_meet_are_given_up),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
