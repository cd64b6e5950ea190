/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: events from a file to the model, in the order in which they took effect. */
#ifndef NOCAP_CHECKER_CORE_FEED_H
#define NOCAP_CHECKER_CORE_FEED_H

#include "formats/trace/trace.h"
#include "replay/core/order.h"

/* Called where events are missing, before the events after the gap. */
typedef void nocap_feed_gap(void *context);

/* Hands all events to `sink`: as they stand where the file says that time never decreases, else
 * merged by time. The sink stops the run without an error by returning NOCAP_END. Blocks that do
 * not decode leave gaps, passed to `gap` unless it is NULL. NOCAP_E_INPUT if the file, `path`, is
 * damaged before its first event. */
enum nocap_status nocap_feed(struct nocap_reader *reader, const char *path, nocap_merge_sink *sink,
                             nocap_feed_gap *gap, void *context, struct nocap_error *err);

#endif
