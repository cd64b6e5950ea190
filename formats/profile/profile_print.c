/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as JSON, and value by value. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "base/foreign_text.h"
#include "formats/profile/profile_private.h"

void profile_number_text(char *text, size_t size, const struct profile_number *n, uint64_t v)
{
    snprintf(text, size, n->hex ? "0x%" PRIx64 : "%" PRIu64, v);
}

void profile_place_text(char text[PROFILE_PLACE_SIZE], const struct nocap_launch_place *p)
{
    int n = snprintf(text, PROFILE_PLACE_SIZE, "0x%x:%u", p->offset, p->width);
    if (p->count > 1) {
        snprintf(text + n, (size_t)(PROFILE_PLACE_SIZE - n), "*%u/%u", p->count, p->stride);
    }
}

/* ---- JSON ---- */

static void put(yajl_gen g, const char *text)
{
    yajl_gen_string(g, (const unsigned char *)text, strlen(text));
}

static void put_pair(yajl_gen g, const char *key, const char *text)
{
    put(g, key);
    put(g, text);
}

static void open_map(yajl_gen g, const char *key)
{
    put(g, key);
    yajl_gen_map_open(g);
}

static void put_numbers(yajl_gen g, const struct nocap_profile *p, const char *group)
{
    for (size_t i = 0; i < profile_number_count; i++) {
        const struct profile_number *n = &profile_numbers[i];
        char text[24];
        if (strcmp(n->group, group) != 0) {
            continue;
        }
        uint64_t v = profile_number_get(p, n);
        put(g, n->name);
        if (n->hex) {
            profile_number_text(text, sizeof text, n, v);
            put(g, text);
        } else {
            yajl_gen_integer(g, (long long)v);
        }
    }
}

static void put_mailbox(yajl_gen g, const struct nocap_profile *p)
{
    open_map(g, "mailbox");
    put_pair(g, "name", p->mailbox.name);
    put_numbers(g, p, "mailbox");
    open_map(g, "fields");
    for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
        char text[PROFILE_PLACE_SIZE];
        put(g, nocap_launch_field_name(f));
        if (p->mailbox.fields[f].count == 0) {
            yajl_gen_null(g);
        } else {
            profile_place_text(text, &p->mailbox.fields[f]);
            put(g, text);
        }
    }
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

static void put_form(yajl_gen g, const struct nocap_command_set *set, unsigned side, unsigned id)
{
    const struct nocap_cq_form *form = &set->forms[side][id];
    put(g, nocap_cq_name((enum nocap_cq_side)side, id));
    if (form->header == 0) {
        yajl_gen_null(g);
        return;
    }
    yajl_gen_map_open(g);
    if (side != NOCAP_CQ_SUB) {
        put(g, "id");
        yajl_gen_integer(g, form->wire);
    }
    put(g, "header");
    yajl_gen_integer(g, form->header);
    if (set->unhandled[side][id] || nocap_command_set_default.unhandled[side][id]) {
        put(g, "handled");
        yajl_gen_bool(g, !set->unhandled[side][id]);
    }
    open_map(g, "fields");
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0; i++) {
        const struct nocap_cq_field *f = &form->fields[i];
        char text[16];
        snprintf(text, sizeof text, "%u:%u", f->offset, f->width);
        put_pair(g, nocap_cq_member_name(f->member), text);
    }
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

static void put_flags(yajl_gen g, const struct nocap_command_set *set)
{
    open_map(g, "flags");
    for (unsigned i = 0; i < NOCAP_CQ_FLAGS; i++) {
        const struct nocap_cq_flag_info *f = &nocap_cq_flags[i];
        bool first = i == 0 || f[-1].side != f->side || f[-1].id != f->id;
        bool last = i + 1 == NOCAP_CQ_FLAGS || f[1].side != f->side || f[1].id != f->id;
        char text[8];
        if (first) {
            open_map(g, nocap_cq_name((enum nocap_cq_side)f->side, f->id));
        }
        put(g, f->name);
        if (set->flags[i] == 0) {
            yajl_gen_null(g);
        } else {
            snprintf(text, sizeof text, "0x%x", set->flags[i]);
            put(g, text);
        }
        if (last) {
            yajl_gen_map_close(g);
        }
    }
    yajl_gen_map_close(g);
}

static void put_commands(yajl_gen g, const struct nocap_command_set *set)
{
    open_map(g, "commands");
    for (unsigned side = 0; side <= NOCAP_CQ_SUB; side++) {
        open_map(g, profile_sides[side]);
        for (unsigned id = 0; id < NOCAP_CQ_IDS; id++) {
            if (nocap_cq_name((enum nocap_cq_side)side, id) != NULL) {
                put_form(g, set, side, id);
            }
        }
        yajl_gen_map_close(g);
    }
    put_flags(g, set);
    yajl_gen_map_close(g);
}

static void put_profile(yajl_gen g, const struct nocap_profile *p)
{
    yajl_gen_map_open(g);
    put_pair(g, "name", p->name);
    put_pair(g, "source", p->source);
    put_mailbox(g, p);
    open_map(g, "queue");
    put_numbers(g, p, "queue");
    yajl_gen_map_close(g);
    put_commands(g, &p->commands);
    yajl_gen_map_close(g);
}

/* Hands the text over to `take`. */
static enum nocap_status with_text(const struct nocap_profile *profile, bool indented,
                                   enum nocap_status (*take)(void *context, const char *text,
                                                             size_t size, struct nocap_error *err),
                                   void *context, struct nocap_error *err)
{
    const unsigned char *text;
    size_t size;
    yajl_gen g = yajl_gen_alloc(NULL);
    RETURN_ERROR_IF(g == NULL, err, NOCAP_E_MEMORY, "out of memory for a profile");
    yajl_gen_config(g, yajl_gen_beautify, indented);
    yajl_gen_config(g, yajl_gen_indent_string, "  ");
    put_profile(g, profile);
    enum nocap_status status =
        yajl_gen_get_buf(g, &text, &size) == yajl_gen_status_ok
            ? take(context, (const char *)text, size, err)
            : nocap_fail(err, NOCAP_E_INTERNAL, "a profile could not be printed");
    yajl_gen_free(g);
    return status;
}

static enum nocap_status to_stream(void *out, const char *text, size_t size,
                                   struct nocap_error *err)
{
    (void)err;
    foreign_json(out, text, size); /* the stream remembers a failure */
    return NOCAP_OK;
}

enum nocap_status nocap_profile_print(FILE *out, const struct nocap_profile *profile, bool indented,
                                      struct nocap_error *err)
{
    return with_text(profile, indented, to_stream, out, err);
}

static enum nocap_status to_copy(void *to, const char *text, size_t size, struct nocap_error *err)
{
    char *copy = strndup(text, size);
    RETURN_ERROR_IF(copy == NULL, err, NOCAP_E_MEMORY, "out of memory for a profile");
    *(char **)to = copy;
    return NOCAP_OK;
}

enum nocap_status nocap_profile_text(char **text, const struct nocap_profile *profile,
                                     struct nocap_error *err)
{
    return with_text(profile, false, to_copy, text, err);
}

/* ---- value by value ---- */

static void number_value(const struct nocap_profile *p, const struct profile_number *n,
                         struct nocap_profile_value *v)
{
    snprintf(v->path, sizeof v->path, "%s.%s", n->group, n->name);
    profile_number_text(v->value, sizeof v->value, n, profile_number_get(p, n));
}

static void field_value(const struct nocap_profile *p, unsigned f, struct nocap_profile_value *v)
{
    snprintf(v->path, sizeof v->path, "mailbox.%s", nocap_launch_field_name(f));
    strcpy(v->value, "none");
    if (p->mailbox.fields[f].count != 0) {
        profile_place_text(v->value, &p->mailbox.fields[f]);
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
