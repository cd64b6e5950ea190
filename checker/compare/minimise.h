/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap minimise`: the smallest trace that still has a finding. First the part of the trace before
 * the finding that is enough (cut.h), then, in memory, whole launches, objects, agents and single
 * events are left out as long as the finding stays and no finding of another rule comes up. Every
 * trial has the firmware of the whole trace; the header of what is left names it as it did. */
#ifndef NOCAP_CHECKER_COMPARE_MINIMISE_H
#define NOCAP_CHECKER_COMPARE_MINIMISE_H

#include <stdbool.h>
#include <stddef.h>

#include "checker/core/checker.h"

struct nocap_minimise_options {
    size_t size; /* sizeof(struct nocap_minimise_options) */
    enum nocap_rule rule;
    bool has_index; /* the finding at this event, instead of the rule's first */
    uint64_t index;
    const struct nocap_elf_arg *elf; /* overrides the header's `firmware` */
    size_t elf_count;
    bool trust_paths, dense; /* as of nocap_check_options */
    const char *profile;     /* the same; the header of what is left says it then */
};

struct nocap_minimise_result {
    uint64_t before, part, after; /* events: of the trace, of the part before the finding, left */
    uint64_t trials;              /* how often the model was asked */
    bool stopped;                 /* the work was bounded: more could perhaps go */
};

/* Reads `path`, a file, and writes to `out_path`, a new file or one to overwrite. Fails with
 * NOCAP_E_INPUT if the trace cannot be read, NOCAP_E_USAGE if it has no such finding, or one that
 * is not about its events. */
enum nocap_status nocap_minimise(const char *path, const char *out_path,
                                 const struct nocap_minimise_options *options,
                                 struct nocap_minimise_result *result, struct nocap_error *err);

#endif
