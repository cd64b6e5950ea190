/* SPDX-License-Identifier: Apache-2.0 */
/* What is found in a ring file: the input is the content of two rings. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/rings/ring_merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of its very size, so that a sanitizer sees what lies beyond. */
static void fill(struct ring_cursor *c, const uint8_t *data, size_t size)
{
    uint8_t *base = malloc(size + 1);
    if (base != NULL) {
        memcpy(base, data, size);
        *c = (struct ring_cursor){.base = base, .end = size};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ring_merge *m = calloc(1, sizeof *m);
    size_t half = size / 2 / sizeof(uint64_t) * sizeof(uint64_t);
    if (m == NULL || size > RING_BYTES_MIN) {
        free(m);
        return 0;
    }
    m->ring_bytes = RING_BYTES_MIN;
    m->count = 2;
    m->clock.mult = UINT64_C(1) << 32;
    fill(&m->cursor[0], data, half);
    fill(&m->cursor[1], data + half, size - half);
    const struct nocap_event *event;
    uint64_t hash = 0, taken = 0;
    while ((event = ring_merge_next(m, UINT64_MAX)) != NULL) {
        hash = nocap_fnv1a64(hash, event->data, event->data_size);
        if (event->kind >= NOCAP_EV_COUNT || ++taken > size) {
            abort(); /* an event of nothing */
        }
    }
    free((void *)m->cursor[0].base);
    free((void *)m->cursor[1].base);
    free(m);
    return (int)(hash & 0);
}
