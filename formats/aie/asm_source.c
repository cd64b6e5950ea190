/* Assembly text to statements: lines, labels, directives, included files. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/aie/asm_private.h"

enum {
    DEPTH_MAX = 16,        /* of includes */
    SOURCE_MAX = 64 << 20, /* bytes, all files together */
    STATEMENTS_MAX = 16 << 20,
    PAD_MAX = 256 << 20,
    UC_MAX = 255,
    PATH_TEXT_MAX = 4096,
};

/* Where the source stands. */
struct state {
    struct aie_program *program;
    struct aie_place place;
    unsigned depth;
    bool files; /* other files may be read */
    bool data;  /* a label belongs to data, and does not begin a chain */
    uint32_t uc;
    char *path;     /* of the chain */
    uint32_t open;  /* START_JOB that waits for its END_JOB; AIE_NONE */
    uint64_t total; /* bytes read */
};

#define FAIL(s, word, ...) aie_source_error((s)->program, (s)->place, (word), __VA_ARGS__)

/* ---- columns, chains ---- */

static struct aie_column *column_of(struct aie_program *program, uint32_t uc)
{
    size_t at = 0;
    while (at < program->column_count && program->columns[at].uc < uc) {
        at++;
    }
    if (at < program->column_count && program->columns[at].uc == uc) {
        return &program->columns[at];
    }
    struct aie_column *list =
        AIE_GROW(program->columns, program->column_capacity, program->column_count);
    if (list == NULL) {
        return NULL;
    }
    program->columns = list;
    memmove(list + at + 1, list + at, (program->column_count - at) * sizeof *list);
    list[at] = (struct aie_column){.uc = uc};
    program->column_count++;
    return &list[at];
}

/* Chains are sorted by path, which is the order of their pages. */
static struct aie_chain *chain_of(struct state *s)
{
    struct aie_column *column = column_of(s->program, s->uc);
    size_t at = 0;
    if (column == NULL) {
        return NULL;
    }
    while (at < column->chain_count && strcmp(column->chains[at].path, s->path) < 0) {
        at++;
    }
    if (at < column->chain_count && strcmp(column->chains[at].path, s->path) == 0) {
        return &column->chains[at];
    }
    struct aie_chain *list = AIE_GROW(column->chains, column->chain_capacity, column->chain_count);
    if (list == NULL) {
        return NULL;
    }
    column->chains = list;
    char *path = strdup(s->path);
    if (path == NULL) {
        return NULL;
    }
    memmove(list + at + 1, list + at, (column->chain_count - at) * sizeof *list);
    list[at] = (struct aie_chain){.path = path, .first_page = AIE_NONE};
    column->chain_count++;
    return &list[at];
}

static const char *last_name(const char *path)
{
    const char *colon = strrchr(path, ':');
    return colon == NULL ? path : colon + 1;
}

struct aie_chain *aie_find_chain(const struct aie_column *column, const struct aie_word *name)
{
    for (size_t i = 0; i < column->chain_count; i++) {
        if (aie_word_is(name, last_name(column->chains[i].path))) {
            return &column->chains[i];
        }
    }
    return NULL;
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

static enum nocap_status add(struct state *s, const struct aie_statement *statement)
{
    struct aie_program *program = s->program;
    struct aie_statement *list =
        AIE_GROW(program->statements, program->statement_capacity, program->statement_count);
    struct aie_chain *chain = list == NULL ? NULL : chain_of(s);
    if (chain == NULL || program->statement_count >= STATEMENTS_MAX) {
        program->statements = list == NULL ? program->statements : list;
        return aie_no_memory(program);
    }
    program->statements = list;
    struct aie_list *part = s->data ? &chain->data : &chain->text;
    uint32_t *items = AIE_GROW(part->items, part->capacity, part->count);
    if (items == NULL) {
        return aie_no_memory(program);
    }
    part->items = items;
    items[part->count++] = (uint32_t)program->statement_count;
    list[program->statement_count] = *statement;
    list[program->statement_count++].place = s->place;
    return NOCAP_OK;
}

static enum nocap_status check_closed(struct state *s, const char *before)
{
    if (s->open == AIE_NONE) {
        return NOCAP_OK;
    }
    const struct aie_statement *start = &s->program->statements[s->open];
    return aie_source_error(s->program, start->place, &start->name,
                            "this job is not ended; expected END_JOB before %s", before);
}

/* Jobs stand one after the other, then EOF. */
static enum nocap_status check_order(struct state *s, const struct aie_statement *statement)
{
    uint8_t opcode = statement->info->opcode;
    if (nocap_aie_starts_job(opcode)) {
        RETURN_IF_FAILED(check_closed(s, "the next job"));
        s->open = (uint32_t)s->program->statement_count;
    } else if (opcode == NOCAP_AIE_EOF) {
        RETURN_IF_FAILED(check_closed(s, "EOF"));
    } else if (s->open == AIE_NONE) {
        return FAIL(s, &statement->name, "%.*s outside a job; expected START_JOB or EOF",
                    (int)statement->name.length, statement->name.text);
    } else if (opcode == NOCAP_AIE_END_JOB) {
        s->open = AIE_NONE;
    }
    return NOCAP_OK;
}

static enum nocap_status count_operands(struct state *s, const struct aie_statement *statement,
                                        uint32_t least, uint32_t most)
{
    uint32_t count = statement->operand_count;
    if (count >= least && count <= most) {
        return NOCAP_OK;
    }
    const struct aie_word *at = count > most ? &statement->operands[most] : &statement->name;
    char wanted[32];
    snprintf(wanted, sizeof wanted, least == most ? "%u" : "%u or %u", least, most);
    return FAIL(s, at, "%.*s has %u operand%s; expected %s", (int)statement->name.length,
                statement->name.text, count, count == 1 ? "" : "s", wanted);
}

static enum nocap_status take_insn(struct state *s, struct aie_statement *statement)
{
    uint32_t fields = 0;
    for (unsigned f = 0; f < nocap_aie_field_count(statement->info); f++) {
        fields += statement->info->fields[f].kind != NOCAP_AIE_SIZE;
    }
    uint32_t most = fields + (statement->info->opcode == NOCAP_AIE_APPLY_OFFSET_57);
    RETURN_IF_FAILED(count_operands(s, statement, fields, most));
    if (s->data && statement->info->opcode != NOCAP_AIE_EOF) {
        return FAIL(s, &statement->name,
                    "an instruction in the data; expected .long, UC_DMA_BD or a label, or "
                    ".section .ctrltext before it");
    }
    if (s->data) {
        return NOCAP_OK; /* a second EOF: each page gets one of its own */
    }
    RETURN_IF_FAILED(check_order(s, statement));
    if (statement->info->opcode == NOCAP_AIE_EOF) {
        s->data = true;
        return chain_of(s) == NULL ? aie_no_memory(s->program) : NOCAP_OK;
    }
    return add(s, statement);
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* The next word of a line: up to a blank or a comma, or quoted; false at the end. */
static bool next_word(const char *line, size_t length, size_t *at, struct aie_word *word)
{
    while (*at < length && is_blank(line[*at])) {
        ++*at;
    }
    size_t start = *at;
    if (start < length && line[start] == '"') {
        const char *end = memchr(line + start + 1, '"', length - start - 1);
        *at = end == NULL ? length : (size_t)(end - line) + 1;
    } else {
        while (*at < length && !is_blank(line[*at]) && line[*at] != ',') {
            ++*at;
        }
    }
    *word = (struct aie_word){line + start, (uint32_t)(*at - start), (uint32_t)start + 1};
    return *at > start;
}

/* Length of the line without its comment. */
static size_t without_comment(const char *line, size_t length)
{
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= line[i] == '"';
        if (!quoted && (line[i] == ';' || line[i] == '#')) {
            return i;
        }
    }
    return length;
}

static enum nocap_status take_operands(struct state *s, const char *line, size_t length, size_t at,
                                       struct aie_statement *statement)
{
    struct aie_word word;
    while (next_word(line, length, &at, &word)) {
        if (statement->operand_count == AIE_OPERANDS_MAX) {
            return FAIL(s, &word, "'%.*s' is one operand too many", (int)word.length, word.text);
        }
        statement->operands[statement->operand_count++] = word;
        while (at < length && is_blank(line[at])) {
            at++;
        }
        bool comma = at < length && line[at] == ',';
        at += comma;
        size_t rest = at;
        if (comma && !next_word(line, length, &rest, &word)) {
            return FAIL(s, &word, "expected an operand after the comma");
        }
    }
    if (at < length) {
        word = (struct aie_word){line + at, 1, (uint32_t)at + 1};
        return FAIL(s, &word, "'%c' where an operand was expected", line[at]);
    }
    return NOCAP_OK;
}

/* ---- directives ---- */

static void unquote(struct aie_word *word)
{
    if (word->length >= 2 && word->text[0] == '"' && word->text[word->length - 1] == '"') {
        word->text++;
        word->length -= 2;
        word->column++;
    }
}

/* Paths to look at: the file's own directory, then the others; NULL after the last. */
static bool candidate(const struct state *s, const struct aie_word *name, size_t i, char *path)
{
    const struct nocap_aie_asm_options *options = s->program->options;
    const char *own = s->program->files[s->place.file].name, *slash = strrchr(own, '/');
    if (name->length != 0 && name->text[0] == '/') {
        snprintf(path, PATH_TEXT_MAX, "%.*s", (int)name->length, name->text);
        return i == 0;
    }
    if (i == 0) {
        snprintf(path, PATH_TEXT_MAX, "%.*s%.*s", slash == NULL ? 0 : (int)(slash - own) + 1, own,
                 (int)name->length, name->text);
        return true;
    }
    if (i <= options->dir_count) {
        snprintf(path, PATH_TEXT_MAX, "%s/%.*s", options->dirs[i - 1], (int)name->length,
                 name->text);
        return true;
    }
    return false;
}

static enum nocap_status find_file(struct state *s, const struct aie_word *name, char *path,
                                   char **bytes, size_t *length)
{
    struct aie_word plain = *name;
    unquote(&plain);
    for (size_t i = 0; s->files && candidate(s, &plain, i, path); i++) {
        enum nocap_status status = aie_read_whole(path, bytes, length);
        if (status == NOCAP_E_MEMORY) {
            return aie_no_memory(s->program);
        }
        s->total += status == NOCAP_OK ? *length : 0;
        if (status == NOCAP_OK && s->total <= SOURCE_MAX) {
            return NOCAP_OK;
        }
        if (status == NOCAP_OK) {
            free(*bytes);
            return FAIL(s, name, "with this file the source is longer than %d bytes", SOURCE_MAX);
        }
    }
    return FAIL(s, name,
                "cannot read '%.*s'; expected a file beside this one or in a directory of -L",
                (int)plain.length, plain.text);
}

static enum nocap_status read_lines(struct state *s, char *name, char *text, size_t length);

static enum nocap_status take_include(struct state *s, const struct aie_statement *line)
{
    char path[PATH_TEXT_MAX], *bytes;
    size_t length;
    if (s->depth == DEPTH_MAX) {
        return FAIL(s, &line->name, "files include each other more than %d deep", DEPTH_MAX);
    }
    RETURN_IF_FAILED(find_file(s, &line->operands[0], path, &bytes, &length));
    struct aie_place place = s->place;
    bool data = s->data;
    s->data = false;
    s->depth++;
    enum nocap_status status = read_lines(s, strdup(path), bytes, length);
    s->depth--;
    s->data = data;
    s->place = place;
    return status;
}

static enum nocap_status take_number(struct state *s, const struct aie_word *word, uint64_t most,
                                     const char *what, uint32_t *number)
{
    uint64_t wide;
    if (!aie_word_number(word, &wide) || wide > most) {
        return FAIL(s, word, "'%.*s' is no %s; expected 0 to %llu", (int)word->length, word->text,
                    what, (unsigned long long)most);
    }
    *number = (uint32_t)wide;
    return NOCAP_OK;
}

static enum nocap_status take_group(struct state *s, const struct aie_statement *line)
{
    RETURN_IF_FAILED(check_closed(s, ".attach_to_group"));
    RETURN_IF_FAILED(take_number(s, &line->operands[0], UC_MAX, "number of a uC", &s->uc));
    s->data = false;
    return NOCAP_OK;
}

static enum nocap_status take_endl(struct state *s, const struct aie_statement *line)
{
    char *colon = strrchr(s->path, ':');
    if (colon == NULL || !aie_word_is(&line->operands[0], colon + 1)) {
        return FAIL(s, &line->operands[0], "no label '%.*s' to end here; expected '%s'",
                    (int)line->operands[0].length, line->operands[0].text,
                    colon == NULL ? "a label in the text before it" : colon + 1);
    }
    RETURN_IF_FAILED(check_closed(s, ".endl"));
    *colon = 0;
    return NOCAP_OK;
}

static enum nocap_status take_section(struct state *s, const struct aie_statement *line)
{
    static const char text[] = ".ctrltext", data[] = ".ctrldata";
    const struct aie_word *name = &line->operands[0];
    bool is_text = name->length >= sizeof text - 1 && !strncmp(name->text, text, sizeof text - 1);
    bool is_data = name->length >= sizeof data - 1 && !strncmp(name->text, data, sizeof data - 1);
    if (!is_text && !is_data) {
        return FAIL(s, name, "unknown section '%.*s'; expected .ctrltext or .ctrldata",
                    (int)name->length, name->text);
    }
    RETURN_IF_FAILED(check_closed(s, ".section"));
    s->data = is_data;
    struct aie_word suffix = {name->text + sizeof text, 0, name->column + (uint32_t)sizeof text};
    suffix.length = name->length >= sizeof text ? name->length - (uint32_t)sizeof text : 0;
    if (suffix.length != 0 && s->program->options->dialect != NOCAP_AIE_F25) {
        return take_number(s, &suffix, UC_MAX, "number of a uC", &s->uc);
    }
    return NOCAP_OK;
}

static enum nocap_status take_pad(struct state *s, const struct aie_statement *line)
{
    const struct aie_word *name = &line->operands[0], *what = &line->operands[1];
    struct aie_column *column = column_of(s->program, s->uc);
    struct aie_pad pad = {.place = s->place};
    uint64_t words;
    if (column == NULL) {
        return aie_no_memory(s->program);
    }
    if (aie_find_pad(column, name) != NULL) {
        return FAIL(s, name, "buffer '%.*s' is declared already", (int)name->length, name->text);
    }
    struct aie_pad *list = AIE_GROW(column->pads, column->pad_capacity, column->pad_count);
    if (list == NULL) {
        return aie_no_memory(s->program);
    }
    column->pads = list;
    if (aie_word_number(what, &words)) {
        uint32_t count = 0;
        RETURN_IF_FAILED(take_number(s, what, PAD_MAX / 4, "size in words", &count));
        pad.size = count * 4;
    } else {
        char path[PATH_TEXT_MAX];
        size_t length;
        RETURN_IF_FAILED(find_file(s, what, path, (char **)&pad.content, &length));
        pad.size = (uint32_t)length;
    }
    pad.name = strndup(name->text, name->length);
    if (pad.name == NULL) {
        free(pad.content);
        return aie_no_memory(s->program);
    }
    size_t at = column->pad_count++;
    for (; at > 0 && strcmp(list[at - 1].name, pad.name) > 0; at--) {
        list[at] = list[at - 1];
    }
    list[at] = pad;
    return NOCAP_OK;
}

static enum nocap_status take_target(struct state *s, const struct aie_statement *line)
{
    if (!aie_word_is(&line->operands[0], "aie2ps")) {
        return FAIL(s, &line->operands[0], "'%.*s' is not supported; expected aie2ps",
                    (int)line->operands[0].length, line->operands[0].text);
    }
    return NOCAP_OK;
}

/* What says something about the whole design changes no byte. */
static enum nocap_status take_nothing(struct state *s, const struct aie_statement *line)
{
    (void)s;
    (void)line;
    return NOCAP_OK;
}

static enum nocap_status take_eop(struct state *s, const struct aie_statement *line)
{
    RETURN_IF_FAILED(check_closed(s, ".eop"));
    struct aie_statement eop = *line;
    eop.kind = AIE_EOP;
    return s->data ? NOCAP_OK : add(s, &eop);
}

static enum nocap_status take_data(struct state *s, const struct aie_statement *line)
{
    struct aie_statement datum = *line;
    datum.kind = line->name.text[0] == '.' ? AIE_LONG : AIE_BD;
    if (!s->data) {
        return FAIL(s, &line->name, "%.*s in the text; expected EOF before the data",
                    (int)line->name.length, line->name.text);
    }
    const struct aie_chain *chain = chain_of(s);
    if (chain == NULL || chain->data.count == 0) {
        return FAIL(s, &line->name, "%.*s belongs to no label; expected 'label:' before it",
                    (int)line->name.length, line->name.text);
    }
    return add(s, &datum);
}

static const struct directive {
    const char *name;
    uint32_t least, most; /* operands */
    uint32_t dialects;
    enum nocap_status (*take)(struct state *, const struct aie_statement *);
} directives[] = {
    {".attach_to_group", 1, 1, 7, take_group},
    {".include", 1, 1, 7, take_include},
    {".endl", 1, 1, 7, take_endl},
    {".setpad", 2, 2, 7, take_pad},
    {".section", 1, 2, 7, take_section},
    {".align", 1, 1, 7, take_nothing},
    {".eop", 0, 0, 7, take_eop},
    {".long", 1, 1, 7, take_data},
    {"UC_DMA_BD", 6, 6, 7, take_data},
    {".partition", 1, 1, 6, take_nothing},
    {".target", 1, 1, 6, take_target},
    {".aie_row_topology", 1, 1, 4, take_nothing},
};

static const struct directive *find_directive(const struct state *s, const struct aie_word *name)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        if (aie_word_is(name, directives[i].name) &&
            (directives[i].dialects >> s->program->options->dialect & 1) != 0) {
            return &directives[i];
        }
    }
    return NULL;
}

/* ---- lines ---- */

static enum nocap_status take_label(struct state *s, struct aie_word name)
{
    struct aie_statement label = {.kind = AIE_LABEL, .name = name};
    label.name.length--;
    for (uint32_t i = 0; i < label.name.length; i++) {
        char c = name.text[i];
        if (!(c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))) {
            return FAIL(s, &name, "'%.*s' is no label; expected letters, digits and _",
                        (int)label.name.length, name.text);
        }
    }
    if (label.name.length == 0) {
        return FAIL(s, &name, "expected a name before the colon");
    }
    if (s->data) {
        return add(s, &label);
    }
    RETURN_IF_FAILED(check_closed(s, "a label in the text"));
    char *path = NULL;
    if (strlen(s->path) > PATH_TEXT_MAX ||
        asprintf(&path, "%s:%.*s", s->path, (int)label.name.length, name.text) < 0) {
        return aie_no_memory(s->program);
    }
    free(s->path);
    s->path = path;
    return chain_of(s) == NULL ? aie_no_memory(s->program) : NOCAP_OK;
}

static enum nocap_status take_line(struct state *s, const char *line, size_t length)
{
    struct aie_statement statement = {.kind = AIE_INSN};
    size_t at = 0;
    length = without_comment(line, length);
    if (!next_word(line, length, &at, &statement.name)) {
        return at < length ? FAIL(s, &statement.name, "expected an instruction or a directive")
                           : NOCAP_OK;
    }
    if (statement.name.text[statement.name.length - 1] == ':') {
        RETURN_IF_FAILED(take_label(s, statement.name));
        if (!next_word(line, length, &at, &statement.name)) {
            return NOCAP_OK;
        }
    }
    RETURN_IF_FAILED(take_operands(s, line, length, at, &statement));
    const struct directive *directive = find_directive(s, &statement.name);
    if (directive != NULL) {
        RETURN_IF_FAILED(count_operands(s, &statement, directive->least, directive->most));
        return directive->take(s, &statement);
    }
    statement.info = nocap_aie_insn_find(s->program->options->dialect, statement.name.text,
                                         statement.name.length);
    if (statement.info == NULL) {
        return FAIL(s, &statement.name,
                    "unknown instruction '%.*s'; expected one of the dialect %s, a directive or a "
                    "label",
                    (int)statement.name.length, statement.name.text,
                    nocap_aie_dialect_name(s->program->options->dialect));
    }
    return take_insn(s, &statement);
}

/* Takes `name` and `text`, also when it fails. */
static enum nocap_status read_lines(struct state *s, char *name, char *text, size_t length)
{
    struct aie_program *program = s->program;
    struct aie_file *list = AIE_GROW(program->files, program->file_capacity, program->file_count);
    if (list == NULL || name == NULL) {
        program->files = list == NULL ? program->files : list;
        free(name);
        free(text);
        return aie_no_memory(program);
    }
    program->files = list;
    list[program->file_count] = (struct aie_file){name, text, length};
    s->place = (struct aie_place){.file = (uint32_t)program->file_count++, .line = 0};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end == NULL ? length - at : (size_t)(end - text) - at;
        s->place.line++;
        RETURN_IF_FAILED(take_line(s, text + at, size));
        at += size + 1;
    }
    return NOCAP_OK;
}

static enum nocap_status read_all(struct state *s, char *name, char *text, size_t length)
{
    s->open = AIE_NONE;
    s->path = strdup("default");
    if (s->path == NULL) {
        free(name);
        free(text);
        return aie_no_memory(s->program);
    }
    enum nocap_status status = read_lines(s, name, text, length);
    if (status == NOCAP_OK) {
        status = check_closed(s, "the end of the file");
    }
    if (status == NOCAP_OK && strchr(s->path, ':') != NULL) {
        status = FAIL(s, NULL, "label '%s' in the text is not ended; expected .endl %s",
                      last_name(s->path), last_name(s->path));
    }
    free(s->path);
    return status;
}

enum nocap_status aie_read_source(struct aie_program *program, const char *path)
{
    struct state s = {.program = program, .files = true};
    char *text;
    size_t length;
    enum nocap_status status = aie_read_whole(path, &text, &length);
    RETURN_ERROR_IF(status != NOCAP_OK, program->err, status, "cannot read %s: %s", path,
                    strerror(errno));
    s.total = length;
    return read_all(&s, strdup(path), text, length);
}

enum nocap_status aie_read_text(struct aie_program *program, const char *text, size_t length,
                                const char *name)
{
    struct state s = {.program = program};
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        return aie_no_memory(program);
    }
    memcpy(copy, text, length);
    return read_all(&s, strdup(name), copy, length);
}
