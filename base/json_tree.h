/* SPDX-License-Identifier: Apache-2.0 */
/* JSON from bytes that nobody vouches for, as a tree of yajl, whose macros take NULL for a value
 * that is not there. */
#ifndef NOCAP_BASE_JSON_TREE_H
#define NOCAP_BASE_JSON_TREE_H

#include <stddef.h>
#include <yajl/yajl_tree.h>

#define NOCAP_JSON_TREE_DEPTH 64 /* brackets in each other; yajl frees a tree by recursion */

/* NULL if the text is no JSON or lies too deep; `why` says which. Free with yajl_tree_free. */
yajl_val nocap_json_tree(const char *text, char *why, size_t size);
/* NULL if `object` is none, or has no member of that name. */
yajl_val nocap_json_member(yajl_val object, const char *name);

#endif
