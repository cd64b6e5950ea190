/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of what a host must have done, by its own accesses; what others
 * write counts where it is observed. Rules GO-021 to GO-026, RST-018 and RST-019. */
#ifndef NOCAP_REPLAY_HOST_H
#define NOCAP_REPLAY_HOST_H

#include "replay/core/model.h"

extern const struct model_ops host_model;

#endif
