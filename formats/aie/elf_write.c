/* SPDX-License-Identifier: Apache-2.0 */
/* The container: sections in the order in which they were made, one segment for each that is
 * loaded. Sections that segments load come first in the file, then the others, then the table. */
#include <stdlib.h>
#include <string.h>

#include "formats/aie/elf_write.h"
#include "formats/aie/md5.h"

static struct aie_part *add_part(struct aie_elf_file *f, const char *name, uint32_t type,
                                 uint32_t flags, uint32_t align)
{
    struct aie_part *part = &f->parts[f->count++];
    *part = (struct aie_part){.name = name, .type = type, .flags = flags, .align = align};
    return part;
}

enum nocap_status aie_file_memory(struct aie_elf_file *f)
{
    return nocap_fail(f->err, NOCAP_E_MEMORY, "out of memory for the ELF file");
}

/* ---- symbols: one for each name in each section ---- */

/* Number of the symbol, from 1; a new one if there is none from *first on. */
static uint32_t symbol_of(struct aie_elf_file *f, const struct aie_symbol *symbol, uint32_t first)
{
    uint32_t count = (uint32_t)(f->symbols_size / sizeof(Elf32_Sym));
    for (uint32_t i = first; i < count; i++) {
        const uint8_t *entry = f->symbols + i * sizeof(Elf32_Sym);
        const char *name = (const char *)f->strings + nocap_aie_u32(entry);
        if (strcmp(name, symbol->name) == 0) {
            return i;
        }
    }
    uint8_t *entry = f->symbols + f->symbols_size;
    nocap_aie_put_u32(entry, (uint32_t)f->strings_size);
    entry[offsetof(Elf32_Sym, st_info)] = ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT);
    nocap_aie_put_u16(entry + offsetof(Elf32_Sym, st_shndx), f->part_of[symbol->section]);
    f->symbols_size += sizeof(Elf32_Sym);
    size_t length = strlen(symbol->name) + 1;
    memcpy(f->strings + f->strings_size, symbol->name, length);
    f->strings_size += length;
    return count;
}

static enum nocap_status make_symbols(struct aie_elf_file *f)
{
    const struct aie_output *output = f->output;
    size_t count = output->symbol_count;
    f->strings = calloc(count + 1, sizeof output->symbols[0].name);
    f->symbols = calloc(count + 1, sizeof(Elf32_Sym));
    f->relocations = calloc(count + 1, sizeof(Elf32_Rela));
    RETURN_IF_FAILED(f->strings == NULL || f->symbols == NULL || f->relocations == NULL
                         ? aie_file_memory(f)
                         : NOCAP_OK);
    f->strings_size = 1;
    f->symbols_size = sizeof(Elf32_Sym);
    uint32_t first = 1; /* symbol of this section */
    for (size_t i = 0; i < count; i++) {
        const struct aie_symbol *symbol = &output->symbols[i];
        if (i != 0 && symbol->section != symbol[-1].section) {
            first = (uint32_t)(f->symbols_size / sizeof(Elf32_Sym));
        }
        uint32_t number = symbol_of(f, symbol, first);
        uint8_t *entry = f->relocations + i * sizeof(Elf32_Rela);
        nocap_aie_put_u32(entry, symbol->offset);
        nocap_aie_put_u32(entry + 4, ELF32_R_INFO(number, symbol->type));
        nocap_aie_put_u32(entry + 8, symbol->addend);
    }
    return NOCAP_OK;
}

/* What the parts of symbols hold, once the symbols are made. */
static void fill_symbol_parts(struct aie_elf_file *f)
{
    struct aie_part *strings = &f->parts[f->strings_at];
    struct aie_part *symbols = strings + 1, *relocations = strings + 2, *dynamic = strings + 3;
    strings->bytes = f->strings;
    strings->size = f->strings_size;
    symbols->bytes = f->symbols;
    symbols->size = f->symbols_size;
    relocations->bytes = f->relocations;
    relocations->size = f->output->symbol_count * sizeof(Elf32_Rela);
    nocap_aie_put_u32(f->dynamic, DT_RELA);
    nocap_aie_put_u32(f->dynamic + 4, f->strings_at + 2); /* the section, not its address */
    nocap_aie_put_u32(f->dynamic + 8, DT_RELASZ);
    nocap_aie_put_u32(f->dynamic + 12, (uint32_t)relocations->size);
    dynamic->bytes = f->dynamic;
    dynamic->size = sizeof f->dynamic;
}

static void add_symbol_parts(struct aie_elf_file *f)
{
    uint32_t flags = f->later ? 0 : SHF_ALLOC;
    add_part(f, ".dynstr", SHT_STRTAB, 0, 0);
    f->strings_at = (uint32_t)f->count - 1;
    struct aie_part *symbols = add_part(f, ".dynsym", SHT_DYNSYM, flags, TABLE_ALIGN);
    symbols->entry_size = sizeof(Elf32_Sym);
    symbols->link = f->strings_at;
    symbols->info = 1;
    struct aie_part *relocations = add_part(f, ".rela.dyn", SHT_RELA, flags, TABLE_ALIGN);
    relocations->entry_size = sizeof(Elf32_Rela);
    relocations->link = f->strings_at + 1;
    struct aie_part *dynamic = add_part(f, ".dynamic", SHT_DYNAMIC, flags, TABLE_ALIGN);
    dynamic->entry_size = sizeof(Elf32_Dyn);
    dynamic->link = f->strings_at;
    dynamic->dynamic = !f->later;
}

/* ---- kernels: a group of sections for each, with symbols for their names ---- */

static uint32_t add_kernel_symbol(struct aie_elf_file *f, const struct aie_word *name,
                                  unsigned type, uint32_t place)
{
    uint8_t *entry = f->kernel_symbols + f->kernel_symbols_size;
    nocap_aie_put_u32(entry, (uint32_t)f->kernel_strings_size);
    unsigned bind = f->later ? STB_WEAK : STB_GLOBAL;
    entry[offsetof(Elf32_Sym, st_info)] = (uint8_t)ELF32_ST_INFO(bind, type);
    nocap_aie_put_u16(entry + offsetof(Elf32_Sym, st_shndx), place);
    memcpy(f->kernel_strings + f->kernel_strings_size, name->text, name->length);
    f->kernel_strings_size += name->length + 1;
    f->kernel_symbols_size += sizeof(Elf32_Sym);
    return (uint32_t)(f->kernel_symbols_size / sizeof(Elf32_Sym)) - 1;
}

/* The symbol of a kernel is made with its first instance. */
static uint32_t kernel_symbol(struct aie_elf_file *f, size_t at, uint32_t *made)
{
    const struct aie_kernel *kernels = f->output->kernels;
    size_t first = 0;
    while (!aie_words_same(&kernels[first].symbol, &kernels[at].symbol)) {
        first++;
    }
    if (first == at) {
        made[at] = add_kernel_symbol(f, &kernels[at].symbol, STT_FUNC, 0);
    }
    return made[first];
}

/* The sections of group `at`, after a word of flags; how many bytes. */
static size_t fill_group(const struct aie_elf_file *f, size_t at, uint8_t *words)
{
    size_t size = sizeof(Elf32_Word);
    nocap_aie_put_u32(words, GROUP_FLAGS);
    for (size_t i = 0; i < f->output->section_count; i++) {
        if (f->output->sections[i].kernel == at) {
            nocap_aie_put_u32(words + size, f->part_of[i]);
            size += sizeof(Elf32_Word);
        }
    }
    return size;
}

static enum nocap_status prepare_groups(struct aie_elf_file *f, uint32_t **made)
{
    size_t count = f->output->kernel_count, words = count + f->output->section_count;
    f->kernel_strings = calloc(count * 2 + 1, AIE_KERNEL_NAME_MAX + 1);
    f->kernel_symbols = calloc(count * 2 + 1, sizeof(Elf32_Sym));
    f->groups = calloc(words, sizeof(Elf32_Word));
    f->group_names = calloc(count, sizeof *f->group_names);
    *made = calloc(count, sizeof **made);
    if (f->kernel_strings == NULL || f->kernel_symbols == NULL || f->groups == NULL ||
        f->group_names == NULL || *made == NULL) {
        free(*made);
        *made = NULL;
        return aie_file_memory(f);
    }
    f->kernel_strings_size = 1;
    f->kernel_symbols_size = sizeof(Elf32_Sym);
    return NOCAP_OK;
}

/* The group of kernel `i`, whose words go to *at. */
static void add_group(struct aie_elf_file *f, size_t i, uint32_t *made, uint8_t **at)
{
    uint32_t kernel = kernel_symbol(f, i, made);
    snprintf(f->group_names[i], sizeof *f->group_names, ".group.%zu", i);
    struct aie_part *group =
        add_part(f, f->group_names[i], SHT_PROGBITS, 0, f->later ? SECTION_ALIGN : GROUP_ALIGN);
    group->group = true;
    group->entry_size = sizeof(Elf32_Word);
    group->info = add_kernel_symbol(f, &f->output->kernels[i].instance, STT_OBJECT, kernel);
    group->link = FIRST_GROUP + 1; /* n26: .symtab */
    group->bytes = *at;
    group->size = fill_group(f, i, *at);
    *at += group->size;
}

static enum nocap_status add_groups(struct aie_elf_file *f, uint32_t first_part)
{
    uint32_t *made;
    RETURN_IF_FAILED(prepare_groups(f, &made));
    for (size_t i = 0; i < f->output->section_count; i++) {
        f->part_of[i] = first_part + (uint32_t)i;
    }
    uint8_t *at = f->groups;
    for (size_t i = 0; i < f->output->kernel_count; i++) {
        add_group(f, i, made, &at);
    }
    free(made);
    return NOCAP_OK;
}

static void add_kernel_parts(struct aie_elf_file *f)
{
    struct aie_part *strings = add_part(f, ".strtab", SHT_STRTAB, 0, f->later ? 0 : 1);
    uint32_t strings_at = (uint32_t)f->count - 1;
    strings->bytes = f->kernel_strings;
    strings->size = f->kernel_strings_size;
    struct aie_part *symbols =
        add_part(f, ".symtab", SHT_SYMTAB, 0, f->later ? GROUP_ALIGN : TABLE_ALIGN);
    symbols->entry_size = sizeof(Elf32_Sym);
    symbols->link = strings_at;
    symbols->info = 1;
    symbols->bytes = f->kernel_symbols;
    symbols->size = f->kernel_symbols_size;
}

/* ---- the note ---- */

static void put_note(struct aie_elf_file *f, const char *name, uint8_t *bytes, uint32_t type,
                     const void *content, uint32_t size)
{
    nocap_aie_put_u32(bytes, sizeof "XRT");
    nocap_aie_put_u32(bytes + 4, size);
    nocap_aie_put_u32(bytes + 8, type);
    memcpy(bytes + 12, "XRT", sizeof "XRT");
    memcpy(bytes + 16, content, size);
    struct aie_part *note = add_part(f, name, SHT_NOTE, 0, 1);
    note->bytes = bytes;
    note->size = 16 + size;
}

/* The MD5 of all sections: in digits, in n26 as it is. */
static void add_note(struct aie_elf_file *f)
{
    struct nocap_md5 md5;
    char uid[UID_SIZE + 1];
    uint8_t bytes[UID_SIZE / 2];
    nocap_md5_init(&md5);
    for (size_t i = 0; i < f->output->section_count; i++) {
        nocap_md5_update(&md5, f->output->sections[i].bytes, f->output->sections[i].size);
    }
    nocap_md5_finish(&md5, uid);
    const struct aie_word digits = {uid, UID_SIZE, 1};
    aie_word_bytes(&digits, bytes);
    put_note(f, ".note.xrt.UID", f->note, NOTE_UID, f->later ? (const void *)bytes : uid,
             f->later ? sizeof bytes : UID_SIZE);
}

/* How many columns the kernels take. */
static void add_configuration(struct aie_elf_file *f)
{
    uint8_t columns[4];
    uint32_t count = f->output->partition_columns;
    nocap_aie_put_u32(columns, count == 0 ? DEFAULT_COLUMNS : count);
    put_note(f, ".note.xrt.configuration", f->configuration, NOTE_CONFIGURATION, columns,
             sizeof columns);
}

/* ---- parts and their places ---- */

static enum nocap_status make_names(struct aie_elf_file *f)
{
    size_t size = 1;
    for (size_t i = 1; i < f->count; i++) {
        size += strlen(f->parts[i].name) + 1;
    }
    f->names = calloc(1, size);
    RETURN_IF_FAILED(f->names == NULL ? aie_file_memory(f) : NOCAP_OK);
    f->names_size = 1;
    for (size_t i = 1; i < f->count; i++) {
        f->parts[i].name_at = f->names_size;
        strcpy((char *)f->names + f->names_size, f->parts[i].name);
        f->names_size += strlen(f->parts[i].name) + 1;
    }
    f->parts[1].bytes = f->names;
    f->parts[1].size = f->names_size;
    return NOCAP_OK;
}

static void add_section_part(struct aie_elf_file *f, size_t i)
{
    const struct aie_section *section = &f->output->sections[i];
    struct aie_part *part =
        add_part(f, section->name, section->custom ? NOCAP_AIE_SHT_CUSTOM : SHT_PROGBITS,
                 SHF_ALLOC | (section->text ? SHF_EXECINSTR : SHF_WRITE), SECTION_ALIGN);
    part->loaded = true;
    part->bytes = section->bytes;
    part->size = section->size;
    f->part_of[i] = (uint32_t)f->count - 1;
}

/* n26: the names first, then the sections of each kernel and its group. The symbols of relocations
 * stand after those of the first kernel that has any. */
static enum nocap_status make_kernel_parts(struct aie_elf_file *f)
{
    const struct aie_output *output = f->output;
    size_t kernels = output->kernel_count;
    uint32_t *made = NULL;
    bool dynamic = false;
    RETURN_IF_FAILED(prepare_groups(f, &made));
    add_kernel_parts(f);
    uint8_t *at = f->groups;
    size_t symbol = 0;
    enum nocap_status status = NOCAP_OK;
    for (size_t i = 0; i < output->section_count; i++) {
        if (output->sections[i].custom) {
            add_section_part(f, i);
        }
    }
    for (size_t k = 0; k < kernels && status == NOCAP_OK; k++) {
        for (size_t i = 0; i < output->section_count; i++) {
            if (output->sections[i].kernel == k) {
                add_section_part(f, i);
            }
        }
        size_t before = symbol;
        while (symbol < output->symbol_count &&
               output->sections[output->symbols[symbol].section].kernel == k) {
            symbol++;
        }
        if (symbol != before && !dynamic) {
            dynamic = true;
            add_symbol_parts(f);
        }
        add_group(f, k, made, &at);
    }
    free(made);
    if (dynamic) {
        RETURN_IF_FAILED(make_symbols(f));
        fill_symbol_parts(f);
    }
    f->parts[FIRST_GROUP].size = f->kernel_strings_size;
    f->parts[FIRST_GROUP + 1].size = f->kernel_symbols_size;
    add_configuration(f);
    add_note(f);
    RETURN_ERROR_IF(f->count >= SHN_LORESERVE, f->err, NOCAP_E_INPUT,
                    "%zu sections do not fit into one ELF file", f->count);
    return make_names(f);
}

static enum nocap_status make_parts(struct aie_elf_file *f)
{
    enum { FURTHER = 10 };
    const struct aie_output *output = f->output;
    size_t kernels = output->kernel_count;
    uint32_t first = FIRST_GROUP + (uint32_t)kernels;
    f->parts = calloc(output->section_count + kernels + FURTHER, sizeof *f->parts);
    RETURN_IF_FAILED(f->parts == NULL ? aie_file_memory(f) : NOCAP_OK);
    add_part(f, "", SHT_NULL, 0, 0);
    add_part(f, ".shstrtab", SHT_STRTAB, 0, 1);
    f->part_of = calloc(output->section_count + 1, sizeof *f->part_of);
    RETURN_IF_FAILED(f->part_of == NULL ? aie_file_memory(f) : NOCAP_OK);
    if (f->later && kernels != 0) {
        return make_kernel_parts(f);
    }
    RETURN_IF_FAILED(kernels == 0 ? NOCAP_OK : add_groups(f, first));
    for (size_t i = 0; i < output->section_count; i++) {
        add_section_part(f, i);
    }
    if (output->symbol_count != 0) {
        RETURN_IF_FAILED(make_symbols(f));
        add_symbol_parts(f);
        fill_symbol_parts(f);
    }
    if (kernels != 0) {
        add_kernel_parts(f);
        for (size_t i = 0; i < kernels; i++) {
            f->parts[FIRST_GROUP + i].link = (uint32_t)f->count - 1;
        }
    }
    add_note(f);
    RETURN_ERROR_IF(f->count >= SHN_LORESERVE, f->err, NOCAP_E_INPUT,
                    "%zu sections do not fit into one ELF file", f->count);
    return make_names(f);
}

static size_t align_up(size_t at, size_t align)
{
    return align <= 1 ? at : (at + align - 1) / align * align;
}

size_t aie_segment_count(const struct aie_elf_file *f)
{
    size_t count = 1; /* the table of segments itself */
    for (size_t i = 1; i < f->count; i++) {
        count += f->parts[i].loaded || f->parts[i].dynamic;
    }
    return count;
}

size_t aie_place_parts(struct aie_elf_file *f)
{
    size_t at = sizeof(Elf32_Ehdr) + aie_segment_count(f) * sizeof(Elf32_Phdr), address = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 1; i < f->count; i++) {
            struct aie_part *part = &f->parts[i];
            if ((part->loaded || part->dynamic) == (pass == 0)) {
                part->offset = align_up(at, part->align);
                at = part->offset + part->size;
                part->address = (uint32_t)(f->later && part->loaded ? address : 0);
                address = align_up(address + part->size, SECTION_ALIGN);
            }
        }
    }
    /* A step further where the end is aligned already: so do the assemblers that make the same
     * bytes. */
    return align_up(at + 1, SECTION_TABLE_ALIGN);
}

static void parts_free(struct aie_elf_file *f)
{
    free(f->parts);
    free(f->part_of);
    free(f->strings);
    free(f->symbols);
    free(f->relocations);
    free(f->names);
    free(f->kernel_strings);
    free(f->kernel_symbols);
    free(f->groups);
    free(f->group_names);
}

enum nocap_status aie_write_elf(const struct aie_output *output, enum nocap_aie_dialect dialect,
                                uint8_t **elf, size_t *size, struct nocap_error *err)
{
    struct aie_elf_file f = {.output = output, .err = err, .later = dialect == NOCAP_AIE_N26};
    enum nocap_status status = make_parts(&f);
    if (status == NOCAP_OK) {
        status = aie_write_parts(&f, elf, size);
    }
    parts_free(&f);
    return status;
}

enum nocap_status aie_elf_is(const struct aie_output *output, enum nocap_aie_dialect dialect,
                             const uint8_t *bytes, size_t size, bool *same, struct nocap_error *err)
{
    struct aie_elf_file f = {.output = output, .err = err, .later = dialect == NOCAP_AIE_N26};
    enum nocap_status status = make_parts(&f);
    if (status == NOCAP_OK) {
        status = aie_compare_parts(&f, bytes, size, same);
    }
    parts_free(&f);
    return status;
}
