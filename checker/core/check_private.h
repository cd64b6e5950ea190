/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/core: one run over a trace, of a file that is whole or of one that grows. */
#ifndef NOCAP_CHECKER_CORE_CHECK_PRIVATE_H
#define NOCAP_CHECKER_CORE_CHECK_PRIVATE_H

#include "checker/core/checker.h"
#include "checker/core/findings.h"
#include "checker/core/images.h"
#include "checker/core/profile_choice.h"
#include "checker/core/unsure.h"

/* One run: everything between opening the trace and the finished report. */
struct check {
    struct nocap_check_options options;
    struct nocap_report *report;
    struct nocap_reader *reader;
    struct nocap_images images;
    struct nocap_engine *engine;
    struct nocap_findings findings;
    struct unsure unsure; /* what of them may be taken back */
    uint64_t exercised[NOCAP_RULE_COUNT];
    bool stopped; /* events past the wanted end were left out */
    bool grows;   /* the file is being written */
    bool opened;  /* the watch asks the models */
    struct nocap_profile_choice choice;
};

enum nocap_status check_init(struct check *check, const struct nocap_check_options *options,
                             struct nocap_error *err);
/* Opens the trace and the engine. */
enum nocap_status check_begin(struct check *check, const char *path, struct nocap_error *err);
/* Takes events in the order in which they took effect; NOCAP_END past the wanted end. `context` is
 * the check. */
enum nocap_status check_take(void *context, const struct nocap_event *events, size_t count,
                             struct nocap_error *err);
/* All events were replayed. */
enum nocap_status check_judge_end(struct check *check, struct nocap_error *err);
/* Gives the report, or frees it. */
void check_end(struct check *check, bool whole, struct nocap_report **report);

#endif
