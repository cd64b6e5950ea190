/* SPDX-License-Identifier: Apache-2.0 */
/* A trace once more, the same events under the same header, in fewer bytes. */
#ifndef NOCAP_TRACE_RECOMPRESS_H
#define NOCAP_TRACE_RECOMPRESS_H

#include "formats/trace/trace.h"

/* The level at which time is still in proportion to what it gains. */
enum { NOCAP_RECOMPRESS_LEVEL = 19, NOCAP_RECOMPRESS_LEVEL_MAX = 22 };

struct nocap_recompress_options {
    size_t size; /* sizeof(struct nocap_recompress_options) */
    int level;   /* of zstd, 1 to NOCAP_RECOMPRESS_LEVEL_MAX; 0: NOCAP_RECOMPRESS_LEVEL */
    bool dense;  /* the new file may be one that is read with nocap_reader_allow_dense alone */
    void (*progress)(void *context, uint64_t events, uint64_t total); /* may be NULL */
    void *context;
};

/* Writes what `reader`, which nothing was read of, hands out to `fd`. A reader that found damage
 * has not handed out all: `whole` is false then, and what was written has no end. Fails with
 * NOCAP_E_USAGE where the new file would hold more events for its bytes than are read of one. */
enum nocap_status nocap_recompress(struct nocap_reader *reader, int fd,
                                   const struct nocap_recompress_options *options,
                                   struct nocap_trace_totals *totals, bool *whole,
                                   struct nocap_error *err);

#endif
