/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: places that agents poll. What a poll saw, and how often it looked, is a
 * matter of time; that an agent wrote there is reported by the writer. A place counts as polled if
 * reads of it returned different values, if an atomic went there, or if it lies in a tile's
 * mailbox. */
#ifndef NOCAP_CHECKER_COMPARE_POLLED_ADDRS_H
#define NOCAP_CHECKER_COMPARE_POLLED_ADDRS_H

#include "base/status.h"
#include "formats/trace/header.h"

struct nocap_places;

enum nocap_status nocap_places_new(struct nocap_places **places, const struct nocap_header *header,
                                   struct nocap_error *err);
void nocap_places_free(struct nocap_places *places); /* NULL is fine */

/* Learns from one event. Memory is bounded: beyond a million places nothing more is learnt. */
void nocap_places_add(struct nocap_places *places, const struct nocap_event *event);
/* Whether the event, a read or a `mem`, is of such a place. */
bool nocap_places_polled(const struct nocap_places *places, const struct nocap_event *event);

#endif
