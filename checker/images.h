/* Private to checker: the firmware ELF files of a run. */
#ifndef NOCAP_CHECKER_IMAGES_H
#define NOCAP_CHECKER_IMAGES_H

#include "checker/checker.h"
#include "formats/elf_cores.h"

struct nocap_images {
    struct nocap_elf_cores cores;
    bool any;
};

/* Opens what the options name, and for other cores what the header names. An option's file that
 * cannot be read fails; a header's file becomes a note of the report, since a trace travels without
 * its files. Close the cores whatever comes. */
enum nocap_status nocap_images_open(struct nocap_images *images,
                                    const struct nocap_check_options *options,
                                    const struct nocap_header *header, struct nocap_report *report,
                                    struct nocap_error *err);

#endif
