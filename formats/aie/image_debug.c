/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF of control code: sections of the same name, one for each kernel; the n-th of each name
 * belong together. */
#include <string.h>

#include "base/list.h"
#include "formats/aie/image_private.h"

static const char *const names[] = {[NOCAP_AIE_DEBUG_INFO] = ".debug_info",
                                    [NOCAP_AIE_DEBUG_ABBREV] = ".debug_abbrev",
                                    [NOCAP_AIE_DEBUG_LINE] = ".debug_line",
                                    [NOCAP_AIE_DEBUG_STR] = ".debug_str"};

static bool add(struct nocap_aie_image *image, unsigned which, const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    while (at < image->debug_count && image->debugs[at].bytes[which] != NULL) {
        at++;
    }
    if (at == image->debug_count) {
        struct nocap_aie_debug *next =
            at >= AIE_KERNELS_MAX ? NULL : LIST_NEXT(image->debugs, image->debug_count);
        if (next == NULL) {
            return false;
        }
        *next = (struct nocap_aie_debug){.size = {0}};
        image->debug_count++;
    }
    image->debugs[at].bytes[which] = bytes;
    image->debugs[at].size[which] = size;
    return true;
}

bool aie_image_add_debug(struct nocap_aie_image *image, const char *name, const uint8_t *bytes,
                         size_t size)
{
    bool added = true;
    for (unsigned i = 0; i < NOCAP_AIE_DEBUG_SECTIONS && bytes != NULL; i++) {
        added &= strcmp(name, names[i]) != 0 || add(image, i, bytes, size);
    }
    return added;
}
