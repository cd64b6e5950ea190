/* SPDX-License-Identifier: Apache-2.0 */
/* Where a command's result goes: standard output, or a file that appears under its name only when
 * it is whole. */
#ifndef NOCAP_CLI_OUTPUT_H
#define NOCAP_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/output_file.h"
#include "cli/commands.h"

/* A row of the options of a command that prints. */
#define CLI_OUTPUT(type)                                                                           \
    {                                                                                              \
        "output", "FILE", "write to FILE instead of standard output", offsetof(type, output),      \
            CLI_TEXT, 'o'                                                                          \
    }
/* .. and of one that makes a trace. */
#define CLI_OUTPUT_TRACE(type)                                                                     \
    {                                                                                              \
        "output", "FILE", "the .nocap file to make; - is standard output", offsetof(type, output), \
            CLI_TEXT, 'o'                                                                          \
    }

struct cli_output {
    int fd;                  /* to write to */
    struct output_file file; /* its descriptor is -1: standard output */
    FILE *stream;            /* NULL until cli_output_stream */
    const char *name;        /* for messages */
    struct cli_fold *fold;   /* NULL: lines are as long as they are */
};

/* `path` NULL or "-": standard output. Devices and pipes are written directly. Fails with
 * NOCAP_E_OUTPUT. */
enum nocap_status cli_output_open(struct cli_output *output, const char *path,
                                  struct nocap_error *err);
/* What follows is text for people: on a terminal its lines are folded (cli/fold.h). To be called
 * before anything is written. Gives the terminal's width, 0 if it is none. */
unsigned cli_output_fold(struct cli_output *output);
/* The same as a stream; NULL: there is none, which is NOCAP_E_OUTPUT. */
FILE *cli_output_stream(struct cli_output *output, struct nocap_error *err);
/* Writes all of it. NOCAP_END: the reader is gone, which is no failure. */
enum nocap_status cli_output_write(struct cli_output *output, const void *data, size_t size,
                                   struct nocap_error *err);
/* Text of the program itself to standard output, folded too. */
void cli_print_folded(void (*print)(FILE *out, const void *what), const void *what);
/* Ends the output and gives the command's exit status. NOCAP_OK, or NOCAP_END of cli_output_write:
 * the file gets its name; else nothing of it stays behind and the error is reported. */
int cli_output_finish(struct cli_output *output, const struct cli_call *call,
                      enum nocap_status status, struct nocap_error *err);

/* Ends it where there is no result, which was reported: what was there before stays. */
void cli_output_abandon(struct cli_output *output);

/* Whether text to this output has colours. */
bool cli_output_has_color(const struct cli_output *output, const struct cli_call *call);

#endif
