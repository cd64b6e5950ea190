/* SPDX-License-Identifier: Apache-2.0 */
/* Where a request of a network interface takes its data from and puts it, in NOC 0's numbers. */
#ifndef NOCAP_BLACKHOLE_NOC_ENDS_H
#define NOCAP_BLACKHOLE_NOC_ENDS_H

#include "formats/blackhole/xy.h"

struct nocap_noc_ends {
    bool from_known, to_known;
    bool raw; /* its coordinates are NOC 1's own: it names its own tile by the mirrored place */
    struct nocap_xy from;
    struct nocap_xy to, to_other; /* each tile of this rectangle; to_other: `to` unless multicast */
};
struct nocap_noc_ends nocap_noc_ends(const struct nocap_event *e);

/* The coordinates by which a request names its own tile. */
bool nocap_noc_own_end(const struct nocap_event *e, struct nocap_xy *at);

/* The virtual channel that it names, in CTRL or beside it; NOCAP_NOC_ANY_CHANNEL: none. */
enum { NOCAP_NOC_ANY_CHANNEL = -1 };
int nocap_noc_channel(const struct nocap_event *e);

#endif
