/* SPDX-License-Identifier: Apache-2.0 */
/* PREEMPT for aie4: which memory a hintmap names, and the code that saves and restores it. The
 * assembler puts that code after the program: two jobs that do nothing where there is nothing to
 * save, else what asm_preempt_code.c writes.
 * Source: files of the assembler of 2026. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/asm_source.h"

enum {
    CHUNK = 64 << 10, /* bytes that a bit of a hintmap stands for */
    ALL_CHUNKS = 144, /* without a hintmap */
    WORDS_MAX = 64,   /* of a hintmap */
    COLUMNS_MAX = 3,
    TARGETS_MAX = 32, /* of a uC */
};

/* What one PREEMPT asks for. */
struct point {
    struct aie_chain *chain;
    uint32_t first, count; /* chunks */
};

/* Those of a uC. */
struct points {
    struct aie_source *s;
    uint32_t uc, group;       /* group: number in labels */
    uint32_t columns, number; /* as in struct aie_preempt_code */
};

/* ---- while the text is read ---- */

enum nocap_status aie_take_preempt(struct aie_source *s, struct aie_statement *statement)
{
    enum { ID = NOCAP_AIE_PREEMPT_id };
    RETURN_FAIL_IF(statement->operands[ID].length == 0, s, &statement->name, "PREEMPT has no id");
    struct aie_program *program = s->program;
    uint32_t *next = LIST_NEXT(program->preempts.items, program->preempts.count);
    RETURN_NO_MEMORY_IF(next == NULL, program);
    *next = (uint32_t)program->statement_count;
    program->preempts.count++;
    statement->uc = s->uc;
    return aie_source_add(s, statement);
}

/* ---- hintmaps ---- */

static struct aie_chain *chain_of(const struct aie_program *program, uint32_t statement,
                                  uint32_t uc)
{
    for (size_t c = 0; c < program->column_count; c++) {
        struct aie_column *column = &program->columns[c];
        for (size_t i = 0; i < column->chain_count && column->uc == uc; i++) {
            const struct aie_list *text = &column->chains[i].text;
            size_t low = 0, high = text->count; /* statements are in the order of the text */
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (text->items[middle] < statement) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low < text->count && text->items[low] == statement) {
                return &column->chains[i];
            }
        }
    }
    return NULL;
}

/* The words after the label in the data of the chain; false: there is no such label. */
static bool find_words(const struct aie_program *program, const struct aie_chain *chain,
                       const struct aie_word *name, uint32_t words[WORDS_MAX], uint32_t *count)
{
    bool found = false;
    *count = 0;
    for (size_t i = 0; i < chain->data.count; i++) {
        const struct aie_statement *s = &program->statements[chain->data.items[i]];
        uint64_t value;
        if (s->kind == AIE_LABEL) {
            if (found) {
                break;
            }
            found = aie_words_equal(&s->name, name);
        } else if (found && s->kind == AIE_LONG && *count < WORDS_MAX &&
                   aie_word_number(&s->operands[0], &value)) {
            words[(*count)++] = (uint32_t)value;
        }
    }
    return found;
}

/* The chunks that a hintmap names, which are neighbours. */
static enum nocap_status read_hintmap(const struct aie_program *program,
                                      const struct aie_statement *s, struct point *point)
{
    enum { HINTMAP = NOCAP_AIE_PREEMPT_restore + 1 };
    struct aie_word name = s->operands[HINTMAP];
    uint32_t words[WORDS_MAX], count, last = 0, set = 0;
    point->first = 0;
    point->count = ALL_CHUNKS;
    if (s->operand_count <= HINTMAP) {
        return NOCAP_OK;
    }
    if (name.text[0] == '@') {
        name.text++;
        name.length--;
    }
    RETURN_SOURCE_ERROR_IF(!find_words(program, point->chain, &name, words, &count), program,
                           s->place, &s->operands[HINTMAP],
                           "there is no hintmap '%.*s'; expected a label in the data of this "
                           "code",
                           AIE_TEXT(&name));
    for (uint32_t bit = 0; bit < count * 32; bit++) {
        if ((words[bit / 32] >> bit % 32 & 1) != 0) {
            point->first = set++ == 0 ? bit : point->first;
            last = bit;
        }
    }
    RETURN_SOURCE_ERROR_IF(set != 0 && last - point->first + 1 != set, program, s->place,
                           &s->operands[HINTMAP],
                           "hintmap '%.*s' has a gap between bits %u and %u; expected one row "
                           "of bits",
                           AIE_TEXT(&name), point->first, last);
    point->count = count == 0 ? ALL_CHUNKS : set;
    return NOCAP_OK;
}

/* ---- the code ---- */

static char *make_code(const struct points *p, const struct point *point, bool save,
                       const char *label)
{
    if (point->count == 0) {
        const char *body = save ? "NOP" : "LOAD_LAST_PDI";
        char *text;
        return asprintf(&text, "%s:\nSTART_JOB 0\n%s\nEND_JOB\nEOF\n\n.endl %s\n", label, body,
                        label) < 0
                   ? NULL
                   : text;
    }
    const struct aie_preempt_code code = {.save = save,
                                          .columns = p->columns,
                                          .number = p->number,
                                          .from = (uint64_t)point->first * CHUNK,
                                          .to = (uint64_t)(point->first + point->count) * CHUNK};
    return aie_preempt_code(&code, label);
}

static enum nocap_status add_code(const struct points *p, const struct point *point, bool save,
                                  const char *label)
{
    struct aie_source *s = p->s;
    char *text = make_code(p, point, save, label), *shown, suffix[16];
    snprintf(suffix, sizeof suffix, p->number == AIE_NONE ? "%uc" : "1c%u",
             p->number == AIE_NONE ? p->columns : p->number);
    if (text == NULL || asprintf(&shown, "%u_%u_aie4_%s_%s.asm", point->first, point->count,
                                 save ? "save" : "restore", suffix) < 0) {
        free(text);
        return aie_no_memory(s->program);
    }
    s->uc = p->uc;
    s->at_known = false;
    enum nocap_status status = aie_source_enter(s, false);
    if (status != NOCAP_OK) {
        free(text);
        free(shown);
        return status;
    }
    status = aie_source_lines(s, strdup(shown), shown, text, strlen(text));
    aie_source_leave(s, false);
    return status;
}

/* ---- all together ---- */

/* The text of an operand that the source does not have. */
__attribute__((format(printf, 3, 4))) static enum nocap_status
new_word(struct aie_program *program, struct aie_word *word, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    char **next = length < 0 ? NULL : LIST_NEXT(program->words, program->word_count);
    if (next == NULL) {
        free(length < 0 ? NULL : text);
        return aie_no_memory(program);
    }
    *next = text;
    program->word_count++;
    word->text = text;
    word->length = (uint32_t)length;
    return NOCAP_OK;
}

/* Makes PREEMPT name the labels. */
static enum nocap_status rename_operands(struct aie_program *program, uint32_t at, const char *save,
                                         const char *restore)
{
    enum { ID = NOCAP_AIE_PREEMPT_id, SAVE, RESTORE, HINTMAP };
    struct aie_statement *s = &program->statements[at];
    struct aie_word id = s->operands[ID], hintmap = s->operands[HINTMAP];
    bool hinted = s->operand_count > HINTMAP;
    bool at_sign = hinted && hintmap.text[0] == '@';
    RETURN_IF_FAILED(new_word(program, &s->operands[SAVE], "@%s", save));
    RETURN_IF_FAILED(new_word(program, &s->operands[RESTORE], "@%s", restore));
    return new_word(program, &s->rest, "%.*s, @%s, @%s%s%.*s", AIE_TEXT(&id), save, restore,
                    hinted ? ", @" : "", hinted ? (int)hintmap.length - at_sign : 0,
                    hinted ? hintmap.text + at_sign : "");
}

/* Code for each memory that the points of a uC name, once; the first one without a hintmap comes
 * last. */
static enum nocap_status add_points(const struct points *p)
{
    struct aie_program *program = p->s->program;
    struct point known[TARGETS_MAX];
    unsigned count = 0, plain = AIE_NONE;
    for (int hinted = 1; hinted >= 0; hinted--) {
        for (size_t i = 0; i < program->preempts.count; i++) {
            uint32_t at = program->preempts.items[i];
            const struct aie_statement *s = &program->statements[at];
            bool has = s->operand_count > NOCAP_AIE_PREEMPT_restore + 1;
            struct point point = {.chain = chain_of(program, at, p->uc)};
            char save[48], restore[48];
            unsigned k = 0;
            if (s->uc != p->uc || has != hinted || point.chain == NULL) {
                continue;
            }
            RETURN_IF_FAILED(read_hintmap(program, s, &point));
            while (has && k < count &&
                   (known[k].first != point.first || known[k].count != point.count)) {
                k++;
            }
            bool fresh = has ? k == count : plain == AIE_NONE;
            RETURN_SOURCE_ERROR_IF(k == TARGETS_MAX, program, s->place, &s->name,
                                   "more than %d different hintmaps of one uC", TARGETS_MAX);
            char number[16] = "";
            if (has) {
                snprintf(number, sizeof number, "_%u", k);
            }
            snprintf(save, sizeof save, "save_%u%s", p->group, number);
            snprintf(restore, sizeof restore, "restore_%u%s", p->group, number);
            RETURN_IF_FAILED(rename_operands(program, at, save, restore));
            if (fresh && has) {
                known[count++] = point;
            }
            plain = has ? plain : 0;
            if (fresh) {
                RETURN_IF_FAILED(add_code(p, &point, true, save));
                RETURN_IF_FAILED(add_code(p, &point, false, restore));
            }
        }
    }
    return NOCAP_OK;
}

static size_t count_points(const struct aie_program *program, uint32_t uc)
{
    size_t count = 0;
    for (size_t i = 0; i < program->preempts.count; i++) {
        count += program->statements[program->preempts.items[i]].uc == uc;
    }
    return count;
}

/* All uCs stop together: each has as many points as uC 0. */
static enum nocap_status check_counts(const struct aie_source *s)
{
    const struct aie_program *program = s->program;
    const struct aie_statement *first = &program->statements[program->preempts.items[0]];
    size_t wanted = count_points(program, 0);
    for (size_t c = 0; c < program->column_count && s->grouped; c++) {
        size_t count = count_points(program, program->columns[c].uc);
        RETURN_SOURCE_ERROR_IF(count != wanted, program, first->place, &first->name,
                               "uC %u has %zu PREEMPT, uC 0 has %zu; expected as many in each",
                               program->columns[c].uc, count, wanted);
    }
    return NOCAP_OK;
}

enum nocap_status aie_add_preempt_code(struct aie_source *s)
{
    const struct aie_program *program = s->program;
    if (program->preempts.count == 0) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(check_counts(s));
    uint32_t last = 0, ucs = 0, columns = program->partition_columns;
    for (size_t i = 0; i < program->preempts.count; i++) {
        uint32_t uc = program->statements[program->preempts.items[i]].uc;
        last = uc > last ? uc : last;
    }
    for (uint32_t uc = 0; uc <= last; uc++) {
        ucs += count_points(program, uc) != 0;
    }
    const struct aie_statement *first = &program->statements[program->preempts.items[0]];
    RETURN_SOURCE_ERROR_IF(ucs == 1 ? last != 0 || columns == 0 || columns > COLUMNS_MAX
                                    : last % 2 != 0 || last / 2 >= COLUMNS_MAX,
                           program, first->place, &first->name,
                           "no code is known that saves uC %u of %u columns; expected uCs 0, 2 "
                           "and 4, or uC 0 of .partition 1column to 3column",
                           last, columns == 0 ? 4 : columns);
    for (uint32_t uc = 0; uc <= last; uc++) {
        const struct points p = {.s = s,
                                 .uc = uc,
                                 .group = ucs == 1 ? 1 : uc / 2 + 1,
                                 .columns = ucs == 1 ? columns : 1,
                                 .number = ucs == 1 ? AIE_NONE : uc / 2};
        if (count_points(program, uc) != 0) {
            RETURN_IF_FAILED(add_points(&p));
        }
    }
    return NOCAP_OK;
}
