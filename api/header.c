/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in front of events: members of a struct, or JSON. */
#include <string.h>

#include "api/api.h"
#include "formats/trace/header.h"
#include "formats/trace/jsonl.h"

static enum nocap_status from_json(struct nocap_header *to, const char *json,
                                   struct nocap_error *err)
{
    struct nocap_jsonl_reader *reader;
    RETURN_ERROR_IF(json[0] == '\0', err, NOCAP_E_USAGE, "the header is empty");
    FILE *file = fmemopen((void *)json, strlen(json), "r");
    RETURN_ERROR_IF(file == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = nocap_jsonl_open(&reader, file, "the header", err);
    if (status == NOCAP_OK) {
        status = nocap_header_copy(to, nocap_jsonl_header(reader), err);
        nocap_jsonl_close(reader);
    }
    fclose(file);
    return status;
}

enum nocap_status api_header(struct nocap_header *to, const struct nocap_trace_header *from,
                             struct nocap_error *err)
{
    struct nocap_trace_header h;
    RETURN_ERROR_IF(from == NULL, err, NOCAP_E_USAGE, "a trace needs a header");
    RETURN_IF_FAILED(api_take(&h, sizeof h, from, "nocap_trace_header", err));
    if (h.json != NULL) {
        RETURN_IF_FAILED(from_json(to, h.json, err));
        if (h.observes != 0 && !to->has_observes) {
            nocap_header_free(to);
            return nocap_fail(err, NOCAP_E_USAGE,
                              "the header's `json` is all of it, and has no `observes`: the member "
                              "beside it would be lost");
        }
        return NOCAP_OK;
    }
    RETURN_ERROR_IF(
        (unsigned)h.arch >= NOCAP_ARCH_COUNT || (unsigned)h.board >= NOCAP_BOARD_COUNT ||
            (unsigned)h.time_unit >= NOCAP_TIME_UNIT_COUNT || h.observes >> NOCAP_CLASS_COUNT != 0,
        err, NOCAP_E_USAGE,
        "the header names an architecture, board, unit or event class that there is "
        "not");
    nocap_header_init(to);
    to->arch = h.arch;
    to->board = h.board;
    to->time_unit = h.time_unit;
    to->has_time_unit = true;
    to->clock_hz = h.clock_hz;
    to->observes = h.observes;
    to->has_observes = true;
    if (h.producer != NULL) {
        to->producer = strdup(h.producer);
        RETURN_ERROR_IF(to->producer == NULL, err, NOCAP_E_MEMORY, "out of memory");
    }
    return NOCAP_OK;
}
