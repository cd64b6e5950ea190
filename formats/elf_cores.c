/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/elf_cores.h"

#include <string.h>

#include "formats/firmware_files.h"

/* The core of this name; NONE if it is none. */
static enum nocap_agent core_from_name(const char *name)
{
    int agent = nocap_agent_from_name(name, (unsigned)strlen(name));
    return agent >= NOCAP_BY_BRISC && agent <= NOCAP_BY_TRISC2 ? (enum nocap_agent)agent
                                                               : NOCAP_BY_NONE;
}

enum nocap_status nocap_elf_cores_add(struct nocap_elf_cores *cores, const char *name,
                                      const char *path, struct nocap_error *err)
{
    enum nocap_agent agent = core_from_name(name);
    RETURN_ERROR_IF(agent == NOCAP_BY_NONE, err, NOCAP_E_USAGE,
                    "'%.40s' is no RISC: give an ELF file for brisc, ncrisc, trisc0, trisc1 or "
                    "trisc2",
                    name);
    RETURN_ERROR_IF(cores->image[agent] != NULL, err, NOCAP_E_USAGE,
                    "two ELF files for %s: give one", nocap_agent_name(agent));
    return nocap_elf_open(&cores->image[agent], path, 0, err);
}

enum nocap_status elf_cores_add_named(struct nocap_elf_cores *cores, struct firmware_files *files,
                                      const struct nocap_firmware *firmware,
                                      struct nocap_error *err)
{
    enum nocap_agent agent = core_from_name(firmware->core);
    if (agent == NOCAP_BY_NONE || cores->image[agent] != NULL) {
        return NOCAP_OK;
    }
    return firmware_files_core(files, firmware, &cores->image[agent], err);
}

void nocap_elf_cores_close(struct nocap_elf_cores *cores)
{
    for (size_t i = 0; i < sizeof cores->image / sizeof cores->image[0]; i++) {
        nocap_elf_close(cores->image[i]);
        cores->image[i] = NULL;
    }
}

const char *nocap_elf_cores_symbol(const struct nocap_elf_cores *cores, unsigned agent, uint64_t pc,
                                   uint32_t *offset)
{
    bool known = agent <= NOCAP_BY_TRISC2 && cores->image[agent] != NULL && pc <= UINT32_MAX;
    return known ? nocap_elf_symbol(cores->image[agent], (uint32_t)pc, offset) : NULL;
}
