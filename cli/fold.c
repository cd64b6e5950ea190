/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fold.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_LEAST = 40, HANGING = 4, COLUMN_LEAST = 8 };

unsigned cli_terminal_width(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return false;
        }
        text += n;
        size -= (size_t)n;
    }
    return true;
}

/* Bytes of the character at `text`, and whether it takes a column: colours take none. */
static size_t character(const char *text, size_t size, bool *column)
{
    size_t length = 1;
    *column = text[0] != '\033';
    if (!*column) {
        while (length < size && text[length - 1] != 'm') {
            length++;
        }
        return length;
    }
    while (length < size && ((unsigned char)text[length] & 0xC0) == 0x80) {
        length++;
    }
    return length;
}

/* How many bytes of the text stand in a line of so many columns: up to a blank, or a whole word. */
static size_t part(const char *text, size_t size, unsigned columns)
{
    size_t blank = 0;
    unsigned used = 0;
    bool begun = false; /* blanks before the first word are no place to part */
    for (size_t i = 0; i < size;) {
        bool column;
        const size_t length = character(text + i, size - i, &column);
        if (text[i] == ' ' && begun && text[i - 1] != ' ') {
            blank = i;
        }
        if (column && used >= columns && blank != 0) {
            return blank;
        }
        begun |= text[i] != ' ';
        i += length;
        used += column;
    }
    return size;
}

/* Where the line goes on: below its last column, if what is left of it has at least half of the
 * terminal there; else a little further in than it begins. */
static size_t hanging(const struct cli_fold *f)
{
    size_t column = 0, indent = strspn(f->line, " ") + HANGING;
    for (size_t i = 2; i < f->used; i++) {
        if (f->line[i] != ' ' && f->line[i - 1] == ' ' && f->line[i - 2] == ' ') {
            column = i;
        }
    }
    if (column >= COLUMN_LEAST && column <= f->width / 2) {
        return column;
    }
    return indent < f->width / 4 ? indent : f->width / 4;
}

/* A whole line, without its end. */
static bool fold_line(const struct cli_fold *f)
{
    static const char blanks[] = "                                        ";
    const char *text = f->line;
    size_t left = f->used, indent = hanging(f);
    indent = indent < sizeof blanks ? indent : sizeof blanks - 1;
    for (bool first = true; left > 0; first = false) {
        size_t lead = first ? 0 : indent;
        size_t size = part(text, left, f->width - (unsigned)lead);
        if (!write_all(f->fd, blanks, lead) || !write_all(f->fd, text, size)) {
            return false;
        }
        text += size;
        left -= size;
        while (left > 0 && *text == ' ') {
            text++;
            left--;
        }
        if (left > 0 && !write_all(f->fd, "\n", 1)) {
            return false;
        }
    }
    return true;
}

bool cli_fold_flush(struct cli_fold *f)
{
    f->line[f->used] = 0;
    bool written =
        f->width < WIDTH_LEAST || f->passes ? write_all(f->fd, f->line, f->used) : fold_line(f);
    f->used = 0;
    return written;
}

bool cli_fold_write(struct cli_fold *f, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n') {
            if (!cli_fold_flush(f) || !write_all(f->fd, "\n", 1)) {
                return false;
            }
            f->passes = false;
            continue;
        }
        if (f->used == CLI_FOLD_LINE - 1) {
            f->passes = true;
            if (!cli_fold_flush(f)) {
                return false;
            }
        }
        f->line[f->used++] = text[i];
    }
    return true;
}
