/* SPDX-License-Identifier: Apache-2.0 */
/* One line of JSON taken apart into members, each with what this version knows about its key. */
#include "formats/trace/jsonl_members.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "formats/trace/jsonl_private.h"

static inline uint64_t key_word(const char *key, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, key, size);
    return le64toh(word);
}

static unsigned key_hash(uint64_t word)
{
    return (unsigned)((word * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}
_Static_assert(JSONL_KEY_SLOTS == 1 << 8, "key_hash gives eight bits");

static struct jsonl_key *known_slot(struct jsonl_members *members, const char *key, size_t size)
{
    uint64_t word = key_word(key, size);
    unsigned i = key_hash(word);
    while (members->known[i].word != 0 && members->known[i].word != word) {
        i = (i + 1) % JSONL_KEY_SLOTS;
    }
    if (members->known[i].word == 0) {
        members->known[i].word = word;
        memset(members->known[i].field, JSONL_NO_FIELD, sizeof members->known[i].field);
    }
    return &members->known[i];
}

static void learn_field(struct jsonl_members *members, unsigned field, const char *key, size_t size,
                        uint8_t half)
{
    struct jsonl_key *slot = known_slot(members, key, size);
    slot->half = half;
    for (unsigned kind = 0; kind < NOCAP_EV_COUNT; kind++) {
        if (nocap_fields[field].kinds >> kind & 1) {
            slot->field[kind] = (uint8_t)field;
        }
    }
}

static void learn_keys(struct jsonl_members *members)
{
    static const struct {
        const char *key;
        uint8_t role;
    } common[] = {{JSONL_KEY_T, KEY_T},
                  {JSONL_KEY_EV, KEY_EV},
                  {JSONL_KEY_OP, KEY_OP},
                  {JSONL_KEY_SRC, KEY_SRC},
                  {JSONL_KEY_CHIP, KEY_CHIP}};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        known_slot(members, common[i].key, strlen(common[i].key))->role = common[i].role;
    }
    for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
        const char *key = nocap_fields[field].key;
        const char *comma = strchr(key, ',');
        if (nocap_fields[field].type == NOCAP_T_PAIR && comma != NULL) {
            learn_field(members, field, key, (size_t)(comma - key), 0);
            learn_field(members, field, comma + 1, strlen(comma + 1), 1);
        } else {
            learn_field(members, field, key, strlen(key), 0);
        }
    }
}
#define FIELD(NAME, key, kinds, type, member, home)                                                \
    _Static_assert(NOCAP_T_##type == NOCAP_T_PAIR || sizeof key <= JSONL_KEY_MAX + 1, key);
#include "formats/trace/fields.def"
#undef FIELD

void jsonl_members_init(struct jsonl_members *members)
{
    *members = (struct jsonl_members){0};
    learn_keys(members);
}

bool jsonl_malformed(struct jsonl_members *members, const char *why)
{
    snprintf(members->why, sizeof members->why, "%s", why);
    return false;
}

bool jsonl_malformed_key(struct jsonl_members *members, const struct json_member *member,
                         const char *why)
{
    int size = member->key.size < 32 ? (int)member->key.size : 32;
    snprintf(members->why, sizeof members->why, "\"%.*s\" %s", size, member->key.text, why);
    return false;
}

static const struct jsonl_key *find_key(struct jsonl_members *members, const struct json_value *key,
                                        const char *end)
{
    char plain[6 * JSONL_KEY_MAX]; /* every character written as \uXXXX */
    const char *text = key->text;
    size_t size = key->size;
    if (key->escaped && size <= sizeof plain) {
        size = json_unescape(key, plain);
        text = plain;
    }
    if (size == 0 || size > JSONL_KEY_MAX) {
        return NULL;
    }
    uint64_t word;
    if (text != plain && end - text >= JSONL_KEY_MAX) {
        word = key_word(text, JSONL_KEY_MAX) & UINT64_MAX >> (64 - 8 * size);
    } else {
        word = key_word(text, size);
    }
    if (word >> (8 * (size - 1)) == 0) {
        return NULL; /* it ends in NUL */
    }
    const struct jsonl_key *slot = &members->known[key_hash(word)];
    while (slot->word != 0) {
        if (slot->word == word) {
            return slot;
        }
        slot = slot == &members->known[JSONL_KEY_SLOTS - 1] ? members->known : slot + 1;
    }
    return NULL;
}

/* A key twice, as it is written. */
static bool is_repeated(struct jsonl_members *members, const struct json_member *member,
                        const struct jsonl_key *key)
{
    if (key != NULL) {
        size_t slot = (size_t)(key - members->known);
        uint64_t bit = UINT64_C(1) << slot % 64;
        bool repeated = (members->seen[slot / 64] & bit) != 0;
        members->seen[slot / 64] |= bit;
        return repeated;
    }
    for (unsigned i = 0; i < members->count; i++) {
        const struct json_value *other = &members->list[i].key;
        if (members->keys[i] == NULL && other->size == member->key.size &&
            memcmp(other->text, member->key.text, other->size) == 0) {
            return true;
        }
    }
    return false;
}

bool jsonl_take_apart(struct jsonl_members *members, const char *text, size_t size)
{
    struct json_cursor cursor;
    members->count = 0;
    memset(members->role, 0, sizeof members->role);
    memset(members->seen, 0, sizeof members->seen);
    if (json_open(&cursor, text, size, '{') == JSON_BAD) {
        return jsonl_malformed(members, cursor.why);
    }
    for (;;) {
        struct json_member *member = &members->list[members->count];
        enum json_step step = json_next_member(&cursor, member);
        if (step == JSON_DONE) {
            break;
        }
        if (step == JSON_BAD) {
            return jsonl_malformed(members, cursor.why);
        }
        const struct jsonl_key *key = find_key(members, &member->key, text + size);
        if (is_repeated(members, member, key)) {
            return jsonl_malformed_key(members, member, "appears twice");
        }
        members->keys[members->count] = key;
        if (key != NULL) {
            members->role[key->role] = member;
        }
        if (++members->count == JSONL_MEMBERS_MAX) {
            return jsonl_malformed(members, "too many keys");
        }
    }
    return json_at_end(&cursor) || jsonl_malformed(members, cursor.why);
}
