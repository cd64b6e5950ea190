/* SPDX-License-Identifier: Apache-2.0 */
/* A line table of DWARF 5. libdw does not take those of control code, whose files name no folder.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/lines_dwarf.h"

/* Bytes that are read one after the other; past the end everything is 0. */
struct cursor {
    const uint8_t *at, *end;
    bool bad; /* it was read past the end, or something unknown */
};

static uint64_t take(struct cursor *c, size_t count)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < count) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        value |= (uint64_t)c->at[i] << 8 * i;
    }
    c->at += count;
    return value;
}

/* LEB128. */
static uint64_t take_leb(struct cursor *c, bool is_signed)
{
    enum { BITS = 7, MORE = 0x80, SIGN = 0x40, WIDTH = 64 };
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = (uint8_t)take(c, 1);
        value |= shift < WIDTH ? (uint64_t)(byte & (MORE - 1)) << shift : 0;
        shift += BITS;
    } while ((byte & MORE) != 0);
    return is_signed && (byte & SIGN) != 0 && shift < WIDTH ? value | UINT64_MAX << shift : value;
}

/* A text that ends before the bytes do. */
static const char *take_text(struct cursor *c)
{
    const uint8_t *end = memchr(c->at, 0, (size_t)(c->end - c->at));
    const char *text = (const char *)c->at;
    if (end == NULL) {
        c->bad = true;
        return "";
    }
    c->at = end + 1;
    return text;
}

static const char *text_of(const struct nocap_aie_debug *debug, uint64_t at)
{
    struct cursor c = {debug->bytes[NOCAP_AIE_DEBUG_STR], NULL, false};
    if (at >= debug->size[NOCAP_AIE_DEBUG_STR]) {
        return "";
    }
    c.end = c.at + debug->size[NOCAP_AIE_DEBUG_STR];
    c.at += at;
    return take_text(&c);
}

/* One part of an entry; its text, if it is one. */
static const char *take_form(struct cursor *c, uint64_t form, const struct nocap_aie_debug *debug)
{
    switch (form) {
    case DW_FORM_string: return take_text(c);
    case DW_FORM_strp: return text_of(debug, take(c, 4));
    case DW_FORM_line_strp: take(c, 4); return ""; /* a section that is not read */
    case DW_FORM_data1: take(c, 1); return "";
    case DW_FORM_data2: take(c, 2); return "";
    case DW_FORM_udata: take_leb(c, false); return "";
    case DW_FORM_data16:
        take(c, 8);
        take(c, 8);
        return "";
    default: c->bad = true; return "";
    }
}

/* The entries of the table of folders, or of that of files, whose paths are kept. */
static enum nocap_status take_entries(struct cursor *c, const struct nocap_aie_debug *debug,
                                      const char ***paths, size_t *count, struct nocap_error *err)
{
    struct {
        uint64_t what, form;
    } parts[UINT8_MAX];
    uint64_t part_count = take(c, 1);
    for (uint64_t i = 0; i < part_count; i++) {
        parts[i].what = take_leb(c, false);
        parts[i].form = take_leb(c, false);
    }
    uint64_t entries = take_leb(c, false);
    c->bad |= entries > (uint64_t)(c->end - c->at); /* each has a byte at least */
    for (uint64_t e = 0; e < entries && !c->bad; e++) {
        const char *path = "";
        for (uint64_t i = 0; i < part_count; i++) {
            const char *text = take_form(c, parts[i].form, debug);
            path = parts[i].what == DW_LNCT_path ? text : path;
        }
        if (paths == NULL) {
            continue;
        }
        const char **next = LIST_NEXT(*paths, *count);
        RETURN_ERROR_IF(next == NULL, err, NOCAP_E_MEMORY, "out of memory");
        *next = path;
        ++*count;
    }
    return NOCAP_OK;
}

/* The registers of a table's program, and what its header says of them. */
struct machine {
    uint64_t address, file;
    int64_t line;
    uint8_t least; /* bytes of an instruction */
    int8_t line_base;
    uint8_t line_range, opcode_base, lengths[UINT8_MAX];
    const char **files;
    size_t file_count;
};

static enum nocap_status add_row(const struct machine *m, uint32_t uc, struct nocap_aie_line **list,
                                 size_t *count, struct nocap_error *err)
{
    if (m->line <= 0 || m->line > UINT32_MAX) {
        return NOCAP_OK;
    }
    struct nocap_aie_line *to = LIST_NEXT(*list, *count);
    RETURN_ERROR_IF(to == NULL, err, NOCAP_E_MEMORY, "out of memory");
    *to = (struct nocap_aie_line){.uc = uc,
                                  .at = m->address,
                                  .line = (uint32_t)m->line,
                                  .file = m->file < m->file_count ? m->files[m->file] : ""};
    ++*count;
    return NOCAP_OK;
}

/* A standard opcode; true: it makes a row. */
static bool do_standard(struct machine *m, struct cursor *c, uint8_t opcode)
{
    switch (opcode) {
    case DW_LNS_copy: return true;
    case DW_LNS_advance_pc: m->address += take_leb(c, false) * m->least; break;
    case DW_LNS_advance_line: m->line += (int64_t)take_leb(c, true); break;
    case DW_LNS_set_file: m->file = take_leb(c, false); break;
    case DW_LNS_const_add_pc:
        m->address += (uint64_t)((UINT8_MAX - m->opcode_base) / m->line_range) * m->least;
        break;
    case DW_LNS_fixed_advance_pc: m->address += take(c, 2); break;
    default:
        for (uint8_t i = 0; i < m->lengths[opcode]; i++) {
            take_leb(c, false);
        }
        break;
    }
    return false;
}

static void do_extended(struct machine *m, struct cursor *c)
{
    uint64_t length = take_leb(c, false);
    if (length == 0 || length > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        return;
    }
    if (*c->at == DW_LNE_end_sequence) {
        m->address = m->file = 0;
        m->line = 1;
    }
    c->at += length;
}

static enum nocap_status run(struct machine *m, struct cursor *c, uint32_t uc,
                             struct nocap_aie_line **list, size_t *count, struct nocap_error *err)
{
    m->line = 1; /* the file begins as 0, as this writer has it */
    while (c->at < c->end && !c->bad) {
        uint8_t opcode = (uint8_t)take(c, 1);
        bool row = opcode >= m->opcode_base;
        if (row) {
            uint8_t special = (uint8_t)(opcode - m->opcode_base);
            m->address += (uint64_t)(special / m->line_range) * m->least;
            m->line += m->line_base + special % m->line_range;
        } else if (opcode != 0) {
            row = do_standard(m, c, opcode);
        } else {
            do_extended(m, c);
        }
        if (row) {
            RETURN_IF_FAILED(add_row(m, uc, list, count, err));
        }
    }
    return NOCAP_OK;
}

/* The header; the cursor is at the program then. */
static enum nocap_status read_header(struct machine *m, struct cursor *c,
                                     const struct nocap_aie_debug *debug, struct nocap_error *err)
{
    enum { VERSION = 5 };
    uint64_t size = take(c, 4);
    c->bad |= size > (uint64_t)(c->end - c->at);
    c->end = c->bad ? c->end : c->at + size;
    c->bad |= take(c, 2) != VERSION;
    take(c, 2); /* bytes of an address, of a segment */
    uint64_t header = take(c, 4);
    c->bad |= header > (uint64_t)(c->end - c->at);
    struct cursor program = *c;
    program.at += c->bad ? 0 : header;
    m->least = (uint8_t)take(c, 1);
    take(c, 2); /* operations an instruction; whether rows are statements */
    m->line_base = (int8_t)take(c, 1);
    m->line_range = (uint8_t)take(c, 1);
    m->opcode_base = (uint8_t)take(c, 1);
    c->bad |= m->line_range == 0 || m->opcode_base == 0;
    for (unsigned i = 1; i < m->opcode_base; i++) {
        m->lengths[i] = (uint8_t)take(c, 1);
    }
    if (!c->bad) {
        RETURN_IF_FAILED(take_entries(c, debug, NULL, NULL, err));
    }
    if (!c->bad) {
        RETURN_IF_FAILED(take_entries(c, debug, &m->files, &m->file_count, err));
    }
    program.bad = c->bad;
    *c = program;
    return NOCAP_OK;
}

enum nocap_status aie_dwarf_table(const struct nocap_aie_debug *debug, uint64_t at, uint32_t uc,
                                  struct nocap_aie_line **list, size_t *count,
                                  struct nocap_error *err)
{
    struct machine m = {.line = 1};
    struct cursor c = {debug->bytes[NOCAP_AIE_DEBUG_LINE], NULL, false};
    size_t size = debug->size[NOCAP_AIE_DEBUG_LINE];
    enum nocap_status status = NOCAP_OK;
    if (at < size) {
        c.end = c.at + size;
        c.at += at;
        status = read_header(&m, &c, debug, err);
        status = status == NOCAP_OK && !c.bad ? run(&m, &c, uc, list, count, err) : status;
    }
    free(m.files);
    RETURN_IF_FAILED(status);
    RETURN_ERROR_IF(at >= size || c.bad, err, NOCAP_E_INPUT,
                    "section .debug_line has no table of DWARF 5 for uC %u: source lines are not "
                    "known",
                    uc);
    return NOCAP_OK;
}
