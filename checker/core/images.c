/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/images.h"

#include <string.h>

#include "checker/core/findings.h"
#include "formats/firmware_files.h"

/* Where the control code of this name belongs: "uc" all columns, "uc<n>" one; NULL: no uC. */
static struct nocap_aie_image **column(struct nocap_images *images, const char *name)
{
    int agent = nocap_agent_from_name(name, (unsigned)strlen(name));
    return strcmp(name, "uc") == 0      ? &images->control
           : agent >= (int)NOCAP_BY_UC0 ? &images->own[(unsigned)agent - NOCAP_BY_UC0]
                                        : NULL;
}

static bool is_core_name(const char *name)
{
    int agent = nocap_agent_from_name(name, (unsigned)strlen(name));
    return agent >= (int)NOCAP_BY_BRISC && agent <= (int)NOCAP_BY_TRISC2;
}

/* Of one kernel: the path says of which, if the file holds several. */
static enum nocap_status open_control(struct nocap_aie_image **image, const char *path,
                                      struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_aie_image_open(image, path, err));
    enum nocap_status status = nocap_aie_image_select(*image, NULL, err);
    if (status != NOCAP_OK) {
        nocap_aie_image_close(*image);
        *image = NULL;
    }
    return status;
}

static enum nocap_status open_options(struct nocap_images *images,
                                      const struct nocap_check_options *options,
                                      struct nocap_error *err)
{
    for (size_t i = 0; i < options->elf_count; i++) {
        const struct nocap_elf_arg *arg = &options->elf[i];
        struct nocap_aie_image **image = column(images, arg->name);
        RETURN_ERROR_IF(image != NULL && *image != NULL, err, NOCAP_E_USAGE,
                        "two ELF files for %s: give one", arg->name);
        RETURN_ERROR_IF(image == NULL && !is_core_name(arg->name), err, NOCAP_E_USAGE,
                        "'%.40s' is no RISC: give an ELF file for brisc, ncrisc, trisc0, trisc1 or "
                        "trisc2, or of AIE control code for uc (all columns) or uc<n>",
                        arg->name);
        RETURN_IF_FAILED(image != NULL
                             ? open_control(image, arg->path, err)
                             : nocap_elf_cores_add(&images->cores, arg->name, arg->path, err));
    }
    return NOCAP_OK;
}

static enum nocap_status open_named(struct nocap_images *images, struct firmware_files *files,
                                    const struct nocap_firmware *firmware, struct nocap_error *err)
{
    struct nocap_aie_image **image = column(images, firmware->core);
    if (image == NULL) {
        return elf_cores_add_named(&images->cores, files, firmware, err);
    }
    return *image != NULL ? NOCAP_OK : firmware_files_control(files, firmware, image, err);
}

static enum nocap_status open_header(struct nocap_images *images, struct firmware_files *files,
                                     const struct nocap_header *header, struct nocap_report *report,
                                     struct nocap_error *err)
{
    struct nocap_error problem;
    for (size_t i = 0; i < header->firmware_count; i++) {
        RETURN_IF_FAILED(open_named(images, files, &header->firmware[i], err));
    }
    report->unopened = report->note_count;
    for (size_t i = 0; firmware_files_problem(files, i, &problem) == NOCAP_OK; i++) {
        if (problem.text[0] != 0) {
            RETURN_IF_FAILED(nocap_report_add_note(report, "elf-not-opened", problem.text, err));
        }
    }
    report->unopened_count = report->note_count - report->unopened;
    return NOCAP_OK;
}

enum nocap_status nocap_images_open(struct nocap_images *images,
                                    const struct nocap_check_options *options, const char *trace,
                                    const struct nocap_header *header, struct nocap_report *report,
                                    struct nocap_error *err)
{
    struct firmware_files files;
    *images = (struct nocap_images){.any = false};
    RETURN_IF_FAILED(open_options(images, options, err));
    enum nocap_status status = firmware_files_open(&files, trace, options->trust_paths, err);
    if (status == NOCAP_OK) {
        status = open_header(images, &files, header, report, err);
    }
    firmware_files_close(&files);
    RETURN_IF_FAILED(status);
    for (size_t i = 0; i <= NOCAP_BY_TRISC2; i++) {
        images->any |= images->cores.image[i] != NULL;
    }
    for (size_t i = 0; i < NOCAP_UCS; i++) {
        images->by_uc[i] = images->own[i] != NULL ? images->own[i] : images->control;
        images->any |= images->by_uc[i] != NULL;
    }
    return NOCAP_OK;
}

void nocap_images_close(struct nocap_images *images)
{
    nocap_elf_cores_close(&images->cores);
    for (size_t i = 0; i < NOCAP_UCS; i++) {
        nocap_aie_image_close(images->own[i]);
    }
    nocap_aie_image_close(images->control);
}
