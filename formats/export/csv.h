/* SPDX-License-Identifier: Apache-2.0 */
/* Events as comma-separated values (RFC 4180, lines end with a newline alone): a line of column
 * names, then a line an event with one column a key of JSON Lines, empty where the event does not
 * have it. `sem` of an issue is a list with blanks; `extra` holds keys that this version does not
 * know, `json` the text of an event that it does not know or that is not well formed. */
#ifndef NOCAP_EXPORT_CSV_H
#define NOCAP_EXPORT_CSV_H

#include "formats/trace/jsonl.h"

/* The columns: rows of the table of fields that share a key, for different kinds of event, share a
 * column. */
struct nocap_csv {
    uint8_t count;
    struct {
        uint8_t first, second; /* enum nocap_field; both the same where one row has the key alone */
    } columns[NOCAP_FIELD_COUNT];
};

/* Prepares `csv` and prints the line of column names. */
enum nocap_status nocap_csv_print_header(struct nocap_csv *csv, struct nocap_text *out,
                                         struct nocap_error *err);
enum nocap_status nocap_csv_print_event(const struct nocap_csv *csv, struct nocap_text *out,
                                        const struct nocap_event *event, struct nocap_error *err);

#endif
