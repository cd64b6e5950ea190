/* SPDX-License-Identifier: Apache-2.0 */
/* Text for a terminal: lines that are longer than it is wide go on in the next one, between two
 * words, further in. A word that is longer than a line stays whole. */
#ifndef NOCAP_CLI_FOLD_H
#define NOCAP_CLI_FOLD_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_FOLD_LINE = 8192 }; /* bytes of a line that are folded; what is longer is left alone */

struct cli_fold {
    int fd;
    unsigned width;
    size_t used;
    bool passes; /* the present line is longer than CLI_FOLD_LINE */
    char line[CLI_FOLD_LINE];
};

/* Columns of the terminal behind the descriptor, 0 if it is none. */
unsigned cli_terminal_width(int fd);

/* Takes text on its way to the descriptor; false: it cannot be written, errno says why. */
bool cli_fold_write(struct cli_fold *fold, const char *text, size_t size);
/* The last line, if it has no end. */
bool cli_fold_flush(struct cli_fold *fold);

#endif
