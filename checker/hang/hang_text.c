/* SPDX-License-Identifier: Apache-2.0 */
/* For a tired reader: the verdict, the root, the chain that leads to it, what may have
 * caused it, the state of all tiles, the last events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/color.h"
#include "base/json_text.h"
#include "checker/hang/hang_private.h"
#include "checker/report/lines.h"
#include "checker/report/results.h"
#include "formats/blackhole/tile_map.h"

enum { DAMAGE_SHOWN = 3, ROOTS_SHOWN = 8, WAITS_SHOWN = 12, CAUSES_SHOWN = 5, TILES_SHOWN = 12 };

static const char *const colors[NOCAP_HANG_VERDICT_COUNT] = {
    [NOCAP_HANG_NONE] = COLOR_GREEN,
    [NOCAP_HANG_RUNNING] = COLOR_GREEN,
    [NOCAP_HANG_INCONCLUSIVE] = COLOR_YELLOW,
    [NOCAP_HANG_HUNG] = COLOR_ALARM,
};

static const char *const verdicts[NOCAP_HANG_VERDICT_COUNT] = {
    [NOCAP_HANG_NONE] = "NOT HUNG",
    [NOCAP_HANG_RUNNING] = "RUNNING",
    [NOCAP_HANG_INCONCLUSIVE] = "INCONCLUSIVE",
    [NOCAP_HANG_HUNG] = "HUNG",
};

/* What is missing, and what follows from that. */
static void print_damage(FILE *out, const struct nocap_hang *h)
{
    size_t kept = h->damage.count < NOCAP_DAMAGE_KEPT ? h->damage.count : NOCAP_DAMAGE_KEPT;
    bool blocks = false;
    for (size_t i = 0; i < kept; i++) {
        const struct nocap_damage *d = &h->damage.damage[i];
        blocks |= d->kind == NOCAP_DAMAGE_BLOCK;
        if (i < DAMAGE_SHOWN) {
            fprintf(out, "  damaged at event %" PRIu64 ": %s\n", d->index, d->text);
        }
    }
    if (h->damage.count > DAMAGE_SHOWN) {
        fprintf(out, "  places damaged beside these: %zu\n", h->damage.count - DAMAGE_SHOWN);
    }
    if (h->report->dropped > 0) {
        fprintf(out, "  events dropped while capturing: %" PRIu64 "\n", h->report->dropped);
    }
    if (blocks || h->report->dropped > 0) {
        fputs("  only events after the loss were checked\n", out);
    }
}

static void print_head(FILE *out, const struct nocap_hang *h, bool color)
{
    const char *unit = nocap_time_unit_name(h->report->time_unit);
    color_put(out, color, colors[h->verdict], verdicts[h->verdict]);
    fprintf(out, ": %s", h->why);
    if (h->report->truncated) {
        fprintf(out, "; the trace is cut short after event %" PRIu64, h->report->cut_after);
    }
    fputc('\n', out);
    if (h->offline) {
        fprintf(out, "  %s, from where its jobs are blocked\n", h->report->path);
        return;
    }
    fprintf(out, "  %s, %" PRIu64 " events", h->report->path, h->report->events);
    if (h->wait_count > 0) {
        char quiet[NOCAP_BESIDE_TEXT], gap[NOCAP_BESIDE_TEXT];
        fprintf(out, "; no progress for %" PRIu64 " %s%s (longest earlier gap: %" PRIu64 "%s)",
                h->quiet, unit, nocap_time_beside(quiet, h->report, h->quiet), h->expected,
                nocap_time_beside(gap, h->report, h->expected));
    }
    fputc('\n', out);
    print_damage(out, h);
}

/* Since when, and how far it has come. */
static void print_progress(FILE *out, const struct nocap_wait *w)
{
    if (w->index != UINT64_MAX) {
        fprintf(out, ", since #%" PRIu64, w->index);
        if (w->since != UINT64_MAX) {
            fprintf(out, " t %" PRIu64, w->since);
        }
    }
    if (w->counted) {
        fprintf(out, " (has %" PRIu64 " of %" PRIu64 ")", w->have, w->need);
    }
}

/* `identical`: how many roots stand there for the same reason, this one included. */
static void print_root(FILE *out, const struct nocap_hang *h, size_t root, size_t identical)
{
    const struct nocap_hang_party *p = &h->parties[root];
    char name[64], more[40] = "";
    nocap_party_name(&p->id, name, sizeof name);
    if (identical > 1) {
        snprintf(more, sizeof more, " (+%zu identical)", identical - 1);
    }
    if (p->wait == SIZE_MAX) {
        fprintf(out, "root: %s%s should act; what it does is not observed\n", name, more);
        return;
    }
    const struct nocap_hang_wait *w = &h->waits[p->wait];
    struct nocap_xy logical;
    char core[NOCAP_CORE_TEXT] = "";
    bool worker = p->id.has_tile && nocap_logical_of_tile(h->report->board, p->id.at, &logical);
    if (worker) {
        nocap_core_text(h->report->board, p->id.at, core);
    }
    fprintf(out, "root: %s%s%s%s, %s: %s", name, worker ? ", " : "", core, more, w->state, w->what);
    print_progress(out, &w->wait);
    fprintf(out, "%s\n", p->in_cycle ? " (part of a wait cycle)" : "");
    if (w->release != NULL) {
        fprintf(out, "      unblocked by: %s\n", w->release);
    }
    if (w->written != NULL) {
        fprintf(out, "      where it looks: %s\n", w->written);
    }
    if (p->source != NULL) {
        fprintf(out, "      last seen at %s\n", p->source);
    }
}

/* Cores of different tiles that stand there for the same reason, at a moment that is not known. */
static bool same_cause(const struct nocap_hang *h, size_t i, size_t k)
{
    const struct nocap_hang_party *p = &h->parties[i], *q = &h->parties[k];
    if (!p->root || !q->root || p->id.agent != q->id.agent || p->in_cycle || q->in_cycle ||
        p->source != NULL || q->source != NULL || (p->wait == SIZE_MAX) != (q->wait == SIZE_MAX)) {
        return false;
    }
    if (p->wait == SIZE_MAX) {
        return true;
    }
    const struct nocap_hang_wait *v = &h->waits[p->wait], *w = &h->waits[q->wait];
    return v->wait.index == w->wait.index && strcmp(v->what, w->what) == 0 &&
           strcmp(v->state, w->state) == 0;
}

/* How many are of the root's cause; 0: it is no root, or stands for another that was before it. */
static size_t count_identical(const struct nocap_hang *h, size_t root, size_t first)
{
    size_t count = h->parties[root].root;
    for (size_t i = 0; i < h->party_count && count > 0; i++) {
        if (i != root && same_cause(h, i, root)) {
            count = i == first || (i < root && root != first) ? 0 : count + 1;
        }
    }
    return count;
}

/* The kind of which there are fewest, SIZE_MAX: none is left. */
static size_t rarest(const struct nocap_hang *h, const size_t *identical, size_t first)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < h->party_count; i++) {
        if (i != first && identical[i] > 0 &&
            (least == SIZE_MAX || identical[i] < identical[least])) {
            least = i;
        }
    }
    return least;
}

/* The root, then the others: the fewer stand alike, the more they tell. */
static void print_roots(FILE *out, const struct nocap_hang *h)
{
    size_t first = nocap_hang_root(h), shown = 1, more = 0;
    size_t *identical = calloc(h->party_count + 1, sizeof *identical);
    if (first == SIZE_MAX || identical == NULL) {
        free(identical);
        return;
    }
    for (size_t i = 0; i < h->party_count; i++) {
        identical[i] = count_identical(h, i, first);
    }
    print_root(out, h, first, identical[first]);
    for (size_t i; (i = rarest(h, identical, first)) != SIZE_MAX; identical[i] = 0) {
        if (shown < ROOTS_SHOWN) {
            print_root(out, h, i, identical[i]);
            shown++;
        } else {
            more += identical[i];
        }
    }
    if (more > 0) {
        fprintf(out, "and %zu more blocked\n", more);
    }
    free(identical);
}

static void print_wait(FILE *out, const struct nocap_hang_wait *w)
{
    char who[64], by[64];
    fprintf(out, "  %s waits for %s: %s", nocap_party_name(&w->wait.who, who, sizeof who),
            nocap_party_name(&w->wait.by, by, sizeof by), w->what);
    print_progress(out, &w->wait);
    if (w->written != NULL) {
        fprintf(out, " [%s]", w->written);
    }
    fputc('\n', out);
}

static bool in_chain(const struct nocap_hang *h, size_t wait)
{
    for (size_t i = 0; i < h->chain_count; i++) {
        if (h->chain[i] == wait) {
            return true;
        }
    }
    return false;
}

static void print_waits(FILE *out, const struct nocap_hang *h)
{
    size_t shown = 0, more = 0;
    if (h->chain_count > 0) {
        fputs("chain:\n", out);
    }
    for (size_t i = 0; i < h->chain_count; i++) {
        print_wait(out, &h->waits[h->chain[i]]);
    }
    for (size_t i = 0; i < h->wait_count; i++) {
        if (h->waits[i].by == SIZE_MAX || in_chain(h, i)) {
            continue;
        }
        if (shown < WAITS_SHOWN) {
            fputs(shown++ == 0 ? "others:\n" : "", out);
            print_wait(out, &h->waits[i]);
        } else {
            more++;
        }
    }
    if (more > 0) {
        fprintf(out, "  and %zu more\n", more);
    }
}

static void print_causes(FILE *out, const struct nocap_hang *h)
{
    for (size_t i = 0; i < h->cause_count && i < CAUSES_SHOWN; i++) {
        const struct nocap_finding *f = h->causes[i];
        fprintf(out, "%s  %s ", i == 0 ? "likely causes:\n" : "", nocap_rules[f->rule].id);
        nocap_finding_text(out, h->report, f);
        fputc('\n', out);
    }
    if (h->cause_count > CAUSES_SHOWN) {
        fprintf(out, "  findings beside these: %zu, see nocap %s\n", h->cause_count - CAUSES_SHOWN,
                h->offline ? "aie lint" : "check");
    }
}

static void print_tiles(FILE *out, const struct nocap_hang *h)
{
    for (size_t i = 0; i < h->tiles_count && i < TILES_SHOWN; i++) {
        const struct nocap_hang_tiles *t = &h->tiles[i];
        fprintf(out, "%s  %zu core%s (%s): %s\n", i == 0 ? "cores:\n" : "", t->count,
                t->count > 1 ? "s" : "", t->places, t->state);
    }
    if (h->tiles_count > TILES_SHOWN) {
        fprintf(out, "  states beside these: %zu, see nocap replay\n",
                h->tiles_count - TILES_SHOWN);
    }
}

static void print_recovered(FILE *out, const struct nocap_hang *h)
{
    const struct nocap_slow_wait *s = &h->slow;
    char took[NOCAP_BESIDE_TEXT], others[NOCAP_BESIDE_TEXT], place[64];
    if (s->in_memory) {
        snprintf(place, sizeof place, "for a change of its memory at 0x%" PRIx64, s->addr);
    } else {
        snprintf(place, sizeof place, "for DONE at 0x%" PRIx64 " of worker core %u,%u", s->addr,
                 s->at.x, s->at.y);
    }
    fprintf(out,
            "stalled and recovered: the host waited %" PRIu64 " %s%s %s, #%" PRIu64 " to #%" PRIu64
            "; none of its %" PRIu64 " other waits took more than %" PRIu64
            "%s: see --at of a time within\n",
            s->took, nocap_time_unit_name(h->report->time_unit),
            nocap_time_beside(took, h->report, s->took), place, s->index, s->until, s->count - 1,
            s->others, nocap_time_beside(others, h->report, s->others));
}

enum nocap_status nocap_hang_text(FILE *out, const struct nocap_hang *h, bool color,
                                  struct nocap_error *err)
{
    print_head(out, h, color);
    if (h->gave_up) {
        fprintf(out,
                "the host timed out waiting for core %u,%u, the last time at #%" PRIu64
                ": see --at %" PRIu64 "\n",
                h->last_look.at.x, h->last_look.at.y, h->last_look.index, h->last_look.t);
    }
    if (h->recovered) {
        print_recovered(out, h);
    }
    if (h->verdict != NOCAP_HANG_NONE) {
        print_roots(out, h);
        print_waits(out, h);
        print_causes(out, h);
        print_tiles(out, h);
        for (size_t i = 0; i < h->event_count; i++) {
            fprintf(out, "%s%s\n", i == 0 ? "last events about the root:\n" : "", h->events[i]);
        }
    }
    for (size_t i = 0; i < h->report->note_count; i++) {
        if (nocap_hang_has_note(h, i)) {
            fprintf(out, "note: %s\n", h->report->notes[i]);
        }
    }
    return nocap_flush(out, "the answer", err);
}
