/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: what a report says of a trace beside findings. */
#ifndef NOCAP_CHECKER_CORE_NOTES_H
#define NOCAP_CHECKER_CORE_NOTES_H

#include "checker/core/checker.h"

/* The default where the header names no layout: the rules about launches then judge other bytes. */
enum nocap_status nocap_note_layout(struct nocap_report *report, const struct nocap_engine *engine,
                                    const struct nocap_header *header, struct nocap_error *err);
/* Records of a command queue that is not where the profile has it: its rules judged nothing. */
enum nocap_status nocap_note_queue(struct nocap_report *report, const struct nocap_engine *engine,
                                   const struct nocap_header *header, struct nocap_error *err);
/* Commands of a queue whose effects were not judged. */
enum nocap_status nocap_note_queue_gaps(struct nocap_report *report,
                                        const struct nocap_engine *engine, struct nocap_error *err);
/* Whether the model knows anything of the one tile that was asked for: else nothing judged it. */
enum nocap_status nocap_note_tile(struct nocap_report *report, const struct nocap_engine *engine,
                                  struct nocap_xy tile, struct nocap_error *err);
/* Events before the first one that was judged were left out. */
enum nocap_status nocap_note_begins_at(struct nocap_report *report, struct nocap_error *err);
/* The simulator found a fault in what the program did, which breaks none of these rules. */
enum nocap_status nocap_note_process_ended(struct nocap_report *report, struct nocap_error *err);
/* What stands still breaks no rule: without a word the reader would take it for well. */
enum nocap_status nocap_note_waits(struct nocap_report *report, struct nocap_engine *engine,
                                   struct nocap_error *err);

#endif
