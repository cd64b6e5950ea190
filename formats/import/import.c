/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/import/import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"
#include "formats/import/input.h"
#include "formats/import/noc_json.h"
#include "formats/import/snapshot.h"
#include "formats/trace/jsonl.h"

/* Ends early where the events are dense in what was read of `input`, NULL: never. */
static enum nocap_status copy_events(struct nocap_jsonl_reader *reader, int out_fd,
                                     const struct nocap_input *input,
                                     struct nocap_import_result *result, struct nocap_error *err)
{
    uint64_t events = 0;
    struct nocap_writer *writer;
    struct nocap_event event;
    RETURN_IF_FAILED(nocap_writer_open_fd(&writer, out_fd, nocap_jsonl_header(reader), NULL, err));
    enum nocap_status status;
    while ((status = nocap_jsonl_next(reader, &event, err)) == NOCAP_OK) {
        status = nocap_writer_add(writer, &event, err);
        if (status != NOCAP_OK) {
            status =
                status == NOCAP_E_USAGE ? NOCAP_E_INPUT : status; /* an event over the bounds */
            break;
        }
        result->dense = input != NULL && nocap_dense(++events, nocap_input_bytes(input));
        if (result->dense) {
            break;
        }
    }
    result->broken_line = nocap_jsonl_cut(reader);
    if (result->broken_line != 0) {
        const char *damage = nocap_jsonl_damage(reader);
        nocap_writer_cut(writer, result->broken_line, damage);
        snprintf(result->broken_why, sizeof result->broken_why, "%s",
                 damage != NULL ? damage : "it is cut short there");
    }
    return nocap_import_end(writer, status == NOCAP_END ? NOCAP_OK : status, result, err);
}

static enum nocap_status import_input(struct nocap_input *input, int out_fd, bool dense,
                                      struct nocap_import_result *result, struct nocap_error *err)
{
    FILE *stream;
    struct nocap_jsonl_reader *reader;
    RETURN_IF_FAILED(nocap_input_only_zstd(input, err));
    RETURN_IF_FAILED(nocap_input_stream(input, &stream, err));
    enum nocap_status status = nocap_jsonl_open(&reader, stream, nocap_input_name(input), err);
    if (status == NOCAP_OK) {
        status = copy_events(reader, out_fd, dense ? NULL : input, result, err);
        const char *why = NULL;
        result->malformed = nocap_jsonl_malformed(reader, &result->malformed_line, &why);
        snprintf(result->malformed_why, sizeof result->malformed_why, "%s", why != NULL ? why : "");
        nocap_jsonl_close(reader);
    }
    fclose(stream);
    result->bytes_in = nocap_input_bytes(input);
    return status;
}

static enum nocap_status import_jsonl(const char *const *inputs, size_t input_count, int out_fd,
                                      const struct nocap_import_options *options,
                                      struct nocap_import_result *result, struct nocap_error *err)
{
    (void)input_count;
    struct nocap_input *input;
    RETURN_IF_FAILED(nocap_input_open(&input, inputs[0], options, err));
    bool dense = options != NULL && options->dense;
    enum nocap_status status =
        nocap_input_is_trace(input)
            ? nocap_fail(err, NOCAP_E_INPUT,
                         "%s is a .nocap file, which commands read as it is: nothing to import",
                         inputs[0])
            : import_input(input, out_fd, dense, result, err);
    nocap_input_close(input);
    return status;
}

const struct nocap_import_format nocap_import_formats[] = {
    {"jsonl",
     "JSON Lines: the header, then one event a line (docs/events.md); plain or zstd-compressed", 1,
     false, import_jsonl},
    {.name = "noc-json",
     .summary = "the JSON files of tt-metal's NOC event profiler, several into one trace; plain or "
                "zstd-compressed",
     .inputs_max = NOC_JSON_INPUTS_MAX,
     .takes_arch = true,
     .run = noc_json_import},
    {.name = "l1-dump",
     .summary =
         "bytes of L1 read from a device that makes no progress: x,y=FILE for each worker core",
     .inputs_max = L1_DUMP_INPUTS_MAX,
     .run = l1_dump_import},
    {.name = "watcher",
     .summary = "tt-metal's watcher.log: what the mailboxes held, waypoints as notes",
     .inputs_max = 1,
     .run = watcher_import},
};
const size_t nocap_import_format_count =
    sizeof nocap_import_formats / sizeof nocap_import_formats[0];

const struct nocap_import_format *nocap_import_format_find(const char *name)
{
    for (size_t i = 0; i < nocap_import_format_count; i++) {
        if (strcmp(nocap_import_formats[i].name, name) == 0) {
            return &nocap_import_formats[i];
        }
    }
    return NULL;
}

enum nocap_status nocap_import(const struct nocap_import_format *format, const char *const *inputs,
                               size_t input_count, int out_fd,
                               const struct nocap_import_options *options,
                               struct nocap_import_result *result, struct nocap_error *err)
{
    *result = (struct nocap_import_result){0};
    RETURN_ERROR_IF(input_count == 0 || input_count > format->inputs_max, err, NOCAP_E_USAGE,
                    "%s takes %s%zu input%s, %zu given", format->name,
                    format->inputs_max > 1 ? "1 to " : "", format->inputs_max,
                    format->inputs_max > 1 ? "s" : "", input_count);
    return format->run(inputs, input_count, out_fd, options, result, err);
}

/* ---- opening a trace ---- */

static const char cannot_keep[] =
    "cannot keep %s in a temporary file: %s; TMPDIR may name a folder with more room";

static enum nocap_status spool(struct nocap_input *input, int fd, struct nocap_error *err)
{
    uint8_t buffer[1 << 16];
    size_t size;
    for (;;) {
        RETURN_IF_FAILED(nocap_input_read(input, buffer, sizeof buffer, &size, err));
        if (size == 0) {
            return NOCAP_OK;
        }
        for (size_t done = 0; done < size;) {
            ssize_t n = write(fd, buffer + done, size - done);
            RETURN_ERROR_IF(n < 0 && errno != EINTR, err, NOCAP_E_OUTPUT, cannot_keep,
                            nocap_input_name(input), strerror(errno));
            done += n > 0 ? (size_t)n : 0;
        }
    }
}

/* Where there is no room on the disk: not for what would fill the memory, too. */
static int in_memory(const char *path)
{
    enum { MOST = 256 << 20 };
    struct stat st;
    return stat(path, &st) == 0 && st.st_size <= MOST ? memfd_create("trace", MFD_CLOEXEC) : -1;
}

/* A trace without an end may be that of a capture whose program died: its rings hold the rest. What
 * is wrong with them is reported; the trace is read all the same. */
static enum nocap_status read_rings(const char *path, int *fd, struct nocap_recovered *recovered)
{
    struct nocap_error err;
    *fd = temporary_nameless();
    enum nocap_status status =
        *fd < 0 ? nocap_fail(&err, NOCAP_E_OUTPUT, cannot_keep, path, strerror(errno))
                : nocap_rings_recover(path, *fd, recovered, &err);
    int memory = status == NOCAP_E_OUTPUT ? in_memory(path) : -1;
    if (memory >= 0) {
        if (*fd >= 0) {
            close(*fd);
        }
        *fd = memory;
        status = nocap_rings_recover(path, *fd, recovered, &err);
    }
    if (status != NOCAP_OK && *fd >= 0) {
        close(*fd);
    }
    if (status != NOCAP_OK && status != NOCAP_END) {
        *recovered = (struct nocap_recovered){0};
        snprintf(recovered->why, sizeof recovered->why, "%s", err.text);
    }
    return status;
}

static enum nocap_status open_file(struct nocap_reader **reader, const char *path,
                                   struct nocap_recovered *recovered, struct nocap_error *err)
{
    struct nocap_trace_totals totals;
    int fd;
    RETURN_IF_FAILED(nocap_reader_open(reader, path, err));
    if (nocap_reader_totals(*reader, &totals)) {
        return NOCAP_OK;
    }
    if (read_rings(path, &fd, recovered) != NOCAP_OK) {
        return NOCAP_OK;
    }
    nocap_reader_close(*reader);
    *reader = NULL;
    enum nocap_status status = nocap_reader_open_fd(reader, fd, path, err);
    close(fd);
    return status;
}

/* What is no trace is refused by its first bytes, for it may never end. */
static enum nocap_status refuse(enum nocap_input_form form, const char *name,
                                struct nocap_error *err)
{
    RETURN_ERROR_IF(form == NOCAP_INPUT_WATCHER, err, NOCAP_E_INPUT,
                    "%s is no nocap trace, but looks like a log of tt-metal's watcher: make a "
                    "trace of it with nocap import watcher",
                    name);
    RETURN_ERROR_IF(form == NOCAP_INPUT_JSON_LIST, err, NOCAP_E_INPUT,
                    "%s is no nocap trace, but looks like JSON of the NOC event profiler: make a "
                    "trace of it with nocap import noc-json",
                    name);
    RETURN_ERROR_IF(form == NOCAP_INPUT_OTHER, err, NOCAP_E_INPUT,
                    "%s is no nocap trace: it begins neither like one nor like JSON Lines", name);
    return NOCAP_OK;
}

static enum nocap_status open_input(struct nocap_reader **reader, struct nocap_input *input,
                                    const char *path, bool dense,
                                    struct nocap_import_result *imported, struct nocap_error *err)
{
    enum nocap_input_form form;
    RETURN_IF_FAILED(nocap_input_form(input, &form, err));
    RETURN_IF_FAILED(refuse(form, nocap_input_name(input), err));
    if (form != NOCAP_INPUT_JSON_LINES && nocap_input_is_file(input)) {
        return open_file(reader, path, &imported->recovered, err);
    }
    int fd = temporary_nameless();
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_OUTPUT, cannot_keep, nocap_input_name(input),
                    strerror(errno));
    enum nocap_status status = form == NOCAP_INPUT_JSON_LINES
                                   ? import_input(input, fd, dense, imported, err)
                                   : spool(input, fd, err);
    if (status == NOCAP_OK) {
        status = nocap_reader_open_fd(reader, fd, nocap_input_name(input), err);
    }
    if (status == NOCAP_OK && form == NOCAP_INPUT_JSON_LINES) {
        nocap_reader_made_of(*reader, imported->bytes_in);
    }
    close(fd);
    return status;
}

static enum nocap_status probe_input(struct nocap_input *input, const char *path,
                                     struct nocap_error *err)
{
    enum nocap_input_form form;
    struct nocap_reader *reader;
    RETURN_IF_FAILED(nocap_input_form(input, &form, err));
    RETURN_IF_FAILED(refuse(form, nocap_input_name(input), err));
    if (form != NOCAP_INPUT_JSON_LINES && nocap_input_is_file(input)) {
        RETURN_IF_FAILED(nocap_reader_open(&reader, path, err));
        nocap_reader_close(reader);
    }
    return NOCAP_OK;
}

enum nocap_status nocap_import_probe(const char *path, struct nocap_error *err)
{
    struct nocap_input *input;
    RETURN_IF_FAILED(nocap_input_open(&input, path, NULL, err));
    enum nocap_status status = probe_input(input, path, err);
    nocap_input_close(input);
    return status;
}

enum nocap_status nocap_import_open(struct nocap_reader **reader, const char *path, bool dense,
                                    struct nocap_import_result *imported, struct nocap_error *err)
{
    struct nocap_import_result result = {0};
    struct nocap_input *input;
    RETURN_IF_FAILED(nocap_input_open(&input, path, NULL, err));
    enum nocap_status status = open_input(reader, input, path, dense, &result, err);
    nocap_input_close(input);
    if (status == NOCAP_OK && dense) {
        nocap_reader_allow_dense(*reader);
    }
    if (imported != NULL) {
        *imported = result;
    }
    return status;
}
