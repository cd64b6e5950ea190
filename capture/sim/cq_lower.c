/* From programs to records: what the host puts into the queue for a run. One record a call, so a
 * run of any length needs the room of one. */
#include <string.h>

#include "capture/sim/cq_machine.h"
#include "formats/blackhole/niu.h"

enum {
    RTA = NOCAP_CQ_KERNEL_CONFIG, /* runtime arguments, semaphores, then the binary */
    RTA_SLICES = 3,
    SEM_OFFSET = 0x40,
    BINARY_OFFSET = 0x60,
    CHUNKS_MAX = 3,
    UPLOAD_ADDR = 0x37000, /* user data */
    UPLOAD_LEAST = 16,     /* bytes */
    UPLOAD_SMALL = 9000,
    UPLOAD_LARGE = 120000,
    UPLOADS_LEAST =
        5, /* in a program of the scenario that wraps all rings; fewer than twice as many */
    UPLOADS_SALT = 100,
    NEXT_SLOT = 1,
    UNKNOWN_FLAG = 0x20,
    UNKNOWN_COMMAND = NOCAP_CQ_DISPATCH_SINK,
};

/* ---- one record ---- */

static uint8_t *inner(struct sim_cq *q)
{
    return q->record + NOCAP_CQ_HEADER;
}

/* The command's header is in place and `length` bytes follow in all: header, padding, size. */
static void close_record(struct sim_cq *q, uint32_t length)
{
    q->records++;
    q->record_size = nocap_cq_encode_relay_inline(length, q->record);
    memset(inner(q) + length, 0, q->record_size - NOCAP_CQ_HEADER - length);
}

static void put_command(struct sim_cq *q, const struct nocap_cq_command *c)
{
    close_record(q, (uint32_t)nocap_cq_encode(c, inner(q)));
}

static void fill(struct sim_cq *q, uint8_t *bytes, uint32_t size, uint64_t salt)
{
    uint64_t x = sim_cq_mix(q, 7, salt) | 1;
    for (uint32_t i = 0; i < size; i += 8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(bytes + i, &x, size - i < 8 ? size - i : 8);
    }
}

/* WRITE_PACKED_LARGE: `size` bytes to all of the role, one copy a rectangle. */
static void put_large(struct sim_cq *q, uint32_t addr, const uint8_t *data, uint32_t size)
{
    const struct cq_cores *cores = q->lowering.cores;
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE,
                                 .type = NOCAP_CQ_TYPE_BINARIES,
                                 .count = cores->rects,
                                 .alignment = NOCAP_CQ_L1_ALIGN};
    uint32_t at = (uint32_t)nocap_cq_data_offset(&c);
    memset(inner(q), 0, at);
    nocap_cq_encode(&c, inner(q));
    for (uint32_t i = 0; i < cores->rects; i++) {
        bool last = i + 1 == cores->rects;
        bool linked = last && sim_cq_strikes(q, NOCAP_SIM_FAULT_NO_UNLINK);
        uint32_t dests = nocap_cq_rect_area(cores->rect[i]);
        if (dests > 1 && sim_cq_strikes(q, NOCAP_SIM_FAULT_DESTS_TOO_FEW)) {
            dests--;
        }
        struct nocap_cq_command sub = {.side = NOCAP_CQ_SUB,
                                       .id = NOCAP_CQ_SUB_PACKED_LARGE,
                                       .noc_xy = nocap_cq_rect_encode(cores->rect[i]),
                                       .addr = addr,
                                       .length_minus1 = size - 1,
                                       .num_mcast_dests = dests,
                                       .flags = linked ? 0u : NOCAP_CQ_LARGE_FLAG_UNLINK};
        uint32_t padded = (uint32_t)nocap_cq_align(size, NOCAP_CQ_L1_ALIGN);
        nocap_cq_encode(&sub, inner(q) + NOCAP_CQ_HEADER +
                                  i * nocap_cq_header_size(NOCAP_CQ_SUB, sub.id));
        memcpy(inner(q) + at, data, size);
        memset(inner(q) + at + size, 0, padded - size);
        at += padded;
    }
    close_record(q, at);
}

static void put_word(struct sim_cq *q, uint32_t addr, uint32_t value)
{
    uint8_t word[4];
    sim_cq_store32(word, 0, value);
    put_large(q, addr, word, sizeof word);
}

static uint32_t noc_xy(const struct sim_cq *q, uint32_t worker)
{
    return nocap_niu_hi(q->worker[worker].at);
}

/* As many workers from `first` on as the dispatcher's cache takes. */
static uint32_t arguments_count(const struct sim_cq *q, uint32_t first)
{
    uint32_t left = q->workers - first;
    return left < NOCAP_CQ_PACKED_UNICAST ? left : NOCAP_CQ_PACKED_UNICAST;
}

/* Header and sub-commands of a WRITE_PACKED; returns where its payload begins. */
static uint32_t put_destinations(struct sim_cq *q, const struct nocap_cq_command *c, uint32_t first)
{
    uint32_t at = (uint32_t)nocap_cq_data_offset(c);
    memset(inner(q), 0, at);
    nocap_cq_encode(c, inner(q));
    for (uint32_t i = 0; i < c->count; i++) {
        struct nocap_cq_command sub = {.side = NOCAP_CQ_SUB,
                                       .id = NOCAP_CQ_SUB_PACKED_UNICAST,
                                       .noc_xy = noc_xy(q, first + i)};
        nocap_cq_encode(&sub, inner(q) + NOCAP_CQ_HEADER +
                                  i * nocap_cq_header_size(NOCAP_CQ_SUB, sub.id));
    }
    return at;
}

/* 16 bytes of its own to each. */
static void put_arguments(struct sim_cq *q, uint32_t slice, uint32_t first)
{
    bool unaligned = sim_cq_strikes(q, NOCAP_SIM_FAULT_UNALIGNED_DESTINATION);
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_PACKED,
                                 .count = arguments_count(q, first),
                                 .size = NOCAP_CQ_L1_ALIGN,
                                 .addr = RTA + slice * NOCAP_CQ_L1_ALIGN + (unaligned ? 8u : 0u)};
    uint32_t at = put_destinations(q, &c, first);
    uint32_t size = (uint32_t)c.count * NOCAP_CQ_L1_ALIGN;
    fill(q, inner(q) + at, size, q->lowering.program.index * RTA_SLICES + slice);
    close_record(q, at + size);
}

/* The same bytes to each: the dispatcher does not step over them. */
static void share_arguments(struct sim_cq *q, uint32_t first)
{
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_PACKED,
                                 .flags = NOCAP_CQ_PACKED_FLAG_NO_STRIDE,
                                 .count = arguments_count(q, first),
                                 .size = q->lowering.program.slices * NOCAP_CQ_L1_ALIGN,
                                 .addr = RTA};
    uint32_t at = put_destinations(q, &c, first);
    fill(q, inner(q) + at, (uint32_t)c.size, q->lowering.program.index);
    close_record(q, at + (uint32_t)c.size);
}

static void put_upload(struct sim_cq *q, uint32_t upload)
{
    bool rings = q->options.scenario == NOCAP_SIM_FAST_DISPATCH_RINGS;
    uint64_t x = sim_cq_mix(q, 3 + upload * UPLOADS_SALT, q->lowering.program.index);
    uint32_t size = (uint32_t)(UPLOAD_LEAST + x % (rings ? UPLOAD_LARGE : UPLOAD_SMALL));
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_LINEAR,
                                 .noc_xy = noc_xy(q, (uint32_t)((x >> 32) % q->workers)),
                                 .addr = UPLOAD_ADDR,
                                 .length = size};
    size_t at = nocap_cq_encode(&c, inner(q));
    fill(q, inner(q) + at, size, x);
    close_record(q, (uint32_t)at + size);
}

static void put_wait(struct sim_cq *q, uint32_t flags, uint32_t count)
{
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_WAIT_UNKNOWN_FLAG)) {
        flags |= UNKNOWN_FLAG;
    }
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_WAIT_NOTIFIES_PREFETCH)) {
        flags |= NOCAP_CQ_WAIT_NOTIFY_PREFETCH;
    }
    put_command(q, &(struct nocap_cq_command){
                       .side = NOCAP_CQ_DISPATCH,
                       .id = NOCAP_CQ_DISPATCH_WAIT,
                       .flags = flags,
                       .stream = flags & NOCAP_CQ_WAIT_STREAM ? NOCAP_NOTIFY_STREAM : 0,
                       .count = count});
}

static void put_barrier(struct sim_cq *q)
{
    put_wait(q, NOCAP_CQ_WAIT_BARRIER, 0);
}

static void put_wait_stream(struct sim_cq *q, uint32_t count)
{
    put_wait(q, NOCAP_CQ_WAIT_STREAM | NOCAP_CQ_WAIT_CLEAR_STREAM, count);
}

static void put_stamp(struct sim_cq *q, uint32_t slot)
{
    uint32_t addr =
        (uint32_t)NOCAP_CQ_SYSMEM_BASE + NOCAP_CQ_TIMESTAMPS + slot * NOCAP_CQ_TIMESTAMP_STRIDE;
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_STAMP_OUTSIDE)) {
        addr = (uint32_t)NOCAP_CQ_SYSMEM_BASE + NOCAP_CQ_TIMESTAMPS_END;
    }
    put_command(q, &(struct nocap_cq_command){
                       .side = NOCAP_CQ_DISPATCH,
                       .id = NOCAP_CQ_DISPATCH_TIMESTAMP,
                       .noc_xy = NOCAP_CQ_PCIE_XY_FLAG |
                                 nocap_niu_hi((struct nocap_xy){NOCAP_CQ_PCIE_X, NOCAP_CQ_PCIE_Y}),
                       .addr = addr});
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_PAD_NOT_ZERO)) {
        q->record[2] = 1;
    }
}

static void put_message(struct sim_cq *q)
{
    const struct cq_program *p = &q->lowering.program;
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    bool host_mode = sim_cq_strikes(q, NOCAP_SIM_FAULT_MESSAGE_HOST_MODE);
    bool next = sim_cq_strikes(q, NOCAP_SIM_FAULT_MESSAGE_NEXT_SLOT);
    struct nocap_launch message = {
        .kernel_config_base = {NOCAP_CQ_KERNEL_CONFIG},
        .sem_offset = {SEM_OFFSET},
        .local_cb_offset = BINARY_OFFSET,
        .remote_cb_offset = BINARY_OFFSET,
        .mode = host_mode ? NOCAP_MODE_HOST : NOCAP_MODE_DEV,
        .brisc_noc_id = NOCAP_CQ_NOC_DISPATCH,
        .min_remote_cb_start_index = NOCAP_CB_COUNT,
        .host_assigned_id = (uint32_t)p->index + 1,
        .enables = p->enables[q->lowering.role],
    };
    for (unsigned i = 0; i < NOCAP_PROCESSOR_COUNT; i++) {
        message.kernel_text_offset[i] = BINARY_OFFSET + 0x40 * (i + 1);
    }
    nocap_launch_encode(q->layout, &message, bytes);
    put_large(q, nocap_launch_slot(q->layout, next ? NEXT_SLOT : 0), bytes, q->layout->launch_size);
}

static void put_chunk(struct sim_cq *q, uint32_t chunk)
{
    uint8_t bytes[NOCAP_CQ_LARGE_CHUNK];
    fill(q, bytes, sizeof bytes, 1000 + q->lowering.role * CHUNKS_MAX + chunk);
    put_large(q, RTA + BINARY_OFFSET + chunk * NOCAP_CQ_LARGE_CHUNK, bytes, sizeof bytes);
}

static void put_go_list(struct sim_cq *q)
{
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA,
                                 .num_words = q->workers};
    uint32_t length = (uint32_t)nocap_cq_data_offset(&c);
    memset(inner(q), 0, length);
    nocap_cq_encode(&c, inner(q));
    for (uint32_t i = 0; i < q->workers; i++) {
        sim_cq_store32(inner(q), NOCAP_CQ_HEADER + 4 * i, noc_xy(q, i));
    }
    close_record(q, length);
}

static void put_go(struct sim_cq *q, uint32_t count)
{
    struct nocap_go_word go = {
        .master_x = q->board.dispatch.x, .master_y = q->board.dispatch.y, .signal = NOCAP_GO_GO};
    bool mcast = sim_cq_strikes(q, NOCAP_SIM_FAULT_GO_MULTICAST);
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_GO_WRONG_STREAM)) {
        go.offset = 1;
    }
    put_command(q,
                &(struct nocap_cq_command){.side = NOCAP_CQ_DISPATCH,
                                           .id = NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL,
                                           .go_signal = nocap_go_encode(go),
                                           .multicast_go_offset = mcast ? 0 : NOCAP_CQ_NO_MCAST_GO,
                                           .num_unicast_txns = count,
                                           .wait_stream = NOCAP_NOTIFY_STREAM});
}

static void put_event(struct sim_cq *q)
{
    struct cq_host *h = &q->host;
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST,
                                 .is_event = 1,
                                 .length = NOCAP_CQ_EVENT_BYTES};
    bool nothing_out = h->event == h->event_seen && h->event > 0;
    if (nothing_out && sim_cq_strikes(q, NOCAP_SIM_FAULT_EVENT_ID_SKIPPED)) {
        h->event++;
        h->event_seen++;
    }
    h->event++;
    memset(inner(q), 0, NOCAP_CQ_EVENT_BYTES);
    nocap_cq_encode(&c, inner(q));
    sim_cq_store32(inner(q), NOCAP_CQ_HEADER, (uint32_t)h->event);
    close_record(q, NOCAP_CQ_EVENT_BYTES);
}

/* The dispatcher ends, then the prefetcher. A fault: an event follows the end of the dispatcher. */
bool sim_cq_lower_end(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    if (l->i++ == 0) {
        put_command(q, &(struct nocap_cq_command){.side = NOCAP_CQ_DISPATCH,
                                                  .id = NOCAP_CQ_DISPATCH_TERMINATE});
        return true;
    }
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_RECORD_AFTER_END)) {
        put_event(q);
        return true;
    }
    if (l->stage == 0) {
        struct nocap_cq_command c = {.side = NOCAP_CQ_PREFETCH, .id = NOCAP_CQ_PREFETCH_TERMINATE};
        l->stage = 1;
        q->record_size = NOCAP_CQ_RECORD_ALIGN;
        memset(q->record, 0, q->record_size);
        nocap_cq_encode(&c, q->record);
        return true;
    }
    return false;
}

/* ---- a run ---- */

struct cq_program sim_cq_plan(const struct sim_cq *q, uint64_t index)
{
    static const uint8_t enables[] = {0x01, 0x1F, 0x01, 0x03, 0x1D, 0x1F};
    static const uint8_t arguments[] = {CQ_ARGUMENTS_MULTICAST, CQ_ARGUMENTS_SHARED,
                                        CQ_ARGUMENTS_OWN, CQ_ARGUMENTS_OWN, CQ_ARGUMENTS_OWN};
    bool rings = q->options.scenario == NOCAP_SIM_FAST_DISPATCH_RINGS;
    uint64_t x = sim_cq_mix(q, 2, index);
    struct cq_program p = {.index = index,
                           .roles = q->workers > 1 && x % 3 == 0 ? 2 : 1,
                           .slices = (uint8_t)(1 + (x >> 4) % RTA_SLICES),
                           .arguments = arguments[(x >> 8) % sizeof arguments]};
    bool again = index > 0 && (x >> 12) % 3 == 0 && /* other arguments, the same binary */
                 q->options.fault != NOCAP_SIM_FAULT_NO_BARRIER;
    for (unsigned role = 0; role < 2; role++) {
        p.enables[role] = enables[(x >> (16 + 8 * role)) % sizeof enables];
        p.chunks[role] = again ? 0 : (uint8_t)(1 + (x >> (32 + 4 * role)) % CHUNKS_MAX);
    }
    p.uploads = (uint8_t)(rings ? UPLOADS_LEAST + (x >> 44) % UPLOADS_LEAST : (x >> 40) % 4 == 0);
    if (q->options.fault == NOCAP_SIM_FAULT_UNALIGNED_DESTINATION) {
        p.arguments = CQ_ARGUMENTS_OWN;
    }
    return p;
}

static const struct cq_cores *role_cores(const struct sim_cq *q)
{
    const struct cq_lowering *l = &q->lowering;
    return &q->cores[l->program.roles == 1 ? CQ_ROLE_ALL : CQ_ROLE_A + l->role];
}

/* Whether the record that was just made is the last multicast before the go words, whose barrier a
 * fault leaves out. The multicast takes long then, or nobody could tell. */
static bool leaves_out_barrier(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    bool last = l->role + 1 == l->program.roles;
    return last && l->i + 1 >= l->program.chunks[l->role] && l->program.chunks[l->role] > 0 &&
           sim_cq_strikes(q, NOCAP_SIM_FAULT_NO_BARRIER);
}

#define LOWER_BEGIN(l)                                                                             \
    switch ((l)->line) {                                                                           \
    case 0:
#define LOWER_END(l) }
/* The record is made. */
#define YIELD(l)                                                                                   \
    do {                                                                                           \
        (l)->line = __LINE__;                                                                      \
        return true;                                                                               \
    case __LINE__:;                                                                                \
    } while (0)

static bool prepare(struct sim_cq *q);
static bool arguments(struct sim_cq *q);
static bool binaries(struct sim_cq *q);
static bool go(struct sim_cq *q);
static bool events(struct sim_cq *q);

static bool (*const stages[])(struct sim_cq *q) = {prepare, arguments, binaries, go};

bool sim_cq_lower_next(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    struct cq_host *h = &q->host;
    if (l->line == 0 && l->stage == 0) {
        l->program = sim_cq_plan(q, h->program);
    }
    while (h->in_run < h->run_programs) {
        if (stages[l->stage](q)) {
            return true;
        }
        l->line = 0;
        l->stage++;
        if (l->stage == sizeof stages / sizeof stages[0]) {
            l->stage = 0;
            h->in_run++;
            h->program++;
            l->program = sim_cq_plan(q, h->program);
        }
    }
    return events(q);
}

/* Read pointers back to 0, go index 0. */
static bool prepare(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    const struct nocap_go_word reset = {.signal = NOCAP_GO_RESET_READ_PTR_FROM_HOST};
    LOWER_BEGIN(l);
    l->cores = &q->cores[CQ_ROLE_ALL];
    for (l->i = 0; l->i < l->program.uploads; l->i++) {
        put_upload(q, l->i);
        YIELD(l);
    }
    put_stamp(q, 2 * q->host.in_run);
    YIELD(l);
    put_word(q, nocap_go_word_address(q->layout, 0), nocap_go_encode(reset));
    YIELD(l);
    put_barrier(q);
    YIELD(l);
    put_word(q, q->layout->go_message_index, 0);
    YIELD(l);
    put_barrier(q);
    YIELD(l);
    LOWER_END(l);
    return false;
}

static bool arguments(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    LOWER_BEGIN(l);
    if (l->program.arguments == CQ_ARGUMENTS_MULTICAST) {
        uint8_t bytes[RTA_SLICES * NOCAP_CQ_L1_ALIGN];
        fill(q, bytes, sizeof bytes, l->program.index);
        put_large(q, RTA, bytes, l->program.slices * NOCAP_CQ_L1_ALIGN);
        YIELD(l);
        put_barrier(q);
        YIELD(l);
        return false;
    }
    for (l->i = 0; l->i < l->program.slices; l->i++) {
        for (l->j = 0; l->j < q->workers; l->j += NOCAP_CQ_PACKED_UNICAST) {
            if (l->program.arguments == CQ_ARGUMENTS_SHARED) {
                share_arguments(q, l->j);
            } else {
                put_arguments(q, l->i, l->j);
            }
            YIELD(l);
        }
        if (l->program.arguments == CQ_ARGUMENTS_SHARED) {
            break;
        }
    }
    LOWER_END(l);
    return false;
}

static bool binaries(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    LOWER_BEGIN(l);
    for (l->role = 0; l->role < l->program.roles; l->role++) {
        l->cores = role_cores(q);
        put_message(q);
        YIELD(l);
        put_barrier(q);
        YIELD(l);
        for (l->i = 0; l->i < l->program.chunks[l->role]; l->i++) {
            put_chunk(q, l->i);
            YIELD(l);
            if (leaves_out_barrier(q)) {
                q->slow_record = q->records;
                continue;
            }
            put_barrier(q);
            YIELD(l);
        }
    }
    LOWER_END(l);
    return false;
}

/* Faults: go words too few, or before the counter is cleared; a write while the kernels run; a wait
 * for one too many or too few. */
static bool go(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    LOWER_BEGIN(l);
    l->count = q->workers;
    put_go_list(q);
    YIELD(l);
    l->swapped = sim_cq_strikes(q, NOCAP_SIM_FAULT_GO_BEFORE_CLEAR);
    if (!l->swapped) {
        put_wait_stream(q, 0);
        YIELD(l);
    }
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_GO_COUNT_LOW)) {
        l->count--;
    }
    put_go(q, l->count);
    YIELD(l);
    if (l->swapped) {
        put_wait_stream(q, 0);
        YIELD(l);
    }
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_WRITE_WHILE_BUSY)) {
        l->cores = &q->cores[CQ_ROLE_ALL];
        put_word(q, q->layout->go_message_index, 0);
        YIELD(l);
    }
    l->count += sim_cq_strikes(q, NOCAP_SIM_FAULT_WAIT_COUNT_HIGH);
    l->count -= sim_cq_strikes(q, NOCAP_SIM_FAULT_WAIT_COUNT_LOW);
    put_wait_stream(q, l->count);
    YIELD(l);
    put_stamp(q, 2 * q->host.in_run + 1);
    q->host.stamps = 2 * q->host.in_run + 2;
    YIELD(l);
    LOWER_END(l);
    return false;
}

/* Faults: a prefetch command, a dispatch command, or a destination that nobody serves. */
static bool events(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    LOWER_BEGIN(l);
    for (l->i = 0; l->i < q->host.syncs; l->i++) {
        put_event(q);
        if (sim_cq_strikes(q, NOCAP_SIM_FAULT_PREFETCH_ILLEGAL)) {
            q->record[0] = NOCAP_CQ_PREFETCH_ILLEGAL;
        } else if (sim_cq_strikes(q, NOCAP_SIM_FAULT_TO_SUBORDINATE)) {
            q->record[1] = 1;
        } else if (sim_cq_strikes(q, NOCAP_SIM_FAULT_DISPATCH_UNKNOWN)) {
            put_command(
                q, &(struct nocap_cq_command){.side = NOCAP_CQ_DISPATCH, .id = UNKNOWN_COMMAND});
        }
        YIELD(l);
    }
    LOWER_END(l);
    return false;
}
