/* A finding at the end of a trace that goes on may vanish with the events to come: one is told when
 * the check of a longer trace finds it again. Checks take a fifth of the time at most. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checker/checker.h"
#include "cli/live.h"

enum { SHARE = 5, PAUSE_MILLISECONDS = 1000, FINDINGS_A_RULE = 1000 };

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cli_follow_start(struct cli_follow *follow, const char *path)
{
    *follow = (struct cli_follow){.path = path};
}

void cli_follow_end(struct cli_follow *follow)
{
    free(follow->seen);
    free(follow->told);
}

static bool has(const uint64_t *list, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == hash) {
            return true;
        }
    }
    return false;
}

static void tell(const struct cli_call *call, const struct nocap_finding *f)
{
    char tile[32] = "";
    if (f->has_tile) {
        snprintf(tile, sizeof tile, ", tile %u,%u", f->at.x, f->at.y);
    }
    cli_message(call, "%s %s at %" PRIu64 ", t %" PRIu64 "%s: expected %s, observed %s",
                nocap_severity_name(f->severity), nocap_rules[f->rule].id, f->index, f->t, tile,
                f->expected, f->observed);
}

static void tell_news(struct cli_follow *follow, const struct cli_call *call,
                      const struct nocap_report *report, bool last)
{
    uint64_t *seen = calloc(report->finding_count + 1, sizeof *seen);
    uint64_t *told =
        realloc(follow->told, (follow->told_count + report->finding_count + 1) * sizeof *told);
    follow->told = told != NULL ? told : follow->told;
    if (seen == NULL || told == NULL) {
        free(seen);
        return;
    }
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct nocap_finding *f = &report->findings[i];
        const uint64_t what[] = {f->rule, f->index, f->at.x, f->at.y};
        seen[i] = nocap_fnv1a64(NOCAP_FNV1A64_START, what, sizeof what);
        if ((last || has(follow->seen, follow->seen_count, seen[i])) &&
            !has(told, follow->told_count, seen[i])) {
            told[follow->told_count++] = seen[i];
            tell(call, f);
        }
    }
    free(follow->seen);
    follow->seen = seen;
    follow->seen_count = report->finding_count;
}

void cli_follow_look(struct cli_follow *follow, const struct cli_call *call, bool last)
{
    uint64_t start = nanoseconds();
    struct nocap_report *report;
    struct nocap_error err;
    if (!last && start < follow->next) {
        return;
    }
    const struct nocap_check_options options = {.size = sizeof options,
                                                .rules = last ? NULL
                                                              : "-TRC-001", /* it has no end yet */
                                                .max_per_rule = FINDINGS_A_RULE};
    if (nocap_check(&report, follow->path, &options, &err) == NOCAP_OK) {
        if (last || report->events != follow->events) {
            tell_news(follow, call, report, last);
        }
        follow->events = report->events;
        follow->found = report->counts[NOCAP_ERROR];
        nocap_report_free(report);
    }
    uint64_t took = nanoseconds() - start;
    follow->next = start + took * SHARE + PAUSE_MILLISECONDS * UINT64_C(1000000);
}
