/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of AIE control code, from an ELF file in either layout, or from a bare column image.
 * Reading is lenient: what is odd about the envelope is said, not refused, as long as pages can be
 * found. Source: AIE control code fact sheet, section 3. */
#ifndef NOCAP_AIE_IMAGE_H
#define NOCAP_AIE_IMAGE_H

#include "base/status.h"
#include "formats/aie/chip.h"
#include "formats/aie/isa.h"

struct nocap_aie_page {
    uint32_t uc;           /* column */
    uint32_t index;        /* in the column, as the section's name says; a bare image: its place */
    uint32_t group;        /* of a file that holds several kernels; 0: none */
    const uint8_t *bytes;  /* always NOCAP_AIE_PAGE_SIZE: header, text, data, zeros */
    uint32_t text_size;    /* header, jobs, EOF, filler; 0 if the layout does not tell */
    uint32_t section_size; /* bytes that the file has of it, text and data; may be wrong */
    bool has_text, has_data;     /* the sections exist; both, unless something is missing */
    const char *section;         /* name of the section that holds the text */
    uint32_t text_section_index; /* in the ELF file, 0: none */
    uint32_t place;              /* of its bytes in the image's memory, if `bytes` is not known */
};

/* DWARF of one kernel: what of its sections tells lines. */
enum nocap_aie_debug_section {
    NOCAP_AIE_DEBUG_INFO,
    NOCAP_AIE_DEBUG_ABBREV,
    NOCAP_AIE_DEBUG_LINE,
    NOCAP_AIE_DEBUG_STR,
    NOCAP_AIE_DEBUG_SECTIONS
};
struct nocap_aie_debug {
    const uint8_t *bytes[NOCAP_AIE_DEBUG_SECTIONS]; /* NULL: the file has none */
    size_t size[NOCAP_AIE_DEBUG_SECTIONS];
};

/* A kernel of a file that holds several, as XRT names it. */
struct nocap_aie_kernel {
    uint32_t group;
    char *name; /* "<kernel>:<instance>"; the group's number if the file has no name */
    const char *symbol, *instance; /* "_Z3DPUPcPc", "first"; NULL: the file has no name */
    const uint8_t *map;            /* section .dump, the debug map: lines.h; NULL: none */
    size_t map_size;
};

#define NOCAP_AIE_NO_GROUP UINT32_MAX

/* The buffers of a column, and its control packets; or a section that the file has for others. */
struct nocap_aie_buffer {
    const char *section;
    bool custom;
    uint32_t group; /* NOCAP_AIE_NO_GROUP: of all kernels */
    const uint8_t *bytes;
    size_t size;
};

/* A transaction stream, which files of aie2 and aie2p have instead of pages: see txn.h. */
struct nocap_aie_stream {
    const char *section;
    uint32_t group; /* NOCAP_AIE_NO_GROUP: of all kernels */
    const uint8_t *bytes;
    size_t size;
};

/* A relocation. Which page it belongs to is known if its symbol's section is one. */
struct nocap_aie_relocation {
    uint32_t type;   /* enum nocap_aie_relocation_type */
    uint32_t offset; /* r_offset as it stands in the file */
    uint32_t addend;
    const char *symbol;     /* argument number, "control-code-0", ..; NULL: not in the file */
    uint32_t section_index; /* of the symbol */
    const char *section;    /* its name; NULL: no such section */
    uint64_t section_size;  /* bytes of it */
    uint32_t group;         /* of the section; NOCAP_AIE_NO_GROUP: of all kernels */
    const struct nocap_aie_page *page; /* NULL: the section holds no page */
    uint32_t page_offset; /* first byte that is patched, from the page's start, if there is one */
};

/* Of the ELF header. */
enum {
    NOCAP_AIE_MACHINE = 1, /* EM_M32, taken for this */
    NOCAP_AIE_OSABI = 0x40,
    NOCAP_AIE_ABI_VERSION = 2,
    NOCAP_AIE_OSABI_STREAMS = 0x45, /* aie2 and aie2p */
};
#define NOCAP_AIE_SHT_CUSTOM UINT32_C(0x80000001) /* type of sections that are of no kernel */

struct nocap_aie_image {
    bool elf; /* false: a bare column image */
    /* What the file tells of them: its OS ABI and version, relocations, instructions. Who knows
     * better may set them. */
    enum nocap_aie_dialect dialect;
    enum nocap_aie_chip chip; /* NOCAP_AIE_CHIP_UNKNOWN: nothing tells */
    bool part;                /* one kernel of several was chosen */
    bool merged;              /* one section a column holds whole pages */
    uint8_t elf_class, os_abi, abi_version;
    uint16_t elf_type, machine;
    struct nocap_aie_page *pages; /* by group, uc, index */
    size_t page_count;
    size_t repeated;     /* sections with a page's name that another one had before: not read */
    size_t column_count; /* pairs of group and uc that have pages */
    struct nocap_aie_stream *streams;
    size_t stream_count; /* 0: it has pages */
    struct nocap_aie_relocation *relocations;
    size_t relocation_count;
    struct nocap_aie_buffer *buffers;
    size_t buffer_count;
    struct nocap_aie_kernel *kernels; /* by group */
    size_t kernel_count;              /* 0: the file has one that is not named; its map is this: */
    const uint8_t *map;
    size_t map_size;
    struct nocap_aie_debug *debugs; /* one for each kernel that has DWARF, in any order */
    size_t debug_count;
    bool has_partition;    /* there is a note .note.xrt.configuration ... */
    uint32_t partition;    /* ... which says that the kernels take so many columns */
    uint64_t pad_size;     /* bytes of .pad and .ctrlpkt sections: buffers, control packets */
    bool has_uid;          /* there is a note .note.xrt.UID ... */
    char uid[33];          /* ... which says this */
    char uid_expected[33]; /* MD5 of the sections that it covers, hexadecimal */
    struct nocap_aie_image_memory *memory; /* what the pointers point into */
};

/* Opens an ELF file, or a bare image: a multiple of 8192 bytes in which pages begin with their
 * signature, or a transaction stream. Fails with NOCAP_E_INPUT if it is neither, or an ELF file of
 * something else. If there is no such file, what follows a colon in the path is a kernel, of which
 * the image is then. */
enum nocap_status nocap_aie_image_open(struct nocap_aie_image **image, const char *path,
                                       struct nocap_error *err);
/* The same; "-" is standard input. Not for paths that a trace names. */
enum nocap_status nocap_aie_image_open_input(struct nocap_aie_image **image, const char *path,
                                             struct nocap_error *err);
/* The same from bytes, which are copied; `name` is for messages. */
enum nocap_status nocap_aie_image_open_memory(struct nocap_aie_image **image, const void *bytes,
                                              size_t size, const char *name,
                                              struct nocap_error *err);
void nocap_aie_image_close(struct nocap_aie_image *image); /* NULL is fine */

/* The colon of such a path, after which the kernel stands; NULL: it names a file. */
const char *nocap_aie_path_kernel(const char *path);

/* Leaves one kernel in the image: its pages get group 0. `name` is "<kernel>:<instance>", or the
 * kernel alone if it has one instance; NULL: the only one. Fails with NOCAP_E_INPUT, and a list of
 * the kernels, if there are several, or none of that name. */
enum nocap_status nocap_aie_image_select(struct nocap_aie_image *image, const char *name,
                                         struct nocap_error *err);

/* NULL if there is no such page. */
const struct nocap_aie_page *nocap_aie_image_page(const struct nocap_aie_image *image,
                                                  uint32_t group, uint32_t uc, uint32_t index);

#endif
