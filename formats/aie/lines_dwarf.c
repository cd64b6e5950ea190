/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/lines_dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_AT = sizeof(Elf32_Ehdr), SECTIONS = NOCAP_AIE_DEBUG_SECTIONS + 2 };

/* libdw reads one set of sections a file, so each set gets a file of its own, in memory. */
struct memory_file {
    char *file;
    size_t size;
    Elf *elf;
    Dwarf *dwarf;
};

static const char names[] = "\0.debug_info\0.debug_abbrev\0.debug_line\0.debug_str\0.shstrtab";

/* Where a name begins in `names`: that of section `i` of the file, from 1 on. */
static Elf32_Word name_at(unsigned i)
{
    Elf32_Word at = 1;
    while (--i > 0) {
        at += (Elf32_Word)strlen(names + at) + 1;
    }
    return at;
}

/* The header, the names, the sections and their table. */
static bool make_file(struct memory_file *d, const struct nocap_aie_debug *debug)
{
    Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = NOCAP_AIE_MACHINE,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header,
        .e_shentsize = sizeof(Elf32_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = SECTIONS - 1};
    Elf32_Shdr table[SECTIONS] = {{0}};
    size_t at = NAMES_AT + sizeof names;
    for (unsigned i = 0; i < NOCAP_AIE_DEBUG_SECTIONS; i++) {
        table[i + 1] = (Elf32_Shdr){.sh_name = name_at(i + 1),
                                    .sh_type = SHT_PROGBITS,
                                    .sh_offset = (Elf32_Off)at,
                                    .sh_size = (Elf32_Word)debug->size[i],
                                    .sh_addralign = 1};
        at += debug->size[i];
    }
    table[SECTIONS - 1] = (Elf32_Shdr){.sh_name = name_at(SECTIONS - 1),
                                       .sh_type = SHT_STRTAB,
                                       .sh_offset = NAMES_AT,
                                       .sh_size = sizeof names,
                                       .sh_addralign = 1};
    at = (at + sizeof(Elf32_Word) - 1) / sizeof(Elf32_Word) * sizeof(Elf32_Word);
    header.e_shoff = (Elf32_Off)at;
    d->size = at + sizeof table;
    d->file = calloc(1, d->size);
    if (d->file == NULL) {
        return false;
    }
    memcpy(d->file, &header, sizeof header);
    memcpy(d->file + NAMES_AT, names, sizeof names);
    for (unsigned i = 0; i < NOCAP_AIE_DEBUG_SECTIONS; i++) {
        if (debug->size[i] != 0) {
            memcpy(d->file + table[i + 1].sh_offset, debug->bytes[i], debug->size[i]);
        }
    }
    memcpy(d->file + at, table, sizeof table);
    return true;
}

/* The modules of a unit: "column 3". */
static enum nocap_status add_columns(const struct nocap_aie_debug *debug, Dwarf_Die *unit,
                                     struct nocap_aie_line **list, size_t *count,
                                     struct nocap_error *err)
{
    Dwarf_Die die, next;
    for (int step = dwarf_child(unit, &die); step == 0;
         step = dwarf_siblingof(&die, &next), die = next) {
        const char *name = dwarf_diename(&die);
        Dwarf_Attribute attribute;
        Dwarf_Word at;
        unsigned uc;
        int end = 0;
        if (dwarf_tag(&die) == DW_TAG_module && name != NULL &&
            sscanf(name, "column %9u%n", &uc, &end) == 1 && name[end] == 0 &&
            dwarf_attr(&die, DW_AT_stmt_list, &attribute) != NULL &&
            dwarf_formudata(&attribute, &at) == 0) {
            RETURN_IF_FAILED(aie_dwarf_table(debug, at, uc, list, count, err));
        }
    }
    return NOCAP_OK;
}

static enum nocap_status find_lines(const struct memory_file *d,
                                    const struct nocap_aie_debug *debug, const char *name,
                                    bool *found, struct nocap_aie_line **list, size_t *count,
                                    struct nocap_error *err)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    *found = false;
    RETURN_ERROR_IF(dwarf_get_units(d->dwarf, NULL, &unit, NULL, NULL, &die, NULL) != 0, err,
                    NOCAP_E_INPUT,
                    "section .debug_info has no compile unit: source lines are not known");
    const char *whose = dwarf_diename(&die);
    *found = name == NULL || (whose != NULL && strcmp(whose, name) == 0);
    return *found ? add_columns(debug, &die, list, count, err) : NOCAP_OK;
}

enum nocap_status aie_dwarf_lines(const struct nocap_aie_debug *debug, const char *name,
                                  bool *found, struct nocap_aie_line **list, size_t *count,
                                  struct nocap_error *err)
{
    struct memory_file d = {.file = NULL};
    *found = false;
    RETURN_ERROR_IF(!make_file(&d, debug), err, NOCAP_E_MEMORY, "out of memory");
    d.elf = elf_memory(d.file, d.size);
    d.dwarf = d.elf == NULL ? NULL : dwarf_begin_elf(d.elf, DWARF_C_READ, NULL);
    enum nocap_status status =
        d.dwarf == NULL ? nocap_fail(err, NOCAP_E_INPUT,
                                     "sections .debug_* are no DWARF (%s): source lines are not "
                                     "known",
                                     dwarf_errmsg(-1))
                        : find_lines(&d, debug, name, found, list, count, err);
    dwarf_end(d.dwarf);
    elf_end(d.elf);
    free(d.file);
    return status;
}
