/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: one fault is one finding. What the model says of an event is held until the
 * event is over; what follows from something else that was said - by the fault that the model
 * names, or by a row of nocap_follows - is handed on as a consequence of it. */
#ifndef NOCAP_CHECKER_CORE_FOLD_H
#define NOCAP_CHECKER_CORE_FOLD_H

#include "checker/core/checker.h"
#include "replay/core/engine.h"

/* What follows from what, where two rules judge one act by values of their own: a violation of
 * `rule` is a consequence where one of `root_first` to `root_last` is violated by the same event,
 * or, with `span`, at the same tile, at or after the first event that the consequence relates to.
 * The first row of a rule that fits counts. Made from the family files in checker/rules. */
struct nocap_follows {
    enum nocap_rule rule, root_first, root_last;
    bool span;
};
extern const struct nocap_follows nocap_follows[];
extern const unsigned nocap_follows_count;

/* `fault` of what is handed on: the number of the finding, from 1, that it is or follows from; 0:
 * of one that is not known any more. `from`: index of the event of the finding that it follows
 * from, which a finding does that is more severe than that one; UINT64_MAX: none, or not known. */
typedef void nocap_folded(void *context, const struct nocap_divergence *divergence, uint64_t from);

enum nocap_severity nocap_severity_of(const struct nocap_divergence *divergence);

struct nocap_fold;

/* NULL without memory. */
struct nocap_fold *nocap_fold_new(nocap_folded *sink, void *context);
void nocap_fold_free(struct nocap_fold *fold);
/* `fold`: a struct nocap_fold. A nocap_diverged. */
void nocap_fold_add(void *fold, const struct nocap_divergence *divergence);
/* Hands on what is held. */
void nocap_fold_flush(struct nocap_fold *fold);

/* Adds the rules that those of `rules` may follow from. */
void nocap_fold_close_over(bool rules[NOCAP_RULE_COUNT]);

#endif
