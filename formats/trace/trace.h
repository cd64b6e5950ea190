/* SPDX-License-Identifier: Apache-2.0 */
/* The .nocap file: writer and reader. Layout of the bytes: docs/format.md. */
#ifndef NOCAP_TRACE_TRACE_H
#define NOCAP_TRACE_TRACE_H

#include "formats/trace/access_row.h"
#include "formats/trace/event.h"
#include "formats/trace/header.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds that writer and reader share; a file that claims more is damaged. */
enum nocap_trace_limit {
    NOCAP_BLOCK_EVENTS_MAX = 1 << 20,
    NOCAP_PAYLOAD_MAX = 8 << 20,      /* bytes of one event's data, and of its extra keys */
    NOCAP_BLOCK_BYTES_MAX = 32 << 20, /* one frame, decompressed */
};

struct nocap_writer;

struct nocap_writer_options {
    size_t size;           /* sizeof(struct nocap_writer_options) */
    int level;             /* zstd level, 0: 1 */
    uint32_t block_events; /* events a block at most, 0: 65536 */
};

struct nocap_trace_totals {
    uint64_t events, bytes, blocks;
    uint64_t t_first, t_last; /* of the earliest and the latest event */
};

/* Creates `path` ("-": standard output). `options` may be NULL. The header is written with the
 * first block, so that of an input that is refused nothing is. */
enum nocap_status nocap_writer_open(struct nocap_writer **writer, const char *path,
                                    const struct nocap_header *header,
                                    const struct nocap_writer_options *options,
                                    struct nocap_error *err);
/* The same on an open descriptor, which stays the caller's. */
enum nocap_status nocap_writer_open_fd(struct nocap_writer **writer, int fd,
                                       const struct nocap_header *header,
                                       const struct nocap_writer_options *options,
                                       struct nocap_error *err);
/* Copies the event; `index` is ignored, events are numbered as they come. */
enum nocap_status nocap_writer_add(struct nocap_writer *writer, const struct nocap_event *event,
                                   struct nocap_error *err);
/* Accesses that follow `like`, the event that was added last and a read or write with its value and
 * no other number: they differ from it in what a row has. At most one block ends, after the last
 * one that is added; how many are is returned. `like` may be changed in these members. */
size_t nocap_writer_add_rows(struct nocap_writer *writer, struct nocap_event *like,
                             const struct access_row *rows, size_t n, enum nocap_status *status,
                             struct nocap_error *err);
/* Ends the block, so that header and everything added so far is on its way to the disk. */
enum nocap_status nocap_writer_flush(struct nocap_writer *writer, struct nocap_error *err);
/* What is in the file so far, without events of the block that is not full yet. */
void nocap_writer_totals(const struct nocap_writer *writer, struct nocap_trace_totals *totals);
/* How many blocks are in the file. */
uint64_t nocap_writer_blocks(const struct nocap_writer *writer);
/* What the events were taken from breaks off in this line, from 1: the footer says so, and a reader
 * tells NOCAP_DAMAGE_CUT, or NOCAP_DAMAGE_BLOCK where `damage` says what is wrong there; NULL: it
 * just ends. `line` 0: it does not break off. */
void nocap_writer_cut(struct nocap_writer *writer, uint64_t line, const char *damage);
/* Writes what is pending, footer and seek table; frees the writer whatever comes. `totals` may be
 * NULL. */
enum nocap_status nocap_writer_close(struct nocap_writer *writer, struct nocap_trace_totals *totals,
                                     struct nocap_error *err);
/* Frees without a footer: the file looks cut short, or is empty before the first block. NULL is
 * fine. */
void nocap_writer_abandon(struct nocap_writer *writer);

struct nocap_reader;

/* What is wrong with a file that could be opened. */
enum nocap_damage_kind {
    NOCAP_DAMAGE_CUT,    /* TRC-001: no footer and seek table at the end, or one that says that what
                          * the trace was made of is cut short */
    NOCAP_DAMAGE_BLOCK,  /* TRC-002: a frame that fails its checksum or does not decode */
    NOCAP_DAMAGE_COUNTS, /* TRC-007: the footer disagrees with what was read */
};
struct nocap_damage {
    enum nocap_damage_kind kind;
    uint64_t
        index; /* of the first event that is missing; the number of events for CUT and COUNTS */
    uint64_t offset; /* in the file, bytes */
    char text[160];  /* what exactly */
};
#define NOCAP_DAMAGE_KEPT 64

struct nocap_integrity {
    size_t count;  /* all, also those beyond NOCAP_DAMAGE_KEPT */
    bool lost_end; /* at the end: events may be missing after the last one that was read */
    bool nothing;  /* at the end: no event could be read */
    struct nocap_damage damage[NOCAP_DAMAGE_KEPT]; /* the first ones, and CUT in any case */
};

/* Opens a .nocap file, `path` "-" for standard input, which need not be seekable. Fails with
 * NOCAP_E_INPUT if it is no trace, of another version, or corrupt before the first block. */
enum nocap_status nocap_reader_open(struct nocap_reader **reader, const char *path,
                                    struct nocap_error *err);
/* The same on an open descriptor of a file, of which the reader takes a duplicate; `name` is for
 * messages. The descriptor's offset is neither used nor moved. */
enum nocap_status nocap_reader_open_fd(struct nocap_reader **reader, int fd, const char *name,
                                       struct nocap_error *err);
/* The same on bytes in memory, which stay the caller's and must live as long as the reader. */
enum nocap_status nocap_reader_open_memory(struct nocap_reader **reader, const void *bytes,
                                           size_t size, struct nocap_error *err);
/* Another reader of the same bytes, also of those of a pipe; it may outlive the first one, but for
 * bytes in memory. */
enum nocap_status nocap_reader_again(struct nocap_reader **again, const struct nocap_reader *reader,
                                     struct nocap_error *err);
void nocap_reader_close(struct nocap_reader *reader);

const struct nocap_header *nocap_reader_header(const struct nocap_reader *reader);
/* The same to be changed, before events are read. */
struct nocap_header *nocap_reader_own_header(struct nocap_reader *reader);

/* The next events, at least one, in file order; they and what they point to stay until the next
 * call. NOCAP_END when there are no more. Damage is stepped over and recorded, never an error of
 * this call; fails with NOCAP_E_INPUT where the input cannot be read (read(2) fails), and so at
 * each call after that, for what would come next is not known to be missing. */
enum nocap_status nocap_reader_next(struct nocap_reader *reader, const struct nocap_event **events,
                                    size_t *count, struct nocap_error *err);
/* A file of few bytes may hold any number of events: whether there are more than 4 194 304 of them,
 * and more than 256 for each of its bytes. */
bool nocap_dense(uint64_t events, uint64_t bytes);
/* Without this reading ends, as damaged, where more events are dense than the blocks read have
 * bytes. */
void nocap_reader_allow_dense(struct nocap_reader *reader);
/* The events come out of so many bytes of another form, which count in place of the blocks'. */
void nocap_reader_made_of(struct nocap_reader *reader, uint64_t bytes);
/* For a file that still grows: events of frames that begin at or after `bytes` are not looked for;
 * nocap_reader_next says NOCAP_END there, and goes on after the next call of this, with more. */
void nocap_reader_limit(struct nocap_reader *reader, uint64_t bytes);
/* Continues at event `index`, or at the first block that has an event at or after time `t`, after
 * which the caller skips what is earlier; where the block shows that the footer is wrong about it,
 * at the first one. Seeking past the end gives NOCAP_END at the next call. Needs a seekable input.
 */
enum nocap_status nocap_reader_seek_index(struct nocap_reader *reader, uint64_t index,
                                          struct nocap_error *err);
enum nocap_status nocap_reader_seek_time(struct nocap_reader *reader, uint64_t t,
                                         struct nocap_error *err);

/* What was found so far; whole only after NOCAP_END. */
const struct nocap_integrity *nocap_reader_integrity(const struct nocap_reader *reader);
/* From the footer; false if the file has none. */
bool nocap_reader_totals(const struct nocap_reader *reader, struct nocap_trace_totals *totals);
/* What nocap_writer_cut was given; 0: nothing, or not known. `damage` is the reader's. */
uint64_t nocap_reader_cut_line(const struct nocap_reader *reader, const char **damage);
/* Whether time never decreases over the whole file, as the footer says and no block that was begun
 * contradicts; false if unknown. */
bool nocap_reader_time_ordered(const struct nocap_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
