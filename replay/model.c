#include "replay/model.h"

#include <stdarg.h>
#include <stdio.h>

#include "replay/tile.h"

struct moment now(const struct model *m)
{
    return (struct moment){m->event->index, m->event->t, m->event->by};
}

void diverge(struct model *m, const struct tile *tile, enum nocap_rule rule, struct moment at,
             int thread, const uint64_t *related, const char *expected, const char *observed, ...)
{
    bool multicast = m->event != NULL && (m->event->has & NOCAP_F_TO) != 0;
    if (multicast && m->last_rule == rule && m->last_index == at.index) {
        return; /* the same act at the next tile of its rectangle */
    }
    m->last_rule = rule;
    m->last_index = at.index;
    if (m->diverged == NULL) {
        return;
    }
    char text[256];
    va_list args;
    va_start(args, observed);
    vsnprintf(text, sizeof text, observed, args);
    va_end(args);
    struct nocap_divergence d = {
        .rule = rule,
        .index = at.index,
        .t = at.t,
        .agent = at.agent,
        .thread = (int8_t)thread,
        .expected = expected,
        .observed = text,
    };
    if (tile != NULL) {
        d.has_tile = true;
        d.chip = tile->chip;
        d.at = tile->at;
    }
    for (; *related != END_INDEX && d.related_count < NOCAP_RELATED_MAX; related++) {
        if (*related != NO_INDEX) {
            d.related[d.related_count++] = *related;
        }
    }
    m->diverged(m->context, &d);
}

bool access_byte(const struct access *a, uint64_t addr, uint8_t *v)
{
    if (addr < a->addr || addr - a->addr >= a->known) {
        return false;
    }
    *v = a->bytes[addr - a->addr];
    return true;
}

bool access_word(const struct access *a, uint64_t addr, uint32_t *v)
{
    uint8_t b[4];
    for (unsigned i = 0; i < 4; i++) {
        if (!access_byte(a, addr + i, &b[i])) {
            return false;
        }
    }
    *v = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}
