/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a trace. */
#include <nocap/trace.h>

#include "api/api.h"
#include "formats/trace/trace.h"

/* The public handle is the writer itself. */
static struct nocap_writer *writer_of(struct nocap_trace_writer *writer)
{
    return (struct nocap_writer *)writer;
}

enum nocap_status nocap_trace_create(struct nocap_trace_writer **writer, const char *path,
                                     const struct nocap_trace_header *header,
                                     const struct nocap_trace_create_options *options,
                                     struct nocap_error *err)
{
    struct nocap_trace_create_options o;
    struct nocap_header full;
    RETURN_IF_FAILED(api_take(&o, sizeof o, options, "nocap_trace_create_options", err));
    RETURN_IF_FAILED(api_header(&full, header, err));
    const struct nocap_writer_options inside = {
        .size = sizeof inside, .level = o.level, .block_events = o.block_events};
    struct nocap_writer *made;
    enum nocap_status status = nocap_writer_open(&made, path, &full, &inside, err);
    nocap_header_free(&full);
    RETURN_IF_FAILED(status);
    status = nocap_writer_flush(made, err);
    if (status != NOCAP_OK) {
        nocap_writer_abandon(made);
        return status;
    }
    *writer = (struct nocap_trace_writer *)made;
    return NOCAP_OK;
}

enum nocap_status nocap_trace_add(struct nocap_trace_writer *writer,
                                  const struct nocap_event *event, struct nocap_error *err)
{
    struct nocap_event room;
    if (event->struct_size != sizeof room) {
        RETURN_IF_FAILED(api_take(&room, sizeof room, event, "nocap_event", err));
        event = &room;
    }
    return nocap_writer_add(writer_of(writer), event, err);
}

enum nocap_status nocap_trace_flush(struct nocap_trace_writer *writer, struct nocap_error *err)
{
    return nocap_writer_flush(writer_of(writer), err);
}

enum nocap_status nocap_trace_finish(struct nocap_trace_writer *writer, struct nocap_error *err)
{
    return nocap_writer_close(writer_of(writer), NULL, err);
}

void nocap_trace_abandon(struct nocap_trace_writer *writer)
{
    nocap_writer_abandon(writer_of(writer));
}
