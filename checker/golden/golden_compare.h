/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/golden*.c: one golden trace, looked at today. */
#ifndef NOCAP_CHECKER_GOLDEN_GOLDEN_COMPARE_H
#define NOCAP_CHECKER_GOLDEN_GOLDEN_COMPARE_H

#include <limits.h>

#include "checker/golden/golden.h"
#include "checker/golden/golden_manifest.h"

struct golden_compare {
    const char *dir;
    const struct nocap_golden_options *options;
    struct golden_entry *golden;
    bool keep; /* the trace made again, if it differs; else it is removed at once */
    struct golden_entry stored_today; /* what the checker says of the stored trace */
    struct golden_entry made_today;   /* and of the one made again */
    char stored[PATH_MAX];
    char made[PATH_MAX];  /* the trace made again, "" if it was not */
    bool verdict_differs; /* manifest and today's texts */
    bool content_differs; /* stored and made; or the stored one cannot be read */
    bool unreadable;      /* the stored one cannot be read */
    bool not_made;        /* it could be made again, but was not */
    char *text;           /* what there is to say, lines */
    size_t text_size;
    enum nocap_status status;
    struct nocap_error err;
};

static inline bool golden_compare_differs(const struct golden_compare *look)
{
    return look->verdict_differs || look->content_differs;
}

/* Judges and compares; the outcome is in the members. Set the first four. */
void golden_compare(struct golden_compare *look);
/* Removes the trace made again and frees what was reported. */
void golden_compare_free(struct golden_compare *look);

/* Makes a trace into a temporary file, whose path is left in `path`; "" if none was made. NOCAP_END
 * if it cannot be made. */
enum nocap_status golden_make(char path[PATH_MAX], const char *made,
                              const struct nocap_golden_options *options, struct nocap_error *err);
/* An error that names this file names what made it instead. */
void golden_rewrite_error(const char *path, const char *made, struct nocap_error *err);

#endif
