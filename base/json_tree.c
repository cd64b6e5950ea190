/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_tree.h"

#include <stdbool.h>
#include <stdio.h>

/* Brackets inside texts do not count. */
static bool is_too_deep(const char *text)
{
    size_t depth = 0;
    bool quoted = false;
    for (; *text != 0; text++) {
        if (quoted && *text == '\\' && text[1] != 0) {
            text++;
        } else if (*text == '"') {
            quoted = !quoted;
        } else if (!quoted && (*text == '[' || *text == '{')) {
            if (++depth > NOCAP_JSON_TREE_DEPTH) {
                return true;
            }
        } else if (!quoted && depth != 0 && (*text == ']' || *text == '}')) {
            depth--;
        }
    }
    return false;
}

yajl_val nocap_json_tree(const char *text, char *why, size_t size)
{
    if (is_too_deep(text)) {
        snprintf(why, size, "more than %d brackets in each other", NOCAP_JSON_TREE_DEPTH);
        return NULL;
    }
    return yajl_tree_parse(text, why, size);
}

yajl_val nocap_json_member(yajl_val object, const char *name)
{
    const char *path[] = {name, NULL};
    return YAJL_IS_OBJECT(object) ? yajl_tree_get(object, path, yajl_t_any) : NULL;
}
