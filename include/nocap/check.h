/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a trace through the reference model and reports divergences from the protocol. A check
 * is one thread's at a time; any number may run side by side. */
#ifndef NOCAP_CHECK_H
#define NOCAP_CHECK_H

#include <stdio.h>

#include <nocap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nocap_check_severity { NOCAP_CHECK_NOTE = 0, NOCAP_CHECK_WARNING = 1, NOCAP_CHECK_ERROR = 2 };
/* Of a rule on a trace. */
enum nocap_check_verdict {
    NOCAP_CHECK_HELD = 0,
    NOCAP_CHECK_VIOLATED = 1,
    NOCAP_CHECK_NOT_EXERCISED = 2,  /* nothing happened that it judges */
    NOCAP_CHECK_NOT_OBSERVABLE = 3, /* the trace does not observe what it needs */
    NOCAP_CHECK_WAIVED = 4
};
/* Of a trace. What was not judged is never clean. */
enum nocap_check_outcome {
    NOCAP_CHECK_CLEAN = 0,
    NOCAP_CHECK_FINDINGS = 1,
    NOCAP_CHECK_NOT_JUDGED = 2
};
enum nocap_check_format {
    NOCAP_CHECK_TEXT = 0,
    NOCAP_CHECK_JSON = 1,
    NOCAP_CHECK_SARIF = 2,
    NOCAP_CHECK_JUNIT = 3,
    NOCAP_CHECK_GITHUB = 4,
    NOCAP_CHECK_MARKDOWN = 5
};

/* One fault. Texts live as long as the check; what `found` gets, until it returns. */
struct nocap_check_finding {
    size_t size;      /* sizeof(struct nocap_check_finding) */
    const char *rule; /* "SYN-004" */
    enum nocap_check_severity severity;
    const char *message, *expected, *observed;
    uint64_t index, t; /* the event that shows it */
    uint64_t tiles;    /* of how many tiles one act says it */
    uint16_t chip;
    bool has_tile; /* `at` counts */
    struct nocap_xy at;
    uint8_t agent;           /* enum nocap_agent; NONE if no agent in particular */
    int8_t thread;           /* of the coprocessor, -1: none */
    bool known;              /* the baseline has it */
    const char *waived;      /* the waiver's reason; NULL: not waived */
    const uint64_t *related; /* indexes of the events that made it so */
    size_t related_count;
    size_t consequences; /* how many findings follow from it */
    /* Of a consequence, or of a finding that follows from a less severe one: index of that one's
     * event; UINT64_MAX: none, or lost. */
    uint64_t follows;
};

struct nocap_check_run_options {
    size_t size;          /* sizeof(struct nocap_check_run_options) */
    const char *rules;    /* "MAP,SYN-003,-MAP-004": families and ids, minus excludes; NULL: all */
    const char *waivers;  /* file; NULL: none */
    const char *baseline; /* JSON report whose findings are known; NULL: none */
    const char *const *elf; /* "CORE=FILE": firmware instead of what the header names */
    size_t elf_count;
    uint32_t max_per_rule; /* findings kept a rule, 0: 20; all are counted */
    bool has_from, has_to, has_tile;
    uint64_t from, to;    /* findings before and events after do not count, in header units */
    struct nocap_xy tile; /* only findings of this tile, and of none */
    bool dense;           /* read on where few bytes hold more than 256 events each */
    bool trust_paths;     /* firmware paths of the header may lead out of the trace's folder */
    void (*found)(void *context, const struct nocap_check_finding *finding); /* as they are made */
    void *context;
};

/* What a check comes to. */
struct nocap_check_sums {
    size_t size; /* sizeof(struct nocap_check_sums) */
    enum nocap_check_outcome outcome;
    const char *unjudged; /* why it was not judged, half a sentence; NULL: it was judged */
    bool truncated;       /* the trace is cut short */
    uint64_t events, t_first, t_last;
    uint64_t dropped;                 /* events that the trace says are missing */
    uint64_t errors, warnings, notes; /* findings that are neither waived nor known */
    uint64_t waived, known;
    size_t findings, consequences; /* that were kept, to be had by nocap_check_finding_at .. */
};

/* A rule. Texts are static. */
struct nocap_check_rule {
    size_t size;        /* sizeof(struct nocap_check_rule) */
    const char *id;     /* "SYN-004" */
    const char *family; /* "SYN" */
    enum nocap_check_severity severity;
    uint32_t needs;       /* NOCAP_CLASS_*: all of them .. */
    uint32_t needs_any;   /* .. and one of these, if not 0 .. */
    bool needs_image;     /* .. and a firmware ELF */
    const char *sentence; /* what must be true */
    const char *meaning;  /* what goes wrong otherwise and what to do, a paragraph */
    const char *source;   /* where the protocol says so */
};

/* What became of it in a check. */
struct nocap_check_rule_result {
    size_t size; /* sizeof(struct nocap_check_rule_result) */
    enum nocap_check_verdict verdict;
    bool selected;                                 /* by the list of rules */
    uint64_t exercised, violations, waived, known; /* violations: all, these too */
};

struct nocap_check;

/* Checks one trace of any form, "-": standard input. `options` may be NULL. Fails with
 * NOCAP_E_INPUT if it cannot be read at all, NOCAP_E_USAGE if an option makes no sense; findings
 * are no failure. */
NOCAP_API enum nocap_status nocap_check_run(struct nocap_check **check, const char *path,
                                            const struct nocap_check_run_options *options,
                                            struct nocap_error *err);
NOCAP_API void nocap_check_free(struct nocap_check *check); /* NULL is fine */
NOCAP_API enum nocap_status nocap_check_totals(const struct nocap_check *check,
                                               struct nocap_check_sums *sums);
/* Number `i` from 0, by event; NOCAP_END: there is no such. */
NOCAP_API enum nocap_status nocap_check_finding_at(const struct nocap_check *check, size_t i,
                                                   struct nocap_check_finding *finding);
/* What follows from findings. */
NOCAP_API enum nocap_status nocap_check_consequence_at(const struct nocap_check *check, size_t i,
                                                       struct nocap_check_finding *finding);
/* What a reader of the report should know about waivers, missing images, rings; NULL past the
 * end. */
NOCAP_API const char *nocap_check_note_at(const struct nocap_check *check, size_t i);
/* Of one rule, by its place in the rule set. */
NOCAP_API enum nocap_status nocap_check_result_of(const struct nocap_check *check, size_t rule,
                                                  struct nocap_check_rule_result *result);
/* Whether a finding that is neither waived nor known is at or above `severity`. */
NOCAP_API bool nocap_check_fails(const struct nocap_check *check,
                                 enum nocap_check_severity severity);
/* One document of the checks in their order, `fail_on` the least severity that fails. Fails with
 * NOCAP_E_OUTPUT. */
NOCAP_API enum nocap_status nocap_check_print(FILE *out, const struct nocap_check *const *checks,
                                              size_t count, enum nocap_check_format format,
                                              enum nocap_check_severity fail_on,
                                              struct nocap_error *err);

/* The rule set: rule `i` from 0; NOCAP_END: there is no such. Places change between versions, ids
 * do not. */
NOCAP_API enum nocap_status nocap_check_rule_at(size_t i, struct nocap_check_rule *rule);
/* The place of a rule, -1 if there is none of this id; case is ignored. */
NOCAP_API int nocap_check_rule_find(const char *id);

#ifdef __cplusplus
}
#endif

#endif
