/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/drive: the run in the child, and what both processes see of it. */
#ifndef NOCAP_DRIVE_RUN_H
#define NOCAP_DRIVE_RUN_H

#include "capture/drive/drive.h"
#include "capture/drive/plan.h"
#include "capture/recorder/capture.h"

/* In shared memory. */
struct drive_shared {
    bool finished; /* else the simulator ended the process */
    enum nocap_status status;
    struct nocap_error err;
    struct nocap_drive_result result;
};

/* The host of `reader` drives the simulator; fills `shared` as it goes. */
void drive_run(struct nocap_reader *reader, struct drive_plan *plan,
               const struct drive_payloads *payloads, const struct nocap_drive_options *options,
               struct drive_shared *shared);

/* After it: whatever the simulator says when it ends, the result stands. */
void drive_end(void);

/* recording.c: the trace of the run, whose header is that of `header` as far as a host sees. */
enum nocap_status drive_recording_open(struct nocap_capture **capture, const char *path,
                                       const struct nocap_header *header, struct nocap_error *err);
/* `e` as it is now: at `t`, with these bytes. */
void drive_recording_add(struct nocap_capture *capture, const struct nocap_event *e, uint64_t t,
                         const uint8_t *data);

#endif
