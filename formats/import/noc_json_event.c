/* SPDX-License-Identifier: Apache-2.0 */
/* One object of the NOC event profiler's JSON as an event: what fields say, what has no field and
 * is carried through unparsed, as JSON, what becomes a note. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/import/noc_json.h"
#include "formats/trace/note.h"

enum form {
    FORM_UNKNOWN,
    FORM_REQUEST,
    FORM_MCAST,
    FORM_FAR,
    FORM_STATE,
    FORM_START,
    FORM_ENDED,
    FORM_SENT,
    FORM_ALL,
    FORM_SEMAPHORE,
    FORM_LOCAL,
    FORM_LOCK_MEM,
    FORM_UNLOCK_MEM,
    FORM_LOCK_CB,
    FORM_UNLOCK_CB,
};

/* ---- what an entry says ---- */

static bool byte_of(const struct noc_json_entry *entry, enum noc_json_number number, uint8_t *v)
{
    bool fits = noc_json_has(entry, number) && entry->numbers[number] >= 0 &&
                entry->numbers[number] <= UINT8_MAX;
    *v = fits ? (uint8_t)entry->numbers[number] : 0;
    return fits;
}

static bool place_of(const struct noc_json_entry *entry, enum noc_json_number x,
                     enum noc_json_number y, struct nocap_xy *at)
{
    bool fits_x = byte_of(entry, x, &at->x), fits_y = byte_of(entry, y, &at->y);
    return fits_x && fits_y;
}

bool noc_json_positive(const struct noc_json_entry *entry, enum noc_json_number number, uint64_t *v)
{
    bool fits = noc_json_has(entry, number) && entry->numbers[number] >= 0;
    *v = fits ? (uint64_t)entry->numbers[number] : 0;
    return fits;
}

/* "BRISC", "NCRISC", "TRISC_0": NOCAP_BY_NONE for any other. */
static uint8_t agent_of(const char *proc)
{
    char name[NOC_JSON_WORD];
    unsigned n = 0;
    for (const char *at = proc; *at != 0; at++) {
        if (*at != '_') {
            name[n++] = (char)(*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at);
        }
    }
    int agent = nocap_agent_from_name(name, n);
    return agent >= NOCAP_BY_BRISC && agent <= NOCAP_BY_TRISC2 ? (uint8_t)agent : NOCAP_BY_NONE;
}

static const struct type {
    const char *name;
    enum form form;
    enum nocap_op op;
} types[] = {
#define TYPE(name, form, op) {name, FORM_##form, NOCAP_OP_##op},
#include "formats/import/noc_json.def"
};

static const struct type *type_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

/* ---- extra members ---- */

static void remark(struct noc_json_builder *d, enum noc_json_remark what)
{
    d->remarks |= 1u << what;
}

__attribute__((format(printf, 2, 3))) static void extra(struct noc_json_builder *d,
                                                        const char *format, ...)
{
    size_t at = strlen(d->extra);
    if (at != 0 && at + 1 < sizeof d->extra) {
        d->extra[at++] = ',';
    }
    va_list args;
    va_start(args, format);
    int n = vsnprintf(d->extra + at, sizeof d->extra - at, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof d->extra - at) {
        d->extra[at > 0 ? at - 1 : 0] = 0; /* whole members only */
    }
}

/* A word of the file inside JSON text: what would need an escape is left out. */
static const char *clean(char *to, const char *word)
{
    size_t n = 0;
    for (const char *at = word; *at != 0; at++) {
        if ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\' && (unsigned char)*at < 0x7f) {
            to[n++] = *at;
        }
    }
    to[n] = 0;
    return to;
}

static void keep_rest(struct noc_json_builder *d, const struct noc_json_entry *entry)
{
    if (entry->kept_size != 0) {
        extra(d, "%.*s", (int)entry->kept_size, entry->kept);
    }
    if (entry->kept_cut) {
        remark(d, NOC_JSON_REMARK_KEPT);
    }
}

static void keep_run(struct noc_json_builder *d, const struct noc_json_entry *entry)
{
    char word[NOC_JSON_WORD];
    if (entry->op_name[0] != 0) {
        extra(d, "\"op_name\":\"%s\"", clean(word, entry->op_name));
    }
    if (noc_json_has(entry, NOC_JSON_RUN_HOST_ID)) {
        extra(d, "\"run_host_id\":%" PRId64, entry->numbers[NOC_JSON_RUN_HOST_ID]);
    }
    if (noc_json_has(entry, NOC_JSON_RUN_ID)) {
        extra(d, "\"run_id\":%" PRId64, entry->numbers[NOC_JSON_RUN_ID]);
    }
}

/* ---- notes ---- */

static void make_note(struct noc_json_builder *d, const char *text)
{
    struct nocap_event *e = &d->event;
    snprintf(d->text, sizeof d->text, "%s", text);
    e->kind = NOCAP_EV_NOTE;
    e->data = (const uint8_t *)d->text;
    e->data_size = (uint32_t)strlen(d->text);
    e->has = (e->has & NOCAP_F_AT) | NOCAP_F_TEXT;
}

static void make_machine_note(struct noc_json_builder *d, const struct nocap_note *note)
{
    char text[NOCAP_NOTE_MAX];
    nocap_note_print(text, note);
    make_note(d, text);
}

/* A note that holds all that the entry says of a request. */
static void note_entry(struct noc_json_builder *d, const struct noc_json_entry *entry,
                       const char *what)
{
    struct nocap_xy to;
    uint64_t bytes;
    char word[NOC_JSON_WORD];
    make_note(d, clean(word, what));
    if (entry->proc[0] != 0) {
        extra(d, "\"proc\":\"%s\"", clean(word, entry->proc));
    }
    if (entry->noc >= 0) {
        extra(d, "\"noc\":%d", entry->noc);
    }
    if (place_of(entry, NOC_JSON_DX, NOC_JSON_DY, &to)) {
        extra(d, "\"to\":[%u,%u]", to.x, to.y);
    }
    if (noc_json_positive(entry, NOC_JSON_NUM_BYTES, &bytes)) {
        extra(d, "\"bytes\":%" PRIu64, bytes);
    }
}

/* ---- requests ---- */

static void set_far_end(struct nocap_event *e, const struct noc_json_entry *entry, bool mcast)
{
    bool read = e->op == NOCAP_OP_READ;
    struct nocap_xy *far = read ? &e->s : &e->d;
    uint64_t bit = read ? NOCAP_F_S : NOCAP_F_D;
    if (mcast && place_of(entry, NOC_JSON_MCAST_START_X, NOC_JSON_MCAST_START_Y, &e->d) &&
        place_of(entry, NOC_JSON_MCAST_END_X, NOC_JSON_MCAST_END_Y, &e->d2)) {
        e->has |= NOCAP_F_D | NOCAP_F_D2;
    } else if (place_of(entry, NOC_JSON_DX, NOC_JSON_DY, far)) {
        e->has |= bit;
    } else {
        *far = (struct nocap_xy){0, 0};
    }
    if (mcast) {
        e->mcast = 1;
        e->has |= NOCAP_F_MCAST;
    }
}

static void set_own_end(struct nocap_event *e)
{
    if (e->op == NOCAP_OP_READ) {
        e->d = e->at;
        e->has |= NOCAP_F_D;
    } else if (e->op == NOCAP_OP_WRITE) {
        e->s = e->at;
        e->has |= NOCAP_F_S;
    }
}

static void set_numbers(struct nocap_event *e, const struct noc_json_entry *entry)
{
    bool inside = e->op == NOCAP_OP_READ || e->op == NOCAP_OP_WRITE;
    if (noc_json_positive(entry, NOC_JSON_NUM_BYTES, &e->size) && e->size != 0) {
        e->has |= NOCAP_F_SIZE;
    } else {
        e->size = 0;
    }
    if (inside && noc_json_positive(entry, NOC_JSON_SRC_ADDR, &e->saddr)) {
        e->has |= NOCAP_F_SADDR;
    }
    if (noc_json_positive(entry, NOC_JSON_DST_ADDR, &e->daddr)) {
        e->has |= NOCAP_F_DADDR;
    }
    if (byte_of(entry, NOC_JSON_VC, &e->vc)) {
        e->has |= NOCAP_F_VC;
    }
    if (byte_of(entry, NOC_JSON_TRID, &e->trid)) {
        e->has |= NOCAP_F_TRID;
    }
    if (noc_json_has(entry, NOC_JSON_POSTED)) {
        e->posted = entry->numbers[NOC_JSON_POSTED] != 0;
        e->has |= NOCAP_F_POSTED;
    }
}

/* Where a request that leaves the chip ends. */
static bool keep_far(struct noc_json_builder *d, const struct noc_json_entry *entry)
{
    uint64_t from, device;
    struct nocap_xy to;
    char word[NOC_JSON_WORD];
    extra(d, "\"fabric\":\"%s\"", clean(word, entry->type));
    if (!noc_json_positive(entry, NOC_JSON_DST_DEVICE, &device) ||
        (noc_json_positive(entry, NOC_JSON_SRC_DEVICE, &from) && from == device)) {
        return false;
    }
    extra(d, "\"to_device\":%" PRIu64, device);
    if (place_of(entry, NOC_JSON_DX, NOC_JSON_DY, &to)) {
        extra(d, "\"to\":[%u,%u]", to.x, to.y);
    }
    return true;
}

static void make_noc(struct nocap_event *e, const struct noc_json_entry *entry, enum nocap_op op,
                     enum nocap_phase phase)
{
    e->kind = NOCAP_EV_NOC;
    e->op = (uint8_t)op;
    e->noc = entry->noc == 1;
    e->phase = (uint8_t)phase;
    e->has = NOCAP_F_AT | (e->by != NOCAP_BY_NONE ? NOCAP_F_BY : 0) |
             (entry->noc >= 0 ? NOCAP_F_NOC : 0) | (phase != NOCAP_PHASE_ISSUE ? NOCAP_F_PHASE : 0);
}

static void make_request(struct noc_json_builder *d, const struct noc_json_entry *entry,
                         const struct type *type)
{
    struct nocap_event *e = &d->event;
    make_noc(e, entry, type->op, NOCAP_PHASE_ISSUE);
    bool leaves = type->form == FORM_FAR && keep_far(d, entry);
    if (leaves) {
        remark(d, NOC_JSON_REMARK_FAR);
    } else {
        set_far_end(e, entry, type->form == FORM_MCAST);
    }
    set_own_end(e);
    set_numbers(e, entry);
}

static void make_lock(struct noc_json_builder *d, const struct noc_json_entry *entry,
                      enum form form)
{
    struct nocap_note note = {
        .form = form == FORM_LOCK_MEM || form == FORM_LOCK_CB ? NOCAP_NOTE_LOCK : NOCAP_NOTE_UNLOCK,
        .by = d->event.by,
        .cb = form == FORM_LOCK_CB || form == FORM_UNLOCK_CB,
    };
    if (noc_json_positive(entry, NOC_JSON_LOCKED_ADDR, &note.addr) &&
        noc_json_positive(entry, NOC_JSON_LOCKED_BYTES, &note.size) && note.size != 0) {
        make_machine_note(d, &note);
    } else {
        note_entry(d, entry, entry->type);
        remark(d, NOC_JSON_REMARK_LOCAL);
    }
}

static void make_wait(struct noc_json_builder *d, const struct noc_json_entry *entry,
                      enum nocap_op op)
{
    const struct nocap_note note = {
        .form = NOCAP_NOTE_WAIT, .by = d->event.by, .op = (uint8_t)op, .noc = entry->noc == 1};
    make_machine_note(d, &note);
}

/* ---- zones ---- */

static bool is_kernel(const char *zone)
{
    size_t n = strlen(zone), suffix = strlen("-KERNEL");
    return n >= suffix && strcmp(zone + n - suffix, "-KERNEL") == 0;
}

static void make_zone(struct noc_json_builder *d, const struct noc_json_entry *entry)
{
    struct nocap_event *e = &d->event;
    bool begin =
        strcmp(entry->zone_phase, "begin") == 0 || strcmp(entry->zone_phase, "ZONE_START") == 0;
    bool end = strcmp(entry->zone_phase, "end") == 0 || strcmp(entry->zone_phase, "ZONE_END") == 0;
    if ((begin || end) && e->by != NOCAP_BY_NONE && is_kernel(entry->zone)) {
        e->kind = NOCAP_EV_KERNEL;
        e->op = begin ? NOCAP_OP_ENTER : NOCAP_OP_EXIT;
        e->has = NOCAP_F_AT | NOCAP_F_BY;
    } else {
        char text[2 * NOC_JSON_WORD + 16], word[2 * NOC_JSON_WORD + 16];
        snprintf(text, sizeof text, "zone %s %s", entry->zone, entry->zone_phase);
        make_note(d, clean(word, text));
        if (entry->proc[0] != 0) {
            extra(d, "\"proc\":\"%s\"", clean(word, entry->proc));
        }
    }
    keep_run(d, entry);
}

/* ---- one entry ---- */

static unsigned make_typed(struct noc_json_builder *d, const struct noc_json_entry *entry)
{
    const struct type *type = type_of(entry->type);
    enum form form = type != NULL ? type->form : FORM_UNKNOWN;
    bool note = form == FORM_UNKNOWN || form == FORM_STATE || form == FORM_LOCAL;
    switch (form) {
    case FORM_REQUEST:
    case FORM_MCAST:
    case FORM_FAR: make_request(d, entry, type); return 1;
    case FORM_ENDED: make_noc(&d->event, entry, type->op, NOCAP_PHASE_DONE); return 1;
    case FORM_SENT: make_noc(&d->event, entry, type->op, NOCAP_PHASE_SENT); return 1;
    case FORM_ALL: make_noc(&d->event, entry, NOCAP_OP_READ, NOCAP_PHASE_DONE); return 3;
    default: break;
    }
    if (note || d->event.by == NOCAP_BY_NONE) {
        remark(d, form == FORM_UNKNOWN ? NOC_JSON_REMARK_TYPE
                  : form == FORM_STATE ? NOC_JSON_REMARK_STATE
                                       : NOC_JSON_REMARK_LOCAL);
        note_entry(d, entry, entry->type);
    } else if (form == FORM_START || form == FORM_SEMAPHORE) {
        make_wait(d, entry, type->op);
    } else {
        make_lock(d, entry, form);
    }
    return 1;
}

void noc_json_begin(struct noc_json_builder *d, const struct noc_json_entry *entry)
{
    memset(&d->event, 0, sizeof d->event);
    d->extra[0] = 0;
    d->remarks = 0;
    d->event.by = agent_of(entry->proc);
    if (place_of(entry, NOC_JSON_SX, NOC_JSON_SY, &d->event.at)) {
        d->event.has = NOCAP_F_AT;
    } else {
        d->event.at = (struct nocap_xy){0, 0};
    }
    d->timeless = !noc_json_positive(entry, NOC_JSON_TIMESTAMP, &d->event.t);
}

unsigned noc_json_make(struct noc_json_builder *d, const struct noc_json_entry *entry)
{
    bool typed = entry->type[0] != 0, zone = entry->zone[0] != 0;
    unsigned count = 1;
    if (!typed && !zone) {
        remark(d, NOC_JSON_REMARK_TYPE);
        note_entry(d, entry, "an entry that is no event");
    } else if (d->timeless || (d->event.has & NOCAP_F_AT) == 0) {
        remark(d, d->timeless ? NOC_JSON_REMARK_TIME : NOC_JSON_REMARK_PLACE);
        note_entry(d, entry, typed ? entry->type : entry->zone);
    } else if (typed) {
        count = make_typed(d, entry);
    } else {
        make_zone(d, entry);
    }
    if (d->event.by == NOCAP_BY_NONE) {
        remark(d, NOC_JSON_REMARK_AGENT);
    }
    keep_rest(d, entry);
    if (d->extra[0] != 0) {
        d->event.extra = d->extra;
        d->event.extra_size = (uint32_t)strlen(d->extra);
    }
    return count;
}

void noc_json_next_ended(struct noc_json_builder *d)
{
    d->event.op = d->event.op == NOCAP_OP_READ ? NOCAP_OP_WRITE : NOCAP_OP_ATOMIC;
}
