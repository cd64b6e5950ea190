/* SPDX-License-Identifier: Apache-2.0 */
/* A vocabulary for traces in tests: each macro is one or a few lines of JSON Lines about tile 1,2. A
 * trace begins with a header. */
#ifndef NOCAP_TESTS_EXAMPLE_H
#define NOCAP_TESTS_EXAMPLE_H

/* clang-format off */

/* Headers: HEADER of a capture that was attached mid-run, HEADER_COMPLETE of one that begins at
 * power-on (memory zero, all cores in reset). The arguments are the observed event classes. */
#define HEADER(...)                                                                                \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[" #__VA_ARGS__ "]}\n"
#define HEADER_COMPLETE(...)                                                                       \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[" #__VA_ARGS__           \
    "],\"complete\":true}\n"
/* The same where the header names an ELF file, brisc.elf. */
#define HEADER_ELF(...)                                                                            \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[" #__VA_ARGS__           \
    "],\"complete\":true,\"firmware\":{\"brisc\":\"brisc.elf\"}}\n"
/* The same where the header says where the kernel config area begins. */
#define HEADER_CONFIG(...)                                                                         \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[" #__VA_ARGS__           \
    "],\"cq\":{\"kernel_config\":\"0x82b0\"}}\n"

/* Any line, written as JSON. */
#define LINE(...) #__VA_ARGS__ "\n"

#define STORE(t, by, addr, size, value)                                                            \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"" #by "\",\"x\":1,\"y\":2,\"addr\":\"" #addr          \
    "\",\"size\":" #size ",\"value\":\"" #value "\"}\n"
#define LOAD(t, by, addr, size, value)                                                             \
    "{\"t\":" #t ",\"ev\":\"read\",\"by\":\"" #by "\",\"x\":1,\"y\":2,\"addr\":\"" #addr           \
    "\",\"size\":" #size ",\"value\":\"" #value "\"}\n"
#define MEM(t, addr, data)                                                                         \
    "{\"t\":" #t ",\"ev\":\"mem\",\"x\":1,\"y\":2,\"addr\":\"" #addr "\",\"data\":\"" #data "\"}\n"
#define KERNEL(t, op, by, pc)                                                                      \
    "{\"t\":" #t ",\"ev\":\"kernel\",\"op\":\"" #op "\",\"x\":1,\"y\":2,\"by\":\"" #by             \
    "\",\"pc\":\"" #pc "\"}\n"
#define RESET(t, op, by)                                                                           \
    "{\"t\":" #t ",\"ev\":\"reset\",\"op\":\"" #op "\",\"x\":1,\"y\":2,\"by\":\"" #by "\"}\n"

/* Mid-run state: the tile idles; sync word, read pointer, go_message_index and go word are known,
 * and BRISC polls. The index stands before the go word, since it says which of them counts. */
#define IDLE_AT(rd_ptr)                                                                            \
    MEM(0, 0x68, 00000000) MEM(0, 0x6c, rd_ptr) MEM(0, 0x3a0, 00000000) MEM(0, 0x370, 00000000)    \
    LOAD(1, brisc, 0x373, 1, 0x0)
#define IDLE IDLE_AT(00000000)
/* Mid-run state: a launch that began before the capture; `sync` is the sync word, dm1 first. */
#define LAUNCHED(sync)                                                                             \
    MEM(0, 0x68, sync) MEM(0, 0x3a0, 00000000) MEM(0, 0x370, 00000080)                             \
    LOAD(1, brisc, 0x373, 1, 0x80)

/* The host fills slot 0 of the launch ring: kernel config base 0x82b0, kernel texts at +0x130 ..
 * +0x170. `mode` is 00 (DEV) or 01 (HOST), `enables` the enable bits, both two hex digits. */
#define LAUNCH(t, mode, enables) LAUNCH_FROM(t, b0820000b0820000b0820000, mode, enables)
/* Its kernels lie from `bases` on, as bytes of the three words. */
#define LAUNCH_FROM(t, bases, mode, enables)                                                       \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"0x70\",\"size\":96" \
    ",\"data\":\"" #bases "000000000000" "20003001"                                               \
    "0000200008002000100020001000200010002000" #mode "00"                                          \
    "3001000040010000500100006001000070010000" "01000100" "00002000" "00000000" #enables "000000"  \
    "00000000000000000000000000000000" "\"}\n"
/* The host writes go word 0. */
#define GO_WORD(t, value) STORE(t, host, 0x370, 4, value)
#define DONE(t) STORE(t, brisc, 0x373, 1, 0x0)

/* The upload steps, from power-on to the release of BRISC. */
#define HOLD_ALL STORE(0, host, 0xffb121b0, 4, 0x47800)
#define UPLOAD UPLOAD_AT(0)
#define UPLOAD_AT(t)                                                                               \
    STORE(t, host, 0x3840, 4, 0x13) STORE(t, host, 0x5440, 4, 0x13)                                \
    STORE(t, host, 0x5a40, 4, 0x13) STORE(t, host, 0x6040, 4, 0x13)                                \
    STORE(t, host, 0x6640, 4, 0x13) STORE(t, host, 0x82b0, 4, 0x68)
#define BOOT_STUB STORE(0, host, 0x0, 4, 0x410306f)
#define GO_INIT STORE(0, host, 0x370, 4, 0x40000000)
#define RESET_PCS                                                                                  \
    STORE(0, host, 0xffb12238, 4, 0x5440) STORE(0, host, 0xffb12228, 4, 0x5a40)                    \
    STORE(0, host, 0xffb1222c, 4, 0x6040) STORE(0, host, 0xffb12230, 4, 0x6640)
#define BANK_TABLE STORE(0, host, 0x112b0, 4, 0x3d10391)
#define RELEASE_BRISC STORE(1, host, 0xffb121b0, 4, 0x47000)
/* A tile that begins to boot, as far as its own cores show. */
#define BOOTING HOLD_ALL RELEASE_BRISC
/* The host polls until it sees the firmware ready. */
#define FIRMWARE_READY LOAD(9000, host, 0x373, 1, 0x0) LOAD(9000, host, 0x68, 4, 0x0)

/* From power-on to firmware that is ready; kernels for all that LAUNCH names. */
#define BOOTED                                                                                     \
    HOLD_ALL UPLOAD BOOT_STUB GO_INIT RESET_PCS BANK_TABLE RELEASE_BRISC FIRMWARE_READY
#define KERNELS                                                                                    \
    STORE(9050, host, 0x83e0, 4, 0x13) STORE(9050, host, 0x83f0, 4, 0x13)                          \
    STORE(9050, host, 0x8400, 4, 0x13) STORE(9050, host, 0x8410, 4, 0x13)                          \
    STORE(9050, host, 0x8420, 4, 0x13)
/* The host polls the signal of go word 0 four times. */
#define LOOK_4(t, signal)                                                                          \
    LOAD(t, host, 0x373, 1, 0x##signal) LOAD(t, host, 0x373, 1, 0x##signal)                        \
    LOAD(t, host, 0x373, 1, 0x##signal) LOAD(t, host, 0x373, 1, 0x##signal)

/* Counters of the circular buffer with stream registers at 0xffb<nn>000: received, acked. */
#define COUNTERS(nn)                                                                               \
    STORE(20, trisc0, 0xffb##nn##028, 4, 0x0) STORE(20, trisc0, 0xffb##nn##020, 4, 0x0)
#define COUNTERS_8(n)                                                                              \
    COUNTERS(n##8) COUNTERS(n##9) COUNTERS(n##a) COUNTERS(n##b)                                    \
    COUNTERS(n##c) COUNTERS(n##d) COUNTERS(n##e) COUNTERS(n##f)
#define COUNTERS_0(n)                                                                              \
    COUNTERS(n##0) COUNTERS(n##1) COUNTERS(n##2) COUNTERS(n##3)                                    \
    COUNTERS(n##4) COUNTERS(n##5) COUNTERS(n##6) COUNTERS(n##7)
#define ALL_COUNTERS COUNTERS_8(4) COUNTERS_0(5) COUNTERS_8(5) COUNTERS_0(6)

/* 16 and 64 bytes of zeros, as `by` stores them. */
#define ZERO_16(t, by, base)                                                                       \
    STORE(t, by, base##0, 4, 0x0) STORE(t, by, base##4, 4, 0x0) STORE(t, by, base##8, 4, 0x0)      \
    STORE(t, by, base##c, 4, 0x0)
#define ZERO_64(t, by, base, a, b, c, d)                                                           \
    ZERO_16(t, by, base##a) ZERO_16(t, by, base##b) ZERO_16(t, by, base##c) ZERO_16(t, by, base##d)
#define ZERO_256(t, by, base)                                                                      \
    ZERO_64(t, by, base, 0, 1, 2, 3) ZERO_64(t, by, base, 4, 5, 6, 7)                              \
    ZERO_64(t, by, base, 8, 9, a, b) ZERO_64(t, by, base, c, d, e, f)
/* The zero page, 512 bytes at 0x3240. */
#define ZERO_PAGE                                                                                  \
    ZERO_64(10, brisc, 0x32, 4, 5, 6, 7) ZERO_64(10, brisc, 0x32, 8, 9, a, b)                      \
    ZERO_64(10, brisc, 0x32, c, d, e, f) ZERO_256(10, brisc, 0x33)                                 \
    ZERO_64(10, brisc, 0x34, 0, 1, 2, 3)

/* The coprocessor of a capture that begins at power-on. `n` is the thread; WORD is pushed and issues
 * at once, HELD is pushed and stalls. */
#define TENSIX_HEADER                                                                              \
    HEADER_COMPLETE("tensix-push", "tensix-issue", "tensix-unit", "core-mmio", "core-store",       \
                    "core-load")
#define TENSIX(t, operation, n, word, ...)                                                         \
    "{\"t\":" #t ",\"ev\":\"tensix\",\"op\":\"" #operation "\",\"x\":1,\"y\":2,\"thread\":" #n      \
    ",\"word\":\"" #word "\"" __VA_ARGS__ "}\n"
#define PUSH(t, n, word)  TENSIX(t, push, n, word, ",\"by\":\"trisc" #n "\"")
#define ISSUE(t, n, word) TENSIX(t, issue, n, word, "")
#define STALL(t, n, word) TENSIX(t, stall, n, word, "")
#define WORD(t, n, word)  PUSH(t, n, word) ISSUE(t, n, word)
#define HELD(t, n, word)  PUSH(t, n, word) STALL(t, n, word)
#define UNIT(t, n, name, busy)                                                                     \
    "{\"t\":" #t ",\"ev\":\"tensix\",\"op\":\"unit\",\"x\":1,\"y\":2,\"thread\":" #n                \
    ",\"unit\":\"" #name "\",\"busy\":" #busy "}\n"

/* Control code on uC `uc`, page 0. BEGIN is the start of an instruction with its bytes, OVER its end,
 * RUN both. */
#define CERT_HEADER                                                                                \
    "{\"nocap\":1,\"arch\":\"aie2ps\",\"observes\":[\"cert\",\"aie-mmio\"],\"complete\":true}\n"
#define CERT_HEADER_ELF                                                                            \
    "{\"nocap\":1,\"arch\":\"aie2ps\",\"observes\":[\"cert\",\"aie-mmio\"],\"complete\":true,"       \
    "\"firmware\":{\"uc\":\"control.elf\"}}\n"
#define CERT(t, n, what, ...)                                                                      \
    "{\"t\":" #t ",\"ev\":\"cert\",\"uc\":" #n ",\"op\":\"" #what "\"" __VA_ARGS__ "}\n"
#define CERT_PLACE_(j, offset, ...)                                                                \
    ",\"page\":0,\"job\":" #j ",\"off\":" #offset __VA_ARGS__
#define PAGE_LOAD(t, n) CERT(t, n, page-load, ",\"page\":0")
#define BEGIN(t, n, j, offset, bytes)                                                              \
    CERT(t, n, start, CERT_PLACE_(j, offset, ",\"insn\":\"" #bytes "\""))
#define OVER(t, n, j, offset) CERT(t, n, end, CERT_PLACE_(j, offset, ""))
#define RUN(t, n, j, offset, bytes) BEGIN(t, n, j, offset, bytes) OVER(t, n, j, offset)
#define BLOCK(t, n, j, offset, reason)                                                             \
    CERT(t, n, block, CERT_PLACE_(j, offset, ",\"why\":\"" #reason "\""))
#define UNBLOCK(t, n, j, offset) CERT(t, n, unblock, CERT_PLACE_(j, offset, ""))
#define UC_ACCESS(t, kind, n, addr, value)                                                         \
    "{\"t\":" #t ",\"ev\":\"" #kind "\",\"by\":\"uc" #n "\",\"space\":\"aie\",\"addr\":\"" #addr   \
    "\",\"size\":4,\"value\":\"" #value "\"}\n"
/* A job that waits at local barrier 0 of two, as one that comes to it last, and its end. */
#define AT_BARRIER(t, n, j, offset)                                                                \
    BEGIN(t, n, j, offset, 11000002) BLOCK(t, n, j, offset, local)

/* clang-format on */
#endif
