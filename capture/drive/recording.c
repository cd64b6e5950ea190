/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "capture/drive/run.h"

/* As the trace's, of what a host sees. */
static enum nocap_status header_of(struct nocap_header *now, const struct nocap_header *header,
                                   struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_header_copy(now, header, err));
    for (size_t i = 0; i < now->observed_count; i++) {
        free(now->observed[i]);
    }
    free(now->producer);
    now->observed_count = 0;
    now->observes &= NOCAP_CLASS_HOST_MMIO;
    now->has_time_unit = true;
    now->time_unit = NOCAP_TIME_CYCLES;
    now->producer = strdup("nocap replay --into");
    if (now->producer == NULL) {
        nocap_header_free(now);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    return NOCAP_OK;
}

enum nocap_status drive_recording_open(struct nocap_capture **capture, const char *path,
                                       const struct nocap_header *header, struct nocap_error *err)
{
    const struct nocap_capture_options options = {
        .size = sizeof options, .clock = NOCAP_CAPTURE_CLOCK_USER, .one_source = true};
    struct nocap_header now;
    enum nocap_status status = header_of(&now, header, err);
    if (status == NOCAP_OK) {
        status = nocap_recorder_open(capture, path, &now, &options, err);
        nocap_header_free(&now);
    }
    return status;
}

void drive_recording_add(struct nocap_capture *capture, const struct nocap_event *e, uint64_t t,
                         const uint8_t *data)
{
    struct nocap_event now = *e;
    now.shape = 0;
    now.t = t;
    now.has &= ~(NOCAP_F_HASH | NOCAP_F_HEAD | NOCAP_F_N | NOCAP_F_T2 | NOCAP_F_DATA |
                 NOCAP_F_VALUE | NOCAP_F_SEQ);
    now.hash = now.n = now.t2 = now.seq = now.value = 0;
    now.data = NULL;
    now.data_size = 0;
    if (e->size == 1 || e->size == 2 || e->size == 4 || e->size == 8) {
        memcpy(&now.value, data, e->size);
        now.has |= NOCAP_F_VALUE;
    } else {
        now.data = data;
        now.data_size = (uint32_t)e->size;
        now.has |= NOCAP_F_DATA;
    }
    nocap_recorder_event(capture, &now);
}
