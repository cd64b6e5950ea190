/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace holds: counts, times, sizes, integrity. */
#ifndef NOCAP_EXPORT_INFO_H
#define NOCAP_EXPORT_INFO_H

#include <stdio.h>

#include "formats/export/noc_stats.h"
#include "formats/trace/trace.h"

enum { NOCAP_INFO_TILES_SHOWN = 20, NOCAP_INFO_TILES_MAX = 1 << 16, NOCAP_INFO_SOURCES = 4096 };

struct nocap_info_tile {
    uint16_t chip;
    struct nocap_xy at;
    uint64_t count; /* 0: an empty place of the table */
};

/* Counts of one trace; nocap_info_free. */
struct nocap_info {
    uint64_t events, t_first, t_last;
    uint64_t kinds[NOCAP_EV_COUNT]; /* those that are not well formed as MALFORMED */
    uint64_t agents[UINT8_MAX + 1]; /* events that name who acts */
    uint64_t
        sources[NOCAP_INFO_SOURCES / 64]; /* which `src` occur; larger ones count as the last */
    uint64_t dropped;                     /* events that the capture says it lost */
    uint64_t multicasts; /* accesses to a rectangle of tiles, counted at its first corner */
    uint64_t without_tile;
    uint64_t other_tiles;          /* events of tiles beyond NOCAP_INFO_TILES_MAX different ones */
    struct nocap_info_tile *tiles; /* by falling count after nocap_info_collect */
    size_t tile_count;
};

/* What the file itself is, beside its events. */
struct nocap_info_file {
    const char *path;
    uint64_t bytes;                      /* 0: unknown */
    bool imported;                       /* it is no .nocap file: it was read through an import */
    const char *profile, *mailbox, *why; /* whose protocol it is judged by; NULL: none */
};

/* Another who wants the events of the same reading. */
typedef enum nocap_status nocap_info_sink(void *context, const struct nocap_event *events,
                                          size_t count, struct nocap_error *err);

/* Reads the trace to its end. `also` may be NULL. */
enum nocap_status nocap_info_collect(struct nocap_info *info, nocap_info_sink *also, void *context,
                                     struct nocap_reader *reader, struct nocap_error *err);
void nocap_info_free(struct nocap_info *info);

void nocap_info_print_text(FILE *out, const struct nocap_info *info,
                           const struct nocap_info_file *file, const struct nocap_reader *reader,
                           struct nocap_noc_stats *noc);
/* One JSON object on one line. */
enum nocap_status nocap_info_print_json(FILE *out, const struct nocap_info *info,
                                        const struct nocap_info_file *file,
                                        const struct nocap_reader *reader,
                                        struct nocap_noc_stats *noc, struct nocap_error *err);

#endif
