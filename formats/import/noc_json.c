/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the NOC event profiler into one trace. */
#include "formats/import/noc_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import/input.h"

struct import {
    const struct nocap_import_options *options;
    struct noc_json_events *events;
    struct nocap_import_result *result;
    const struct nocap_input *input;      /* that is read at present */
    const char *name;                     /* of it */
    uint64_t entries;                     /* of it */
    const struct noc_json_parser *parser; /* of it */
    bool first;                           /* its first entry is still to come */
};

static void count_odd(struct import *import)
{
    struct nocap_import_result *r = import->result;
    if (r->malformed++ == 0) {
        r->malformed_line = noc_json_line(import->parser);
        snprintf(r->malformed_why, sizeof r->malformed_why, "it is no object");
    }
}

/* The first object tells whether this is a trace. */
static enum nocap_status take(void *context, const struct noc_json_entry *entry,
                              struct nocap_error *err)
{
    struct import *import = context;
    bool dense = import->options != NULL && import->options->dense;
    RETURN_ERROR_IF(!dense && nocap_dense(++import->entries, nocap_input_bytes(import->input)), err,
                    NOCAP_E_INPUT,
                    "%s has more than 256 events for each of its bytes; --dense reads it",
                    import->name);
    bool event = entry->is_object && (entry->type[0] != 0 || entry->zone[0] != 0);
    RETURN_ERROR_IF(import->first && !event, err, NOCAP_E_INPUT,
                    "%s is no NOC event trace: its first entry has neither \"type\" nor \"zone\"",
                    import->name);
    import->first = false;
    if (!entry->is_object) {
        count_odd(import);
    }
    return noc_json_events_add(import->events, entry, err);
}

/* ---- one input ---- */

/* NOCAP_END: it breaks off, as the parser finds, or where it cannot be read any more, as `why` says
 * then. */
static enum nocap_status read_all(struct nocap_input *input, struct noc_json_parser *parser,
                                  struct nocap_error *why, struct nocap_error *err)
{
    static const size_t chunk = 64 << 10;
    RETURN_IF_FAILED(nocap_input_only_zstd(input, err));
    RETURN_IF_FAILED(nocap_input_unpack(input, err));
    uint8_t *bytes = malloc(chunk);
    RETURN_ERROR_IF(bytes == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = NOCAP_OK, read = NOCAP_OK;
    for (size_t size = 1; size != 0 && status == NOCAP_OK && read == NOCAP_OK;) {
        read = nocap_input_read(input, bytes, chunk, &size, why);
        status = read == NOCAP_OK && size != 0 ? noc_json_parse(parser, bytes, size, err) : status;
    }
    free(bytes);
    status = status == NOCAP_OK ? noc_json_parse_end(parser, err) : status;
    return read != NOCAP_OK && status != NOCAP_END ? nocap_fail(err, read, "%s", why->text)
                                                   : status;
}

static enum nocap_status read_input(struct import *import, struct nocap_input *input,
                                    struct nocap_error *err)
{
    struct noc_json_parser *parser = NULL;
    struct nocap_error unreadable = {{0}};
    enum nocap_status status = noc_json_parser_new(&parser, import->name, take, import, err);
    import->parser = parser;
    if (status == NOCAP_OK) {
        status = read_all(input, parser, &unreadable, err);
    }
    if (status == NOCAP_END) {
        const char *why;
        struct nocap_import_result *r = import->result;
        r->broken_line = noc_json_broken(parser, &why);
        snprintf(r->broken_why, sizeof r->broken_why, "%.*s", (int)sizeof r->broken_why - 1,
                 unreadable.text[0] != '\0' ? unreadable.text : why);
        status = NOCAP_OK;
    }
    noc_json_parser_free(parser);
    return status;
}

/* noc_trace_dev3_NAME_ID7.json is of device 3. */
static uint16_t chip_of_name(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *mark = strstr(name != NULL ? name : path, "_dev");
    unsigned chip = 0;
    if (mark != NULL && sscanf(mark, "_dev%5u", &chip) == 1 && chip < UINT16_MAX) {
        return (uint16_t)chip;
    }
    return 0;
}

static enum nocap_status import_input(struct import *import, const char *path,
                                      struct nocap_error *err)
{
    struct nocap_input *input;
    RETURN_IF_FAILED(nocap_input_open(&input, path, import->options, err));
    import->input = input;
    import->name = nocap_input_name(input);
    import->entries = 0;
    import->first = true;
    noc_json_events_input(import->events, chip_of_name(path));
    enum nocap_status status = read_input(import, input, err);
    import->result->bytes_in += nocap_input_bytes(input);
    nocap_input_close(input);
    return status == NOCAP_OK ? noc_json_events_flush(import->events, err) : status;
}

/* ---- the trace ---- */

static enum nocap_status make_header(struct nocap_header *header, enum nocap_arch arch,
                                     struct nocap_error *err)
{
    static const char *const classes[] = {"noc", "noc-barrier", "kernel"};
    nocap_header_init(header);
    header->arch = arch;
    header->time_unit = NOCAP_TIME_CYCLES;
    header->has_time_unit = true;
    header->producer = strdup("NOC event profiler");
    RETURN_ERROR_IF(header->producer == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        RETURN_IF_FAILED(nocap_header_observe(header, classes[i], err));
    }
    return NOCAP_OK;
}

static enum nocap_status import_inputs(struct import *import, const char *const *inputs,
                                       size_t input_count, struct nocap_writer *writer,
                                       struct nocap_error *err)
{
    RETURN_IF_FAILED(noc_json_events_new(&import->events, writer, err));
    enum nocap_status status = NOCAP_OK;
    for (size_t i = 0; i < input_count && status == NOCAP_OK; i++) {
        status = import_input(import, inputs[i], err);
    }
    noc_json_events_remarks(import->events, import->result);
    noc_json_events_free(import->events);
    return status;
}

enum nocap_status noc_json_import(const char *const *inputs, size_t input_count, int out_fd,
                                  const struct nocap_import_options *options,
                                  struct nocap_import_result *result, struct nocap_error *err)
{
    struct import import = {.options = options, .result = result};
    struct nocap_header header;
    struct nocap_writer *writer = NULL;
    enum nocap_status status =
        make_header(&header, options != NULL ? options->arch : NOCAP_ARCH_BLACKHOLE, err);
    if (status == NOCAP_OK) {
        status = nocap_writer_open_fd(&writer, out_fd, &header, NULL, err);
    }
    nocap_header_free(&header);
    RETURN_IF_FAILED(status);
    status = import_inputs(&import, inputs, input_count, writer, err);
    nocap_writer_cut(writer, result->broken_line, NULL);
    return nocap_import_end(writer, status, result, err);
}
