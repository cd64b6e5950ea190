/* SPDX-License-Identifier: Apache-2.0 */
/* Who wrote the bytes that parties wait for. */
#include <string.h>

#include "checker/hang/hang_private.h"
#include "checker/query/cite.h"

/* Whether the wait is seen in bytes of a tile. */
static bool is_seen(const struct nocap_wait *w)
{
    return !w->in_sysmem && w->who.has_tile && w->size > 0 && w->size <= NOCAP_CITE_BYTES;
}

static enum nocap_status keep(struct nocap_hang *h, const struct nocap_cite *cites,
                              const size_t *waits, size_t count, struct nocap_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (cites[i].text[0] != 0) {
            h->waits[waits[i]].written = strdup(cites[i].text);
            RETURN_ERROR_IF(h->waits[waits[i]].written == NULL, err, NOCAP_E_MEMORY,
                            "out of memory");
        }
    }
    return NOCAP_OK;
}

enum nocap_status nocap_hang_cite(struct nocap_hang *h, struct nocap_reader *reader,
                                  const struct nocap_hang_options *options, struct nocap_error *err)
{
    struct nocap_cite cites[NOCAP_CITES_MAX];
    size_t waits[NOCAP_CITES_MAX], count = 0;
    struct nocap_error why;
    for (size_t i = 0; i < h->wait_count && count < NOCAP_CITES_MAX; i++) {
        const struct nocap_wait *w = &h->waits[i].wait;
        if (is_seen(w)) {
            cites[count] = (struct nocap_cite){.bytes = {w->who.at, w->addr, w->addr + w->size - 1},
                                               .chip = w->who.chip,
                                               .before = UINT64_MAX,
                                               .until = options->has_at ? options->at : UINT64_MAX};
            waits[count++] = i;
        }
    }
    /* a pipe cannot be read twice: the answer stands without it */
    if (count == 0 || nocap_reader_seek_index(reader, 0, &why) != NOCAP_OK) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_cite(reader, cites, count, err));
    return keep(h, cites, waits, count, err);
}
