/* SPDX-License-Identifier: Apache-2.0 */
/* Control code in ELF files: sections by name, pages from them, relocations. */
#include <ctype.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/image_private.h"
#include "formats/aie/md5.h"

enum {
    ABI_PYTHON = 0x01, /* its relocations have another form */
    ABI_MERGED = 0x21, /* one section holds all pages of a column */
    ZLIB_RATIO_MAX = 1032,
};

static const char no_kernel[] = "%s: more than %d kernels, or out of memory";

/* A section of the file, inflated if it was compressed. */
struct section {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    uint32_t type, link, info, index;
    uint32_t group; /* that has it as a member; NOCAP_AIE_NO_GROUP */
};

struct reader {
    struct nocap_aie_image *image;
    struct nocap_aie_image_memory *memory;
    size_t names;             /* index of the section of names */
    struct section *sections; /* by index; [0] is none */
    size_t section_count;
    struct nocap_md5 md5;
};

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- sections ---- */

/* Inflates a section in place; false if its header is a lie. */
static bool inflate(Elf_Scn *scn, const GElf_Shdr *header)
{
    GElf_Chdr chdr;
    return gelf_getchdr(scn, &chdr) != NULL && chdr.ch_size / ZLIB_RATIO_MAX <= header->sh_size &&
           elf_compress(scn, 0, 0) >= 0;
}

static enum nocap_status read_section(const struct reader *r, Elf_Scn *scn, struct section *section,
                                      struct nocap_error *err)
{
    GElf_Shdr header;
    *section = (struct section){.index = (uint32_t)elf_ndxscn(scn), .group = NOCAP_AIE_NO_GROUP};
    RETURN_ERROR_IF(gelf_getshdr(scn, &header) == NULL, err, NOCAP_E_INPUT,
                    "%s: the header of section %u cannot be read (%s)", r->memory->name,
                    section->index, elf_errmsg(-1));
    section->name = elf_strptr(r->memory->elf, r->names, header.sh_name);
    section->name = section->name == NULL ? "" : section->name;
    section->type = header.sh_type;
    section->link = header.sh_link;
    section->info = header.sh_info;
    if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) {
        return NOCAP_OK;
    }
    RETURN_ERROR_IF(header.sh_offset > r->memory->size ||
                        header.sh_size > r->memory->size - header.sh_offset,
                    err, NOCAP_E_INPUT, "%s: section %u (%.60s) reaches past the end of the file",
                    r->memory->name, section->index, section->name);
    section->bytes = r->memory->file + header.sh_offset;
    section->size = header.sh_size;
    if ((header.sh_flags & SHF_COMPRESSED) != 0) {
        Elf_Data *data = inflate(scn, &header) ? elf_rawdata(scn, NULL) : NULL;
        RETURN_ERROR_IF(data == NULL, err, NOCAP_E_INPUT,
                        "%s: section %u (%.60s) cannot be inflated (%s)", r->memory->name,
                        section->index, section->name, elf_errmsg(-1));
        section->bytes = data->d_buf;
        section->size = data->d_size;
    }
    return NOCAP_OK;
}

/* ---- pages ---- */

static struct nocap_aie_page *find_page(struct nocap_aie_image *image,
                                        const struct aie_page_name *name)
{
    /* The two sections of a page stand together. */
    for (size_t i = image->page_count; i-- > 0;) {
        struct nocap_aie_page *page = &image->pages[i];
        if (page->uc == name->uc && page->index == name->index && page->group == name->group) {
            return page;
        }
        if (image->page_count - i > AIE_NAME_WINDOW) {
            break;
        }
    }
    return NULL;
}

static enum nocap_status new_page(struct reader *r, const struct aie_page_name *name,
                                  const uint8_t *bytes, struct nocap_aie_page **page,
                                  struct nocap_error *err)
{
    *page = aie_image_add_page(r->image, bytes);
    RETURN_ERROR_IF(*page == NULL, err, NOCAP_E_MEMORY, "%s: more than %d pages, or out of memory",
                    r->memory->name, AIE_PAGES_MAX);
    (*page)->uc = name->uc;
    (*page)->index = name->index;
    (*page)->group = name->group;
    return NOCAP_OK;
}

/* Copies the section after what the page has already; it may have all of its bytes. */
static void append(struct reader *r, struct nocap_aie_page *page, const struct section *section)
{
    uint32_t used =
        page->section_size < NOCAP_AIE_PAGE_SIZE ? page->section_size : NOCAP_AIE_PAGE_SIZE;
    size_t fits =
        NOCAP_AIE_PAGE_SIZE - used < section->size ? NOCAP_AIE_PAGE_SIZE - used : section->size;
    if (fits != 0 && page->bytes == NULL) {
        memcpy(aie_image_content(r->image, page) + used, section->bytes, fits);
    }
    page->section_size =
        section->size > UINT32_MAX - used ? UINT32_MAX : used + (uint32_t)section->size;
}

/* One of the two sections of a page. */
static enum nocap_status add_part(struct reader *r, const struct section *section,
                                  const struct aie_page_name *name, struct nocap_error *err)
{
    struct nocap_aie_page *page = find_page(r->image, name);
    if (page == NULL) {
        RETURN_IF_FAILED(new_page(r, name, NULL, &page, err));
    }
    bool *has = name->text ? &page->has_text : &page->has_data;
    if (*has || (name->text && page->has_data)) {
        r->image->repeated++;
        return NOCAP_OK;
    }
    *has = true;
    append(r, page, section);
    if (name->text) {
        page->text_size =
            page->section_size < NOCAP_AIE_PAGE_SIZE ? page->section_size : NOCAP_AIE_PAGE_SIZE;
        page->text_section_index = section->index;
        page->section = section->name;
    }
    return NOCAP_OK;
}

/* A section that holds all pages of a column. */
static enum nocap_status add_merged(struct reader *r, const struct section *section,
                                    struct aie_page_name *name, struct nocap_error *err)
{
    for (size_t at = 0; at < section->size; at += NOCAP_AIE_PAGE_SIZE, name->index++) {
        struct nocap_aie_page *page;
        size_t left = section->size - at;
        bool whole = left >= NOCAP_AIE_PAGE_SIZE;
        const struct section part = {.bytes = section->bytes + at,
                                     .size = whole ? NOCAP_AIE_PAGE_SIZE : left};
        RETURN_IF_FAILED(new_page(r, name, whole ? part.bytes : NULL, &page, err));
        append(r, page, &part);
        page->has_text = page->has_data = true;
        page->section = section->name;
        page->text_section_index = section->index;
    }
    return NOCAP_OK;
}

static bool is_custom(const struct section *section)
{
    return section->type == NOCAP_AIE_SHT_CUSTOM;
}

static enum nocap_status add_buffer(const struct reader *r, const struct section *section,
                                    struct nocap_error *err)
{
    struct nocap_aie_image *image = r->image;
    struct nocap_aie_buffer *next = LIST_NEXT(image->buffers, image->buffer_count);
    RETURN_ERROR_IF(next == NULL, err, NOCAP_E_MEMORY, "%s: out of memory", r->memory->name);
    const char *suffix = section->name + strlen(".pad");
    uint32_t uc, group = section->group;
    if (group == NOCAP_AIE_NO_GROUP && has_prefix(section->name, ".pad") &&
        aie_image_take_number(&suffix, &uc) && !aie_image_take_number(&suffix, &group)) {
        group = NOCAP_AIE_NO_GROUP;
    }
    *next = (struct nocap_aie_buffer){.section = section->name,
                                      .custom = is_custom(section),
                                      .group = group,
                                      .bytes = section->bytes,
                                      .size = section->size};
    image->buffer_count++;
    return NOCAP_OK;
}

/* ---- relocations ---- */

static const char *text_at(const struct section *strings, uint32_t at)
{
    return at < strings->size && memchr(strings->bytes + at, 0, strings->size - at) != NULL
               ? (const char *)strings->bytes + at
               : NULL;
}

static const struct section *section_at(const struct reader *r, size_t index)
{
    return index != 0 && index < r->section_count ? &r->sections[index] : NULL;
}

static void fill_symbol(struct reader *r, struct nocap_aie_relocation *relocation,
                        const struct section *symbols, const struct section *strings,
                        uint32_t symbol)
{
    if (symbol >= symbols->size / sizeof(Elf32_Sym)) {
        return;
    }
    const uint8_t *entry = symbols->bytes + (size_t)symbol * sizeof(Elf32_Sym);
    relocation->symbol = text_at(strings, nocap_aie_u32(entry));
    relocation->section_index = nocap_aie_u16(entry + offsetof(Elf32_Sym, st_shndx));
    const struct section *place = section_at(r, relocation->section_index);
    if (place != NULL) {
        relocation->section = place->name;
        relocation->section_size = place->size;
        relocation->group = place->group;
    }
}

static enum nocap_status read_relocations(struct reader *r, const struct section *section,
                                          struct nocap_error *err)
{
    static const struct section none = {.name = ""};
    const struct section *symbols = section_at(r, section->link);
    const struct section *strings = symbols == NULL ? NULL : section_at(r, symbols->link);
    struct nocap_aie_image *image = r->image;
    size_t count = section->size / sizeof(Elf32_Rela);
    if (section->type != SHT_RELA || image->relocations != NULL || count == 0) {
        return NOCAP_OK;
    }
    image->relocations = calloc(count, sizeof *image->relocations);
    RETURN_ERROR_IF(image->relocations == NULL, err, NOCAP_E_MEMORY, "%s: out of memory",
                    r->memory->name);
    image->relocation_count = count;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *entry = section->bytes + i * sizeof(Elf32_Rela);
        uint32_t info = nocap_aie_u32(entry + 4);
        struct nocap_aie_relocation *relocation = &image->relocations[i];
        relocation->offset = nocap_aie_u32(entry);
        relocation->type = ELF32_R_TYPE(info);
        relocation->addend = nocap_aie_u32(entry + 8);
        relocation->group = NOCAP_AIE_NO_GROUP;
        fill_symbol(r, relocation, symbols == NULL ? &none : symbols,
                    strings == NULL ? &none : strings, ELF32_R_SYM(info));
    }
    return NOCAP_OK;
}

/* ---- groups: kernels ---- */

/* "<kernel>:<instance>": the symbol of the group names the instance, and is a symbol "in" that of
 * the kernel, whose name is mangled as _Z<length><name><types>. NULL: it is not so. */
static char *kernel_name(const struct reader *r, const struct section *group,
                         struct nocap_aie_kernel *to)
{
    const struct section *symbols = section_at(r, group->link);
    const struct section *strings = symbols == NULL ? NULL : section_at(r, symbols->link);
    size_t count = symbols == NULL ? 0 : symbols->size / sizeof(Elf32_Sym);
    if (strings == NULL || group->info >= count || r->image->elf_class != ELFCLASS32) {
        return NULL;
    }
    const uint8_t *entry = symbols->bytes + (size_t)group->info * sizeof(Elf32_Sym);
    uint32_t kernel = nocap_aie_u16(entry + offsetof(Elf32_Sym, st_shndx));
    const char *instance = text_at(strings, nocap_aie_u32(entry));
    if (kernel >= count || instance == NULL) {
        return NULL;
    }
    const char *mangled =
        text_at(strings, nocap_aie_u32(symbols->bytes + (size_t)kernel * sizeof(Elf32_Sym)));
    char *name = NULL, *rest;
    to->symbol = mangled;
    to->instance = mangled == NULL ? NULL : instance;
    if (mangled == NULL || !has_prefix(mangled, "_Z") || !isdigit((unsigned char)mangled[2])) {
        return NULL;
    }
    unsigned long length = strtoul(mangled + 2, &rest, 10);
    return length > strlen(rest) || asprintf(&name, "%.*s:%s", (int)length, rest, instance) < 0
               ? NULL
               : name;
}

/* ".group.<number>": a word of flags, then the sections that belong to it. */
static enum nocap_status read_group(struct reader *r, const struct section *section,
                                    struct nocap_error *err)
{
    static const char prefix[] = ".group";
    const char *digits = section->name + sizeof prefix - 1;
    uint32_t group;
    if (section->type != SHT_GROUP || !has_prefix(section->name, prefix) ||
        !aie_image_take_number(&digits, &group) || *digits != 0) {
        return NOCAP_OK;
    }
    struct nocap_aie_kernel *kernel = aie_image_kernel(r->image, group);
    RETURN_ERROR_IF(kernel == NULL, err, NOCAP_E_MEMORY, no_kernel, r->memory->name,
                    AIE_KERNELS_MAX);
    if (kernel->name == NULL) {
        kernel->name = kernel_name(r, section, kernel);
    }
    for (size_t at = sizeof(Elf32_Word); at + sizeof(Elf32_Word) <= section->size;
         at += sizeof(Elf32_Word)) {
        uint32_t member = nocap_aie_u32(section->bytes + at);
        if (member < r->section_count) {
            r->sections[member].group = group;
        }
    }
    return NOCAP_OK;
}

static enum nocap_status add_map(struct reader *r, const struct section *section,
                                 struct nocap_error *err)
{
    if (section->group == NOCAP_AIE_NO_GROUP) {
        r->image->map = section->bytes;
        r->image->map_size = section->size;
        return NOCAP_OK;
    }
    struct nocap_aie_kernel *kernel = aie_image_kernel(r->image, section->group);
    RETURN_ERROR_IF(kernel == NULL, err, NOCAP_E_MEMORY, no_kernel, r->memory->name,
                    AIE_KERNELS_MAX);
    kernel->map = section->bytes;
    kernel->map_size = section->size;
    return NOCAP_OK;
}

/* ---- all of it ---- */

/* Code of aie2 and aie2p. */
static bool is_stream(const struct nocap_aie_image *image, const char *name)
{
    return image->os_abi == NOCAP_AIE_OSABI_STREAMS &&
           (has_prefix(name, ".ctrltext") || has_prefix(name, ".preempt_save") ||
            has_prefix(name, ".preempt_restore"));
}

static enum nocap_status take_section(struct reader *r, const struct section *section,
                                      struct nocap_error *err)
{
    struct nocap_aie_image *image = r->image;
    struct aie_page_name name;
    bool streams = image->os_abi == NOCAP_AIE_OSABI_STREAMS;
    bool page = !streams && aie_image_page_name(section->name, image->merged, &name);
    bool pad = has_prefix(section->name, ".pad") || has_prefix(section->name, ".ctrlpkt") ||
               (streams && has_prefix(section->name, ".ctrldata"));
    bool map = strcmp(section->name, ".dump") == 0 || has_prefix(section->name, ".dump.");
    if (page || pad || map || is_custom(section)) {
        nocap_md5_update(&r->md5, section->bytes, section->size);
    }
    if (is_custom(section)) {
        return add_buffer(r, section, err);
    }
    if (map) {
        return add_map(r, section, err);
    }
    if (is_stream(image, section->name)) {
        const struct nocap_aie_stream stream = {section->name, section->group, section->bytes,
                                                section->size};
        RETURN_ERROR_IF(!aie_image_add_stream(image, &stream), err, NOCAP_E_MEMORY,
                        "%s: out of memory", r->memory->name);
        return NOCAP_OK;
    }
    if (page) {
        RETURN_ERROR_IF(name.grouped && aie_image_kernel(image, name.group) == NULL, err,
                        NOCAP_E_MEMORY, no_kernel, r->memory->name, AIE_KERNELS_MAX);
        return image->merged ? add_merged(r, section, &name, err)
                             : add_part(r, section, &name, err);
    }
    if (pad) {
        image->pad_size += section->size;
        return add_buffer(r, section, err);
    }
    if (strcmp(section->name, ".note.xrt.UID") == 0) {
        aie_image_read_uid(image, section->bytes, section->size);
    } else if (strcmp(section->name, ".note.xrt.configuration") == 0) {
        aie_image_read_partition(image, section->bytes, section->size);
    } else if (strcmp(section->name, ".rela.dyn") == 0 && image->elf_class == ELFCLASS32 &&
               image->abi_version != ABI_PYTHON) {
        return read_relocations(r, section, err);
    }
    RETURN_ERROR_IF(!aie_image_add_debug(image, section->name, section->bytes, section->size), err,
                    NOCAP_E_MEMORY, no_kernel, r->memory->name, AIE_KERNELS_MAX);
    return NOCAP_OK;
}

static enum nocap_status read_header(struct reader *r, struct nocap_error *err)
{
    GElf_Ehdr header;
    struct nocap_aie_image *image = r->image;
    RETURN_ERROR_IF(elf_version(EV_CURRENT) == EV_NONE, err, NOCAP_E_INTERNAL,
                    "libelf does not know the ELF version of its own header");
    r->memory->elf = elf_memory((char *)r->memory->file, r->memory->size);
    RETURN_ERROR_IF(r->memory->elf == NULL || gelf_getehdr(r->memory->elf, &header) == NULL, err,
                    NOCAP_E_INPUT,
                    "%s: the ELF header cannot be read (%s); the file is cut or damaged",
                    r->memory->name, elf_errmsg(-1));
    RETURN_ERROR_IF(header.e_ident[EI_DATA] != ELFDATA2LSB, err, NOCAP_E_INPUT,
                    "%s: a big-endian ELF file; control code is little-endian", r->memory->name);
    image->elf_class = header.e_ident[EI_CLASS];
    image->os_abi = header.e_ident[EI_OSABI];
    image->abi_version = header.e_ident[EI_ABIVERSION];
    image->elf_type = header.e_type;
    image->machine = header.e_machine;
    image->merged = image->abi_version == ABI_MERGED;
    /* libelf takes a table that it cannot reach for none at all */
    size_t entry = image->elf_class == ELFCLASS32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
    RETURN_ERROR_IF(header.e_shoff > r->memory->size ||
                        header.e_shnum > (r->memory->size - header.e_shoff) / entry ||
                        elf_getshdrstrndx(r->memory->elf, &r->names) != 0,
                    err, NOCAP_E_INPUT,
                    "%s: the section table lies outside the file; the file is cut or damaged",
                    r->memory->name);
    return NOCAP_OK;
}

static enum nocap_status read_sections(struct reader *r, struct nocap_error *err)
{
    size_t count;
    Elf_Scn *scn = NULL;
    RETURN_ERROR_IF(elf_getshdrnum(r->memory->elf, &count) != 0, err, NOCAP_E_INPUT,
                    "%s: the section table cannot be read (%s)", r->memory->name, elf_errmsg(-1));
    r->sections = calloc(count + 1, sizeof *r->sections);
    RETURN_ERROR_IF(r->sections == NULL, err, NOCAP_E_MEMORY, "%s: out of memory", r->memory->name);
    r->section_count = count;
    for (size_t i = 0; i < count; i++) {
        r->sections[i].name = "";
    }
    while ((scn = elf_nextscn(r->memory->elf, scn)) != NULL) {
        size_t index = elf_ndxscn(scn);
        if (index < count) {
            RETURN_IF_FAILED(read_section(r, scn, &r->sections[index], err));
        }
    }
    for (size_t i = 1; i < count; i++) {
        RETURN_IF_FAILED(read_group(r, &r->sections[i], err));
    }
    for (size_t i = 1; i < count; i++) {
        RETURN_IF_FAILED(take_section(r, &r->sections[i], err));
    }
    return NOCAP_OK;
}

enum nocap_status aie_image_read_elf(struct nocap_aie_image *image, struct nocap_error *err)
{
    struct reader r = {.image = image, .memory = image->memory};
    RETURN_IF_FAILED(read_header(&r, err));
    nocap_md5_init(&r.md5);
    enum nocap_status status = read_sections(&r, err);
    nocap_md5_finish(&r.md5, image->uid_expected);
    free(r.sections);
    RETURN_IF_FAILED(status);
    RETURN_IF_FAILED(aie_image_finish_kernels(image, err));
    /* Without a job the assembler writes no section at all. */
    RETURN_ERROR_IF(image->page_count == 0 && image->machine != NOCAP_AIE_MACHINE, err,
                    NOCAP_E_INPUT,
                    "%s: no section of control code (.ctrltext.<column>.<page>); give the output "
                    "of an AIE control code assembler",
                    image->memory->name);
    return NOCAP_OK;
}
