/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/json_text.h"
#include "checker/hang/hang_private.h"
#include "checker/report/results.h"

/* A job of a control processor is an agent of its own: uc0/job10. */
static void put_agent(struct nocap_json *json, const char *key, const struct nocap_party *p)
{
    char text[40];
    snprintf(text, sizeof text, p->job >= 0 ? "%s/job%d" : "%s", nocap_agent_name(p->agent),
             p->job);
    nocap_json_text(json, key, text);
}

static void put_party(struct nocap_json *json, const struct nocap_party *p)
{
    put_agent(json, "agent", p);
    nocap_json_number_if(json, "chip", p->chip != 0, p->chip);
    if (p->has_tile) {
        nocap_json_number(json, "x", p->at.x);
        nocap_json_number(json, "y", p->at.y);
    }
    nocap_json_number_if(json, "uc", p->agent >= NOCAP_BY_UC0, p->agent - NOCAP_BY_UC0);
    nocap_json_number_if(json, "job", p->job >= 0, (uint64_t)p->job);
}

static void put_by(struct nocap_json *json, const struct nocap_hang_wait *w)
{
    const struct nocap_party *p = &w->wait.by;
    if (p->agent == NOCAP_BY_NONE) {
        return;
    }
    put_agent(json, "by", p);
    nocap_json_number_if(json, "by_chip", p->chip != 0, p->chip);
    if (p->has_tile) {
        nocap_json_number(json, "by_x", p->at.x);
        nocap_json_number(json, "by_y", p->at.y);
    }
    nocap_json_number_if(json, "by_job", p->job >= 0, (uint64_t)p->job);
}

static void put_since(struct nocap_json *json, const struct nocap_wait *w)
{
    nocap_json_number_if(json, "since", w->since != UINT64_MAX && w->index != UINT64_MAX, w->since);
    nocap_json_number_if(json, "index", w->index != UINT64_MAX, w->index);
    if (w->has_place) {
        nocap_json_number(json, "page", w->page);
        nocap_json_number(json, "off", w->off);
    }
    nocap_json_number_if(json, "thread", w->thread >= 0, (uint64_t)w->thread);
}

/* Of one that waits, and of a root. */
static void put_facts(struct nocap_json *json, const struct nocap_hang_wait *w)
{
    nocap_json_text_if(json, "release", w->release != NULL, w->release);
    nocap_json_text_if(json, "written", w->written != NULL, w->written);
    if (w->wait.counted) {
        nocap_json_number(json, "have", w->wait.have);
        nocap_json_number(json, "need", w->wait.need);
    }
}

static void put_waiting(struct nocap_json *json, const struct nocap_hang *h)
{
    nocap_json_array(json, "waiting");
    for (size_t i = 0; i < h->wait_count; i++) {
        const struct nocap_hang_wait *w = &h->waits[i];
        if (w->by == SIZE_MAX && w->release == NULL && !w->wait.has_place) {
            continue; /* it waits for nothing that is known: see root */
        }
        nocap_json_map(json, NULL);
        put_party(json, &w->wait.who);
        nocap_json_text(json, "for", w->what);
        put_by(json, w);
        put_since(json, &w->wait);
        nocap_json_text_if(json, "why", w->wait.why != NULL, w->wait.why);
        nocap_json_text(json, "state", w->state);
        put_facts(json, w);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

static void put_roots(struct nocap_json *json, const struct nocap_hang *h)
{
    nocap_json_array(json, "root");
    for (size_t i = 0; i < h->party_count; i++) {
        const struct nocap_hang_party *p = &h->parties[i];
        const struct nocap_hang_wait *w = p->wait != SIZE_MAX ? &h->waits[p->wait] : NULL;
        if (!p->root) {
            continue;
        }
        nocap_json_map(json, NULL);
        put_party(json, &p->id);
        nocap_json_text(json, "state", w != NULL ? w->state : "not observed");
        nocap_json_text(json, "reason",
                        w != NULL ? w->what : "it should act, and what it does is not observed");
        nocap_json_text(json, "verdict", nocap_hang_verdict_name(p->verdict));
        nocap_json_bool(json, "cycle", p->in_cycle);
        if (w != NULL) {
            put_since(json, &w->wait);
            put_facts(json, w);
        }
        nocap_json_text_if(json, "source", p->source != NULL, p->source);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

static void put_chain(struct nocap_json *json, const struct nocap_hang *h)
{
    char name[64];
    size_t root = nocap_hang_root(h);
    nocap_json_array(json, "chain");
    if (h->chain_count == 0 && root != SIZE_MAX) {
        nocap_json_text(json, NULL, nocap_party_name(&h->parties[root].id, name, sizeof name));
    }
    for (size_t i = 0; i < h->chain_count; i++) {
        const struct nocap_hang_wait *w = &h->waits[h->chain[i]];
        nocap_json_text(json, NULL, nocap_party_name(&w->wait.who, name, sizeof name));
        if (i + 1 == h->chain_count) {
            nocap_json_text(json, NULL, nocap_party_name(&w->wait.by, name, sizeof name));
        }
    }
    nocap_json_array_end(json);
}

static void put_causes(struct nocap_json *json, const struct nocap_hang *h)
{
    nocap_json_array(json, "causes");
    for (size_t i = 0; i < h->cause_count; i++) {
        const struct nocap_finding *f = h->causes[i];
        nocap_json_map(json, NULL);
        nocap_finding_json(json, f);
        if (f->place == NOCAP_PLACE_PAGE) { /* what waits is named by its agent */
            nocap_json_text(json, "agent", nocap_agent_name(f->agent));
        }
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

static void put_tiles(struct nocap_json *json, const struct nocap_hang *h)
{
    nocap_json_array(json, "tiles");
    for (size_t i = 0; i < h->tiles_count; i++) {
        nocap_json_map(json, NULL);
        nocap_json_number(json, "count", h->tiles[i].count);
        nocap_json_text(json, "places", h->tiles[i].places);
        nocap_json_text(json, "state", h->tiles[i].state);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
    nocap_json_texts(json, "events", h->events, h->event_count);
}

static void put_damage(struct nocap_json *json, const struct nocap_hang *h)
{
    nocap_json_bool(json, "truncated", h->report->truncated);
    nocap_json_number(json, "dropped", h->report->dropped);
    nocap_json_array(json, "damage");
    for (size_t i = 0; i < h->damage.count && i < NOCAP_DAMAGE_KEPT; i++) {
        const struct nocap_damage *d = &h->damage.damage[i];
        nocap_json_map(json, NULL);
        nocap_json_number(json, "index", d->index);
        nocap_json_number(json, "offset", d->offset);
        nocap_json_text(json, "text", d->text);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

enum nocap_status nocap_hang_json(FILE *out, const struct nocap_hang *h, struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_hang", 1);
    nocap_json_bool(&json, "hung", h->verdict == NOCAP_HANG_HUNG);
    nocap_json_text(&json, "verdict", nocap_hang_verdict_name(h->verdict));
    nocap_json_text(&json, "why", h->why);
    nocap_json_bool(&json, "hardware", h->wedged);
    nocap_json_number(&json, "t_last", h->report->t_last);
    nocap_json_number(&json, "end", h->end);
    nocap_json_number(&json, "quiet", h->quiet);
    nocap_json_number(&json, "expected", h->expected);
    put_damage(&json, h);
    if (h->gave_up) {
        nocap_json_map(&json, "gave_up");
        nocap_json_number(&json, "x", h->last_look.at.x);
        nocap_json_number(&json, "y", h->last_look.at.y);
        nocap_json_number(&json, "index", h->last_look.index);
        nocap_json_number(&json, "t", h->last_look.t);
        nocap_json_map_end(&json);
    }
    if (h->recovered) {
        nocap_json_map(&json, "recovered");
        nocap_json_number(&json, "index", h->slow.index);
        nocap_json_number(&json, "until", h->slow.until);
        nocap_json_number(&json, "took", h->slow.took);
        nocap_json_number(&json, "others", h->slow.others);
        nocap_json_number(&json, "count", h->slow.count);
        nocap_json_number(&json, "addr", h->slow.addr);
        nocap_json_map_end(&json);
    }
    put_waiting(&json, h);
    put_roots(&json, h);
    put_chain(&json, h);
    put_causes(&json, h);
    put_tiles(&json, h);
    nocap_json_array(&json, "notes");
    for (size_t i = 0; i < h->report->note_count; i++) {
        if (nocap_hang_has_note(h, i)) {
            nocap_json_text(&json, NULL, h->report->notes[i]);
        }
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}
