/* SPDX-License-Identifier: Apache-2.0 */
/* What every header of libnocap needs: status codes, error texts, names of enumerators.
 *
 * A struct that may grow begins with its size: set it to sizeof of the struct, all else to zero
 * but what you want. A library that is older than the program refuses what it does not know; a
 * newer one takes what the program has. Structs without a size (nocap_error, nocap_xy,
 * nocap_place) never change. Numbers of enumerators never change; there may be more of them. */
#ifndef NOCAP_STATUS_H
#define NOCAP_STATUS_H

#include <stddef.h>

#if defined(__GNUC__)
#define NOCAP_API __attribute__((visibility("default")))
#else
#define NOCAP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call that can fail returns. */
enum nocap_status {
    NOCAP_OK = 0,
    NOCAP_END = 1,        /* no more events: not an error */
    NOCAP_E_USAGE = 2,    /* the caller asked for something that makes no sense */
    NOCAP_E_INPUT = 3,    /* an input cannot be read at all: missing, no trace, corrupt .. */
    NOCAP_E_OUTPUT = 4,   /* an output cannot be written */
    NOCAP_E_MEMORY = 5,   /* out of memory, or over the stated bound */
    NOCAP_E_INTERNAL = 6, /* a defect of nocap itself */
};

/* One sentence: what, where, what to do. Terminated whenever a call has failed; where a call takes
 * one it may be NULL. */
struct nocap_error {
    char text[1024];
};

/* "0.1.0": of the library that runs. */
NOCAP_API const char *nocap_version(void);

/* The enumerations whose values have names. */
enum nocap_enum {
    NOCAP_ENUM_STATUS = 0,       /* enum nocap_status: "end", "input" .. */
    NOCAP_ENUM_KIND = 1,         /* enum nocap_kind, as `ev` of JSON Lines: "write" */
    NOCAP_ENUM_OP = 2,           /* enum nocap_op: "issue" */
    NOCAP_ENUM_AGENT = 3,        /* enum nocap_agent: "brisc", "uc5" */
    NOCAP_ENUM_SPACE = 4,        /* enum nocap_space: "sysmem" */
    NOCAP_ENUM_ORDER = 5,        /* enum nocap_order: "strict" */
    NOCAP_ENUM_MAP = 6,          /* enum nocap_map: "wc" */
    NOCAP_ENUM_PHASE = 7,        /* enum nocap_phase: "sent" */
    NOCAP_ENUM_UNIT = 8,         /* enum nocap_unit: "pack" */
    NOCAP_ENUM_BANK = 9,         /* enum nocap_bank: "a" */
    NOCAP_ENUM_SIDE = 10,        /* enum nocap_side: "math" */
    NOCAP_ENUM_OWNER = 11,       /* enum nocap_owner: "matrix" */
    NOCAP_ENUM_WHY = 12,         /* enum nocap_why: "tct" */
    NOCAP_ENUM_FIELD = 13,       /* enum nocap_field: "addr"; of a pair of keys "x,y" */
    NOCAP_ENUM_CLASS = 14,       /* enum nocap_class_bit: "host-mmio" */
    NOCAP_ENUM_ARCH = 15,        /* enum nocap_arch: "blackhole" */
    NOCAP_ENUM_BOARD = 16,       /* enum nocap_board: "p100" */
    NOCAP_ENUM_TIME_UNIT = 17,   /* enum nocap_time_unit: "cycles" */
    NOCAP_ENUM_SEVERITY = 18,    /* enum nocap_check_severity: "error" */
    NOCAP_ENUM_VERDICT = 19,     /* enum nocap_check_verdict: "held" */
    NOCAP_ENUM_OUTCOME = 20,     /* enum nocap_check_outcome: "clean" */
    NOCAP_ENUM_HANG_OUTCOME = 21 /* enum nocap_hang_outcome: "hung" */
};

/* The name of a value; NULL if it has none. Static. */
NOCAP_API const char *nocap_enum_name(enum nocap_enum of, unsigned value);
/* The value that has this name; -1 if none has. */
NOCAP_API int nocap_enum_value(enum nocap_enum of, const char *name);

#ifdef __cplusplus
}
#endif

#endif
