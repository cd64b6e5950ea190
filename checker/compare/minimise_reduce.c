/* SPDX-License-Identifier: Apache-2.0 */
/* Leaving events out of a trace in memory, group by group. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checker/compare/minimise_private.h"
#include "checker/core/feed.h"
#include "checker/core/selection.h"
#include "formats/blackhole/mailbox.h"
#include "formats/import/import.h"

enum { EVENTS_MAX = 4 << 20, LINE = 64 };
static const uint64_t fed_max = 150000000; /* events in all trials: about half a minute */

/* ---- loading ---- */

static enum nocap_status take(void *context, const struct nocap_event *events, size_t count,
                              struct nocap_error *err)
{
    struct minimise_set *set = context;
    RETURN_ERROR_IF(set->count + count > EVENTS_MAX, err, NOCAP_E_MEMORY,
                    "the finding needs more than %d events: cut the trace first", EVENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct nocap_event *e = LIST_NEXT(set->events, set->count);
        RETURN_ERROR_IF(e == NULL, err, NOCAP_E_MEMORY, "out of memory");
        *e = events[i];
        size_t size = (size_t)e->data_size + e->extra_size;
        uint8_t *bytes = size != 0 ? malloc(size) : NULL;
        RETURN_ERROR_IF(size != 0 && bytes == NULL, err, NOCAP_E_MEMORY, "out of memory");
        if (bytes != NULL && e->data_size != 0) {
            memcpy(bytes, e->data, e->data_size);
        }
        if (bytes != NULL && e->extra_size != 0) {
            memcpy(bytes + e->data_size, e->extra, e->extra_size);
        }
        e->data = bytes; /* the start of what is freed, also without data */
        e->extra = bytes != NULL ? (const char *)bytes + e->data_size : NULL;
        set->count++;
    }
    return NOCAP_OK;
}

static void arm(struct minimise_set *set)
{
    struct nocap_rule_report rules[NOCAP_RULE_COUNT];
    nocap_selection_parse(rules, NULL, NULL);
    nocap_selection_observe(rules, &set->header, set->images.any);
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        set->observable[i] = nocap_selection_judged(&rules[i]);
    }
}

/* What cannot be opened is no news: the check of the whole trace did without it. */
static enum nocap_status open_images(struct minimise_set *set, struct nocap_error *err)
{
    struct nocap_report *notes = calloc(1, sizeof *notes);
    RETURN_ERROR_IF(notes == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = nocap_images_open(
        &set->images, set->check, set->check->firmware_beside, &set->header, notes, err);
    nocap_report_free(notes);
    return status;
}

enum nocap_status minimise_load(struct minimise_set *set, const char *path, struct nocap_error *err)
{
    struct nocap_reader *reader;
    nocap_header_init(&set->header);
    RETURN_IF_FAILED(nocap_import_open(&reader, path, set->check->dense, NULL, err));
    enum nocap_status status = nocap_header_copy(&set->header, nocap_reader_header(reader), err);
    if (status == NOCAP_OK) {
        status = nocap_feed(reader, path, take, NULL, set, err);
    }
    nocap_reader_close(reader);
    RETURN_IF_FAILED(status);
    RETURN_IF_FAILED(open_images(set, err));
    arm(set);
    set->scratch = malloc((set->count + 1) * sizeof *set->scratch);
    set->keep = malloc(set->count + 1);
    set->group = malloc((set->count + 1) * sizeof *set->group);
    RETURN_ERROR_IF(set->scratch == NULL || set->keep == NULL || set->group == NULL, err,
                    NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

void minimise_free(struct minimise_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free((void *)(uintptr_t)set->events[i].data);
    }
    free(set->events);
    free(set->scratch);
    free(set->keep);
    free(set->group);
    free(set->said);
    nocap_images_close(&set->images);
    nocap_header_free(&set->header);
}

/* ---- trials ---- */

struct verdict {
    const struct minimise_goal *goal;
    char **said;
    uint64_t count;
    bool reached, others;
};

static bool minimise_same(const struct nocap_finding *finding, const struct nocap_divergence *d)
{
    return finding->rule == d->rule && finding->chip == d->chip && finding->at.x == d->at.x &&
           finding->at.y == d->at.y && finding->agent == d->agent && finding->thread == d->thread;
}

/* Whether the divergence says what the first one said; the first time it is that one. */
static bool says_the_same(char **said, const struct nocap_divergence *d)
{
    char *text;
    if (asprintf(&text, "%s, not %s", d->expected, d->observed) < 0) {
        return false;
    }
    if (*said == NULL) {
        *said = text;
        return true;
    }
    bool same = strcmp(*said, text) == 0;
    free(text);
    return same;
}

static void hear(void *context, const struct nocap_divergence *divergence)
{
    struct verdict *verdict = context;
    verdict->count++;
    verdict->reached |= minimise_same(&verdict->goal->finding, divergence) &&
                        says_the_same(verdict->said, divergence);
    verdict->others |= !divergence->follows && !verdict->goal->allowed[divergence->rule];
}

/* Whether the events that are kept have the finding and nothing new. */
static enum nocap_status trial(struct minimise_set *set, bool *reached, struct nocap_error *err)
{
    struct verdict verdict = {.goal = set->goal, .said = &set->said};
    const struct nocap_elf_image *firmware[NOCAP_BY_TRISC2 + 1];
    memcpy(firmware, set->images.cores.image, sizeof firmware);
    const struct nocap_engine_options options = {.size = sizeof options,
                                                 .observable = set->observable,
                                                 .diverged = hear,
                                                 .context = &verdict,
                                                 .firmware = firmware,
                                                 .control_code = set->images.by_uc};
    struct nocap_engine *engine;
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (set->keep[i]) {
            set->scratch[count] = set->events[i];
            set->scratch[count].index = count;
            count++;
        }
    }
    set->result->trials++;
    set->fed += count;
    RETURN_IF_FAILED(nocap_engine_new(&engine, &set->header, &options, err));
    enum nocap_status status = nocap_engine_feed(engine, set->scratch, count, err);
    if (status == NOCAP_OK) {
        status = nocap_engine_finish(engine, set->header.open_end == NOCAP_TRUE, err);
    }
    nocap_engine_free(engine);
    set->most = set->result->trials == 1 ? verdict.count : set->most;
    *reached = verdict.reached && !verdict.others && verdict.count <= set->most;
    return status;
}

/* Takes what is not kept out for good. */
static void compact(struct minimise_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (set->keep[i]) {
            set->events[count++] = set->events[i];
        } else {
            free((void *)(uintptr_t)set->events[i].data);
        }
    }
    set->count = count;
}

/* ---- groups ---- */

typedef uint64_t grouping(const struct nocap_event *event);

static uint64_t tile_of(const struct nocap_event *event)
{
    return (uint64_t)event->space << 32 | (uint64_t)event->chip << 16 | (uint64_t)event->at.x << 8 |
           event->at.y;
}

static uint64_t object_of(const struct nocap_event *event)
{
    bool access = event->kind == NOCAP_EV_READ || event->kind == NOCAP_EV_WRITE ||
                  event->kind == NOCAP_EV_MEM;
    uint64_t place = access ? event->addr / LINE : event->kind;
    return tile_of(event) * UINT64_C(0x9e3779b97f4a7c15) + (place << 1 | access);
}

static uint64_t agent_of(const struct nocap_event *event)
{
    return tile_of(event) << 16 | (uint64_t)event->by << 8 | (uint64_t)event->kind << 4 |
           event->thread;
}

/* The start of a launch: GO in a go word. */
static bool is_go(const struct nocap_event *event)
{
    unsigned shift = event->size == 1 ? 0 : 8 * NOCAP_GO_SIGNAL_BYTE;
    return event->kind == NOCAP_EV_WRITE && event->space == NOCAP_SPACE_TILE &&
           (event->has & NOCAP_F_VALUE) != 0 && (event->value >> shift & 0xff) == NOCAP_GO_GO &&
           nocap_layout_from_go_address(event->addr & ~UINT64_C(3)) != NULL;
}

/* Numbers launches: what lies between one GO and the next. */
static uint32_t group_launches(struct minimise_set *set)
{
    uint32_t group = 0;
    for (size_t i = 0; i < set->count; i++) {
        group += is_go(&set->events[i]);
        set->group[i] = group;
    }
    return group + 1;
}

static uint32_t group_events(struct minimise_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        set->group[i] = (uint32_t)i;
    }
    return (uint32_t)set->count;
}

struct keyed {
    uint64_t key;
    uint32_t at;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *k = a, *l = b;
    return k->key != l->key ? (k->key < l->key ? -1 : 1) : k->at < l->at ? -1 : k->at > l->at;
}

/* Numbers groups of equal keys; 0 if out of memory, which leaves the events as they are. */
static uint32_t group_by(struct minimise_set *set, grouping *of)
{
    struct keyed *keys = malloc((set->count + 1) * sizeof *keys);
    uint32_t group = 0;
    if (keys == NULL || set->count == 0) {
        free(keys);
        return 0;
    }
    for (size_t i = 0; i < set->count; i++) {
        keys[i] = (struct keyed){of(&set->events[i]), (uint32_t)i};
    }
    qsort(keys, set->count, sizeof *keys, by_key);
    for (size_t i = 0; i < set->count; i++) {
        group += i > 0 && keys[i].key != keys[i - 1].key;
        set->group[keys[i].at] = group;
    }
    free(keys);
    return group + 1;
}

/* ---- the search ---- */

/* Tries without groups `from` to `to`; if the finding stays, so be it. */
static enum nocap_status leave_out(struct minimise_set *set, uint32_t from, uint32_t to,
                                   bool *shrunk, struct nocap_error *err)
{
    bool reached, any = false;
    for (size_t i = 0; i < set->count; i++) {
        set->keep[i] = set->group[i] < from || set->group[i] >= to;
        any |= !set->keep[i];
    }
    if (!any) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(trial(set, &reached, err));
    if (reached) {
        size_t count = 0;
        for (size_t i = 0; i < set->count; i++) { /* groups move with their events */
            if (set->keep[i]) {
                set->group[count++] = set->group[i];
            }
        }
        compact(set);
        *shrunk = true;
    }
    return NOCAP_OK;
}

/* Halves, quarters and so on down to single groups: what is not needed goes. */
static enum nocap_status reduce_groups(struct minimise_set *set, uint32_t groups, bool *shrunk,
                                       struct nocap_error *err)
{
    for (uint32_t size = (groups + 1) / 2; size > 0 && groups > 1; size /= 2) {
        for (uint32_t to = groups; to > 0; to = to > size ? to - size : 0) {
            if (set->fed > fed_max) {
                set->result->stopped = true;
                return NOCAP_OK;
            }
            RETURN_IF_FAILED(leave_out(set, to > size ? to - size : 0, to, shrunk, err));
        }
    }
    return NOCAP_OK;
}

/* Without knowing the state at power-on, boot need not stay to explain it. */
static enum nocap_status forget_power_on(struct minimise_set *set, struct nocap_error *err)
{
    enum nocap_tristate complete = set->header.complete;
    bool reached;
    set->header.complete = NOCAP_FALSE;
    RETURN_IF_FAILED(trial(set, &reached, err));
    set->header.complete = reached ? NOCAP_FALSE : complete;
    return NOCAP_OK;
}

enum nocap_status minimise_reduce(struct minimise_set *set, struct nocap_error *err)
{
    bool shrunk = true, reached;
    memset(set->keep, true, set->count);
    RETURN_IF_FAILED(trial(set, &reached, err)); /* hears what must be said */
    RETURN_IF_FAILED(forget_power_on(set, err));
    while (shrunk && !set->result->stopped) {
        shrunk = false;
        RETURN_IF_FAILED(reduce_groups(set, group_launches(set), &shrunk, err));
        RETURN_IF_FAILED(reduce_groups(set, group_by(set, tile_of), &shrunk, err));
        RETURN_IF_FAILED(reduce_groups(set, group_by(set, object_of), &shrunk, err));
        RETURN_IF_FAILED(reduce_groups(set, group_by(set, agent_of), &shrunk, err));
        RETURN_IF_FAILED(reduce_groups(set, group_events(set), &shrunk, err));
    }
    return NOCAP_OK;
}
