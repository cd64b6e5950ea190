/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the simulated host, one function a command. */
#include <string.h>

#include "capture/sim/cq/put.h"
#include "formats/blackhole/niu.h"

enum {
    /* from the kernel configuration on: runtime arguments, semaphores, the binary */
    SEM_OFFSET = 0x40,
    BINARY_OFFSET = 0x60,
    UPLOAD_ADDR = 0x37000, /* user data */
    UPLOAD_LEAST = 16,     /* bytes */
    UPLOAD_SMALL = 9000,
    UPLOAD_LARGE = 120000,
    UPLOADS_SALT = 100,
    NEXT_SLOT = 1,
    UNKNOWN_FLAG = 0x20,
    DRAM_ADDR = 0x100000,
    CONFIG_PLACE = 0x4000, /* bytes */
    CONFIG_INDEX = 1,
};

static uint8_t *inner(struct sim_cq *q)
{
    return q->record + NOCAP_CQ_HEADER;
}

/* The command's header is in place and `length` bytes follow in all: header, padding, size. */
static void close_record(struct sim_cq *q, uint32_t length)
{
    q->records++;
    q->record_size = (uint32_t)nocap_cq_align(length + NOCAP_CQ_HEADER, q->n->record_align);
    nocap_cq_encode(&(struct nocap_cq_command){.set = q->set,
                                               .side = NOCAP_CQ_PREFETCH,
                                               .id = NOCAP_CQ_PREFETCH_RELAY_INLINE,
                                               .length = length,
                                               .stride = q->record_size},
                    q->record);
    memset(inner(q) + length, 0, q->record_size - NOCAP_CQ_HEADER - length);
}

void sim_cq_address(struct sim_cq *q, uint32_t dispatcher)
{
    struct nocap_cq_command c;
    nocap_cq_decode_by(q->set, NOCAP_CQ_PREFETCH, q->record, q->record_size, &c);
    c.dispatcher_type = dispatcher;
    nocap_cq_encode(&c, q->record);
}

void sim_cq_put_command(struct sim_cq *q, const struct nocap_cq_command *c)
{
    close_record(q, (uint32_t)nocap_cq_encode(c, inner(q)));
}

static void fill(struct sim_cq *q, uint8_t *bytes, uint32_t size, uint64_t salt)
{
    uint64_t x = sim_mix(&q->k, 7, salt) | 1;
    for (uint32_t i = 0; i < size; i += 8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(bytes + i, &x, size - i < 8 ? size - i : 8);
    }
}

/* Sub-command `i` of the command that was put there. */
static void put_sub(struct sim_cq *q, const struct nocap_cq_command *c, uint32_t i,
                    const struct nocap_cq_command *sub)
{
    struct nocap_cq_subs subs;
    nocap_cq_subs(c, &subs);
    nocap_cq_encode(sub, inner(q) + subs.offset + i * subs.size);
}

/* Where the configuration of the program's kernels begins: with write offsets each of some programs
 * in a row has a place of its own. */
static uint32_t config_base(const struct sim_cq *q)
{
    uint32_t place = q->lowering.program.index % CQ_CONFIG_PLACES;
    return q->n->kernel_config + (sim_cq_counts_on(q) ? place * CONFIG_PLACE : 0);
}

/* An address in it as commands have it, and the write offset that goes with it. */
static uint32_t config_address(const struct sim_cq *q, uint32_t offset)
{
    return offset + (sim_cq_counts_on(q) ? 0 : config_base(q));
}

static uint32_t config_index(const struct sim_cq *q)
{
    return sim_cq_counts_on(q) ? CONFIG_INDEX : 0;
}

/* WRITE_PACKED_LARGE: `size` bytes to all of the role, one copy a rectangle; `index`: of the write
 * offset. */
static void put_large(struct sim_cq *q, uint32_t addr, uint32_t index, const uint8_t *data,
                      uint32_t size)
{
    const struct cq_cores *cores = q->lowering.cores;
    struct nocap_cq_command c = {.set = q->set,
                                 .side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE,
                                 .type = NOCAP_CQ_TYPE_BINARIES,
                                 .count = cores->rects,
                                 .write_offset_index = index,
                                 .alignment = NOCAP_CQ_L1_ALIGN};
    uint32_t at = (uint32_t)nocap_cq_data_offset(&c);
    memset(inner(q), 0, at);
    nocap_cq_encode(&c, inner(q));
    for (uint32_t i = 0; i < cores->rects; i++) {
        bool last = i + 1 == cores->rects;
        bool linked = last && sim_cq_fault_due(q, NOCAP_SIM_FAULT_NO_UNLINK);
        uint32_t dests = nocap_cq_rect_area(cores->rect[i]);
        if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_DESTS_WRONG)) {
            dests = dests > 1 ? dests - 1 : 2;
        }
        struct nocap_cq_command sub = {.set = q->set,
                                       .side = NOCAP_CQ_SUB,
                                       .id = NOCAP_CQ_SUB_PACKED_LARGE,
                                       .noc_xy = nocap_cq_rect_encode(cores->rect[i]),
                                       .addr = addr,
                                       .length_minus1 = size - 1,
                                       .num_mcast_dests = dests,
                                       .flags = linked ? 0u : NOCAP_CQ_LARGE_FLAG_UNLINK};
        uint32_t padded = (uint32_t)nocap_cq_align(size, NOCAP_CQ_L1_ALIGN);
        put_sub(q, &c, i, &sub);
        memcpy(inner(q) + at, data, size);
        memset(inner(q) + at + size, 0, padded - size);
        at += padded;
    }
    close_record(q, at);
}

void sim_cq_put_word(struct sim_cq *q, uint32_t addr, uint32_t value)
{
    uint8_t word[4];
    sim_cq_store32(word, 0, value);
    put_large(q, addr, 0, word, sizeof word);
}

static uint32_t noc_xy(const struct sim_cq *q, uint32_t worker)
{
    return nocap_niu_hi(q->worker[worker].at);
}

/* As many workers from `first` on as the dispatcher's cache takes. */
static uint32_t arguments_count(const struct sim_cq *q, uint32_t first)
{
    uint32_t left = q->workers - first;
    return left < q->n->packed_unicast ? left : q->n->packed_unicast;
}

/* Header and sub-commands of a WRITE_PACKED; returns where its payload begins. */
static uint32_t put_destinations(struct sim_cq *q, const struct nocap_cq_command *c, uint32_t first)
{
    uint32_t at = (uint32_t)nocap_cq_data_offset(c);
    memset(inner(q), 0, at);
    nocap_cq_encode(c, inner(q));
    for (uint32_t i = 0; i < c->count; i++) {
        struct nocap_cq_command sub = {.set = q->set,
                                       .side = NOCAP_CQ_SUB,
                                       .id = NOCAP_CQ_SUB_PACKED_UNICAST,
                                       .noc_xy = noc_xy(q, first + i)};
        put_sub(q, c, i, &sub);
    }
    return at;
}

/* 16 bytes of its own to each. */
void sim_cq_put_arguments(struct sim_cq *q, uint32_t slice, uint32_t first)
{
    bool unaligned = sim_cq_fault_due(q, NOCAP_SIM_FAULT_UNALIGNED_DESTINATION);
    struct nocap_cq_command c = {.set = q->set,
                                 .side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_PACKED,
                                 .count = arguments_count(q, first),
                                 .size = NOCAP_CQ_L1_ALIGN,
                                 .write_offset_index = config_index(q),
                                 .addr = config_address(q, slice * NOCAP_CQ_L1_ALIGN) +
                                         (unaligned ? 8u : 0u)};
    uint32_t at = put_destinations(q, &c, first);
    uint32_t size = (uint32_t)c.count * NOCAP_CQ_L1_ALIGN;
    fill(q, inner(q) + at, size, q->lowering.program.index * CQ_RTA_SLICES + slice);
    close_record(q, at + size);
}

/* The same bytes to all, by multicast. */
void sim_cq_multicast_arguments(struct sim_cq *q)
{
    uint8_t bytes[CQ_RTA_SLICES * NOCAP_CQ_L1_ALIGN];
    fill(q, bytes, sizeof bytes, q->lowering.program.index);
    put_large(q, config_address(q, 0), config_index(q), bytes,
              q->lowering.program.slices * NOCAP_CQ_L1_ALIGN);
}

/* The same bytes to each: the dispatcher does not step over them. */
void sim_cq_share_arguments(struct sim_cq *q, uint32_t first)
{
    struct nocap_cq_command c = {.set = q->set,
                                 .side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_PACKED,
                                 .flags = NOCAP_CQ_PACKED_FLAG_NO_STRIDE,
                                 .count = arguments_count(q, first),
                                 .size = q->lowering.program.slices * NOCAP_CQ_L1_ALIGN,
                                 .write_offset_index = config_index(q),
                                 .addr = config_address(q, 0)};
    uint32_t at = put_destinations(q, &c, first);
    fill(q, inner(q) + at, (uint32_t)c.size, q->lowering.program.index);
    close_record(q, at + (uint32_t)c.size);
}

/* A prefetch command after the record that was made, to be published with it. */
static void add_prefetch(struct sim_cq *q, struct nocap_cq_command c)
{
    uint8_t *at = q->record + q->record_size;
    c.set = q->set;
    c.side = NOCAP_CQ_PREFETCH;
    memset(at, 0, q->n->record_align);
    nocap_cq_encode(&c, at);
    q->record_size += q->n->record_align;
}

/* The data of the write `c` come from DRAM. */
static void gather_upload(struct sim_cq *q, const struct nocap_cq_command *c)
{
    uint32_t length = (uint32_t)nocap_cq_encode(c, inner(q));
    close_record(q, length);
    nocap_cq_encode(&(struct nocap_cq_command){.set = q->set,
                                               .side = NOCAP_CQ_PREFETCH,
                                               .id = NOCAP_CQ_PREFETCH_RELAY_INLINE_NOFLUSH,
                                               .length = length,
                                               .stride = q->record_size},
                    q->record);
    add_prefetch(q, (struct nocap_cq_command){.id = NOCAP_CQ_PREFETCH_RELAY_LINEAR,
                                              .noc_xy = nocap_niu_hi(sim_cq_dram_tile()),
                                              .addr = DRAM_ADDR,
                                              .length = c->length});
}

void sim_cq_put_upload(struct sim_cq *q, uint32_t upload)
{
    bool gathers = q->options.scenario == NOCAP_SIM_FAST_DISPATCH_PACKED && q->n->inline_only == 0;
    bool rings = q->options.scenario == NOCAP_SIM_FAST_DISPATCH_RINGS;
    uint64_t x = sim_mix(&q->k, 3 + upload * UPLOADS_SALT, q->lowering.program.index);
    uint32_t size = (uint32_t)(UPLOAD_LEAST + x % (rings ? UPLOAD_LARGE : UPLOAD_SMALL));
    struct nocap_cq_command c = {.set = q->set,
                                 .side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_LINEAR,
                                 .noc_xy = noc_xy(q, (uint32_t)((x >> 32) % q->workers)),
                                 .addr = UPLOAD_ADDR,
                                 .length = size};
    if (gathers && x % 2 == 0) {
        gather_upload(q, &c);
        return;
    }
    size_t at = nocap_cq_encode(&c, inner(q));
    fill(q, inner(q) + at, size, x);
    close_record(q, (uint32_t)at + size);
}

/* The lowest bit from 0x20 on that this runtime's WAIT does not have. */
static uint32_t unknown_flag(const struct sim_cq *q)
{
    uint32_t taken = 0, flag = UNKNOWN_FLAG;
    for (unsigned i = 0; i < NOCAP_CQ_FLAGS; i++) {
        const struct nocap_cq_flag_info *info = &nocap_cq_flags[i];
        bool of_wait = info->side == NOCAP_CQ_DISPATCH && info->id == NOCAP_CQ_DISPATCH_WAIT;
        taken |= of_wait ? q->set->flags[i] | info->value : 0u;
    }
    while ((taken & flag) != 0) {
        flag <<= 1;
    }
    return flag;
}

static void put_wait(struct sim_cq *q, uint32_t flags, uint32_t count)
{
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_WAIT_UNKNOWN_FLAG)) {
        flags |= unknown_flag(q);
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_WAIT_NOTIFIES_PREFETCH)) {
        flags |= NOCAP_CQ_WAIT_NOTIFY_PREFETCH;
    }
    sim_cq_put_command(q, &(struct nocap_cq_command){
                              .set = q->set,
                              .side = NOCAP_CQ_DISPATCH,
                              .id = NOCAP_CQ_DISPATCH_WAIT,
                              .flags = flags,
                              .stream = flags & NOCAP_CQ_WAIT_STREAM ? q->n->first_stream : 0,
                              .count = count});
}

void sim_cq_put_stall(struct sim_cq *q)
{
    put_wait(q, NOCAP_CQ_WAIT_BARRIER | NOCAP_CQ_WAIT_NOTIFY_PREFETCH, 0);
    add_prefetch(q, (struct nocap_cq_command){.id = NOCAP_CQ_PREFETCH_STALL});
}

void sim_cq_put_in_buffer(struct sim_cq *q)
{
    memcpy(q->buffer + q->buffer_size, q->record, q->record_size);
    q->buffer_size += q->record_size;
}

/* The buffer ends with a command that lets the prefetcher return. */
void sim_cq_put_exec(struct sim_cq *q)
{
    const uint32_t align = q->n->record_align;
    uint8_t *last = q->buffer + q->buffer_size;
    memset(last, 0, align);
    nocap_cq_encode(&(struct nocap_cq_command){.set = q->set,
                                               .side = NOCAP_CQ_PREFETCH,
                                               .id = NOCAP_CQ_PREFETCH_EXEC_BUF_END,
                                               .length = NOCAP_CQ_HEADER,
                                               .stride = align},
                    last);
    nocap_cq_encode(&(struct nocap_cq_command){.set = q->set,
                                               .side = NOCAP_CQ_DISPATCH,
                                               .id = NOCAP_CQ_DISPATCH_WAIT,
                                               .flags = NOCAP_CQ_WAIT_BARRIER},
                    last + NOCAP_CQ_HEADER);
    memset(q->entry, 0, align);
    nocap_cq_encode(&(struct nocap_cq_command){.set = q->set,
                                               .side = NOCAP_CQ_PREFETCH,
                                               .id = NOCAP_CQ_PREFETCH_EXEC_BUF,
                                               .base_addr = DRAM_ADDR,
                                               .log_page_size = 12,
                                               .pages = q->buffer_size / q->n->page + 1},
                    q->entry);
    q->entry_size = align;
    q->entry_records = 1;
    q->executes = true;
    q->executed_size = q->buffer_size + align;
    q->buffer_size = 0;
}

void sim_cq_put_barrier(struct sim_cq *q)
{
    put_wait(q, NOCAP_CQ_WAIT_BARRIER, 0);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_PAD_NOT_ZERO)) {
        q->record[2] = 1;
    }
}

void sim_cq_put_wait_stream(struct sim_cq *q, uint32_t count)
{
    put_wait(q, NOCAP_CQ_WAIT_STREAM | NOCAP_CQ_WAIT_CLEAR_STREAM, count);
}

void sim_cq_put_wait_count(struct sim_cq *q, uint32_t count)
{
    put_wait(q, NOCAP_CQ_WAIT_BARRIER | NOCAP_CQ_WAIT_STREAM, count);
}

void sim_cq_put_offsets(struct sim_cq *q)
{
    struct nocap_cq_command c = {.set = q->set,
                                 .side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET,
                                 .offset_count = CONFIG_INDEX + 2,
                                 .program_host_id = q->lowering.program.index + 1};
    uint32_t length = (uint32_t)nocap_cq_data_offset(&c);
    memset(inner(q), 0, length);
    size_t header = nocap_cq_encode(&c, inner(q));
    for (uint32_t i = CONFIG_INDEX; i < c.offset_count; i++) {
        sim_cq_store32(inner(q), (uint32_t)header + 4 * i, config_base(q));
    }
    close_record(q, length);
}

void sim_cq_put_worker_sems(struct sim_cq *q)
{
    sim_cq_put_command(q, &(struct nocap_cq_command){.set = q->set,
                                                     .side = NOCAP_CQ_DISPATCH,
                                                     .id = NOCAP_CQ_DISPATCH_SET_NUM_WORKER_SEMS,
                                                     .num_worker_sems = 1});
    sim_cq_address(q, 1);
}

void sim_cq_put_notify(struct sim_cq *q, bool barrier)
{
    sim_cq_put_command(
        q, &(struct nocap_cq_command){.set = q->set,
                                      .side = NOCAP_CQ_DISPATCH,
                                      .id = NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL,
                                      .wait = barrier,
                                      .index_bitmask = 1});
}

void sim_cq_put_stamp(struct sim_cq *q, uint32_t slot)
{
    uint32_t addr = (uint32_t)q->n->sysmem + q->n->timestamps + slot * q->n->timestamp_stride;
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_TIMESTAMP_OUTSIDE)) {
        addr = (uint32_t)q->n->sysmem + q->n->timestamps +
               q->n->timestamp_slots * q->n->timestamp_stride;
    }
    sim_cq_put_command(q, &(struct nocap_cq_command){.set = q->set,
                                                     .side = NOCAP_CQ_DISPATCH,
                                                     .id = NOCAP_CQ_DISPATCH_TIMESTAMP,
                                                     .noc_xy = q->n->pcie_xy_flag |
                                                               nocap_niu_hi(sim_cq_pcie_tile(q)),
                                                     .addr = addr});
}

void sim_cq_put_message(struct sim_cq *q)
{
    const struct cq_program *p = &q->lowering.program;
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    bool host_mode = sim_cq_fault_due(q, NOCAP_SIM_FAULT_MESSAGE_HOST_MODE);
    bool next = sim_cq_fault_due(q, NOCAP_SIM_FAULT_MESSAGE_NEXT_SLOT);
    struct nocap_launch message = {
        .kernel_config_base = {config_base(q)},
        .sem_offset = {SEM_OFFSET},
        .local_cb_offset = BINARY_OFFSET,
        .remote_cb_offset = BINARY_OFFSET,
        .mode = host_mode ? NOCAP_MODE_HOST : NOCAP_MODE_DEV,
        .brisc_noc_id = (uint8_t)q->n->noc_dispatch,
        .min_remote_cb_start_index = NOCAP_CB_COUNT,
        .host_assigned_id = (uint32_t)p->index + 1,
        .enables = p->enables[q->lowering.role],
    };
    for (unsigned i = 0; i < NOCAP_PROCESSOR_COUNT; i++) {
        message.kernel_text_offset[i] = BINARY_OFFSET + 0x40 * (i + 1);
    }
    nocap_launch_encode(q->layout, &message, bytes);
    uint32_t slot = sim_cq_counts_on(q) ? (uint32_t)(p->index % q->layout->launch_slots) : 0;
    put_large(q, nocap_launch_slot(q->layout, next ? NEXT_SLOT : slot), 0, bytes,
              q->layout->launch_size);
}

void sim_cq_put_chunk(struct sim_cq *q, uint32_t chunk)
{
    uint8_t bytes[NOCAP_CQ_LARGE_CHUNK];
    fill(q, bytes, sizeof bytes, 1000 + q->lowering.role * CQ_CHUNKS_MAX + chunk);
    put_large(q, config_address(q, BINARY_OFFSET + chunk * NOCAP_CQ_LARGE_CHUNK), config_index(q),
              bytes, sizeof bytes);
}

/* Its tiles; or its rectangles, where the runtime has them in the table. */
void sim_cq_put_go_list(struct sim_cq *q, bool multicasts)
{
    const struct cq_cores *all = &q->cores[CQ_ROLE_ALL];
    bool rectangles = multicasts && q->set->multicasts_by_count;
    struct nocap_cq_command c = {.set = q->set,
                                 .side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA,
                                 .num_words = rectangles ? NOCAP_CQ_MULTICAST_WORDS * all->rects
                                                         : q->workers};
    uint32_t length = (uint32_t)nocap_cq_data_offset(&c);
    memset(inner(q), 0, length);
    uint8_t *word = inner(q) + nocap_cq_encode(&c, inner(q));
    for (uint32_t i = 0; rectangles && i < all->rects; i++, word += 8) {
        sim_cq_store32(word, 0, nocap_cq_rect_encode(all->rect[i]));
        sim_cq_store32(word, 4, nocap_cq_rect_area(all->rect[i]));
    }
    for (uint32_t i = 0; !rectangles && i < q->workers; i++, word += 4) {
        sim_cq_store32(word, 0, noc_xy(q, i));
    }
    close_record(q, length);
}

void sim_cq_put_go(struct sim_cq *q, uint32_t count, uint32_t wait_count, bool multicasts)
{
    const struct nocap_xy counts = q->board.subordinate;
    struct nocap_go_word go = {.master_x = counts.x, .master_y = counts.y, .signal = NOCAP_GO_GO};
    bool mcast = multicasts || sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_MULTICAST);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_WRONG_STREAM)) {
        go.offset = 1;
    }
    sim_cq_put_command(
        q, &(struct nocap_cq_command){.set = q->set,
                                      .side = NOCAP_CQ_DISPATCH,
                                      .id = NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL,
                                      .go_signal = nocap_go_encode(go),
                                      .multicast_go_offset = mcast ? 0 : NOCAP_CQ_NO_MCAST_GO,
                                      .num_mcast_txns = mcast ? q->cores[CQ_ROLE_ALL].rects : 0,
                                      .num_unicast_txns = count,
                                      .wait_count = wait_count,
                                      .wait_stream = q->n->first_stream});
}

void sim_cq_put_event(struct sim_cq *q)
{
    struct cq_host *h = &q->host;
    struct nocap_cq_command c = {.set = q->set,
                                 .side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST,
                                 .is_event = 1,
                                 .length = q->n->event_bytes};
    bool nothing_out = h->event == h->event_seen && h->event > 0;
    if (nothing_out && sim_cq_fault_due(q, NOCAP_SIM_FAULT_EVENT_ID_SKIPPED)) {
        h->event++;
        h->event_seen++;
    }
    h->event++;
    memset(inner(q), 0, q->n->event_bytes);
    size_t header = nocap_cq_encode(&c, inner(q));
    sim_cq_store32(inner(q), (uint32_t)header, (uint32_t)h->event);
    close_record(q, q->n->event_bytes);
}
