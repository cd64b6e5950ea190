/* SPDX-License-Identifier: Apache-2.0 */
/* The header object of a trace in JSON Lines. */
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "formats/trace/jsonl_private.h"

static enum nocap_status out_of_memory(struct nocap_error *err)
{
    return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the trace header");
}

/* Fails with "<key> <what is wrong>". */
static enum nocap_status wrong(struct nocap_error *err, const char *key, const char *what)
{
    return nocap_fail(err, NOCAP_E_INPUT, "\"%s\" %s", key, what);
}

static enum nocap_status get_text(const struct json_value *value, const char *key, char **text,
                                  struct nocap_error *err)
{
    if (value->type != JSON_STRING) {
        return wrong(err, key, "is no string");
    }
    char *copy = malloc(value->size + 1);
    if (copy == NULL) {
        return out_of_memory(err);
    }
    size_t size = json_unescape(value, copy);
    copy[size] = '\0';
    if (memchr(copy, '\0', size) != NULL) {
        free(copy);
        return wrong(err, key, "holds the character NUL");
    }
    *text = copy;
    return NOCAP_OK;
}

static enum nocap_status get_number(const struct json_value *value, const char *key,
                                    uint64_t *number, struct nocap_error *err)
{
    switch (json_number(value, number)) {
    case JSON_NUMBER_OK: return NOCAP_OK;
    case JSON_NUMBER_RANGE: return wrong(err, key, "is out of range");
    case JSON_NUMBER_TYPE: break;
    }
    return wrong(err, key, "is no whole number");
}

static enum nocap_status get_bool(const struct json_value *value, const char *key,
                                  enum nocap_tristate *tristate, struct nocap_error *err)
{
    if (value->type != JSON_TRUE && value->type != JSON_FALSE) {
        return wrong(err, key, "is neither true nor false");
    }
    *tristate = value->type == JSON_TRUE ? NOCAP_TRUE : NOCAP_FALSE;
    return NOCAP_OK;
}

static enum nocap_status get_xy(const struct json_value *value, const char *key,
                                struct nocap_xy *xy, struct nocap_error *err)
{
    struct json_cursor cursor;
    struct json_value item;
    uint64_t number[2];
    unsigned got = 0;
    if (value->type != JSON_LIST) {
        return wrong(err, key, "is no list [x,y]");
    }
    (void)json_open(&cursor, value->text, value->size, '[');
    while (json_next_item(&cursor, &item) == JSON_ITEM) {
        if (got == 2 || json_number(&item, &number[got]) != JSON_NUMBER_OK ||
            number[got] > UINT8_MAX) {
            return wrong(err, key, "is no list [x,y] of coordinates");
        }
        got++;
    }
    if (got != 2) {
        return wrong(err, key, "is no list [x,y]");
    }
    *xy = (struct nocap_xy){.x = (uint8_t)number[0], .y = (uint8_t)number[1]};
    return NOCAP_OK;
}

static enum nocap_status get_profile(const struct json_value *value, const char *key,
                                     struct nocap_header *header, struct nocap_error *err)
{
    size_t size;
    const char *raw = json_raw(value, &size);
    if (value->type != JSON_STRING && value->type != JSON_OBJECT) {
        return wrong(err, key, "is neither the name of a profile nor an object");
    }
    char *json = strndup(raw, size);
    if (json == NULL) {
        return out_of_memory(err);
    }
    enum nocap_status status = nocap_header_set_profile(header, json, err);
    free(json);
    return status;
}

/* A name out of a table: `from_name` gives its number or -1. */
static enum nocap_status get_name(const struct json_value *value, const char *key,
                                  int (*from_name)(const char *), const char *expected, int *number,
                                  struct nocap_error *err)
{
    char *name = NULL;
    RETURN_IF_FAILED(get_text(value, key, &name, err));
    *number = from_name(name);
    enum nocap_status status = NOCAP_OK;
    if (*number < 0) {
        status =
            nocap_fail(err, NOCAP_E_INPUT, "\"%s\" is \"%.40s\", expected %s", key, name, expected);
    }
    free(name);
    return status;
}

static enum nocap_status get_observes(const struct json_value *value, const char *key,
                                      struct nocap_header *header, struct nocap_error *err)
{
    struct json_cursor cursor;
    struct json_value item;
    if (value->type != JSON_LIST) {
        return wrong(err, key, "is no list of event classes");
    }
    header->has_observes = true;
    (void)json_open(&cursor, value->text, value->size, '[');
    while (json_next_item(&cursor, &item) == JSON_ITEM) {
        char *name = NULL;
        if (item.type != JSON_STRING) {
            return wrong(err, key, "is no list of names of event classes");
        }
        RETURN_IF_FAILED(get_text(&item, key, &name, err));
        enum nocap_status status = nocap_header_observe(header, name, err);
        free(name);
        RETURN_IF_FAILED(status);
    }
    return NOCAP_OK;
}

static enum nocap_status get_scope(const struct json_value *value, const char *key,
                                   struct nocap_header *header, struct nocap_error *err)
{
    struct json_cursor cursor;
    struct json_value item;
    if (value->type != JSON_LIST) {
        return wrong(err, key, "is no list of cores [x,y]");
    }
    header->has_scope = true;
    /* A tile takes at least the five characters "[0,0]". */
    header->scope = malloc((value->size / 5 + 1) * sizeof *header->scope);
    if (header->scope == NULL) {
        return out_of_memory(err);
    }
    (void)json_open(&cursor, value->text, value->size, '[');
    while (json_next_item(&cursor, &item) == JSON_ITEM) {
        RETURN_IF_FAILED(get_xy(&item, key, &header->scope[header->scope_count], err));
        header->scope_count++;
    }
    return NOCAP_OK;
}

static enum nocap_status get_firmware(const struct json_value *value, const char *key,
                                      struct nocap_header *header, struct nocap_error *err)
{
    struct json_cursor cursor;
    struct json_member member;
    if (value->type != JSON_OBJECT) {
        return wrong(err, key, "is no map from RISC names to ELF files");
    }
    header->has_firmware = true;
    /* An entry takes at least the six characters "":"",. */
    header->firmware = calloc(value->size / 6 + 1, sizeof *header->firmware);
    if (header->firmware == NULL) {
        return out_of_memory(err);
    }
    (void)json_open(&cursor, value->text, value->size, '{');
    while (json_next_member(&cursor, &member) == JSON_ITEM) {
        struct nocap_firmware *entry = &header->firmware[header->firmware_count++];
        RETURN_IF_FAILED(get_text(&member.key, key, &entry->core, err));
        RETURN_IF_FAILED(get_text(&member.value, key, &entry->path, err));
    }
    return NOCAP_OK;
}

/* An object with known keys; the others are kept. */
struct object {
    const char *const *keys;
    unsigned count; /* 32 at most */
    /* Reads the value of known key number `key`. */
    enum nocap_status (*get)(struct nocap_header *header, unsigned key,
                             const struct json_value *value, struct nocap_error *err);
};

/* The number of a known key, or object->count. */
static unsigned find_key(const struct object *object, const struct json_value *key)
{
    char plain[128];
    unsigned i = object->count;
    if (key->size < sizeof plain) {
        size_t size = json_unescape(key, plain);
        plain[size] = '\0';
        for (i = 0; i < object->count && (strlen(object->keys[i]) != size ||
                                          memcmp(object->keys[i], plain, size) != 0);) {
            i++;
        }
    }
    return i;
}

/* Appends a member to `extra`, which has room. */
static size_t keep(char *extra, size_t used, const struct json_member *member)
{
    size_t size;
    const char *raw = json_raw(&member->key, &size);
    if (used > 0) {
        extra[used++] = ',';
    }
    memcpy(extra + used, raw, size);
    used += size;
    extra[used++] = ':';
    raw = json_raw(&member->value, &size);
    memcpy(extra + used, raw, size);
    return used + size;
}

static enum nocap_status read_object(const struct object *object, const char *text, size_t size,
                                     struct nocap_header *header, char **extra,
                                     struct nocap_error *err)
{
    struct json_cursor cursor;
    struct json_member member;
    uint32_t seen = 0;
    size_t used = 0;
    char *kept = malloc(size + 1); /* members never outgrow the object that they stand in */
    if (kept == NULL) {
        return out_of_memory(err);
    }
    enum nocap_status status = NOCAP_OK;
    (void)json_open(&cursor, text, size, '{');
    while (status == NOCAP_OK && json_next_member(&cursor, &member) == JSON_ITEM) {
        unsigned key = find_key(object, &member.key);
        if (key == object->count) {
            used = keep(kept, used, &member);
        } else if (seen >> key & 1) {
            status = wrong(err, object->keys[key], "appears twice");
        } else {
            seen |= UINT32_C(1) << key;
            status = object->get(header, key, &member.value, err);
        }
    }
    kept[used] = '\0';
    if (status == NOCAP_OK && used > 0) {
        *extra = kept;
        kept = NULL;
    }
    free(kept);
    return status;
}

#define X(name, text) text,
const char *const jsonl_cq_keys[JSONL_CQ_COUNT] = {JSONL_CQ_KEYS(X)};
const char *const jsonl_header_keys[JSONL_H_COUNT] = {JSONL_HEADER_KEYS(X)};
#undef X

static enum nocap_status get_cq_key(struct nocap_header *header, unsigned key,
                                    const struct json_value *value, struct nocap_error *err)
{
    struct nocap_cq_place *cq = &header->cq;
    const char *name = key < JSONL_CQ_COUNT ? jsonl_cq_keys[key] : "?";
    switch ((enum jsonl_cq_key)key) {
    case JSONL_CQ_PREFETCH: cq->has_prefetch = true; return get_xy(value, name, &cq->prefetch, err);
    case JSONL_CQ_DISPATCH: cq->has_dispatch = true; return get_xy(value, name, &cq->dispatch, err);
    case JSONL_CQ_SYSMEM: cq->has_sysmem = true; return get_number(value, name, &cq->sysmem, err);
    case JSONL_CQ_KERNEL_CONFIG:
        cq->has_kernel_config = true;
        return get_number(value, name, &cq->kernel_config, err);
    case JSONL_CQ_COUNT: break;
    }
    return nocap_fail(err, NOCAP_E_INTERNAL, "no such key of cq");
}

static enum nocap_status get_cq(const struct json_value *value, const char *key,
                                struct nocap_header *header, struct nocap_error *err)
{
    static const struct object object = {jsonl_cq_keys, JSONL_CQ_COUNT, get_cq_key};
    if (value->type != JSON_OBJECT) {
        return wrong(err, key, "is no object");
    }
    header->cq.present = true;
    return read_object(&object, value->text, value->size, header, &header->cq.extra, err);
}

static enum nocap_status get_clock(const struct json_value *value, const char *key,
                                   uint64_t *clock_hz, struct nocap_error *err)
{
    RETURN_IF_FAILED(get_number(value, key, clock_hz, err));
    return *clock_hz > 0 ? NOCAP_OK : wrong(err, key, "is 0; leave it out if it is unknown");
}

/* Keys whose value is one of a few names. */
static enum nocap_status get_choice(struct nocap_header *header, enum jsonl_header_key key,
                                    const struct json_value *value, struct nocap_error *err)
{
    const char *name = jsonl_header_keys[key];
    int number = 0;
    if (key == JSONL_H_ARCH) {
        RETURN_IF_FAILED(get_name(value, name, nocap_arch_from_name,
                                  "blackhole, wormhole or aie2ps", &number, err));
        header->arch = (enum nocap_arch)number;
    } else if (key == JSONL_H_BOARD) {
        RETURN_IF_FAILED(get_name(value, name, nocap_board_from_name, "p100, p150 or no such key",
                                  &number, err));
        header->board = (enum nocap_board)number;
    } else {
        RETURN_IF_FAILED(
            get_name(value, name, nocap_time_unit_from_name, "cycles or ns", &number, err));
        header->time_unit = (enum nocap_time_unit)number;
        header->has_time_unit = true;
    }
    return NOCAP_OK;
}

static enum nocap_status get_header_key(struct nocap_header *header, unsigned key,
                                        const struct json_value *value, struct nocap_error *err)
{
    const char *name = key < JSONL_H_COUNT ? jsonl_header_keys[key] : "?";
    switch ((enum jsonl_header_key)key) {
    case JSONL_H_NOCAP: return NOCAP_OK; /* looked at before all others */
    case JSONL_H_ARCH:
    case JSONL_H_BOARD:
    case JSONL_H_TIME_UNIT: return get_choice(header, (enum jsonl_header_key)key, value, err);
    case JSONL_H_LAYOUT: return get_text(value, name, &header->layout, err);
    case JSONL_H_PROFILE: return get_profile(value, name, header, err);
    case JSONL_H_PRODUCER: return get_text(value, name, &header->producer, err);
    case JSONL_H_CLOCK_HZ: return get_clock(value, name, &header->clock_hz, err);
    case JSONL_H_OBSERVES: return get_observes(value, name, header, err);
    case JSONL_H_SCOPE: return get_scope(value, name, header, err);
    case JSONL_H_COMPLETE: return get_bool(value, name, &header->complete, err);
    case JSONL_H_CYCLE_ACCURATE: return get_bool(value, name, &header->cycle_accurate, err);
    case JSONL_H_OPEN_END: return get_bool(value, name, &header->open_end, err);
    case JSONL_H_CQ: return get_cq(value, name, header, err);
    case JSONL_H_FIRMWARE: return get_firmware(value, name, header, err);
    case JSONL_H_COUNT: break;
    }
    return nocap_fail(err, NOCAP_E_INTERNAL, "no such key of the header");
}

static const struct object header_object = {jsonl_header_keys, JSONL_H_COUNT, get_header_key};

/* Whether the line is JSON at all, a header, and of a version that can be read: asked first, as the
 * rest of a newer header may mean anything. */
static enum nocap_status check_version(const char *text, size_t size, struct nocap_error *err)
{
    struct json_cursor cursor;
    struct json_member member;
    bool has_version = false, has_arch = false;
    uint64_t version = 0;
    enum json_step step = json_open(&cursor, text, size, '{');
    while (step == JSON_ITEM && (step = json_next_member(&cursor, &member)) == JSON_ITEM) {
        unsigned key = find_key(&header_object, &member.key);
        has_arch |= key == JSONL_H_ARCH;
        if (key == JSONL_H_NOCAP && !has_version) {
            RETURN_IF_FAILED(get_number(&member.value, "nocap", &version, err));
            has_version = true;
        }
    }
    RETURN_ERROR_IF(step == JSON_BAD || !json_at_end(&cursor), err, NOCAP_E_INPUT, "%s",
                    cursor.why);
    RETURN_ERROR_IF(!has_version, err, NOCAP_E_INPUT, "the key \"nocap\" is missing");
    RETURN_ERROR_IF(version > NOCAP_VERSION_FORMAT, err, NOCAP_E_INPUT,
                    "version %llu was made by a newer version of nocap, this one reads version %d",
                    (unsigned long long)version, NOCAP_VERSION_FORMAT);
    RETURN_ERROR_IF(version != NOCAP_VERSION_FORMAT, err, NOCAP_E_INPUT,
                    "\"nocap\" is %llu, expected %d", (unsigned long long)version,
                    NOCAP_VERSION_FORMAT);
    RETURN_ERROR_IF(!has_arch, err, NOCAP_E_INPUT,
                    "the key \"arch\" is missing, expected blackhole, wormhole or aie2ps");
    return NOCAP_OK;
}

enum nocap_status jsonl_parse_header(struct nocap_header *header, const char *text, size_t size,
                                     struct nocap_error *err)
{
    nocap_header_init(header);
    enum nocap_status status = check_version(text, size, err);
    if (status == NOCAP_OK) {
        status = read_object(&header_object, text, size, header, &header->extra, err);
    }
    if (status != NOCAP_OK) {
        nocap_header_free(header);
    }
    return status;
}
