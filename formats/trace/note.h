/* SPDX-License-Identifier: Apache-2.0 */
/* Notes that a machine reads: what a capture knows and no kind of event says. Their text is one of
 *
 *   wait read|write|atomic noc0|noc1 CORE    the core begins to wait for its requests of that kind
 *   wait semaphore CORE                      the core begins to wait for a semaphore in its L1
 *   lock mem|cb CORE ADDR SIZE               the core holds these bytes of its L1 for itself
 *   unlock mem|cb CORE ADDR SIZE
 *   at CODE CORE [(MEANING)]                 the core is at this waypoint
 *   runs CORE NAME                           the kernel that the core runs
 *
 *   the process ended inside a call of the simulator          the last event; of no tile
 *
 * with ADDR as "0x.." and SIZE in bytes; the note's tile is the core's, NAME is the rest of the
 * text. Any other text is for people. */
#ifndef NOCAP_TRACE_NOTE_H
#define NOCAP_TRACE_NOTE_H

#include "formats/trace/event.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nocap_note_form {
    NOCAP_NOTE_TEXT,
    NOCAP_NOTE_WAIT,
    NOCAP_NOTE_LOCK,
    NOCAP_NOTE_UNLOCK,
    NOCAP_NOTE_AT,
    NOCAP_NOTE_RUNS,
    NOCAP_NOTE_ENDED,
};

enum { NOCAP_NOTE_CODE = 8 }; /* characters of a waypoint's code */

struct nocap_note {
    enum nocap_note_form form;
    uint8_t by;  /* enum nocap_agent, a core */
    uint8_t op;  /* WAIT: NOCAP_OP_READ, _WRITE or _ATOMIC; _NONE: for a semaphore */
    uint8_t noc; /* WAIT: 0 or 1 */
    bool cb;     /* LOCK, UNLOCK: a circular buffer */
    uint64_t addr, size;
    char code[NOCAP_NOTE_CODE + 1]; /* AT */
    const char *name;               /* RUNS: in the event's data, `name_size` bytes */
    uint32_t name_size;
};

#define NOCAP_NOTE_MAX 80 /* bytes of a text of these forms but RUNS, with its end */

/* TEXT unless the event is a note of one of the forms, at a tile but for ENDED. */
struct nocap_note nocap_note_read(const struct nocap_event *event);
/* The text of a note that is none of TEXT, RUNS and ENDED; its length. */
unsigned nocap_note_print(char text[NOCAP_NOTE_MAX], const struct nocap_note *note);
/* The event of form ENDED. */
struct nocap_event nocap_note_ended(uint32_t src, uint64_t t);

#ifdef __cplusplus
}
#endif

#endif
