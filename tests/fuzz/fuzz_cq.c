/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the command queue from any bytes: no crash, sizes that stay in their bounds, and a
 * header that encodes to what it was decoded from. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/cq_commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void round_trip(const struct nocap_cq_command *c)
{
    uint8_t bytes[NOCAP_CQ_HEADER_MAX];
    struct nocap_cq_command back;
    size_t size = nocap_cq_encode(c, bytes);
    require(size <= sizeof bytes && nocap_cq_padding_zero(c, bytes));
    require(nocap_cq_decode_by(NULL, (enum nocap_cq_side)c->side, bytes, size, &back));
    require(memcmp(c, &back, sizeof back) == 0);
}

static void walk_subs(const struct nocap_cq_command *c, const uint8_t *bytes, size_t size)
{
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    if (nocap_cq_subs(c, &subs)) {
        for (uint32_t i = 0; nocap_cq_sub(&subs, i, bytes, size, &sub); i++) {
            (void)nocap_cq_rect_area(nocap_cq_rect_decode((uint32_t)sub.noc_xy));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nocap_cq_record r;
    char text[NOCAP_CQ_TEXT_MAX];
    uint64_t consumed;
    require(strlen(nocap_cq_text(NULL, NOCAP_CQ_PREFETCH, data, size, text, sizeof text)) <
            sizeof text);
    require(strlen(nocap_cq_text(NULL, NOCAP_CQ_DISPATCH, data, size, text, 20)) < 20);
    if (!nocap_cq_decode_record_by(NULL, data, size, &r)) {
        return 0;
    }
    round_trip(&r.prefetch);
    walk_subs(&r.prefetch, data, size);
    if (r.has_dispatch) {
        require(r.inner_size <= size - NOCAP_CQ_HEADER);
        round_trip(&r.dispatch);
        (void)nocap_cq_consumed(&r.dispatch, r.inner, r.inner_size, &consumed);
        walk_subs(&r.dispatch, r.inner, r.inner_size);
    }
    return 0;
}
