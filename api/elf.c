/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "checker/core/checker.h"

enum nocap_status api_elf_split(struct nocap_elf_arg **args, const char *const *texts, size_t count,
                                struct nocap_error *err)
{
    *args = calloc(count + 1, sizeof **args);
    RETURN_ERROR_IF(*args == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *sign = strchr(texts[i], '=');
        RETURN_ERROR_IF(sign == NULL || sign == texts[i] || sign[1] == '\0', err, NOCAP_E_USAGE,
                        "an ELF file is given as CORE=FILE, not '%.100s'", texts[i]);
        (*args)[i].path = sign + 1;
        (*args)[i].name = strndup(texts[i], (size_t)(sign - texts[i]));
        RETURN_ERROR_IF((*args)[i].name == NULL, err, NOCAP_E_MEMORY, "out of memory");
    }
    return NOCAP_OK;
}

void api_elf_free(struct nocap_elf_arg *args, size_t count)
{
    for (size_t i = 0; args != NULL && i < count; i++) {
        free((char *)args[i].name);
    }
    free(args);
}
