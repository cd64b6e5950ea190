/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of the network interfaces. Rules NOC-001 to NOC-040, NOC-046. */
#ifndef NOCAP_REPLAY_NOC_H
#define NOCAP_REPLAY_NOC_H

#include "replay/core/model.h"

extern const struct model_ops noc_model;

#endif
