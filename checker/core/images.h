/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: the ELF files of a run: firmware of cores, control code of AIE. */
#ifndef NOCAP_CHECKER_CORE_IMAGES_H
#define NOCAP_CHECKER_CORE_IMAGES_H

#include "checker/core/checker.h"
#include "formats/elf_cores.h"

struct nocap_images {
    struct nocap_elf_cores cores;
    struct nocap_aie_image *control;        /* control code of all columns; NULL: not given */
    struct nocap_aie_image *own[NOCAP_UCS]; /* of one column; NULL: not given */
    const struct nocap_aie_image *by_uc[NOCAP_UCS]; /* what holds for each */
    bool any;
};

/* Opens what the options name, and for other cores what the header names, below the folder of
 * `trace`. An option's file that cannot be read fails; a header's file becomes a note of the
 * report, since a trace travels without its files. Close it whatever comes. */
enum nocap_status nocap_images_open(struct nocap_images *images,
                                    const struct nocap_check_options *options, const char *trace,
                                    const struct nocap_header *header, struct nocap_report *report,
                                    struct nocap_error *err);
void nocap_images_close(struct nocap_images *images);

#endif
