/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly text to statements: lines, labels, instructions. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/aie/asm_source.h"

#include "base/list.h"

/* ---- columns, chains ---- */

static uint64_t column_key(const struct aie_column *column)
{
    return (uint64_t)column->kernel << 32 | column->uc;
}

struct aie_column *aie_source_column(struct aie_program *program, uint32_t kernel, uint32_t uc)
{
    size_t at = 0;
    uint64_t key = (uint64_t)kernel << 32 | uc;
    while (at < program->column_count && column_key(&program->columns[at]) < key) {
        at++;
    }
    if (at < program->column_count && column_key(&program->columns[at]) == key) {
        return &program->columns[at];
    }
    if (LIST_NEXT(program->columns, program->column_count) == NULL) {
        return NULL;
    }
    struct aie_column *list = program->columns;
    program->moved = true;
    memmove(list + at + 1, list + at, (program->column_count - at) * sizeof *list);
    list[at] = (struct aie_column){.kernel = kernel, .uc = uc};
    program->column_count++;
    return &list[at];
}

/* Chains are sorted by path, which is the order of their pages; in n26 they stand in the order in
 * which they get something. */
static size_t chain_place(const struct aie_source *s, const struct aie_column *column)
{
    bool sorted = s->program->dialect != NOCAP_AIE_N26;
    size_t at = 0;
    while (at < column->chain_count) {
        int order = strcmp(column->chains[at].path, s->path);
        if (order == 0 || (sorted && order > 0)) {
            break;
        }
        at++;
    }
    return at;
}

struct aie_chain *aie_source_chain(struct aie_source *s)
{
    struct aie_program *program = s->program;
    if (s->at_known && !program->moved) {
        return &program->columns[s->at_column].chains[s->at_chain];
    }
    struct aie_column *column = aie_source_column(program, s->kernel, s->uc);
    if (column == NULL) {
        return NULL;
    }
    size_t at = chain_place(s, column);
    program->moved = false;
    s->at_known = true;
    s->at_column = (size_t)(column - program->columns);
    s->at_chain = at;
    if (at < column->chain_count && strcmp(column->chains[at].path, s->path) == 0) {
        return &column->chains[at];
    }
    s->at_known = false; /* until it is there */
    char *path = LIST_NEXT(column->chains, column->chain_count) != NULL ? strdup(s->path) : NULL;
    struct aie_chain *list = column->chains;
    if (path == NULL) {
        return NULL;
    }
    memmove(list + at + 1, list + at, (column->chain_count - at) * sizeof *list);
    list[at] =
        (struct aie_chain){.path = path, .first_page = AIE_NONE, .eof_line = {AIE_NONE, AIE_NONE}};
    column->chain_count++;
    return &list[at];
}

static const char *aie_last_name(const char *path)
{
    const char *colon = strrchr(path, ':');
    return colon == NULL ? path : colon + 1;
}

struct aie_chain *aie_find_chain(const struct aie_program *program, const struct aie_column *column,
                                 const struct aie_word *name)
{
    struct aie_chain *found = NULL;
    for (size_t i = 0; i < column->chain_count; i++) {
        bool first = found == NULL || program->dialect == NOCAP_AIE_N26;
        if (first && aie_word_is(name, aie_last_name(column->chains[i].path))) {
            found = &column->chains[i];
        }
    }
    return found;
}

struct aie_pad *aie_find_pad(const struct aie_column *column, const struct aie_word *name)
{
    for (size_t i = 0; i < column->pad_count; i++) {
        if (aie_word_is(name, column->pads[i].name)) {
            return &column->pads[i];
        }
    }
    return NULL;
}

/* ---- statements ---- */

enum nocap_status aie_source_add(struct aie_source *s, const struct aie_statement *statement)
{
    struct aie_program *program = s->program;
    struct aie_statement *next = program->statement_count < AIE_STATEMENTS_MAX
                                     ? LIST_NEXT(program->statements, program->statement_count)
                                     : NULL;
    struct aie_chain *chain = next == NULL ? NULL : aie_source_chain(s);
    RETURN_NO_MEMORY_IF(chain == NULL, program);
    struct aie_list *part = s->data ? &chain->data : &chain->text;
    uint32_t *item = LIST_NEXT(part->items, part->count);
    RETURN_NO_MEMORY_IF(item == NULL, program);
    *item = (uint32_t)program->statement_count++;
    part->count++;
    *next = *statement;
    next->place = s->place;
    return NOCAP_OK;
}

enum nocap_status aie_source_closed(struct aie_source *s, const char *before)
{
    if (s->open == AIE_NONE) {
        return NOCAP_OK;
    }
    const struct aie_statement *start = &s->program->statements[s->open];
    return aie_source_error(s->program, start->place, &start->name,
                            "this job is not ended; expected END_JOB before %s", before);
}

enum nocap_status aie_source_enter(struct aie_source *s, bool data)
{
    if (s->program->dialect == NOCAP_AIE_N26) {
        uint8_t *state = LIST_NEXT(s->states, s->state_count);
        RETURN_NO_MEMORY_IF(state == NULL, s->program);
        *state = s->data;
        s->state_count++;
    }
    s->data = data;
    return NOCAP_OK;
}

void aie_source_leave(struct aie_source *s, bool data)
{
    if (s->program->dialect == NOCAP_AIE_N26) {
        data = s->state_count != 0 && s->states[--s->state_count];
    }
    s->data = data;
}

enum nocap_status aie_source_eof(struct aie_source *s, uint32_t line)
{
    struct aie_chain *chain = aie_source_chain(s);
    RETURN_NO_MEMORY_IF(chain == NULL, s->program);
    chain->eof_line[s->data] = line;
    return NOCAP_OK;
}

/* Jobs stand one after the other, then EOF. */
static enum nocap_status check_order(struct aie_source *s, const struct aie_statement *statement)
{
    uint8_t opcode = statement->info->opcode;
    if (nocap_aie_starts_job(opcode)) {
        RETURN_IF_FAILED(aie_source_closed(s, "the next job"));
        s->open = (uint32_t)s->program->statement_count;
    } else if (opcode == NOCAP_AIE_EOF) {
        RETURN_IF_FAILED(aie_source_closed(s, "EOF"));
    } else if (s->open == AIE_NONE) {
        return FAIL(s, &statement->name, "%.*s outside a job; expected START_JOB or EOF",
                    AIE_TEXT(&statement->name));
    } else if (opcode == NOCAP_AIE_END_JOB) {
        s->open = AIE_NONE;
    }
    return NOCAP_OK;
}

static enum nocap_status count_operands(struct aie_source *s, const struct aie_statement *statement,
                                        uint32_t least, uint32_t most)
{
    uint32_t count = statement->operand_count;
    if (count >= least && count <= most) {
        return NOCAP_OK;
    }
    const struct aie_word *at = count > most ? &statement->operands[most] : &statement->name;
    char wanted[32];
    snprintf(wanted, sizeof wanted, least == most ? "%u" : "%u or %u", least, most);
    return FAIL(s, at, "%.*s has %u operand%s; expected %s", AIE_TEXT(&statement->name), count,
                count == 1 ? "" : "s", wanted);
}

static enum nocap_status take_insn(struct aie_source *s, struct aie_statement *statement)
{
    uint32_t fields = 0;
    for (unsigned f = 0; f < nocap_aie_field_count(statement->info); f++) {
        fields += statement->info->fields[f].kind != NOCAP_AIE_SIZE;
    }
    bool more = statement->info->opcode == NOCAP_AIE_APPLY_OFFSET_57 ||
                (statement->info->opcode == NOCAP_AIE_PREEMPT && s->program->chip == NOCAP_AIE4);
    uint32_t most = fields + more;
    RETURN_IF_FAILED(count_operands(s, statement, fields, most));
    RETURN_FAIL_IF(s->data && statement->info->opcode != NOCAP_AIE_EOF, s, &statement->name,
                   "an instruction in the data; expected .long, UC_DMA_BD or a label, or "
                   ".section .ctrltext before it");
    bool later = s->program->dialect == NOCAP_AIE_N26;
    if (s->data && !later) {
        return NOCAP_OK; /* a second EOF: each page gets one of its own */
    }
    if (!s->data) {
        RETURN_IF_FAILED(check_order(s, statement));
    }
    if (later && statement->info->opcode == NOCAP_AIE_EOF) {
        RETURN_IF_FAILED(aie_source_eof(s, s->place.line));
        return aie_source_enter(s, true);
    }
    if (later && statement->info->opcode == NOCAP_AIE_PREEMPT && s->program->chip == NOCAP_AIE4 &&
        !s->program->plain) {
        return aie_take_preempt(s, statement);
    }
    if (statement->info->opcode == NOCAP_AIE_EOF) {
        s->data = true;
        return aie_source_chain(s) == NULL ? aie_no_memory(s->program) : NOCAP_OK;
    }
    return aie_source_add(s, statement);
}

static enum nocap_status take_operands(struct aie_source *s, const char *line, size_t length,
                                       size_t at, struct aie_statement *statement)
{
    struct aie_word word;
    while (aie_next_word(line, length, &at, &word)) {
        RETURN_FAIL_IF(statement->operand_count == AIE_OPERANDS_MAX, s, &word,
                       "'%.*s' is one operand too many; expected at most %d", AIE_TEXT(&word),
                       AIE_OPERANDS_MAX);
        statement->operands[statement->operand_count++] = word;
        while (at < length && aie_is_blank(line[at])) {
            at++;
        }
        bool comma = at < length && line[at] == ',';
        at += comma;
        while (comma && at < length && aie_is_blank(line[at])) {
            at++;
        }
        if (comma && (at == length || line[at] == ',')) {
            word = (struct aie_word){line + at, 0, (uint32_t)at + 1};
            return FAIL(s, &word, "expected an operand after the comma");
        }
    }
    if (at < length) {
        word = (struct aie_word){line + at, 1, (uint32_t)at + 1};
        return FAIL(s, &word, "'%c' where an operand was expected", line[at]);
    }
    return NOCAP_OK;
}

/* ---- lines ---- */

static enum nocap_status take_label(struct aie_source *s, struct aie_word name)
{
    struct aie_statement label = {.kind = AIE_LABEL, .name = name};
    label.name.length--;
    for (uint32_t i = 0; i < label.name.length; i++) {
        char c = name.text[i];
        RETURN_FAIL_IF(
            !(c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')), s,
            &name, "'%.*s' is no label; expected letters, digits and _", (int)label.name.length,
            name.text);
    }
    RETURN_FAIL_IF(label.name.length == 0, s, &name, "expected a name before the colon");
    if (s->data) {
        return aie_source_add(s, &label);
    }
    RETURN_IF_FAILED(aie_source_closed(s, "a label in the text"));
    char *path = NULL;
    RETURN_NO_MEMORY_IF(strlen(s->path) > PATH_TEXT_MAX ||
                            asprintf(&path, "%s:%.*s", s->path, (int)label.name.length, name.text) <
                                0,
                        s->program);
    free(s->path);
    s->path = path;
    s->at_known = false;
    if (s->program->dialect == NOCAP_AIE_N26) {
        return aie_source_enter(s, false);
    }
    return aie_source_chain(s) == NULL ? aie_no_memory(s->program) : NOCAP_OK;
}

/* What the dialect does not know; which ones do. */
static enum nocap_status unknown_name(struct aie_source *s, const struct aie_word *name)
{
    struct aie_program *program = s->program;
    char known[64] = "";
    for (int i = 0; i < NOCAP_AIE_DIALECT_COUNT; i++) {
        enum nocap_aie_dialect dialect = (enum nocap_aie_dialect)i;
        if (nocap_aie_insn_find(dialect, name->text, name->length) != NULL ||
            aie_directive_of(dialect, name) != NULL) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ",
                     nocap_aie_dialect_name(dialect));
            program->meant = dialect == NOCAP_AIE_N26 ? dialect : program->meant;
        }
    }
    return known[0] == 0
               ? FAIL(s, name,
                      "unknown instruction '%.*s'; expected one of the dialect %s, a directive or "
                      "a label",
                      AIE_TEXT(name), nocap_aie_dialect_name(program->dialect))
               : FAIL(s, name, "the dialect %s has no '%.*s'; expected --dialect %s",
                      nocap_aie_dialect_name(program->dialect), AIE_TEXT(name), known);
}

static enum nocap_status take_line(struct aie_source *s, const char *line, size_t length)
{
    struct aie_statement statement = {.kind = AIE_INSN};
    size_t at = 0, whole = length;
    length = aie_without_comment(line, length);
    if (!aie_next_word(line, length, &at, &statement.name)) {
        return at < length ? FAIL(s, &statement.name, "expected an instruction or a directive")
                           : NOCAP_OK;
    }
    if (statement.name.text[statement.name.length - 1] == ':') {
        RETURN_IF_FAILED(take_label(s, statement.name));
        if (!aie_next_word(line, length, &at, &statement.name)) {
            return NOCAP_OK;
        }
    }
    statement.rest = aie_trimmed(line, at, whole);
    RETURN_IF_FAILED(take_operands(s, line, length, at, &statement));
    const struct aie_directive *directive = aie_directive_of(s->program->dialect, &statement.name);
    if (directive != NULL) {
        RETURN_IF_FAILED(count_operands(s, &statement, directive->least, directive->most));
        return directive->take(s, &statement);
    }
    statement.info =
        nocap_aie_insn_find(s->program->dialect, statement.name.text, statement.name.length);
    if (statement.info == NULL) {
        return unknown_name(s, &statement.name);
    }
    return take_insn(s, &statement);
}

/* Takes `name`, `shown` and `text`, also when it fails. */
enum nocap_status aie_source_lines(struct aie_source *s, char *name, char *shown, char *text,
                                   size_t length)
{
    struct aie_program *program = s->program;
    struct aie_file *file = LIST_NEXT(program->files, program->file_count);
    if (file == NULL || name == NULL) {
        free(name);
        free(shown);
        free(text);
        return aie_no_memory(program);
    }
    *file = (struct aie_file){name, shown, text, length};
    s->place = (struct aie_place){.file = (uint32_t)program->file_count++, .line = 0};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end == NULL ? length - at : (size_t)(end - text) - at;
        s->place.line++;
        RETURN_IF_FAILED(s->annotation_lines != 0 ? aie_take_annotation(s, text + at, size)
                                                  : take_line(s, text + at, size));
        at += size + 1;
    }
    return NOCAP_OK;
}

static enum nocap_status read_all(struct aie_source *s, char *name, char *text, size_t length)
{
    s->open = AIE_NONE;
    s->kernel = s->program->kernel;
    s->path = strdup("default");
    if (s->path == NULL) {
        free(name);
        free(text);
        return aie_no_memory(s->program);
    }
    enum nocap_status status = aie_source_lines(s, name, NULL, text, length);
    if (status == NOCAP_OK) {
        status = aie_source_closed(s, "the end of the file");
    }
    if (status == NOCAP_OK) {
        status = aie_add_preempt_code(s);
    }
    free(s->states);
    if (status == NOCAP_OK && strchr(s->path, ':') != NULL) {
        status = FAIL(s, NULL, "label '%s' in the text is not ended; expected .endl %s",
                      aie_last_name(s->path), aie_last_name(s->path));
    }
    free(s->path);
    return status;
}

enum nocap_status aie_read_text(struct aie_program *program, const struct aie_asm_text *source)
{
    struct aie_source s = {.program = program, .files = source->files, .total = source->length};
    char *copy = malloc(source->length + 1);
    RETURN_NO_MEMORY_IF(copy == NULL, program);
    memcpy(copy, source->text, source->length);
    return read_all(&s, strdup(source->name), copy, source->length);
}
