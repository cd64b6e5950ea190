/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a trace of a few accesses as JSON Lines, its header, and what its lines are made of.
 */
#ifndef NOCAP_TESTS_SMALL_TRACE_H
#define NOCAP_TESTS_SMALL_TRACE_H

static const char header[] =
    "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\",\"core-store\"]}\n";

#define WRITE(t, by, addr, value)                                                                  \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"" #by "\",\"x\":1,\"y\":2,\"addr\":\"" #addr          \
    "\",\"size\":4,\"value\":\"" #value "\"}\n"
#define READ(t, by, addr, value)                                                                   \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"" #by "\",\"x\":1,\"y\":2,\"addr\":\"" #addr           \
    "\",\"size\":4,\"value\":\"" #value "\"}\n"

/* A host that writes and polls, a core that answers. */
static const char base[] = WRITE(1, host, 0x37000, 0x1) READ(2, host, 0x37004, 0x0)
    READ(3, host, 0x37004, 0x0) WRITE(4, brisc, 0x38000, 0x7) WRITE(5, brisc, 0x37004, 0x1)
        READ(6, host, 0x37004, 0x1) WRITE(7, host, 0x37000, 0x2);

#endif
