/* One LTTng event of about the content of a nocap access: who, which tile, address, value. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nocap_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_event.h"
#if !defined(NOCAP_BENCH_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define NOCAP_BENCH_EVENT_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(
    nocap_bench, access,
    LTTNG_UST_TP_ARGS(unsigned, by, unsigned, tile, unsigned long, addr, unsigned long, value),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, by, by)
                            lttng_ust_field_integer(unsigned, tile, tile)
                                lttng_ust_field_integer_hex(unsigned long, addr, addr)
                                    lttng_ust_field_integer_hex(unsigned long, value, value)))
#endif
#include <lttng/tracepoint-event.h>
