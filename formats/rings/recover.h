/* What a capture that was killed left behind: the trace up to where it was written, and rings with
 * the events from there on. */
#ifndef NOCAP_RINGS_RECOVER_H
#define NOCAP_RINGS_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ring file of FILE is FILE.rings. */
#define NOCAP_RINGS_SUFFIX ".rings"

struct nocap_recovered {
    bool capturing;   /* the program still runs: nothing to recover yet */
    uint64_t events;  /* that were in the rings, those that tell of drops among them */
    uint64_t dropped; /* events that these tell of */
};

/* Whether the capture into `path` still runs. */
bool nocap_rings_capturing(const char *path);
/* Bytes of the trace that stay as they are, whatever happens to the capture. 0: it has no rings. */
uint64_t nocap_rings_committed(const char *path);

/* Writes to `out_fd` the trace `path` as it would have been, had the program closed it when it
 * died. NOCAP_END: there are no rings beside it, they are not of this trace, or the capture still
 * runs. `result` is always filled. */
enum nocap_status nocap_rings_recover(const char *path, int out_fd, struct nocap_recovered *result,
                                      struct nocap_error *err);

#ifdef __cplusplus
}
#endif

#endif
