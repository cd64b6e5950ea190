/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the file that assembly text gives as they stand: the bytes of buffers, whole pages,
 * relocations, the layout. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/asm_source.h"
#include "formats/aie/image_private.h"

static int hex_digit(char c)
{
    char low = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

bool aie_word_bytes(const struct aie_word *word, uint8_t *bytes)
{
    for (uint32_t i = 0; i < word->length; i += 2) {
        int high = hex_digit(word->text[i]);
        int low = i + 1 < word->length ? hex_digit(word->text[i + 1]) : -1;
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* What the loader may find as the name of a symbol. */
static bool is_symbol(const struct aie_word *word, size_t most)
{
    for (uint32_t i = 0; i < word->length; i++) {
        char c = word->text[i], low = (char)(c | 0x20);
        if (!((c >= '0' && c <= '9') || (low >= 'a' && low <= 'z') || c == '_' || c == '-' ||
              c == '.')) {
            return false;
        }
    }
    return word->length != 0 && word->length <= most;
}

static struct aie_pad *pad_here(const struct aie_source *s)
{
    return s->fill == AIE_FILL_EXTRA
               ? &s->program->extras[s->fill_at].section
               : &aie_source_column(s->program, s->fill_kernel, s->fill_uc)->pads[s->fill_at];
}

/* Makes a buffer at least `size` bytes long, with room to write in. */
static bool widen(struct aie_pad *pad, uint32_t size)
{
    size_t wanted = size > pad->size ? size : pad->size;
    if (pad->content == NULL || wanted > pad->capacity) {
        size_t capacity = pad->content == NULL ? wanted : wanted + wanted / 2;
        uint8_t *content =
            pad->content == NULL ? calloc(1, capacity + 1) : realloc(pad->content, capacity);
        if (content == NULL) {
            return false;
        }
        pad->content = content;
        pad->capacity = capacity;
    }
    if (size > pad->size) {
        memset(pad->content + pad->size, 0, size - pad->size);
        pad->size = size;
    }
    return true;
}

/* .bytes OFFSET, HEX: into the buffer or the page before it. */
enum nocap_status aie_take_bytes(struct aie_source *s, const struct aie_statement *line)
{
    const struct aie_word *word = &line->operands[1];
    uint32_t offset, count = word->length / 2;
    RETURN_FAIL_IF(s->fill == AIE_FILL_NONE, s, &line->name,
                   ".bytes of nothing; expected .setpad or .page before it");
    bool page = s->fill == AIE_FILL_PAGE;
    RETURN_IF_FAILED(aie_source_number(
        s, &line->operands[0], page ? NOCAP_AIE_PAGE_SIZE : AIE_FILE_MAX, "offset", &offset));
    RETURN_FAIL_IF(count > (page ? NOCAP_AIE_PAGE_SIZE : AIE_FILE_MAX) - offset, s, word,
                   "%u bytes from %u on do not fit; expected them to end in %s", count, offset,
                   page ? "the page" : "a buffer of 512 MiB");
    RETURN_NO_MEMORY_IF(!page && !widen(pad_here(s), offset + count), s->program);
    uint8_t *bytes = page ? s->program->raws[s->fill_at].own : pad_here(s)->content;
    RETURN_FAIL_IF(!aie_word_bytes(word, bytes + offset), s, word,
                   "'%.*s' is no list of bytes; expected two hexadecimal digits for each",
                   (int)(word->length < 40 ? word->length : 40), word->text);
    return NOCAP_OK;
}

/* .page TEXT: a page of zeros that .bytes fill; TEXT bytes of it are the text section. */
enum nocap_status aie_take_page(struct aie_source *s, const struct aie_statement *line)
{
    struct aie_program *program = s->program;
    struct aie_raw raw = {0};
    struct aie_statement page = *line;
    RETURN_IF_FAILED(aie_source_closed(s, ".page"));
    RETURN_FAIL_IF(s->data, s, &line->name, ".page in the data; expected it where jobs may be");
    RETURN_IF_FAILED(aie_source_number(s, &line->operands[0], NOCAP_AIE_PAGE_SIZE,
                                       "size of a page's text", &raw.text_size));
    RETURN_FAIL_IF(raw.text_size < NOCAP_AIE_HEADER_SIZE, s, &line->operands[0],
                   "a text of %u bytes; expected at least the %d of the "
                   "header",
                   raw.text_size, NOCAP_AIE_HEADER_SIZE);
    struct aie_raw *next = LIST_NEXT(program->raws, program->raw_count);
    raw.own = calloc(1, NOCAP_AIE_PAGE_SIZE);
    raw.bytes = raw.own;
    if (next == NULL || raw.own == NULL) {
        free(raw.own);
        return aie_no_memory(program);
    }
    *next = raw;
    page.kind = AIE_RAW;
    page.page_offset = (uint32_t)program->raw_count;
    s->fill = AIE_FILL_PAGE;
    s->fill_at = program->raw_count++;
    return aie_source_add(s, &page);
}

/* .reloc OFFSET, TYPE, ADDEND, SYMBOL: into the buffer or the page before it. */
enum nocap_status aie_take_reloc(struct aie_source *s, const struct aie_statement *line)
{
    struct aie_reloc reloc = {.place = s->place, .name = line->operands[3]};
    RETURN_FAIL_IF(s->fill == AIE_FILL_NONE, s, &line->name,
                   ".reloc of nothing; expected .setpad or .page before it");
    RETURN_IF_FAILED(aie_source_number(s, &line->operands[0], UINT32_MAX, "offset", &reloc.offset));
    RETURN_IF_FAILED(
        aie_source_number(s, &line->operands[1], UINT8_MAX, "type of a relocation", &reloc.type));
    RETURN_IF_FAILED(aie_source_number(s, &line->operands[2], UINT32_MAX, "addend", &reloc.addend));
    if (!is_symbol(&reloc.name, sizeof((struct aie_symbol){0}.name) - 1)) {
        return FAIL(s, &reloc.name, "'%.*s' is no symbol; expected letters, digits and _-.",
                    AIE_TEXT(&reloc.name));
    }
    struct aie_relocs *relocs =
        s->fill == AIE_FILL_PAGE ? &s->program->raws[s->fill_at].relocs : &pad_here(s)->relocs;
    struct aie_reloc *next = LIST_NEXT(relocs->items, relocs->count);
    RETURN_NO_MEMORY_IF(next == NULL, s->program);
    *next = reloc;
    relocs->count++;
    return NOCAP_OK;
}

/* What files of n26 have: where the dialect was not given it is that. */
static enum nocap_status means_n26(struct aie_source *s, const struct aie_statement *line)
{
    struct aie_program *program = s->program;
    if (program->options->dialect != NOCAP_AIE_DIALECT_OF_FILE ||
        program->dialect == NOCAP_AIE_N26 || program->plain) {
        return NOCAP_OK;
    }
    program->meant = NOCAP_AIE_N26;
    return FAIL(s, &line->name, "%.*s is of the dialect n26; expected --dialect n26",
                AIE_TEXT(&line->name));
}

/* A section that .bytes fill. */
static enum nocap_status add_extra(struct aie_source *s, const struct aie_word *name,
                                   struct aie_extra extra)
{
    struct aie_program *program = s->program;
    struct aie_extra *next = LIST_NEXT(program->extras, program->extra_count);
    char *copy = strndup(name->text, name->length);
    if (next == NULL || copy == NULL) {
        free(copy);
        return aie_no_memory(program);
    }
    s->fill = AIE_FILL_EXTRA;
    s->fill_at = program->extra_count++;
    extra.patched = true;
    extra.section = (struct aie_pad){.name = copy, .place = s->place};
    *next = extra;
    return NOCAP_OK;
}

/* .raw NAME: a section of the uC that is neither pages nor buffers; .bytes and .reloc fill it. */
enum nocap_status aie_take_raw(struct aie_source *s, const struct aie_statement *line)
{
    const struct aie_word *name = &line->operands[0];
    RETURN_FAIL_IF(name->length < 2 || name->text[0] != '.' ||
                       !is_symbol(name, sizeof(((struct aie_section){0}).name) / 2),
                   s, name, "'%.*s' is no section; expected a dot, and letters, digits and _-.",
                   (int)(name->length < 40 ? name->length : 40), name->text);
    const uint32_t prefix = sizeof ".ctrlpkt-" - 1;
    struct aie_word number = {name->text + prefix, name->length - prefix, 0};
    uint64_t argument = AIE_NONE;
    if (name->length <= prefix || strncmp(name->text, ".ctrlpkt-", prefix) != 0 ||
        !aie_word_number(&number, &argument) || argument > UINT16_MAX) {
        argument = AIE_NONE;
    }
    return add_extra(
        s, name,
        (struct aie_extra){.kernel = s->kernel, .uc = s->uc, .argument = (uint32_t)argument});
}

/* .custom NAME: a section of the file that is of no kernel; .bytes fill it. */
enum nocap_status aie_take_custom(struct aie_source *s, const struct aie_statement *line)
{
    const struct aie_word *name = &line->operands[0];
    RETURN_FAIL_IF(!is_symbol(name, AIE_CUSTOM_NAME_MAX), s, name,
                   "'%.*s' is no section; expected up to %d letters, digits and _-.",
                   (int)(name->length < 40 ? name->length : 40), name->text, AIE_CUSTOM_NAME_MAX);
    return add_extra(s, name,
                     (struct aie_extra){.kernel = AIE_NONE, .uc = AIE_NONE, .argument = AIE_NONE});
}

enum nocap_status aie_take_layout(struct aie_source *s, const struct aie_statement *line)
{
    static const char *const names[] = {
        [AIE_LAYOUT_PAGES] = "pages", [AIE_LAYOUT_MERGED] = "merged", [AIE_LAYOUT_IMAGE] = "image"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (aie_word_is(&line->operands[0], names[i])) {
            RETURN_IF_FAILED(i == AIE_LAYOUT_MERGED ? means_n26(s, line) : NOCAP_OK);
            s->program->layout = (enum aie_layout)i;
            return NOCAP_OK;
        }
    }
    return FAIL(s, &line->operands[0], "'%.*s' is no layout; expected pages, merged or image",
                AIE_TEXT(&line->operands[0]));
}

/* "_Z3DPUPcPc": the length of the name, the name, types. */
static bool is_mangled(const struct aie_word *word)
{
    uint32_t at = 2, length = 0;
    if (word->length < 4 || strncmp(word->text, "_Z", 2) != 0) {
        return false;
    }
    while (at < word->length && word->text[at] >= '0' && word->text[at] <= '9' &&
           length <= AIE_KERNEL_NAME_MAX) {
        length = length * 10 + (uint32_t)(word->text[at++] - '0');
    }
    return length != 0 && length <= word->length - at;
}

/* .kernel SYMBOL, INSTANCE: to this instance of this kernel belongs what follows. */
enum nocap_status aie_take_kernel(struct aie_source *s, const struct aie_statement *line)
{
    struct aie_program *program = s->program;
    const struct aie_kernel kernel = {line->operands[0], line->operands[1]};
    RETURN_IF_FAILED(aie_source_closed(s, ".kernel"));
    RETURN_IF_FAILED(means_n26(s, line));
    RETURN_FAIL_IF(strchr(s->path, ':') != NULL ||
                       (program->kernel_count == 0 && program->column_count != 0),
                   s, &line->name,
                   ".kernel after code without one, or inside a label's; expected "
                   "it before all other");
    for (int i = 0; i < 2; i++) {
        RETURN_FAIL_IF(!is_symbol(&line->operands[i], AIE_KERNEL_NAME_MAX), s, &line->operands[i],
                       "'%.*s' is no symbol; expected up to %d letters, digits and _-.",
                       (int)(line->operands[i].length < 40 ? line->operands[i].length : 40),
                       line->operands[i].text, AIE_KERNEL_NAME_MAX);
    }
    RETURN_FAIL_IF(!is_mangled(&line->operands[0]), s, &line->operands[0],
                   "'%.*s' is no mangled name; expected _Z, the length of the kernel's name, the "
                   "name and the types of its arguments",
                   AIE_TEXT(&line->operands[0]));
    s->data = false;
    s->at_known = false;
    s->uc = 0;
    for (s->kernel = 0; s->kernel < program->kernel_count; s->kernel++) {
        const struct aie_kernel *other = &program->kernels[s->kernel];
        if (aie_words_same(&other->symbol, &kernel.symbol) &&
            aie_words_same(&other->instance, &kernel.instance)) {
            return NOCAP_OK;
        }
    }
    struct aie_kernel *next =
        s->kernel >= AIE_KERNELS_MAX ? NULL : LIST_NEXT(program->kernels, program->kernel_count);
    RETURN_NO_MEMORY_IF(next == NULL, program);
    *next = kernel;
    program->kernel_count++;
    return NOCAP_OK;
}
