/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of AIE control code as it runs. Rules AIE-020, AIE-026, AIE-062 to
 * AIE-070. */
#ifndef NOCAP_REPLAY_AIE_H
#define NOCAP_REPLAY_AIE_H

#include "replay/core/model.h"

extern const struct model_ops aie_model;

#endif
