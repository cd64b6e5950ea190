/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/cut*.c: what memory held when a cut begins, as far as the cut will look at it.
 * First every place that the cut touches is wanted, then everything earlier is stored. Bounded:
 * beyond 2^18 pieces of 64 bytes nothing more is remembered, which is unknown, not wrong. */
#ifndef NOCAP_CHECKER_COMPARE_CUT_MEMORY_H
#define NOCAP_CHECKER_COMPARE_CUT_MEMORY_H

#include "base/status.h"
#include "formats/trace/trace.h"

struct cut_memory;

enum nocap_status cut_memory_new(struct cut_memory **memory, struct nocap_error *err);
void cut_memory_free(struct cut_memory *memory); /* NULL is fine */

/* Marks what the event accesses, and the mailbox of its tiles. */
void cut_memory_want(struct cut_memory *memory, const struct nocap_event *event);
/* Takes over what the event puts into wanted memory. */
void cut_memory_store(struct cut_memory *memory, const struct nocap_event *event);
/* Nothing of it is known any more. */
void cut_memory_forget(struct cut_memory *memory);
/* Writes all that is known as `mem` events of time `t`, in the order of their places. */
enum nocap_status cut_memory_write(const struct cut_memory *memory, struct nocap_writer *writer,
                                   uint64_t t, uint64_t *events, struct nocap_error *err);
/* The event as a `mem` event, if it puts something into wanted memory. `bytes` is room for a
 * number; the result points into it or into the event. */
bool cut_memory_as_mem(const struct cut_memory *memory, const struct nocap_event *event,
                       uint8_t bytes[8], struct nocap_event *mem);

#endif
