/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/recompress.h"

/* Four times as many as otherwise: on 120 tiles a block has 4 % less then. Blocks that are larger
 * still gain little, and outgrow the caches of who reads them. */
enum { ARCHIVE_BLOCK_EVENTS = 1 << 18 };

/* Fails where a reader would leave out some of what was written; `header` is where blocks begin. */
static enum nocap_status check_dense(const struct nocap_writer *w, uint64_t header,
                                     struct nocap_error *err)
{
    struct nocap_trace_totals so_far;
    nocap_writer_totals(w, &so_far);
    RETURN_ERROR_IF(nocap_dense(so_far.events, so_far.bytes - header), err, NOCAP_E_USAGE,
                    "the new trace would have more than 256 events for each byte, of which the "
                    "rest is left out where it is read: --dense makes it");
    return NOCAP_OK;
}

static enum nocap_status copy(struct nocap_reader *reader, struct nocap_writer *w,
                              const struct nocap_recompress_options *options,
                              struct nocap_error *err)
{
    const struct nocap_event *events;
    struct nocap_trace_totals all = {0}, begun;
    size_t count;
    uint64_t done = 0;
    enum nocap_status status;
    (void)nocap_reader_totals(reader, &all);
    nocap_writer_totals(w, &begun);
    while ((status = nocap_reader_next(reader, &events, &count, err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            RETURN_IF_FAILED(nocap_writer_add(w, &events[i], err));
        }
        if (!options->dense) {
            RETURN_IF_FAILED(check_dense(w, begun.bytes, err));
        }
        done += count;
        if (options->progress != NULL) {
            options->progress(options->context, done, all.events);
        }
    }
    if (status != NOCAP_END) {
        return status;
    }
    RETURN_IF_FAILED(nocap_writer_flush(w, err));
    return options->dense ? NOCAP_OK : check_dense(w, begun.bytes, err);
}

enum nocap_status nocap_recompress(struct nocap_reader *reader, int fd,
                                   const struct nocap_recompress_options *options,
                                   struct nocap_trace_totals *totals, bool *whole,
                                   struct nocap_error *err)
{
    const struct nocap_writer_options to = {.size = sizeof to,
                                            .level = options->level != 0 ? options->level
                                                                         : NOCAP_RECOMPRESS_LEVEL,
                                            .block_events = ARCHIVE_BLOCK_EVENTS};
    struct nocap_writer *w;
    *whole = false;
    if (options->dense) {
        nocap_reader_allow_dense(reader);
    }
    RETURN_IF_FAILED(nocap_writer_open_fd(&w, fd, nocap_reader_header(reader), &to, err));
    enum nocap_status status = copy(reader, w, options, err);
    if (status != NOCAP_OK) {
        nocap_writer_abandon(w);
        return status;
    }
    const char *damage;
    const uint64_t cut = nocap_reader_cut_line(reader, &damage);
    *whole = nocap_reader_integrity(reader)->count == (cut != 0);
    if (!*whole) {
        nocap_writer_abandon(w);
        return NOCAP_OK;
    }
    nocap_writer_cut(w, cut, damage);
    return nocap_writer_close(w, totals, err);
}
