/* SPDX-License-Identifier: Apache-2.0 */
/* Filter expressions over events, as in `nocap dump --filter`: compiled once into a small decision
 * graph, then run for each event without allocation.
 *
 *   expression  = conjunction { "||" conjunction }
 *   conjunction = factor { "&&" factor }
 *   factor      = "!" factor | "(" expression ")" | test
 *   test        = field ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
 *               | field "in" item | field "in" "{" item { "," item } "}"
 *               | field                      the event has it (of a boolean: and it is true)
 *               | "touches" "(" x "," y "," number [ ".." number ] ")"
 *   item        = value [ ".." value ]
 *   value       = number | 0xnumber | name | x,y | hexdigits | "text"
 *   field       = index, t, src, chip, ev, op, tile, every key of JSON Lines, sem[0] .. sem[7]
 *
 * `tile` is the place x,y of the event; with a single number it is the key of that name. A test of
 * a field that the event does not have is false, whatever the operator, except that `space` and
 * `phase` have their defaults. touches(): the event stores to, loads from, lands in or aims a
 * request at these bytes of a tile (formats/blackhole/touch.h). */
#ifndef NOCAP_TRACE_FILTER_H
#define NOCAP_TRACE_FILTER_H

#include <stdbool.h>

#include "base/status.h"
#include "formats/trace/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nocap_filter;

/* Fails with NOCAP_E_USAGE and a text that names the column, from 1, and shows the place. */
enum nocap_status nocap_filter_compile(struct nocap_filter **filter, const char *expression,
                                       struct nocap_error *err);
void nocap_filter_free(struct nocap_filter *filter);
bool nocap_filter_match(const struct nocap_filter *filter, const struct nocap_event *event);

#ifdef __cplusplus
}
#endif

#endif
