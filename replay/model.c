#include "replay/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/tile.h"

struct moment now(const struct model *m)
{
    return (struct moment){m->event->index, m->event->t, m->event->by, m->turn};
}

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

/* Keeps a finding until it is known whether the tile's BRISC runs. */
static void defer(struct model *m, struct tile *tile, const struct nocap_divergence *d)
{
    if (tile->deferred == NULL) {
        tile->deferred = calloc(1, sizeof *tile->deferred);
        m->out_of_memory |= tile->deferred == NULL;
    }
    struct deferred *list = tile->deferred;
    if (list != NULL && list->count < DEFERRED_MAX) {
        list->findings[list->count] = *d;
        snprintf(list->texts[list->count++], DEFERRED_TEXT, "%s", d->observed);
    }
}

void deferred_tell(struct model *m, struct tile *tile)
{
    struct deferred *list = tile->deferred;
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        list->findings[i].observed = list->texts[i];
        if (m->diverged != NULL) {
            m->diverged(m->context, &list->findings[i]);
        }
    }
    deferred_drop(tile);
}

void deferred_drop(struct tile *tile)
{
    free(tile->deferred);
    tile->deferred = NULL;
}

bool told_now(const struct model *m, enum nocap_rule first, enum nocap_rule last)
{
    uint64_t present = m->event->index + 1;
    if (m->told_at != present) {
        return false;
    }
    for (unsigned rule = first; rule <= (unsigned)last; rule++) {
        if (m->told[rule] == present) {
            return true;
        }
    }
    return false;
}

void diverge(struct model *m, const struct tile *tile, enum nocap_rule rule, struct moment at,
             int thread, const uint64_t *related, const char *expected, const char *observed, ...)
{
    bool multicast = m->event != NULL && (m->event->has & NOCAP_F_TO) != 0;
    if (multicast && m->told[rule] == at.index + 1) {
        return; /* the same act at the next tile of its rectangle */
    }
    m->told[rule] = at.index + 1;
    m->told_at = m->event != NULL ? m->event->index + 1 : 0;
    char text[DEFERRED_TEXT];
    va_list args;
    va_start(args, observed);
    vsnprintf(text, sizeof text, observed, args);
    va_end(args);
    struct nocap_divergence d = {
        .rule = rule,
        .index = at.index,
        .t = at.t,
        .chip = m->event != NULL ? m->event->chip : 0,
        .agent = at.agent,
        .thread = (int8_t)thread,
        .expected = expected,
        .observed = text,
    };
    fill(&d, tile, related);
    if (m->deferring != NULL && m->deferring == tile) {
        defer(m, m->deferring, &d);
    } else if (m->diverged != NULL) {
        m->diverged(m->context, &d);
    }
}

bool may_store(const struct access *a, uint64_t addr, uint32_t mask, uint32_t value)
{
    uint32_t v;
    return touches(a, addr, 4) && (!access_word(a, addr, &v) || (v & mask) == value);
}
