/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of a tile's address space: who may touch what. Rules MAP, NOC-015.
 */
#ifndef NOCAP_REPLAY_MAP_H
#define NOCAP_REPLAY_MAP_H

#include "replay/core/model.h"

extern const struct model_ops map_model;

#endif
