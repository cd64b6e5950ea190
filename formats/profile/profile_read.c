/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles from untrusted JSON: every number is bounded before it is used. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_node.h"
#include "base/regular_file.h"
#include "formats/profile/profile_private.h"

enum { FILE_MAX = 1 << 20 };

/* What is being read, for messages: "queue", "dispatch.WAIT". */
static enum nocap_status wrong(struct nocap_error *err, const char *where, const char *key,
                               const char *what)
{
    return nocap_fail(err, NOCAP_E_INPUT, "the profile's %.40s.%.40s %s", where, key, what);
}

static bool number(const struct json_node *v, uint64_t *n)
{
    if (!json_is(v, JSON_NUMBER) && !json_is(v, JSON_STRING)) {
        return false;
    }
    const struct json_value value = {.text = v->text, .size = v->count, .type = v->type};
    return json_number(&value, n) == JSON_NUMBER_OK;
}

static enum nocap_status copy_text(char *to, size_t size, const struct json_node *v,
                                   const char *key, struct nocap_error *err)
{
    const char *text = json_string(v);
    RETURN_ERROR_IF(text == NULL || strlen(text) >= size, err, NOCAP_E_INPUT,
                    "the profile's %.40s is no text of at most %zu characters", key, size - 1);
    strcpy(to, text);
    return NOCAP_OK;
}

/* A number of digits, decimal or 0x, up to `most`, in front of `*text`, which moves after it. */
static bool digits(const char **text, unsigned long most, uint8_t *n)
{
    char *end = NULL;
    if (**text < '0' || **text > '9') {
        return false;
    }
    unsigned long v = strtoul(*text, &end, 0);
    *n = (uint8_t)v;
    *text = end;
    return v <= most;
}

static bool expect(const char **text, char c)
{
    return *(*text)++ == c;
}

static bool place_read(struct nocap_launch_place *place, const char *text)
{
    *place = (struct nocap_launch_place){.count = 1};
    if (!digits(&text, UINT8_MAX, &place->offset) || !expect(&text, ':') ||
        !digits(&text, 8, &place->width) || place->width == 0) {
        return false;
    }
    place->stride = place->width;
    if (*text == '\0') {
        return true;
    }
    return expect(&text, '*') && digits(&text, 64, &place->count) && place->count != 0 &&
           expect(&text, '/') && digits(&text, UINT8_MAX, &place->stride) && *text == '\0' &&
           place->stride >= place->width;
}

/* ---- numbers and the mailbox ---- */

static enum nocap_status read_number(struct nocap_profile *p, const char *group, const char *key,
                                     const struct json_node *v, struct nocap_error *err)
{
    for (size_t i = 0; i < profile_number_count; i++) {
        const struct profile_number *n = &profile_numbers[i];
        uint64_t value;
        if (strcmp(n->group, group) == 0 && strcmp(n->name, key) == 0) {
            if (!number(v, &value)) {
                return wrong(err, group, key, "is no whole number");
            }
            if (value > n->most) {
                return wrong(err, group, key, "is out of range");
            }
            profile_number_set(p, n, value);
            return NOCAP_OK;
        }
    }
    return wrong(err, group, key, "is not known: nocap profile show has the names");
}

static enum nocap_status read_fields(struct nocap_mailbox_layout *l, const struct json_node *map,
                                     struct nocap_error *err)
{
    RETURN_ERROR_IF(!json_is(map, JSON_OBJECT), err, NOCAP_E_INPUT,
                    "the profile's mailbox.fields is no object");
    for (size_t i = 0; i < map->count; i++) {
        const char *key = map->items[i].key, *text = json_string(&map->items[i]);
        unsigned f = 0;
        while (f < NOCAP_LAUNCH_FIELDS && strcmp(nocap_launch_field_name(f), key) != 0) {
            f++;
        }
        if (f == NOCAP_LAUNCH_FIELDS) {
            return wrong(err, "mailbox.fields", key, "is no field of a launch message");
        }
        struct nocap_launch_place place = {0};
        if (!json_is(&map->items[i], JSON_NULL) && (text == NULL || !place_read(&place, text))) {
            return wrong(err, "mailbox.fields", key,
                         "is no place, as \"0x4C:4\" or \"0x16:2*5/4\", and not null");
        }
        l->fields[f] = place;
    }
    return NOCAP_OK;
}

static enum nocap_status read_mailbox(struct nocap_profile *p, const struct json_node *v,
                                      struct nocap_error *err)
{
    if (json_is(v, JSON_STRING)) {
        const struct nocap_mailbox_layout *l = nocap_layout_find(json_string(v));
        RETURN_ERROR_IF(l == NULL, err, NOCAP_E_INPUT,
                        "the profile's mailbox '%.40s' is no layout that is known", json_string(v));
        p->mailbox = *l;
        return NOCAP_OK;
    }
    RETURN_ERROR_IF(!json_is(v, JSON_OBJECT), err, NOCAP_E_INPUT,
                    "the profile's mailbox is neither an object nor the name of a layout");
    for (size_t i = 0; i < v->count; i++) {
        const char *key = v->items[i].key;
        const struct json_node *item = &v->items[i];
        if (strcmp(key, "name") == 0) {
            RETURN_IF_FAILED(
                copy_text(p->mailbox.name, sizeof p->mailbox.name, item, "mailbox.name", err));
        } else if (strcmp(key, "fields") == 0) {
            RETURN_IF_FAILED(read_fields(&p->mailbox, item, err));
        } else {
            RETURN_IF_FAILED(read_number(p, "mailbox", key, item, err));
        }
    }
    return NOCAP_OK;
}

static enum nocap_status read_queue(struct nocap_profile *p, const struct json_node *v,
                                    struct nocap_error *err)
{
    RETURN_ERROR_IF(!json_is(v, JSON_OBJECT), err, NOCAP_E_INPUT,
                    "the profile's queue is no object");
    for (size_t i = 0; i < v->count; i++) {
        RETURN_IF_FAILED(read_number(p, "queue", v->items[i].key, &v->items[i], err));
    }
    return NOCAP_OK;
}

/* ---- commands ---- */

static enum nocap_status read_form_fields(struct nocap_cq_form *form, const char *name,
                                          const struct json_node *map, struct nocap_error *err)
{
    if (!json_is(map, JSON_OBJECT) || map->count > NOCAP_CQ_FORM_FIELDS) {
        return wrong(err, name, "fields", "is no object of at most 8 fields");
    }
    memset(form->fields, 0, sizeof form->fields);
    for (size_t i = 0; i < map->count; i++) {
        const char *text = json_string(&map->items[i]);
        int member = nocap_cq_member_from_name(map->items[i].key);
        struct nocap_launch_place place;
        if (member < 0) {
            return wrong(err, name, map->items[i].key, "is no member of a command");
        }
        if (text == NULL || !place_read(&place, text) || place.count != 1) {
            return wrong(err, name, map->items[i].key, "is no place: offset and bytes, as \"4:4\"");
        }
        form->fields[i] = (struct nocap_cq_field){(uint8_t)member, place.offset, place.width};
    }
    return NOCAP_OK;
}

static enum nocap_status read_form(struct nocap_command_set *set, unsigned side, const char *name,
                                   const struct json_node *v, struct nocap_error *err)
{
    int id = nocap_cq_from_name((enum nocap_cq_side)side, name);
    if (id < 0) {
        return wrong(err, profile_sides[side], name, "is no command that nocap knows");
    }
    struct nocap_cq_form *form = &set->forms[side][id];
    if (json_is(v, JSON_NULL)) {
        *form = (struct nocap_cq_form){0};
        set->unhandled[side][id] = false;
        return NOCAP_OK;
    }
    if (!json_is(v, JSON_OBJECT)) {
        return wrong(err, profile_sides[side], name, "is neither an object nor null");
    }
    form->header = form->header != 0 ? form->header : NOCAP_CQ_HEADER;
    for (size_t i = 0; i < v->count; i++) {
        const char *key = v->items[i].key;
        const struct json_node *item = &v->items[i];
        uint64_t n;
        if (strcmp(key, "fields") == 0) {
            RETURN_IF_FAILED(read_form_fields(form, name, item, err));
        } else if (strcmp(key, "handled") == 0) {
            set->unhandled[side][id] = json_is(item, JSON_FALSE);
        } else if (strcmp(key, "id") == 0 && number(item, &n) && n <= UINT8_MAX) {
            form->wire = (uint8_t)n;
        } else if (strcmp(key, "header") == 0 && number(item, &n) && n != 0 &&
                   n <= NOCAP_CQ_HEADER_MAX) {
            form->header = (uint8_t)n;
        } else {
            return wrong(err, name, key, "is not known or out of range");
        }
    }
    return NOCAP_OK;
}

static enum nocap_status read_flags(struct nocap_command_set *set, const struct json_node *map,
                                    struct nocap_error *err)
{
    for (size_t i = 0; json_is(map, JSON_OBJECT) && i < map->count; i++) {
        const char *command = map->items[i].key;
        const struct json_node *bits = &map->items[i];
        for (size_t k = 0; json_is(bits, JSON_OBJECT) && k < bits->count; k++) {
            const struct json_node *item = &bits->items[k];
            uint64_t n = 0;
            unsigned f = 0;
            while (f < NOCAP_CQ_FLAGS &&
                   (strcmp(nocap_cq_flags[f].name, bits->items[k].key) != 0 ||
                    strcmp(nocap_cq_name((enum nocap_cq_side)nocap_cq_flags[f].side,
                                         nocap_cq_flags[f].id),
                           command) != 0)) {
                f++;
            }
            if (f == NOCAP_CQ_FLAGS) {
                return wrong(err, command, bits->items[k].key, "is no flag that nocap knows");
            }
            if (!json_is(item, JSON_NULL) &&
                (!number(item, &n) || n == 0 || n > 0x80 || (n & (n - 1)))) {
                return wrong(err, command, bits->items[k].key, "is no bit of a byte, not null");
            }
            set->flags[f] = (uint8_t)n;
        }
    }
    return NOCAP_OK;
}

static enum nocap_status read_commands(struct nocap_command_set *set, const struct json_node *v,
                                       struct nocap_error *err)
{
    RETURN_ERROR_IF(!json_is(v, JSON_OBJECT), err, NOCAP_E_INPUT,
                    "the profile's commands is no object");
    for (size_t i = 0; i < v->count; i++) {
        const char *key = v->items[i].key;
        const struct json_node *map = &v->items[i];
        unsigned side = 0;
        while (side <= NOCAP_CQ_SUB && strcmp(profile_sides[side], key) != 0) {
            side++;
        }
        if (strcmp(key, "flags") == 0) {
            RETURN_IF_FAILED(read_flags(set, map, err));
            continue;
        }
        if (side > NOCAP_CQ_SUB || !json_is(map, JSON_OBJECT)) {
            return wrong(err, "commands", key, "is none of prefetch, dispatch, sub, flags");
        }
        for (size_t k = 0; k < map->count; k++) {
            RETURN_IF_FAILED(read_form(set, side, map->items[k].key, &map->items[k], err));
        }
    }
    return NOCAP_OK;
}

/* ---- the whole ---- */

static enum nocap_status read_members(struct nocap_profile *p, const struct json_node *v,
                                      struct nocap_error *err)
{
    for (size_t i = 0; i < v->count; i++) {
        const char *key = v->items[i].key;
        const struct json_node *item = &v->items[i];
        if (strcmp(key, "name") == 0) {
            RETURN_IF_FAILED(copy_text(p->name, sizeof p->name, item, key, err));
        } else if (strcmp(key, "source") == 0) {
            RETURN_IF_FAILED(copy_text(p->source, sizeof p->source, item, key, err));
        } else if (strcmp(key, "mailbox") == 0) {
            RETURN_IF_FAILED(read_mailbox(p, item, err));
        } else if (strcmp(key, "queue") == 0) {
            RETURN_IF_FAILED(read_queue(p, item, err));
        } else if (strcmp(key, "commands") == 0) {
            RETURN_IF_FAILED(read_commands(&p->commands, item, err));
        } else if (strcmp(key, "base") != 0) {
            return nocap_fail(err, NOCAP_E_INPUT, "the profile's '%.40s' is not known", key);
        }
    }
    return NOCAP_OK;
}

static enum nocap_status read_object(struct nocap_profile *p, const struct json_node *v,
                                     struct nocap_error *err)
{
    const struct json_node *base = json_member(v, "base");
    if (base == NULL) {
        *p = *nocap_profile_default();
        strcpy(p->name, "unnamed");
        p->source[0] = '\0';
    } else {
        RETURN_ERROR_IF(!json_is(base, JSON_STRING), err, NOCAP_E_INPUT,
                        "the profile's base is not the name of a profile");
        RETURN_IF_FAILED(nocap_profile_find(p, json_string(base), err));
    }
    const struct nocap_queue before = p->queue;
    RETURN_IF_FAILED(read_members(p, v, err));
    const uint32_t queues = p->queue.queues;
    p->queue.queues = before.queues;
    bool sized = p->queue.sysmem_size != before.sysmem_size ||
                 p->queue.issue_size != before.issue_size ||
                 p->queue.completion != before.completion ||
                 p->queue.completion_size != before.completion_size;
    if (queues != before.queues && !sized) {
        RETURN_ERROR_IF(!nocap_queue_split(&p->queue, queues), err, NOCAP_E_INPUT,
                        "the profile's queue.queues: this runtime has %u at most",
                        p->queue.queues_most);
    }
    p->queue.queues = queues;
    return profile_complete(p, err);
}

enum nocap_status nocap_profile_read(struct nocap_profile *profile, const char *json,
                                     struct nocap_error *err)
{
    struct json_node *tree;
    RETURN_IF_FAILED(json_tree(&tree, json, "the profile", err));
    enum nocap_status status = NOCAP_OK;
    if (json_is(tree, JSON_STRING)) {
        status = nocap_profile_find(profile, json_string(tree), err);
    } else if (json_is(tree, JSON_OBJECT)) {
        status = read_object(profile, tree, err);
    } else {
        status = nocap_fail(err, NOCAP_E_INPUT, "the profile is neither a name nor an object");
    }
    json_tree_free(tree);
    return status;
}

enum nocap_status nocap_profile_load(struct nocap_profile *profile, const char *name,
                                     struct nocap_error *err)
{
    for (size_t i = 0; nocap_profile_name(i) != NULL; i++) {
        if (strcmp(nocap_profile_name(i), name) == 0) {
            return nocap_profile_find(profile, name, err);
        }
    }
    if (strpbrk(name, "./") == NULL && access(name, F_OK) != 0) {
        return nocap_profile_find(profile, name, err); /* says which there are */
    }
    uint8_t *bytes;
    size_t size;
    RETURN_IF_FAILED(regular_file_load(name, FILE_MAX, &bytes, &size, err));
    enum nocap_status status = nocap_profile_read(profile, (const char *)bytes, err);
    free(bytes);
    return status == NOCAP_OK ? status : nocap_fail_context(err, status, "%s", name);
}

/* ---- whether it makes sense ---- */

static enum nocap_status check_fields(const struct nocap_mailbox_layout *l, struct nocap_error *err)
{
    for (unsigned f = 0; f < NOCAP_LAUNCH_FIELDS; f++) {
        const struct nocap_launch_place *at = &l->fields[f];
        if (at->count == 0) {
            continue;
        }
        unsigned end = at->offset + (at->count - 1u) * at->stride + at->width;
        if (end > l->launch_size) {
            return wrong(err, "mailbox", nocap_launch_field_name(f),
                         "lies outside of the launch message");
        }
        if (at->count > nocap_launch_field_elements(f) || at->width > nocap_launch_field_width(f)) {
            return wrong(err, "mailbox", nocap_launch_field_name(f),
                         "is wider than nocap can hold");
        }
    }
    return NOCAP_OK;
}

static enum nocap_status check_mailbox(const struct nocap_mailbox_layout *l,
                                       struct nocap_error *err)
{
    uint32_t ring = l->launch_base + l->launch_slots * l->launch_size;
    uint32_t words = l->go_messages + l->go_words * NOCAP_GO_WORD_SIZE;
    RETURN_ERROR_IF(l->launch_size == 0 || l->launch_slots == 0 || l->go_words == 0, err,
                    NOCAP_E_INPUT, "the profile's mailbox has no launch message or no go message");
    RETURN_ERROR_IF(ring > PROFILE_MAILBOX_END || words > PROFILE_MAILBOX_END ||
                        l->go_message_index + 4 > PROFILE_MAILBOX_END ||
                        l->timestamp + 8 > PROFILE_MAILBOX_END ||
                        l->sync + NOCAP_SYNC_BYTES > PROFILE_MAILBOX_END ||
                        l->rd_ptr + 4 > PROFILE_MAILBOX_END,
                    err, NOCAP_E_INPUT,
                    "the profile's mailbox reaches past 0x%x, where no "
                    "firmware has one",
                    PROFILE_MAILBOX_END);
    return check_fields(l, err);
}

static bool is_power_of_two(uint32_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

enum { COMPLETION_PAGES_MAX = 1 << 16 };

/* A ring that is not empty ends before 4 GiB. */
static bool fits(uint32_t base, uint64_t size)
{
    return size <= UINT32_MAX && base + size <= UINT32_MAX;
}

static enum nocap_status check_queue(const struct nocap_queue *q, struct nocap_error *err)
{
    RETURN_ERROR_IF(q->entry_bytes != 2 && q->entry_bytes != 4, err, NOCAP_E_INPUT,
                    "the profile's queue.entry_bytes is neither 2 nor 4");
    RETURN_ERROR_IF(!is_power_of_two(q->entry_unit) || !is_power_of_two(q->page) ||
                        !is_power_of_two(q->record_align) || !is_power_of_two(q->l1_align) ||
                        !is_power_of_two(q->pointer_unit) || !is_power_of_two(q->entry_stall) ||
                        !is_power_of_two(q->subordinate_page) ||
                        !is_power_of_two(q->timestamp_stride) || !is_power_of_two(q->toggle),
                    err, NOCAP_E_INPUT,
                    "one of the profile's queue.entry_unit, entry_stall, page, subordinate_page, "
                    "record_align, l1_align, pointer_unit, timestamp_stride and toggle is no power "
                    "of two");
    RETURN_ERROR_IF(q->queue_slots == 0 || q->queue_slots > 65536 || q->buffer_pages == 0 ||
                        q->buffer_pages > 65536 || q->block_pages == 0 ||
                        q->buffer_pages % q->block_pages != 0 || q->page < q->pointer_unit,
                    err, NOCAP_E_INPUT,
                    "the profile's queue has no prefetch_q entries, no pages, or blocks that do "
                    "not fill its dispatch buffer");
    RETURN_ERROR_IF(
        !fits(q->queue, (uint64_t)q->queue_slots * q->entry_bytes) ||
            !fits(q->cmddat, q->cmddat_size) ||
            !fits(q->buffer, (uint64_t)q->buffer_pages * q->page) ||
            !fits(q->issue, q->issue_size) || !fits(q->completion, q->completion_size) ||
            !fits(q->timestamps, (uint64_t)q->timestamp_slots * q->timestamp_stride) ||
            q->completion_size / q->page > COMPLETION_PAGES_MAX ||
            q->timestamp_slots > COMPLETION_PAGES_MAX || q->completion_size < q->page ||
            q->burst == 0 || q->streams > 8 || q->count_bits - 1 > 31 || q->count_shift > 31,
        err, NOCAP_E_INPUT,
        "a ring of the profile's queue has no room or too much of it, or its streams "
        "are more than 8, or their counts wider than 32 bits");
    return NOCAP_OK;
}

enum nocap_status profile_complete(struct nocap_profile *p, struct nocap_error *err)
{
    char why[160];
    RETURN_IF_FAILED(check_mailbox(&p->mailbox, err));
    RETURN_IF_FAILED(check_queue(&p->queue, err));
    RETURN_ERROR_IF(!nocap_command_set_index(&p->commands, why, sizeof why), err, NOCAP_E_INPUT,
                    "the profile's commands: %s", why);
    return NOCAP_OK;
}
