/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: how an image is put together. */
#ifndef NOCAP_AIE_IMAGE_PRIVATE_H
#define NOCAP_AIE_IMAGE_PRIVATE_H

#include <libelf.h>

#include "base/regular_file.h"
#include "formats/aie/image.h"

enum {
    AIE_PAGES_MAX = 32640, /* of a control code; more than firmware can address */
    AIE_FILE_MAX = 512 << 20,
    AIE_KERNELS_MAX = 1024,
    AIE_NAME_WINDOW = 4096, /* how far apart the two sections of a page may stand, in pages */
};

struct nocap_aie_image_memory {
    uint8_t *file; /* the whole file; names point into it */
    size_t size;
    Elf *elf;
    uint8_t *content; /* of pages that do not stand whole in the file: NOCAP_AIE_PAGE_SIZE each */
    size_t content_count;
    char *name;      /* for messages */
    unsigned others; /* who else has the image: each closes it */
};

/* The image of an open file of at most AIE_FILE_MAX bytes; `name` is for messages. */
enum nocap_status aie_image_read(struct nocap_aie_image **image, const struct regular_file *file,
                                 const char *name, struct nocap_error *err);
/* The same image once more: nocap_aie_image_close is called once more, too. */
struct nocap_aie_image *aie_image_share(struct nocap_aie_image *image);

/* A new page: of these bytes, which the image's memory holds, or of zeros for NULL. NULL if there
 * are too many, or no memory. */
struct nocap_aie_page *aie_image_add_page(struct nocap_aie_image *image, const uint8_t *bytes);
/* Of a page of zeros: where its bytes are put together. */
uint8_t *aie_image_content(const struct nocap_aie_image *image, const struct nocap_aie_page *page);

/* One more transaction stream; false: no memory. */
bool aie_image_add_stream(struct nocap_aie_image *image, const struct nocap_aie_stream *stream);
/* The kernel of a group, made when it is met first; NULL if there are too many, or no memory. */
struct nocap_aie_kernel *aie_image_kernel(struct nocap_aie_image *image, uint32_t group);
/* Sorts the kernels, and names those that have no name by their number. */
enum nocap_status aie_image_finish_kernels(struct nocap_aie_image *image, struct nocap_error *err);

/* Sets dialect and chip by what the file has. */
void aie_image_identify(struct nocap_aie_image *image);

/* Takes a section if it is one of DWARF; false: too many, or no memory. */
bool aie_image_add_debug(struct nocap_aie_image *image, const char *name, const uint8_t *bytes,
                         size_t size);

/* What the notes .note.xrt.UID and .note.xrt.configuration say. */
void aie_image_read_uid(struct nocap_aie_image *image, const uint8_t *note, size_t size);
void aie_image_read_partition(struct nocap_aie_image *image, const uint8_t *note, size_t size);

/* What ".ctrltext.<uc>.<page>[.<group>]" says; merged: ".ctrltext.<uc>[.<group>]". */
struct aie_page_name {
    bool text, grouped;
    uint32_t uc, index, group;
};
/* ".123": a number of at most 9 digits; false if there is none. */
bool aie_image_take_number(const char **text, uint32_t *number);
/* False: the section is none of a page. */
bool aie_image_page_name(const char *name, bool merged, struct aie_page_name *page);

/* Fills the image from the ELF file in its memory. */
enum nocap_status aie_image_read_elf(struct nocap_aie_image *image, struct nocap_error *err);

#endif
