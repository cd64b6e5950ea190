/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: small traces about tile 1,2 for what the rules' own examples do not show. */
#ifndef NOCAP_TESTS_CASES_H
#define NOCAP_TESTS_CASES_H

#include "tests/example.h"

/* clang-format off */

/* BRISC tells (2,2), as the firmware does after DONE. */
#define NOTIFY(t)                                                                                  \
    LINE({"t":t,"ev":"noc","x":1,"y":2,"by":"brisc","noc":0,"buf":3,"op":"inline","posted":true,   \
          "dx":2,"dy":2,"daddr":"0xffb70438","size":4,"value":"0x40"})
/* A launch of BRISC alone, in DEV (00) or HOST (01) mode, up to the end of its kernel. */
#define LAUNCHES(mode)                                                                             \
    HEADER("host-mmio", "core-store", "core-mmio", "kernel", "noc")                                \
    IDLE LAUNCH(10, mode, 01) GO_WORD(11, 0x80020200) STORE(12, brisc, 0xffef02e4, 4, 0x1f)        \
    KERNEL(13, enter, brisc, 0x83e0) KERNEL(14, exit, brisc, 0x83e0)
/* The same of any launch, which begins by these. */
#define SEES_LAUNCHES HEADER("host-mmio", "core-store", "core-mmio", "kernel", "noc") IDLE
#define CACHES(t) STORE(t, brisc, 0xffef02e4, 4, 0x1f)
/* The slot is cleared, and the read pointer moves on. */
#define NEXT                                                                                       \
    STORE(22, brisc, 0xbc, 4, 0x0) STORE(23, brisc, 0xcf, 1, 0x0) STORE(30, brisc, 0x6c, 4, 0x1)
/* An idle tile whose launch messages are known to be empty. */
#define LAUNCH_IDLE                                                                                \
    HEADER_COMPLETE("host-mmio", "core-store", "core-mmio", "noc") RESET(0, run, brisc) IDLE
/* BRISC is released and begins; its subordinates answer. */
#define BOOTS                                                                                      \
    HEADER("host-mmio", "core-store") MEM(0, 0x3a0, 00000000) MEM(0, 0x370, 00000040)              \
    STORE(0, host, 0xffb121b0, 4, 0x47800) STORE(1, host, 0xffb121b0, 4, 0x47000)                  \
    STORE(10, brisc, 0x68, 4, 0x40404040) STORE(20, ncrisc, 0x68, 1, 0x0)                          \
    STORE(21, trisc0, 0x69, 1, 0x0) STORE(22, trisc2, 0x6b, 1, 0x0) STORE(23, trisc1, 0x6a, 1, 0x0)
/* Control code of column 0, page 0, as far as in its job 1. */
#define JOB_BEGINS        RUN(2, 0, 1, 16, 0000010018000000)
#define CONTROL           CERT_HEADER PAGE_LOAD(1, 0) JOB_BEGINS
#define JOB_END(t, j)     CERT(t, 0, job-end, ",\"page\":0,\"job\":" #j)
#define PAGE_END(t)       CERT(t, 0, eof, ",\"page\":0")
#define TOKEN(t, channel) CERT(t, 0, tct, ",\"tile\":0,\"actor\":" #channel)
/* Column 1 is in code whose accesses are not known; column 0 at MASK_WRITE_32 of mask 0xff, 0x11. */
#define MASKED                                                                                     \
    CONTROL BEGIN(3, 1, 1, 16, 040000000000000001000000)                                           \
    BEGIN(3, 0, 1, 24, 0300000000000400ff00000011000000)
/* The capture begins later. */
#define CERT_LATE LINE({"nocap":1,"arch":"aie2ps","observes":["cert","aie-mmio"]})

#define CASE(name, rule, index, consequences, ...) {name, rule, index, consequences, __VA_ARGS__},
static const struct {
    const char *name, *rule; /* NULL: nothing is found; with " note": one, of a rule of errors */
    uint64_t index;
    size_t consequences;
    const char *trace;
} cases[] = {
#include "tests/cases/aie.def"
#include "tests/cases/boot.def"
#include "tests/cases/chips.def"
#include "tests/cases/gate.def"
#include "tests/cases/gate_work.def"
#include "tests/cases/gate_order.def"
#include "tests/cases/host.def"
#include "tests/cases/launch.def"
#include "tests/cases/sync.def"
#include "tests/cases/map.def"
#include "tests/cases/noc.def"
#include "tests/cases/noc_requests.def"
#include "tests/cases/queue.def"
#include "tests/cases/queue_turns.def"
#include "tests/cases/command.def"
#include "tests/cases/race.def"
#include "tests/cases/sites.def"
#include "tests/cases/stray.def"
};
#define TWO(name, rules, ...) {name, rules, __VA_ARGS__},
static const struct {
    const char *name, *rules, *trace;
} pairs[] = {
#include "tests/cases/apart.def"
};
/* clang-format on */

#endif
