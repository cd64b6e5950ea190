/* SPDX-License-Identifier: Apache-2.0 */
/* The coprocessor's streams: any bytes as words that are pushed, issued, stalled, retired, and as
 * stores to the MOP configuration, semaphores and backend configuration. Also every word as text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/registers.h"
#include "formats/blackhole/tensix_isa.h"
#include "formats/trace/header.h"
#include "replay/core/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEP = 6 }; /* bytes of input an event: what, where, word */

static const uint32_t bases[] = {NOCAP_REG_MOP_CFG, NOCAP_REG_SEM, NOCAP_REG_TTSYNC,
                                 NOCAP_BASE_TENSIX_CFG};

static struct nocap_event event_from(const uint8_t *data, uint64_t index)
{
    static const uint8_t ops[] = {NOCAP_OP_PUSH,   NOCAP_OP_ISSUE, NOCAP_OP_STALL,
                                  NOCAP_OP_RETIRE, NOCAP_OP_UNIT,  NOCAP_OP_SRC};
    uint32_t word;
    memcpy(&word, data + 2, sizeof word);
    struct nocap_event e = {.index = index, .t = index, .at = {1, 2}, .value = word};
    e.kind = NOCAP_EV_TENSIX;
    e.op = ops[data[0] % sizeof ops];
    e.thread = (uint8_t)(data[1] % NOCAP_TENSIX_THREADS);
    e.by = (uint8_t)(data[1] > 250 ? NOCAP_BY_BRISC : NOCAP_BY_TRISC0 + e.thread);
    e.unit = (uint8_t)(word % NOCAP_UNIT_COUNT);
    e.busy = word >> 8 & 1;
    e.bank = word >> 9 & 1;
    e.side = word >> 10 & 1;
    e.owner = word >> 11 & 1;
    e.has = NOCAP_F_AT | NOCAP_F_THREAD | NOCAP_F_WORD | NOCAP_F_UNIT | NOCAP_F_BUSY |
            NOCAP_F_BANK | NOCAP_F_SIDE | NOCAP_F_OWNER | NOCAP_F_BY;
    if (data[0] >= 192) {
        e.kind = data[0] & 1 ? NOCAP_EV_READ : NOCAP_EV_WRITE;
        e.op = NOCAP_OP_NONE;
        e.addr = bases[data[1] / NOCAP_TENSIX_THREADS % 4] + 4u * (data[0] % 16);
        e.size = 4;
        e.has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
    }
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nocap_header header;
    struct nocap_error err = {{0}};
    struct nocap_engine *engine = NULL;
    char text[NOCAP_TENSIX_TEXT_MAX];
    nocap_header_init(&header);
    header.arch = NOCAP_ARCH_BLACKHOLE;
    header.observes = UINT32_MAX;
    header.complete = size > 0 && (data[0] & 1) != 0 ? NOCAP_TRUE : NOCAP_FALSE;
    const struct nocap_engine_options options = {.size = sizeof options};
    if (nocap_engine_new(&engine, &header, &options, &err) == NOCAP_OK) {
        for (size_t at = 1; at + STEP <= size; at += STEP) {
            struct nocap_event e = event_from(data + at, at / STEP);
            nocap_tensix_disassemble((uint32_t)e.value, text, sizeof text);
            if (memchr(text, 0, sizeof text) == NULL) {
                abort();
            }
            if (nocap_engine_feed(engine, &e, 1, &err) != NOCAP_OK) {
                break;
            }
        }
        nocap_engine_finish(engine, false, &err);
    }
    nocap_engine_free(engine);
    nocap_header_free(&header);
    return 0;
}
