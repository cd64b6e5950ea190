/* SPDX-License-Identifier: Apache-2.0 */
/* One LTTng event with what a nocap access in a tile's memory holds; the thread, which nocap knows
 * of its ring, is a context of the channel. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nocap_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_event.h"
#if !defined(NOCAP_BENCH_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define NOCAP_BENCH_EVENT_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(
    nocap_bench, access,
    LTTNG_UST_TP_ARGS(uint16_t, chip, uint8_t, x, uint8_t, y, uint8_t, by, uint8_t, space, uint64_t,
                      addr, uint8_t, size, uint64_t, value),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint16_t, chip, chip) lttng_ust_field_integer(uint8_t, x, x)
            lttng_ust_field_integer(uint8_t, y, y) lttng_ust_field_integer(uint8_t, by, by)
                lttng_ust_field_integer(uint8_t, space, space)
                    lttng_ust_field_integer_hex(uint64_t, addr, addr)
                        lttng_ust_field_integer(uint8_t, size, size)
                            lttng_ust_field_integer_hex(uint64_t, value, value)))
#endif
#include <lttng/tracepoint-event.h>
