/* SPDX-License-Identifier: Apache-2.0 */
/* The code with which aie4 saves and restores the memory tiles of a uC's columns at a PREEMPT.
 * Saving clears the stream switches, leads two channels of each memory tile to the shim and lets
 * them write its memory to external memory; restoring leads four channels back. A memory is cut
 * into as many parts as there are channels. The debug map has the lines of the text, so its blank
 * lines count. Source: files of the assembler of 2026. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/aie/asm_source.h"

enum {
    COLUMN = 1 << 25, /* from a tile to that of the next column */
    HALF_B = 0x40000, /* from half A of a tile */
    SHIM_DESCRIPTOR = 0x18000,
    SHIM_SAVE_QUEUE = 0x18544,
    SHIM_SAVE_STATUS = 0x18570,
    SHIM_RESTORE_QUEUE = 0x18554,
    SHIM_NEXT_DESCRIPTOR = 0x30,
    MEMORY_SAVE_DESCRIPTOR = 0x108C00,
    MEMORY_SAVE_QUEUE = 0x109E64,
    MEMORY_RESTORE_DESCRIPTOR = 0x108000,
    MEMORY_RESTORE_QUEUE = 0x109E04,
    MEMORY_RESTORE_STATUS = 0x109ED0,
    MEMORY_NEXT_CHANNEL = 0x300,
    MEMORY_BASE = 0x800000, /* of a memory tile, in words, as its descriptors have it */
    NEXT_QUEUE = 8,         /* bytes from the queue of a channel to that of the next */
    BUSY = 0x1F8003C,       /* of a channel's status */
    SAVE_PARTS = 2,
    RESTORE_PARTS = 4,
    CHAIN_MOST = 277, /* descriptors of a chain */
    CLEAR_WORDS = 20, /* at most */
    IDS = 4,          /* annotations of a column */
    NEXT_STATUS = 4,  /* bytes from the status of a channel to that of the next */
    SECOND_HALF_DESCRIPTOR = 0x10,
};

struct clear {
    uint32_t address, words;
    enum halves { A, BOTH, A_OF_BOTH } halves;
};
struct route {
    uint32_t address, value;
};

#define CLEAR(address, words, HALVES) {address, words, HALVES},
static const struct clear clears[] = {
#include "formats/aie/preempt.def"
};
#define SAVE_ROUTE(address, value) {address, value},
static const struct route save_routes[] = {
#include "formats/aie/preempt.def"
};
#define RESTORE_ROUTE(address, value) {address, value},
static const struct route restore_routes[] = {
#include "formats/aie/preempt.def"
};

/* The descriptors of the uC's DMA and the words that they write. */
struct writer {
    const struct aie_preempt_code *code;
    FILE *descriptors, *data;
    unsigned blocks, words, chains; /* numbered so far */
    unsigned in_chain;     /* descriptors; the last one does not say yet if it is the last */
    unsigned first_chains; /* that clear and route */
};

static unsigned parts_of(const struct aie_preempt_code *code)
{
    return code->save ? SAVE_PARTS : RESTORE_PARTS;
}

static void put_words(struct writer *w, const char *kind, unsigned number, const uint32_t *words,
                      uint32_t count)
{
    fprintf(w->data, "%s_data_%u:\n", kind, number);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(w->data, "\t.long 0x%08" PRIx32 "\n", words[i]);
    }
}

static void begin_chain(struct writer *w)
{
    fprintf(w->descriptors, "%sUCBD_label_%u:\n", w->in_chain != 0 ? "0\n" : "", w->chains++);
    w->in_chain = 0;
}

static void put_descriptor(struct writer *w, uint32_t address, const char *kind, unsigned number,
                           uint32_t count)
{
    if (w->in_chain == CHAIN_MOST) {
        begin_chain(w);
    }
    fprintf(w->descriptors, "%s\tUC_DMA_BD 0, 0x%" PRIx32 ", @%s_data_%u, %" PRIu32 ", 0, ",
            w->in_chain != 0 ? "1\n" : "", address, kind, number, count);
    w->in_chain++;
}

static void put_block(struct writer *w, uint32_t address, const uint32_t *words, uint32_t count)
{
    put_descriptor(w, address, "DMAWRITE", w->blocks, count);
    put_words(w, "DMAWRITE", w->blocks++, words, count);
}

static void put_word(struct writer *w, uint32_t address, uint32_t word)
{
    put_descriptor(w, address, "WRITE", w->words, 1);
    put_words(w, "WRITE", w->words++, &word, 1);
}

/* What one channel moves, from the begin of the first memory tile. */
struct part {
    uint64_t at, bytes;
};

static struct part part_of(const struct aie_preempt_code *code, unsigned column, unsigned part)
{
    uint64_t parts = parts_of(code), region = (uint64_t)column * AIE_PREEMPT_REGION;
    uint64_t low = code->from > region ? code->from : region, end = region + AIE_PREEMPT_REGION;
    uint64_t high = code->to < end ? code->to : end;
    if (high <= low) {
        return (struct part){.at = region};
    }
    uint64_t bytes = (high - low) / parts, at = low + part * bytes;
    return (struct part){.at = at, .bytes = part == parts - 1 ? high - at : bytes};
}

/* The first address of a column. */
static uint32_t tile_of(const struct aie_preempt_code *code, unsigned column)
{
    return (code->number == AIE_NONE ? column : code->number) * COLUMN;
}

/* ---- descriptors ---- */

static void clear_switches(struct writer *w, uint32_t tile)
{
    static const uint32_t zeros[CLEAR_WORDS];
    for (size_t i = 0; i < sizeof clears / sizeof *clears; i++) {
        const struct clear *c = &clears[i];
        put_block(w, tile + c->address, zeros, c->words);
        if (c->halves == BOTH) {
            put_block(w, tile + HALF_B + c->address, zeros, c->words);
        } else if (c->halves == A_OF_BOTH) {
            put_words(w, "DMAWRITE", w->blocks++, zeros, c->words);
        }
    }
}

static void set_routes(struct writer *w, bool enabled)
{
    const struct route *routes = w->code->save ? save_routes : restore_routes;
    size_t count = w->code->save ? sizeof save_routes / sizeof *save_routes
                                 : sizeof restore_routes / sizeof *restore_routes;
    for (unsigned column = 0; column < w->code->columns; column++) {
        for (size_t i = 0; i < count; i++) {
            put_word(w, tile_of(w->code, column) + routes[i].address,
                     enabled ? routes[i].value : 0);
        }
    }
}

static void describe_external(struct writer *w)
{
    unsigned parts = parts_of(w->code);
    begin_chain(w);
    for (unsigned i = 0; i < w->code->columns * parts; i++) {
        struct part p = part_of(w->code, i / parts, i % parts);
        uint32_t half = i % parts >= parts / 2 ? HALF_B : 0;
        uint32_t next = w->code->save ? 0 : i % 2 * SHIM_NEXT_DESCRIPTOR;
        const uint32_t words[] = {(uint32_t)(p.at >> 32) & 0x1FFFFFF,
                                  (uint32_t)p.at & ~UINT32_C(3),
                                  (uint32_t)(p.bytes / 4),
                                  0x03000000,
                                  0,
                                  1,
                                  1,
                                  1,
                                  0x400};
        put_block(w, tile_of(w->code, i / parts) + half + SHIM_DESCRIPTOR + next, words,
                  sizeof words / sizeof *words);
    }
}

/* The descriptor of a channel of a memory tile, and the two queues that start the transfer. */
static void move_part(struct writer *w, unsigned column, unsigned part)
{
    struct part p = part_of(w->code, column, part);
    uint32_t tile = tile_of(w->code, column), low = part % 2, half = part / 2 * HALF_B;
    const uint32_t words[] = {(uint32_t)(p.at % AIE_PREEMPT_REGION / 4) + MEMORY_BASE,
                              (uint32_t)(p.bytes / 4),
                              0,
                              1,
                              1,
                              1,
                              1,
                              0,
                              0,
                              0,
                              0};
    uint32_t count = sizeof words / sizeof *words;
    if (w->code->save) {
        put_block(w, tile + MEMORY_SAVE_DESCRIPTOR + part * MEMORY_NEXT_CHANNEL, words, count);
        put_word(w, tile + MEMORY_SAVE_QUEUE + part * NEXT_QUEUE, 0);
        put_word(w, tile + SHIM_SAVE_QUEUE + part * HALF_B, part * SECOND_HALF_DESCRIPTOR);
    } else {
        put_block(w, tile + half + MEMORY_RESTORE_DESCRIPTOR + low * MEMORY_NEXT_CHANNEL, words,
                  count);
        put_word(w, tile + half + SHIM_RESTORE_QUEUE + low * NEXT_QUEUE,
                 part / 2 * SECOND_HALF_DESCRIPTOR + low);
        put_word(w, tile + half + MEMORY_RESTORE_QUEUE + low * NEXT_QUEUE, 0);
    }
}

static void move_memory(struct writer *w)
{
    begin_chain(w);
    for (unsigned column = 0; column < w->code->columns; column++) {
        for (unsigned part = 0; part < parts_of(w->code); part++) {
            move_part(w, column, part);
        }
    }
}

/* The number of the first block about external memory. */
static unsigned describe(struct writer *w)
{
    unsigned first;
    begin_chain(w);
    for (unsigned column = 0; w->code->save && column < w->code->columns; column++) {
        clear_switches(w, tile_of(w->code, column));
    }
    set_routes(w, true);
    first = w->blocks;
    w->first_chains = w->chains;
    describe_external(w);
    move_memory(w);
    if (!w->code->save) {
        begin_chain(w);
        set_routes(w, false);
    }
    fprintf(w->descriptors, "0\n");
    return first;
}

/* ---- jobs ---- */

static void annotate(FILE *out, const struct aie_preempt_code *code, bool end)
{
    char column[16] = "";
    unsigned id = code->number == AIE_NONE ? 0 : code->number * IDS;
    const char *what = end ? "end" : "start", *does = code->save ? "save" : "restore";
    if (code->number != AIE_NONE) {
        snprintf(column, sizeof column, "1c%u", code->number);
    }
    fprintf(out, ".section annotation\nid: %u\nname: %s_%s%s%s\ndescription: %s %s%s%s\n",
            id + (code->save ? 0 : IDS / 2) + end, what, does, column[0] != 0 ? "_" : "", column,
            what, does, column[0] != 0 ? " " : "", column);
}

static void wait_for_channels(FILE *out, const struct aie_preempt_code *code)
{
    for (unsigned i = 0; i < code->columns * parts_of(code); i++) {
        unsigned part = i % parts_of(code);
        uint32_t status = code->save
                              ? SHIM_SAVE_STATUS + part * HALF_B
                              : MEMORY_RESTORE_STATUS + part / 2 * HALF_B + part % 2 * NEXT_STATUS;
        fprintf(out, "MASK_POLL_32 0x%" PRIx32 ", 0x%x, 0x0\n",
                tile_of(code, i / parts_of(code)) + status, BUSY);
    }
}

static void write_jobs(FILE *out, const struct writer *w, unsigned first)
{
    const struct aie_preempt_code *code = w->code;
    char pad[32] = "preempt_buffer";
    if (code->number != AIE_NONE) {
        snprintf(pad, sizeof pad, "preempt_buffer%u", code->number);
    }
    fprintf(out, "%s\n\n\n", code->columns > 1 || code->number != AIE_NONE ? "\n" : "");
    if (code->save) {
        fprintf(out, ".setpad %s, 0x%X\n", pad, code->columns * AIE_PREEMPT_REGION / 4);
    }
    fprintf(out, "START_JOB 0\n");
    annotate(out, code, false);
    for (unsigned i = 0; i < w->first_chains; i++) {
        fprintf(out, "%sUC_DMA_WRITE_DES_SYNC @UCBD_label_%u\n",
                i != 0 ? "END_JOB\n\n.eop\n\nSTART_JOB 1\n" : "", i);
    }
    for (unsigned i = 0; i < code->columns * parts_of(code); i++) {
        fprintf(out, "APPLY_OFFSET_57 @DMAWRITE_data_%u, 1, 65535, @%s\n", first + i, pad);
    }
    fprintf(out, "UC_DMA_WRITE_DES_SYNC @UCBD_label_%u\nUC_DMA_WRITE_DES_SYNC @UCBD_label_%u\n",
            w->first_chains, w->first_chains + 1);
    wait_for_channels(out, code);
    if (!code->save) {
        fprintf(out, "UC_DMA_WRITE_DES_SYNC @UCBD_label_%u\n", w->chains - 1);
    }
    fprintf(out, "END_JOB\n");
    annotate(out, code, true);
    fprintf(out, "%s\nEOF\n", code->save ? "\n.eop\n" : "\nSTART_JOB 1\nLOAD_LAST_PDI\nEND_JOB\n");
}

/* Closes the stream; its text, NULL without memory. */
static char *close_text(FILE *stream, char **text)
{
    bool good = stream != NULL && !ferror(stream);
    if (stream != NULL && fclose(stream) != 0) {
        good = false;
    }
    if (!good) {
        free(*text);
        *text = NULL;
    }
    return *text;
}

char *aie_preempt_code(const struct aie_preempt_code *code, const char *label)
{
    char *descriptors = NULL, *data = NULL, *text = NULL;
    size_t lengths[2];
    struct writer w = {.code = code,
                       .descriptors = open_memstream(&descriptors, &lengths[0]),
                       .data = open_memstream(&data, &lengths[1])};
    unsigned first = 0;
    if (w.descriptors != NULL && w.data != NULL) {
        first = describe(&w);
    }
    bool good = close_text(w.descriptors, &descriptors) != NULL;
    good = close_text(w.data, &data) != NULL && good;
    FILE *out = good ? open_memstream(&text, &lengths[0]) : NULL;
    if (out != NULL) {
        fprintf(out, "%s:\n", label);
        write_jobs(out, &w, first);
        fprintf(out, "\n\n\n\n.align 16\n%s.align 4\n%s\n.endl %s\n", descriptors, data, label);
        close_text(out, &text);
    }
    free(descriptors);
    free(data);
    return text;
}
