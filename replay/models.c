/* SPDX-License-Identifier: Apache-2.0 */
/* The models of the protocols. */
#include "replay/aie/aie.h"
#include "replay/cq/cq.h"
#include "replay/gate/gate.h"
#include "replay/host/host.h"
#include "replay/launch/launch.h"
#include "replay/map/map.h"
#include "replay/noc/noc.h"
#include "replay/progress/progress.h"
#include "replay/race/race.h"

const struct model_ops *const nocap_models[MODELS] = {
    [MODEL_PROGRESS] = &progress_model, [MODEL_MAP] = &map_model,       [MODEL_CQ] = &cq_model,
    [MODEL_GATE] = &gate_model,         [MODEL_LAUNCH] = &launch_model, [MODEL_NOC] = &noc_model,
    [MODEL_RACE] = &race_model,         [MODEL_AIE] = &aie_model,       [MODEL_HOST] = &host_model,
};
