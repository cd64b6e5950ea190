/* SPDX-License-Identifier: Apache-2.0 */
/* Executions of control code: recorded by the machine, judged by the model. */
#ifndef NOCAP_TESTS_CERT_RECORDING_H
#define NOCAP_TESTS_CERT_RECORDING_H

#include "tests/temp_dir.h"

#include "capture/aie/run.h"
#include "formats/aie/asm.h"
#include "replay/core/waits.h"

enum { EVENTS_MAX = 4096, DATA_MAX = 64, FOUND_MAX = 64, WAITS_MAX = 8 };

/* A recorded run. */
struct recording {
    struct nocap_header header;
    struct nocap_aie_image *image;
    const struct nocap_aie_image *by_uc[NOCAP_UCS];
    struct nocap_event events[EVENTS_MAX];
    uint8_t data[EVENTS_MAX][DATA_MAX];
    size_t count;
    struct nocap_aie_run_result result;
};

static enum nocap_status keep(void *context, const struct nocap_event *event,
                              struct nocap_error *err)
{
    struct recording *r = context;
    (void)err;
    assert_true(r->count < EVENTS_MAX && event->data_size <= DATA_MAX);
    struct nocap_event *e = &r->events[r->count];
    *e = *event;
    e->index = r->count;
    if (event->data_size != 0) {
        memcpy(r->data[r->count], event->data, event->data_size);
        e->data = r->data[r->count];
    }
    r->count++;
    return NOCAP_OK;
}

static struct recording *record(const char *text, const struct nocap_aie_run_options *options)
{
    const struct nocap_aie_asm_options asm_options = {.dialect = options->dialect};
    struct recording *r = calloc(1, sizeof *r);
    struct nocap_error err = {""};
    uint8_t *elf = NULL;
    size_t size = 0;
    assert_non_null(r);
    if (nocap_aie_assemble_text(&elf, &size, text, strlen(text), "program", &asm_options, &err) !=
            NOCAP_OK ||
        nocap_aie_image_open_memory(&r->image, elf, size, "program", &err) != NOCAP_OK ||
        nocap_aie_run_header(options, "program.elf", &r->header, &err) != NOCAP_OK ||
        nocap_aie_run(r->image, options, keep, r, &r->result, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    free(elf);
    for (unsigned i = 0; i < NOCAP_UCS; i++) {
        r->by_uc[i] = r->image;
    }
    return r;
}

static void forget(struct recording *r)
{
    nocap_header_free(&r->header);
    nocap_aie_image_close(r->image);
    free(r);
}

/* What the model says of it, consequences left out. */
struct verdict {
    enum nocap_rule rules[FOUND_MAX];
    uint64_t index[FOUND_MAX];
    size_t count;
    char text[512];                     /* of the first one */
    struct nocap_wait waits[WAITS_MAX]; /* without their texts */
    char what[WAITS_MAX][256];
    size_t wait_count;
    bool hung;
};

static void hear(void *context, const struct nocap_wait *wait)
{
    struct verdict *v = context;
    assert_true(v->wait_count < WAITS_MAX);
    snprintf(v->what[v->wait_count], sizeof v->what[0], "%s", wait->what);
    v->waits[v->wait_count++] = *wait;
    v->hung = wait->certain;
}

static void found(void *context, const struct nocap_divergence *d)
{
    struct verdict *v = context;
    if (d->follows) {
        return;
    }
    if (v->count == 0 || v->rules[0] == TRC_003) {
        snprintf(v->text, sizeof v->text, "rule %d, index %llu: expected %s, observed %s",
                 (int)d->rule - (int)AIE_001 + 2, (unsigned long long)d->index, d->expected,
                 d->observed);
    }
    if (v->count < FOUND_MAX) {
        v->rules[v->count] = d->rule;
        v->index[v->count++] = d->index;
    }
}

static struct verdict judge(const struct recording *r, bool with_elf)
{
    struct verdict v = {.count = 0};
    struct nocap_engine *engine;
    struct nocap_error err = {""};
    const struct nocap_engine_options options = {.size = sizeof options,
                                                 .diverged = found,
                                                 .context = &v,
                                                 .control_code = with_elf ? r->by_uc : NULL};
    assert_int_equal(nocap_engine_new(&engine, &r->header, &options, &err), NOCAP_OK);
    assert_int_equal(nocap_engine_feed(engine, r->events, r->count, &err), NOCAP_OK);
    nocap_engine_waits(engine, hear, &v);
    assert_int_equal(nocap_engine_finish(engine, false, &err), NOCAP_OK);
    nocap_engine_free(engine);
    return v;
}

__attribute__((unused)) static void assert_clean(const struct recording *r, uint64_t seed)
{
    for (int with_elf = 0; with_elf < 2; with_elf++) {
        struct verdict v = judge(r, with_elf);
        if (v.count != 0 || v.hung) {
            fail_msg("seed %llu, %s ELF: %s", (unsigned long long)seed, with_elf ? "with" : "no",
                     v.text);
        }
    }
}

/* Exactly one finding, of this rule. */
__attribute__((unused)) static void assert_found(const struct recording *r, enum nocap_rule rule,
                                                 uint64_t index, const char *what)
{
    struct verdict v = judge(r, true);
    if (v.count != 1 || v.rules[0] != rule || v.index[0] != index) {
        fail_msg("%s: %zu findings; %s; expected index %llu", what, v.count, v.text,
                 (unsigned long long)index);
    }
}

/* ---- programs ---- */

#define CHAINS                                                                                     \
    ".align 16\nc:\n UC_DMA_BD 0, 0x1A0000, @w, 4, 0, 1\n UC_DMA_BD 0, 0x1A0020, @v, 2, 0, 0\n"    \
    "d:\n UC_DMA_BD 0, 0x1D000, @t, 9, 0, 0\n.align 4\nw:\n .long 1\n .long 2\n .long 3\n"         \
    " .long 4\nv:\n .long 5\n .long 6\nt:\n .long 128\n .long 0\n .long 0\n .long 0\n"             \
    " .long 0\n .long 0\n .long 0\n .long 7\n .long 0\n"

/* Transfers that fill the queue, launches, barriers, tokens, polls. */
__attribute__((unused)) static const char busy[] =
    "START_JOB 1\n LAUNCH_JOB 5\n WRITE_32 0x1000, 7\n MASK_WRITE_32 0x1000, 0xff00, 0x1200\n"
    " READ_32 $r1, 0x1000\n ADD $r1, 4\n WRITE_32_D 1, 0x1004, 1\n UC_DMA_WRITE_DES $r2, @c\n"
    " UC_DMA_WRITE_DES $r3, @c\n UC_DMA_WRITE_DES $r4, @c\n UC_DMA_WRITE_DES $g5, @c\n"
    " UC_DMA_WRITE_DES $r6, @c\n WAIT_UC_DMA $r6\n WAIT_UC_DMA $r3\n WAIT_UC_DMA $r4\n"
    " LOCAL_BARRIER $lb1, 3\n LOCAL_BARRIER $lb1, 3\n WAIT_UC_DMA $r2\nEND_JOB\n"
    "START_JOB 2\n UC_DMA_WRITE_DES_SYNC @c\n YIELD\n APPLY_OFFSET_57 @t, 1, 3\n"
    " UC_DMA_WRITE_DES_SYNC @d\n LOCAL_BARRIER $lb1, 3\n WRITE_32 0x001A0634, 0x80010000\n"
    " WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2\n LOCAL_BARRIER $lb1, 3\n UC_DMA_WRITE_DES_SYNC @c\n"
    " WAIT_UC_DMA $g5\nEND_JOB\n"
    "START_JOB_DEFERRED 5\n POLL_32 0x2000, 5\n MASK_POLL_32 0x3000, 0xf0, 0x30\n"
    " LOCAL_BARRIER $lb1, 3\n NOP\n NOP\n LOCAL_BARRIER $lb1, 3\n SAVE_REGISTER 0x1000, 3\n"
    "END_JOB\nEOF\n" CHAINS;

/* Two columns with pages, remote barriers, PDI pages and preemption. */
#define SIDE(label, body)                                                                          \
    ".section .ctrltext\n" label ":\nSTART_JOB 0\n" body "END_JOB\nEOF\n.endl " label "\n"
#define COLUMN(n, first, last)                                                                     \
    ".attach_to_group " n "\n" first ".eop\nSTART_JOB 1\n PREEMPT 0, @s" n ", @r" n                \
    "\nEND_JOB\n.eop\nSTART_JOB 1\n LOAD_PDI 7, @p" n "\nEND_JOB\n.eop\n" last                     \
    "EOF\n" SIDE("p" n, " WRITE_32 0x40000, 1\n") SIDE("r" n, " LOAD_LAST_PDI\n")                  \
        SIDE("s" n, " WRITE_32 0x40004, 2\n")
__attribute__((unused)) static const char pages[] =
    COLUMN("0", "START_JOB 1\n REMOTE_BARRIER $rb2, 3\nEND_JOB\nSTART_JOB 2\n YIELD\nEND_JOB\n",
           "START_JOB 1\n LOAD_PDI 7, @p0\nEND_JOB\n.eop\nSTART_JOB 4\n REMOTE_BARRIER $rb2, 3\n"
           "END_JOB\n")
        COLUMN("1",
               "START_JOB 1\n MASK_WRITE_32 0x2000, 0xff, 5\n REMOTE_BARRIER $rb2, 3\nEND_JOB\n",
               "START_JOB 1\n MOV $r2, 0x1000\n READ_32_D $r2, $r0\n REMOTE_BARRIER $rb2, 3\n"
               "END_JOB\n");

static struct nocap_aie_run_options seeded(uint64_t seed)
{
    return (struct nocap_aie_run_options){
        .size = sizeof(struct nocap_aie_run_options), .dialect = NOCAP_AIE_SEED, .seed = seed};
}

#endif
