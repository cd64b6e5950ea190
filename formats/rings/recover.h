/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture that was killed left behind: the trace up to where it was written, and rings with
 * the events from there on. */
#ifndef NOCAP_RINGS_RECOVER_H
#define NOCAP_RINGS_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ring file of FILE is FILE.rings. */
#define NOCAP_RINGS_SUFFIX ".rings"

enum {
    NOCAP_RINGS_PATH = 4096,                       /* of a path, with its end */
    NOCAP_RINGS_TEXT = 2 * NOCAP_RINGS_PATH + 512, /* what nocap_rings_describe takes at most */
};

struct nocap_recovered {
    bool capturing;   /* the program still runs: nothing to recover yet */
    uint64_t events;  /* that were in the rings, those that tell of drops among them */
    uint64_t dropped; /* events that these tell of */
    bool foreign;     /* there are rings, but not of this trace, or their head is damaged */
    unsigned broken;  /* rings with a record that makes no sense .. */
    uint64_t unread;  /* .. and the bytes that are left out because of that */
    bool incomplete;  /* so, or since the trace itself is damaged, what was written has no footer */
    char why[256];    /* by nocap_import_open: why rings that are there cannot be read; or "" */
};

/* Whether the capture into `path` still runs. */
bool nocap_rings_capturing(const char *path);
/* Bytes of the trace that stay as they are, whatever happens to the capture. 0: it has no rings. */
uint64_t nocap_rings_committed(const char *path);

/* Moves a trace that has rings without a writer, with them, out of the way of a new
 * one: STEM.nocap to STEM.killed.nocap, or STEM.killed-2.nocap .. `kept` says where; "": there was
 * nothing to move. */
enum nocap_status nocap_rings_set_aside(const char *path, char kept[NOCAP_RINGS_PATH],
                                        struct nocap_error *err);

/* Writes to `out_fd` the trace `path` as it would have been, had the program closed it when it
 * died. A ring is read up to the first record that makes no sense: a note and a drop stand there,
 * and the trace lacks its end. NOCAP_END: there are no rings beside it, they are not of this trace,
 * or the capture still runs. `result` is always filled. */
enum nocap_status nocap_rings_recover(const char *path, int out_fd, struct nocap_recovered *result,
                                      struct nocap_error *err);

/* What there is to say about it, one sentence; "" is nothing. */
void nocap_rings_describe(const struct nocap_recovered *recovered, const char *path, char *text,
                          size_t size);

#ifdef __cplusplus
}
#endif

#endif
