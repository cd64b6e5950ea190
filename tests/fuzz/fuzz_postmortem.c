/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of control code that hung: any text, and what follows for a fixed file with
 * barriers, launches, polls and tokens in two columns. No crash, and an answer or a message. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checker/hang/hang.h"
#include "formats/aie/asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] =
    ".attach_to_group 0\nSTART_JOB 1\n LOCAL_BARRIER $lb0, 3\n LAUNCH_JOB 3\n"
    " REMOTE_BARRIER $rb0, 3\nEND_JOB\nSTART_JOB 2\n WAIT_TCTS TILE_0_1, MEM_S2MM_0, 2\n"
    " LOCAL_BARRIER $lb0, 3\nEND_JOB\nSTART_JOB_DEFERRED 3\n LOCAL_BARRIER $lb0, 3\nEND_JOB\n.eop\n"
    "START_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n.attach_to_group 1\n"
    "START_JOB 1\n REMOTE_BARRIER $rb0, 3\n MASK_POLL_32 0x100, 1, 2\nEND_JOB\nEOF\n";

static const char *elf_path(void)
{
    static char path[64]; /* of a file in memory, which goes with the program */
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    uint8_t *elf;
    size_t size;
    if (path[0] != 0) {
        return path;
    }
    int fd = memfd_create("remains", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 ||
        nocap_aie_assemble_text(&elf, &size, source, strlen(source), "fuzz", &options, NULL) !=
            NOCAP_OK ||
        write(fd, elf, size) != (ssize_t)size) {
        abort();
    }
    free(elf);
    return path;
}

static void answer(const struct nocap_aie_postmortem *postmortem)
{
    struct nocap_hang *hang;
    struct nocap_error err = {""};
    if (nocap_hang_postmortem(&hang, elf_path(), NULL, postmortem, &err) != NOCAP_OK) {
        if (hang != NULL || err.text[0] == '\0') {
            abort();
        }
        return;
    }
    FILE *out = fopen("/dev/null", "w");
    if (out == NULL || nocap_hang_text(out, hang, false, NULL) != NOCAP_OK ||
        nocap_hang_json(out, hang, NULL) != NOCAP_OK) {
        abort();
    }
    fclose(out);
    nocap_hang_free(hang);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nocap_aie_postmortem postmortem;
    FILE *stream = size == 0 ? NULL : fmemopen((void *)(uintptr_t)data, size, "r");
    if (stream == NULL) {
        return 0;
    }
    if (nocap_aie_postmortem_read(&postmortem, stream, "fuzz", 0, NULL) == NOCAP_OK) {
        answer(&postmortem);
    }
    fclose(stream);
    nocap_aie_postmortem_clear(&postmortem);
    return 0;
}
