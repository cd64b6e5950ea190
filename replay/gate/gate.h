/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of the Tensix coprocessor: instruction streams, Wait Gate, hazards.
 * Rules TNX. */
#ifndef NOCAP_REPLAY_GATE_H
#define NOCAP_REPLAY_GATE_H

#include "replay/core/model.h"

extern const struct model_ops gate_model;

#endif
