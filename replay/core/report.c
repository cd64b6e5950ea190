/* SPDX-License-Identifier: Apache-2.0 */
#include "base/singular.h"
#include "replay/core/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "replay/core/tile.h"

static void fill(struct nocap_divergence *d, const struct tile *tile, const uint64_t *related)
{
    if (tile != NULL) {
        d->has_tile = true;
        d->chip = tile->chip;
        d->at = tile->at;
    }
    for (; *related != END_INDEX && d->related_count < NOCAP_RELATED_MAX; related++) {
        if (*related != NO_INDEX) {
            d->related[d->related_count++] = *related;
        }
    }
}

const char *text_with_number(char text[NUMBER_TEXT], const char *format, uint32_t number)
{
    const char *place = strchr(format, '%');
    snprintf(text, NUMBER_TEXT, place[1] == 'x' ? "%.*s%x%s" : "%.*s%u%s", (int)(place - format),
             format, number, place + 2);
    return text;
}

bool asked_for(const struct model *m, const struct tile *tile)
{
    return __builtin_expect(m->has_focus, 0) && tile != NULL && nocap_xy_equal(tile->at, m->focus);
}

void report_violation(struct model *m, const struct tile *tile, enum nocap_rule rule,
                      struct event_ref at, int thread, const uint64_t *related,
                      const char *expected, const char *observed, ...)
{
    m->fault = m->unreported[rule];
    if (m->fault != FAULT_NONE) {
        return;
    }
    bool multicast = m->event != NULL && (m->event->has & NOCAP_F_TO) != 0;
    if (multicast && m->reported[rule] == at.index + 1 && !asked_for(m, tile)) {
        m->fault = m->faults;
        return; /* the same act at the next tile of its rectangle */
    }
    m->reported[rule] = at.index + 1;
    char text[OBSERVED_TEXT];
    va_list args;
    va_start(args, observed);
    vsnprintf(text, sizeof text, observed, args);
    va_end(args);
    text_singular(text);
    bool consequence = m->follows != FAULT_NONE;
    m->fault = consequence                        ? m->follows
               : m->faults < FAULT_UNREPORTED - 1 ? ++m->faults
                                                  : m->faults;
    struct nocap_divergence d = {
        .rule = rule,
        .fault = m->fault,
        .follows = consequence,
        .harmless = m->harmless,
        .present = m->event != NULL ? m->event->index : UINT64_MAX,
        .now = m->event != NULL ? m->event->t : UINT64_MAX,
        .src = m->event != NULL ? m->event->src : 0,
        .index = at.index,
        .t = at.t,
        .chip = m->event != NULL ? m->event->chip : 0,
        .agent = at.agent,
        .thread = (int8_t)thread,
        .expected = expected,
        .observed = text,
        .seen = m->seen,
    };
    fill(&d, tile, related);
    if (m->withhold != NULL) {
        m->withhold(m, tile, &d);
    } else if (m->diverged != NULL) {
        m->diverged(m->context, &d);
    }
}
