/* SPDX-License-Identifier: Apache-2.0 */
#include <nocap/hang.h>
#include <string.h>

#include "api/api.h"
#include "checker/core/checker.h"
#include "checker/hang/hang.h"
#include "formats/trace/header.h"

const char *nocap_version(void)
{
    return NOCAP_VERSION;
}

enum { VALUES_MAX = 256 };

static const char *const status_names[] = {
    [NOCAP_OK] = "ok",
    [NOCAP_END] = "end",
    [NOCAP_E_USAGE] = "usage",
    [NOCAP_E_INPUT] = "input",
    [NOCAP_E_OUTPUT] = "output",
    [NOCAP_E_MEMORY] = "memory",
    [NOCAP_E_INTERNAL] = "internal",
};

/* Outcomes of a trace that does not go on. */
static const char *const hang_names[] = {
    [NOCAP_HANG_OUTCOME_IDLE] = "idle",
    [NOCAP_HANG_OUTCOME_RUNNING] = "running",
    [NOCAP_HANG_OUTCOME_INCONCLUSIVE] = "inconclusive",
    [NOCAP_HANG_OUTCOME_HUNG] = "hung",
};

#define NAME_IN(table, value)          ((value) < sizeof(table) / sizeof(table)[0] ? (table)[value] : NULL)
#define NAME_BELOW(count, value, name) ((value) < (unsigned)(count) ? (name) : NULL)

/* A field whose values the enumeration is; NOCAP_FIELD_COUNT: there is none. */
static enum nocap_field field_of(enum nocap_enum of)
{
    switch (of) {
    case NOCAP_ENUM_AGENT: return NOCAP_FIELD_BY;
    case NOCAP_ENUM_SPACE: return NOCAP_FIELD_SPACE;
    case NOCAP_ENUM_ORDER: return NOCAP_FIELD_ORDER;
    case NOCAP_ENUM_MAP: return NOCAP_FIELD_MAP;
    case NOCAP_ENUM_PHASE: return NOCAP_FIELD_PHASE;
    case NOCAP_ENUM_UNIT: return NOCAP_FIELD_UNIT;
    case NOCAP_ENUM_BANK: return NOCAP_FIELD_BANK;
    case NOCAP_ENUM_SIDE: return NOCAP_FIELD_SIDE;
    case NOCAP_ENUM_OWNER: return NOCAP_FIELD_OWNER;
    case NOCAP_ENUM_WHY: return NOCAP_FIELD_WHY;
    default: return NOCAP_FIELD_COUNT;
    }
}

const char *nocap_enum_name(enum nocap_enum of, unsigned v)
{
    switch (of) {
    case NOCAP_ENUM_STATUS: return NAME_IN(status_names, v);
    case NOCAP_ENUM_HANG_OUTCOME: return NAME_IN(hang_names, v);
    case NOCAP_ENUM_KIND: return NAME_BELOW(NOCAP_EV_COUNT, v, nocap_kind_name(v));
    case NOCAP_ENUM_OP:
        return v == NOCAP_OP_NONE ? NULL : NAME_BELOW(NOCAP_OP_COUNT, v, nocap_op_name(v));
    case NOCAP_ENUM_FIELD: return NAME_BELOW(NOCAP_FIELD_COUNT, v, nocap_fields[v].key);
    case NOCAP_ENUM_CLASS:
        return NAME_BELOW(NOCAP_CLASS_COUNT, v, nocap_class_name((enum nocap_class_bit)v));
    case NOCAP_ENUM_ARCH:
        return NAME_BELOW(NOCAP_ARCH_COUNT, v, nocap_arch_name((enum nocap_arch)v));
    case NOCAP_ENUM_BOARD:
        return NAME_BELOW(NOCAP_BOARD_COUNT, v, nocap_board_name((enum nocap_board)v));
    case NOCAP_ENUM_TIME_UNIT:
        return NAME_BELOW(NOCAP_TIME_UNIT_COUNT, v, nocap_time_unit_name((enum nocap_time_unit)v));
    case NOCAP_ENUM_SEVERITY:
        return NAME_BELOW(NOCAP_SEVERITY_COUNT, v, nocap_severity_name((enum nocap_severity)v));
    case NOCAP_ENUM_VERDICT:
        return NAME_BELOW(NOCAP_VERDICT_COUNT, v, nocap_verdict_name((enum nocap_verdict)v));
    case NOCAP_ENUM_OUTCOME:
        return NAME_BELOW(NOCAP_OUTCOME_COUNT, v, nocap_outcome_name((enum nocap_outcome)v));
    default: return nocap_field_value_name(field_of(of), v);
    }
}

int nocap_enum_value(enum nocap_enum of, const char *name)
{
    for (unsigned v = 0; v < VALUES_MAX; v++) {
        const char *one = nocap_enum_name(of, v);
        if (one != NULL && strcmp(one, name) == 0) {
            return (int)v;
        }
    }
    return -1;
}

/* The numbers of the checker are those of the interface. */
#define SAME(public, internal)                                                                     \
    _Static_assert((int)(public) == (int)(internal), "include/nocap/ has another number")
SAME(NOCAP_CHECK_NOTE, NOCAP_NOTE);
SAME(NOCAP_CHECK_WARNING, NOCAP_WARNING);
SAME(NOCAP_CHECK_ERROR, NOCAP_ERROR);
SAME(NOCAP_CHECK_HELD, NOCAP_HELD);
SAME(NOCAP_CHECK_VIOLATED, NOCAP_VIOLATED);
SAME(NOCAP_CHECK_NOT_EXERCISED, NOCAP_NOT_EXERCISED);
SAME(NOCAP_CHECK_NOT_OBSERVABLE, NOCAP_NOT_OBSERVABLE);
SAME(NOCAP_CHECK_WAIVED, NOCAP_WAIVED);
SAME(NOCAP_CHECK_CLEAN, NOCAP_CLEAN);
SAME(NOCAP_CHECK_FINDINGS, NOCAP_FINDINGS);
SAME(NOCAP_CHECK_NOT_JUDGED, NOCAP_NOT_JUDGED);
SAME(NOCAP_HANG_OUTCOME_IDLE, NOCAP_HANG_NONE);
SAME(NOCAP_HANG_OUTCOME_RUNNING, NOCAP_HANG_RUNNING);
SAME(NOCAP_HANG_OUTCOME_INCONCLUSIVE, NOCAP_HANG_INCONCLUSIVE);
SAME(NOCAP_HANG_OUTCOME_HUNG, NOCAP_HANG_HUNG);
