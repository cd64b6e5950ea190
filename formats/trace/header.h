/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a trace: what was observed, of which machine. Meaning of each key: docs/events.md.
 */
#ifndef NOCAP_TRACE_HEADER_H
#define NOCAP_TRACE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nocap/trace.h>

#include "base/status.h"
#include "formats/trace/event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NOCAP_VERSION_FORMAT 1

#define NOCAP_CLASSES(X)                                                                           \
    X(HOST_MMIO, "host-mmio")                                                                      \
    X(SYSMEM, "sysmem")                                                                            \
    X(CORE_STORE, "core-store") X(CORE_LOAD, "core-load") X(CORE_MMIO, "core-mmio") X(NOC, "noc")  \
        X(TENSIX_PUSH, "tensix-push") X(TENSIX_ISSUE, "tensix-issue")                              \
            X(TENSIX_RETIRE, "tensix-retire") X(TENSIX_UNIT, "tensix-unit") X(KERNEL, "kernel")    \
                X(RESET, "reset") X(CQ_HOST, "cq-host") X(CQ, "cq") X(CERT, "cert")                \
                    X(AIE_MMIO, "aie-mmio") X(NOC_BARRIER, "noc-barrier") X(SAMPLED, "sampled")
enum nocap_tristate { NOCAP_ABSENT, NOCAP_FALSE, NOCAP_TRUE };

/* The cores of the command queue, where the trace says so: each value counts only if its flag is
 * set. */
struct nocap_cq_place {
    bool present; /* the header has a `cq` object, perhaps an empty one */
    bool has_prefetch, has_dispatch, has_sysmem, has_kernel_config;
    struct nocap_xy prefetch, dispatch;
    uint64_t sysmem, kernel_config;
    char *extra; /* keys that this version does not know, as JSON members; NULL: none */
};

struct nocap_firmware {
    char *core, *path;
};

struct nocap_mailbox_layout;
struct nocap_profile;

/* Owned strings and lists: nocap_header_init, _copy, _free. */
struct nocap_header {
    enum nocap_arch arch;
    enum nocap_board board;
    enum nocap_time_unit time_unit;
    bool has_time_unit;
    uint64_t clock_hz; /* 0: not said */
    uint32_t observes; /* NOCAP_CLASS_* */
    bool has_observes;
    /* The names in `observes` in the order of the trace, also those that this version does not
     * know; filled by nocap_header_observe and read by nocap_header_observed. May stay empty where
     * code sets `observes` alone. */
    char **observed;
    size_t observed_count;
    bool has_scope; /* false: all tiles */
    enum nocap_tristate complete, cycle_accurate, open_end;
    char *layout;                   /* NULL: not said, bh-launch96 is meant */
    char *profile;                  /* JSON: a name in quotes, or an object; NULL: not said */
    struct nocap_profile *protocol; /* what `profile` says; NULL: nothing, or it cannot be read */
    char *producer;                 /* NULL: not said */
    struct nocap_xy *scope;
    size_t scope_count;
    struct nocap_cq_place cq;
    bool has_firmware; /* the header has a `firmware` map, perhaps an empty one */
    struct nocap_firmware *firmware;
    size_t firmware_count;
    char *extra; /* keys that this version does not know, as JSON members; NULL: none */
};

void nocap_header_init(struct nocap_header *header);
void nocap_header_free(struct nocap_header *header);
/* `to` need not be initialised; on failure it is empty. */
enum nocap_status nocap_header_copy(struct nocap_header *to, const struct nocap_header *from,
                                    struct nocap_error *err);

/* Sets `profile` and `protocol`. A text that makes no profile is kept: what needs it is not judged.
 * Fails without memory only. */
enum nocap_status nocap_header_set_profile(struct nocap_header *header, const char *json,
                                           struct nocap_error *err);
/* The same in the place of all that the header says, `layout` too; `layout` in the place of the
 * header's. */
enum nocap_status nocap_header_replace_profile(struct nocap_header *header, const char *json,
                                               struct nocap_error *err);
enum nocap_status nocap_header_set_layout(struct nocap_header *header, const char *name,
                                          struct nocap_error *err);
/* What the header says of the runtime, the default where it says nothing; NULL: its profile cannot
 * be read, and why. */
const struct nocap_profile *nocap_header_profile(const struct nocap_header *header,
                                                 struct nocap_error *err);
/* The mailbox, by `layout` if it is there, else by `profile`; NULL: they cannot be read, and why.
 */
const struct nocap_mailbox_layout *nocap_header_layout(const struct nocap_header *header,
                                                       struct nocap_error *err);

/* Adds one class to `observes`: sets has_observes, the bit if the name is known, and keeps the
 * name. */
enum nocap_status nocap_header_observe(struct nocap_header *header, const char *name,
                                       struct nocap_error *err);
/* Name `i` of the list that stands for `observes` in a file: the kept names, then those of bits
 * that were set without a name. NULL past the end. */
const char *nocap_header_observed(const struct nocap_header *header, size_t i);

const char *nocap_class_name(enum nocap_class_bit bit);
const char *nocap_arch_name(enum nocap_arch arch);
const char *nocap_board_name(enum nocap_board board); /* NULL for UNKNOWN */
const char *nocap_time_unit_name(enum nocap_time_unit unit);
/* Whether there is no such class, a typo more often than something new; `text` says so then. */
bool nocap_class_unknown(const char *name, char *text, size_t size);
int nocap_arch_from_name(const char *name);
int nocap_board_from_name(const char *name);
int nocap_time_unit_from_name(const char *name);

/* The classes that would hold such an event, NOCAP_CLASS_*; 0: none does. */
uint32_t nocap_event_class(const struct nocap_event *event);
/* False where there is `observes` without its class: there may be more of it than what is shown. */
bool nocap_header_lists(const struct nocap_header *h, const struct nocap_event *event);

/* Why an event is not well formed in a trace with this header, else NULL (rule TRC-005): what
 * nocap_event_problem says, and that its agent is one of the architecture. Whoever counts with the
 * fields of an event asks this first. */
const char *nocap_header_event_problem(const struct nocap_header *header,
                                       const struct nocap_event *event);

/* The same for many events that one reader read: what those of one `shape` share is judged once.
 * All zero to begin with.
 */
struct nocap_shapes {
    uint8_t checks[NOCAP_SHAPES + 1]; /* what is still judged of each event; 0: the shape was not
                                         met, or is wrong */
};
enum {
    NOCAP_SHAPE_KNOWN = 1, /* the shape was right */
    NOCAP_SHAPE_SIZED = 2, /* the size is not 0 */
    NOCAP_SHAPE_ENDS = 4,  /* the bytes end within the addresses */
    NOCAP_SHAPE_FITS = 8,  /* the value fits into the size: 1, 2, 4 or 8 */
    NOCAP_SHAPE_WORD = 16, /* the value is a word */
    NOCAP_SHAPE_ALL = 32,  /* all that an event must be */
    /* accesses with a value, as most are */
    NOCAP_SHAPE_ACCESS =
        NOCAP_SHAPE_KNOWN | NOCAP_SHAPE_SIZED | NOCAP_SHAPE_ENDS | NOCAP_SHAPE_FITS,
};
static inline bool nocap_shape_fits(const struct nocap_event *e)
{
    const uint64_t rest = e->size - 1;
    return rest < sizeof e->value && (e->size & rest) == 0 && e->value >> (8 * rest + 7) >> 1 == 0;
}
static inline bool nocap_shape_ends(const struct nocap_event *e)
{
    return e->addr + (e->size - 1) >= e->addr;
}
/* Of one with these checks; 0: its shape is not known. */
bool nocap_shape_right(const struct nocap_event *event, unsigned checks);
/* Whether it is already known that the event is well formed, and no DROP or UNKNOWN. */
static inline bool nocap_shapes_right(const struct nocap_shapes *shapes,
                                      const struct nocap_event *event)
{
    const unsigned checks = event->shape <= NOCAP_SHAPES ? shapes->checks[event->shape] : 0;
    return checks == NOCAP_SHAPE_ACCESS ? nocap_shape_fits(event) && nocap_shape_ends(event)
                                        : nocap_shape_right(event, checks);
}
/* As nocap_header_event_problem; remembers what is right. */
const char *nocap_shapes_problem(struct nocap_shapes *shapes, const struct nocap_header *header,
                                 const struct nocap_event *event);

/* Whether device-internal events of tile `at` were observed. */
bool nocap_header_in_scope(const struct nocap_header *header, struct nocap_xy at);

#ifdef __cplusplus
}
#endif

#endif
