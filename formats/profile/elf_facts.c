/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information, as far as it says something of a profile. Files are written by strangers:
 * libdw checks what it reads, and how many entries are looked at is bounded. */
#include "formats/profile/elf_facts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

enum {
    ENTRIES_MAX = 4 << 20, /* of all files together; firmware has thousands */
    DEPTH_MAX = 16,        /* namespaces in each other, names for types of types */
    MEMBERS_MAX = 4096,    /* of a structure */
};

struct walk {
    struct elf_facts *facts;
    uint32_t entries; /* looked at */
};

/* ---- attributes ---- */

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    if (dwarf_attr_integrate(die, name, &attribute) == NULL ||
        dwarf_formudata(&attribute, &word) != 0) {
        return false;
    }
    *value = word;
    return true;
}

/* The type behind names and qualifiers. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == NULL ||
        dwarf_formref_die(&attribute, type) == NULL) {
        return false;
    }
    for (unsigned i = 0; i < DEPTH_MAX; i++) {
        int tag = dwarf_tag(type);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) {
            return true;
        }
        Dwarf_Die inner;
        if (dwarf_attr(type, DW_AT_type, &attribute) == NULL ||
            dwarf_formref_die(&attribute, &inner) == NULL) {
            return false;
        }
        *type = inner;
    }
    return false;
}

/* Of the first dimension. */
static uint64_t array_count(Dwarf_Die *array)
{
    Dwarf_Die range;
    uint64_t n;
    if (dwarf_child(array, &range) != 0 || dwarf_tag(&range) != DW_TAG_subrange_type) {
        return 0;
    }
    if (number_of(&range, DW_AT_count, &n)) {
        return n;
    }
    return number_of(&range, DW_AT_upper_bound, &n) && n < UINT32_MAX ? n + 1 : 0;
}

/* A member: where, how wide an element, how many; `element` its type. False: it has no such. */
struct shape {
    uint64_t offset, width, count;
    Dwarf_Die element;
};
static bool shape_of(Dwarf_Die *member, struct shape *s)
{
    Dwarf_Die type;
    if (dwarf_tag(member) != DW_TAG_member || !type_of(member, &type)) {
        return false;
    }
    s->offset = 0; /* of a union */
    (void)number_of(member, DW_AT_data_member_location, &s->offset);
    s->count = 1;
    if (dwarf_tag(&type) == DW_TAG_array_type) {
        s->count = array_count(&type);
        Dwarf_Die array = type;
        if (!type_of(&array, &type)) {
            return false;
        }
    }
    s->element = type;
    return number_of(&type, DW_AT_byte_size, &s->width) && s->offset <= UINT16_MAX &&
           s->width <= UINT16_MAX && s->count <= UINT16_MAX;
}

/* Calls `see` for each member. */
static void each_member(struct walk *w, Dwarf_Die *structure, uint64_t base,
                        void (*see)(struct walk *w, const char *name, struct shape *s, void *to),
                        void *to)
{
    Dwarf_Die member;
    int step = dwarf_child(structure, &member);
    for (unsigned i = 0; step == 0 && i < MEMBERS_MAX; i++) {
        struct shape s;
        const char *name = dwarf_diename(&member);
        if (name != NULL && shape_of(&member, &s)) {
            s.offset += base;
            see(w, name, &s, to);
        }
        Dwarf_Die next;
        step = dwarf_siblingof(&member, &next);
        member = next;
        w->entries++;
    }
}

/* ---- launch messages and the mailbox ---- */

static void set_field(struct elf_facts *f, const char *name, const struct shape *s, uint64_t stride)
{
    for (unsigned i = 0; i < NOCAP_LAUNCH_FIELDS; i++) {
        if (strcmp(nocap_launch_field_name(i), name) == 0 && s->offset <= UINT8_MAX &&
            s->width <= nocap_launch_field_width(i) && s->count <= nocap_launch_field_elements(i) &&
            stride <= UINT8_MAX) {
            f->fields[i] = (struct nocap_launch_place){(uint8_t)s->offset, (uint8_t)s->width,
                                                       (uint8_t)s->count, (uint8_t)stride};
        }
    }
}

/* Of a structure that stands in a row in a launch message. */
struct row {
    uint64_t count, stride;
};

static void see_row_member(struct walk *w, const char *name, struct shape *s, void *to)
{
    const struct row *row = to;
    if (s->count == 1) {
        s->count = row->count;
        set_field(w->facts, name, s, row->stride);
    }
}

static void see_config_member(struct walk *w, const char *name, struct shape *s, void *to)
{
    (void)to;
    struct nocap_launch_place *threads = &w->facts->fields[NOCAP_LAUNCH_threads];
    if (dwarf_tag(&s->element) == DW_TAG_structure_type) {
        struct row row = {s->count, s->width};
        each_member(w, &s->element, s->offset, see_row_member, &row);
    } else if (strcmp(name, "num_sw_threads") == 0) {
        set_field(w->facts, "threads", s, s->width);
    } else if (strcmp(name, "kernel_thread_id") == 0 && threads->count != 0 &&
               s->offset == threads->offset + threads->count && s->count <= threads->count) {
        threads->count = (uint8_t)(threads->count + s->count);
    } else {
        set_field(w->facts, name, s, s->width);
    }
}

static void see_launch_member(struct walk *w, const char *name, struct shape *s, void *to)
{
    (void)to;
    if (strcmp(name, "kernel_config") == 0) {
        each_member(w, &s->element, s->offset, see_config_member, NULL);
    }
}

static void see_mailbox_member(struct walk *w, const char *name, struct shape *s, void *to)
{
    (void)to;
    struct elf_facts *f = w->facts;
    const struct {
        const char *name;
        uint32_t *offset, *count;
    } known[] = {
        {"subordinate_sync", &f->sync, NULL},
        {"launch_msg_rd_ptr", &f->rd_ptr, NULL},
        {"launch", &f->launch, &f->launch_slots},
        {"go_messages", &f->go_messages, &f->go_words},
        {"link_status_check_timestamp", &f->timestamp, NULL},
        {"go_message_index", &f->go_message_index, NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            *known[i].offset = (uint32_t)s->offset;
            if (known[i].count != NULL) {
                *known[i].count = (uint32_t)s->count;
            }
        }
    }
}

/* ---- commands ---- */

static const struct structure {
    const char *type;
    uint8_t side, id;
} structures[] = {
#define STRUCTURE(type, SIDE, NAME) {#type, NOCAP_CQ_##SIDE, NOCAP_CQ_##SIDE##_##NAME},
#include "formats/profile/elf_names.def"
};

static int member_of(const char *name)
{
#define RENAMED(theirs, member)                                                                    \
    if (strcmp(name, theirs) == 0) {                                                               \
        return NOCAP_CQ_MEMBER_##member;                                                           \
    }
#include "formats/profile/elf_names.def"
    return nocap_cq_member_from_name(name);
}

static void see_command_member(struct walk *w, const char *name, struct shape *s, void *to)
{
    (void)w;
    struct form_fact *form = to;
    int member = member_of(name);
    unsigned i = 0;
    while (i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0) {
        i++;
    }
    if (member >= 0 && i < NOCAP_CQ_FORM_FIELDS && s->count == 1 && s->width <= 8 &&
        s->offset <= NOCAP_CQ_HEADER_MAX) {
        form->fields[i] =
            (struct nocap_cq_field){(uint8_t)member, (uint8_t)s->offset, (uint8_t)s->width};
    }
}

static void see_structure(struct walk *w, Dwarf_Die *die, const char *name)
{
    struct elf_facts *f = w->facts;
    uint64_t size;
    if (!number_of(die, DW_AT_byte_size, &size)) {
        return; /* a declaration */
    }
    if (strcmp(name, "launch_msg_t") == 0 && f->launch_file == 0 && size <= UINT16_MAX) {
        f->launch_file = f->file;
        f->launch_size = (uint32_t)size;
        each_member(w, die, 0, see_launch_member, NULL);
    } else if (strcmp(name, "mailboxes_t") == 0 && f->mailbox_file == 0) {
        f->mailbox_file = f->file;
        each_member(w, die, 0, see_mailbox_member, NULL);
    }
    for (size_t i = 0; i < sizeof structures / sizeof structures[0]; i++) {
        const struct structure *s = &structures[i];
        struct form_fact *form = &f->forms[s->side][s->id];
        uint64_t head = s->side == NOCAP_CQ_SUB ? 0 : 1;
        if (strcmp(name, s->type) == 0 && form->file == 0 && size + head <= NOCAP_CQ_HEADER_MAX) {
            form->file = f->file;
            form->bytes = (uint8_t)(size + head);
            each_member(w, die, head, see_command_member, form);
        }
    }
}

/* CQ_DISPATCH_CMD_WAIT, CQ_DISPATCH_SET_NUM_WORKER_SEMS */
static void see_enumerators(struct walk *w, Dwarf_Die *die, unsigned side)
{
    static const char *const prefixes[] = {"CQ_PREFETCH_CMD_", "CQ_PREFETCH_", "CQ_DISPATCH_CMD_",
                                           "CQ_DISPATCH_"};
    Dwarf_Die item;
    int step = dwarf_child(die, &item);
    w->facts->ids_file[side] = w->facts->file;
    for (unsigned i = 0; step == 0 && i < MEMBERS_MAX; i++) {
        const char *name = dwarf_diename(&item);
        uint64_t value;
        for (unsigned p = 2 * side; name != NULL && p < 2 * side + 2; p++) {
            size_t length = strlen(prefixes[p]);
            int id = strncmp(name, prefixes[p], length) == 0
                         ? nocap_cq_from_name((enum nocap_cq_side)side, name + length)
                         : -1;
            if (id >= 0 && number_of(&item, DW_AT_const_value, &value) && value <= UINT8_MAX) {
                w->facts->ids[side][id] = (struct fact){value, w->facts->file};
            }
        }
        Dwarf_Die next;
        step = dwarf_siblingof(&item, &next);
        item = next;
        w->entries++;
    }
}

/* ---- constants ---- */

static void see_constant(struct elf_facts *f, const char *name, uint64_t value)
{
    const struct fact fact = {value, f->file};
    if (strcmp(name, "mailboxes") == 0) {
        f->mailbox_base = fact;
    } else if (strcmp(name, "prefetch_q_size") == 0) {
        f->queue_size = fact;
    } else if (strcmp(name, "dispatch_cb_log_page_size") == 0) {
        f->log_page = fact;
    }
#define BIT_NAME(theirs, SIDE, NAME, BIT)                                                          \
    if (strcmp(name, theirs) == 0) {                                                               \
        f->flags[NOCAP_CQ_FLAG_##SIDE##_##NAME##_##BIT] = fact;                                    \
    }
#define CONSTANT(theirs, member)                                                                   \
    if (strcmp(name, theirs) == 0) {                                                               \
        f->constants[offsetof(struct nocap_queue, member) / 4] = fact;                             \
    }
#include "formats/profile/elf_names.def"
}

static void see(struct walk *w, Dwarf_Die *die, unsigned depth);

static void see_children(struct walk *w, Dwarf_Die *die, unsigned depth)
{
    Dwarf_Die child;
    int step = dwarf_child(die, &child);
    while (step == 0 && w->entries < ENTRIES_MAX) {
        see(w, &child, depth);
        Dwarf_Die next;
        step = dwarf_siblingof(&child, &next);
        child = next;
    }
}

static void see(struct walk *w, Dwarf_Die *die, unsigned depth)
{
    const char *name = dwarf_diename(die);
    uint64_t value;
    Dwarf_Die type;
    w->entries++;
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
        if (depth < DEPTH_MAX) {
            see_children(w, die, depth + 1);
        }
        break;
    case DW_TAG_structure_type:
        if (name != NULL) {
            see_structure(w, die, name);
        }
        break;
    case DW_TAG_enumeration_type:
        if (name != NULL && strcmp(name, "CQPrefetchCmdId") == 0) {
            see_enumerators(w, die, NOCAP_CQ_PREFETCH);
        } else if (name != NULL && strcmp(name, "CQDispatchCmdId") == 0) {
            see_enumerators(w, die, NOCAP_CQ_DISPATCH);
        }
        break;
    case DW_TAG_typedef:
        if (name != NULL && strcmp(name, "prefetch_q_entry_type") == 0 && type_of(die, &type) &&
            number_of(&type, DW_AT_byte_size, &value)) {
            w->facts->entry_bytes = (struct fact){value, w->facts->file};
        }
        break;
    case DW_TAG_variable:
        if (name != NULL && number_of(die, DW_AT_const_value, &value)) {
            see_constant(w->facts, name, value);
        }
        break;
    default: break;
    }
}

enum nocap_status elf_facts_add(struct elf_facts *facts, struct nocap_elf_image *image,
                                const char *name, struct nocap_error *err)
{
    struct walk w = {.facts = facts};
    Dwarf *debug = elf_image_debug(image);
    facts->file++;
    RETURN_ERROR_IF(debug == NULL, err, NOCAP_E_INPUT,
                    "%s has no debug information: give a file that was not stripped", name);
    Dwarf_Off offset = 0, next;
    size_t header;
    while (dwarf_nextcu(debug, offset, &next, &header, NULL, NULL, NULL) == 0 && next > offset &&
           w.entries < ENTRIES_MAX) {
        Dwarf_Die unit;
        if (dwarf_offdie(debug, offset + header, &unit) != NULL) {
            see_children(&w, &unit, 0);
        }
        offset = next;
    }
    return NOCAP_OK;
}
