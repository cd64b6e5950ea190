/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/asm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/standard_input.h"
#include "formats/aie/asm_private.h"

/* ---- maps: open addressing ---- */

static size_t map_slot(const struct aie_map *map, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (map->capacity - 1);
}

static void map_put(struct aie_map *map, uint64_t key, uint32_t value)
{
    size_t slot = map_slot(map, key);
    while (map->values[slot] != AIE_NONE) {
        slot = (slot + 1) & (map->capacity - 1);
    }
    map->keys[slot] = key;
    map->values[slot] = value;
    map->count++;
}

bool aie_map_add(struct aie_map *map, uint64_t key, uint32_t value)
{
    if (map->count * 2 >= map->capacity) {
        struct aie_map wider = {.capacity = map->capacity == 0 ? 64 : map->capacity * 2};
        wider.keys = malloc(wider.capacity * sizeof *wider.keys);
        wider.values = malloc(wider.capacity * sizeof *wider.values);
        if (wider.keys == NULL || wider.values == NULL) {
            aie_map_free(&wider);
            return false;
        }
        memset(wider.values, 0xFF, wider.capacity * sizeof *wider.values);
        for (size_t i = 0; i < map->capacity; i++) {
            if (map->values[i] != AIE_NONE) {
                map_put(&wider, map->keys[i], map->values[i]);
            }
        }
        aie_map_free(map);
        *map = wider;
    }
    map_put(map, key, value);
    return true;
}

uint32_t aie_map_next(const struct aie_map *map, uint64_t key, size_t *probe)
{
    for (; *probe < map->capacity; ++*probe) {
        size_t slot = (map_slot(map, key) + *probe) & (map->capacity - 1);
        if (map->values[slot] == AIE_NONE) {
            break;
        }
        if (map->keys[slot] == key) {
            ++*probe;
            return map->values[slot];
        }
    }
    return AIE_NONE;
}

void aie_map_free(struct aie_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct aie_map){0};
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

/* ---- files ---- */

enum nocap_status aie_read_whole(const char *path, char **bytes, size_t *length)
{
    enum { FILE_MAX = 512 << 20, CHUNK = 1 << 16 };
    FILE *file = fopen(path, "rb");
    size_t capacity = 0, n;
    *bytes = NULL;
    *length = 0;
    if (file == NULL) {
        return NOCAP_E_INPUT;
    }
    do {
        char *more = *length + CHUNK < capacity
                         ? *bytes
                         : realloc(*bytes, capacity = capacity * 2 + CHUNK + 1);
        if (more == NULL || *length > FILE_MAX) {
            fclose(file);
            free(more == NULL ? *bytes : more);
            errno = more == NULL ? ENOMEM : EFBIG;
            return more == NULL ? NOCAP_E_MEMORY : NOCAP_E_INPUT;
        }
        *bytes = more;
        n = fread(*bytes + *length, 1, CHUNK, file);
        *length += n;
    } while (n != 0);
    bool failed = ferror(file);
    fclose(file);
    if (failed) {
        free(*bytes);
        return NOCAP_E_INPUT;
    }
    (*bytes)[*length] = 0; /* the last round left room */
    return NOCAP_OK;
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
        free(program->raws[i].bytes);
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
    enum nocap_status status = NOCAP_OK;
    for (size_t i = 0; i < column->chain_count && status == NOCAP_OK; i++) {
        status = aie_page_chain(program, column, &column->chains[i], &pages);
    }
    if (status == NOCAP_OK) {
        status = aie_encode_column(program, column, &pages, map, output);
    }
    aie_pages_free(&pages);
    return status;
}

/* The columns of each kernel, and behind them its debug map. */
static enum nocap_status encode_columns(struct aie_program *program, struct aie_output *output)
{
    struct aie_debug_map map = {.out = NULL};
    enum nocap_status status = NOCAP_OK;
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
    *image = output->sections[0].bytes;
    *size = output->sections[0].size;
    output->sections[0].bytes = NULL;
    return NOCAP_OK;
}

enum nocap_status aie_encode_program(struct aie_program *program, const char *text, size_t length,
                                     const char *name, bool files, struct aie_output *output)
{
    const char *buffers = program->options->buffers;
    enum nocap_status status = aie_read_text(program, text, length, name, files);
    if (program->chip == NOCAP_AIE_CHIP_UNKNOWN) {
        program->chip = NOCAP_AIE2PS;
    }
    if (status == NOCAP_OK && buffers != NULL) {
        status = aie_read_buffers(program, buffers);
    }
    return status == NOCAP_OK ? encode_columns(program, output) : status;
}

static enum nocap_status assemble_as(struct aie_program *program, uint8_t **elf, size_t *size,
                                     const char *name, const char *text, size_t length, bool files)
{
    struct aie_output output = {.of = program};
    enum nocap_status status = aie_encode_program(program, text, length, name, files, &output);
    if (status == NOCAP_OK && program->layout == AIE_LAYOUT_IMAGE) {
        status = take_image(program, &output, elf, size);
    } else if (status == NOCAP_OK) {
        status = aie_write_elf(&output, program->dialect, elf, size, program->err);
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

/* Text of which nobody said the dialect is read again where it turns out to be of another one. */
static enum nocap_status assemble(uint8_t **elf, size_t *size, const char *name, const char *text,
                                  size_t length, bool files,
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
    enum nocap_status status = assemble_as(&program, elf, size, name, text, length, files);
    enum nocap_aie_dialect meant = program.meant;
    bool again = status != NOCAP_OK && any && meant != program.dialect;
    aie_program_free(&program);
    if (again) {
        program = aie_begin_program(options, meant, err);
        status = assemble_as(&program, elf, size, name, text, length, files);
        aie_program_free(&program);
    }
    return status;
}

enum nocap_status nocap_aie_assemble(uint8_t **elf, size_t *size, const char *path,
                                     const struct nocap_aie_asm_options *options,
                                     struct nocap_error *err)
{
    bool is_stdin = standard_input_is(path);
    const char *name = is_stdin ? STANDARD_INPUT_NAME : path;
    char *text;
    size_t length;
    *elf = NULL;
    *size = 0;
    enum nocap_status status = aie_read_whole(is_stdin ? "/dev/stdin" : path, &text, &length);
    RETURN_ERROR_IF(status != NOCAP_OK, err, status, "cannot read %s: %s", name, strerror(errno));
    size_t at = strspn(text, " \t\r\n");
    bool config = at < length && text[at] == '{';
    status = config ? aie_assemble_config(elf, size, name, text, options, err)
                    : assemble(elf, size, name, text, length, true, options, err);
    free(text);
    return status;
}

enum nocap_status nocap_aie_assemble_text(uint8_t **elf, size_t *size, const char *text,
                                          size_t length, const char *name,
                                          const struct nocap_aie_asm_options *options,
                                          struct nocap_error *err)
{
    return assemble(elf, size, name, text, length, false, options, err);
}
