/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as operands: opening, and telling what is damaged. */
#ifndef NOCAP_CLI_TRACE_INPUT_H
#define NOCAP_CLI_TRACE_INPUT_H

#include "cli/commands.h"
#include "formats/import/import.h"

/* A row of the options of a command that reads whole traces; what it stands for is `dense` of the
 * settings. */
#define CLI_DENSE(type)                                                                            \
    {                                                                                              \
        "dense", NULL, "read on where few bytes hold more than 256 events each",                   \
            offsetof(type, dense), CLI_FLAG, 0                                                     \
    }

/* Opens a trace of any form; tells what fails and gives the exit status. `imported` may be NULL. */
int cli_trace_open(const struct cli_call *call, const char *path, bool dense,
                   struct nocap_reader **reader, struct nocap_import_result *imported);
/* For commands that read an input more than once: where an operand is "-", standard input becomes a
 * file, copied to one without a name if it is none, and the operand its path. */
int cli_stdin_again(const struct cli_call *call);
/* A usage error if the file `output` is a trace that another thing would replace. */
int cli_keep_trace(const struct cli_call *call, const char *output, enum cli_makes makes);
/* A line on stderr for each tile that no event of the traces, which are files, touches; `tiles` are
 * changed. */
int cli_tell_untouched(const struct cli_call *call, const char *const *paths, size_t count,
                       bool dense, struct nocap_xy *tiles, size_t tile_count);
/* One line on stderr for each damage that was met; the exit status that follows. */
int cli_trace_damage(const struct cli_call *call, const struct nocap_reader *reader);
/* `path`: of several traces, which; NULL: there is one. */
int cli_damage(const struct cli_call *call, const char *path,
               const struct nocap_integrity *integrity);
/* The exit status alone. */
int cli_damage_status(const struct nocap_integrity *integrity);
/* A line on stderr each if the input of an import breaks off, and if lines of it are no events. */
void cli_import_malformed(const struct cli_call *call, const char *path,
                          const struct nocap_import_result *result);

#endif
