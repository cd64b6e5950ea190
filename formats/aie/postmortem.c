/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/postmortem_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LIMIT = 64 << 10 };

static const char *const counter_names[NOCAP_AIE_COUNTERS] = {
#define COUNTER(ID, name) [NOCAP_AIE_C_##ID] = name,
#include "formats/aie/postmortem.def"
};

static const char *const registers[] = {
#define REGISTER(id, text) text,
#include "formats/aie/postmortem.def"
};

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

enum nocap_status nocap_aie_postmortem_add(struct nocap_aie_postmortem *postmortem,
                                           const char *text, struct nocap_error *err)
{
    uint32_t uc, page, off;
    const char *rest = text;
    bool right =
        take_part(&rest, &uc, ':') && take_part(&rest, &page, ':') && take_part(&rest, &off, 0);
    struct postmortem_reading r = {.postmortem = postmortem};
    if (right) {
        postmortem_column(&r, uc, true);
    }
    struct nocap_aie_column_postmortem *c = r.column;
    RETURN_ERROR_IF(c == NULL && r.below, err, NOCAP_E_USAGE,
                    "'%.60s' names a uC before the partition, which begins at --first-column %u",
                    text, postmortem->first_column);
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

/* The number after "name=", "name:" or "name " in the line. */
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

/* A job, or the pc of the one before on a line of its own. */
static void take_job(struct postmortem_reading *r, const char *line)
{
    struct nocap_aie_left_job job = {.id = 0};
    uint32_t state, pc;
    if (value_of(line, "job", &job.id) && value_of(line, "state", &state)) {
        job.has_pc = value_of(line, "pc", &job.pc);
        postmortem_job(r, &job);
    } else if (value_of(line, "pc", &pc)) {
        postmortem_job_pc(r, pc);
    }
}

static void take_register(struct postmortem_reading *r, const char *line)
{
    uint32_t addr, value;
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        if (strstr(line, registers[i]) != NULL && value_of(line, "addr", &addr) &&
            value_of(line, "value", &value)) {
            postmortem_register(r, addr, value);
            return;
        }
    }
}

static void take_counters(struct postmortem_reading *r, const char *line)
{
    struct nocap_aie_column_postmortem *c = r->column;
    for (unsigned i = 0; i < NOCAP_AIE_COUNTERS; i++) {
        if (value_of(line, counter_names[i], &c->counters[i])) {
            c->counted |= 1u << i;
            r->any = c->known = true;
        }
    }
}

/* "uC[1]: .." of a line. */
static const char *bracket_of(const char *line)
{
    const char *bracket = strstr(line, "uC[");
    return bracket != NULL ? bracket : strstr(line, "UC[");
}

/* Where the column stood; a text may have the parts on lines of their own. */
static void take_place(struct postmortem_reading *r, const char *line)
{
    struct nocap_aie_column_postmortem *c = r->column;
    uint32_t page = c->page, off;
    bool has_page = value_of_either(line, "page_idx", "abs_page_index", &page) ||
                    (bracket_of(line) != NULL && value_of(line, "page", &page));
    bool near = has_page || strstr(line, "offset=") != NULL; /* else of the dump of something */
    bool has_off = value_of_either(line, "Last opcode PC", "ppc", &off) ||
                   (near && value_of(line, "offset", &off));
    if (has_off && (has_page || c->has_page)) {
        postmortem_place(r, page, off);
    } else if (has_page) {
        postmortem_page(r, page);
    }
}

/* State, and the bits of what the uC waits for and what went wrong. */
static void take_state(struct postmortem_reading *r, const char *line)
{
    enum { IDLE = 1u << 2, HANG = 1u << 1 };
    struct nocap_aie_column_postmortem *c = r->column;
    uint32_t value;
    if (value_of_either(line, "fw_state", "FW state", &value)) {
        postmortem_state(r, value);
    }
    if (value_of_either(line, "uc_idle_status", "idle_status", &value) ||
        value_of(line, "cert_idle_status", &value)) {
        c->idle = (value & IDLE) != 0;
    }
    if (value_of(line, "misc_status", &value)) {
        c->hang |= (value & HANG) != 0;
    }
}

/* "uc_idx=2", which counts from the device's first column; "UC[0]: idx=2", "uC[2]:" and "Firmware
 * status of col = 2", from the context's or the partition's; the driver's dump is of its first. */
static void take_column(struct postmortem_reading *r, const char *line)
{
    uint32_t number = 0;
    const char *bracket = bracket_of(line);
    if (value_of(line, "uc_idx", &number)) {
        postmortem_column(r, number, true);
    } else if (bracket != NULL &&
               (value_of(bracket, "idx", &number) || sscanf(bracket, "%*2c[%9u]", &number) == 1)) {
        postmortem_column(r, number, false);
    } else if ((strstr(line, "status of col") != NULL && value_of(line, "col", &number)) ||
               strstr(line, "Firmware Handshake Data:") != NULL) {
        postmortem_column(r, number, false);
    }
}

/* The word after `label`, if the line has that. */
static void take_word(const char *line, const char *label, char *to)
{
    const char *at = strstr(line, label);
    if (at != NULL) {
        at += strlen(label);
        at += strspn(at, " \t");
        snprintf(to, NOCAP_AIE_POSTMORTEM_NAME, "%.*s", (int)strcspn(at, " \t"), at);
    }
}

/* Of the run, not of a column. */
static void take_run(struct postmortem_reading *r, const char *line)
{
    uint32_t operation;
    take_word(line, "Kernel Instance:", r->postmortem->kernel);
    take_word(line, "ELF UUID:", r->postmortem->uid);
    if (value_of(line, "txn_op_idx", &operation)) {
        postmortem_operation(r, operation);
    }
}

static void take_line(struct postmortem_reading *r, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    take_run(r, line);
    if (postmortem_table_line(r, line)) {
        return;
    }
    take_column(r, line);
    if (r->column == NULL) {
        return;
    }
    if (strstr(line, "Deadlock might have happened") != NULL) {
        postmortem_watchdog(r);
    }
    if (strstr(line, "unfinished jobs:") != NULL) {
        postmortem_list(r);
    } else if (r->listing) {
        take_job(r, line);
    }
    take_state(r, line);
    take_place(r, line);
    take_counters(r, line);
    take_register(r, line);
}

/* `line` has `used` bytes of the stream already. */
static void read_lines(struct postmortem_reading *r, FILE *stream, char *line, size_t used)
{
    bool more = true;
    while (!r->memory && (more || used != 0)) {
        line[used] = '\0';
        char *end = memchr(line, '\n', used);
        if (end == NULL && more && used < LINE_LIMIT - 1) {
            more = fgets(line + used, (int)(LINE_LIMIT - used), stream) != NULL;
            used += more ? strlen(line + used) : 0;
            continue;
        }
        size_t length = end == NULL ? used : (size_t)(end - line) + 1;
        line[length - 1] = end == NULL ? line[length - 1] : '\0';
        take_line(r, line);
        used -= length;
        memmove(line, line + length, used);
    }
}

enum nocap_status nocap_aie_postmortem_read(struct nocap_aie_postmortem *postmortem, FILE *stream,
                                            const char *name, uint32_t column,
                                            struct nocap_error *err)
{
    struct postmortem_reading r = {.postmortem = postmortem};
    postmortem_column(&r, column, false);
    char *line = malloc(LINE_LIMIT);
    RETURN_ERROR_IF(line == NULL, err, NOCAP_E_MEMORY, "out of memory");
    size_t used = fread(line, 1, POSTMORTEM_RECORD, stream);
    if (postmortem_is_log((const uint8_t *)line, used)) {
        postmortem_read_log(&r, stream);
    } else {
        read_lines(&r, stream, line, used);
    }
    free(line);
    RETURN_ERROR_IF(r.memory, err, NOCAP_E_MEMORY, "out of memory");
    RETURN_ERROR_IF(ferror(stream), err, NOCAP_E_INPUT, "cannot read %s", name);
    RETURN_ERROR_IF(r.several, err, NOCAP_E_INPUT,
                    "%s: the table has several contexts; leave the one that hung, as xrt-smi does "
                    "with --ctx-id",
                    name);
    RETURN_ERROR_IF(!r.any && r.below, err, NOCAP_E_INPUT,
                    "%s: the uCs that it names come before the partition, which begins at "
                    "--first-column %u",
                    name, postmortem->first_column);
    RETURN_ERROR_IF(
        !r.any, err, NOCAP_E_INPUT,
        "%s: no line says where control code was; give the log of a uC (uc_log_*.txt or .bin), "
        "the message of the runtime, the table of xrt-smi, or the driver's dump of the handshake",
        name);
    return NOCAP_OK;
}

void nocap_aie_postmortem_clear(struct nocap_aie_postmortem *postmortem)
{
    for (size_t i = 0; i < NOCAP_AIE_POSTMORTEM_COLUMNS; i++) {
        free(postmortem->columns[i].jobs);
    }
    *postmortem = (struct nocap_aie_postmortem){.first_column = 0};
}
