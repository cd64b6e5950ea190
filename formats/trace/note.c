/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 6 };

static const char ended[] = "the process ended inside a call of the simulator";

struct words {
    char text[NOCAP_NOTE_MAX];
    const char *word[WORDS_MAX];
    unsigned count;
};

/* The words up to a parenthesis. False if the text is too long, or has more words than any form. */
static bool split(struct words *w, const struct nocap_event *event)
{
    if (event->data_size >= sizeof w->text || memchr(event->data, 0, event->data_size) != NULL) {
        return false;
    }
    memcpy(w->text, event->data, event->data_size);
    w->text[event->data_size] = 0;
    w->text[strcspn(w->text, "(")] = 0;
    char *rest = NULL;
    w->count = 0;
    for (char *at = strtok_r(w->text, " ", &rest); at != NULL; at = strtok_r(NULL, " ", &rest)) {
        if (w->count == WORDS_MAX) {
            return false;
        }
        w->word[w->count++] = at;
    }
    return true;
}

static bool core_of(const char *name, uint8_t *by)
{
    int agent = nocap_agent_from_name(name, (unsigned)strlen(name));
    *by = (uint8_t)agent;
    return agent >= NOCAP_BY_BRISC && agent <= NOCAP_BY_TRISC2;
}

static bool number_of(const char *text, uint64_t *v)
{
    char *end;
    *v = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && *end == 0;
}

static bool read_wait(const struct words *w, struct nocap_note *note)
{
    int op = nocap_op_from_name(w->word[1], (unsigned)strlen(w->word[1]));
    note->op = (uint8_t)op;
    note->noc = strcmp(w->word[2], "noc1") == 0;
    return (op == NOCAP_OP_READ || op == NOCAP_OP_WRITE || op == NOCAP_OP_ATOMIC) &&
           (note->noc == 1 || strcmp(w->word[2], "noc0") == 0) && core_of(w->word[3], &note->by);
}

static bool read_lock(const struct words *w, struct nocap_note *note)
{
    note->cb = strcmp(w->word[1], "cb") == 0;
    return (note->cb || strcmp(w->word[1], "mem") == 0) && core_of(w->word[2], &note->by) &&
           number_of(w->word[3], &note->addr) && number_of(w->word[4], &note->size) &&
           note->size != 0;
}

static bool read_runs(const struct nocap_event *event, struct nocap_note *note)
{
    static const char verb[] = "runs ";
    const char *text = (const char *)event->data;
    size_t skip = sizeof verb - 1;
    if (event->data_size <= skip || memcmp(text, verb, skip) != 0) {
        return false;
    }
    const char *end = text + event->data_size;
    const char *core = text + skip, *space = memchr(core, ' ', (size_t)(end - core));
    char name[16];
    if (space == NULL || (size_t)(space - core) >= sizeof name || space + 1 == end) {
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)(space - core), core);
    note->name = space + 1;
    note->name_size = (uint32_t)(end - note->name);
    return core_of(name, &note->by);
}

static bool read_ended(const struct nocap_event *event)
{
    return event->data_size == sizeof ended - 1 &&
           memcmp(event->data, ended, sizeof ended - 1) == 0;
}

static bool read_at(const struct words *w, struct nocap_note *note)
{
    if (strlen(w->word[1]) > NOCAP_NOTE_CODE) {
        return false;
    }
    snprintf(note->code, sizeof note->code, "%s", w->word[1]);
    return core_of(w->word[2], &note->by);
}

struct nocap_note nocap_note_read(const struct nocap_event *event)
{
    struct nocap_note note = {.form = NOCAP_NOTE_TEXT};
    struct words w;
    if (event->kind != NOCAP_EV_NOTE || (event->has & NOCAP_F_TEXT) == 0 || event->data_size == 0) {
        return note;
    }
    if ((event->has & NOCAP_F_AT) == 0) {
        note.form = read_ended(event) ? NOCAP_NOTE_ENDED : NOCAP_NOTE_TEXT;
        return note;
    }
    if (read_runs(event, &note)) {
        note.form = NOCAP_NOTE_RUNS;
        return note;
    }
    if (!split(&w, event)) {
        return note;
    }
    if (w.count == 4 && strcmp(w.word[0], "wait") == 0 && read_wait(&w, &note)) {
        note.form = NOCAP_NOTE_WAIT;
    } else if (w.count == 3 && strcmp(w.word[0], "wait") == 0 &&
               strcmp(w.word[1], "semaphore") == 0 && core_of(w.word[2], &note.by)) {
        note.form = NOCAP_NOTE_WAIT;
        note.op = NOCAP_OP_NONE;
    } else if (w.count == 5 && strcmp(w.word[0], "lock") == 0 && read_lock(&w, &note)) {
        note.form = NOCAP_NOTE_LOCK;
    } else if (w.count == 5 && strcmp(w.word[0], "unlock") == 0 && read_lock(&w, &note)) {
        note.form = NOCAP_NOTE_UNLOCK;
    } else if (w.count == 3 && strcmp(w.word[0], "at") == 0 && read_at(&w, &note)) {
        note.form = NOCAP_NOTE_AT;
    }
    return note;
}

unsigned nocap_note_print(char text[NOCAP_NOTE_MAX], const struct nocap_note *note)
{
    int n =
        note->form == NOCAP_NOTE_WAIT && note->op == NOCAP_OP_NONE
            ? snprintf(text, NOCAP_NOTE_MAX, "wait semaphore %s", nocap_agent_name(note->by))
        : note->form == NOCAP_NOTE_AT
            ? snprintf(text, NOCAP_NOTE_MAX, "at %s %s", note->code, nocap_agent_name(note->by))
        : note->form == NOCAP_NOTE_WAIT
            ? snprintf(text, NOCAP_NOTE_MAX, "wait %s noc%u %s", nocap_op_name(note->op),
                       note->noc & 1u, nocap_agent_name(note->by))
            : snprintf(text, NOCAP_NOTE_MAX, "%s %s %s 0x%" PRIx64 " %" PRIu64,
                       note->form == NOCAP_NOTE_LOCK ? "lock" : "unlock", note->cb ? "cb" : "mem",
                       nocap_agent_name(note->by), note->addr, note->size);
    return n < 0 ? 0u : (unsigned)n;
}

struct nocap_event nocap_note_ended(uint32_t src, uint64_t t)
{
    return (struct nocap_event){.kind = NOCAP_EV_NOTE,
                                .has = NOCAP_F_TEXT,
                                .src = src,
                                .t = t,
                                .data = (const uint8_t *)ended,
                                .data_size = sizeof ended - 1};
}
