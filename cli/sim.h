/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in device model on the command line: its options, and one run of it into a trace. */
#ifndef NOCAP_CLI_SIM_H
#define NOCAP_CLI_SIM_H

#include "capture/sim/sim.h"
#include "cli/bounded.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "formats/trace/trace.h"

struct cli_sim_settings {
    const char *scenario, *fault, *profile;
    unsigned board; /* which of p100|p150 */
    struct cli_number tiles, launches, seed, variant;
    struct cli_number programs, workers, queues; /* of a command queue */
    bool apart;
    unsigned view; /* which of raw|cq|host|all */
};

enum { CLI_SIM_OPTIONS = 13 };
/* For a command whose settings begin with a struct cli_sim_settings. */
extern const struct cli_option cli_sim_options[CLI_SIM_OPTIONS];

/* Names to options of the device; fails with NOCAP_E_USAGE. */
enum nocap_status cli_sim_resolve(const struct cli_sim_settings *settings,
                                  struct nocap_sim_options *options, struct nocap_error *err);
/* The options as one line, "launch-host --tiles 4 --seed 3", and back. `size` bytes take every line
 * that NOCAP_E_USAGE does not refuse. */
enum nocap_status cli_sim_to_line(const struct cli_sim_settings *settings, char *line, size_t size,
                                  struct nocap_error *err);
enum nocap_status cli_sim_from_line(const char *line, struct nocap_sim_options *options,
                                    struct nocap_error *err);
/* What a run must not exceed. */
struct cli_sim_bounds {
    const char *how; /* for the message */
    const struct cli_bounds *bounds;
    struct timespec deadline;
};
/* Runs the device and writes the trace to the open descriptor. `progress` and `within` may be NULL;
 * bounds are looked at now and then, so that some blocks more may be written. */
enum nocap_status cli_sim_write(const struct nocap_sim_options *options, int fd,
                                struct cli_progress *progress, const struct cli_sim_bounds *within,
                                struct nocap_trace_totals *totals, struct nocap_error *err);
/* Names and lines of scenarios and faults. */
void cli_sim_list(FILE *out, const void *nothing);

#endif
