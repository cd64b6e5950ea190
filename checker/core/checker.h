/* SPDX-License-Identifier: Apache-2.0 */
/* What a divergence means: replays a trace through the reference model and makes a report of
 * findings and verdicts. */
#ifndef NOCAP_CHECKER_CORE_CHECKER_H
#define NOCAP_CHECKER_CORE_CHECKER_H

#include <stdio.h>

#include "base/status.h"
#include "formats/trace/trace.h"
#include "replay/core/engine.h"

enum nocap_severity { NOCAP_NOTE, NOCAP_WARNING, NOCAP_ERROR, NOCAP_SEVERITY_COUNT };
enum nocap_verdict {
    NOCAP_HELD,
    NOCAP_VIOLATED,
    NOCAP_NOT_EXERCISED,
    NOCAP_NOT_OBSERVABLE,
    NOCAP_WAIVED,
    NOCAP_VERDICT_COUNT
};

/* The rule set, made from the family files in checker/rules. */
struct nocap_family_info {
    const char *name;  /* "SYN" */
    const char *title; /* "the subordinate sync word" */
    uint32_t archs;    /* 1 << enum nocap_arch, where its rules can be judged */
};
extern const struct nocap_family_info nocap_families[];
extern const unsigned nocap_family_count;

struct nocap_rule_info {
    const char *id;  /* "SYN-004" */
    unsigned family; /* index of nocap_families */
    enum nocap_severity severity;
    uint32_t needs;       /* event classes, NOCAP_CLASS_*: all of them ... */
    uint32_t needs_any;   /* ... and at least one of these, if not 0 */
    bool needs_image;     /* ... and a firmware ELF */
    const char *sentence; /* what must be so, one sentence without a full stop */
    const char *meaning;  /* what goes wrong otherwise and what to do, paragraphs apart by "\n\n" */
    const char *violates; /* failing example: a trace as JSON Lines; control code or a recipe for
                           * the shell begin with '#' */
    const char *holds;    /* passing example */
    const char *source;   /* where the protocol says so */
    uint32_t archs;       /* on which it can be judged besides those of its family */
};
extern const struct nocap_rule_info nocap_rules[NOCAP_RULE_COUNT];

/* -1 if there is no such rule or family; case is ignored. `length` bytes, not terminated. */
int nocap_rule_from_id(const char *id);
int nocap_rule_from_text(const char *text, size_t length);
int nocap_family_from_text(const char *text, size_t length);
const char *nocap_severity_name(enum nocap_severity severity);
const char *nocap_verdict_name(enum nocap_verdict verdict);

enum nocap_rules_format { NOCAP_RULES_TEXT, NOCAP_RULES_JSON };
/* Prints the rule set; fails with NOCAP_E_OUTPUT. */
enum nocap_status nocap_rules_print(FILE *out, enum nocap_rules_format format,
                                    struct nocap_error *err);
/* One rule with meaning, a violating and a correct example, its source. */
enum nocap_status nocap_rule_explain(FILE *out, enum nocap_rule rule, struct nocap_error *err);
/* The lines of an example, each after `indent`; runs of lines that differ in times and addresses
 * only are folded. */
void nocap_example_print(FILE *out, const char *text, const char *indent);

struct nocap_elf_arg {
    const char *name, *path; /* core name, ELF file */
};

/* Called when all events were replayed, before what is pending at the end is judged; the reader may
 * be moved. The report that nocap_check is to return holds the findings so far. `cores`: the
 * firmware that was given or named. */
struct nocap_elf_cores;
typedef enum nocap_status nocap_check_ended(void *context, struct nocap_engine *engine,
                                            struct nocap_reader *reader,
                                            const struct nocap_elf_cores *cores,
                                            struct nocap_error *err);

/* Called with each finding that is kept, when it is made; of how many tiles it says the same
 * shows only in the report. */
struct nocap_finding;
typedef void nocap_check_reported(void *context, const struct nocap_finding *finding);

/* Waivers that are read once for any number of checks: report/waivers.h. */
struct nocap_waivers;

/* Observers of a replay, event by event. */
struct nocap_check_watch {
    void *context;
    /* Before the first event. */
    void (*begin)(void *context, const struct nocap_reader *reader);
    /* How many of these are seen by the way alone: until there is one that is not, the models may
     * run on a thread of their own, which is the one that calls `seen`, `requested`, `ended`. */
    size_t (*leads)(void *context, const struct nocap_event *events, size_t count);
    /* After those, once; at the end of the trace if there are no others. From here on the models
     * may be asked in `seen` for what they know after the event. */
    void (*opens)(void *context, const struct nocap_engine *engine);
    nocap_judged *seen;
    void (*lost)(void *context); /* events are missing before the next one */
    nocap_requested *requested;
    nocap_requests_ended *ended;
};

/* An earlier report, read once for any number of checks, also at the same time. */
struct nocap_baseline;

struct nocap_check_options {
    size_t size;           /* sizeof(struct nocap_check_options) */
    const char *rules;     /* "MAP,SYN-003,-MAP-004": families and ids, minus excludes; NULL: all */
    const char *waivers;   /* file; NULL: none */
    const char *baseline;  /* earlier report, whose findings are known; NULL: none */
    uint32_t max_per_rule; /* findings kept a rule, 0: 20; all are counted */
    bool has_from, has_to, has_tile;
    /* Findings outside are not reported; the model sees everything up to `to`, in header units.
     * With a tile, findings that belong to no tile are reported too. */
    uint64_t from, to;
    struct nocap_xy tile;
    const struct nocap_elf_arg *elf; /* overrides the header's `firmware` */
    size_t elf_count;
    nocap_check_ended *ended; /* NULL: not wanted */
    void *ended_context;
    nocap_check_reported *reported; /* NULL: not wanted */
    void *reported_context;
    const char *firmware_beside;        /* the trace whose folder the relative paths of the header's
                                           `firmware` begin at; NULL: the one that is checked */
    bool trust_paths;                   /* these paths may lead out of that folder */
    const struct nocap_baseline *known; /* used instead of `baseline`; NULL: not */
    struct nocap_waivers *accepted; /* used instead of `waivers`; their notes are the caller's */
    bool dense;                     /* nocap_reader_allow_dense */
    const char
        *profile; /* JSON, in the place of the header's `profile` and `layout`; NULL: those */
    const struct nocap_check_watch *watch; /* NULL: none */
    /* The models begin `lead` events before this time, as a capture that was attached there, and
     * not with the trace, which must be one that can be read from any place. */
    bool has_lead;
    uint64_t lead_to, lead;
    /* On two threads, one that reads and one that judges; not with `reported`, nor where `watch`
     * does more than see events by the way. */
    bool beside;
};

/* What a finding points at. */
enum nocap_place {
    NOCAP_PLACE_EVENT,   /* an event of a trace: index, t, chip, at, agent, thread */
    NOCAP_PLACE_ADDRESS, /* an instruction of an ELF file: address; symbol and offset from it */
    NOCAP_PLACE_PAGE,    /* control code: kernel, uc, page, off; file and line of its source */
};
#define NOCAP_LINT_NOWHERE UINT32_MAX

struct nocap_finding {
    enum nocap_rule rule;
    enum nocap_severity severity;
    enum nocap_place place;
    bool waived, known, has_tile; /* known: by the baseline, and not waived */
    uint64_t index, t, count;     /* count: tiles of which one act says it */
    uint16_t chip;
    struct nocap_xy at;
    uint8_t agent; /* enum nocap_agent; NONE if no agent in particular */
    int8_t thread; /* Tensix thread, -1: none */
    char *message, *expected, *observed;
    struct nocap_seen seen; /* by the model; where the event is a load, its bytes are */
    bool at_end;            /* found when the trace ended */
    char *written; /* the write behind what was seen, as query/cite.h says it; NULL: not known */
    char *reason;  /* of the waiver; NULL: not waived */
    uint64_t related[NOCAP_RELATED_MAX];
    uint32_t related_count;
    uint32_t fault;        /* number of the fault that it is, or follows from */
    uint64_t follows;      /* index of the event of the finding that it follows from: of a
                            * consequence, or of what is more severe; UINT64_MAX: none, or lost */
    uint64_t consequences; /* how many findings follow from it */
    uint32_t address, offset;
    char *symbol;           /* NULL: none */
    uint32_t uc, page, off; /* off from the page's start; NOCAP_LINT_NOWHERE: does not apply */
    const char *kernel;     /* one of the report's; NULL: the file names none, or not one alone */
    char *file;             /* of the source; NULL: not known */
    uint32_t line;
};

/* Why a rule cannot be judged on a trace. */
enum nocap_obstacle {
    NOCAP_OBSERVABLE,
    NOCAP_NO_OBSERVES, /* the header does not say which event classes were observed */
    NOCAP_OTHER_ARCH,
    NOCAP_NO_CLASS,   /* event classes are missing, see there */
    NOCAP_NO_IMAGE,   /* no firmware ELF was given */
    NOCAP_NO_PROFILE, /* no profile explains the traffic: TRC-010 */
    NOCAP_NO_CHIP,    /* control code that does not say for which chip it is */
    NOCAP_OBSTACLE_COUNT
};

struct nocap_rule_report {
    enum nocap_verdict verdict;
    enum nocap_obstacle obstacle;
    uint32_t missing;     /* NOCAP_CLASS_*: needed, all of them, and not observed */
    uint32_t missing_any; /* one of these would do, and none was observed */
    bool selected;        /* by --rules */
    uint64_t exercised, violations, waived, known; /* violations: all, these too */
    uint64_t consequences;                         /* violations that follow from other faults */
};

const char *nocap_obstacle_name(enum nocap_obstacle obstacle);

/* What was judged. */
enum nocap_subject {
    NOCAP_SUBJECT_TRACE,
    NOCAP_SUBJECT_KERNEL,       /* the code of a RISC-V ELF file */
    NOCAP_SUBJECT_CONTROL_CODE, /* AIE */
};

struct nocap_report {
    enum nocap_subject subject;
    char *path;
    enum nocap_arch arch;
    enum nocap_board board;
    enum nocap_time_unit time_unit;
    uint64_t clock_hz; /* 0: not said */
    uint64_t events, t_first, t_last, dropped;
    uint64_t begins_at; /* the event of this index was the first that was judged */
    bool truncated;
    bool ended;         /* the last event: the process ended inside a call of the simulator */
    bool untouched;     /* the one tile that was asked for: the model knows nothing of it */
    bool outside;       /* the time from which findings were asked for is after the last event */
    uint64_t cut_after; /* truncated: the last event that is there */
    uint64_t counts[NOCAP_SEVERITY_COUNT]; /* findings by severity, without waived and known */
    uint64_t waived, known;
    struct nocap_rule_report rules[NOCAP_RULE_COUNT];
    struct nocap_finding *findings; /* by index, then rule; at most max_per_rule a rule, and as
                                     * many that are waived or known */
    size_t finding_count;
    /* What follows from findings, those that were left out too: in the same order, no more a rule.
     * They are no findings of their own and count nowhere else. */
    struct nocap_finding *consequences;
    size_t consequence_count;
    char **notes;    /* about waivers, missing images: one sentence each */
    char **note_ids; /* of each, which stay the same where the sentence changes */
    size_t note_count;
    const char *rings; /* one of the notes: of what a capture that was killed left; NULL: nothing */
    size_t unopened, unopened_count; /* notes about files that the header names */
    /* Of a kernel: what it feeds, the words found, and pushes of a value that the code alone does
     * not tell. */
    unsigned thread;
    size_t words, unknown;
    /* Of control code. */
    size_t columns, pages;
    size_t streams; /* of transactions, which a file has instead of pages */
    char **kernels; /* those of the file; all of them are judged */
    size_t kernel_count;
};

/* Reads what `check --format json` wrote of one trace or of several, of any size: memory is taken
 * for the findings, not for the text. Fails with NOCAP_E_INPUT if it is no report. */
enum nocap_status nocap_baseline_open(struct nocap_baseline **baseline, const char *path,
                                      struct nocap_error *err);
void nocap_baseline_close(struct nocap_baseline *baseline); /* NULL is fine */

/* Replays one trace (a .nocap file, or JSON Lines, which is imported on the way; "-": standard
 * input). Fails with NOCAP_E_INPUT if it cannot be read at all, NOCAP_E_USAGE if an option makes no
 * sense. */
enum nocap_status nocap_check(struct nocap_report **report, const char *path,
                              const struct nocap_check_options *options, struct nocap_error *err);

/* The same for a .nocap file while a capture writes it: each event is replayed once. */
struct nocap_follow;
enum nocap_status nocap_follow_open(struct nocap_follow **follow, const char *path,
                                    const struct nocap_check_options *options,
                                    struct nocap_error *err);
/* Replays what the first `bytes` bytes of the file, whole frames, have more than at the call
 * before; of several sources the events since then wait for the next call, in case one is behind.
 */
enum nocap_status nocap_follow_poll(struct nocap_follow *follow, uint64_t bytes,
                                    struct nocap_error *err);
/* The model as far as it is, how many events were read, the latest time. Who waits can be asked if
 * the options have `ended`. */
struct nocap_engine *nocap_follow_engine(struct nocap_follow *follow, uint64_t *events,
                                         uint64_t *t);
/* What was found damaged in what was read. */
const struct nocap_integrity *nocap_follow_integrity(const struct nocap_follow *follow);
/* The file has its end: replays the rest, judges what is pending at the end, makes the report.
 * Frees `follow` whatever comes; with `report` NULL it does nothing else. */
enum nocap_status nocap_follow_close(struct nocap_follow *follow, struct nocap_report **report,
                                     struct nocap_error *err);
void nocap_report_free(struct nocap_report *report);
/* What the report comes to. A trace of which no rule of a protocol found anything to judge, and in
 * which no error is, is not judged; it cannot be called clean. */
enum nocap_outcome { NOCAP_CLEAN, NOCAP_FINDINGS, NOCAP_NOT_JUDGED, NOCAP_OUTCOME_COUNT };
const char *nocap_outcome_name(enum nocap_outcome outcome);
enum nocap_outcome nocap_report_outcome(const struct nocap_report *report);
/* Whether all that was found follows from findings that were not asked for, by rule, core or time:
 * none of it counts, and the report is not clean. */
bool nocap_report_only_follows(const struct nocap_report *report);
/* Why it is not judged, half a sentence, and the id of that; static. */
const char *nocap_report_unjudged(const struct nocap_report *report);
const char *nocap_report_unjudged_id(const struct nocap_report *report);
/* Whether a finding that is neither waived nor known is at or above `severity`. */
bool nocap_report_fails(const struct nocap_report *report, enum nocap_severity severity);

/* What text has beside findings and the verdict, bits. */
enum nocap_text_detail {
    NOCAP_TEXT_ALL = 1,   /* consequences are listed under their findings, else counted */
    NOCAP_TEXT_TABLE = 2, /* of a trace: verdicts by family, and why rules were not judged */
    NOCAP_TEXT_LINE = 4,  /* a report without findings is one line, and its notes */
};
enum nocap_status nocap_report_text(FILE *out, const struct nocap_report *report, bool color,
                                    unsigned detail, struct nocap_error *err);
/* Whether NOCAP_TEXT_LINE makes it one line: it lists no finding, waived and known ones neither. */
bool nocap_report_is_line(const struct nocap_report *report);
enum nocap_status nocap_report_json(FILE *out, const struct nocap_report *report,
                                    struct nocap_error *err);

#endif
