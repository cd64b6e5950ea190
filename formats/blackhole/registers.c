/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/registers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct row {
    uint32_t id, count, stride;
    uint8_t access;
    const char *name, *sentence;
};

#define REGISTER(NAME, address, count, stride, access, sentence)                                   \
    {(address), (count), (stride), NOCAP_REGISTER_##access, #NAME, (sentence)},
static const struct row plain_rows[] = {
#include "formats/blackhole/registers.def"
};
#define NIU_REGISTER(NAME, offset, count, access, sentence)                                        \
    {(offset), (count), 4, NOCAP_REGISTER_##access, #NAME, (sentence)},
static const struct row niu_rows[] = {
#include "formats/blackhole/registers.def"
};
#define NIU_BUFFER_REGISTER(NAME, offset, access, sentence)                                        \
    {(offset), 1, 4, NOCAP_REGISTER_##access, #NAME, (sentence)},
static const struct row buffer_rows[] = {
#include "formats/blackhole/registers.def"
};
#define NIU_COUNTER(NAME, index, count, sentence)                                                  \
    {(index), (count), 1, NOCAP_REGISTER_RO, #NAME, (sentence)},
static const struct row counter_rows[] = {
#include "formats/blackhole/registers.def"
};
#define STREAM_REGISTER(NAME, index, access, sentence)                                             \
    {(index), 1, 1, NOCAP_REGISTER_##access, #NAME, (sentence)},
static const struct row stream_rows[] = {
#include "formats/blackhole/registers.def"
};
#define FIND(rows, id, place) find_row(rows, sizeof(rows) / sizeof((rows)[0]), id, place)

/* The row that `id` is, or is one of; fills what the row says. */
static bool find_row(const struct row *rows, size_t count, uint32_t id,
                     struct nocap_register_place *place)
{
    for (const struct row *row = rows; row < rows + count; row++) {
        uint32_t distance = id - row->id; /* wraps below the row, which is then too far */
        uint32_t index = row->count > 1 ? distance / row->stride : 0;
        if (index < row->count && distance == index * row->stride) {
            place->id = row->id;
            place->count = (uint16_t)row->count;
            place->index = (uint16_t)index;
            place->access = row->access;
            place->name = row->name;
            place->sentence = row->sentence;
            return true;
        }
    }
    return false;
}

static bool find_niu(uint32_t noc, uint32_t offset, struct nocap_register_place *place)
{
    place->noc = (uint8_t)noc;
    uint32_t buffer = offset / NOCAP_NIU_BUFFER_STRIDE;
    if (buffer < NOCAP_NIU_BUFFERS && FIND(buffer_rows, offset % NOCAP_NIU_BUFFER_STRIDE, place)) {
        place->family = NOCAP_FAMILY_NIU_BUFFER;
        place->buffer = (uint8_t)buffer;
        return true;
    }
    uint32_t counter = (offset - NOCAP_NIU_COUNTER_BASE) / 4;
    if (offset >= NOCAP_NIU_COUNTER_BASE && counter < NOCAP_COUNTER_COUNT &&
        FIND(counter_rows, counter, place)) {
        place->family = NOCAP_FAMILY_NIU_COUNTER;
        return true;
    }
    if (FIND(niu_rows, offset, place)) {
        place->family = NOCAP_FAMILY_NIU;
        return true;
    }
    return false;
}

static bool find_stream(uint32_t offset, struct nocap_register_place *place)
{
    uint32_t index = offset % NOCAP_STREAM_STRIDE / 4;
    place->family = NOCAP_FAMILY_STREAM;
    place->stream = (uint16_t)(offset / NOCAP_STREAM_STRIDE);
    place->access = NOCAP_REGISTER_RW;
    FIND(stream_rows, index, place);
    place->index = (uint16_t)index;
    return true;
}

/* Thread whose copy `by` reaches through the window of thread `window`. */
static int8_t thread_of(unsigned by, uint32_t window)
{
    const struct nocap_core_info *core = nocap_core(by);
    return core && core->thread >= 0 && window == 0 ? core->thread : (int8_t)window;
}

static bool find_pc_buffer(uint32_t addr, unsigned by, struct nocap_register_place *place)
{
    uint32_t size = NOCAP_BASE_PC_BUF1 - NOCAP_BASE_PC_BUF0;
    uint32_t offset = (addr - NOCAP_BASE_PC_BUF0) % size;
    if (by == NOCAP_BY_BRISC || !FIND(plain_rows, NOCAP_BASE_PC_BUF0 + offset, place)) {
        return false;
    }
    place->family = NOCAP_FAMILY_PLAIN;
    if (place->id != NOCAP_REG_SEM) { /* the semaphores are one set for all threads */
        place->thread = thread_of(by, (addr - NOCAP_BASE_PC_BUF0) / size);
    }
    return true;
}

static bool find_gpr(uint32_t offset, unsigned by, struct nocap_register_place *place)
{
    place->family = NOCAP_FAMILY_GPR;
    place->access = NOCAP_REGISTER_RW;
    place->thread = thread_of(by, offset / NOCAP_GPR_THREAD_SIZE);
    place->index = (uint16_t)(offset % NOCAP_GPR_THREAD_SIZE / 4);
    return true;
}

static bool find_fifo(uint32_t addr, unsigned by, struct nocap_register_place *place)
{
    uint32_t size = NOCAP_BASE_INSTRN_FIFO1 - NOCAP_BASE_INSTRN_FIFO0;
    place->family = NOCAP_FAMILY_INSTRN_FIFO;
    place->access = NOCAP_REGISTER_WO;
    place->thread = thread_of(by, (addr - NOCAP_BASE_INSTRN_FIFO0) / size);
    return true;
}

static bool find_plain(uint32_t addr, unsigned by, struct nocap_register_place *place)
{
    if (!FIND(plain_rows, addr, place)) {
        return false;
    }
    place->family = NOCAP_FAMILY_PLAIN;
    const struct nocap_core_info *core = nocap_core(by);
    if (place->id == NOCAP_REG_MOP_CFG && core) { /* one set a thread, at the same address */
        place->thread = core->thread;
    }
    return true;
}

bool nocap_register_find(uint64_t addr, unsigned by, struct nocap_register_place *place)
{
    memset(place, 0, sizeof(*place));
    place->thread = -1;
    const struct nocap_region_info *info = nocap_tile_region(addr);
    uint32_t word = (uint32_t)addr & ~UINT32_C(3);
    uint32_t offset = word - (uint32_t)info->first;
    switch (info->region) {
    case NOCAP_REGION_NIU0: return find_niu(0, offset, place);
    case NOCAP_REGION_NIU1: return find_niu(1, offset, place);
    case NOCAP_REGION_STREAM: return find_stream(offset, place);
    case NOCAP_REGION_GPR: return find_gpr(offset, by, place);
    case NOCAP_REGION_INSTRN_FIFO0:
    case NOCAP_REGION_INSTRN_FIFO1:
    case NOCAP_REGION_INSTRN_FIFO2: return find_fifo(word, by, place);
    case NOCAP_REGION_PC_BUF0:
    case NOCAP_REGION_PC_BUF1:
    case NOCAP_REGION_PC_BUF2: return find_pc_buffer(word, by, place);
    default: return info->kind == NOCAP_KIND_REGISTERS && find_plain(word, by, place);
    }
}

bool nocap_register_read_only(uint64_t addr)
{
    const struct nocap_region_info *info = nocap_tile_region(addr);
    if (info->region == NOCAP_REGION_NIU0 || info->region == NOCAP_REGION_NIU1) {
        uint64_t offset = addr - info->first;
        return offset >= NOCAP_NIU_COUNTER_BASE &&
               offset < NOCAP_NIU_COUNTER_BASE + 4 * NOCAP_COUNTER_COUNT;
    }
    return info->load != 0 && info->store == 0;
}

/* What a register has no name for: region, index and offset. */
static void name_place(uint64_t addr, unsigned by, char *buffer, size_t size)
{
    const struct nocap_region_info *info = nocap_tile_region(addr);
    uint64_t offset = addr - info->first;
    int length = 0;
    switch (info->region) {
    case NOCAP_REGION_GAP: snprintf(buffer, size, "gap"); return;
    case NOCAP_REGION_PC_BUF0:
    case NOCAP_REGION_PC_BUF1:
    case NOCAP_REGION_PC_BUF2:
        length = snprintf(buffer, size, "PC_BUF[t%d]",
                          thread_of(by, (uint32_t)info->region - NOCAP_REGION_PC_BUF0));
        break;
    case NOCAP_REGION_TENSIX_CFG:
        length = snprintf(buffer, size, "TENSIX_CFG[%" PRIu64 "]", offset / 4);
        offset %= 4;
        break;
    default: length = snprintf(buffer, size, "%s", info->name); break;
    }
    if (offset != 0 && length > 0 && (size_t)length < size) {
        snprintf(buffer + length, size - (size_t)length, "+0x%" PRIx64, offset);
    }
}

/* "NAME", "NAME[t1]", "NAME[3]", "NAME[t1][3]" */
static void name_row(const struct nocap_register_place *place, char *buffer, size_t size)
{
    char thread[8] = "", index[8] = "";
    if (place->thread >= 0) {
        snprintf(thread, sizeof(thread), "[t%d]", place->thread);
    }
    if (place->count > 1) {
        snprintf(index, sizeof(index), "[%u]", place->index);
    }
    snprintf(buffer, size, "%s%s%s", place->name, thread, index);
}

static void name_stream(const struct nocap_register_place *place, char *buffer, size_t size)
{
    char name[40] = "";
    for (size_t i = 0; place->name && place->name[i] != '\0' && i + 1 < sizeof(name); i++) {
        name[i] = (char)tolower((unsigned char)place->name[i]);
        name[i + 1] = '\0';
    }
    bool tiles = place->name != NULL && (place->index == NOCAP_STREAM_TILES_ACKED ||
                                         place->index == NOCAP_STREAM_TILES_RECEIVED);
    if (tiles && place->stream >= NOCAP_CB_STREAM &&
        place->stream < NOCAP_CB_STREAM + NOCAP_CB_COUNT) {
        snprintf(buffer, size, "CB[%d].%s", place->stream - NOCAP_CB_STREAM, name);
        return;
    }
    snprintf(buffer, size, place->name ? "STREAM[%u].REG[%u](%s)" : "STREAM[%u].REG[%u]%s",
             place->stream, place->index, name);
}

const char *nocap_register_name(uint64_t addr, unsigned by, char *buffer, size_t size)
{
    struct nocap_register_place place;
    char row[48];
    if (!nocap_register_find(addr, by, &place)) {
        name_place(addr, by, buffer, size);
        return buffer;
    }
    switch (place.family) {
    case NOCAP_FAMILY_NIU_BUFFER:
        snprintf(buffer, size, "NIU%u.CMD_BUF%u.%s", place.noc, place.buffer, place.name);
        break;
    case NOCAP_FAMILY_NIU:
    case NOCAP_FAMILY_NIU_COUNTER:
        name_row(&place, row, sizeof(row));
        snprintf(buffer, size, "NIU%u.%s", place.noc, row);
        break;
    case NOCAP_FAMILY_STREAM: name_stream(&place, buffer, size); break;
    case NOCAP_FAMILY_GPR: snprintf(buffer, size, "GPR[t%d][%u]", place.thread, place.index); break;
    case NOCAP_FAMILY_INSTRN_FIFO: snprintf(buffer, size, "INSTRN_FIFO[t%d]", place.thread); break;
    default: name_row(&place, buffer, size); break;
    }
    size_t length = strlen(buffer);
    if (addr % 4 != 0) {
        snprintf(buffer + length, size - length, "+%u", (unsigned)(addr % 4));
    }
    return buffer;
}

uint32_t nocap_reset_pc_register(unsigned agent)
{
    switch (agent) {
    case NOCAP_BY_NCRISC: return NOCAP_REG_NCRISC_RESET_PC;
    case NOCAP_BY_TRISC0: return NOCAP_REG_TRISC0_RESET_PC;
    case NOCAP_BY_TRISC1: return NOCAP_REG_TRISC1_RESET_PC;
    case NOCAP_BY_TRISC2: return NOCAP_REG_TRISC2_RESET_PC;
    default: return 0;
    }
}

uint32_t nocap_reset_pc_override(unsigned agent, uint32_t *mask)
{
    *mask = 0;
    switch (agent) {
    case NOCAP_BY_NCRISC:
        *mask = NOCAP_RESET_PC_OVERRIDE_NCRISC;
        return NOCAP_REG_NCRISC_RESET_PC_OVERRIDE;
    case NOCAP_BY_TRISC0:
    case NOCAP_BY_TRISC1:
    case NOCAP_BY_TRISC2:
        *mask = UINT32_C(1) << nocap_core(agent)->thread;
        return NOCAP_REG_TRISC_RESET_PC_OVERRIDE;
    default: return 0;
    }
}
