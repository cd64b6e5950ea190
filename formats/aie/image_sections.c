/* SPDX-License-Identifier: Apache-2.0 */
/* What sections with control code say by their names, in notes, and of DWARF. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/image_private.h"

/* ---- names of those that hold pages ---- */

bool aie_image_take_number(const char **text, uint32_t *number)
{
    enum { DIGITS_MAX = 9 };
    const char *p = *text;
    unsigned digits = 0;
    *number = 0;
    if (*p++ != '.') {
        return false;
    }
    while (isdigit((unsigned char)*p) && digits < DIGITS_MAX) {
        *number = *number * 10 + (uint32_t)(*p++ - '0');
        digits++;
    }
    *text = p;
    return digits != 0;
}

bool aie_image_page_name(const char *name, bool merged, struct aie_page_name *page)
{
    static const char text[] = ".ctrltext", data[] = ".ctrldata";
    *page = (struct aie_page_name){.text = strncmp(name, text, sizeof text - 1) == 0};
    if (!page->text && strncmp(name, data, sizeof data - 1) != 0) {
        return false;
    }
    name += sizeof text - 1;
    if (!aie_image_take_number(&name, &page->uc) ||
        !(merged || aie_image_take_number(&name, &page->index))) {
        return false;
    }
    page->grouped = *name != 0;
    return !page->grouped || (aie_image_take_number(&name, &page->group) && *name == 0);
}

/* ---- notes: owner, type, and what they say ---- */

/* What a note of owner "XRT" holds, if that has `size` bytes; else NULL. */
static const uint8_t *note_content(const uint8_t *note, size_t note_size, uint32_t size)
{
    enum { NAME_SIZE = 4, HEAD = 12 };
    bool fits = note_size >= HEAD + NAME_SIZE + size && nocap_aie_u32(note) == NAME_SIZE &&
                nocap_aie_u32(note + 4) == size;
    return fits ? note + HEAD + NAME_SIZE : NULL;
}

/* 32 hexadecimal digits, or the 16 bytes that they stand for, which is all that XRT takes. */
void aie_image_read_uid(struct nocap_aie_image *image, const uint8_t *note, size_t size)
{
    enum { DIGITS = 32, BYTES = DIGITS / 2 };
    const uint8_t *digits = note_content(note, size, DIGITS),
                  *bytes = note_content(note, size, BYTES);
    if (digits != NULL) {
        memcpy(image->uid, digits, DIGITS);
    }
    for (int i = 0; bytes != NULL && i < BYTES; i++) {
        snprintf(image->uid + 2 * i, 3, "%02x", bytes[i]);
    }
    image->has_uid = digits != NULL || bytes != NULL;
}

void aie_image_read_partition(struct nocap_aie_image *image, const uint8_t *note, size_t size)
{
    const uint8_t *count = note_content(note, size, sizeof(uint32_t));
    image->has_partition = count != NULL;
    image->partition = count == NULL ? 0 : nocap_aie_u32(count);
}

/* ---- DWARF: sections of the same name, one for each kernel; the n-th of each belong together ----
 */

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
