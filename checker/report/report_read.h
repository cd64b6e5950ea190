/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: the report of a trace, read back from the JSON that was written of it. Any
 * form printed of it is the one that the first would have given. */
#ifndef NOCAP_CHECKER_REPORT_REPORT_READ_H
#define NOCAP_CHECKER_REPORT_REPORT_READ_H

#include "base/json_node.h"
#include "checker/core/checker.h"

/* `source` is for messages. Fails with NOCAP_E_INPUT if it is not a whole report of a trace by this
 * version's rules. */
enum nocap_status nocap_report_read(struct nocap_report **report, const struct json_node *tree,
                                    const char *source, struct nocap_error *err);

#endif
