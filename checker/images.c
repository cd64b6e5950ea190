#include "checker/images.h"

#include <string.h>

#include "checker/findings.h"

/* The core of this name; NONE if it is none. */
static enum nocap_agent core_from_name(const char *name)
{
    int agent = nocap_agent_from_name(name, (unsigned)strlen(name));
    return agent >= NOCAP_BY_BRISC && agent <= NOCAP_BY_TRISC2 ? (enum nocap_agent)agent
                                                               : NOCAP_BY_NONE;
}

static enum nocap_status open_options(struct nocap_images *images,
                                      const struct nocap_check_options *options,
                                      struct nocap_error *err)
{
    for (size_t i = 0; i < options->elf_count; i++) {
        enum nocap_agent agent = core_from_name(options->elf[i].name);
        RETURN_ERROR_IF(agent == NOCAP_BY_NONE, err, NOCAP_E_USAGE,
                        "'%.40s' is no core: give an ELF file for brisc, ncrisc, trisc0, trisc1 or "
                        "trisc2",
                        options->elf[i].name);
        RETURN_ERROR_IF(images->by_agent[agent] != NULL, err, NOCAP_E_USAGE,
                        "two ELF files for %s: give one", nocap_agent_name(agent));
        RETURN_IF_FAILED(nocap_elf_open(&images->by_agent[agent], options->elf[i].path, 0, err));
        images->any = true;
    }
    return NOCAP_OK;
}

enum nocap_status nocap_images_open(struct nocap_images *images,
                                    const struct nocap_check_options *options,
                                    const struct nocap_header *header, struct nocap_report *report,
                                    struct nocap_error *err)
{
    *images = (struct nocap_images){.any = false};
    RETURN_IF_FAILED(open_options(images, options, err));
    for (size_t i = 0; i < header->firmware_count; i++) {
        const struct nocap_firmware *firmware = &header->firmware[i];
        enum nocap_agent agent = core_from_name(firmware->core);
        if (agent == NOCAP_BY_NONE || images->by_agent[agent] != NULL) {
            continue;
        }
        struct nocap_error cause;
        if (nocap_elf_open(&images->by_agent[agent], firmware->path, 0, &cause) == NOCAP_OK) {
            images->any = true;
            continue;
        }
        images->by_agent[agent] = NULL;
        char note[sizeof cause.text + 64];
        snprintf(note, sizeof note, "the trace names firmware for %s, give it with --elf: %s",
                 nocap_agent_name(agent), cause.text);
        RETURN_IF_FAILED(nocap_report_add_note(report, note, err));
    }
    return NOCAP_OK;
}

void nocap_images_close(struct nocap_images *images)
{
    for (size_t i = 0; i < sizeof images->by_agent / sizeof images->by_agent[0]; i++) {
        nocap_elf_close(images->by_agent[i]);
    }
}
