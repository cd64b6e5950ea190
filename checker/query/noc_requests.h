/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of a trace for its statistics: `noc` events as they stand, and those that show only
 * as stores to the registers of a command buffer, which the model puts together. */
#ifndef NOCAP_CHECKER_QUERY_NOC_REQUESTS_H
#define NOCAP_CHECKER_QUERY_NOC_REQUESTS_H

#include "base/status.h"
#include "formats/export/noc_stats.h"
#include "formats/trace/header.h"

struct nocap_requests;

/* Header and stats must outlive it. NOCAP_E_INPUT if the header cannot be replayed. */
enum nocap_status nocap_requests_new(struct nocap_requests **requests,
                                     const struct nocap_header *header,
                                     struct nocap_noc_stats *stats, struct nocap_error *err);
void nocap_requests_free(struct nocap_requests *requests); /* NULL: does nothing */
/* The next events, in the order of the file; a nocap_info_sink. */
enum nocap_status nocap_requests_feed(void *requests, const struct nocap_event *events,
                                      size_t count, struct nocap_error *err);

#endif
