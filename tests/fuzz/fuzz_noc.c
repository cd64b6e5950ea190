/* SPDX-License-Identifier: Apache-2.0 */
/* The NOC model on any sequence of events: no crash, and every finding points back in time. Each
 * event takes four bytes of the input, which choose from a few tiles, addresses and sizes, so that
 * requests, barriers, flags and accesses meet. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/core/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 4, EVENTS_MAX = 20000 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void diverged(void *context, const struct nocap_divergence *d)
{
    const uint64_t *count = context;
    require(d->index < *count && d->observed[0] != '\0');
    for (uint32_t i = 0; i < d->related_count; i++) {
        require(d->related[i] <= *count);
    }
}

static struct nocap_xy place(unsigned v)
{
    static const struct nocap_xy places[] = {{1, 2}, {3, 4}, {2, 2}, {0, 3}, {20, 25}, {19, 24}};
    return places[v % (sizeof places / sizeof places[0])];
}

static uint64_t address(unsigned v)
{
    static const uint64_t bases[] = {0x30000,    0x30010,    0x38000,    0x40000,
                                     0x370,      0x17FFF0,   0xFFB70438, 0xFFB20204,
                                     0xFFB20040, 0xFFEC0000, 0x68,       0xFFB2001C};
    return bases[v % (sizeof bases / sizeof bases[0])];
}

static void make_request(struct nocap_event *e, const uint8_t *b)
{
    static const uint16_t sizes[] = {4, 16, 64, 2048, 20000};
    e->kind = NOCAP_EV_NOC;
    e->op = (uint8_t)(NOCAP_OP_READ + b[1] % 4);
    e->noc = b[1] >> 2 & 1;
    e->phase = (uint8_t)(b[1] >> 3 & 3) % NOCAP_PHASE_COUNT;
    e->has |= NOCAP_F_NOC | (e->phase != NOCAP_PHASE_ISSUE ? NOCAP_F_PHASE : 0);
    if (e->phase != NOCAP_PHASE_ISSUE) {
        return;
    }
    e->posted = b[1] >> 5 & 1;
    e->mcast = b[1] >> 6 & 1;
    e->s = e->op == NOCAP_OP_READ ? place(b[2]) : e->at;
    e->d = e->op == NOCAP_OP_READ ? e->at : place(b[2]);
    e->d2 = place(b[2] >> 4);
    e->saddr = address(b[3]);
    e->daddr = address(b[3] >> 4);
    e->size = sizes[b[2] % 5];
    e->vc = b[3] % 6;
    e->has |= NOCAP_F_POSTED | NOCAP_F_MCAST | NOCAP_F_S | NOCAP_F_D | NOCAP_F_SADDR |
              NOCAP_F_DADDR | NOCAP_F_SIZE | (e->mcast ? NOCAP_F_D2 : 0) |
              (b[2] > 127 ? NOCAP_F_VC : 0);
}

static void make_access(struct nocap_event *e, const uint8_t *b)
{
    e->kind = b[1] & 1 ? NOCAP_EV_WRITE : NOCAP_EV_READ;
    e->by = b[1] > 240 ? NOCAP_BY_HOST : b[1] > 225 ? NOCAP_BY_NOC : e->by;
    e->addr = address(b[2]);
    e->size = UINT64_C(1) << (b[1] >> 1 & 3);
    e->value = b[3] & 3;
    e->has |= NOCAP_F_ADDR | NOCAP_F_SIZE | (b[3] > 64 ? NOCAP_F_VALUE : 0);
}

static void make_event(struct nocap_event *e, const uint8_t *b, uint64_t index)
{
    static const char *const notes[] = {"lock mem brisc 0x38000 64", "unlock mem brisc 0x38000 64",
                                        "wait read noc0 brisc", "wait semaphore ncrisc"};
    memset(e, 0, sizeof *e);
    e->index = e->t = index;
    e->by = (uint8_t)(NOCAP_BY_BRISC + b[0] % 3);
    e->at = place(b[0] >> 2 & 1);
    e->has = NOCAP_F_AT | NOCAP_F_BY;
    unsigned kind = b[0] >> 3;
    if (kind < 14) {
        make_request(e, b);
    } else if (kind < 29) {
        make_access(e, b);
    } else if (kind == 29) {
        e->kind = NOCAP_EV_KERNEL;
        e->op = b[1] & 1 ? NOCAP_OP_ENTER : NOCAP_OP_EXIT;
    } else if (kind == 30) {
        e->kind = NOCAP_EV_NOTE;
        e->data = (const uint8_t *)notes[b[1] % 4];
        e->data_size = (uint32_t)strlen(notes[b[1] % 4]);
        e->has = NOCAP_F_AT | NOCAP_F_TEXT;
    } else {
        e->kind = NOCAP_EV_DROP;
        e->value = 1;
        e->has = NOCAP_F_DROPPED;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t count = 0;
    struct nocap_header header;
    struct nocap_engine *engine;
    struct nocap_error err;
    if (size == 0) {
        return 0;
    }
    nocap_header_init(&header);
    header.arch = data[0] & 1 ? NOCAP_ARCH_WORMHOLE : NOCAP_ARCH_BLACKHOLE;
    header.board = data[0] & 2 ? NOCAP_BOARD_P150 : NOCAP_BOARD_UNKNOWN;
    header.has_observes = true;
    header.observes = UINT32_MAX;
    const struct nocap_engine_options options = {
        .size = sizeof options, .diverged = diverged, .context = &count};
    require(nocap_engine_new(&engine, &header, &options, &err) == NOCAP_OK);
    for (size_t at = 1; at + BYTES <= size && count < EVENTS_MAX; at += BYTES) {
        struct nocap_event e;
        make_event(&e, data + at, count++);
        require(nocap_engine_feed(engine, &e, 1, &err) == NOCAP_OK);
    }
    require(nocap_engine_finish(engine, false, &err) == NOCAP_OK);
    nocap_engine_free(engine);
    nocap_header_free(&header);
    return 0;
}
