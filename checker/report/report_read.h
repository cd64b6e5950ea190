/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: the report of a trace, read back from the JSON that was written of it. Any
 * form printed of it is the one that the first would have given. */
#ifndef NOCAP_CHECKER_REPORT_REPORT_READ_H
#define NOCAP_CHECKER_REPORT_REPORT_READ_H

#include "base/json_tree.h"
#include "checker/core/checker.h"

/* Of a member; false if it is not there or something else. Numbers are whole and from 0 on. */
bool nocap_member_number(yajl_val object, const char *key, uint64_t *value);
/* Elements of an array; 0 if it is none. */
size_t nocap_length(yajl_val array);
yajl_val nocap_element(yajl_val array, size_t i);
bool nocap_element_number(yajl_val array, size_t i, uint64_t *value);
/* Its text, as long as the tree lives; NULL: none. */
const char *nocap_member_text(yajl_val object, const char *key);

/* `source` is for messages. Fails with NOCAP_E_INPUT if it is not a whole report of a trace by this
 * version's rules. */
enum nocap_status nocap_report_read(struct nocap_report **report, yajl_val tree, const char *source,
                                    struct nocap_error *err);

#endif
