/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: the state of a tile and of the queue in words and as JSON. */
#ifndef NOCAP_CHECKER_QUERY_STATE_TEXT_H
#define NOCAP_CHECKER_QUERY_STATE_TEXT_H

#include "base/json_text.h"
#include "replay/core/state.h"

/* The command queue; as JSON a member "queue". */
void nocap_queue_text(FILE *out, const struct nocap_queue_state *state);
void nocap_queue_json(struct nocap_json *json, const char *key,
                      const struct nocap_queue_state *state);
/* One line, for a list of tiles. */
void nocap_state_line(FILE *out, const struct nocap_tile_state *state);
/* Everything, over several lines. */
void nocap_state_text(FILE *out, const struct nocap_tile_state *state);
void nocap_state_json(struct nocap_json *json, const struct nocap_tile_state *state);

#endif
