/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the JSON Lines reader: one line of JSON taken apart into members. */
#ifndef NOCAP_TRACE_JSONL_MEMBERS_H
#define NOCAP_TRACE_JSONL_MEMBERS_H

#include "base/json_scan.h"
#include "formats/trace/event.h"

enum {
    JSONL_KEY_MAX = 8,       /* bytes of a key that this version knows */
    JSONL_KEY_SLOTS = 256,   /* of the hash table, a few times as many as keys */
    JSONL_MEMBERS_MAX = 256, /* of one object */
    JSONL_NO_FIELD = 0xff,
};

/* The keys that are no fields of fields.def come first. */
enum jsonl_role { KEY_FIELD, KEY_T, KEY_EV, KEY_OP, KEY_SRC, KEY_CHIP, KEY_ROLE_COUNT };

/* A key, and the field that it names in each kind of event. */
struct jsonl_key {
    uint64_t word; /* its bytes, the first one lowest; 0: an empty slot */
    uint8_t role;  /* enum jsonl_role */
    uint8_t half;  /* 1: the second number of a pair */
    uint8_t field[NOCAP_EV_COUNT];
};

struct jsonl_members {
    struct jsonl_key known[JSONL_KEY_SLOTS];
    /* The line being read. */
    unsigned count;
    struct json_member list[JSONL_MEMBERS_MAX];
    const struct jsonl_key *keys[JSONL_MEMBERS_MAX]; /* of each member; NULL: unknown */
    const struct json_member *role[KEY_ROLE_COUNT];  /* t, ev, op, src, chip; NULL: not there */
    uint64_t seen[JSONL_KEY_SLOTS / 64];             /* known keys */
    char why[160];                                   /* the line is malformed */
};

/* Learns the keys. */
void jsonl_members_init(struct jsonl_members *members);
/* False if the text is no JSON object or has a key twice; what stands before that place is there
 * nevertheless. */
bool jsonl_take_apart(struct jsonl_members *members, const char *text, size_t size);

/* Say why the line is malformed; return false. */
bool jsonl_malformed(struct jsonl_members *members, const char *why);
bool jsonl_malformed_key(struct jsonl_members *members, const struct json_member *member,
                         const char *why);

#endif
