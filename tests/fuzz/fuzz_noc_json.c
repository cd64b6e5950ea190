/* SPDX-License-Identifier: Apache-2.0 */
/* The NOC event profiler's JSON from any bytes: no crash, and every event that comes of it is one.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/import/noc_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct noc_json_events *events;
    uint64_t entries;
};

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static enum nocap_status take(void *context, const struct noc_json_entry *entry,
                              struct nocap_error *err)
{
    struct run *run = context;
    struct noc_json_builder draft;
    noc_json_begin(&draft, entry);
    unsigned count = noc_json_make(&draft, entry);
    require(count >= 1);
    for (; count > 0; count--, noc_json_next_ended(&draft)) {
        draft.event.by = (draft.event.has & NOCAP_F_BY) != 0 ? draft.event.by : NOCAP_BY_NONE;
        require(nocap_event_problem(&draft.event) == NULL);
    }
    run->entries++;
    return noc_json_events_add(run->events, entry, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run = {0};
    struct nocap_header header;
    struct nocap_writer *writer;
    struct noc_json_parser *parser;
    struct nocap_error err = {""};
    const char *why;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    nocap_header_init(&header);
    require(nocap_writer_open_fd(&writer, fd, &header, NULL, &err) == NOCAP_OK);
    require(noc_json_events_new(&run.events, writer, &err) == NOCAP_OK);
    noc_json_events_input(run.events, 0);
    require(noc_json_parser_new(&parser, "input", take, &run, &err) == NOCAP_OK);
    size_t half = size / 2; /* in pieces, as a file comes */
    enum nocap_status status = noc_json_parse(parser, data, half, &err);
    if (status == NOCAP_OK) {
        status = noc_json_parse(parser, data + half, size - half, &err);
    }
    if (status == NOCAP_OK) {
        status = noc_json_parse_end(parser, &err);
    }
    require(status == NOCAP_OK || status == NOCAP_END || err.text[0] != '\0');
    require(status != NOCAP_END || (noc_json_broken(parser, &why) > 0 && why[0] != '\0'));
    require(noc_json_events_flush(run.events, &err) == NOCAP_OK);
    noc_json_parser_free(parser);
    noc_json_events_free(run.events);
    require(nocap_writer_close(writer, NULL, &err) == NOCAP_OK);
    nocap_header_free(&header);
    close(fd);
    return 0;
}
