/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: one number for what a trace says, and one for each kind of agent. */
#ifndef NOCAP_CHECKER_GOLDEN_DIGEST_H
#define NOCAP_CHECKER_GOLDEN_DIGEST_H

#include "checker/compare/streams.h"

struct nocap_digest {
    uint64_t kind[NOCAP_STREAM_OBJECT]; /* 0: no agent of the kind did anything */
    uint64_t total;
};

/* Reads a whole trace, in any form that nocap_import_open takes; a file, not a pipe. Two traces
 * whose digests are equal do not differ. */
enum nocap_status nocap_digest(struct nocap_digest *digest, const char *path, bool dense,
                               const char *profile, struct nocap_error *err);

#endif
