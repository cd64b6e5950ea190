/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder for callers inside of nocap, which have a whole struct nocap_header. What records
 * one event is the public interface, include/nocap/capture.h. */
#ifndef NOCAP_CAPTURE_RECORDER_CAPTURE_H
#define NOCAP_CAPTURE_RECORDER_CAPTURE_H

#include <nocap/capture.h>

#include "base/status.h"
#include "formats/trace/event.h"
#include "formats/trace/header.h"

/* As struct nocap_capture_open_options. */
struct nocap_capture_options {
    size_t size; /* sizeof(struct nocap_capture_options) */
    enum nocap_capture_policy policy;
    enum nocap_capture_clock clock;
    enum nocap_capture_fork fork;
    uint64_t ring_bytes;
    uint32_t flush_interval;
    int level;
    bool one_source; /* recording calls come one at a time, whatever thread makes them: the trace
                        has one source, in their order */
};

struct nocap_capture_totals {
    uint64_t events, bytes, dropped;
    double seconds;
};

/* As nocap_recorder_open, _close and _event. Sets the header's time unit where it has none. */
enum nocap_status nocap_recorder_open(struct nocap_capture **capture, const char *path,
                                      const struct nocap_header *header,
                                      const struct nocap_capture_options *options,
                                      struct nocap_error *err);
enum nocap_status nocap_recorder_close(struct nocap_capture *capture,
                                       struct nocap_capture_totals *totals,
                                       struct nocap_error *err);
/* Around a call that may end the process: whoever reads the rings then is told of it. Nothing is
 * recorded. */
void nocap_recorder_calling(struct nocap_capture *capture, bool calling);
bool nocap_recorder_event(struct nocap_capture *capture, const struct nocap_event *event);

#endif
