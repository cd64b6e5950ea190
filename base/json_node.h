/* SPDX-License-Identifier: Apache-2.0 */
/* JSON from untrusted bytes, as a tree. All take NULL for a value that is not there.
 */
#ifndef NOCAP_BASE_JSON_NODE_H
#define NOCAP_BASE_JSON_NODE_H

#include "base/json_scan.h"
#include "base/status.h"

struct json_node {
    uint8_t type;            /* enum json_type */
    size_t count;            /* members, items, or bytes of the text */
    char *key;               /* of a member of an object */
    char *text;              /* what a string means, or a number as it is written */
    struct json_node *items; /* of an object or a list */
};

/* Fails with NOCAP_E_INPUT where the text (`what` it is, for the message) is no JSON or lies too
 * deep, and with NOCAP_E_MEMORY. */
enum nocap_status json_tree(struct json_node **tree, const char *text, const char *what,
                            struct nocap_error *err);
void json_tree_free(struct json_node *tree);

static inline bool json_is(const struct json_node *node, enum json_type type)
{
    return node != NULL && node->type == type;
}
/* How many items a list has; 0: it is none. */
static inline size_t json_length(const struct json_node *node)
{
    return json_is(node, JSON_LIST) ? node->count : 0;
}
/* What a string says; NULL: it is none. */
static inline const char *json_string(const struct json_node *node)
{
    return json_is(node, JSON_STRING) ? node->text : NULL;
}
/* Whether it is a whole number from 0 on, of 64 bits. */
bool json_whole(const struct json_node *node, uint64_t *number);
/* NULL if `object` is none, or has no member of that name. */
const struct json_node *json_member(const struct json_node *object, const char *name);
static inline const char *json_member_string(const struct json_node *object, const char *name)
{
    return json_string(json_member(object, name));
}
static inline bool json_member_whole(const struct json_node *object, const char *name,
                                     uint64_t *number)
{
    return json_whole(json_member(object, name), number);
}

#endif
