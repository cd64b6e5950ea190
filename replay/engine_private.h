/* Private to replay: the engine from inside. */
#ifndef NOCAP_REPLAY_ENGINE_PRIVATE_H
#define NOCAP_REPLAY_ENGINE_PRIVATE_H

#include "replay/order.h"
#include "replay/tile.h"

struct nocap_engine {
    struct model model;
    struct source_clock clock;
    bool lost; /* events are missing before the next one */
};

#endif
