/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"
#include "checker/query/tiles.h"

int cli_trace_open(const struct cli_call *call, const char *path, bool dense,
                   struct nocap_reader **reader, struct nocap_import_result *imported)
{
    struct nocap_error err = {{0}};
    struct nocap_import_result result;
    enum nocap_status status = nocap_import_open(reader, path, dense, &result, &err);
    if (imported != NULL) {
        *imported = result;
    }
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    char text[NOCAP_RINGS_TEXT];
    nocap_rings_describe(&result.recovered, path, text, sizeof text);
    if (text[0] != '\0') {
        cli_message(call, "%s", text);
    }
    return CLI_EXIT_OK;
}

/* Copies standard input, and puts the copy in its place. */
static enum nocap_status keep_stdin(struct nocap_error *err)
{
    static char bytes[64 << 10];
    ssize_t n;
    int fd = temporary_nameless();
    bool written = fd >= 0;
    while (written && (n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        for (ssize_t at = 0, done = 0; written && at < n; at += done) {
            done = write(fd, bytes + at, (size_t)(n - at));
            written = done > 0;
        }
    }
    enum nocap_status status = NOCAP_OK;
    if (!written) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot copy standard input to a file: %s",
                            strerror(errno));
    } else if (n < 0 || dup2(fd, STDIN_FILENO) < 0) {
        status = nocap_fail(err, NOCAP_E_INPUT, "cannot read standard input: %s", strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

int cli_stdin_again(const struct cli_call *call)
{
    struct nocap_error err;
    struct stat st;
    for (size_t i = 0; i < call->operands.plain; i++) {
        if (strcmp(call->operands.items[i], "-") != 0) {
            continue;
        }
        bool whole = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
                     lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
        enum nocap_status status = whole ? NOCAP_OK : keep_stdin(&err);
        if (status != NOCAP_OK) {
            return cli_fail(call, status, &err);
        }
        call->operands.items[i] = "/dev/stdin";
    }
    return CLI_EXIT_OK;
}

/* Whether it takes a trace to replace the file, by its first bytes: it is compressed, as .nocap
 * files are, or has a header of JSON Lines. */
static enum cli_makes replaced_by(const char *path)
{
    static const char zstd[4] = "\x28\xb5\x2f\xfd", header[] = "\"nocap\":";
    char line[4096];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return CLI_MAKES_REPORT;
    }
    size_t size = fread(line, 1, sizeof line, file);
    fclose(file);
    const char *end = memchr(line, '\n', size);
    size_t length = end != NULL ? (size_t)(end - line) : size;
    return size >= sizeof zstd && memcmp(line, zstd, sizeof zstd) == 0 ? CLI_MAKES_TRACE
           : memmem(line, length, header, sizeof header - 1) != NULL   ? CLI_MAKES_JSONL
                                                                       : CLI_MAKES_REPORT;
}

int cli_keep_trace(const struct cli_call *call, const char *output, enum cli_makes makes)
{
    struct stat st;
    bool file = stat(output, &st) == 0 && S_ISREG(st.st_mode);
    return !file || makes >= replaced_by(output)
               ? CLI_EXIT_OK
               : cli_usage(call, "%.200s is a trace, which would be lost: give -o another name",
                           output);
}

int cli_tell_untouched(const struct cli_call *call, const char *const *paths, size_t count,
                       bool dense, struct nocap_xy *tiles, size_t tile_count)
{
    struct nocap_error err = {{0}};
    for (size_t i = 0; i < count && tile_count != 0; i++) {
        if (strcmp(paths[i], "-") == 0) { /* was read to its end */
            return CLI_EXIT_OK;
        }
        enum nocap_status status = nocap_tiles_untouched(paths[i], dense, tiles, &tile_count, &err);
        if (status != NOCAP_OK) {
            return cli_fail(call, status, &err);
        }
    }
    for (size_t i = 0; i < tile_count; i++) {
        cli_message(call, "no event touches core %u,%u", tiles[i].x, tiles[i].y);
    }
    return CLI_EXIT_OK;
}

int cli_trace_damage(const struct cli_call *call, const struct nocap_reader *reader)
{
    return cli_damage(call, NULL, nocap_reader_integrity(reader));
}

int cli_damage(const struct cli_call *call, const char *path,
               const struct nocap_integrity *integrity)
{
    const char *whose = path != NULL ? path : "", *colon = path != NULL ? ": " : "";
    for (size_t i = 0; i < integrity->count && i < NOCAP_DAMAGE_KEPT; i++) {
        const struct nocap_damage *d = &integrity->damage[i];
        cli_message(call, "%s%sthe trace is damaged at event %" PRIu64 ", byte %" PRIu64 ": %s",
                    whose, colon, d->index, d->offset, d->text);
    }
    if (integrity->count > NOCAP_DAMAGE_KEPT) {
        cli_message(call, "%s%sand at %zu more places", whose, colon,
                    integrity->count - NOCAP_DAMAGE_KEPT);
    }
    return cli_damage_status(integrity);
}

int cli_damage_status(const struct nocap_integrity *integrity)
{
    return integrity->count == 0 ? CLI_EXIT_OK
           : integrity->nothing  ? CLI_EXIT_INPUT
                                 : CLI_EXIT_FINDINGS;
}

void cli_import_malformed(const struct cli_call *call, const char *path,
                          const struct nocap_import_result *result)
{
    if (result->broken_line != 0) {
        cli_message(call,
                    "the input breaks off at line %" PRIu64 ": %s; what comes before it was used",
                    result->broken_line, result->broken_why);
    }
    if (result->malformed != 0) {
        cli_message(call,
                    "%s: %" PRIu64 " of %" PRIu64 " lines %s; the first is line %" PRIu64 ": %s",
                    path, result->malformed, result->events,
                    result->malformed == 1 ? "is no event" : "are no events",
                    result->malformed_line, result->malformed_why);
    }
}
