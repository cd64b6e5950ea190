/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/remains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

enum { LINE_LIMIT = 64 << 10 };

struct reading {
    struct nocap_aie_remains *remains;
    uint32_t column; /* of which the lines tell now */
    bool any, memory;
    bool listing; /* jobs that are not over follow */
};

static const char *const counter_names[NOCAP_AIE_COUNTERS] = {
#define COUNTER(ID, name) [NOCAP_AIE_C_##ID] = name,
#include "formats/aie/remains.def"
};

static const char *const registers[] = {
#define REGISTER(text) text,
#include "formats/aie/remains.def"

};

/* The column that is meant by a number of a text; NULL: none. */
static struct nocap_aie_column_remains *column_of(struct nocap_aie_remains *r, uint64_t number)
{
    if (number < r->first_column || number - r->first_column >= NOCAP_AIE_REMAINS_COLUMNS) {
        return NULL;
    }
    return &r->columns[number - r->first_column];
}

/* ---- as it was typed ---- */

static bool take_part(const char **text, uint32_t *value, char end)
{
    char *rest;
    errno = 0;
    unsigned long long number = strtoull(*text, &rest, 0);
    bool right = rest != *text && **text != '-' && **text != '+' && *rest == end && errno == 0 &&
                 number <= UINT32_MAX;
    *value = (uint32_t)number;
    *text = rest + (end != 0);
    return right;
}

enum nocap_status nocap_aie_remains_add(struct nocap_aie_remains *remains, const char *text,
                                        struct nocap_error *err)
{
    uint32_t uc, page, off;
    const char *rest = text;
    bool right =
        take_part(&rest, &uc, ':') && take_part(&rest, &page, ':') && take_part(&rest, &off, 0);
    struct nocap_aie_column_remains *c = right ? column_of(remains, uc) : NULL;
    RETURN_ERROR_IF(c == NULL, err, NOCAP_E_USAGE,
                    "'%.60s' is no place; expected UC:PAGE:OFFSET, as in 0:3:0x2c", text);
    c->known = c->has_page = c->has_off = true;
    c->page = page;
    c->off = off;
    return NOCAP_OK;
}

/* ---- as logs tell it ---- */

static bool is_word(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The number behind "name=", "name:" or "name " in the line. */
static bool value_of(const char *line, const char *name, uint32_t *value)
{
    size_t length = strlen(name);
    for (const char *at = line; (at = strstr(at, name)) != NULL; at += length) {
        const char *from = at + length;
        char *end;
        if ((at != line && is_word(at[-1])) || is_word(*from)) {
            continue;
        }
        from += strspn(from, " \t:=");
        unsigned long long number = strtoull(from, &end, 0);
        if (end != from && *from >= '0' && *from <= '9' && number <= UINT32_MAX) {
            *value = (uint32_t)number;
            return true;
        }
    }
    return false;
}

/* The value of any of two names. */
static bool value_of_either(const char *line, const char *a, const char *b, uint32_t *value)
{
    return value_of(line, a, value) || value_of(line, b, value);
}

static void take_job(struct reading *r, struct nocap_aie_column_remains *c, const char *line)
{
    struct nocap_aie_left_job job = {.id = 0};
    uint32_t state;
    if (!value_of(line, "job", &job.id) || !value_of(line, "state", &state)) {
        if (c->job_count != 0 && !c->jobs[c->job_count - 1].has_pc) { /* on a line of its own */
            struct nocap_aie_left_job *last = &c->jobs[c->job_count - 1];
            last->has_pc = value_of(line, "pc", &last->pc);
        }
        return;
    }
    job.has_pc = value_of(line, "pc", &job.pc);
    if (c->job_count == NOCAP_AIE_REMAINS_JOBS) {
        c->has_jobs = false; /* the list is not whole */
        return;
    }
    struct nocap_aie_left_job *next = LIST_NEXT(c->jobs, c->job_count);
    if (next == NULL) {
        r->memory = true;
        return;
    }
    *next = job;
    c->job_count++;
}

static void take_register(struct reading *r, const char *line)
{
    uint32_t addr, value;
    size_t i = 0, count = sizeof registers / sizeof registers[0];
    while (i < count && strstr(line, registers[i]) == NULL) {
        i++;
    }
    if (i == count || !value_of(line, "addr", &addr) || !value_of(line, "value", &value)) {
        return;
    }
    struct nocap_aie_remains *m = r->remains;
    size_t at = 0;
    while (at < m->register_count && m->registers[at].addr != addr) {
        at++;
    }
    if (at < NOCAP_AIE_REMAINS_REGISTERS) {
        m->registers[at] = (struct nocap_aie_left_register){addr, value};
        m->register_count = at == m->register_count ? at + 1 : m->register_count;
        r->any = true;
    }
}

static void take_counters(struct reading *r, struct nocap_aie_column_remains *c, const char *line)
{
    for (unsigned i = 0; i < NOCAP_AIE_COUNTERS; i++) {
        if (value_of(line, counter_names[i], &c->counters[i])) {
            c->counted |= 1u << i;
            r->any = c->known = true;
        }
    }
}

/* Where the column stood; a text may have the parts on lines of their own. */
static void take_place(struct reading *r, struct nocap_aie_column_remains *c, const char *line)
{
    uint32_t page, off;
    bool has_page = value_of_either(line, "page_idx", "abs_page_index", &page) ||
                    (strstr(line, "uC[") != NULL && value_of(line, "page", &page));
    bool near = has_page || strstr(line, "offset=") != NULL; /* else of the dump of something */
    bool has_off = value_of_either(line, "Last opcode PC", "ppc", &off) ||
                   (near && value_of(line, "offset", &off));
    if (has_page) {
        c->page = page;
        c->has_page = true;
    }
    if (has_off && (has_page || c->has_page)) {
        c->off = off;
        c->has_off = true;
    }
    r->any |= has_page;
    c->known |= has_page;
}

/* "uc_idx=2", "uC[0]: idx=2", "uC[2]:", "Firmware status of col = 2": of which column this line and
 * the next ones tell. */
static void take_column(struct reading *r, const char *line)
{
    uint32_t number;
    const char *bracket = strstr(line, "uC[");
    if (value_of(line, "uc_idx", &number) ||
        (bracket != NULL && value_of(bracket, "idx", &number)) ||
        (strstr(line, "status of col") != NULL && value_of(line, "col", &number)) ||
        (bracket != NULL && sscanf(bracket, "uC[%9u]", &number) == 1)) {
        r->column = number;
    }
}

static void take_line(struct reading *r, char *line)
{
    uint32_t state;
    line[strcspn(line, "\r\n")] = '\0';
    take_column(r, line);
    struct nocap_aie_column_remains *c = column_of(r->remains, r->column);
    if (c == NULL) {
        return;
    }
    if (strstr(line, "Deadlock might have happened") != NULL) { /* a newer one than any before */
        c->job_count = 0;
        c->has_jobs = r->listing = false;
    }
    if (strstr(line, "unfinished jobs:") != NULL) {
        c->job_count = 0;
        c->has_jobs = c->known = r->listing = r->any = true;
    } else if (r->listing) {
        take_job(r, c, line);
    }
    if (value_of(line, "fw_state", &state)) {
        c->state = state;
        c->has_state = c->known = r->any = true;
    }
    take_place(r, c, line);
    take_counters(r, c, line);
    take_register(r, line);
}

enum nocap_status nocap_aie_remains_read(struct nocap_aie_remains *remains, FILE *stream,
                                         const char *name, uint32_t column, struct nocap_error *err)
{
    struct reading r = {.remains = remains, .column = column};
    char *line = malloc(LINE_LIMIT);
    RETURN_ERROR_IF(line == NULL, err, NOCAP_E_MEMORY, "out of memory");
    while (!r.memory && fgets(line, LINE_LIMIT, stream) != NULL) {
        take_line(&r, line);
    }
    free(line);
    RETURN_ERROR_IF(r.memory, err, NOCAP_E_MEMORY, "out of memory");
    RETURN_ERROR_IF(ferror(stream), err, NOCAP_E_INPUT, "cannot read %s", name);
    RETURN_ERROR_IF(
        !r.any, err, NOCAP_E_INPUT,
        "%s: no line tells where control code stood; give the log of a uC (uc_log_*.txt), "
        "the message of the runtime, or the driver's dump of the handshake",
        name);
    return NOCAP_OK;
}

void nocap_aie_remains_clear(struct nocap_aie_remains *remains)
{
    for (size_t i = 0; i < NOCAP_AIE_REMAINS_COLUMNS; i++) {
        free(remains->columns[i].jobs);
    }
    *remains = (struct nocap_aie_remains){.first_column = 0};
}
