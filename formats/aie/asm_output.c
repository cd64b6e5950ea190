/* SPDX-License-Identifier: Apache-2.0 */
/* What the assembler makes: sections, symbols, buffers. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/asm_known.h"

enum { PAD_ALIGN = 4 };

/* Without its bytes. */
static struct aie_section *new_section(struct aie_output *output, uint32_t kernel, size_t size)
{
    struct aie_section *section = LIST_NEXT(output->sections, output->section_count);
    if (section != NULL) {
        output->section_count++;
        *section = (struct aie_section){.kernel = kernel, .size = size};
    }
    return section;
}

/* NULL without memory. */
static struct aie_section *with_zeros(struct aie_section *section)
{
    if (section == NULL || (section->own = calloc(1, section->size + 1)) == NULL) {
        return NULL;
    }
    section->bytes = section->own;
    return section;
}

static struct aie_section *kernel_section(struct aie_output *output, const char *kind,
                                          uint32_t kernel, size_t size)
{
    struct aie_section *section = new_section(output, kernel, size);
    char group[16] = "";
    if (section == NULL) {
        return NULL;
    }
    if (output->kernel_count != 0) {
        snprintf(group, sizeof group, ".%u", kernel);
    }
    snprintf(section->name, sizeof section->name, ".%.30s%s", kind, group);
    return section;
}

struct aie_section *aie_add_kernel_section(struct aie_output *output, const char *kind,
                                           uint32_t kernel, size_t size)
{
    return with_zeros(kernel_section(output, kind, kernel, size));
}

struct aie_section *aie_add_section(struct aie_output *output, const char *kind,
                                    const struct aie_column *column, uint32_t page, size_t size)
{
    char number[16] = "", group[16] = "";
    struct aie_section *section = with_zeros(new_section(output, column->kernel, size));
    if (section == NULL) {
        return NULL;
    }
    if (page != AIE_NONE) {
        snprintf(number, sizeof number, ".%u", page);
    }
    if (output->kernel_count != 0) {
        snprintf(group, sizeof group, ".%u", column->kernel);
    }
    snprintf(section->name, sizeof section->name, ".%s.%u%s%s", kind, column->uc, number, group);
    return section;
}

struct aie_section *aie_add_custom_section(struct aie_output *output, const char *name, size_t size)
{
    struct aie_section *section = with_zeros(new_section(output, AIE_NONE, size));
    if (section != NULL) {
        section->custom = true;
        snprintf(section->name, sizeof section->name, "%s", name);
    }
    return section;
}

enum nocap_status aie_add_symbol(const struct aie_program *program, struct aie_output *output,
                                 const struct aie_symbol *symbol)
{
    struct aie_symbol *next = LIST_NEXT(output->symbols, output->symbol_count);
    RETURN_NO_MEMORY_IF(next == NULL, program);
    *next = *symbol;
    output->symbol_count++;
    return NOCAP_OK;
}

enum nocap_status aie_add_relocs(const struct aie_program *program, struct aie_output *output,
                                 const struct aie_relocs *relocs, uint32_t section, uint32_t base)
{
    for (size_t i = 0; i < relocs->count; i++) {
        const struct aie_reloc *reloc = &relocs->items[i];
        struct aie_symbol symbol = {.section = section,
                                    .offset = reloc->offset + base,
                                    .addend = reloc->addend,
                                    .type = reloc->type};
        snprintf(symbol.name, sizeof symbol.name, "%.*s", AIE_TEXT(&reloc->name));
        RETURN_IF_FAILED(aie_add_symbol(program, output, &symbol));
    }
    return NOCAP_OK;
}

/* ---- buffers ---- */

enum nocap_status aie_place_pads(const struct aie_program *program, struct aie_column *column,
                                 uint32_t *size)
{
    uint64_t at = 0;
    for (size_t i = 0; i < column->pad_count; i++) {
        struct aie_pad *pad = &column->pads[i];
        at = (at + PAD_ALIGN - 1) / PAD_ALIGN * PAD_ALIGN;
        pad->offset = (uint32_t)at;
        at += pad->size;
        RETURN_SOURCE_ERROR_IF(at > INT32_MAX, program, pad->place, NULL,
                               "the buffers of uC %u are too large together; expected at most "
                               "%d bytes",
                               column->uc, INT32_MAX);
    }
    *size = (uint32_t)at;
    return NOCAP_OK;
}

/* Where control packets name buffers, as the JSON file says: column 0 alone has them. */
static enum nocap_status add_packet_patches(const struct aie_program *program,
                                            const struct aie_pad *packets,
                                            struct aie_output *output, uint32_t section)
{
    for (size_t i = 0; i < program->patch_count; i++) {
        const struct aie_packet_patch *patch = &program->patches[i];
        struct aie_symbol symbol = {.section = section,
                                    .offset = patch->offset + packets->offset,
                                    .addend = patch->addend,
                                    .type = patch->type};
        snprintf(symbol.name, sizeof symbol.name, "%s", patch->name);
        RETURN_IF_FAILED(aie_add_symbol(program, output, &symbol));
    }
    return NOCAP_OK;
}

enum nocap_status aie_encode_pads(const struct aie_program *program,
                                  const struct aie_column *column, const struct aie_pad *packets,
                                  uint32_t size, struct aie_output *output)
{
    struct aie_section *section = aie_add_section(output, "pad", column, AIE_NONE, size);
    RETURN_NO_MEMORY_IF(section == NULL, program);
    for (size_t i = 0; i < column->pad_count; i++) {
        const struct aie_pad *pad = &column->pads[i];
        if (pad->content != NULL && pad->size != 0) {
            memcpy(section->own + pad->offset, pad->content, pad->size);
        }
        RETURN_IF_FAILED(aie_add_relocs(program, output, &pad->relocs,
                                        (uint32_t)output->section_count - 1, pad->offset));
    }
    return packets == NULL || column->uc != 0
               ? NOCAP_OK
               : add_packet_patches(program, packets, output, (uint32_t)output->section_count - 1);
}

/* Where control packets name a buffer: its place in the packet becomes that in the buffer, once, as
 * the assembler has it, and the loader adds the buffer's. */
static enum nocap_status patch_packets(struct aie_program *program, uint32_t argument,
                                       struct aie_output *output, struct aie_section *section)
{
    for (size_t i = 0; i < program->patch_count; i++) {
        struct aie_packet_patch *patch = &program->patches[i];
        struct aie_symbol symbol = {.section = (uint32_t)output->section_count - 1,
                                    .offset = patch->offset,
                                    .type = patch->type};
        if (patch->packet != argument) {
            continue;
        }
        if ((uint64_t)patch->offset + nocap_aie_relocation_size(patch->type) > section->size) {
            return nocap_fail(
                program->err, NOCAP_E_INPUT,
                "%s: control packets of argument %u have %zu bytes; expected more, as "
                "buffer %s is named at %u",
                program->options->buffers, argument, section->size, patch->name, patch->offset);
        }
        nocap_aie_packet_add(program->chip, section->own + patch->offset, patch->addend);
        patch->addend = 0;
        snprintf(symbol.name, sizeof symbol.name, "%s", patch->name);
        RETURN_IF_FAILED(aie_add_symbol(program, output, &symbol));
    }
    return NOCAP_OK;
}

/* The debug map that the file has, as it stands. */
static enum nocap_status take_map(const struct aie_program *program, uint32_t kernel,
                                  struct aie_output *output)
{
    size_t size;
    const uint8_t *map = aie_known_map(program->known, kernel, &size);
    if (size == 0) {
        return NOCAP_OK;
    }
    struct aie_section *section = kernel_section(output, "dump", kernel, size);
    RETURN_NO_MEMORY_IF(section == NULL, program);
    section->bytes = map;
    return NOCAP_OK;
}

enum nocap_status aie_encode_extras(struct aie_program *program, uint32_t kernel, uint32_t uc,
                                    const char *name, bool *found, struct aie_output *output)
{
    *found = false;
    for (size_t i = 0; i < program->extra_count; i++) {
        const struct aie_extra *extra = &program->extras[i];
        const struct aie_pad *from = &extra->section;
        bool map = strcmp(from->name, ".dump") == 0;
        bool here = extra->uc == uc || extra->uc == AIE_NONE;
        if (extra->kernel != kernel || (name == NULL ? map || !here : !map)) {
            continue;
        }
        *found = true;
        if (map && program->known != NULL) {
            RETURN_IF_FAILED(take_map(program, kernel, output));
            continue;
        }
        if (from->size == 0) {
            continue;
        }
        struct aie_section *section =
            aie_add_kernel_section(output, from->name + 1, kernel, from->size);
        RETURN_NO_MEMORY_IF(section == NULL, program);
        memcpy(section->own, from->content, from->size);
        if (extra->argument != AIE_NONE && !extra->patched) {
            RETURN_IF_FAILED(patch_packets(program, extra->argument, output, section));
        }
        RETURN_IF_FAILED(
            aie_add_relocs(program, output, &from->relocs, (uint32_t)output->section_count - 1, 0));
    }
    return NOCAP_OK;
}

enum nocap_status aie_encode_custom(const struct aie_program *program, struct aie_output *output)
{
    for (size_t i = 0; i < program->extra_count; i++) {
        const struct aie_pad *from = &program->extras[i].section;
        if (program->extras[i].kernel != AIE_NONE) {
            continue;
        }
        struct aie_section *section = aie_add_custom_section(output, from->name, from->size);
        RETURN_NO_MEMORY_IF(section == NULL, program);
        memcpy(section->own, from->size == 0 ? (const uint8_t *)"" : from->content, from->size);
    }
    return NOCAP_OK;
}

/* ---- the end ---- */

void aie_output_free(struct aie_output *output)
{
    for (size_t i = 0; i < output->section_count; i++) {
        free(output->sections[i].own);
    }
    free(output->sections);
    free(output->symbols);
}
