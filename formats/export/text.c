/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/color.h"
#include "formats/blackhole/address_name.h"
#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tensix_isa.h"
#include "formats/export/append.h"
#include "formats/export/queue_text.h"
#include "formats/profile/profile.h"

/* Columns of a line; a longer value moves the rest of its line to the right. */
enum {
    INDEX_WIDTH = 7,
    TIME_WIDTH = 11,
    TILE_COLUMN = 21,
    AGENT_COLUMN = 28,
    KIND_COLUMN = 37,
    DETAIL_COLUMN = 52
};
enum { SYMBOL_MAX = 200 }; /* characters of a symbol that are shown */

struct nocap_text_style nocap_text_style(const struct nocap_header *header, bool color)
{
    const struct nocap_mailbox_layout *layout = nocap_header_layout(header, NULL);
    const struct nocap_profile *profile = nocap_header_profile(header, NULL);
    return (struct nocap_text_style){
        .color = color,
        .is_blackhole = header->arch == NOCAP_ARCH_BLACKHOLE,
        .has_names = header->arch == NOCAP_ARCH_BLACKHOLE && layout != NULL,
        .board = header->board,
        .layout = layout,
        .commands = profile != NULL ? &profile->commands : NULL,
        .queue = nocap_text_queue(header),
    };
}

static void append_right(struct nocap_text *out, uint64_t v, size_t width)
{
    size_t digits = 1;
    for (uint64_t rest = v; rest >= 10; rest /= 10) {
        digits++;
    }
    for (; digits < width; digits++) {
        nocap_append_char(out, ' ');
    }
    nocap_append_decimal(out, v);
}

static void append_xy(struct nocap_text *out, struct nocap_xy xy)
{
    nocap_append_decimal(out, xy.x);
    nocap_append_char(out, ',');
    nocap_append_decimal(out, xy.y);
}

static void append_color(const struct nocap_text_style *style, struct nocap_text *out,
                         const char *color)
{
    if (style->color) {
        nocap_append_string(out, color);
    }
}

/* ---- the left part ---- */

static void append_place(struct nocap_text *out, const struct nocap_event *event)
{
    if (event->chip != 0) {
        nocap_append_char(out, 'c');
        nocap_append_decimal(out, event->chip);
        nocap_append_char(out, ':');
    }
    if ((event->has & NOCAP_F_AT) == 0) {
        nocap_append_char(out, '-');
        return;
    }
    append_xy(out, event->at);
    if ((event->has & NOCAP_F_TO) != 0) {
        nocap_append_string(out, "..");
        append_xy(out, event->to);
    }
}

static void append_agent(struct nocap_text *out, const struct nocap_event *event)
{
    if ((event->has & NOCAP_F_BY) != 0) {
        nocap_append_string(out, nocap_agent_name(event->by));
    } else if (event->kind == NOCAP_EV_CERT) {
        nocap_append_string(out, nocap_agent_name(NOCAP_BY_UC0 + event->uc));
    } else if ((event->has & NOCAP_F_THREAD) != 0) {
        nocap_append_string(out, "thread");
        nocap_append_decimal(out, event->thread);
    } else {
        nocap_append_char(out, '-');
    }
}

/* ---- addresses and values ---- */

static void append_address(const struct nocap_text_style *style, struct nocap_text *out,
                           const struct nocap_event *event, struct nocap_xy at, uint64_t addr)
{
    char name[NOCAP_ADDRESS_NAME_MAX], place[NOCAP_QUEUE_NAME_MAX];
    bool in_tile = event->kind == NOCAP_EV_NOC || event->space == NOCAP_SPACE_TILE;
    if (event->kind == NOCAP_EV_CQ || event->space == NOCAP_SPACE_AIE ||
        (in_tile && !style->has_names)) {
        nocap_append_hex(out, addr);
        return;
    }
    if (!in_tile && !style->is_blackhole) {
        nocap_append_string(out, nocap_space_name(event->space));
        nocap_append_char(out, '+');
        nocap_append_hex(out, addr);
        return;
    }
    struct nocap_address address = {
        .space = in_tile ? NOCAP_SPACE_TILE : event->space,
        .board = style->board,
        .at = at,
        .layout = style->layout,
        .by = event->by,
        .addr = addr,
        .width = event->size,
    };
    nocap_address_name(&address, name, sizeof name);
    char *plus = strrchr(name, '+');
    if (plus != NULL && strtoull(plus + 1, NULL, 0) == addr) {
        *plus = '\0'; /* a region that begins at 0: the address follows */
    }
    append_color(style, out, COLOR_BOLD);
    const char *queue = nocap_queue_name(&style->queue, event, at, addr, place);
    nocap_append_string(out, queue != NULL ? queue : name);
    append_color(style, out, COLOR_OFF);
    nocap_append_char(out, ' ');
    nocap_append_hex(out, addr);
}

static void append_name_or_number(struct nocap_text *out, const char *name, uint64_t v)
{
    if (name != NULL) {
        nocap_append_string(out, name);
    } else {
        nocap_append_hex(out, v);
    }
}

/* What a value means where it goes: the signal of a go word, the bytes of the sync word. */
static void append_meaning(const struct nocap_text_style *style, struct nocap_text *out,
                           const struct nocap_event *event)
{
    if (!style->has_names || event->space != NOCAP_SPACE_TILE || event->size > NOCAP_GO_WORD_SIZE) {
        return;
    }
    struct nocap_mailbox_place place = nocap_mailbox_locate(style->layout, event->addr);
    uint64_t end = place.offset + event->size;
    if (place.area == NOCAP_AREA_GO && place.offset <= NOCAP_GO_SIGNAL_BYTE &&
        end == NOCAP_GO_WORD_SIZE) {
        unsigned signal = (event->value >> (8 * (NOCAP_GO_SIGNAL_BYTE - place.offset))) & 0xFF;
        nocap_append_char(out, ' ');
        append_name_or_number(out, nocap_go_name(signal), signal);
    } else if (place.area == NOCAP_AREA_SYNC && end <= NOCAP_SYNC_BYTES) {
        for (unsigned i = 0; i < event->size; i++) {
            unsigned byte = (event->value >> (8 * i)) & 0xFF;
            nocap_append_char(out, i == 0 ? ' ' : ',');
            append_name_or_number(out, nocap_sync_name(byte), byte);
        }
    }
}

/* Bytes of payload that a line shows; the rest is counted. */
enum { SHOWN_BYTES = 32 };

static void append_data(struct nocap_text *out, const struct nocap_event *event)
{
    size_t shown = event->data_size < SHOWN_BYTES ? event->data_size : SHOWN_BYTES;
    nocap_append_bytes(out, event->data, shown);
    if (event->data_size > shown) {
        nocap_append_string(out, ".. (");
        nocap_append_decimal(out, event->data_size);
        nocap_append_string(out, " bytes)");
    }
}

/* ---- the details of each kind ---- */

/* " <function+0x10>" after a pc. */
static void append_symbol(const struct nocap_text_style *style, struct nocap_text *out,
                          const struct nocap_event *event)
{
    uint32_t offset;
    const char *name = nocap_elf_cores_symbol(style->cores, event->by, event->pc, &offset);
    if (name != NULL) {
        nocap_append_string(out, " <");
        nocap_append_foreign(out, name, strnlen(name, SYMBOL_MAX));
        nocap_append_char(out, '+');
        nocap_append_hex(out, offset);
        nocap_append_char(out, '>');
    }
}

/* How nearly all of the host's accesses are made: said only where it is otherwise. */
static bool is_usual(const struct nocap_event *event, enum nocap_field field)
{
    bool access = event->kind == NOCAP_EV_WRITE || event->kind == NOCAP_EV_READ;
    return access && ((field == NOCAP_FIELD_NOC && event->noc == 0) ||
                      (field == NOCAP_FIELD_ORDER && event->order == NOCAP_ORDER_STRICT) ||
                      (field == NOCAP_FIELD_MAP && event->map == NOCAP_MAP_UC));
}

/* The fields in `left`, as key=value in the order of the table. */
static void append_rest(const struct nocap_text_style *style, struct nocap_text *out,
                        const struct nocap_event *event, uint64_t left, bool at_start)
{
    for (uint64_t rest = event->has & left; rest != 0; rest &= rest - 1) {
        enum nocap_field field = (enum nocap_field)__builtin_ctzll(rest);
        if (is_usual(event, field)) {
            continue;
        }
        if (!at_start) {
            nocap_append_char(out, ' ');
        }
        at_start = false;
        nocap_append_string(out, nocap_fields[field].key);
        nocap_append_char(out, '=');
        if (nocap_fields[field].type == NOCAP_T_BYTES) {
            append_data(out, event);
        } else {
            nocap_append_field(out, event, field);
        }
        if (field == NOCAP_FIELD_PC && style->cores != NULL) {
            append_symbol(style, out, event);
        }
    }
}

/* "launch[0].enables 0xbc:4 = 0x1f", and gives what it has shown. */
static uint64_t append_access(const struct nocap_text_style *style, struct nocap_text *out,
                              const struct nocap_event *event)
{
    append_address(style, out, event, event->at, event->addr);
    uint64_t shown = NOCAP_F_ADDR | NOCAP_F_SPACE | NOCAP_F_VALUE | NOCAP_F_DATA;
    if ((event->has & NOCAP_F_SIZE) != 0) {
        nocap_append_char(out, ':');
        nocap_append_decimal(out, event->size);
        shown |= NOCAP_F_SIZE;
    }
    if ((event->has & NOCAP_F_VALUE) != 0) {
        nocap_append_string(out, " = ");
        nocap_append_hex(out, event->value);
        append_meaning(style, out, event);
    } else if ((event->has & NOCAP_F_DATA) != 0) {
        nocap_append_string(out, " = ");
        append_data(out, event);
    }
    nocap_append_queue(style, out, event);
    return shown;
}

static void append_end(const struct nocap_text_style *style, struct nocap_text *out,
                       const struct nocap_event *event, const char *what, uint64_t has_xy,
                       struct nocap_xy xy, uint64_t has_addr, uint64_t addr)
{
    if ((event->has & (has_xy | has_addr)) == 0) {
        return;
    }
    nocap_append_string(out, what);
    if ((event->has & has_xy) != 0) {
        append_xy(out, xy);
    }
    if ((event->has & has_addr) != 0) {
        nocap_append_char(out, ' ');
        append_address(style, out, event, xy, addr);
    }
}

/* "from 1,2 L1 0x4000 to 3,4 L1 0x8000:512". */
static uint64_t append_noc(const struct nocap_text_style *style, struct nocap_text *out,
                           const struct nocap_event *event)
{
    append_end(style, out, event, "from ", NOCAP_F_S, event->s, NOCAP_F_SADDR, event->saddr);
    const char *to = (event->has & (NOCAP_F_S | NOCAP_F_SADDR)) != 0 ? " to " : "to ";
    append_end(style, out, event, to, NOCAP_F_D, event->d, NOCAP_F_DADDR, event->daddr);
    uint64_t shown = NOCAP_F_S | NOCAP_F_SADDR | NOCAP_F_D | NOCAP_F_DADDR;
    if ((event->has & NOCAP_F_SIZE) != 0) {
        nocap_append_char(out, ':');
        nocap_append_decimal(out, event->size);
        shown |= NOCAP_F_SIZE;
    }
    if ((event->has & NOCAP_F_VALUE) != 0) {
        nocap_append_string(out, " = ");
        nocap_append_hex(out, event->value);
        shown |= NOCAP_F_VALUE;
    }
    return shown;
}

static uint64_t append_tensix(struct nocap_text *out, const struct nocap_event *event)
{
    if ((event->has & NOCAP_F_WORD) == 0) {
        return 0;
    }
    uint32_t word = (uint32_t)event->value;
    char text[NOCAP_TENSIX_TEXT_MAX];
    if (nocap_tensix_opcode_name(nocap_tensix_opcode(word)) != NULL) {
        nocap_append_string(out, nocap_tensix_disassemble(word, text, sizeof text));
        nocap_append_char(out, ' ');
    }
    nocap_append_hex(out, event->value);
    return NOCAP_F_WORD;
}

/* Records and commands of the command queue by name, after what the other fields say. */
static void append_command(const struct nocap_text_style *style, struct nocap_text *out,
                           const struct nocap_event *event)
{
    char text[NOCAP_CQ_TEXT_MAX];
    bool record = event->op == NOCAP_OP_RECORD;
    bool command = event->op == NOCAP_OP_EXEC;
    if (!style->has_names || event->data_size == 0 || (!record && !command)) {
        return;
    }
    nocap_append_string(out, nocap_cq_text(style->commands,
                                           record ? NOCAP_CQ_PREFETCH : NOCAP_CQ_DISPATCH,
                                           event->data, event->data_size, text, sizeof text));
}

static void append_details(const struct nocap_text_style *style, struct nocap_text *out,
                           const struct nocap_event *event)
{
    uint64_t shown = NOCAP_F_AT | NOCAP_F_TO | NOCAP_F_BY | NOCAP_F_UC;
    size_t start = out->size;
    switch (event->kind) {
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ:
    case NOCAP_EV_MEM: shown |= append_access(style, out, event); break;
    case NOCAP_EV_NOC: shown |= append_noc(style, out, event); break;
    case NOCAP_EV_CQ: append_command(style, out, event); break;
    case NOCAP_EV_TENSIX: shown |= append_tensix(out, event); break;
    case NOCAP_EV_NOTE:
    case NOCAP_EV_UNKNOWN:
    case NOCAP_EV_MALFORMED:
        nocap_append_foreign(out, (const char *)event->data, event->data_size);
        shown |= NOCAP_F_TEXT;
        break;
    default: break;
    }
    if (event->kind == NOCAP_EV_DROP) {
        nocap_append_string(out, "source ");
        nocap_append_decimal(out, event->src);
    }
    if (event->kind == NOCAP_EV_NOC) {
        nocap_append_queue(style, out, event);
    }
    bool at_start = out->size == start;
    append_color(style, out, COLOR_DIM);
    append_rest(style, out, event, ~shown, at_start);
    append_color(style, out, COLOR_OFF);
    if (event->extra_size > 0) {
        nocap_append_char(out, ' ');
        nocap_append_foreign(out, event->extra, event->extra_size);
    }
}

enum nocap_status nocap_text_print_event(const struct nocap_text_style *style,
                                         struct nocap_text *out, const struct nocap_event *event,
                                         struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_append_room(out, event, err));
    size_t start = out->size;
    append_right(out, event->index, INDEX_WIDTH);
    nocap_append_char(out, ' ');
    append_right(out, event->t, TIME_WIDTH);
    nocap_append_pad(out, start, TILE_COLUMN);
    append_place(out, event);
    nocap_append_pad(out, start, AGENT_COLUMN);
    append_agent(out, event);
    nocap_append_pad(out, start, KIND_COLUMN);
    nocap_append_string(out, nocap_kind_name(event->kind));
    if (event->op != NOCAP_OP_NONE) {
        nocap_append_char(out, ' ');
        nocap_append_string(out, nocap_op_name(event->op));
    }
    nocap_append_pad(out, start, DETAIL_COLUMN);
    append_details(style, out, event);
    while (out->size > start && out->data[out->size - 1] == ' ') {
        out->size--;
    }
    nocap_append_char(out, '\n');
    return NOCAP_OK;
}
