/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files: whatever the bytes are, opening fails with a message or gives an image whose segments
 * can be read. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/elf_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nocap_elf_image *image;
    struct nocap_error err = {""};
    if (nocap_elf_open_memory(&image, data, size, "fuzz", 0x82B0, &err) != NOCAP_OK) {
        if (image || err.text[0] == '\0') {
            abort();
        }
        return 0;
    }
    uint32_t sum = nocap_elf_text_base(image), offset;
    for (size_t i = 0; i < nocap_elf_segment_count(image); i++) {
        const struct nocap_elf_segment *segment = nocap_elf_segment(image, i);
        for (uint32_t b = 0; b < segment->file_size; b++) {
            sum += segment->bytes[b];
        }
        for (uint32_t step = 0; step < 16; step++) {
            const char *name = nocap_elf_symbol(image, segment->link_address + step * 4, &offset);
            sum += name ? (uint32_t)strlen(name) + offset : 0;
        }
    }
    volatile uint32_t keep = sum;
    (void)keep;
    nocap_elf_close(image);
    return 0;
}
