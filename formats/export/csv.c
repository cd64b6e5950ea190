/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/csv.h"

#include "formats/export/append.h"

static void add_column(struct nocap_csv *csv, unsigned field)
{
    for (unsigned i = 0; i < csv->count; i++) {
        if (strcmp(nocap_fields[csv->columns[i].first].key, nocap_fields[field].key) == 0) {
            csv->columns[i].second = (uint8_t)field;
            return;
        }
    }
    csv->columns[csv->count].first = csv->columns[csv->count].second = (uint8_t)field;
    csv->count++;
}

enum nocap_status nocap_csv_print_header(struct nocap_csv *csv, struct nocap_text *out,
                                         struct nocap_error *err)
{
    static const struct nocap_event none;
    *csv = (struct nocap_csv){0};
    RETURN_IF_FAILED(nocap_append_room(out, &none, err));
    nocap_append_string(out, "index,t,src,chip,ev,op");
    for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
        add_column(csv, field);
    }
    for (unsigned i = 0; i < csv->count; i++) {
        nocap_append_char(out, ',');
        nocap_append_string(out,
                            nocap_fields[csv->columns[i].first].key); /* "x,y" is two columns */
    }
    nocap_append_string(out, ",extra,json\n");
    return NOCAP_OK;
}

/* Line breaks are escaped like all that steers, so that a line is an event. */
static void append_quoted(struct nocap_text *out, const char *text, size_t size)
{
    if (size == 0) {
        return;
    }
    if (memchr(text, '"', size) == NULL && memchr(text, ',', size) == NULL) {
        nocap_append_foreign(out, text, size);
        return;
    }
    nocap_append_char(out, '"');
    for (const char *end = text + size, *next; text < end; text = next) {
        const char *quote = memchr(text, '"', (size_t)(end - text));
        next = quote != NULL ? quote + 1 : end;
        nocap_append_foreign(out, text, (size_t)(next - text));
        nocap_append_string(out, quote != NULL ? "\"" : "");
    }
    nocap_append_char(out, '"');
}

static void append_cell(struct nocap_text *out, const struct nocap_event *event, unsigned field)
{
    uint8_t type = nocap_fields[field].type;
    if ((event->has >> field & 1) == 0) {
        if (type == NOCAP_T_PAIR) {
            nocap_append_char(out, ',');
        }
    } else if (type == NOCAP_T_TEXT) {
        append_quoted(out, (const char *)event->data, event->data_size);
    } else if (type == NOCAP_T_XY) {
        nocap_append_char(out, '"');
        nocap_append_field(out, event, (enum nocap_field)field);
        nocap_append_char(out, '"');
    } else {
        nocap_append_field(out, event, (enum nocap_field)field);
    }
}

enum nocap_status nocap_csv_print_event(const struct nocap_csv *csv, struct nocap_text *out,
                                        const struct nocap_event *event, struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_append_room(out, event, err));
    nocap_append_decimal(out, event->index);
    nocap_append_char(out, ',');
    nocap_append_decimal(out, event->t);
    nocap_append_char(out, ',');
    nocap_append_decimal(out, event->src);
    nocap_append_char(out, ',');
    nocap_append_decimal(out, event->chip);
    nocap_append_char(out, ',');
    nocap_append_string(out, nocap_kind_name(event->kind));
    nocap_append_char(out, ',');
    nocap_append_string(out, nocap_op_name(event->op));
    for (unsigned i = 0; i < csv->count; i++) {
        nocap_append_char(out, ',');
        bool is_second = (event->has >> csv->columns[i].second & 1) != 0;
        append_cell(out, event, is_second ? csv->columns[i].second : csv->columns[i].first);
    }
    nocap_append_char(out, ',');
    append_quoted(out, event->extra, event->extra_size);
    nocap_append_char(out, ',');
    if (event->kind == NOCAP_EV_UNKNOWN || event->kind == NOCAP_EV_MALFORMED) {
        append_quoted(out, (const char *)event->data, event->data_size);
    }
    nocap_append_char(out, '\n');
    return NOCAP_OK;
}
