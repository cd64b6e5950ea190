/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of files with control code: owner, type, and what they say. */
#include <stdio.h>
#include <string.h>

#include "formats/aie/image_private.h"

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
