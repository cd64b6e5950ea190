/* What a divergence means: replays a trace through the reference model and makes a report of findings and verdicts. */
#ifndef NOCAP_CHECKER_CHECKER_H
#define NOCAP_CHECKER_CHECKER_H

#include <stdio.h>

#include "formats/status.h"
#include "formats/trace/trace.h"
#include "replay/engine.h"

enum nocap_severity { NOCAP_NOTE, NOCAP_WARNING, NOCAP_ERROR, NOCAP_SEVERITY_COUNT };
enum nocap_verdict {
    NOCAP_HELD, NOCAP_VIOLATED, NOCAP_NOT_EXERCISED, NOCAP_NOT_OBSERVABLE, NOCAP_WAIVED, NOCAP_VERDICT_COUNT
};

/* One row of the catalogue. */
struct nocap_rule_info {
    const char *id;       /* "SYN-004" */
    enum nocap_severity severity;
    uint32_t needs;       /* event classes, NOCAP_CLASS_*: all of them ... */
    uint32_t needs_any;   /* ... and at least one of these, if not 0 */
    const char *sentence; /* the rule, one sentence */
    const char *meaning;  /* why it matters and what goes wrong, a paragraph */
    const char *violates; /* a few lines of JSON Lines that violate it, after an implied header */
    const char *holds;    /* the same, correct */
    const char *source;   /* where the protocol says so */
};
extern const struct nocap_rule_info nocap_rules[NOCAP_RULE_COUNT];
/* -1 if there is no such rule; case is ignored. */
int nocap_rule_from_id(const char *id);
const char *nocap_severity_name(enum nocap_severity severity);
const char *nocap_verdict_name(enum nocap_verdict verdict);

struct nocap_elf_arg {
    const char *name, *path; /* core name, ELF file */
};

struct nocap_check_options {
    size_t size; /* sizeof(struct nocap_check_options) */
    const char *rules;    /* "CQ,SYN-003,-MAP-004": families and ids, minus excludes; NULL: all */
    const char *waivers;  /* file; NULL: none */
    uint32_t max_per_rule; /* findings kept a rule, 0: 20; all are counted */
    bool has_from, has_to, has_tile;
    uint64_t from, to;     /* findings outside are not reported; the model sees everything before `to` */
    struct nocap_xy tile;
    const struct nocap_elf_arg *elf;
    size_t elf_count;
};

struct nocap_finding {
    enum nocap_rule rule;
    enum nocap_severity severity;
    bool waived, has_tile;
    uint64_t index, t, count; /* count: how many equal ones it stands for */
    uint16_t chip;
    struct nocap_xy at;
    uint8_t agent;
    int8_t thread;
    char *message, *expected, *observed;
    uint64_t related[NOCAP_RELATED_MAX];
    uint32_t related_count;
};

struct nocap_report {
    char *path;
    char *arch;
    uint64_t events, t_first, t_last, dropped;
    bool truncated;
    uint64_t counts[NOCAP_SEVERITY_COUNT]; /* findings by severity, without the waived */
    uint64_t waived;
    struct {
        enum nocap_verdict verdict;
        uint64_t exercised, violations;
    } rules[NOCAP_RULE_COUNT];
    struct nocap_finding *findings; /* by index; at most max_per_rule a rule */
    size_t finding_count;
    char **notes;                   /* about waivers: unused, expired */
    size_t note_count;
};

/* Replays one trace (a .nocap file, or JSON Lines, which is imported on the way; "-": standard input). Fails with
 * NOCAP_E_INPUT if it cannot be read at all, NOCAP_E_USAGE if an option makes no sense. */
enum nocap_status nocap_check(struct nocap_report **report, const char *path, const struct nocap_check_options *options,
                              struct nocap_error *err);
void nocap_report_free(struct nocap_report *report);
/* Whether a finding that is not waived is at or above `severity`. */
bool nocap_report_fails(const struct nocap_report *report, enum nocap_severity severity);

enum nocap_status nocap_report_text(FILE *out, const struct nocap_report *report, bool color, struct nocap_error *err);
enum nocap_status nocap_report_json(FILE *out, const struct nocap_report *report, struct nocap_error *err);

#endif
