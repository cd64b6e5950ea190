/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an event itself can be used: rules TRC. Whoever asks how often they were exercised knows
 * how many events there are. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "formats/trace/jsonl.h"
#include "replay/core/engine_private.h"

/* What is no event: why, and the beginning of its line. It has no time either. */
static __attribute__((cold)) void malformed_event(struct model *m, const struct nocap_event *e)
{
    enum { SHOWN = 120, WHY_MAX = 160 };
    char why[WHY_MAX];
    nocap_jsonl_explain((const char *)e->data, e->data_size, why, sizeof why);
    CHECK(m, NULL, TRC_005, false, NO_REFS, "a well-formed event", "%s: %.*s%s", why,
          e->data_size < SHOWN ? (int)e->data_size : SHOWN, (const char *)e->data,
          e->data_size > SHOWN ? ".." : "");
}

struct kind_name {
    const char *text; /* not terminated */
    size_t size;
};

/* What a line calls its kind; of no bytes: nothing that could be read. */
static struct kind_name said_kind(const struct nocap_event *e)
{
    static const char key[] = "\"ev\":\"";
    const char *text = (const char *)e->data, *end = NULL;
    const char *name = e->data_size != 0 ? memmem(text, e->data_size, key, sizeof key - 1) : NULL;
    if (name != NULL) {
        name += sizeof key - 1;
        end = memchr(name, '"', e->data_size - (size_t)(name - text));
    }
    return (struct kind_name){name, end != NULL ? (size_t)(end - name) : 0};
}

/* The kind that may be meant; NULL: none is near. */
static const char *meant_kind(struct kind_name said)
{
    static const struct {
        const char *name;
        enum nocap_kind kind;
    } others[] = {{"store", NOCAP_EV_WRITE}, {"load", NOCAP_EV_READ}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (said.size == strlen(others[i].name) &&
            memcmp(said.text, others[i].name, said.size) == 0) {
            return nocap_kind_name(others[i].kind);
        }
    }
    return said.size != 0 ? nocap_nearest(said.text, said.size, nocap_kind_name, NOCAP_EV_UNKNOWN)
                          : NULL;
}

/* The first event of this name, of which the others are no faults of their own; the last place is
 * of all further names. */
static struct unknown_kind *first_of(struct model *m, struct kind_name said)
{
    const uint64_t hash = nocap_fnv1a64(NOCAP_FNV1A64_START, (const uint8_t *)said.text, said.size);
    struct unknown_kind *k = m->unknown_kinds;
    while (k < m->unknown_kinds + UNKNOWN_KINDS - 1 && k->since != FAULT_NONE && k->hash != hash) {
        k++;
    }
    k->hash = hash;
    return k;
}

/* False: it is of a kind that is none of this version's, and need not have done anything. */
static __attribute__((cold)) bool unknown_event(struct model *m, const struct nocap_event *e)
{
    enum { SHOWN = 120 };
    const struct kind_name said = said_kind(e);
    struct unknown_kind *first = first_of(m, said);
    const char *nearest = meant_kind(said);
    char hint[SHOWN] = "; known are";
    size_t used = strlen(hint);
    if (nearest != NULL) {
        snprintf(hint, sizeof hint, " - is `%s` meant?", nearest);
    }
    for (unsigned k = 0; nearest == NULL && k < NOCAP_EV_UNKNOWN && used < sizeof hint; k++) {
        used += (size_t)snprintf(hint + used, sizeof hint - used, " %s", nocap_kind_name(k));
    }
    CHECK_AFTER(m, NULL, TRC_006, first->since, false, NO_REFS, "an event kind of this version",
                "unknown kind of event: %.*s%s", e->data_size < SHOWN ? (int)e->data_size : SHOWN,
                (const char *)e->data, hint);
    first->since = first->since != FAULT_NONE ? first->since : m->fault;
    return nearest != NULL;
}

static __attribute__((cold)) void late_event(struct model *m, const struct nocap_event *e,
                                             uint64_t before)
{
    CHECK(m, NULL, TRC_004, false, NO_REFS, "time that does not decrease within a source",
          "time %llu after time %llu in source %u", (unsigned long long)e->t,
          (unsigned long long)before, e->src);
}

static __attribute__((cold)) void wrong_event(struct model *m, const char *problem)
{
    CHECK(m, NULL, TRC_005, false, NO_REFS, "every field that the event needs, none out of range",
          "%s", problem);
}

void form_judge(struct nocap_engine *engine, const struct nocap_event *e, struct form *form)
{
    *form = (struct form){.usable = e->kind != NOCAP_EV_MALFORMED && e->kind != NOCAP_EV_UNKNOWN};
    if (e->kind != NOCAP_EV_MALFORMED) {
        form->late = !source_clock_tick(&engine->clock, e, &form->before);
    }
    if (form->usable) {
        form->problem = nocap_shapes_problem(&engine->shapes, engine->model.header, e);
        form->usable = form->problem == NULL;
    }
}

bool form_tell(struct model *m, const struct nocap_event *e, const struct form *form)
{
    if (form->late) {
        late_event(m, e, form->before);
    }
    switch (e->kind) {
    case NOCAP_EV_MALFORMED: malformed_event(m, e); return true;
    case NOCAP_EV_UNKNOWN: return unknown_event(m, e);
    default: break;
    }
    if (form->problem != NULL) {
        wrong_event(m, form->problem);
    }
    return form->problem != NULL;
}

bool form_access(const struct model *m, const struct nocap_event *e, const struct form *form,
                 struct nocap_event *access)
{
    if (form->problem == NULL || (e->kind != NOCAP_EV_WRITE && e->kind != NOCAP_EV_READ)) {
        return false;
    }
    *access = *e;
    access->has &= ~(NOCAP_F_VALUE | NOCAP_F_DATA | NOCAP_F_HEAD);
    return nocap_header_event_problem(m->header, access) == NULL;
}
