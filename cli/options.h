/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a command as a table: what they are called, where their value goes, what --help
 * says of them. */
#ifndef NOCAP_CLI_OPTIONS_H
#define NOCAP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "formats/trace/event.h"

/* The types, and the member of the command's settings that each fills. */
enum cli_option_type {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char * */
    CLI_NUMBER, /* struct cli_number; decimal or 0x */
    CLI_RANGE,  /* struct cli_range; A..B or A */
    CLI_TILE,   /* struct cli_tile; X,Y */
    CLI_CHOICE, /* unsigned: which of the words of `value`, separated by |, from 0; the first is the
                   default */
    CLI_LIST,   /* struct cli_list: the option may be given several times */
};

struct cli_number {
    bool given;
    uint64_t value;
};
struct cli_range {
    bool given;
    uint64_t first, last;
};
struct cli_tile {
    bool given;
    struct nocap_xy at;
};
struct cli_list {
    const char **items;
    size_t count;
};

struct cli_option {
    const char *name;  /* without the dashes */
    const char *value; /* what stands for the value in --help; NULL for a flag */
    const char *help;  /* may have several lines */
    size_t offset;     /* of the member in the settings */
    enum cli_option_type type;
    char letter; /* 0: no short form */
};

/* A table of options with the settings that it fills. */
struct cli_options {
    const struct cli_option *table;
    size_t count;
    void *settings;
    const char *not_for; /* the options are of something else, and not for this; NULL: they are */
};

struct cli_operands {
    const char **items;
    size_t count;
    size_t plain; /* how many of them stood before "--" */
};

/* The first of `argv` that is neither an option of the tables nor its value; NULL: none. */
const char *cli_options_first_operand(const struct cli_options *tables, size_t table_count,
                                      int argc, char **argv);

/* Sorts `argv` into options, for which the tables are asked in turn, and operands. Allocates lists;
 * cli_options_free gives them back. Fails with NOCAP_E_USAGE. */
enum nocap_status cli_options_parse(const struct cli_options *tables, size_t table_count, int argc,
                                    char **argv, struct cli_operands *operands,
                                    struct nocap_error *err);
void cli_options_free(const struct cli_options *tables, size_t table_count,
                      struct cli_operands *operands);

/* Operands of these forms, as CLI_TILE and CLI_RANGE read values. False: the text is none. */
bool cli_parse_tile(const char *text, struct cli_tile *tile);
bool cli_parse_range(const char *text, struct cli_range *range);

/* The lines of --help. */
void cli_options_print(FILE *out, const struct cli_options *tables, size_t table_count);

#endif
