/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of context health of xrt-smi: cells between bars, a line for each uC or context. */
#include <stdlib.h>
#include <string.h>

#include "formats/aie/postmortem_private.h"

enum { CELLS = 32 }; /* of a line, that are looked at */

static const char *const heads[] = {
#define COLUMN(NAME, head) head,
#include "formats/aie/postmortem.def"
};

/* The text of a cell, from 1, blanks before it left out; "": there is none. */
static const char *cell(const char *line, uint32_t number)
{
    for (uint32_t i = 0; i < number && line != NULL; i++) {
        const char *bar = strchr(line, '|');
        line = bar == NULL ? NULL : bar + 1;
    }
    return number == 0 || line == NULL ? "" : line + strspn(line, " \t");
}

static bool take_number(const char *text, uint32_t *value)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 0);
    *value = (uint32_t)number;
    return end != text && *text != '-' && *text != '+' && number <= UINT32_MAX;
}

static bool take_pair(const char *text, uint32_t *a, uint32_t *b)
{
    const char *digits = text + strspn(text, "0123456789");
    return digits != text && *digits == '.' && take_number(text, a) && take_number(digits + 1, b);
}

static bool take_heads(struct postmortem_reading *r, const char *line)
{
    uint32_t found[POSTMORTEM_TABLE_COLUMNS] = {0};
    for (uint32_t i = 1; i <= CELLS; i++) {
        const char *text = cell(line, i);
        for (unsigned h = 0; h < POSTMORTEM_TABLE_COLUMNS; h++) {
            size_t length = strlen(heads[h]);
            if (strncmp(text, heads[h], length) == 0 && strchr(" |\t", text[length]) != NULL) {
                found[h] = i;
            }
        }
    }
    if (found[POSTMORTEM_PLACE] == 0 && found[POSTMORTEM_OPERATION] == 0) {
        return false;
    }
    memcpy(r->cells, found, sizeof found);
    return true;
}

static void take_context(struct postmortem_reading *r, uint32_t context)
{
    r->several |= r->has_context && r->context != context;
    r->context = context;
    r->has_context = true;
}

bool postmortem_table_line(struct postmortem_reading *r, const char *line)
{
    uint32_t context, uc, page, off, value;
    if (strchr(line, '|') == NULL) {
        return false;
    }
    if (take_heads(r, line)) {
        return true;
    }
    if (take_number(cell(line, r->cells[POSTMORTEM_OPERATION]), &value)) {
        if (take_number(cell(line, r->cells[POSTMORTEM_CONTEXT]), &context)) {
            take_context(r, context);
        }
        postmortem_operation(r, value);
        return true;
    }
    if (!take_pair(cell(line, r->cells[POSTMORTEM_UC]), &context, &uc) ||
        !take_pair(cell(line, r->cells[POSTMORTEM_PLACE]), &page, &off)) {
        return false;
    }
    take_context(r, context);
    postmortem_column(r, uc, false);
    if (r->column != NULL) {
        postmortem_place(r, page, off);
        if (take_number(cell(line, r->cells[POSTMORTEM_STATE]), &value)) {
            postmortem_state(r, value);
        }
    }
    return true;
}
