/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a run that is spread over machines and time: which of them are its own, and what
 * they are. */
#ifndef NOCAP_CLI_SPREAD_H
#define NOCAP_CLI_SPREAD_H

#include "checker/report/results.h"
#include "cli/commands.h"

enum { CLI_DIGEST_TEXT = 17 }; /* 16 digits of xxhash's 64 bits, and a zero byte */

struct cli_spread {
    uint64_t *at;       /* the operands that are its own, in their order */
    const char **paths; /* of these */
    size_t count;
    uint64_t *bytes; /* of all operands; 0: it cannot be looked at */
    char list[CLI_DIGEST_TEXT];
    struct nocap_shard shard;
};

/* `text` is I/N, or NULL for all traces; `options` stands for everything else that the reports
 * depend on, NULL: not wanted. Traces go to the shard that has fewest bytes so far, the largest
 * first. Tells what is wrong; gives the exit status. */
int cli_spread_open(const struct cli_call *call, const char *text, const char *options,
                    struct cli_spread *spread);
void cli_spread_close(struct cli_spread *spread);

/* What stands for all that a check's reports depend on besides the traces: this version, the
 * options, the bytes of the files that they name. free(*key). Tells what cannot be read; gives the
 * exit status. */
int cli_check_key(const struct cli_call *call, const struct nocap_check_options *options,
                  const char *waivers, const char *baseline, char **key);

/* Of the bytes of a regular file, for digests of what a report depends on. Fails with
 * NOCAP_E_INPUT. */
enum nocap_status cli_digest_file(const char *path, char digest[CLI_DIGEST_TEXT], uint64_t *bytes,
                                  struct nocap_error *err);

#endif
