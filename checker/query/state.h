/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap replay`: the state of the model at a moment of a trace. */
#ifndef NOCAP_CHECKER_QUERY_STATE_H
#define NOCAP_CHECKER_QUERY_STATE_H

#include <stdio.h>

#include "base/status.h"
#include "formats/trace/trace.h"

struct nocap_replay_options {
    size_t size; /* sizeof(struct nocap_replay_options) */
    bool has_until, has_at, has_tile;
    bool dense;           /* nocap_reader_allow_dense */
    uint64_t until;       /* the state after the event of this index .. */
    uint64_t at;          /* .. or after all events up to this time; neither: at the end */
    struct nocap_xy tile; /* just this one, on every chip; without it all that the trace touches */
    bool json;
    const char *profile; /* as of nocap_check_options */
};

typedef void nocap_replay_damaged(void *context, const struct nocap_reader *reader);

/* Replays `path` (as nocap_check does) and prints. Fails with NOCAP_E_USAGE if the trace never
 * touches the tile. What was damaged is told to `damaged`, if it is not NULL, before the end. */
enum nocap_status nocap_replay_print(FILE *out, const char *path,
                                     const struct nocap_replay_options *options,
                                     nocap_replay_damaged *damaged, void *context,
                                     struct nocap_error *err);

#endif
