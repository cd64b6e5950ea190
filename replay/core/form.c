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

/* The kind that a line may have meant; NULL: none is near. */
static const char *meant_kind(const char *text, size_t size)
{
    static const char key[] = "\"ev\":\"";
    static const struct {
        const char *name;
        enum nocap_kind kind;
    } others[] = {{"store\"", NOCAP_EV_WRITE}, {"load\"", NOCAP_EV_READ}};
    const char *name = size != 0 ? memmem(text, size, key, sizeof key - 1) : NULL;
    if (name == NULL) {
        return NULL;
    }
    name += sizeof key - 1;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t length = strlen(others[i].name);
        if (size - (size_t)(name - text) >= length && memcmp(name, others[i].name, length) == 0) {
            return nocap_kind_name(others[i].kind);
        }
    }
    const char *end = memchr(name, '"', size - (size_t)(name - text));
    return end != NULL
               ? nocap_nearest(name, (size_t)(end - name), nocap_kind_name, NOCAP_EV_UNKNOWN)
               : NULL;
}

/* False: it is of a kind that is none of this version's, and need not have done anything. */
static __attribute__((cold)) bool unknown_event(struct model *m, const struct nocap_event *e)
{
    enum { SHOWN = 120 };
    const char *text = (const char *)e->data, *nearest = meant_kind(text, e->data_size);
    char hint[SHOWN] = "; known are";
    size_t used = strlen(hint);
    if (nearest != NULL) {
        snprintf(hint, sizeof hint, " - is `%s` meant?", nearest);
    }
    for (unsigned k = 0; nearest == NULL && k < NOCAP_EV_UNKNOWN && used < sizeof hint; k++) {
        used += (size_t)snprintf(hint + used, sizeof hint - used, " %s", nocap_kind_name(k));
    }
    CHECK(m, NULL, TRC_006, false, NO_REFS, "an event kind of this version",
          "unknown kind of event: %.*s%s", e->data_size < SHOWN ? (int)e->data_size : SHOWN, text,
          hint);
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
