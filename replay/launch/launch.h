/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of what runs on a tile: firmware upload and boot, the sync word,
 * launches. Rules RST, SYN, GO. */
#ifndef NOCAP_REPLAY_LAUNCH_H
#define NOCAP_REPLAY_LAUNCH_H

#include "replay/core/model.h"

extern const struct model_ops launch_model;

#endif
