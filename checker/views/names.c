/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "checker/views/view.h"

enum { NAMES_MAX = 1 << 16, SLOTS = 2 * NAMES_MAX, NAME_BYTES = 120 };

bool view_names_init(struct view_names *names)
{
    *names = (struct view_names){.texts = calloc(NAMES_MAX, sizeof *names->texts),
                                 .slots = calloc(SLOTS, sizeof *names->slots)};
    return names->texts != NULL && names->slots != NULL;
}

void view_names_free(struct view_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        free(names->texts[i]);
    }
    free(names->texts);
    free(names->slots);
}

uint32_t view_name(struct view_names *names, const char *name, bool *is_new)
{
    uint64_t size = strlen(name);
    uint32_t slot = (uint32_t)(nocap_fnv1a64(NOCAP_FNV1A64_START, name, size) >> 20) % SLOTS;
    while (names->slots[slot] != 0) {
        if (strcmp(names->texts[names->slots[slot] - 1], name) == 0) {
            return names->slots[slot];
        }
        slot = (slot + 1) % SLOTS;
    }
    char *copy = names->count < NAMES_MAX && size <= NAME_BYTES ? strdup(name) : NULL;
    if (copy == NULL) {
        return 0;
    }
    names->texts[names->count++] = copy;
    names->slots[slot] = names->count;
    if (is_new != NULL) {
        *is_new = true;
    }
    return names->count;
}
