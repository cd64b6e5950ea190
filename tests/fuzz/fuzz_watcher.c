/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a watcher from any bytes: no crash, and what is made of them is a whole trace. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void read_back(const char *path, uint64_t events)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *list;
    size_t count;
    uint64_t seen = 0;
    require(nocap_reader_open(&reader, path, &err) == NOCAP_OK);
    while (nocap_reader_next(reader, &list, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            require(nocap_event_problem(&list[i]) == NULL);
        }
        seen += count;
    }
    require(seen == events && nocap_reader_integrity(reader)->count == 0);
    nocap_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
    char in_path[32], out_path[32];
    const char *const inputs[] = {in_path};
    struct nocap_import_result result;
    struct nocap_error err = {{0}};
    require(in >= 0 && out >= 0 && write(in, data, size) == (ssize_t)size);
    snprintf(in_path, sizeof in_path, "/proc/self/fd/%d", in);
    snprintf(out_path, sizeof out_path, "/proc/self/fd/%d", out);
    enum nocap_status status =
        nocap_import(nocap_import_format_find("watcher"), inputs, 1, out, NULL, &result, &err);
    require(status == NOCAP_OK || err.text[0] != '\0');
    if (status == NOCAP_OK) {
        read_back(out_path, result.events);
    }
    close(in);
    close(out);
    return 0;
}
