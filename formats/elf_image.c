/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/elf_image_private.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/tile_map.h"

#define NO_PARENT UINT32_MAX

struct symbol {
    const char *name;
    uint64_t start, end;
    uint64_t section_end;
    uint32_t order;  /* in the file's table */
    uint32_t parent; /* nearest earlier symbol that reaches past this one's start */
};

struct nocap_elf_image {
    uint8_t *bytes; /* the whole file; segments and names point into it */
    size_t size;
    Elf *elf;
    Dwarf *debug; /* NULL: none, or not asked for yet */
    char *name;   /* for messages */
    uint32_t scratch, entry, text_base, text_size;
    struct nocap_elf_segment *segments;
    size_t segment_count;
    struct symbol *symbols; /* by start; of equal starts the widest first */
    size_t symbol_count;
    unsigned others; /* who else has it: each closes it */
};

static enum nocap_status check_header(struct nocap_elf_image *image, struct nocap_error *err)
{
    GElf_Ehdr header;
    RETURN_ERROR_IF(image->size < SELFMAG || memcmp(image->bytes, ELFMAG, SELFMAG) != 0, err,
                    NOCAP_E_INPUT, "%s: not an ELF file; give the firmware file of one RISC",
                    image->name);
    RETURN_ERROR_IF(elf_version(EV_CURRENT) == EV_NONE, err, NOCAP_E_INTERNAL,
                    "libelf does not know the ELF version of its own header");
    image->elf = elf_memory((char *)image->bytes, image->size);
    RETURN_ERROR_IF(!image->elf || !gelf_getehdr(image->elf, &header), err, NOCAP_E_INPUT,
                    "%s: the ELF header cannot be read (%s); the file is cut or damaged",
                    image->name, elf_errmsg(-1));
    RETURN_ERROR_IF(header.e_ident[EI_CLASS] != ELFCLASS32 ||
                        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_RISCV,
                    err, NOCAP_E_INPUT,
                    "%s: not a little-endian 32-bit RISC-V file (class %u, data %u, machine %u); "
                    "give the firmware file of one RISC",
                    image->name, header.e_ident[EI_CLASS], header.e_ident[EI_DATA],
                    (unsigned)header.e_machine);
    /* libelf takes a table that it cannot reach for none at all */
    RETURN_ERROR_IF(header.e_shnum > 0 &&
                        (header.e_shoff > image->size ||
                         header.e_shnum > (image->size - header.e_shoff) / sizeof(Elf32_Shdr)),
                    err, NOCAP_E_INPUT,
                    "%s: the section table at offset %" PRIu64
                    " reaches past the end of the file (%zu bytes); the file is cut or damaged",
                    image->name, (uint64_t)header.e_shoff, image->size);
    image->entry = (uint32_t)header.e_entry;
    return NOCAP_OK;
}

static enum nocap_status check_segment(const struct nocap_elf_image *image, size_t i,
                                       const GElf_Phdr *header, struct nocap_error *err)
{
    RETURN_ERROR_IF(
        header->p_offset > image->size || header->p_filesz > image->size - header->p_offset, err,
        NOCAP_E_INPUT,
        "%s: segment %zu has %" PRIu64 " bytes at offset %" PRIu64
        ", past the end of the file (%zu bytes); the file is cut or damaged",
        image->name, i, (uint64_t)header->p_filesz, (uint64_t)header->p_offset, image->size);
    RETURN_ERROR_IF(header->p_filesz > header->p_memsz, err, NOCAP_E_INPUT,
                    "%s: segment %zu has more bytes in the file (%" PRIu64
                    ") than in memory (%" PRIu64 "); link it again",
                    image->name, i, (uint64_t)header->p_filesz, (uint64_t)header->p_memsz);
    RETURN_ERROR_IF(header->p_memsz > NOCAP_L1_SIZE, err, NOCAP_E_INPUT,
                    "%s: segment %zu claims %" PRIu64 " bytes of memory, L1 has %u; "
                    "this is no firmware of a worker core",
                    image->name, i, (uint64_t)header->p_memsz, (unsigned)NOCAP_L1_SIZE);
    RETURN_ERROR_IF(header->p_paddr + header->p_memsz > UINT64_C(1) << 32 ||
                        header->p_vaddr + header->p_memsz > UINT64_C(1) << 32,
                    err, NOCAP_E_INPUT,
                    "%s: segment %zu runs past the end of the 32-bit address space; link it again",
                    image->name, i);
    return NOCAP_OK;
}

static void fill_segment(const struct nocap_elf_image *image, const GElf_Phdr *header,
                         struct nocap_elf_segment *segment)
{
    uint32_t physical = (uint32_t)header->p_paddr;
    segment->local_ram = physical >= NOCAP_BASE_LDM && physical <= NOCAP_LAST_LDM;
    segment->address = physical;
    if (segment->local_ram) {
        /* start-up code copies the scratch area to core-private memory, byte for byte */
        segment->address =
            image->scratch ? image->scratch + (physical - NOCAP_BASE_LDM) : image->scratch;
    }
    segment->link_address = (uint32_t)header->p_vaddr;
    segment->file_size = (uint32_t)header->p_filesz;
    segment->memory_size = (uint32_t)header->p_memsz;
    segment->bytes = image->bytes + header->p_offset;
    segment->text = (header->p_flags & PF_X) != 0;
}

static enum nocap_status read_segments(struct nocap_elf_image *image, struct nocap_error *err)
{
    size_t count = 0;
    RETURN_ERROR_IF(elf_getphdrnum(image->elf, &count) != 0, err, NOCAP_E_INPUT,
                    "%s: the program headers cannot be read (%s); the file is cut or damaged",
                    image->name, elf_errmsg(-1));
    /* a program header takes 32 bytes of the file, so the count is bounded by its size */
    RETURN_ERROR_IF(count > image->size / sizeof(Elf32_Phdr), err, NOCAP_E_INPUT,
                    "%s: says it has %zu program headers, more than its %zu bytes can hold; "
                    "the file is cut or damaged",
                    image->name, count, image->size);
    image->segments = calloc(count + 1, sizeof(*image->segments));
    RETURN_ERROR_IF(!image->segments, err, NOCAP_E_MEMORY, "%s: out of memory", image->name);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        RETURN_ERROR_IF(!gelf_getphdr(image->elf, (int)i, &header), err, NOCAP_E_INPUT,
                        "%s: program header %zu cannot be read (%s); the file is cut or damaged",
                        image->name, i, elf_errmsg(-1));
        if (header.p_type == PT_LOAD && header.p_memsz > 0) {
            RETURN_IF_FAILED(check_segment(image, i, &header, err));
            fill_segment(image, &header, &image->segments[image->segment_count++]);
        }
    }
    RETURN_ERROR_IF(image->segment_count == 0, err, NOCAP_E_INPUT,
                    "%s: has nothing to load (no PT_LOAD segment); give a linked firmware file, "
                    "not an object file",
                    image->name);
    return NOCAP_OK;
}

/* A string table that ends with a zero, as it must, so that no name runs out of it. */
static bool is_string_table(const struct nocap_elf_image *image, size_t section)
{
    Elf_Scn *scn = elf_getscn(image->elf, section);
    GElf_Shdr header;
    Elf_Data *data = scn && gelf_getshdr(scn, &header) && header.sh_type == SHT_STRTAB
                         ? elf_getdata(scn, NULL)
                         : NULL;
    return data && data->d_buf && data->d_size > 0 &&
           ((const char *)data->d_buf)[data->d_size - 1] == '\0';
}

/* The .text section where there is a section table, else the lowest executable segment. */
static uint32_t find_text_base(struct nocap_elf_image *image)
{
    size_t names = 0;
    if (elf_getshdrstrndx(image->elf, &names) == 0 && is_string_table(image, names)) {
        for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn;
             scn = elf_nextscn(image->elf, scn)) {
            GElf_Shdr header;
            const char *name =
                gelf_getshdr(scn, &header) ? elf_strptr(image->elf, names, header.sh_name) : NULL;
            if (name && strcmp(name, ".text") == 0) {
                image->text_size = (uint32_t)header.sh_size;
                return (uint32_t)header.sh_addr;
            }
        }
    }
    bool found = false;
    uint32_t lowest = image->entry;
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct nocap_elf_segment *segment = &image->segments[i];
        if (segment->text && (!found || segment->link_address < lowest)) {
            lowest = segment->link_address;
            found = true;
        }
    }
    return lowest;
}

/* A function or an object in a section that is loaded; where that section ends. */
static bool is_place(const struct nocap_elf_image *image, const GElf_Sym *symbol, uint64_t *end)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    GElf_Shdr header;
    Elf_Scn *scn = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE
                       ? elf_getscn(image->elf, symbol->st_shndx)
                       : NULL;
    if ((type != STT_FUNC && type != STT_OBJECT) || !scn || !gelf_getshdr(scn, &header) ||
        (header.sh_flags & SHF_ALLOC) == 0) {
        return false;
    }
    *end = header.sh_addr + header.sh_size;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct symbol *l = a, *r = b;
    if (l->start != r->start) {
        return l->start < r->start ? -1 : 1;
    }
    if (l->end != r->end) {
        return l->end > r->end ? -1 : 1;
    }
    return l->order > r->order ? -1 : 1; /* the last is found: the first of the file's table */
}

/* A symbol whose size is not said reaches to the next one, at most to the end of its section. */
static void end_symbols(struct nocap_elf_image *image)
{
    uint64_t next = UINT64_MAX; /* start of the next symbol that starts elsewhere */
    for (size_t i = image->symbol_count; i-- > 0;) {
        struct symbol *symbol = &image->symbols[i];
        if (i + 1 < image->symbol_count && symbol[1].start != symbol->start) {
            next = symbol[1].start;
        }
        if (symbol->end == symbol->start) {
            symbol->end = next < symbol->section_end ? next : symbol->section_end;
        }
    }
}

static void link_parents(struct nocap_elf_image *image)
{
    struct symbol *symbols = image->symbols;
    for (size_t i = 0; i < image->symbol_count; i++) {
        uint32_t parent = i > 0 ? (uint32_t)i - 1 : NO_PARENT;
        while (parent != NO_PARENT && symbols[parent].end <= symbols[i].start) {
            parent = symbols[parent].parent;
        }
        symbols[i].parent = parent;
    }
}

static enum nocap_status read_symbol_table(struct nocap_elf_image *image, Elf_Scn *scn,
                                           const GElf_Shdr *header, struct nocap_error *err)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t count = data ? data->d_size / sizeof(Elf32_Sym) : 0;
    RETURN_ERROR_IF(!is_string_table(image, header->sh_link), err, NOCAP_E_INPUT,
                    "%s: the symbol table has no sound string table (section %u); "
                    "the file is cut or damaged",
                    image->name, (unsigned)header->sh_link);
    image->symbols = calloc(count + 1, sizeof(*image->symbols));
    RETURN_ERROR_IF(!image->symbols, err, NOCAP_E_MEMORY, "%s: out of memory", image->name);
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        uint64_t section_end;
        if (!gelf_getsym(data, (int)i, &symbol) || !is_place(image, &symbol, &section_end)) {
            continue;
        }
        const char *name = elf_strptr(image->elf, header->sh_link, symbol.st_name);
        if (name && name[0] != '\0') {
            image->symbols[image->symbol_count++] =
                (struct symbol){.name = name,
                                .start = symbol.st_value,
                                .end = symbol.st_value + symbol.st_size,
                                .section_end = section_end,
                                .order = (uint32_t)i};
        }
    }
    qsort(image->symbols, image->symbol_count, sizeof(*image->symbols), by_start);
    end_symbols(image);
    link_parents(image);
    return NOCAP_OK;
}

/* A stripped file has none, which is no error. */
static enum nocap_status read_symbols(struct nocap_elf_image *image, struct nocap_error *err)
{
    for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn; scn = elf_nextscn(image->elf, scn)) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB) {
            return read_symbol_table(image, scn, &header, err);
        }
    }
    return NOCAP_OK;
}

/* Takes `bytes`, whatever comes. */
static enum nocap_status open_bytes(struct nocap_elf_image **result, uint8_t *bytes, size_t size,
                                    const char *name, uint32_t scratch, struct nocap_error *err)
{
    enum nocap_status status = NOCAP_OK;
    struct nocap_elf_image *image = calloc(1, sizeof(*image));
    *result = NULL;
    if (!image) {
        free(bytes);
        return nocap_fail(err, NOCAP_E_MEMORY, "%s: out of memory", name);
    }
    image->bytes = bytes;
    image->size = size;
    image->scratch = scratch;
    image->name = strdup(name);
    if (!image->name) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "%s: out of memory", name);
        goto out;
    }
    if ((status = check_header(image, err)) != NOCAP_OK ||
        (status = read_segments(image, err)) != NOCAP_OK ||
        (status = read_symbols(image, err)) != NOCAP_OK) {
        goto out;
    }
    image->text_base = find_text_base(image);
    *result = image;
    image = NULL;
out:
    nocap_elf_close(image);
    return status;
}

enum nocap_status nocap_elf_open_memory(struct nocap_elf_image **image, const void *bytes,
                                        size_t size, const char *name, uint32_t scratch,
                                        struct nocap_error *err)
{
    *image = NULL;
    RETURN_ERROR_IF(size > ELF_FILE_MAX, err, NOCAP_E_INPUT,
                    "%s: %zu bytes are more than any firmware has (at most %d)", name, size,
                    ELF_FILE_MAX);
    uint8_t *copy = malloc(size + 1);
    RETURN_ERROR_IF(!copy, err, NOCAP_E_MEMORY, "%s: out of memory", name);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return open_bytes(image, copy, size, name, scratch, err);
}

enum nocap_status elf_image_read(struct nocap_elf_image **image, const struct regular_file *file,
                                 const char *name, uint32_t scratch, struct nocap_error *err)
{
    uint8_t *bytes;
    *image = NULL;
    RETURN_IF_FAILED(regular_file_read(file, name, &bytes, err));
    return open_bytes(image, bytes, file->size, name, scratch, err);
}

enum nocap_status nocap_elf_open(struct nocap_elf_image **image, const char *path, uint32_t scratch,
                                 struct nocap_error *err)
{
    struct regular_file file;
    *image = NULL;
    RETURN_IF_FAILED(regular_file_open(&file, path, ELF_FILE_MAX, err));
    enum nocap_status status = elf_image_read(image, &file, path, scratch, err);
    regular_file_close(&file);
    return status;
}

struct nocap_elf_image *elf_image_share(struct nocap_elf_image *image)
{
    image->others++;
    return image;
}

void nocap_elf_close(struct nocap_elf_image *image)
{
    if (image && image->others > 0) {
        image->others--;
    } else if (image) {
        dwarf_end(image->debug);
        elf_end(image->elf);
        free(image->segments);
        free(image->symbols);
        free(image->name);
        free(image->bytes);
        free(image);
    }
}

size_t nocap_elf_segment_count(const struct nocap_elf_image *image)
{
    return image->segment_count;
}

const struct nocap_elf_segment *nocap_elf_segment(const struct nocap_elf_image *image, size_t i)
{
    return i < image->segment_count ? &image->segments[i] : NULL;
}

uint32_t nocap_elf_text_base(const struct nocap_elf_image *image)
{
    return image->text_base;
}

uint32_t nocap_elf_text_size(const struct nocap_elf_image *image)
{
    return image->text_size;
}

const char *nocap_elf_symbol(const struct nocap_elf_image *image, uint32_t address,
                             uint32_t *offset)
{
    size_t low = 0, high = image->symbol_count; /* the last symbol that starts at or before */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->symbols[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t i = low > 0 ? (uint32_t)low - 1 : NO_PARENT;
    while (i != NO_PARENT && image->symbols[i].end <= address) {
        i = image->symbols[i].parent;
    }
    if (i == NO_PARENT) {
        return NULL;
    }
    if (offset) {
        *offset = address - (uint32_t)image->symbols[i].start;
    }
    return image->symbols[i].name;
}

Dwarf *elf_image_debug(struct nocap_elf_image *image)
{
    if (image->debug == NULL) {
        image->debug = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
        if (image->debug != NULL) { /* what .gnu_debugaltlink names is not opened */
            dwarf_setalt(image->debug, image->debug);
        }
    }
    return image->debug;
}

const char *nocap_elf_line(struct nocap_elf_image *image, uint32_t address, int *line)
{
    Dwarf_Die unit;
    if (elf_image_debug(image) == NULL || dwarf_addrdie(image->debug, address, &unit) == NULL) {
        return NULL;
    }
    Dwarf_Line *found = dwarf_getsrc_die(&unit, address);
    if (found == NULL || dwarf_lineno(found, line) != 0) {
        return NULL;
    }
    return dwarf_linesrc(found, NULL, NULL);
}
