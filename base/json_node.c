/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_stream.h"
#include "base/list.h"

/* The values of all lists and objects that are open: those of one after its own node. */
struct builder {
    struct json_stream stream;
    struct json_node *nodes;
    size_t count;
    char *key;                   /* of the value that comes next */
    size_t open[JSON_DEPTH_MAX]; /* where the nodes stand that are open */
    unsigned depth;
};

/* Nothing lies deeper than JSON_DEPTH_MAX. */
static void release(struct json_node *node)
{
    for (size_t i = 0; node->items != NULL && i < node->count; i++) {
        release(&node->items[i]);
    }
    free(node->items);
    free(node->key);
    free(node->text);
}

void json_tree_free(struct json_node *tree)
{
    if (tree != NULL) {
        release(tree);
        free(tree);
    }
}

static char *copy(struct builder *b, const struct json_value *value, size_t *size)
{
    const char *plain = json_stream_plain(&b->stream, value, size);
    char *text = plain != NULL ? malloc(*size + 1) : NULL;
    if (text != NULL) {
        memcpy(text, plain, *size);
        text[*size] = '\0';
    }
    return text;
}

static struct json_node *add(struct builder *b, const struct json_value *value)
{
    struct json_node *node = LIST_NEXT(b->nodes, b->count);
    if (node != NULL) {
        *node = (struct json_node){.type = value->type, .key = b->key};
        b->key = NULL;
        b->count++;
    }
    return node;
}

static bool take_scalar(struct builder *b, const struct json_value *value)
{
    struct json_node *node = add(b, value);
    if (node != NULL && (value->type == JSON_STRING || value->type == JSON_NUMBER)) {
        node->text = copy(b, value, &node->count);
        return node->text != NULL;
    }
    return node != NULL;
}

static bool close_bracket(struct builder *b)
{
    struct json_node *node = &b->nodes[b->open[--b->depth]];
    size_t count = (size_t)(b->nodes + b->count - (node + 1));
    node->items = malloc((count + 1) * sizeof *node->items);
    if (node->items == NULL) {
        return false;
    }
    memcpy(node->items, node + 1, count * sizeof *node->items);
    node->count = count;
    b->count -= count;
    return true;
}

static bool take(void *context, enum json_token token, const struct json_value *value)
{
    struct builder *b = context;
    size_t size;
    switch (token) {
    case JSON_KEY: b->key = copy(b, value, &size); return b->key != NULL;
    case JSON_VALUE: return take_scalar(b, value);
    case JSON_OPENS: b->open[b->depth++] = b->count; return add(b, value) != NULL;
    case JSON_CLOSES: return close_bracket(b);
    }
    return false;
}

enum nocap_status json_tree(struct json_node **tree, const char *text, const char *what,
                            struct nocap_error *err)
{
    *tree = malloc(sizeof **tree);
    struct builder b = {.key = NULL};
    b.stream = json_stream_of(take, &b);
    bool whole = *tree != NULL && json_stream_feed(&b.stream, text, strlen(text)) &&
                 json_stream_end(&b.stream);
    json_stream_free(&b.stream);
    if (whole) {
        **tree = b.nodes[0];
        free(b.nodes);
        return NOCAP_OK;
    }
    free(b.key);
    for (size_t i = 0; i < b.count; i++) {
        release(&b.nodes[i]);
    }
    free(b.nodes);
    free(*tree);
    *tree = NULL;
    const char *why = b.stream.why;
    RETURN_ERROR_IF(why != NULL && !b.stream.no_memory, err, NOCAP_E_INPUT, "%.200s is no JSON: %s",
                    what, why);
    return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
}

bool json_whole(const struct json_node *node, uint64_t *number)
{
    if (!json_is(node, JSON_NUMBER)) {
        return false;
    }
    const struct json_value value = {.text = node->text, .size = node->count, .type = JSON_NUMBER};
    return json_number(&value, number) == JSON_NUMBER_OK;
}

const struct json_node *json_member(const struct json_node *object, const char *name)
{
    for (size_t i = 0; json_is(object, JSON_OBJECT) && i < object->count; i++) {
        if (strcmp(object->items[i].key, name) == 0) {
            return &object->items[i];
        }
    }
    return NULL;
}
