/* SPDX-License-Identifier: Apache-2.0 */
/* What a report comes to: nothing is clean that nobody judged. */
#include "checker/checker.h"

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
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (is_protocol(i) && report->rules[i].exercised != 0) {
            return true;
        }
    }
    return false;
}

enum nocap_outcome nocap_report_outcome(const struct nocap_report *report)
{
    if (nocap_report_fails(report, NOCAP_ERROR)) {
        return NOCAP_FINDINGS;
    }
    return !judged(report)                          ? NOCAP_NOT_JUDGED
           : nocap_report_fails(report, NOCAP_NOTE) ? NOCAP_FINDINGS
                                                    : NOCAP_CLEAN;
}

const char *nocap_report_unjudged(const struct nocap_report *report)
{
    bool selected = false, observes = false, classes = false;
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        const struct nocap_rule_report *rule = &report->rules[i];
        if (is_protocol(i) && rule->selected && rule->obstacle != NOCAP_OTHER_ARCH) {
            selected = true;
            observes |= rule->obstacle != NOCAP_NO_OBSERVES;
            classes |= rule->obstacle == NOCAP_OBSERVABLE;
        }
    }
    if (report->subject != NOCAP_SUBJECT_TRACE) {
        return "its code holds nothing that these rules judge";
    }
    return report->events == 0 ? "it holds no event"
           : !selected         ? "no rule of a protocol was asked for"
           : !observes ? "the header has no `observes`: say there which event classes were recorded"
           : !classes  ? "what `observes` lists lets no rule of a protocol be judged"
                       : "no event is of a kind that a rule of a protocol judges";
}
