/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a run as they come, a line of JSON each, so that the next run goes on where one
 * was cut off:
 *   {"nocap_journal":1,"list":"HASH","traces":N}
 *   {"at":I,"path":"..","bytes":N,"digest":"HASH","report":{..},"waivers":[..]}
 *   {"at":I,"path":"..","bytes":N,"digest":"HASH","unreadable":"why"}
 * `list` stands for the traces and all that their reports depend on, `at` for the place in it. A
 * trace that was judged again has a later line. What stands after the last end of a line was cut
 * off, and counts as not there. */
#ifndef NOCAP_CHECKER_REPORT_JOURNAL_H
#define NOCAP_CHECKER_REPORT_JOURNAL_H

#include "base/json_node.h"

#include "checker/report/results.h"

/* One line. Texts live as long as the call that hands it out. */
struct nocap_journal_entry {
    uint64_t at, bytes;
    const char *path, *digest;
    const char *unreadable; /* NULL: `report` is there */
    const struct json_node *report;
    const struct json_node *waivers; /* what became of them on this trace; NULL: there are none */
};
typedef enum nocap_status nocap_journal_sink(void *context, const struct nocap_journal_entry *entry,
                                             struct nocap_error *err);

struct nocap_waivers;

/* Whether the file begins as a journal does. */
bool nocap_journal_is(const char *path);
/* Of which list it is; free(*list). Fails with NOCAP_E_INPUT if it has no whole first line. */
enum nocap_status nocap_journal_list(const char *path, char **list, uint64_t *traces,
                                     struct nocap_error *err);
/* Hands out all entries; `whole`, unless NULL, gets the bytes of whole lines. Fails with
 * NOCAP_E_INPUT if a line is no entry. */
enum nocap_status nocap_journal_read(const char *path, uint64_t *whole, nocap_journal_sink *sink,
                                     void *context, struct nocap_error *err);

/* A line to be appended; each ends with a newline. */
enum nocap_status nocap_journal_head(FILE *out, const char *list, uint64_t traces,
                                     struct nocap_error *err);
/* `report` NULL: `entry->unreadable` says why. `waivers`: those of this trace alone; NULL: none. */
enum nocap_status nocap_journal_line(FILE *out, const struct nocap_journal_entry *entry,
                                     const struct nocap_report *report,
                                     const struct nocap_waivers *waivers, struct nocap_error *err);

#endif
