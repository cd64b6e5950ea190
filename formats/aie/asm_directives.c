/* SPDX-License-Identifier: Apache-2.0 */
/* Directives of assembly text, and the files that they name. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/regular_file.h"
#include "formats/aie/asm_source.h"
#include "formats/aie/image_private.h"

enum {
    DEPTH_MAX = 16,         /* of includes */
    SOURCE_MAX = 512 << 20, /* bytes, all files together: four times the largest ELF file */
    UC_MAX = 255,
};

static void unquote(struct aie_word *word)
{
    if (word->length >= 2 && word->text[0] == '"' && word->text[word->length - 1] == '"') {
        word->text++;
        word->length -= 2;
        word->column++;
    }
}

/* Paths to look at: the file's own directory, then the others; NULL after the last. */
static bool candidate(const struct aie_source *s, const struct aie_word *name, size_t i, char *path)
{
    const struct nocap_aie_asm_options *options = s->program->options;
    const char *own = s->program->files[s->place.file].name, *slash = strrchr(own, '/');
    if (name->length != 0 && name->text[0] == '/') {
        snprintf(path, PATH_TEXT_MAX, "%.*s", AIE_TEXT(name));
        return i == 0;
    }
    if (i == 0) {
        snprintf(path, PATH_TEXT_MAX, "%.*s%.*s", slash == NULL ? 0 : (int)(slash - own) + 1, own,
                 AIE_TEXT(name));
        return true;
    }
    if (i <= options->dir_count) {
        snprintf(path, PATH_TEXT_MAX, "%s/%.*s", options->dirs[i - 1], AIE_TEXT(name));
        return true;
    }
    return false;
}

/* Text may come from others: what it names is read only if it is a regular file. */
static enum nocap_status read_named(struct aie_source *s, const char *path, char **bytes,
                                    size_t *length, struct nocap_error *why)
{
    size_t left = s->total < SOURCE_MAX ? (size_t)(SOURCE_MAX - s->total) : 0;
    RETURN_IF_FAILED(regular_file_load(path, left, (uint8_t **)bytes, length, why));
    s->total += *length;
    return NOCAP_OK;
}

enum nocap_status aie_source_file(struct aie_source *s, const struct aie_word *name, char *path,
                                  char **bytes, size_t *length)
{
    struct aie_word plain = *name;
    struct nocap_error why = {"files are not included here"};
    unquote(&plain);
    for (size_t i = 0; s->files && candidate(s, &plain, i, path); i++) {
        struct nocap_error one;
        enum nocap_status status = read_named(s, path, bytes, length, &one);
        if (status == NOCAP_OK) {
            return NOCAP_OK;
        }
        RETURN_NO_MEMORY_IF(status == NOCAP_E_MEMORY, s->program);
        why = i == 0 ? one : why;
    }
    return FAIL(
        s, name,
        "cannot read '%.*s'; expected a file beside this one or in a directory of -L: %.400s",
        AIE_TEXT(&plain), why.text);
}

static enum nocap_status take_include(struct aie_source *s, const struct aie_statement *line)
{
    char path[PATH_TEXT_MAX], *bytes;
    size_t length;
    RETURN_FAIL_IF(s->depth == DEPTH_MAX, s, &line->name,
                   "files include each other too deep; expected at most %d", DEPTH_MAX);
    RETURN_IF_FAILED(aie_source_file(s, &line->operands[0], path, &bytes, &length));
    struct aie_place place = s->place;
    struct aie_word name = line->operands[0];
    bool data = s->data;
    RETURN_IF_FAILED(aie_source_enter(s, false));
    unquote(&name);
    s->depth++;
    enum nocap_status status =
        aie_source_lines(s, strdup(path), strndup(name.text, name.length), bytes, length);
    s->depth--;
    aie_source_leave(s, data);
    s->place = place;
    return status;
}

enum nocap_status aie_source_number(struct aie_source *s, const struct aie_word *word,
                                    uint64_t most, const char *what, uint32_t *number)
{
    uint64_t wide;
    RETURN_FAIL_IF(!aie_word_number(word, &wide) || wide > most, s, word,
                   "'%.*s' is no %s; expected 0 to %llu", AIE_TEXT(word), what,
                   (unsigned long long)most);
    *number = (uint32_t)wide;
    return NOCAP_OK;
}

static enum nocap_status take_group(struct aie_source *s, const struct aie_statement *line)
{
    RETURN_IF_FAILED(aie_source_closed(s, ".attach_to_group"));
    if (s->program->dialect == NOCAP_AIE_N26) { /* it ends the code of the uC before it */
        RETURN_IF_FAILED(aie_source_eof(s, 0));
    }
    RETURN_IF_FAILED(aie_source_number(s, &line->operands[0], UC_MAX, "number of a uC", &s->uc));
    s->at_known = false;
    s->grouped = true;
    return aie_source_column(s->program, s->kernel, s->uc) == NULL ? aie_no_memory(s->program)
                                                                   : aie_source_enter(s, false);
}

static enum nocap_status take_endl(struct aie_source *s, const struct aie_statement *line)
{
    char *colon = strrchr(s->path, ':');
    RETURN_FAIL_IF(colon == NULL || !aie_word_is(&line->operands[0], colon + 1), s,
                   &line->operands[0], "no label '%.*s' to end here; expected '%s'",
                   AIE_TEXT(&line->operands[0]),
                   colon == NULL ? "a label in the text before it" : colon + 1);
    RETURN_IF_FAILED(aie_source_closed(s, ".endl"));
    *colon = 0;
    s->at_known = false;
    if (s->program->dialect == NOCAP_AIE_N26) {
        aie_source_leave(s, false);
    }
    return NOCAP_OK;
}

/* .section annotation: three lines about the instruction before it follow. */
static enum nocap_status begin_annotation(struct aie_source *s)
{
    struct aie_program *program = s->program;
    struct aie_annotation *annotation = LIST_NEXT(program->annotations, program->annotation_count);
    struct aie_chain *chain = annotation == NULL ? NULL : aie_source_chain(s);
    RETURN_NO_MEMORY_IF(chain == NULL, program);
    *annotation = (struct aie_annotation){{"", 0, 0}, {"", 0, 0}, {"", 0, 0}};
    program->annotation_count++;
    s->annotation_lines = 3;
    for (size_t i = chain->text.count; i-- > 0;) {
        struct aie_statement *statement = &program->statements[chain->text.items[i]];
        if (statement->kind != AIE_EOP) {
            statement->annotation = (uint32_t)program->annotation_count;
            break;
        }
    }
    return NOCAP_OK;
}

static enum nocap_status take_section(struct aie_source *s, const struct aie_statement *line)
{
    static const char text[] = ".ctrltext", data[] = ".ctrldata";
    const struct aie_word *name = &line->operands[0];
    bool is_text = name->length >= sizeof text - 1 && !strncmp(name->text, text, sizeof text - 1);
    bool is_data = name->length >= sizeof data - 1 && !strncmp(name->text, data, sizeof data - 1);
    if (s->program->dialect == NOCAP_AIE_N26 && aie_word_is(name, "annotation")) {
        return begin_annotation(s);
    }
    RETURN_FAIL_IF(!is_text && !is_data, s, name,
                   "unknown section '%.*s'; expected .ctrltext or .ctrldata", AIE_TEXT(name));
    RETURN_IF_FAILED(aie_source_closed(s, ".section"));
    RETURN_IF_FAILED(aie_source_enter(s, is_data));
    s->at_known = false;
    struct aie_word suffix = {name->text + sizeof text, 0, name->column + (uint32_t)sizeof text};
    suffix.length = name->length >= sizeof text ? name->length - (uint32_t)sizeof text : 0;
    if (suffix.length != 0 && s->program->dialect == NOCAP_AIE_SEED) {
        return aie_source_number(s, &suffix, UC_MAX, "number of a uC", &s->uc);
    }
    return NOCAP_OK;
}

/* Puts the buffer among those of the column, which are in the order of their names; n26 replaces
 * one of the same name. Takes what `pad` has. */
static enum nocap_status add_pad(struct aie_source *s, struct aie_column *column,
                                 const struct aie_word *name, struct aie_pad pad)
{
    struct aie_pad *known = aie_find_pad(column, name), *list = column->pads;
    size_t at = known == NULL ? column->pad_count : (size_t)(known - list);
    if (known != NULL) {
        free(known->content);
        pad.name = known->name;
    } else {
        pad.name = strndup(name->text, name->length);
        if (pad.name == NULL || LIST_NEXT(column->pads, column->pad_count) == NULL) {
            free(pad.name);
            free(pad.content);
            return aie_no_memory(s->program);
        }
        list = column->pads;
        column->pad_count++;
        for (; at > 0 && strcmp(list[at - 1].name, pad.name) > 0; at--) {
            list[at] = list[at - 1];
        }
    }
    list[at] = pad;
    s->fill = AIE_FILL_PAD;
    s->fill_kernel = s->kernel;
    s->fill_uc = s->uc;
    s->fill_at = at;
    return NOCAP_OK;
}

static enum nocap_status take_pad(struct aie_source *s, const struct aie_statement *line)
{
    const struct aie_word *name = &line->operands[0], *what = &line->operands[1];
    struct aie_column *column = aie_source_column(s->program, s->kernel, s->uc);
    struct aie_pad pad = {.place = s->place};
    uint64_t words;
    RETURN_NO_MEMORY_IF(column == NULL, s->program);
    RETURN_FAIL_IF(s->program->dialect != NOCAP_AIE_N26 && aie_find_pad(column, name) != NULL, s,
                   name, "buffer '%.*s' is declared already; expected another name",
                   AIE_TEXT(name));
    if (aie_word_number(what, &words)) {
        uint32_t count = 0;
        RETURN_IF_FAILED(aie_source_number(s, what, AIE_FILE_MAX / 4, "size in words", &count));
        pad.size = count * 4;
    } else {
        char path[PATH_TEXT_MAX];
        size_t length;
        RETURN_IF_FAILED(aie_source_file(s, what, path, (char **)&pad.content, &length));
        pad.size = (uint32_t)length;
        pad.capacity = length;
        if (s->program->dialect == NOCAP_AIE_N26 && aie_source_enter(s, false) != NOCAP_OK) {
            free(pad.content);
            return aie_no_memory(s->program);
        }
    }
    return add_pad(s, column, name, pad);
}

static enum nocap_status take_target(struct aie_source *s, const struct aie_statement *line)
{
    const struct aie_word *word = &line->operands[0];
    struct aie_program *program = s->program;
    uint8_t os_abi;
    enum nocap_aie_chip chip = nocap_aie_target(word->text, word->length, &os_abi);
    RETURN_FAIL_IF(chip == NOCAP_AIE_CHIP_UNKNOWN, s, word,
                   "'%.*s' is not supported; expected aie2ps, aie4, aie4a or aie4z",
                   AIE_TEXT(word));
    if (chip != NOCAP_AIE2PS && program->dialect != NOCAP_AIE_N26) {
        program->meant = NOCAP_AIE_N26;
        return FAIL(s, word, "code for %.*s is not of the dialect %s; expected n26", AIE_TEXT(word),
                    nocap_aie_dialect_name(program->dialect));
    }
    RETURN_FAIL_IF(program->chip != NOCAP_AIE_CHIP_UNKNOWN && program->chip != chip, s, word,
                   "'%.*s' is another chip than %s, which was chosen before", AIE_TEXT(word),
                   nocap_aie_chip_info(program->chip)->name);
    program->chip = chip;
    program->os_abi = os_abi;
    return NOCAP_OK;
}

/* .dialect NAME: what disasm writes of a file, so that asm makes the same one. */
static enum nocap_status take_dialect(struct aie_source *s, const struct aie_statement *line)
{
    const struct aie_word *word = &line->operands[0];
    struct aie_program *program = s->program;
    for (int i = 0; i < NOCAP_AIE_DIALECT_COUNT; i++) {
        enum nocap_aie_dialect dialect = (enum nocap_aie_dialect)i;
        if (aie_word_is(word, nocap_aie_dialect_name(dialect))) {
            program->meant = dialect;
            program->plain = true;
            return dialect == program->dialect
                       ? NOCAP_OK
                       : FAIL(s, word, "the text is of the dialect %s; expected --dialect %s",
                              nocap_aie_dialect_name(dialect), nocap_aie_dialect_name(dialect));
        }
    }
    return FAIL(s, word, "'%.*s' is no dialect; expected seed, f25, m25 or n26", AIE_TEXT(word));
}

/* "3column", "2core:6mem": a number and what it counts; takes it off the word. */
static bool take_count(struct aie_word *word, const char *what, uint32_t *number)
{
    struct aie_word digits = *word;
    uint64_t count;
    for (digits.length = 0; digits.length < word->length; digits.length++) {
        if (word->text[digits.length] < '0' || word->text[digits.length] > '9') {
            break;
        }
    }
    struct aie_word unit = {word->text + digits.length, (uint32_t)strlen(what), 0};
    if (word->length - digits.length < unit.length || !aie_word_is(&unit, what) ||
        !aie_word_number(&digits, &count) || count == 0) {
        return false;
    }
    word->text = unit.text + unit.length;
    word->length -= digits.length + unit.length;
    *number = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    return true;
}

/* Of it n26 keeps the number of columns. */
static enum nocap_status take_partition(struct aie_source *s, const struct aie_statement *line)
{
    struct aie_word word = line->operands[0];
    unquote(&word);
    struct aie_word cores = word;
    uint32_t count;
    if ((take_count(&word, "column", &count) && word.length == 0) ||
        (take_count(&cores, "core:", &count) && take_count(&cores, "mem", &(uint32_t){0}) &&
         cores.length == 0)) {
        s->program->partition_columns = count;
        return NOCAP_OK;
    }
    return FAIL(s, &line->operands[0],
                "'%.*s' is no partition; expected <columns>column or <cores>core:<chunks>mem",
                AIE_TEXT(&line->operands[0]));
}

/* What says something about the whole design changes no byte. */
static enum nocap_status take_nothing(struct aie_source *s, const struct aie_statement *line)
{
    (void)s;
    (void)line;
    return NOCAP_OK;
}

/* Data stands without gaps, as its layout asks for: the alignment has to be one, and moves nothing.
 */
static enum nocap_status take_align(struct aie_source *s, const struct aie_statement *line)
{
    enum { ALIGN_MAX = 8192 }; /* a page */
    uint64_t bytes;
    const struct aie_word *word = &line->operands[0];
    RETURN_FAIL_IF(!aie_word_number(word, &bytes) || bytes == 0 || bytes > ALIGN_MAX ||
                       (bytes & (bytes - 1)) != 0,
                   s, word, "'%.*s' is no alignment; expected a power of two up to %d",
                   AIE_TEXT(word), ALIGN_MAX);
    return NOCAP_OK;
}

static enum nocap_status take_eop(struct aie_source *s, const struct aie_statement *line)
{
    RETURN_IF_FAILED(aie_source_closed(s, ".eop"));
    struct aie_statement eop = *line;
    eop.kind = AIE_EOP;
    if (s->data) {
        bool later = s->program->dialect == NOCAP_AIE_N26;
        return later && aie_source_chain(s) == NULL ? aie_no_memory(s->program) : NOCAP_OK;
    }
    return aie_source_add(s, &eop);
}

static enum nocap_status take_data(struct aie_source *s, const struct aie_statement *line)
{
    struct aie_statement datum = *line;
    datum.kind = line->name.text[0] == '.' ? AIE_LONG : AIE_BD;
    RETURN_FAIL_IF(!s->data, s, &line->name, "%.*s in the text; expected EOF before the data",
                   AIE_TEXT(&line->name));
    const struct aie_chain *chain = aie_source_chain(s);
    RETURN_FAIL_IF(chain == NULL || chain->data.count == 0, s, &line->name,
                   "%.*s belongs to no label; expected 'label:' before it", AIE_TEXT(&line->name));
    return aie_source_add(s, &datum);
}

enum {
    SEED = 1 << NOCAP_AIE_SEED,
    N26 = 1 << NOCAP_AIE_N26,
    ALL = (1 << NOCAP_AIE_DIALECT_COUNT) - 1
};

static const struct aie_directive directives[] = {
    {".long", 1, 1, ALL, take_data}, /* what most lines are first */
    {"UC_DMA_BD", 6, 6, ALL, take_data},
    {".align", 1, 1, ALL, take_align},
    {".attach_to_group", 1, 1, ALL, take_group},
    {".include", 1, 1, ALL, take_include},
    {".endl", 1, 1, ALL, take_endl},
    {".setpad", 2, 2, ALL, take_pad},
    {".section", 1, 2, ALL, take_section},
    {".eop", 0, 0, ALL, take_eop},
    {".bytes", 2, 2, ALL, aie_take_bytes},
    {".page", 1, 1, ALL, aie_take_page},
    {".reloc", 4, 4, ALL, aie_take_reloc},
    {".raw", 1, 1, ALL, aie_take_raw},
    {".custom", 1, 1, N26, aie_take_custom},
    {".layout", 1, 1, ALL, aie_take_layout},
    {".kernel", 2, 2, ALL, aie_take_kernel},
    {".dialect", 1, 1, ALL, take_dialect},
    {".partition", 1, 1, SEED | N26, take_partition},
    {".target", 1, 1, SEED | N26, take_target},
    {".aie_row_topology", 1, 1, N26, take_nothing},
};

const struct aie_directive *aie_directive_of(enum nocap_aie_dialect dialect,
                                             const struct aie_word *name)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        if (aie_word_is(name, directives[i].name) && (directives[i].dialects >> dialect & 1) != 0) {
            return &directives[i];
        }
    }
    return NULL;
}
