/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/asm.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "base/standard_input.h"
#include "formats/aie/asm_known.h"
#include "formats/aie/image_private.h"

/* ---- maps ---- */

bool aie_map_add(struct aie_map *map, uint64_t key, uint32_t value)
{
    struct aie_map_row *row = MAP_GET(map, &key, AIE_NONE);
    struct aie_map_value *next = row != NULL ? LIST_NEXT(map->values, map->value_count) : NULL;
    if (next == NULL) {
        return false;
    }
    uint32_t number = (uint32_t)++map->value_count;
    *(row->last != 0 ? &map->values[row->last - 1].next : &row->first) = number;
    row->last = number;
    next->value = value;
    return true;
}

const struct aie_map_value *aie_map_find(const struct aie_map *map, uint64_t key)
{
    const struct aie_map_row *row = MAP_FIND(map, &key);
    return row != NULL && row->first != 0 ? &map->values[row->first - 1] : NULL;
}

const struct aie_map_value *aie_map_next(const struct aie_map *map,
                                         const struct aie_map_value *value)
{
    return value->next != 0 ? &map->values[value->next - 1] : NULL;
}

void aie_map_free(struct aie_map *map)
{
    MAP_FREE(map);
    free(map->values);
    map->values = NULL;
    map->value_count = 0;
}

/* ---- errors ---- */

enum nocap_status aie_no_memory(const struct aie_program *program)
{
    return nocap_fail(program->err, NOCAP_E_MEMORY, "out of memory, or the program is too large");
}

enum nocap_status aie_source_error(const struct aie_program *program, struct aie_place place,
                                   const struct aie_word *word, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    for (char *p = what; *p != 0; p++) {
        *p = (unsigned char)*p < ' ' ? '?' : *p;
    }
    return nocap_fail(program->err, NOCAP_E_INPUT, "%.300s:%u:%u: %s",
                      program->files[place.file].name, place.line, word == NULL ? 1 : word->column,
                      what);
}

/* ---- words ---- */

bool aie_word_is(const struct aie_word *word, const char *text)
{
    return strlen(text) == word->length && strncasecmp(word->text, text, word->length) == 0;
}

bool aie_words_same(const struct aie_word *a, const struct aie_word *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

bool aie_words_equal(const struct aie_word *a, const struct aie_word *b)
{
    return a->length == b->length && strncasecmp(a->text, b->text, a->length) == 0;
}

bool aie_word_number(const struct aie_word *word, uint64_t *number)
{
    bool hex = word->length > 2 && word->text[0] == '0' && (word->text[1] | 0x20) == 'x';
    uint64_t base = hex ? 16 : 10;
    *number = 0;
    for (uint32_t i = hex ? 2 : 0; i < word->length; i++) {
        char c = word->text[i], low = (char)(c | 0x20);
        uint64_t digit = c >= '0' && c <= '9'              ? (uint64_t)(c - '0')
                         : hex && low >= 'a' && low <= 'f' ? (uint64_t)(low - 'a') + 10
                                                           : base;
        if (digit >= base || *number > (UINT64_MAX - digit) / base) {
            return false;
        }
        *number = *number * base + digit;
    }
    return word->length != 0;
}

/* ---- the whole way ---- */

void aie_program_free(struct aie_program *program)
{
    for (size_t i = 0; i < program->file_count; i++) {
        free(program->files[i].name);
        free(program->files[i].shown);
        free(program->files[i].text);
    }
    for (size_t c = 0; c < program->column_count; c++) {
        struct aie_column *column = &program->columns[c];
        for (size_t i = 0; i < column->chain_count; i++) {
            free(column->chains[i].path);
            free(column->chains[i].text.items);
            free(column->chains[i].data.items);
            aie_map_free(&column->chains[i].labels);
        }
        for (size_t i = 0; i < column->pad_count; i++) {
            free(column->pads[i].name);
            free(column->pads[i].content);
            free(column->pads[i].relocs.items);
        }
        free(column->chains);
        free(column->pads);
    }
    for (size_t i = 0; i < program->raw_count; i++) {
        free(program->raws[i].own);
        free(program->raws[i].relocs.items);
    }
    for (size_t i = 0; i < program->extra_count; i++) {
        free(program->extras[i].section.name);
        free(program->extras[i].section.content);
        free(program->extras[i].section.relocs.items);
    }
    free(program->extras);
    free(program->raws);
    free(program->annotations);
    free(program->preempts.items);
    for (size_t i = 0; i < program->word_count; i++) {
        free(program->words[i]);
    }
    free(program->words);
    free(program->kernels);
    free(program->files);
    free(program->statements);
    free(program->columns);
    free(program->patches);
}

static enum nocap_status encode_column(struct aie_program *program, struct aie_column *column,
                                       struct aie_debug_map *map, struct aie_output *output)
{
    struct aie_pages pages = {0};
    struct aie_taken taken = {NULL, NULL};
    bool take = program->known != NULL && program->known->page == NULL;
    enum nocap_status status = take ? aie_take_known(program, column, &pages, &taken) : NOCAP_OK;
    for (size_t i = 0; i < column->chain_count && status == NOCAP_OK; i++) {
        status = aie_page_chain(program, column, &column->chains[i], &pages);
    }
    if (status == NOCAP_OK) {
        status = aie_encode_column(program, column, &pages, map, output);
    }
    free(taken.raws);
    free(taken.relocs);
    aie_pages_free(&pages);
    return status;
}

/* The columns of each kernel, and after them its debug map. */
static enum nocap_status encode_columns(struct aie_program *program, struct aie_output *output)
{
    struct aie_debug_map map = {.out = NULL};
    enum nocap_status status = aie_encode_custom(program, output);
    size_t count = program->column_count;
    if (output->of == program) { /* else others are in it, too */
        output->kernels = program->kernels;
        output->kernel_count = program->kernel_count;
        output->layout = program->layout;
        output->os_abi = program->os_abi;
        output->partition_columns = program->partition_columns;
    } else if (program->os_abi != 0) {
        output->layout = AIE_LAYOUT_MERGED;
    }
    for (size_t c = 0; c < count && status == NOCAP_OK; c++) {
        uint32_t kernel = program->columns[c].kernel;
        bool found = false;
        if (c == 0 || program->columns[c - 1].kernel != kernel) {
            status = aie_map_begin(program, &map);
        }
        if (status == NOCAP_OK) {
            status = encode_column(program, &program->columns[c], &map, output);
        }
        if (status == NOCAP_OK) {
            status =
                aie_encode_extras(program, kernel, program->columns[c].uc, NULL, &found, output);
        }
        if (status == NOCAP_OK && (c + 1 == count || program->columns[c + 1].kernel != kernel)) {
            status = aie_encode_extras(program, kernel, 0, ".dump", &found, output);
            map.unwanted = found;
            status = status == NOCAP_OK ? aie_map_end(program, &map, kernel, output) : status;
        }
    }
    if (map.out != NULL) {
        fclose(map.out);
        free(map.text);
    }
    return status;
}

/* The pages of the only column. */
static enum nocap_status take_image(const struct aie_program *program, struct aie_output *output,
                                    uint8_t **image, size_t *size)
{
    RETURN_ERROR_IF(output->section_count != 1 || !output->sections[0].text ||
                        program->kernel_count != 0,
                    program->err, NOCAP_E_INPUT,
                    "%.300s: .layout image is about the pages of one uC; expected code for one, "
                    "without buffers and .kernel",
                    program->files[0].name);
    RETURN_ERROR_IF(nocap_aie_u16(output->sections[0].bytes) != NOCAP_AIE_SIGNATURE, program->err,
                    NOCAP_E_INPUT,
                    "%.300s: the first page of .layout image begins with other bytes than a page; "
                    "expected .bytes 0, ffff",
                    program->files[0].name);
    *image = output->sections[0].own;
    *size = output->sections[0].size;
    output->sections[0].own = NULL;
    return NOCAP_OK;
}

enum nocap_status aie_encode_program(struct aie_program *program, const struct aie_asm_text *source,
                                     struct aie_output *output)
{
    const char *buffers = program->options->buffers;
    enum nocap_status status = aie_read_text(program, source);
    if (program->chip == NOCAP_AIE_CHIP_UNKNOWN) {
        program->chip = NOCAP_AIE2PS;
    }
    if (program->options->made_for != NULL) {
        *program->options->made_for = program->chip;
    }
    if (status == NOCAP_OK && buffers != NULL) {
        status = aie_read_buffers(program, buffers);
    }
    return status == NOCAP_OK ? encode_columns(program, output) : status;
}

enum nocap_status aie_make_file(const struct aie_program *program, struct aie_output *output,
                                uint8_t **bytes, size_t *size)
{
    return program->layout == AIE_LAYOUT_IMAGE
               ? take_image(program, output, bytes, size)
               : aie_write_elf(output, program->dialect, bytes, size, program->err);
}

static enum nocap_status assemble_as(struct aie_program *program, uint8_t **elf, size_t *size,
                                     const struct aie_asm_text *source)
{
    struct aie_output output = {.of = program};
    enum nocap_status status = aie_encode_program(program, source, &output);
    if (status == NOCAP_OK) {
        status = aie_make_file(program, &output, elf, size);
    }
    aie_output_free(&output);
    return status;
}

struct aie_program aie_begin_program(const struct nocap_aie_asm_options *options,
                                     enum nocap_aie_dialect dialect, struct nocap_error *err)
{
    return (struct aie_program){.options = options,
                                .err = err,
                                .packet_argument = AIE_NONE,
                                .chip = options->chip,
                                .dialect = dialect,
                                .meant = dialect};
}

/* Text whose dialect was not given is read again where it turns out to be of another one. */
static enum nocap_status assemble(uint8_t **elf, size_t *size, const struct aie_asm_text *source,
                                  const struct nocap_aie_asm_options *options,
                                  struct nocap_error *err)
{
    bool any = options->dialect == NOCAP_AIE_DIALECT_OF_FILE;
    struct aie_program program = aie_begin_program(options,
                                                   !any                          ? options->dialect
                                                   : options->chip == NOCAP_AIE4 ? NOCAP_AIE_N26
                                                                                 : NOCAP_AIE_SEED,
                                                   err);
    *elf = NULL;
    *size = 0;
    enum nocap_status status = assemble_as(&program, elf, size, source);
    enum nocap_aie_dialect meant = program.meant;
    bool again = status != NOCAP_OK && any && meant != program.dialect;
    aie_program_free(&program);
    if (again) {
        program = aie_begin_program(options, meant, err);
        status = assemble_as(&program, elf, size, source);
        aie_program_free(&program);
    }
    return status;
}

enum nocap_status nocap_aie_assemble(uint8_t **elf, size_t *size, const char *path,
                                     const struct nocap_aie_asm_options *options,
                                     struct nocap_error *err)
{
    const char *name = standard_input_is(path) ? STANDARD_INPUT_NAME : path;
    uint8_t *bytes;
    size_t length;
    *elf = NULL;
    *size = 0;
    RETURN_IF_FAILED(whole_input_read(&bytes, &length, path, AIE_FILE_MAX, err));
    const char *text = (const char *)bytes;
    size_t at = strspn(text, " \t\r\n");
    bool config = at < length && text[at] == '{';
    const struct aie_asm_text source = {
        .text = text, .name = name, .length = length, .files = true};
    enum nocap_status status = config ? aie_assemble_config(elf, size, name, text, options, err)
                                      : assemble(elf, size, &source, options, err);
    free(bytes);
    return status;
}

enum nocap_status nocap_aie_assemble_text(uint8_t **elf, size_t *size, const char *text,
                                          size_t length, const char *name,
                                          const struct nocap_aie_asm_options *options,
                                          struct nocap_error *err)
{
    const struct aie_asm_text source = {.text = text, .name = name, .length = length};
    return assemble(elf, size, &source, options, err);
}
