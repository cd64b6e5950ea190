/* SPDX-License-Identifier: Apache-2.0 */
/* False alarms: what is true of a correct machine stays without findings, however it is reported.
 * Every correct trace is cut, thinned, retold and shuffled in ways that leave it true, one way or
 * up to three together. NOCAP_METAMORPHIC=<rounds> asks for more rounds;
 * NOCAP_METAMORPHIC_FROM=<number> begins at that simulated trace, with changes of its own;
 * NOCAP_METAMORPHIC_FILES="<file> .." tries these traces in place of simulated ones;
 * NOCAP_METAMORPHIC_KEEP=<folder> keeps the traces that fail.
 */
#include "tests/rows.h"

#include <dirent.h>

#include "capture/sim/sim.h"
#include "checker/hang/hang.h"
#include "formats/profile/profile.h"
#include "tests/effort.h"
#include "tests/transform_changes.h"

#define X(name) {#name, change_##name},
static const struct {
    const char *name;
    transform_change *change;
} changes[] = {TRANSFORM_CHANGES(X)};
#undef X
enum { CHANGES = sizeof changes / sizeof changes[0], SEVERAL = 3 };

/* ---- one trial ---- */

struct outcome {
    bool rules[NOCAP_RULE_COUNT];
    enum nocap_hang_verdict verdict;
};

static struct outcome look(const struct trace *t, char *text, size_t size)
{
    const struct nocap_hang_options options = {.size = sizeof options};
    struct outcome told = {{false}, NOCAP_HANG_NONE};
    struct nocap_error err = {{0}};
    struct nocap_hang *hang;
    trace_write(t, "trial.nocap");
    if (nocap_hang(&hang, "trial.nocap", &options, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    text[0] = 0;
    for (size_t i = 0; i < hang->report->finding_count; i++) {
        const struct nocap_finding *f = &hang->report->findings[i];
        if (f->severity != NOCAP_NOTE && !told.rules[f->rule]) {
            told.rules[f->rule] = true;
            size_t used = strlen(text);
            snprintf(text + used, size - used, "    %s at %llu, (%u,%u) %s: %s; %s\n",
                     nocap_rules[f->rule].id, (unsigned long long)f->index, f->at.x, f->at.y,
                     nocap_agent_name(f->agent), f->message, f->observed);
        }
    }
    told.verdict = hang->verdict;
    if (hang->verdict == NOCAP_HANG_HUNG) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "    hung: %s\n", hang->why);
    }
    nocap_hang_free(hang);
    return told;
}

/* What a change may add: lost events are reported, and so is a boot whose end the trace does not
 * show.
 */
static bool expected_extra(unsigned rule, const bool *used)
{
    for (unsigned c = 0; c < CHANGES; c++) {
        bool lost = changes[c].change == change_drop || changes[c].change == change_again ||
                    changes[c].change == change_lost;
        if (used[c] &&
            ((rule == TRC_003 && lost) || (rule == RST_017 && changes[c].change == change_stop))) {
            return true;
        }
    }
    return false;
}

static unsigned failures, trials;
static unsigned seen[CHANGES][NOCAP_RULE_COUNT + 1];

static void keep_failure(const struct trace *t)
{
    const char *folder = getenv("NOCAP_METAMORPHIC_KEEP");
    char path[4096];
    if (folder != NULL) {
        snprintf(path, sizeof path, "%s/%u.nocap", folder, failures);
        trace_write(t, path);
    }
}

/* With times of their own, in which the file's order is time's no more: these come last. */
static bool parts_order(unsigned which)
{
    transform_change *c = changes[which].change;
    return c == change_sources || c == change_threads || c == change_ties || c == change_probes ||
           c == change_lost;
}

/* A network that shows only what arrives shows also what comes from tiles out of scope. What was
 * cut off must not look as if it stood: a second chip goes on, polls go on after the cut, threads
 * count events as time. And where a clock is too coarse for what several sources tell, or what was
 * put in has no place within its time, no order is left that could be judged. */
static bool incompatible(unsigned before, unsigned after)
{
    transform_change *a = changes[before].change, *b = changes[after].change;
    bool cut = b == change_end || b == change_stop;
    bool lossy = a == change_classes || a == change_one_class_less || a == change_scope;
    bool shows = b == change_attach || b == change_look || b == change_drop;
    return (a == change_landings && b == change_scope) ||
           (a == change_scope && b == change_landings) ||
           ((b == change_chips || b == change_threads) && (a == change_end || a == change_stop)) ||
           (parts_order(before) && parts_order(after)) ||
           (b == change_ties && (a == change_clock || a == change_ns || a == change_drop ||
                                 a == change_again || a == change_look)) ||
           (a == change_polls_together && cut) || (a == change_pause && cut) ||
           (b == change_pause && (a == change_end || a == change_stop)) || (lossy && shows);
}

/* The changes, in order; says what is new. */
static void attempt(const struct trace *base, const struct outcome *whole, const unsigned *which,
                    unsigned count, uint64_t seed)
{
    struct trace t = trace_copy(base);
    bool used[CHANGES] = {false};
    char text[16384], names[256] = "";
    uint64_t random = seed;
    for (unsigned i = 0; i < count; i++) {
        if (t.count > 0) {
            changes[which[i]].change(&t, &random);
        }
        used[which[i]] = true;
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                 changes[which[i]].name);
    }
    struct outcome told = look(&t, text, sizeof text);
    bool wrong = told.verdict == NOCAP_HANG_HUNG && whole->verdict != NOCAP_HANG_HUNG,
         fresh = false;
    fresh = wrong && seen[which[0]][NOCAP_RULE_COUNT]++ == 0;
    for (unsigned r = 0; r < NOCAP_RULE_COUNT; r++) {
        if (told.rules[r] && !whole->rules[r] && !expected_extra(r, used)) {
            wrong = true;
            fresh |= seen[which[0]][r]++ == 0;
        }
    }
    trials++;
    if (wrong) {
        failures++;
        if (fresh) {
            print_error("%u: %s,%s, seed %llu, %zu events:\n%s", failures, base->name, names,
                        (unsigned long long)seed, t.count, text);
            keep_failure(&t);
        }
    }
    trace_free(&t);
}

static unsigned asked(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static unsigned rounds(void)
{
    return asked("NOCAP_METAMORPHIC", 1);
}

static unsigned first_trace(void)
{
    return asked("NOCAP_METAMORPHIC_FROM", 0);
}

/* The change and as many others as make `count` together, if they agree. */
static void attempt_several(const struct trace *base, const struct outcome *whole, unsigned change,
                            unsigned count, uint64_t seed)
{
    unsigned which[SEVERAL] = {change};
    uint64_t random = seed * 7919;
    for (unsigned i = 1; i < count; i++) {
        which[i] = (unsigned)pick(&random, CHANGES);
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        if (parts_order(which[i])) {
            unsigned last = which[count - 1];
            which[count - 1] = which[i];
            which[i] = last;
        }
    }
    for (unsigned i = 1; i < count; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (incompatible(which[k], which[i])) {
                return;
            }
        }
    }
    attempt(base, whole, which, count, seed);
}

static void try_all(const struct trace *base)
{
    char text[16384];
    struct outcome whole = look(base, text, sizeof text);
    static uint64_t tried;
    for (unsigned round = 0; round < rounds(); round++) {
        for (unsigned c = 0; c < CHANGES; c++) {
            uint64_t seed = ++tried + ((uint64_t)first_trace() << 16);
            for (unsigned count = 1; count <= SEVERAL; count++) {
                attempt_several(base, &whole, c, count, seed);
            }
        }
    }
}

/* ---- correct traces ---- */

static struct trace load(const char *path)
{
    struct nocap_error err = {{0}};
    struct nocap_reader *reader;
    struct trace t = {.name = path};
    if (nocap_import_open(&reader, path, false, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(nocap_header_copy(&t.header, nocap_reader_header(reader), &err), NOCAP_OK);
    const struct nocap_event *events;
    size_t count;
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            trace_keep(&t, &events[i]);
        }
    }
    nocap_reader_close(reader);
    return t;
}

static enum nocap_status keep(void *context, const struct nocap_event *event,
                              struct nocap_error *err)
{
    (void)err;
    trace_keep(context, event);
    return NOCAP_OK;
}

/* They take turns, from the first on that does what the scenario is about. */
static const char *queue_profile(unsigned i, unsigned first)
{
    static unsigned count;
    while (nocap_profile_name(count) != NULL) {
        count++;
    }
    return nocap_profile_name(first + i % (count - first));
}

/* Number `i` of the simulated traces. */
static struct trace simulate(unsigned i)
{
    struct nocap_error err = {{0}};
    struct nocap_sim_options o = {.size = sizeof o,
                                  .scenario = i % NOCAP_SIM_SCENARIO_COUNT,
                                  .board = 1 + i / 2 % 2,
                                  .tiles = 1 + i % 3,
                                  .launches = 2 + i % 5,
                                  .seed = i,
                                  .variant = i / NOCAP_SIM_SCENARIO_COUNT};
    struct trace t = {.name = nocap_sim_scenarios[o.scenario].name};
    if (nocap_sim_has_queue(o.scenario)) {
        bool packed = o.scenario == NOCAP_SIM_FAST_DISPATCH_PACKED ||
                      o.scenario == NOCAP_SIM_FAST_DISPATCH_SUBORDINATE ||
                      o.scenario == NOCAP_SIM_FAST_DISPATCH_MULTICAST;
        o.profile = queue_profile(i, packed);
        o.view = i / NOCAP_SIM_SCENARIO_COUNT % NOCAP_SIM_VIEW_COUNT;
        o.tiles = 0;
        o.workers = 1 + i % 3;
    }
    if (nocap_sim_header(&o, &t.header, &err) != NOCAP_OK ||
        nocap_sim_run(&o, keep, &t, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return t;
}

/* A row is a correct trace with all that is done to it. */
static void stays_true(struct trace *t)
{
    unsigned before = failures;
    try_all(t);
    trace_free(t);
    if (failures != before) {
        fail_msg("%u false alarms", failures - before);
    }
}

static void a_simulated_trace(void **state)
{
    const unsigned *number = *state;
    struct trace t = simulate(*number);
    stays_true(&t);
}

static void a_named_trace(void **state)
{
    struct trace t = load(*state);
    stays_true(&t);
}

static void add_simulated(struct rows *rows, unsigned *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char name[80];
        numbers[i] = first_trace() + i;
        snprintf(name, sizeof name, "%s, trace %u",
                 nocap_sim_scenarios[numbers[i] % NOCAP_SIM_SCENARIO_COUNT].name, numbers[i]);
        rows_add(rows, name, a_simulated_trace, &numbers[i]);
    }
}

int main(void)
{
    const char *files = getenv("NOCAP_METAMORPHIC_FILES");
    unsigned count = files != NULL ? 0 : effort(4, 1) * NOCAP_SIM_SCENARIO_COUNT * rounds();
    unsigned *numbers = calloc(count + 1, sizeof *numbers);
    char *list = strdup(files != NULL ? files : ""), *rest = list;
    struct rows rows = {0};
    if (numbers == NULL || list == NULL) {
        return 1;
    }
    add_simulated(&rows, numbers, count);
    for (char *path; (path = strsep(&rest, " ")) != NULL;) {
        if (*path != 0) {
            rows_add(&rows, path, a_named_trace, path);
        }
    }
    int failed = rows_run(&rows, "metamorphic");
    printf("# %u trials, %u with false alarms\n", trials, failures);
    free(list);
    free(numbers);
    return failed;
}
