/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "checker/views/watch.h"

static struct nocap_track end_track(uint32_t parent, enum nocap_track_role role, const char *name)
{
    struct nocap_track made = {.kind = NOCAP_TRACK_SLICES, .role = (uint8_t)role, .parent = parent};
    snprintf(made.name, sizeof made.name, "%s", name);
    return made;
}

static uint32_t findings_track(struct watch *w, uint32_t *track)
{
    static const struct nocap_track group = {.kind = NOCAP_TRACK_GROUP, .name = "trace"};
    uint32_t parent = watch_track(w, &w->trace, &group);
    const struct nocap_track made = end_track(parent, NOCAP_ROLE_FINDING, "findings");
    return watch_track(w, track, &made);
}

/* Where its agent is shown, if it is a RISC of a worker core; else the track of findings. */
static uint32_t track_of(struct watch *w, uint32_t *all, const struct nocap_finding *f)
{
    const struct nocap_core_info *core = nocap_core(f->agent);
    struct watch_tile *tile = f->has_tile && core != NULL ? watch_tile(w, f->chip, f->at) : NULL;
    return tile != NULL ? watch_core(w, tile, core->processor) : findings_track(w, all);
}

static void report_findings(struct watch *w, const struct nocap_report *report)
{
    uint32_t all = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct nocap_finding *f = &report->findings[i];
        if (f->t < w->tl->options.from) {
            continue;
        }
        struct nocap_mark mark = {.name = nocap_rules[f->rule].id, .finding = f};
        watch_add(&mark, "index", f->index);
        watch_add_text(&mark, "severity", nocap_severity_name(f->severity));
        watch_add_text(&mark, "message", f->message);
        watch_add_text(&mark, "expected", f->expected);
        watch_add_text(&mark, "observed", f->observed);
        watch_add(&mark, "consequences", f->consequences);
        nocap_timeline_instant(w->tl, track_of(w, &all, f), f->t, &mark);
    }
}

/* From when it began, where that is known. */
static void report_wait(struct watch *w, const struct nocap_hang *h, uint32_t group, size_t number)
{
    const struct nocap_hang_wait *wait = &h->waits[number];
    const struct nocap_hang_party *party = &h->parties[wait->who];
    char name[64];
    nocap_party_name(&wait->wait.who, name, sizeof name);
    const struct nocap_track made = end_track(group, NOCAP_ROLE_WAIT, name);
    uint32_t track = nocap_timeline_track(w->tl, &made);
    struct nocap_mark mark = {.name = wait->what};
    if (wait->wait.index != UINT64_MAX) {
        watch_add(&mark, "index", wait->wait.index);
    }
    watch_add_text(&mark, "state", wait->state);
    watch_add_text(&mark, "release", wait->release);
    uint64_t since = wait->wait.since < h->end ? wait->wait.since : h->end;
    since = since > w->tl->options.from ? since : w->tl->options.from;
    nocap_timeline_begin(w->tl, track, since, &mark);
    nocap_timeline_end(w->tl, track, h->end);
    if (party->root && party->wait == number) {
        mark.name = "root";
        watch_add_text(&mark, "verdict", nocap_hang_verdict_name(party->verdict));
        watch_add_text(&mark, "for", wait->what);
        nocap_timeline_instant(w->tl, track, since, &mark);
    }
}

void watch_hang(struct watch *w, const struct nocap_hang *hang)
{
    static const struct nocap_track group = {.kind = NOCAP_TRACK_GROUP, .name = "waits at the end"};
    uint32_t waits = 0;
    if (w->tl->options.from > hang->end) {
        return;
    }
    nocap_timeline_settle(w->tl);
    report_findings(w, hang->report);
    for (size_t i = 0; i < hang->wait_count; i++) {
        report_wait(w, hang, watch_track(w, &waits, &group), i);
    }
}
