/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay/progress. */
#ifndef NOCAP_REPLAY_PROGRESS_PRIVATE_H
#define NOCAP_REPLAY_PROGRESS_PRIVATE_H

#include "replay/core/progress.h"
#include "replay/progress/progress.h"

/* A note at a tile says where a core is, or what it runs. */
void progress_note(struct model *m, struct tile *tile, const struct nocap_event *event);

#endif
