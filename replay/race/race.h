/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of what NOC requests may overtake. Rules NOC-041 to NOC-045. */
#ifndef NOCAP_REPLAY_RACE_H
#define NOCAP_REPLAY_RACE_H

#include "replay/core/model.h"

extern const struct model_ops race_model;

#endif
