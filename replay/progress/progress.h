/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the model of how the parties of a trace get on. No rules: for reports about
 * hangs. */
#ifndef NOCAP_REPLAY_PROGRESS_H
#define NOCAP_REPLAY_PROGRESS_H

#include "replay/core/model.h"

extern const struct model_ops progress_model;

#endif
