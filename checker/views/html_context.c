/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/views/html_private.h"
#include "formats/export/text.h"
#include "formats/import/import.h"

enum { BEFORE = 10, AFTER = 10, FINDINGS_MAX = 100 };

static enum nocap_status put_event(struct nocap_json *json, const struct nocap_text_style *style,
                                   const struct nocap_event *event, struct nocap_text *text,
                                   struct nocap_error *err)
{
    text->size = 0;
    RETURN_IF_FAILED(nocap_text_print_event(style, text, event, err));
    if (text->size > 0) {
        text->data[text->size - 1] = '\0'; /* instead of its newline */
        nocap_json_text(json, NULL, text->data);
    }
    return NOCAP_OK;
}

/* Those from `index` - BEFORE on; a list of lines. */
static enum nocap_status put_around(struct nocap_json *json, struct nocap_reader *reader,
                                    uint64_t index, struct nocap_text *text,
                                    struct nocap_error *err)
{
    const struct nocap_text_style style = nocap_text_style(nocap_reader_header(reader), false);
    const uint64_t first = index > BEFORE ? index - BEFORE : 0;
    const struct nocap_event *events;
    size_t count;
    bool more = true;
    enum nocap_status status = nocap_reader_seek_index(reader, first, err);
    while (status == NOCAP_OK && more) {
        status = nocap_reader_next(reader, &events, &count, err);
        for (size_t i = 0; status == NOCAP_OK && more && i < count; i++) {
            more = events[i].index < index + AFTER;
            if (events[i].index >= first) {
                status = put_event(json, &style, &events[i], text, err);
            }
        }
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

static enum nocap_status put_all(struct nocap_json *json, struct nocap_reader *reader,
                                 const struct nocap_report *report, struct nocap_error *err)
{
    struct nocap_text text = {0};
    enum nocap_status status = NOCAP_OK;
    nocap_json_map(json, "context");
    for (size_t i = 0; i < report->finding_count && i < FINDINGS_MAX && status == NOCAP_OK; i++) {
        char key[24];
        uint64_t index = report->findings[i].index;
        if (i != 0 && report->findings[i - 1].index == index) {
            continue;
        }
        snprintf(key, sizeof key, "%llu", (unsigned long long)index);
        nocap_json_array(json, key);
        status = put_around(json, reader, index, &text, err);
        nocap_json_array_end(json);
    }
    nocap_json_map_end(json);
    free(text.data);
    return status;
}

enum nocap_status html_context(struct nocap_json *json, const struct view_end *end,
                               struct nocap_export_result *result, struct nocap_error *err)
{
    const struct nocap_report *report = end->hang->report;
    struct nocap_import_result imported;
    struct nocap_reader *reader;
    if (report->finding_count == 0) {
        return NOCAP_OK;
    }
    if (strcmp(end->path, "-") == 0) {
        result->missing = "standard input is read once: the page has no events around findings";
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(nocap_import_open(&reader, end->path, end->options->dense, &imported, err));
    enum nocap_status status = put_all(json, reader, report, err);
    nocap_reader_close(reader);
    return status;
}
