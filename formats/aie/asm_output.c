/* What the assembler makes: sections and symbols. */
#include <stdlib.h>

#include "formats/aie/asm_private.h"

struct aie_section *aie_add_section(struct aie_output *output, const char *kind,
                                    const struct aie_column *column, uint32_t page, size_t size)
{
    char number[16] = "", group[16] = "";
    struct aie_section *list =
        AIE_GROW(output->sections, output->section_capacity, output->section_count);
    uint8_t *bytes = calloc(1, size + 1);
    if (list == NULL || bytes == NULL) {
        output->sections = list == NULL ? output->sections : list;
        free(bytes);
        return NULL;
    }
    output->sections = list;
    struct aie_section *section = &list[output->section_count++];
    *section = (struct aie_section){.kernel = column->kernel, .bytes = bytes, .size = size};
    if (page != AIE_NONE) {
        snprintf(number, sizeof number, ".%u", page);
    }
    if (output->kernel_count != 0) {
        snprintf(group, sizeof group, ".%u", column->kernel);
    }
    snprintf(section->name, sizeof section->name, ".%s.%u%s%s", kind, column->uc, number, group);
    return section;
}

enum nocap_status aie_add_symbol(const struct aie_program *program, struct aie_output *output,
                                 const struct aie_symbol *symbol)
{
    struct aie_symbol *list =
        AIE_GROW(output->symbols, output->symbol_capacity, output->symbol_count);
    if (list == NULL) {
        return aie_no_memory(program);
    }
    output->symbols = list;
    list[output->symbol_count++] = *symbol;
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
        snprintf(symbol.name, sizeof symbol.name, "%.*s", (int)reloc->name.length,
                 reloc->name.text);
        RETURN_IF_FAILED(aie_add_symbol(program, output, &symbol));
    }
    return NOCAP_OK;
}

void aie_output_free(struct aie_output *output)
{
    for (size_t i = 0; i < output->section_count; i++) {
        free(output->sections[i].bytes);
    }
    free(output->sections);
    free(output->symbols);
}
