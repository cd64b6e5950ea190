/* SPDX-License-Identifier: Apache-2.0 */
/* Files of waivers: any bytes are refused with a message, or are asked about findings of every rule
 * and tell which of them are of no use. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checker/report/waivers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECONDS_NOW = 1700000000 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static enum nocap_status take_note(void *context, const char *id, const char *note,
                                   struct nocap_error *err)
{
    (void)context, (void)err;
    require(id[0] != '\0' && note[0] != '\0');
    return NOCAP_OK;
}

static void ask(struct nocap_waivers *waivers)
{
    bool judged[NOCAP_RULE_COUNT];
    struct nocap_error err = {""};
    for (unsigned rule = 0; rule < NOCAP_RULE_COUNT; rule++) {
        const struct nocap_divergence divergence = {
            .rule = (enum nocap_rule)rule, .has_tile = true, .at = {1, 2}, .thread = -1};
        const char *reason = nocap_waivers_match(waivers, "out/run.nocap", &divergence);
        require(reason == NULL || reason[0] != '\0');
        judged[rule] = rule % 8 != 0;
    }
    nocap_waivers_judged(waivers, "out/run.nocap", judged);
    require(nocap_waivers_notes(waivers, take_note, NULL, &err) == NOCAP_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nocap_waivers *waivers;
    struct nocap_error err = {""};
    char path[32];
    int fd = memfd_create("waivers", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nocap_waivers_open(&waivers, path, SECONDS_NOW, &err) == NOCAP_OK) {
        ask(waivers);
        nocap_waivers_close(waivers);
    } else {
        require(waivers == NULL && err.text[0] != '\0');
    }
    close(fd);
    return 0;
}
