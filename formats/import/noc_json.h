/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/import: the NOC event profiler's JSON, read as it comes in bounded memory. One
 * array of flat objects; key order, unknown keys and unknown types are the writer's own. */
#ifndef NOCAP_IMPORT_NOC_JSON_H
#define NOCAP_IMPORT_NOC_JSON_H

#include "formats/import/import.h"

#define NUMBER(NAME, key) NOC_JSON_##NAME,
enum noc_json_number {
#include "formats/import/noc_json.def"
    NOC_JSON_NUMBERS
};

enum noc_json_bound {
    NOC_JSON_WORD = 64,           /* bytes of a type, a zone, a core's name, with their end */
    NOC_JSON_KEPT = 2048,         /* bytes of members that have no place in an event */
    NOC_JSON_DEPTH = 32,          /* of what an object holds */
    NOC_JSON_INPUTS_MAX = 1024,
};

/* One object of the array. */
struct noc_json_entry {
    uint32_t has; /* by enum noc_json_number: given, and a number that fits */
    int64_t numbers[NOC_JSON_NUMBERS];
    bool is_object;
    int noc; /* 0, 1; -1: not given */
    char type[NOC_JSON_WORD], zone[NOC_JSON_WORD], zone_phase[NOC_JSON_WORD], proc[NOC_JSON_WORD],
        op_name[NOC_JSON_WORD];
    char kept[NOC_JSON_KEPT]; /* the other members, as JSON text: "k":1,"l":[2] */
    uint32_t kept_size;
    bool kept_cut; /* some did not fit and were left out */
};

static inline bool noc_json_has(const struct noc_json_entry *entry, enum noc_json_number number)
{
    return (entry->has >> number & 1) != 0;
}

/* ---- noc_json_parse.c ---- */

/* Takes one entry; anything but NOCAP_OK ends the parse with that status. */
typedef enum nocap_status noc_json_take(void *context, const struct noc_json_entry *entry,
                                        struct nocap_error *err);

struct noc_json_parser;

enum nocap_status noc_json_parser_new(struct noc_json_parser **parser, const char *name,
                                      noc_json_take *take, void *context, struct nocap_error *err);
void noc_json_parser_free(struct noc_json_parser *parser);
/* Bytes in the order of the file. NOCAP_E_INPUT: it is no array of events. NOCAP_END: the JSON
 * breaks off or breaks its own rules after events that were taken; `broken` says where. */
enum nocap_status noc_json_parse(struct noc_json_parser *parser, const void *bytes, size_t size,
                                 struct nocap_error *err);
enum nocap_status noc_json_parse_end(struct noc_json_parser *parser, struct nocap_error *err);
/* While an entry is taken: the line where it ends, from 1. */
uint64_t noc_json_line(const struct noc_json_parser *parser);
/* After NOCAP_END: the line, from 1, and why. */
uint64_t noc_json_broken(const struct noc_json_parser *parser, const char **why);

/* ---- noc_json_event.c ---- */

/* What is said of an import when it is over. */
enum noc_json_remark {
    NOC_JSON_REMARK_TYPE,
    NOC_JSON_REMARK_STATE,
    NOC_JSON_REMARK_LOCAL,
    NOC_JSON_REMARK_FAR,
    NOC_JSON_REMARK_AGENT,
    NOC_JSON_REMARK_PLACE,
    NOC_JSON_REMARK_TIME,
    NOC_JSON_REMARK_BACK,
    NOC_JSON_REMARK_CHIP,
    NOC_JSON_REMARK_KEPT,
    NOC_JSON_REMARKS
};

enum { NOC_JSON_TEXT = 160, NOC_JSON_EXTRA = NOC_JSON_KEPT + 512 };

/* One event in the making, with what it points to. */
struct noc_json_builder {
    struct nocap_event event;
    uint32_t remarks; /* by enum noc_json_remark */
    bool timeless;
    char text[NOC_JSON_TEXT], extra[NOC_JSON_EXTRA];
};

/* A number that is given and not negative. */
bool noc_json_positive(const struct noc_json_entry *entry, enum noc_json_number number,
                       uint64_t *v);
/* Time, place and core of an entry; `by` is also set in events that have no such field. */
void noc_json_begin(struct noc_json_builder *draft, const struct noc_json_entry *entry);
/* The rest. How many events it is: all but the first are made by noc_json_next_ended. */
unsigned noc_json_make(struct noc_json_builder *draft, const struct noc_json_entry *entry);
void noc_json_next_ended(struct noc_json_builder *draft);

/* ---- noc_json_events.c ---- */

struct noc_json_events;

enum nocap_status noc_json_events_new(struct noc_json_events **events, struct nocap_writer *writer,
                                      struct nocap_error *err);
void noc_json_events_free(struct noc_json_events *events);
/* Another input begins: what names no device belongs to `chip`. */
void noc_json_events_input(struct noc_json_events *events, uint16_t chip);
enum nocap_status noc_json_events_add(struct noc_json_events *events,
                                      const struct noc_json_entry *entry, struct nocap_error *err);
/* Writes what waits to learn its chip. */
enum nocap_status noc_json_events_flush(struct noc_json_events *events, struct nocap_error *err);
/* What could not be expressed, in words. */
void noc_json_events_remarks(const struct noc_json_events *events,
                             struct nocap_import_result *result);

/* ---- noc_json.c ---- */

enum nocap_status noc_json_import(const char *const *inputs, size_t input_count, int out_fd,
                                  const struct nocap_import_options *options,
                                  struct nocap_import_result *result, struct nocap_error *err);

#endif
