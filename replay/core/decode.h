/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: makes observations of an event. */
#ifndef NOCAP_REPLAY_DECODE_H
#define NOCAP_REPLAY_DECODE_H

#include "replay/core/tile.h"

typedef void observer(struct model *m, struct observation *o);

/* Which tiles there are, and where in them what lies. */
void decode_init(struct model *m);
/* Hands the observations of the event to `see`, in the order in which they take effect. */
void decode(struct model *m, const struct nocap_event *event, observer *see);
/* Those of a request; `lead`: it is stated by an event. */
void decode_request(struct model *m, const struct nocap_event *request, bool lead, observer *see);

/* place.c: what names a tile that is no worker: is it one of the board? */
void place_judge(struct model *m, const struct nocap_event *e);

#endif
