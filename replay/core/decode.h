/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: makes observations of an event. */
#ifndef NOCAP_REPLAY_DECODE_H
#define NOCAP_REPLAY_DECODE_H

#include "replay/core/tile.h"

/* Which tiles there are, and where in them what lies. */
void decode_init(struct model *m);
/* Hands the observations of the event to `observe`, in the order in which they take effect. */
void decode(struct model *m, const struct nocap_event *event);
/* Of an event that is one plain step at a worker tile: what of its observation is told by what does
 * not change while events are replayed. */
struct prepared {
    uint16_t places;
    uint8_t kind, region; /* a row of nocap_regions, of an access */
};
/* The kind of all events of this shape; OBS_KINDS: they are no such events. */
enum observation_kind decode_shape(const struct model *m, const struct nocap_event *event);
/* Of one of this kind; false: it is no such event for its place. */
bool decode_prepare(const struct model *m, const struct nocap_event *event,
                    enum observation_kind kind, struct prepared *p);
/* `decode` of one. */
void decode_plain(struct model *m, const struct nocap_event *event, const struct prepared *p);
/* `decode` of one of whose shape that is known. */
void decode_of_kind(struct model *m, const struct nocap_event *event, enum observation_kind kind);
/* Those of a request; `lead`: it is stated by an event. */
void decode_request(struct model *m, const struct nocap_event *request, bool lead);

/* engine.c: all models that want the observation judge it and take it. */
void observe(struct model *m, struct observation *o);

/* place.c: what names a tile that is no worker: is it one of the board? */
void place_judge(struct model *m, const struct nocap_event *e);
/* The same of an event that no model wants. */
void place_event(struct model *m, const struct nocap_event *e);

#endif
