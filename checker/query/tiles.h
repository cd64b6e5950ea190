/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anything happens at a tile: an empty answer about one that no event touches says nothing
 * of it. */
#ifndef NOCAP_CHECKER_QUERY_TILES_H
#define NOCAP_CHECKER_QUERY_TILES_H

#include "formats/trace/trace.h"

/* Whether it is at the tile, covers it, comes from it or goes to it, on any chip. */
bool nocap_touches_tile(const struct nocap_event *event, struct nocap_xy tile);
/* Leaves those of `tiles` that no event of the trace touches. `path` is a file, which is read until
 * all were met. */
enum nocap_status nocap_tiles_untouched(const char *path, bool dense, struct nocap_xy *tiles,
                                        size_t *count, struct nocap_error *err);

#endif
