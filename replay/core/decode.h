/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: makes observations of an event. */
#ifndef NOCAP_REPLAY_DECODE_H
#define NOCAP_REPLAY_DECODE_H

#include "replay/core/tile.h"

/* Which tiles there are, and where in them what lies. */
void decode_init(struct model *m);
/* Hands the observations of the event to `observe`, in the order in which they take effect. */
void decode(struct model *m, const struct nocap_event *event);
/* Those of a request; `lead`: it is stated by an event. */
void decode_request(struct model *m, const struct nocap_event *request, bool lead);

/* engine.c: all models that want the observation judge it and take it. */
void observe(struct model *m, struct observation *o);

/* place.c: what names a tile that is no worker: is it one of the board? */
void place_judge(struct model *m, const struct nocap_event *e);

#endif
