/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: runs of the device model in which an event is left out, comes twice, earlier or later,
 * or says something else. Runs and changes are written as text (tests/changes.txt). */
#ifndef NOCAP_TESTS_CHANGED_H
#define NOCAP_TESTS_CHANGED_H

#include "formats/blackhole/registers.h"
#include "formats/import/import.h"
#include "formats/profile/profile.h"
#include "tests/cases.h"
#include "tests/run_trace.h"
#include "tests/temp_dir.h"

/* ---- runs ---- */

struct base {
    struct nocap_sim_options options;
    const char *text; /* the trace as JSON Lines; NULL: a run of the device model */
    bool middle;      /* the capture begins after a third of it */
    bool again;       /* the board is booted, or the queue set up, a second time */
    struct nocap_header header;
    struct run run;
};

static inline bool base_word(struct base *base, const char *word)
{
    static const char *const views[] = {
#define VIEW(NAME, name, classes) name,
        NOCAP_SIM_VIEWS(VIEW)
#undef VIEW
    };
    struct nocap_sim_options *o = &base->options;
    for (unsigned i = 0; i < sizeof views / sizeof views[0]; i++) {
        if (strcmp(word, views[i]) == 0) {
            o->view = i;
            return true;
        }
    }
    for (unsigned i = 0; nocap_profile_name(i) != NULL; i++) {
        if (strcmp(word, nocap_profile_name(i)) == 0) {
            o->profile = nocap_profile_name(i);
            return true;
        }
    }
    struct {
        const char *name;
        bool *is;
    } flags[] = {{"apart", &o->apart}, {"middle", &base->middle}, {"again", &base->again}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(word, flags[i].name) == 0) {
            return *flags[i].is = true;
        }
    }
    const char *number = strchr(word, '=');
    uint64_t n = number != NULL ? strtoull(number + 1, NULL, 10) : 0;
    switch (number != NULL ? word[0] : '\0') {
    case 't': o->tiles = (uint32_t)n; return true;
    case 'l': o->launches = n; return true;
    case 'w': o->workers = (uint32_t)n; return true;
    case 'q': o->queues = (uint32_t)n; return true;
    case 'v': o->variant = n; return true;
    case 's': o->seed = n; return true;
    default: return false;
    }
}

/* The trace of this name, as JSON Lines: an example of a rule, a case; NULL: there is none. */
static inline const char *base_text(const char *name)
{
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        const struct nocap_rule_info *rule = &nocap_rules[i];
        size_t length = strlen(rule->id);
        if (strncmp(name, rule->id, length) == 0 && name[length] == ' ') {
            return strcmp(name + length, " holds") == 0      ? rule->holds
                   : strcmp(name + length, " violates") == 0 ? rule->violates
                                                             : NULL;
        }
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return cases[i].trace;
        }
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strcmp(pairs[i].name, name) == 0) {
            return pairs[i].trace;
        }
    }
    return NULL;
}

/* A rule's id and `holds` or `violates`, the name of a case (tests/cases.h), or
 * "SCENARIO WORD..": a view, a profile, `apart`, `middle`, `again`, or tiles=, launches=, workers=,
 * queues=, variant=, seed= and a number. */
static inline struct base base_of(const char *text)
{
    struct base base = {.options = {.size = sizeof base.options, .tiles = 2, .workers = 2},
                        .text = base_text(text)};
    if (base.text != NULL) {
        return base;
    }
    char words[200], *rest = words;
    snprintf(words, sizeof words, "%s", text);
    int scenario = nocap_sim_scenario_from_name(strtok_r(words, " \n", &rest));
    if (scenario < 0) {
        fail_msg("no such scenario: %s", text);
    }
    base.options.scenario = (enum nocap_sim_scenario)scenario;
    for (char *word; (word = strtok_r(NULL, " \n", &rest)) != NULL;) {
        if (!base_word(&base, word)) {
            fail_msg("what is %s in: %s", word, text);
        }
    }
    return base;
}

static inline struct nocap_event base_hold(struct nocap_xy at)
{
    struct nocap_event e = nocap_event_of(NOCAP_EV_WRITE);
    e.by = NOCAP_BY_HOST;
    e.at = at;
    e.addr = NOCAP_REG_SOFT_RESET_0;
    e.size = 4;
    e.value = NOCAP_SOFT_RESET_ALL;
    e.has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
    return e;
}

/* Adds the same run behind it. Runs of a queue begin when the firmware is ready: before the second
 * one the host takes the cores whose memory is shown into reset. */
static inline void base_again(struct run *run)
{
    enum { PAUSE = 1000000 };
    const size_t count = run->count;
    struct nocap_event *all = calloc(3 * count, sizeof *all);
    size_t n = count;
    assert_non_null(all);
    memcpy(all, run->events, count * sizeof *all);
    const uint64_t start = all[count - 1].t + PAUSE;
    for (size_t i = 0; i < count && all[i].kind == NOCAP_EV_MEM; i++) {
        all[n] = base_hold(all[i].at);
        all[n++].t = start;
    }
    for (size_t i = 0; i < count; i++) {
        struct nocap_event *e = &all[n++];
        *e = run->events[i];
        e->t += start;
        e->t2 += (e->has & NOCAP_F_T2) != 0 ? start : 0;
        if (e->data_size > 0) {
            uint8_t *data = malloc(e->data_size);
            assert_non_null(data);
            e->data = memcpy(data, e->data, e->data_size);
        }
    }
    free(run->events);
    *run = (struct run){.events = all, .count = n, .capacity = 3 * count};
}

static inline void base_read(struct base *base)
{
    struct nocap_error err = {{0}};
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t count;
    write_text("base.jsonl", base->text);
    if (nocap_import_open(&reader, "base.jsonl", false, NULL, &err) != NOCAP_OK ||
        nocap_header_copy(&base->header, nocap_reader_header(reader), &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            struct nocap_event e = events[i];
            e.shape = 0;
            e.extra = NULL;
            e.extra_size = 0;
            run_add(&base->run, &e);
        }
    }
    nocap_reader_close(reader);
}

/* Makes the header and the events; base_close frees them. */
static inline void base_open(struct base *base)
{
    struct nocap_error err = {{0}};
    if (base->text != NULL) {
        base_read(base);
    } else if (nocap_sim_header(&base->options, &base->header, &err) == NOCAP_OK) {
        base->run = run_with(base->options);
    } else {
        fail_msg("%s", err.text);
    }
    struct run *run = &base->run;
    size_t from = base->middle ? run->count / 3 : 0;
    for (size_t i = 0; i < from; i++) {
        free((void *)(uintptr_t)run->events[i].data);
    }
    run->count -= from;
    memmove(run->events, run->events + from, run->count * sizeof *run->events);
    if (base->middle) {
        base->header.complete = NOCAP_FALSE;
    }
    if (base->again) {
        base_again(run);
    }
}

static inline void base_close(struct base *base)
{
    nocap_header_free(&base->header);
    run_free(&base->run);
}

/* A trace of it, open. */
static inline struct run_trace base_trace(const struct base *base, const char *path)
{
    struct run_trace t = {0};
    struct nocap_error err = {{0}};
    if (nocap_header_copy(&t.header, &base->header, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    run_trace_open(&t, path);
    return t;
}

/* ---- changes ---- */

/* CHANGE(NAME, "name", numbers behind the event's) */
#define CHANGES(CHANGE)                                                                            \
    CHANGE(DROP, "drop", 0)                                                                        \
    CHANGE(TWICE, "twice", 0)                                                                      \
    CHANGE(BIT, "bit", 1)   /* of what it says is another */                                       \
    CHANGE(ADDR, "addr", 1) /* goes so many bytes away */                                          \
    CHANGE(FROM, "from", 1) /* a request's source does */                                          \
    CHANGE(EARLY, "early", 1)                                                                      \
    CHANGE(LATE, "late", 1) /* passes so many acts of its agent */

#define CHANGE(NAME, name, numbers) CHANGE_##NAME,
enum change_kind { CHANGES(CHANGE) CHANGE_COUNT };
#undef CHANGE

struct change {
    enum change_kind kind;
    size_t event;
    int64_t by;
};

/* Reads "KIND EVENT [BY]"; where it ends. */
static inline const char *change_read(const char *text, struct change *c)
{
    static const struct {
        const char *name;
        int numbers;
    } kinds[] = {
#define CHANGE(NAME, name, numbers) {name, numbers},
        CHANGES(CHANGE)
#undef CHANGE
    };
    size_t length = strcspn(text, " ");
    for (unsigned i = 0; i < CHANGE_COUNT; i++) {
        if (strncmp(kinds[i].name, text, length) == 0 && kinds[i].name[length] == '\0') {
            char *end;
            c->kind = i;
            c->event = strtoull(text + length, &end, 10);
            c->by = kinds[i].numbers > 0 ? strtoll(end, &end, 10) : 0;
            return end;
        }
    }
    fail_msg("no such change: %s", text);
    return NULL;
}

/* Events of one agent come in its order, so they may change places. */
static inline bool change_same_agent(const struct nocap_event *a, const struct nocap_event *b)
{
    static const uint8_t parties[NOCAP_OP_COUNT] = {
        [NOCAP_OP_RECORD] = 1, [NOCAP_OP_FETCH] = 2, [NOCAP_OP_RELAY] = 2,
        [NOCAP_OP_LANDED] = 3, [NOCAP_OP_EXEC] = 4,  [NOCAP_OP_DONE] = 4,
    };
    if (a->kind == NOCAP_EV_CQ || b->kind == NOCAP_EV_CQ) {
        return a->kind == b->kind && parties[a->op] == parties[b->op] && a->by == b->by;
    }
    if (a->kind == NOCAP_EV_NOC && a->phase != NOCAP_PHASE_ISSUE) {
        return false;
    }
    return a->by == b->by && a->thread == b->thread &&
           (a->by == NOCAP_BY_HOST || (a->at.x == b->at.x && a->at.y == b->at.y));
}

/* Another event, beside it, says the same act: a command and the access of it. */
static inline bool change_is_restated(const struct run *run, size_t event)
{
    const struct nocap_event *e = &run->events[event];
    for (size_t i = event > 0 ? event - 1 : 0; i <= event + 1 && i < run->count; i++) {
        const struct nocap_event *o = &run->events[i];
        if ((o->kind == NOCAP_EV_CQ) != (e->kind == NOCAP_EV_CQ) && (e->has & NOCAP_F_SEQ) != 0 &&
            o->seq == e->seq && o->t == e->t) {
            return true;
        }
    }
    return false;
}

/* Where an event goes that passes so many others of its agent; its own place: there are not so
 * many. */
static inline size_t change_place(const struct run *run, const struct change *c)
{
    int64_t left = c->by;
    for (size_t i = c->event; c->kind == CHANGE_LATE ? ++i < run->count : i-- > 0;) {
        left -= change_same_agent(&run->events[c->event], &run->events[i]);
        if (left == 0) {
            return i;
        }
    }
    return c->event;
}

/* What it says, as bytes that may be changed; payloads are copied to `bytes`. */
static inline uint8_t *change_value(struct nocap_event *e, uint8_t bytes[1 << 16], uint64_t *size)
{
    const uint64_t number = NOCAP_F_VALUE | NOCAP_F_WORD | NOCAP_F_EXIT_RET;
    if ((e->has & NOCAP_F_ENTRY) != 0) {
        *size = 4;
        return (uint8_t *)&e->entry;
    }
    if ((e->has & number) != 0) {
        *size = e->size == 1 || e->size == 2 ? e->size : 4;
        return (uint8_t *)&e->value;
    }
    if (e->data_size > 0 && e->data_size <= 1 << 16) {
        memcpy(bytes, e->data, e->data_size);
        e->data = bytes;
        *size = e->data_size;
        return bytes;
    }
    *size = (e->has & NOCAP_F_SEM) == 0 ? 0 : e->kind == NOCAP_EV_CQ ? 1 : 8;
    return (uint8_t *)&e->sem;
}

/* The change of one event that keeps its place; false: there is no such change of it. */
static inline bool change_event(const struct change *c, struct nocap_event *e,
                                uint8_t bytes[1 << 16])
{
    if (c->kind == CHANGE_BIT) {
        uint64_t size, bit = (uint64_t)c->by;
        uint8_t *value = change_value(e, bytes, &size);
        if (bit >= 8 * size) {
            return false;
        }
        value[bit / 8] ^= (uint8_t)(1U << bit % 8);
        return true;
    }
    bool source = c->kind == CHANGE_FROM;
    uint64_t *addr = source ? &e->saddr : (e->has & NOCAP_F_DADDR) != 0 ? &e->daddr : &e->addr;
    uint64_t has = source                          ? NOCAP_F_SADDR
                   : (e->has & NOCAP_F_DADDR) != 0 ? NOCAP_F_DADDR
                                                   : NOCAP_F_ADDR;
    if ((e->has & has) == 0 || (c->by < 0 && *addr < (uint64_t)-c->by)) {
        return false;
    }
    *addr += (uint64_t)c->by;
    return nocap_event_problem(e) == NULL;
}

/* The run after one change, whose payloads are the run's or in `bytes`; the caller frees the events
 * alone. No events: there is no such change. */
static inline struct run change_one(const struct run *run, const struct change *c,
                                    uint8_t bytes[1 << 16])
{
    struct run out = {.events = malloc((run->count + 1) * sizeof *out.events)};
    assert_non_null(out.events);
    if (c->event >= run->count) {
        return out;
    }
    bool moves = c->kind == CHANGE_EARLY || c->kind == CHANGE_LATE;
    size_t to = moves ? change_place(run, c) : c->event;
    if (moves && (to == c->event || change_is_restated(run, c->event))) {
        return out;
    }
    struct nocap_event changed = run->events[c->event];
    changed.t = run->events[to].t;
    if (c->kind == CHANGE_TWICE) {
        changed.has &= ~NOCAP_F_SEQ;
        changed.seq = 0;
    }
    if ((c->kind == CHANGE_BIT || c->kind == CHANGE_ADDR || c->kind == CHANGE_FROM) &&
        !change_event(c, &changed, bytes)) {
        return out;
    }
    for (size_t i = 0; i < run->count; i++) {
        if (i == to && to < c->event) {
            out.events[out.count++] = changed;
        }
        if (i != c->event || c->kind == CHANGE_TWICE) {
            out.events[out.count++] = run->events[i];
        }
        if (i == to && to >= c->event && c->kind != CHANGE_DROP) {
            out.events[out.count++] = changed;
        }
    }
    return out;
}

#endif
