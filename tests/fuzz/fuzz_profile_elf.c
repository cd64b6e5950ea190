/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of ELF files: any bytes are refused with a message, or make a profile that its
 * own JSON makes again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nocap_profile p, back;
    static struct nocap_profile_origins origins;
    struct nocap_error err = {{0}};
    char *text;
    if (nocap_profile_from_elf_memory(&p, &origins, data, size, "fuzz", &err) != NOCAP_OK) {
        require(err.text[0] != '\0');
        return 0;
    }
    require(origins.said != 0 && origins.base != NULL);
    require(nocap_profile_text(&text, &p, &err) == NOCAP_OK);
    require(nocap_profile_read(&back, text, &err) == NOCAP_OK);
    free(text);
    struct nocap_profile_value a, b;
    for (size_t i = 0; nocap_profile_value(&p, i, &a); i++) {
        require(i < NOCAP_PROFILE_VALUES_MAX);
        require(nocap_profile_value(&back, i, &b) && strcmp(a.value, b.value) == 0);
    }
    return 0;
}
