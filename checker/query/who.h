/* SPDX-License-Identifier: Apache-2.0 */
/* Who touched these bytes of a tile: stores, larger accesses that cover them, multicasts, requests
 * of the network interfaces, landings, loads; newest first. One pass at the speed of reading. */
#ifndef NOCAP_CHECKER_QUERY_WHO_H
#define NOCAP_CHECKER_QUERY_WHO_H

#include <stdio.h>

#include "formats/blackhole/touch.h"
#include "formats/trace/trace.h"

struct nocap_who_options {
    size_t size; /* sizeof(struct nocap_who_options) */
    struct nocap_bytes_at bytes;
    bool has_chip, has_until, writes; /* writes: only what may have changed the bytes */
    uint16_t chip;
    uint64_t until; /* as if the trace ended after this time */
    uint32_t limit; /* rows kept, the newest; 0: 20 */
    bool color;     /* of text */
    bool json;
    const char *path; /* of the trace, for messages and JSON */
};

/* Reads all of `reader` and prints. `at_tile`: whether any event touches the tile. NOCAP_E_INPUT if
 * the trace cannot be read or is damaged before its first event, NOCAP_E_OUTPUT, NOCAP_E_MEMORY. */
enum nocap_status nocap_who(struct nocap_reader *reader, const struct nocap_who_options *options,
                            FILE *out, bool *at_tile, struct nocap_error *err);

#endif
