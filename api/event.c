/* SPDX-License-Identifier: Apache-2.0 */
#include <nocap/event.h>
#include <stdlib.h>

#include "api/api.h"
#include "formats/trace/event.h"
#include "formats/trace/jsonl.h"

void nocap_event_set(struct nocap_event *event, enum nocap_field field, uint64_t value)
{
    unsigned type = (unsigned)field < NOCAP_FIELD_COUNT ? nocap_fields[field].type : NOCAP_T_TEXT;
    if (type != NOCAP_T_TEXT && type != NOCAP_T_BYTES) {
        nocap_event_set_number(event, field, value);
        event->has |= NOCAP_FIELD_BIT(field);
        event->shape = 0;
    }
}

int nocap_event_json(const struct nocap_event *event, char *text, size_t size)
{
    struct nocap_event room;
    struct nocap_text line = {0};
    event = api_event(&room, event);
    int length = -1;
    if (event != NULL && nocap_jsonl_print_event(&line, event, NULL) == NOCAP_OK) {
        length = api_line(text, size, line.data, line.size);
    }
    free(line.data);
    return length;
}
