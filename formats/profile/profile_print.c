/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as JSON, and value by value. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "formats/profile/profile_private.h"

enum { PLACE_SIZE = 40 };

static void number_text(char *text, size_t size, const struct profile_number *n, uint64_t v)
{
    snprintf(text, size, n->hex ? "0x%" PRIx64 : "%" PRIu64, v);
}

/* "0x4C:4", offset and bytes; "0x16:2*5/4" for five elements, 4 bytes apart. */
static void place_text(char text[PLACE_SIZE], const struct nocap_launch_place *p)
{
    int n = snprintf(text, PLACE_SIZE, "0x%x:%u", p->offset, p->width);
    if (p->count > 1) {
        snprintf(text + n, (size_t)(PLACE_SIZE - n), "*%u/%u", p->count, p->stride);
    }
}

/* ---- JSON ---- */

static void put_numbers(struct nocap_json *g, const struct nocap_profile *p, const char *group)
{
    for (size_t i = 0; i < profile_number_count; i++) {
        const struct profile_number *n = &profile_numbers[i];
        char text[24];
        if (strcmp(n->group, group) != 0) {
            continue;
        }
        uint64_t v = profile_number_get(p, n);
        if (n->hex) {
            number_text(text, sizeof text, n, v);
            nocap_json_text(g, n->name, text);
        } else {
            nocap_json_number(g, n->name, v);
        }
    }
}

static void put_mailbox(struct nocap_json *g, const struct nocap_profile *p)
{
    nocap_json_map(g, "mailbox");
    nocap_json_text(g, "name", p->mailbox.name);
    put_numbers(g, p, "mailbox");
    nocap_json_map(g, "fields");
    for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
        char text[PLACE_SIZE];
        if (p->mailbox.fields[f].count == 0) {
            nocap_json_null(g, nocap_launch_field_name(f));
        } else {
            place_text(text, &p->mailbox.fields[f]);
            nocap_json_text(g, nocap_launch_field_name(f), text);
        }
    }
    nocap_json_map_end(g);
    nocap_json_map_end(g);
}

static void put_form(struct nocap_json *g, const struct nocap_command_set *set, unsigned side,
                     unsigned id)
{
    const struct nocap_cq_form *form = &set->forms[side][id];
    const char *name = nocap_cq_name((enum nocap_cq_side)side, id);
    if (form->header == 0) {
        nocap_json_null(g, name);
        return;
    }
    nocap_json_map(g, name);
    if (side != NOCAP_CQ_SUB) {
        nocap_json_number(g, "id", form->wire);
    }
    nocap_json_number(g, "header", form->header);
    if (set->unhandled[side][id] || nocap_command_set_default.unhandled[side][id]) {
        nocap_json_bool(g, "handled", !set->unhandled[side][id]);
    }
    nocap_json_map(g, "fields");
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0; i++) {
        const struct nocap_cq_field *f = &form->fields[i];
        char text[16];
        snprintf(text, sizeof text, "%u:%u", f->offset, f->width);
        nocap_json_text(g, nocap_cq_member_name(f->member), text);
    }
    nocap_json_map_end(g);
    nocap_json_map_end(g);
}

static void put_flags(struct nocap_json *g, const struct nocap_command_set *set)
{
    nocap_json_map(g, "flags");
    for (unsigned i = 0; i < NOCAP_CQ_FLAGS; i++) {
        const struct nocap_cq_flag_info *f = &nocap_cq_flags[i];
        bool first = i == 0 || f[-1].side != f->side || f[-1].id != f->id;
        bool last = i + 1 == NOCAP_CQ_FLAGS || f[1].side != f->side || f[1].id != f->id;
        char text[8];
        if (first) {
            nocap_json_map(g, nocap_cq_name((enum nocap_cq_side)f->side, f->id));
        }
        if (set->flags[i] == 0) {
            nocap_json_null(g, f->name);
        } else {
            snprintf(text, sizeof text, "0x%x", set->flags[i]);
            nocap_json_text(g, f->name, text);
        }
        if (last) {
            nocap_json_map_end(g);
        }
    }
    nocap_json_map_end(g);
}

static void put_commands(struct nocap_json *g, const struct nocap_command_set *set)
{
    nocap_json_map(g, "commands");
    for (unsigned side = 0; side <= NOCAP_CQ_SUB; side++) {
        nocap_json_map(g, profile_sides[side]);
        for (unsigned id = 0; id < NOCAP_CQ_IDS; id++) {
            if (nocap_cq_name((enum nocap_cq_side)side, id) != NULL) {
                put_form(g, set, side, id);
            }
        }
        nocap_json_map_end(g);
    }
    put_flags(g, set);
    nocap_json_map_end(g);
}

static void put_profile(struct nocap_json *g, const struct nocap_profile *p)
{
    nocap_json_map(g, NULL);
    nocap_json_text(g, "name", p->name);
    nocap_json_text(g, "source", p->source);
    put_mailbox(g, p);
    nocap_json_map(g, "queue");
    put_numbers(g, p, "queue");
    nocap_json_map_end(g);
    put_commands(g, &p->commands);
    nocap_json_map_end(g);
}

enum nocap_status nocap_profile_print(FILE *out, const struct nocap_profile *profile,
                                      struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open_indented(&json, out, err));
    put_profile(&json, profile);
    return nocap_json_close(&json, err);
}

enum nocap_status nocap_profile_text(char **text, const struct nocap_profile *profile,
                                     struct nocap_error *err)
{
    struct nocap_json json;
    size_t size;
    FILE *out = open_memstream(text, &size);
    RETURN_ERROR_IF(out == NULL, err, NOCAP_E_MEMORY, "out of memory for a profile");
    enum nocap_status status = nocap_json_open(&json, out, err);
    if (status == NOCAP_OK) {
        put_profile(&json, profile);
        status = nocap_json_close(&json, err);
    }
    if (fclose(out) != 0 && status == NOCAP_OK) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory for a profile");
    }
    if (status != NOCAP_OK) {
        free(*text);
        *text = NULL;
        return status;
    }
    (*text)[size - 1] = '\0'; /* the end of the line */
    return NOCAP_OK;
}

/* ---- value by value ---- */

static void number_value(const struct nocap_profile *p, const struct profile_number *n,
                         struct nocap_profile_value *v)
{
    snprintf(v->path, sizeof v->path, "%s.%s", n->group, n->name);
    number_text(v->value, sizeof v->value, n, profile_number_get(p, n));
}

static void field_value(const struct nocap_profile *p, unsigned f, struct nocap_profile_value *v)
{
    snprintf(v->path, sizeof v->path, "mailbox.%s", nocap_launch_field_name(f));
    strcpy(v->value, "none");
    if (p->mailbox.fields[f].count != 0) {
        place_text(v->value, &p->mailbox.fields[f]);
    }
}

static void form_value(const struct nocap_command_set *set, unsigned side, unsigned id,
                       struct nocap_profile_value *v)
{
    const struct nocap_cq_form *form = &set->forms[side][id];
    size_t at = 0;
    snprintf(v->path, sizeof v->path, "%s.%s", profile_sides[side],
             nocap_cq_name((enum nocap_cq_side)side, id));
    strcpy(v->value, "none");
    if (form->header == 0) {
        return;
    }
    if (side != NOCAP_CQ_SUB) {
        at += (size_t)snprintf(v->value, sizeof v->value, "id %u, ", form->wire);
    }
    at += (size_t)snprintf(v->value + at, sizeof v->value - at, "%u bytes%s", form->header,
                           set->unhandled[side][id] ? ", not handled" : "");
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0; i++) {
        const struct nocap_cq_field *f = &form->fields[i];
        at += (size_t)snprintf(v->value + at, sizeof v->value - at, "%s%s %u:%u",
                               i == 0 ? ": " : ", ", nocap_cq_member_name(f->member), f->offset,
                               f->width);
    }
}

static void flag_value(const struct nocap_command_set *set, unsigned i,
                       struct nocap_profile_value *v)
{
    const struct nocap_cq_flag_info *f = &nocap_cq_flags[i];
    snprintf(v->path, sizeof v->path, "flags.%s.%s",
             nocap_cq_name((enum nocap_cq_side)f->side, f->id), f->name);
    snprintf(v->value, sizeof v->value, set->flags[i] != 0 ? "0x%x" : "none", set->flags[i]);
}

bool nocap_profile_value(const struct nocap_profile *p, size_t i, struct nocap_profile_value *v)
{
    if (i < profile_number_count) {
        number_value(p, &profile_numbers[i], v);
        return true;
    }
    i -= profile_number_count;
    if (i < NOCAP_LAUNCH_FIELDS) {
        field_value(p, (unsigned)i, v);
        return true;
    }
    i -= NOCAP_LAUNCH_FIELDS;
    for (unsigned side = 0; side <= NOCAP_CQ_SUB; side++) {
        for (unsigned id = 0; id < NOCAP_CQ_IDS; id++) {
            if (nocap_cq_name((enum nocap_cq_side)side, id) != NULL && i-- == 0) {
                form_value(&p->commands, side, id, v);
                return true;
            }
        }
    }
    if (i >= NOCAP_CQ_FLAGS) {
        return false;
    }
    flag_value(&p->commands, (unsigned)i, v);
    return true;
}
