/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/: the trace that `nocap capture -- CMD` asks the libraries in a program for,
 * through the environment:
 *
 * - NOCAP_CAPTURE: the trace; a second process or device gets STEM.<pid>.nocap for STEM.nocap
 * - NOCAP_CAPTURE_POLICY, "drop": events that find their ring full are dropped; else they wait
 * - NOCAP_CAPTURE_CLAIM: a file that the process makes whose the trace itself is; it is not there
 *   when the command starts
 * - NOCAP_CAPTURE_SUMS: a file to which each capture that ends appends two lines: events, bytes,
 *   drops, seconds, path; then what failed, or nothing. It ends with its first zero byte
 * - NOCAP_CAPTURE_SAMPLE: clocks between two looks into a simulated device; 0: none
 * - NOCAP_CAPTURE_PROFILE: JSON, the profile of the runtime, for the header of a Blackhole's trace
 */
#ifndef NOCAP_LIVE_SESSION_H
#define NOCAP_LIVE_SESSION_H

#include "capture/recorder/capture.h"

#define LIVE_TRACE   "NOCAP_CAPTURE"
#define LIVE_POLICY  "NOCAP_CAPTURE_POLICY"
#define LIVE_CLAIM   "NOCAP_CAPTURE_CLAIM"
#define LIVE_SUMS    "NOCAP_CAPTURE_SUMS"
#define LIVE_SAMPLE  "NOCAP_CAPTURE_SAMPLE"
#define LIVE_PROFILE "NOCAP_CAPTURE_PROFILE"

/* NULL: nothing is captured, since the environment names no trace, or since it cannot be made,
 * which is reported on standard error. `header`'s producer is set to `who` and the program's name,
 * its profile as the environment says. */
struct nocap_capture *live_open(const char *who, struct nocap_header *header,
                                enum nocap_capture_clock clock);
/* Tells that nothing is captured of `what`, and why. */
void live_refuse(const char *what, const char *why);
/* Ends it and appends the sums. What fails is reported on standard error. NULL is fine. */
void live_close(struct nocap_capture *capture);

#endif
