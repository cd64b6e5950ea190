/* What a trace says, apart from when: the events of each agent in its own order, without what may
 * differ between two runs of one program. Times, `seq`, transaction ids, poll counts, the stalls
 * and unit states of the coprocessor and the interleaving of agents do not count, nor do the values
 * that registers return, nor loads of cores where the capture has only a sample of them. Used to
 * compare a trace with its golden one. */
#ifndef NOCAP_CHECKER_STREAMS_H
#define NOCAP_CHECKER_STREAMS_H

#include <stdio.h>

#include "formats/status.h"
#include "formats/trace/event.h"

/* The kinds of agents whose streams share a digest. */
#define NOCAP_STREAM_KINDS(X)                                                                      \
    X(HOST, "host")                                                                                \
    X(CORE, "core")                                                                                \
    X(NOC, "noc")                                                                                  \
    X(TENSIX, "tensix")                                                                            \
    X(CQ, "cq")                                                                                    \
    X(CERT, "cert")                                                                                \
    X(OTHER, "other")
#define X(name, text) NOCAP_STREAM_##name,
enum nocap_stream_kind { NOCAP_STREAM_KINDS(X) NOCAP_STREAM_KIND_COUNT };
#undef X

/* Golden traces are small; these bound what an untrusted file can ask for. */
enum { NOCAP_STREAM_ITEMS_MAX = 1 << 22, NOCAP_STREAMS_MAX = 1 << 16 };

struct nocap_streams;

/* Reads a whole trace, in any form that nocap_trace_open takes; a file, not a pipe. Fails with
 * NOCAP_E_INPUT if it cannot be read, NOCAP_E_MEMORY if it is over the bounds. */
enum nocap_status nocap_streams_open(struct nocap_streams **streams, const char *path,
                                     struct nocap_error *err);
void nocap_streams_close(struct nocap_streams *streams); /* NULL is fine */

const char *nocap_stream_kind_name(enum nocap_stream_kind kind);
/* The same for all traces that say the same. */
uint64_t nocap_streams_digest(const struct nocap_streams *streams, enum nocap_stream_kind kind);
uint64_t nocap_streams_digest_all(const struct nocap_streams *streams);

/* Prints for every agent whose streams differ the first events that do, `-` from `before`, `+` from
 * `after`, as JSON Lines. `differences` is how many streams differ; at most `show` are printed. */
enum nocap_status nocap_streams_compare(struct nocap_streams *before, struct nocap_streams *after,
                                        FILE *out, size_t show, size_t *differences,
                                        struct nocap_error *err);

#endif
