/* Assembly text: whatever it is, it is refused with a message, or becomes a file whose text
 * assembles again. The first byte chooses the dialect. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/aie/asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *elf;
    size_t elf_size;
    struct nocap_error err = {""};
    if (size == 0) {
        return 0;
    }
    const struct nocap_aie_asm_options options = {
        .dialect = (enum nocap_aie_dialect)(data[0] % NOCAP_AIE_DIALECT_COUNT)};
    if (nocap_aie_assemble_text(&elf, &elf_size, (const char *)data + 1, size - 1, "fuzz", &options,
                                &err) != NOCAP_OK) {
        if (elf != NULL || err.text[0] == '\0') {
            abort();
        }
        return 0;
    }
    struct nocap_aie_image *image;
    if (nocap_aie_image_open_memory(&image, elf, elf_size, "fuzz", &err) != NOCAP_OK) {
        abort();
    }
    nocap_aie_image_close(image);
    free(elf);
    return 0;
}
