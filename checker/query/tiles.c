/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/tiles.h"

#include "formats/blackhole/xy.h"
#include "formats/import/import.h"

bool nocap_touches_tile(const struct nocap_event *e, struct nocap_xy tile)
{
    bool from = (e->has & (NOCAP_F_S | NOCAP_F_FROM)) != 0 && nocap_xy_equal(e->s, tile);
    bool into = (e->has & NOCAP_F_D) != 0 &&
                nocap_in_rectangle(e->d, (e->has & NOCAP_F_D2) != 0 ? e->d2 : e->d, tile);
    return from || into || ((e->has & NOCAP_F_AT) != 0 && nocap_goes_to(e, tile));
}

enum nocap_status nocap_tiles_untouched(const char *path, bool dense, struct nocap_xy *tiles,
                                        size_t *count, struct nocap_error *err)
{
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t n;
    RETURN_IF_FAILED(nocap_import_open(&reader, path, dense, NULL, err));
    enum nocap_status status = NOCAP_OK;
    while (*count != 0 && (status = nocap_reader_next(reader, &events, &n, err)) == NOCAP_OK) {
        for (size_t i = 0; i < n; i++) {
            size_t left = 0;
            for (size_t t = 0; t < *count; t++) {
                if (!nocap_touches_tile(&events[i], tiles[t])) {
                    tiles[left++] = tiles[t];
                }
            }
            *count = left;
        }
    }
    nocap_reader_close(reader);
    return status == NOCAP_END ? NOCAP_OK : status;
}
