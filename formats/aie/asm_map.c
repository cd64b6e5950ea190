/* SPDX-License-Identifier: Apache-2.0 */
/* Section .dump, the debug map: which line of which file each instruction comes from. Source: AIE
 * control code fact sheet, section 6, 9; files of the assembler of 2026. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/aie/asm_private.h"

enum nocap_status aie_map_begin(const struct aie_program *program, struct aie_debug_map *map)
{
    *map = (struct aie_debug_map){.file = AIE_NONE};
    const struct nocap_aie_asm_options *options = program->options;
    if ((program->dialect != NOCAP_AIE_N26 && !options->map) || options->no_map) {
        return NOCAP_OK;
    }
    map->out = open_memstream(&map->text, &map->size);
    RETURN_NO_MEMORY_IF(map->out == NULL, program);
    fputs("{\"debug\":[", map->out);
    return NOCAP_OK;
}

/* What JSON needs of a text; what cannot be printed is left out. */
static void put_text(FILE *out, const char *text, size_t length, bool lower)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c == '\t' || c == '\r') {
            fputs(c == '\t' ? "\\t" : "\\r", out);
        } else if (c >= ' ' && c <= '~') {
            fputc(lower && c >= 'A' && c <= 'Z' ? c | 0x20 : c, out);
        }
    }
}

static void put_word(FILE *out, const char *key, const struct aie_word *word)
{
    fprintf(out, "\"%s\":\"", key);
    put_text(out, word->text, word->length, false);
    fputc('"', out);
}

static void put_annotation(FILE *out, const struct aie_annotation *annotation)
{
    fputs(",\"annotation\":{", out);
    put_word(out, "id", &annotation->id);
    fputc(',', out);
    put_word(out, "name", &annotation->name);
    fputc(',', out);
    put_word(out, "description", &annotation->description);
    fputc('}', out);
}

void aie_map_put(const struct aie_program *program, struct aie_debug_map *map,
                 const struct aie_statement *s, const char *other, uint32_t line, uint32_t size,
                 uint32_t uc, uint32_t page, uint32_t at)
{
    FILE *out = map->out;
    if (out == NULL) {
        return;
    }
    if (s != NULL && nocap_aie_starts_job(s->info->opcode)) {
        map->file = s->place.file;
    }
    fprintf(out, "%s{\"sno\":%" PRIu32 ",\"operation\":\"", map->count == 0 ? "" : ",",
            map->count + 1);
    map->count++;
    if (s != NULL) {
        put_text(out, s->name.text, s->name.length, true);
        fputs(s->rest.length == 0 ? "" : " ", out);
        put_text(out, s->rest.text, s->rest.length, true);
    } else {
        fputs(other, out);
    }
    const char *file = map->file == AIE_NONE ? NULL : program->files[map->file].shown;
    file = file == NULL ? "default" : file;
    fprintf(out,
            "\",\"opcode_size\":%" PRIu32 ",\"column\":%" PRIu32 ",\"page_index\":%" PRIu32
            ",\"page_offset\":%" PRIu32 ",\"line\":%" PRIu32 ",\"file\":\"",
            size, uc, page, at, line);
    put_text(out, file, strlen(file), false);
    fputc('"', out);
    if (s != NULL && s->annotation != 0) {
        put_annotation(out, &program->annotations[s->annotation - 1]);
    }
    fputc('}', out);
}

enum nocap_status aie_map_end(const struct aie_program *program, struct aie_debug_map *map,
                              uint32_t kernel, struct aie_output *output)
{
    if (map->out == NULL) {
        return NOCAP_OK;
    }
    fputs("]}", map->out);
    bool failed = ferror(map->out) != 0;
    failed |= fclose(map->out) != 0;
    map->out = NULL;
    struct aie_section *section =
        failed || map->unwanted ? NULL : aie_add_kernel_section(output, "dump", kernel, map->size);
    if (section != NULL) {
        memcpy(section->own, map->text, map->size);
    }
    free(map->text);
    map->text = NULL;
    return section == NULL && !map->unwanted ? aie_no_memory(program) : NOCAP_OK;
}
