/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware upload: what the host writes while the cores are held, and whether it is what BRISC
 * needs when it is released. Rules RST, first part. */
#include "formats/elf_image.h"
#include "replay/core/value.h"
#include "replay/launch/launch_private.h"

/* Of the kernel config area, as the builds that are known have it. */
enum { KNOWN = sizeof nocap_kernel_config_bases / sizeof nocap_kernel_config_bases[0] };

static bool span_begins(const struct boot *b, uint32_t addr)
{
    for (uint32_t i = 0; i < b->span_count; i++) {
        if (b->spans[i].addr == addr) {
            return true;
        }
    }
    return false;
}

static uint32_t spans_below(const struct boot *b, uint32_t end)
{
    uint32_t below = 0;
    for (uint32_t i = 0; i < b->span_count; i++) {
        below += b->spans[i].addr < end;
    }
    return below;
}

/* The table of banks lies a fixed way after the kernel config area, whose start is that of the
 * scratch area of BRISC's private memory: an uploaded span, or known of the build. 0: no table. */
static uint32_t kernel_config_base(const struct boot *b)
{
    const uint32_t way = NOCAP_BANK_TABLE_FROM_KERNEL_CONFIG;
    for (unsigned i = 0; i < KNOWN; i++) {
        uint32_t base = nocap_kernel_config_bases[i];
        if (span_begins(b, base) || span_begins(b, base + way)) {
            return span_begins(b, base + way) ? base : 0;
        }
    }
    for (uint32_t i = 0; i < b->span_count; i++) {
        if (span_begins(b, b->spans[i].addr + way)) {
            return b->spans[i].addr;
        }
    }
    return 0;
}

static void lower(uint32_t *end, uint64_t bound)
{
    *end = bound != 0 && bound < *end ? (uint32_t)bound : *end;
}

/* Firmware text ends where the kernel config area begins. Launches may use any part of that area,
 * so the lowest address that anything tells counts. */
static uint32_t text_end(const struct model *m, const struct tile *tile)
{
    uint32_t end = NOCAP_L1_SIZE;
    lower(&end, m->header->cq.has_kernel_config ? m->header->cq.kernel_config : 0);
    lower(&end, launch_of(tile)->message.kernel_config_base[0]);
    lower(&end, kernel_config_base(boot_of(tile)));
    lower(&end, m->layout->zeros == NOCAP_L1_ZEROS ? nocap_kernel_config_bases[0] : 0);
    return end < NOCAP_L1_SIZE ? end : 0;
}

/* Where firmware text begins: known for one profile only; 0: unknown. */
static uint32_t text_begin(const struct model *m)
{
    return m->layout->zeros == NOCAP_L1_ZEROS ? NOCAP_L1_LLK_DEBUG + NOCAP_L1_LLK_DEBUG_SIZE : 0;
}

bool boot_in_text(const struct model *m, const struct tile *tile, const struct access *a)
{
    for (uint32_t i = 0; i < boot_of(tile)->span_count; i++) {
        const struct span *s = &boot_of(tile)->spans[i];
        if (touches(a, s->addr, s->size) && s->addr + s->size <= text_end(m, tile)) {
            return true;
        }
    }
    const uint32_t first = text_begin(m);
    return first != 0 && touches(a, first, nocap_kernel_config_bases[0] - first) &&
           a->addr < text_end(m, tile); /* which is no higher */
}

/* Whether a core's text can begin there: an uploaded span below the kernel config area. Where there
 * are exactly as many of those as cores, they belong to the cores in order. */
bool boot_text_begins(const struct model *m, const struct tile *tile, unsigned processor,
                      uint32_t addr)
{
    const struct boot *b = boot_of(tile);
    uint32_t end = text_end(m, tile);
    bool astray = false; /* one of the texts: a core begins where none is */
    for (unsigned p = NOCAP_PROCESSOR_NCRISC; p < CORES; p++) {
        bool runs = b->phase == BOOT_RELEASED && b->reset_pc_known[p];
        astray |= runs && p != processor && !span_begins(b, b->reset_pc[p]);
    }
    bool ordered = end != 0 && spans_below(b, end) == CORES && !astray;
    return span_begins(b, addr) && (end == 0 || addr < end) &&
           (!ordered || spans_below(b, addr) == processor);
}

void boot_upload_begins(struct boot *b)
{
    if (b->lost == LOST_LATEST) {
        b->lost = LOST_EARLIER;
        b->span_count = 0;
    }
    for (uint32_t i = 0; i < b->span_count; i++) {
        b->spans[i].earlier = true;
        b->spans[i].growing = false;
    }
}

void boot_upload_changes(struct boot *b, const struct access *a)
{
    for (uint32_t i = 0; i < b->span_count; i++) {
        b->spans[i].changed |= touches(a, b->spans[i].addr, b->spans[i].size);
    }
}

/* What is written now takes the place of what was uploaded before. */
static void drop_earlier(struct boot *b, const struct access *a)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < b->span_count; i++) {
        if (!b->spans[i].earlier || !touches(a, b->spans[i].addr, b->spans[i].size)) {
            b->spans[left++] = b->spans[i];
        }
    }
    b->span_count = left;
}

/* A driver may upload in small pieces: a piece that continues the latest one is part of it. */
static void add_span(struct boot *b, const struct access *a, uint64_t index)
{
    bool whole = a->known == a->size;
    drop_earlier(b, a);
    struct span *last = b->span_count > 0 ? &b->spans[b->span_count - 1] : NULL;
    if (last != NULL && whole && last->growing && last->addr + last->size == a->addr) {
        last->hash = nocap_fnv1a64(last->hash, a->bytes, a->size);
        last->size += (uint32_t)a->size;
        return;
    }
    if (b->span_count < FIRMWARE_SPANS) {
        b->spans[b->span_count++] = (struct span){
            .addr = (uint32_t)a->addr,
            .size = (uint32_t)a->size,
            .index = index,
            .hash = whole ? nocap_fnv1a64(NOCAP_FNV1A64_START, a->bytes, a->size) : a->hash,
            .has_hash = whole || a->has_hash,
            .growing = whole,
        };
    } else {
        b->lost = LOST_LATEST;
    }
}

/* What the host ever wrote is among the spans, if they are known. */
bool boot_sees_all(const struct model *m, const struct boot *b)
{
    return m->header->complete == NOCAP_TRUE && !m->dropped && b->lost == LOST_NONE;
}

bool boot_spans_known(const struct boot *b)
{
    return b->span_count > 0 && b->lost != LOST_LATEST;
}

/* Whether bytes that are written to a tile that no agent has held in reset yet can be firmware:
 * between the areas of zeros and debugging and the kernel config area, as far as these are known,
 * or in an ELF file.
 */
static bool may_be_firmware(const struct model *m, const struct tile *tile, const struct access *a)
{
    uint32_t end = text_end(m, tile);
    for (unsigned p = 0; p < CORES; p++) {
        const struct nocap_elf_image *elf = m->firmware[p];
        for (size_t i = 0; elf != NULL && i < nocap_elf_segment_count(elf); i++) {
            const struct nocap_elf_segment *s = nocap_elf_segment(elf, i);
            if (!s->local_ram && touches(a, s->address, s->memory_size)) {
                return true;
            }
        }
    }
    return a->addr + a->size > text_begin(m) &&
           a->addr < (end != 0 ? end : nocap_kernel_config_bases[KNOWN - 1]);
}

void boot_upload(struct model *m, struct tile *tile, const struct access *a)
{
    struct boot *b = boot_of(tile);
    if (a->addr >= NOCAP_L1_SIZE) {
        CHECK(m, tile, RST_009,
              a->by != NOCAP_BY_HOST ||
                  !touches(a, NOCAP_BASE_LDM, NOCAP_LAST_LDM - NOCAP_BASE_LDM + UINT64_C(1)),
              NO_REFS, "private memory uploaded to its scratch area in L1",
              "%llu bytes uploaded to private memory at 0x%llx", (unsigned long long)a->size,
              (unsigned long long)a->addr);
        b->private_since = since_or(m->fault, b->private_since);
        return;
    }
    if (a->addr < NOCAP_L1_ZEROS) {
        return; /* boot JAL and mailbox: state, not firmware */
    }
    if (b->phase != BOOT_POWER_ON) {
        MARK_EXERCISED(m, RST_001);
    } else if (!may_be_firmware(m, tile, a)) {
        b->data_before = true;
        return; /* data in a tile that may never boot */
    } else {
        fault_id since =
            stray_since(tile, STRAYS_OF_HOST, 0, NOCAP_SOFT_RESET_ALL, NOCAP_SOFT_RESET_ALL);
        CHECK_AFTER(m, tile, RST_001, since, false, NO_REFS,
                    "SOFT_RESET_0 with all of 0x47800 before the first firmware byte",
                    "%llu bytes of firmware written to 0x%llx before all RISCs were held in reset",
                    (unsigned long long)a->size, (unsigned long long)a->addr);
        b->phase = BOOT_HELD;
    }
    MARK_EXERCISED(m, RST_009);
    add_span(b, a, now(m).index);
}

const struct span *boot_span_at(const struct boot *b, uint32_t at)
{
    const struct span *found = NULL;
    for (uint32_t i = 0; i < b->span_count; i++) {
        const struct span *s = &b->spans[i];
        found = s->addr <= at && at < s->addr + s->size ? s : found;
    }
    return found;
}

static bool partial_upload(const struct model *m, const struct tile *tile)
{
    return !boot_sees_all(m, boot_of(tile)) &&
           spans_below(boot_of(tile), text_end(m, tile)) < CORES;
}

bool boot_may_be_older(const struct model *m, const struct tile *tile, uint32_t addr)
{
    return boot_span_at(boot_of(tile), addr) == NULL && partial_upload(m, tile);
}

/* BRISC's text is not that of a core whose reset PC the host has programmed. */
static bool is_subordinates(const struct boot *b, uint32_t addr)
{
    for (unsigned p = NOCAP_PROCESSOR_NCRISC; p < CORES; p++) {
        if (b->host_pc[p] == addr && addr != 0) {
            return true;
        }
    }
    return false;
}

static void judge_entry(struct model *m, struct tile *tile)
{
    uint32_t word, target;
    const struct nocap_elf_image *elf = m->firmware[NOCAP_PROCESSOR_BRISC];
    if (!shadow_word(&tile->l1, NOCAP_L1_BOOT_JAL, &word) ||
        (elf == NULL && !boot_spans_known(boot_of(tile)))) {
        return;
    }
    bool is_jal = nocap_boot_jump(word, &target);
    if (elf == NULL && is_jal && boot_may_be_older(m, tile, target)) {
        return;
    }
    bool right =
        is_jal && (elf != NULL ? target == nocap_elf_text_base(elf)
                               : boot_text_begins(m, tile, NOCAP_PROCESSOR_BRISC, target) &&
                                     !is_subordinates(boot_of(tile), target));
    CHECK_SEEING(m, tile, NOCAP_L1_BOOT_JAL, 4, RST_002, FAULT_NONE, right, NO_REFS,
                 "a JAL at L1[0] to the start of BRISC's firmware",
                 is_jal ? "L1[0] holds 0x%08x, a jump to 0x%x, not to BRISC's firmware"
                        : "L1[0] holds 0x%08x, which is no JAL",
                 word, target);
    boot_of(tile)->jump_since = fault_of(m, right);
}

/* Private memory is uploaded to one scratch area a core, one after the other from the kernel
 * config area on. 0: not known where. */
static uint32_t segment_address(const struct boot *b, unsigned processor,
                                const struct nocap_elf_segment *s)
{
    uint32_t address = kernel_config_base(b);
    if (!s->local_ram || s->address != 0 || address == 0) {
        return s->address;
    }
    for (unsigned p = 0; p < processor; p++) {
        address += nocap_cores[p].ldm_size;
    }
    return address;
}

/* The part of a piece from `at` on that no later write went over ends here. */
static uint32_t piece_end(const struct boot *b, const struct span *piece, uint32_t at)
{
    uint32_t end = piece->addr + piece->size;
    for (const struct span *s = piece + 1; s < b->spans + b->span_count; s++) {
        end = s->addr > at && s->addr < end ? s->addr : end;
    }
    return end;
}

/* What the host wrote is compared piece by piece by its hash, the form in which a trace holds whole
 * segments. A piece may run into the zeros after the segment, but what reaches further belongs to
 * something else and is not judged, nor is what is left of a piece that another one went over. */
static enum known piece_agrees(const struct boot *b, const struct nocap_elf_segment *s,
                               uint32_t address, const struct span *piece, uint32_t at)
{
    uint32_t offset = piece->addr - address;
    bool whole = at == piece->addr && piece_end(b, piece, at) == at + piece->size;
    if (!whole || !piece->has_hash || piece->addr < address ||
        offset + piece->size > s->memory_size) {
        return UNKNOWN;
    }
    uint32_t end = offset + piece->size;
    uint32_t from_file = end <= s->file_size     ? piece->size
                         : offset < s->file_size ? s->file_size - offset
                                                 : 0;
    uint64_t hash = nocap_fnv1a64(NOCAP_FNV1A64_START, s->bytes + offset, from_file);
    for (uint32_t i = from_file; i < piece->size; i++) {
        hash = nocap_fnv1a64(hash, (const uint8_t[]){0}, 1);
    }
    return hash == piece->hash ? YES : NO;
}

/* Where something was written next from `at` on; the end of the segment, if nothing was. What lies
 * behind private data in its scratch area may be a kernel's from before, and is copied nowhere. */
static uint32_t next_piece(const struct boot *b, const struct nocap_elf_segment *s,
                           uint32_t address, uint32_t at)
{
    uint32_t next = address + s->memory_size;
    for (uint32_t i = 0; i < b->span_count && !s->local_ram; i++) {
        const struct span *span = &b->spans[i];
        next = span->addr > at && span->addr < next ? span->addr : next;
    }
    return next;
}

static void judge_segment(struct model *m, struct tile *tile, unsigned processor,
                          const struct nocap_elf_segment *s)
{
    const struct boot *b = boot_of(tile);
    uint32_t address = segment_address(b, processor, s), at = address;
    const char *name = nocap_agent_name(nocap_cores[processor].agent);
    while (address != 0 && at - address < s->memory_size) {
        const struct span *piece = boot_span_at(b, at);
        bool zeros = at - address >= s->file_size;
        if (piece == NULL && zeros) {
            at = next_piece(b, s, address, at);
            continue;
        }
        if (piece == NULL && (b->data_before || !boot_sees_all(m, b))) {
            return; /* it was there before */
        }
        fault_id since = piece == NULL && s->local_ram ? b->private_since : FAULT_NONE;
        enum known agrees =
            piece != NULL && !piece->changed ? piece_agrees(b, s, address, piece, at) : NO;
        if (agrees != UNKNOWN) {
            CHECK_AFTER(m, tile, RST_008, since, agrees == YES,
                        RELATED(piece != NULL ? piece->index : NO_INDEX),
                        "every PT_LOAD segment of the firmware in L1",
                        piece == NULL
                            ? "%s's segment of %u bytes at 0x%x was not written from 0x%x on"
                            : "%s's segment of %u bytes at 0x%x differs from the ELF file at 0x%x",
                        name, s->file_size, address, at);
        }
        if (agrees == NO) {
            return;
        }
        at = piece_end(b, piece, at);
    }
}

/* When BRISC is released: what must be in L1 by then. */
void boot_judge_upload(struct model *m, struct tile *tile)
{
    const struct boot *b = boot_of(tile);
    judge_entry(m, tile);
    if (!boot_spans_known(b)) {
        return;
    }
    const uint32_t base = kernel_config_base(b);
    const struct span *table =
        base != 0 ? boot_span_at(b, base + NOCAP_BANK_TABLE_FROM_KERNEL_CONFIG) : NULL;
    const bool there = table != NULL && !table->changed;
    if (there || !partial_upload(m, tile)) {
        CHECK(m, tile, RST_004, there, NO_REFS,
              "the bank-to-NOC table, 0x9000 after the kernel config area",
              "no bank-to-NOC table among the %u writes of the upload", b->span_count);
    }
    for (unsigned p = 0; p < CORES; p++) {
        const struct nocap_elf_image *elf = m->firmware[p];
        for (size_t i = 0; elf != NULL && i < nocap_elf_segment_count(elf); i++) {
            judge_segment(m, tile, p, nocap_elf_segment(elf, i));
        }
    }
}
