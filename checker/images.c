#include "checker/images.h"

#include "checker/findings.h"

static enum nocap_status open_options(struct nocap_images *images,
                                      const struct nocap_check_options *options,
                                      struct nocap_error *err)
{
    for (size_t i = 0; i < options->elf_count; i++) {
        RETURN_IF_FAILED(
            nocap_elf_cores_add(&images->cores, options->elf[i].name, options->elf[i].path, err));
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
        struct nocap_error cause;
        if (nocap_elf_cores_add_named(&images->cores, &header->firmware[i], &cause) == NOCAP_OK) {
            continue;
        }
        char note[sizeof cause.text + 64];
        snprintf(note, sizeof note, "the trace names firmware for %s, give it with --elf: %s",
                 header->firmware[i].core, cause.text);
        RETURN_IF_FAILED(nocap_report_add_note(report, note, err));
    }
    for (size_t i = 0; i <= NOCAP_BY_TRISC2; i++) {
        images->any |= images->cores.image[i] != NULL;
    }
    return NOCAP_OK;
}
