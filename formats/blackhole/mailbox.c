/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/mailbox.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* layouts.def has a row for each field, which gives it a place in every layout. */
#define AT(offset, width, count, stride)                                                           \
    {                                                                                              \
        (offset), (width), (count), (stride)                                                       \
    }
#define NOT_THERE                                                                                  \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    }
#define PLACE(ID, member, ...) [NOCAP_LAYOUT_##ID].fields[NOCAP_LAUNCH_##member] = __VA_ARGS__,
#define LAUNCH_SCALAR(type, member, a, b1, b2, c, d, e, f)                                         \
    PLACE(A, member, a)                                                                            \
    PLACE(B1, member, b1)                                                                          \
    PLACE(B2, member, b2)                                                                          \
    PLACE(C, member, c)                                                                            \
    PLACE(D, member, d)                                                                            \
    PLACE(E, member, e)                                                                            \
    PLACE(F, member, f)
#define LAUNCH_ARRAY(type, member, elements, a, b1, b2, c, d, e, f)                                \
    PLACE(A, member, a)                                                                            \
    PLACE(B1, member, b1)                                                                          \
    PLACE(B2, member, b2)                                                                          \
    PLACE(C, member, c)                                                                            \
    PLACE(D, member, d)                                                                            \
    PLACE(E, member, e)                                                                            \
    PLACE(F, member, f)
#define LAYOUT(ID, name_, size, types, go, time, index, zeros_)                                    \
    [NOCAP_LAYOUT_##ID] = {.name = name_,                                                          \
                           .launch_size = (size),                                                  \
                           .core_types = (types),                                                  \
                           .launch_slots = NOCAP_LAUNCH_SLOTS,                                     \
                           .go_words = NOCAP_GO_WORDS,                                             \
                           .sync = NOCAP_SYNC,                                                     \
                           .rd_ptr = NOCAP_RD_PTR,                                                 \
                           .launch_base = NOCAP_LAUNCH_RING,                                       \
                           .go_messages = (go),                                                    \
                           .timestamp = (time),                                                    \
                           .go_message_index = (index),                                            \
                           .zeros = (zeros_)},
const struct nocap_mailbox_layout nocap_layouts[NOCAP_LAYOUT_COUNT] = {
#include "formats/blackhole/layouts.def"
};

/* Where struct nocap_launch holds a field. */
struct member {
    const char *name;
    uint16_t offset;
    uint8_t width; /* of one element, bytes */
    uint8_t elements;
};

#define LAUNCH_SCALAR(type, member, a, b1, b2, c, d, e, f)                                         \
    {#member, offsetof(struct nocap_launch, member), sizeof(type), 1},
#define LAUNCH_ARRAY(type, member, elements, a, b1, b2, c, d, e, f)                                \
    {#member, offsetof(struct nocap_launch, member), sizeof(type), (elements)},
static const struct member members[NOCAP_LAUNCH_FIELDS] = {
#include "formats/blackhole/layouts.def"
};

const char *nocap_launch_field_name(unsigned field)
{
    return field < NOCAP_LAUNCH_FIELDS ? members[field].name : NULL;
}

unsigned nocap_launch_field_elements(unsigned field)
{
    return members[field].elements;
}

unsigned nocap_launch_field_width(unsigned field)
{
    return members[field].width;
}

const struct nocap_mailbox_layout *nocap_layout_find(const char *name)
{
    if (!name) {
        return &nocap_layouts[NOCAP_LAYOUT_A];
    }
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        if (strcmp(name, nocap_layouts[i].name) == 0) {
            return &nocap_layouts[i];
        }
    }
    return NULL;
}

const struct nocap_mailbox_layout *nocap_layout_from_go_address(uint64_t address)
{
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        uint32_t word = nocap_layouts[i].go_messages;
        if (address == word || address == word + NOCAP_GO_SIGNAL_BYTE) {
            return &nocap_layouts[i];
        }
    }
    return NULL;
}

static bool makes_sense(const struct nocap_mailbox_layout *layout, const uint8_t *message)
{
    uint64_t enables = nocap_launch_get(layout, message, NOCAP_LAUNCH_enables, 0);
    uint64_t mode = nocap_launch_get(layout, message, NOCAP_LAUNCH_mode, 0);
    return enables != 0 && enables <= NOCAP_ENABLES_ALL && mode <= NOCAP_MODE_HOST;
}

const struct nocap_mailbox_layout *nocap_layout_refine(const struct nocap_mailbox_layout *layout,
                                                       const uint8_t *message, size_t size)
{
    if (size < layout->launch_size || makes_sense(layout, message)) {
        return layout;
    }
    for (unsigned i = 0; i < NOCAP_LAYOUT_COUNT; i++) {
        const struct nocap_mailbox_layout *other = &nocap_layouts[i];
        if (other->launch_size == layout->launch_size && makes_sense(other, message)) {
            return other;
        }
    }
    return layout;
}

const char *nocap_go_name(unsigned signal)
{
    switch (signal) {
    case NOCAP_GO_DONE: return "DONE";
    case NOCAP_GO_INIT: return "INIT";
    case NOCAP_GO_GO: return "GO";
    case NOCAP_GO_RESET_READ_PTR: return "RESET_READ_PTR";
    case NOCAP_GO_RESET_READ_PTR_FROM_HOST: return "RESET_READ_PTR_FROM_HOST";
    case NOCAP_GO_REPLAY_TRACE: return "REPLAY_TRACE";
    default: return NULL;
    }
}

const char *nocap_sync_name(unsigned value)
{
    switch (value) {
    case NOCAP_SYNC_DONE: return "DONE";
    case NOCAP_SYNC_LOAD: return "LOAD";
    case NOCAP_SYNC_WAITING_FOR_RESET: return "WAITING_FOR_RESET";
    case NOCAP_SYNC_INIT_REGISTERS: return "INIT_SYNC_REGISTERS";
    case NOCAP_SYNC_INIT: return "INIT";
    case NOCAP_SYNC_GO: return "GO";
    default: return NULL;
    }
}

static uint64_t load_little(const uint8_t *bytes, unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < width; i++) {
        v |= (uint64_t)bytes[i] << 8 * i;
    }
    return v;
}

static void store_little(uint8_t *bytes, unsigned width, uint64_t v)
{
    for (unsigned i = 0; i < width; i++) {
        bytes[i] = (uint8_t)(v >> 8 * i);
    }
}

/* Elements of struct nocap_launch are in the machine's byte order. */
static void set_element(void *at, unsigned width, uint64_t v)
{
    switch (width) {
    case 1: *(uint8_t *)at = (uint8_t)v; break;
    case 2: *(uint16_t *)at = (uint16_t)v; break;
    case 4: *(uint32_t *)at = (uint32_t)v; break;
    default: *(uint64_t *)at = v; break;
    }
}

static uint64_t get_element(const void *at, unsigned width)
{
    switch (width) {
    case 1: return *(const uint8_t *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

void nocap_launch_decode(const struct nocap_mailbox_layout *layout, const uint8_t *bytes,
                         struct nocap_launch *launch)
{
    memset(launch, 0, sizeof(*launch));
    for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
        const struct nocap_launch_place *place = &layout->fields[f];
        const uint8_t *from = bytes + place->offset;
        char *to = (char *)launch + members[f].offset;
        if (place->width == members[f].width && place->stride == place->width) {
            memcpy(to, from, (size_t)place->count * place->width); /* little-endian, both */
            continue;
        }
        for (unsigned i = 0; i < place->count; i++) {
            set_element(to + i * members[f].width, members[f].width,
                        load_little(from + i * place->stride, place->width));
        }
    }
}

void nocap_launch_encode(const struct nocap_mailbox_layout *layout,
                         const struct nocap_launch *launch, uint8_t *bytes)
{
    memset(bytes, 0, layout->launch_size);
    for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
        const struct nocap_launch_place *place = &layout->fields[f];
        const char *from = (const char *)launch + members[f].offset;
        for (unsigned i = 0; i < place->count; i++) {
            store_little(bytes + place->offset + i * place->stride, place->width,
                         get_element(from + i * members[f].width, members[f].width));
        }
    }
}

uint64_t nocap_launch_get(const struct nocap_mailbox_layout *layout, const uint8_t *bytes,
                          enum nocap_launch_field field, unsigned element)
{
    const struct nocap_launch_place *place = &layout->fields[field];
    return element < place->count
               ? load_little(bytes + place->offset + element * place->stride, place->width)
               : 0;
}

struct nocap_mailbox_place nocap_mailbox_locate(const struct nocap_mailbox_layout *layout,
                                                uint64_t addr)
{
    const struct {
        uint32_t first, count, size;
        enum nocap_mailbox_area area;
    } areas[] = {
        {layout->launch_base, layout->launch_slots, layout->launch_size, NOCAP_AREA_LAUNCH},
        {layout->go_messages, layout->go_words, NOCAP_GO_WORD_SIZE, NOCAP_AREA_GO},
        {layout->sync, 1, NOCAP_SYNC_BYTES, NOCAP_AREA_SYNC},
        {layout->rd_ptr, 1, 4, NOCAP_AREA_RD_PTR},
        {NOCAP_NCRISC_HALT_RESUME, 1, 8, NOCAP_AREA_NCRISC_HALT},
        {layout->timestamp, 1, 8, NOCAP_AREA_TIMESTAMP},
        {layout->go_message_index, 1, 4, NOCAP_AREA_GO_INDEX},
    };
    for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
        uint64_t offset = addr - areas[i].first; /* wraps below the area, which is then too far */
        if (offset < areas[i].count * areas[i].size) {
            return (struct nocap_mailbox_place){(uint8_t)areas[i].area,
                                                (uint8_t)(offset / areas[i].size),
                                                (uint16_t)(offset % areas[i].size)};
        }
    }
    return (struct nocap_mailbox_place){NOCAP_AREA_NONE, 0, 0};
}

/* The text of a name, which grows and never overflows. */
struct text {
    char *buffer;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text->buffer + text->length, text->size - text->length, format, arguments);
    va_end(arguments);
    if (n > 0) {
        text->length += (size_t)n;
        if (text->length >= text->size) {
            text->length = text->size - 1;
        }
    }
}

static void append_offset(struct text *text, unsigned offset)
{
    if (offset != 0) {
        append(text, "+%u", offset);
    }
}

static void append_launch_field(struct text *text, const struct nocap_mailbox_layout *layout,
                                unsigned offset)
{
    for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
        const struct nocap_launch_place *place = &layout->fields[f];
        unsigned distance = offset - place->offset; /* wraps below the field */
        unsigned element = place->count ? distance / place->stride : 0;
        if (element < place->count && distance % place->stride < place->width) {
            append(text, ".%s", members[f].name);
            if (members[f].elements > 1) {
                append(text, "[%u]", element);
            }
            append_offset(text, distance % place->stride);
            return;
        }
    }
    append(text, "+0x%x", offset); /* padding */
}

const char *nocap_mailbox_field_name(const struct nocap_mailbox_layout *layout, uint64_t addr,
                                     uint64_t width, char *buffer, size_t size)
{
    static const char *const go_bytes[NOCAP_GO_WORD_SIZE] = {"offset", "master_x", "master_y",
                                                             "signal"};
    /* dm1: data mover 1, as firmware calls NCRISC's byte */
    static const char *const sync_bytes[NOCAP_SYNC_BYTES] = {"dm1", "trisc0", "trisc1", "trisc2"};
    struct nocap_mailbox_place place = nocap_mailbox_locate(layout, addr);
    struct text text = {buffer, size, 0};
    buffer[0] = '\0';
    switch (place.area) {
    case NOCAP_AREA_NCRISC_HALT:
        append(&text, "ncrisc_halt.%s", place.offset < 4 ? "resume_addr" : "stack_save");
        append_offset(&text, place.offset % 4);
        break;
    case NOCAP_AREA_SYNC:
        append(&text, "subordinate_sync");
        if (place.offset != 0 || width < NOCAP_SYNC_BYTES) {
            append(&text, ".%s", sync_bytes[place.offset]);
        }
        break;
    case NOCAP_AREA_RD_PTR:
        append(&text, "launch_msg_rd_ptr");
        append_offset(&text, place.offset);
        break;
    case NOCAP_AREA_LAUNCH:
        append(&text, "launch[%u]", place.index);
        if (place.offset != 0 || width < layout->launch_size) {
            append_launch_field(&text, layout, place.offset);
        }
        break;
    case NOCAP_AREA_GO:
        append(&text, "go_messages[%u]", place.index);
        if (place.offset != 0 || width < NOCAP_GO_WORD_SIZE) {
            append(&text, ".%s", go_bytes[place.offset]);
        }
        break;
    case NOCAP_AREA_TIMESTAMP:
        append(&text, "link_status_check_timestamp");
        append_offset(&text, place.offset);
        break;
    case NOCAP_AREA_GO_INDEX:
        append(&text, "go_message_index");
        append_offset(&text, place.offset);
        break;
    default: break;
    }
    return buffer;
}
