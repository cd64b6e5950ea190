/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "capture/recorder/capture.h"
#include "formats/trace/jsonl.h"

struct nocap_capture *nocap_capture_open_json(const char *path, const char *header,
                                              enum nocap_capture_policy policy,
                                              enum nocap_capture_clock clock,
                                              enum nocap_capture_fork fork, uint64_t ring_bytes,
                                              struct nocap_error *err)
{
    struct nocap_capture *capture = NULL;
    struct nocap_jsonl_reader *reader;
    FILE *file = fmemopen((void *)header, strlen(header), "r");
    if (file == NULL) {
        nocap_fail(err, NOCAP_E_USAGE, "the header is empty");
        return NULL;
    }
    if (nocap_jsonl_open(&reader, file, "the header", err) == NOCAP_OK) {
        const struct nocap_capture_options options = {.size = sizeof options,
                                                      .policy = policy,
                                                      .clock = clock,
                                                      .fork = fork,
                                                      .ring_bytes = ring_bytes};
        if (nocap_capture_open(&capture, path, nocap_jsonl_header(reader), &options, err) !=
            NOCAP_OK) {
            capture = NULL;
        }
        nocap_jsonl_close(reader);
    }
    fclose(file);
    return capture;
}
