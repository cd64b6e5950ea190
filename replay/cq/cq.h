/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of the fast-dispatch command queue. Rules CQ. */
#ifndef NOCAP_REPLAY_CQ_H
#define NOCAP_REPLAY_CQ_H

#include "replay/core/model.h"

extern const struct model_ops cq_model;

#endif
