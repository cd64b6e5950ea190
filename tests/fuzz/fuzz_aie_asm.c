/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly text: whatever it is, it is refused with a message, or becomes a file whose text makes
 * the same file again. The first byte chooses the dialect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/aie/asm.h"

enum { IDENTITY_MAX = 8 << 20 }; /* one directive can ask for 512 MiB, which takes a while */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void require_identity(const uint8_t *elf, size_t elf_size,
                             const struct nocap_aie_asm_options *options)
{
    struct nocap_aie_image *image;
    struct nocap_error err = {""};
    char *text = NULL;
    uint8_t *again;
    size_t length = 0, size;
    bool complete;
    FILE *out = open_memstream(&text, &length);
    require(out != NULL);
    require(nocap_aie_image_open_memory(&image, elf, elf_size, "fuzz", &err) == NOCAP_OK);
    require(nocap_aie_disassemble(out, image, options->dialect, &complete, &err) == NOCAP_OK);
    fclose(out);
    require(nocap_aie_assemble_text(&again, &size, text, length, "fuzz", options, &err) ==
            NOCAP_OK);
    require(size == elf_size && memcmp(again, elf, size) == 0);
    nocap_aie_image_close(image);
    free(again);
    free(text);
}

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
    if (elf_size <= IDENTITY_MAX) {
        require_identity(elf, elf_size, &options);
    }
    free(elf);
    return 0;
}
