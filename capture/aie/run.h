/* SPDX-License-Identifier: Apache-2.0 */
/* Runs AIE control code in software and hands out the events of its execution: control processors
 * with jobs, a uC-DMA each, and an array that is a memory. Nothing here knows the rules by which
 * traces are judged; with the model it shares tables only. Sources: control code instruction set;
 * AIE control code fact sheet, section 7 for what is left open. */
#ifndef NOCAP_CAPTURE_AIE_RUN_H
#define NOCAP_CAPTURE_AIE_RUN_H

#include "capture/kernel/kernel.h"
#include "formats/aie/image.h"
#include "formats/trace/event.h"
#include "formats/trace/header.h"

/* A word of the array before the first instruction. */
struct nocap_aie_word {
    uint32_t address, value;
};

enum { NOCAP_AIE_RUN_EVENTS = 50000000 };

/* A wait that the array ended, though nothing of the control code made it so. */
struct nocap_aie_answer {
    uint32_t uc, page, off;
    const struct nocap_aie_insn_info *insn;
};

struct nocap_aie_run_options {
    size_t size; /* sizeof(struct nocap_aie_run_options) */
    enum nocap_aie_dialect dialect;
    uint64_t seed;                    /* of the order in which things happen */
    bool silent_polls, silent_tokens; /* the array does not answer these: see nocap_aie_run */
    void (*answered)(void *context, const struct nocap_aie_answer *answer); /* NULL: not wanted */
    void *answered_context;
    bool preempt; /* every PREEMPT saves and restores */
    const struct nocap_aie_word *words;
    size_t word_count;
    uint64_t events_max; /* 0: NOCAP_AIE_RUN_EVENTS */
};

struct nocap_aie_run_result {
    uint64_t events;
    uint64_t answers; /* waits that the array ended though nothing of the control code made it so */
    uint32_t stuck;   /* jobs blocked indefinitely */
    bool cut;         /* events_max was reached */
};

/* Runs all columns of the image, which has one kernel (nocap_aie_image_select), from their page 0
 * to the end of their chain. Memory that was not written reads as 0. Tasks that are started on a
 * known channel send their tokens. When nothing else can happen, the array answers: a polled word
 * gets the value that is waited for, unless `silent_polls`; a token comes, unless `silent_tokens`,
 * on a channel on which no task was started if one can be where the code does not show it: there
 * are control packets, or the channel's queue is not known. Events come with src 0 and time that
 * grows; the same options give the same events. Fails with NOCAP_E_INPUT if a page holds what is no
 * instruction, or jobs that are not whole. */
enum nocap_status nocap_aie_run(const struct nocap_aie_image *image,
                                const struct nocap_aie_run_options *options,
                                nocap_machine_sink *sink, void *context,
                                struct nocap_aie_run_result *result, struct nocap_error *err);

/* The header of such a trace, which names the ELF file, NULL: it has no name; the caller frees it
 * with nocap_header_free. */
enum nocap_status nocap_aie_run_header(const struct nocap_aie_run_options *options, const char *elf,
                                       struct nocap_header *header, struct nocap_error *err);

#endif
