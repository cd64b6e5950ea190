/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: which rules are judged on a trace, and why the others are not. */
#ifndef NOCAP_CHECKER_CORE_SELECTION_H
#define NOCAP_CHECKER_CORE_SELECTION_H

#include "checker/core/checker.h"

/* Sets `selected` of every rule from a list like "MAP,SYN-003,-MAP-004" (NULL: all). Families and
 * ids, case ignored; if only excludes are given, from all. Fails with NOCAP_E_USAGE. */
enum nocap_status nocap_selection_parse(struct nocap_rule_report rules[NOCAP_RULE_COUNT],
                                        const char *list, struct nocap_error *err);

/* Sets `obstacle` and what is missing of every rule: what this header does not allow to judge.
 * `image`: a firmware ELF was given. */
void nocap_selection_observe(struct nocap_rule_report rules[NOCAP_RULE_COUNT],
                             const struct nocap_header *header, bool image);

/* Nothing explains the mailbox, or the command queue: what would be judged by it is not observable.
 */
void nocap_selection_unexplained(struct nocap_rule_report rules[NOCAP_RULE_COUNT], bool mailbox);

/* Whether the rule is selected and nothing stands in its way. */
static inline bool nocap_selection_judged(const struct nocap_rule_report *rule)
{
    return rule->selected && rule->obstacle == NOCAP_OBSERVABLE;
}

/* "the trace does not observe kernel, nor host-mmio or noc": why a rule cannot be judged. */
void nocap_selection_why(char *text, size_t size, const struct nocap_rule_report *rule,
                         enum nocap_arch arch);

#endif
