/* SPDX-License-Identifier: Apache-2.0 */
/* What a report comes to: nothing is clean that was not judged. */
#include "checker/core/checker.h"

const char *nocap_outcome_name(enum nocap_outcome outcome)
{
    static const char *const names[] = {"clean", "findings", "not-judged"};
    return (unsigned)outcome < NOCAP_OUTCOME_COUNT ? names[outcome] : "?";
}

/* The first family is about the trace itself. */
static bool is_protocol(unsigned rule)
{
    return nocap_rules[rule].family != 0;
}

static bool judged(const struct nocap_report *report)
{
    if (report->subject == NOCAP_SUBJECT_CONTROL_CODE && report->pages + report->streams == 0) {
        return false; /* of an envelope around nothing nothing is to be said */
    }
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (is_protocol(i) && report->rules[i].exercised != 0) {
            return true;
        }
    }
    return false;
}

bool nocap_report_only_follows(const struct nocap_report *report)
{
    return report->finding_count == 0 && report->consequence_count != 0;
}

enum nocap_outcome nocap_report_outcome(const struct nocap_report *report)
{
    if (nocap_report_fails(report, NOCAP_ERROR)) {
        return NOCAP_FINDINGS;
    }
    bool apart = report->untouched || report->outside;
    bool found = nocap_report_fails(report, NOCAP_NOTE) || nocap_report_only_follows(report);
    return apart || !judged(report) ? NOCAP_NOT_JUDGED : found ? NOCAP_FINDINGS : NOCAP_CLEAN;
}

struct reason {
    const char *id, *text;
};

static struct reason reason_of(const struct nocap_report *report)
{
    static const struct reason in_code = {"nothing-in-code",
                                          "its code holds nothing that these rules judge"},
                               no_event = {"no-event", "it holds no event"},
                               no_tile = {"tile-not-touched",
                                          "no event that the rules judge touches this core"},
                               no_time = {"time-not-reached", "it has no event so late"},
                               no_rule = {"no-rule", "no rule of a protocol was asked for"},
                               no_observes = {"no-observes",
                                              "the header has no `observes`: say there which "
                                              "event classes were recorded"},
                               no_class = {"no-class", "what `observes` lists lets no rule of a "
                                                       "protocol be judged"},
                               no_kind = {"no-kind", "no event is of a kind that a rule of a "
                                                     "protocol judges"};
    bool selected = false, observes = false, classes = false;
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        const struct nocap_rule_report *rule = &report->rules[i];
        if (is_protocol(i) && rule->selected && rule->obstacle != NOCAP_OTHER_ARCH) {
            selected = true;
            observes |= rule->obstacle != NOCAP_NO_OBSERVES;
            classes |= rule->obstacle == NOCAP_OBSERVABLE;
        }
    }
    return report->subject != NOCAP_SUBJECT_TRACE ? in_code
           : report->events == 0                  ? no_event
           : report->untouched                    ? no_tile
           : report->outside                      ? no_time
           : !selected                            ? no_rule
           : !observes                            ? no_observes
           : !classes                             ? no_class
                                                  : no_kind;
}

const char *nocap_report_unjudged(const struct nocap_report *report)
{
    return reason_of(report).text;
}

const char *nocap_report_unjudged_id(const struct nocap_report *report)
{
    return reason_of(report).id;
}
