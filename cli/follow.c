/* SPDX-License-Identifier: Apache-2.0 */
/* A trace is checked while it grows, each event once. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "checker/core/checker.h"
#include "cli/live.h"
#include "formats/rings/recover.h"

_Static_assert((int)CLI_FOLLOW_SEVERITIES == (int)NOCAP_SEVERITY_COUNT, "a count for each");

enum { PAUSE_MILLISECONDS = 500, FINDINGS_A_RULE = 1000 };

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void print_finding(void *context, const struct nocap_finding *f)
{
    struct cli_follow *follow = context;
    char tile[32] = "";
    follow->counts[f->severity]++;
    if (f->has_tile) {
        snprintf(tile, sizeof tile, ", core %u,%u", f->at.x, f->at.y);
    }
    cli_message(follow->call, "%s %s at %" PRIu64 ", t %" PRIu64 "%s: expected %s, observed %s",
                nocap_severity_name(f->severity), nocap_rules[f->rule].id, f->index, f->t, tile,
                f->expected, f->observed);
}

void cli_follow_start(struct cli_follow *follow, const struct cli_call *call, const char *path)
{
    *follow = (struct cli_follow){.call = call, .path = path};
}

static void begin(struct cli_follow *follow)
{
    struct nocap_error err;
    const struct nocap_check_options options = {.size = sizeof options,
                                                .max_per_rule = FINDINGS_A_RULE,
                                                .reported = print_finding,
                                                .reported_context = follow};
    if (nocap_follow_open(&follow->check, follow->path, &options, &err) != NOCAP_OK) {
        follow->check = NULL; /* not even its header is there */
    }
}

/* Says what the trace comes to, if it is something else than before: the worst that was found. */
static void report_verdict(struct cli_follow *follow, const struct nocap_report *report)
{
    unsigned worst = NOCAP_SEVERITY_COUNT;
    while (worst > NOCAP_NOTE && follow->counts[worst - 1] == 0) {
        worst--;
    }
    const char *so_far = report == NULL ? " so far" : "";
    char verdict[sizeof follow->verdict];
    if (worst > NOCAP_NOTE) {
        snprintf(verdict, sizeof verdict, "%ss were found",
                 nocap_severity_name((enum nocap_severity)(worst - 1)));
    } else {
        snprintf(verdict, sizeof verdict, "%s",
                 report == NULL ? "nothing was found"
                                : nocap_outcome_name(nocap_report_outcome(report)));
    }
    if (strcmp(verdict, follow->verdict) != 0) {
        strcpy(follow->verdict, verdict);
        cli_message(follow->call, "verdict%s: %s", so_far, verdict);
    }
}

static void give_up(struct cli_follow *follow, const struct nocap_error *err)
{
    cli_message(follow->call, "the trace is not followed any more: %s", err->text);
    follow->failed = true;
}

void cli_follow_look(struct cli_follow *follow)
{
    uint64_t bytes, start = nanoseconds();
    struct nocap_error err;
    if (follow->failed || start < follow->next ||
        !nocap_rings_capturing(follow->path) || /* what has the name may be an old trace */
        (bytes = nocap_rings_committed(follow->path)) == 0) {
        return;
    }
    if (follow->check == NULL) {
        begin(follow);
    }
    if (follow->check != NULL && nocap_follow_poll(follow->check, bytes, &err) != NOCAP_OK) {
        give_up(follow, &err);
    } else if (follow->check != NULL) {
        report_verdict(follow, NULL);
    }
    follow->next = nanoseconds() + PAUSE_MILLISECONDS * UINT64_C(1000000);
}

uint64_t cli_follow_end(struct cli_follow *follow, bool captured)
{
    struct nocap_report *report = NULL;
    struct nocap_error err;
    uint64_t found = 0;
    if (captured && !follow->failed && follow->check == NULL) {
        begin(follow);
    }
    if (follow->check != NULL &&
        nocap_follow_close(follow->check, captured && !follow->failed ? &report : NULL, &err) ==
            NOCAP_OK) {
        found = report->counts[NOCAP_ERROR];
        report_verdict(follow, report);
        nocap_report_free(report);
    } else if (follow->check != NULL && captured && !follow->failed) {
        give_up(follow, &err);
    }
    return found;
}
