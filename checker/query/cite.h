/* SPDX-License-Identifier: Apache-2.0 */
/* The write behind a value that was observed: who put these bytes there last. One pass over the
 * trace for a bounded number of questions, and none where there is none. */
#ifndef NOCAP_CHECKER_QUERY_CITE_H
#define NOCAP_CHECKER_QUERY_CITE_H

#include "checker/core/checker.h"
#include "formats/blackhole/touch.h"

enum { NOCAP_CITES_MAX = 64, NOCAP_CITE_BYTES = 8, NOCAP_CITE_TEXT = 160 };

struct nocap_cite {
    struct nocap_bytes_at bytes; /* at most NOCAP_CITE_BYTES of them */
    uint16_t chip;
    uint64_t before; /* index: only what came before it .. */
    uint64_t until;  /* .. and not after this time */
    /* "0x80 at 0x373, last written by host at #4120"; "" where no write is in the trace */
    char text[NOCAP_CITE_TEXT];
    bool apart; /* bytes mean something each: told of those that are not 0, the latest */
    struct nocap_cite_byte {
        bool written, known;
        uint8_t value, agent;
        enum nocap_touch how;
        uint64_t index; /* of the last write to it */
    } bytes_seen[NOCAP_CITE_BYTES];
};

/* The reader is at its beginning; it is anywhere afterwards. */
enum nocap_status nocap_cite(struct nocap_reader *reader, struct nocap_cite *cites, size_t count,
                             struct nocap_error *err);

/* Of findings at loads of a tile's bytes, and of those whose model says which bytes it looked at,
 * the first NOCAP_CITES_MAX: sets `written`. Reads the trace once more; one that can be read once
 * only is left alone. */
enum nocap_status nocap_cite_findings(struct nocap_report *report, const char *path, bool dense,
                                      struct nocap_error *err);

#endif
