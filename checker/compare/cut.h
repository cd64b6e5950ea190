/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap cut`: a part of a trace that checks the same. What memory held at its beginning stands in
 * `mem` events; where findings of the part need more of the past than that, events before it are
 * kept too. A part that begins late is not `complete`, and one that ends early has an `open_end`.
 * The paths of the header's `firmware` stay as they are, and mean files beside the whole trace.
 */
#ifndef NOCAP_CHECKER_COMPARE_CUT_H
#define NOCAP_CHECKER_COMPARE_CUT_H

#include <stddef.h>

#include "base/status.h"
#include "checker/core/checker.h"
#include "formats/trace/filter.h"

struct nocap_cut_options {
    size_t size; /* sizeof(struct nocap_cut_options) */
    bool has_from, has_to, has_index, has_tile;
    uint64_t from, to;                 /* times, both included */
    uint64_t first_index, last_index;  /* both included */
    struct nocap_xy tile;              /* events at it, from it or to it, and what is of no tile */
    const struct nocap_filter *filter; /* NULL: all. Classes of which events are left out are no
                                          longer `observes`; stores left out become `mem` events */
    bool as_it_is;                     /* no events before it, whatever the findings need */
    bool unchecked;                    /* the same, and findings are not looked at */
    const struct nocap_elf_arg *elf;   /* overrides the header's `firmware` where it is checked */
    size_t elf_count;
    bool trust_paths, dense; /* as of nocap_check_options */
    const char *profile;     /* the same; the header of the part says it then */
};

struct nocap_cut_result {
    uint64_t events, kept; /* of the whole trace; of it in the part, lead-in included */
    uint64_t lead, mem;    /* events kept before the part; `mem` events added */
    uint64_t findings;     /* of the whole trace that lie in the part ... */
    uint64_t lost, added;  /* ... that the part lacks; that only the part has */
    uint64_t before;       /* findings of the events kept before the part, which it has too */
    uint64_t missing;      /* events that the file lost to damage: a `drop` event stands for them */
    bool truncated;        /* the file is cut short */
};

/* Reads `path`, a file, and writes the part to `out_path`, a new file or one to overwrite. Fails
 * with NOCAP_E_INPUT if it cannot be read, NOCAP_E_USAGE if nothing is left. */
enum nocap_status nocap_cut(const char *path, const char *out_path,
                            const struct nocap_cut_options *options,
                            struct nocap_cut_result *result, struct nocap_error *err);

#endif
