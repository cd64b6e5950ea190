/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/export: the command queue in text of raw accesses: its places by name, slots,
 * records and commands by what they hold. */
#ifndef NOCAP_EXPORT_QUEUE_TEXT_H
#define NOCAP_EXPORT_QUEUE_TEXT_H

#include "formats/export/text.h"

enum { NOCAP_QUEUE_NAME_MAX = 48 };

/* As the header tells; `present` is false where the trace is about no queue. */
struct nocap_text_queue nocap_text_queue(const struct nocap_header *header);
/* "prefetch_q[3]", "dispatch_cb[12]", "completion_q_wr_ptr", "issue_q+0x40" ..; NULL: no place of
 * the queue. */
const char *nocap_queue_name(const struct nocap_text_queue *queue, const struct nocap_event *event,
                             struct nocap_xy at, uint64_t addr, char name[NOCAP_QUEUE_NAME_MAX]);
/* Keeps the record that the host stores, of every event in their order, whether it is printed or
 * not; `last` of the style is set. */
void nocap_queue_note(const struct nocap_text_style *style, const struct nocap_event *event);
/* " -> RELAY_INLINE[..]" after an access that stores a record, relays a command, reads its header,
 * or makes a record visible that was reported before. */
void nocap_append_queue(const struct nocap_text_style *style, struct nocap_text *out,
                        const struct nocap_event *event);

#endif
