/* SPDX-License-Identifier: Apache-2.0 */
/* Control code that runs: an ELF file is run whatever it holds; else the bytes change events of a
 * run that is known. The model replays both and never stops. */
#include <stdlib.h>
#include <string.h>

#include "capture/aie/run.h"
#include "formats/aie/asm.h"
#include "replay/core/waits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS_MAX = 2000 };

static const char program[] =
    "START_JOB 1\n LAUNCH_JOB 5\n WRITE_32 0x1000, 7\n MASK_WRITE_32 0x1000, 0xff00, 0x1200\n"
    " READ_32 $r1, 0x1000\n UC_DMA_WRITE_DES $r2, @c\n LOCAL_BARRIER $lb1, 2\n"
    " WAIT_UC_DMA $r2\n REMOTE_BARRIER $rb1, 1\nEND_JOB\n"
    "START_JOB 2\n UC_DMA_WRITE_DES_SYNC @c\n LOCAL_BARRIER $lb1, 2\n"
    " WRITE_32 0x001A0634, 0x80010000\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2\nEND_JOB\n"
    "START_JOB_DEFERRED 5\n POLL_32 0x2000, 5\n NOP\nEND_JOB\n.eop\n"
    "START_JOB 9\n LOAD_PDI 7, @p\nEND_JOB\nEOF\n"
    "c:\n UC_DMA_BD 0, 0x1A0000, @w, 2, 0, 0\nw:\n .long 1\n .long 2\n"
    ".section .ctrltext\np:\nSTART_JOB 0\n WRITE_32 0x40000, 1\nEND_JOB\nEOF\n.endl p\n";

struct feeding {
    struct nocap_engine *engine;
    const uint8_t *data; /* what is changed: place, which field, value; three bytes a change */
    size_t size;
    uint64_t index;
};

static void change(const struct feeding *f, struct nocap_event *e)
{
    for (size_t i = 0; i + 3 <= f->size; i += 3) {
        if (f->data[i] != (uint8_t)f->index) {
            continue;
        }
        switch (f->data[i + 1] % 8) {
        case 0: e->off = f->data[i + 2] * 4u; break;
        case 1: e->job = f->data[i + 2]; break;
        case 2: e->page = f->data[i + 2]; break;
        case 3: e->uc = f->data[i + 2]; break;
        case 4: e->op = f->data[i + 2]; break;
        case 5: e->value = e->handle = f->data[i + 2]; break;
        case 6: e->addr ^= f->data[i + 2]; break;
        default: e->has ^= UINT64_C(1) << f->data[i + 2] % 64; break;
        }
    }
}

static enum nocap_status feed(void *context, const struct nocap_event *event,
                              struct nocap_error *err)
{
    struct feeding *f = context;
    struct nocap_event e = *event;
    e.index = f->index;
    change(f, &e);
    f->index++;
    return nocap_engine_feed(f->engine, &e, 1, err);
}

static void hear(void *context, const struct nocap_wait *wait)
{
    (void)context;
    (void)wait;
}

static void run(const struct nocap_aie_image *image, const uint8_t *data, size_t size, unsigned way)
{
    const struct nocap_aie_run_options options = {.size = sizeof options,
                                                  .dialect = (enum nocap_aie_dialect)(way % 3),
                                                  .seed = way,
                                                  .silent_polls = way % 2 == 0,
                                                  .silent_tokens = way % 3 == 0,
                                                  .preempt = way % 4 < 2,
                                                  .events_max = EVENTS_MAX};
    const struct nocap_aie_image *by_uc[NOCAP_UCS];
    const struct nocap_engine_options model = {.size = sizeof model, .control_code = by_uc};
    struct nocap_aie_run_result result;
    struct nocap_header header;
    struct nocap_error err = {""};
    struct feeding f = {.data = data, .size = size};
    for (unsigned i = 0; i < NOCAP_UCS; i++) {
        by_uc[i] = way % 5 == 0 ? NULL : image;
    }
    if (nocap_aie_run_header(&options, "fuzz", &header, &err) != NOCAP_OK) {
        return;
    }
    if (nocap_engine_new(&f.engine, &header, &model, &err) == NOCAP_OK) {
        enum nocap_status status = nocap_aie_run(image, &options, feed, &f, &result, &err);
        if (status != NOCAP_OK && err.text[0] == '\0') {
            abort();
        }
        nocap_engine_waits(f.engine, hear, NULL);
        (void)nocap_engine_finish(f.engine, false, &err);
        nocap_engine_free(f.engine);
    }
    nocap_header_free(&header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
    struct nocap_aie_image *image = NULL;
    struct nocap_error err = {""};
    if (size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0) {
        if (nocap_aie_image_open_memory(&image, data, size, "fuzz", &err) == NOCAP_OK) {
            for (unsigned way = 0; way < 6; way++) {
                run(image, NULL, 0, way);
            }
        }
        nocap_aie_image_close(image);
        return 0;
    }
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    uint8_t *elf = NULL;
    size_t elf_size;
    if (nocap_aie_assemble_text(&elf, &elf_size, program, strlen(program), "fuzz", &options,
                                &err) != NOCAP_OK ||
        nocap_aie_image_open_memory(&image, elf, elf_size, "fuzz", &err) != NOCAP_OK) {
        abort();
    }
    run(image, data, size, size == 0 ? 1 : data[0] / 3u * 3u + 1);
    nocap_aie_image_close(image);
    free(elf);
    return 0;
}
