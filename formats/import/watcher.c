/* SPDX-License-Identifier: Apache-2.0 */
/* The log of tt-metal's watcher: a snapshot of all cores every so often. Lines of cores become what
 * stood in the mailbox; what has no place there becomes notes. Four generations of the prefix are
 * known. Source: landscape sheet, section 4.2. */
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tile_map.h"
#include "formats/blackhole/waypoint.h"
#include "formats/import/input.h"
#include "formats/import/snapshot.h"
#include "formats/trace/note.h"

enum {
    LINE_LIMIT = 64 << 10,
    NOTE_MAX = 400,
    IDS = 3,             /* kernels that a core's line names */
    IDS_MAX = 4096,      /* lines of a dump of which they are kept */
    HEAD_MAX = 20 << 20, /* bytes in which a line of a watcher's log must have come */
};

/* A line about a core. */
struct core_line {
    uint16_t chip;
    struct nocap_xy at;
    const char *rest; /* after the prefix */
};

struct ids {
    uint16_t chip;
    struct nocap_xy at;
    unsigned id[IDS];
};

struct log {
    struct nocap_writer *writer;
    struct nocap_import_result *result;
    const struct nocap_mailbox_layout *layout;
    uint64_t t, line;
    struct core_line last; /* the line about a mailbox before this one */
    bool in_ring, any;     /* something that only a watcher's log has */
    uint64_t elsewhere;    /* lines about mailboxes where the grid has no worker */
    struct ids *ids;       /* of the dump that is read: IDS_MAX of them */
    size_t ids_count;
};

static const struct {
    char code;
    uint8_t value;
} run_states[] = {
#define RUN_STATE(code, value) {code, value},
#include "formats/import/watcher.def"
};

static bool run_state(char code, uint8_t *value)
{
    for (size_t i = 0; i < sizeof run_states / sizeof run_states[0]; i++) {
        if (run_states[i].code == code) {
            *value = run_states[i].value;
            return true;
        }
    }
    return false;
}

/* "(x= 1,y= 2)" at `text`, which moves after it. */
static bool place(const char **text, struct nocap_xy *at)
{
    unsigned x, y;
    int length = 0;
    if (sscanf(*text, "(x=%3u,y=%3u)%n", &x, &y, &length) != 2 || length == 0 || x > UINT8_MAX ||
        y > UINT8_MAX) {
        return false;
    }
    *at = (struct nocap_xy){(uint8_t)x, (uint8_t)y};
    *text += length;
    return true;
}

/* False: the line is about something else. The last place of the prefix is the one on the NOC. */
static bool parse_prefix(const char *text, struct core_line *core)
{
    unsigned device = 0;
    int length = 0;
    *core = (struct core_line){0};
    if (sscanf(text, "Device %5u%n", &device, &length) == 1) {
        text += length + (text[length] == ',');
    }
    core->chip = (uint16_t)device;
    bool found = false;
    for (;;) {
        static const char *const words[] = {"worker", "core", "Core", "phys", "virtual"};
        size_t word = 0, count = sizeof words / sizeof words[0];
        text += strspn(text, " ");
        while (word < count && strncmp(text, words[word], strlen(words[word])) != 0) {
            word++;
        }
        if (word == count) {
            break;
        }
        text += strlen(words[word]);
        text += strspn(text, " ");
        if (*text == '(') {
            if (!place(&text, &core->at)) {
                return false;
            }
            found = true;
        }
    }
    core->rest = text + 1;
    return found && *text == ':';
}

static enum nocap_status put_note(const struct log *log, const struct core_line *core,
                                  const char *text, struct nocap_error *err)
{
    size_t length = strnlen(text, NOTE_MAX);
    const struct nocap_event e = {
        .kind = NOCAP_EV_NOTE,
        .has = NOCAP_F_TEXT | (core != NULL ? NOCAP_F_AT : 0),
        .t = log->t,
        .chip = core != NULL ? core->chip : 0,
        .at = core != NULL ? core->at : (struct nocap_xy){0, 0},
        .data = (const uint8_t *)text,
        .data_size = (uint32_t)length,
    };
    return nocap_writer_add(log->writer, &e, err);
}

/* "GW,   W, CWFW": the waypoints of the five cores. `text` ends where rmsg begins. */
static enum nocap_status put_waypoints(const struct log *log, const struct core_line *core,
                                       const char *text, const char *end, struct nocap_error *err)
{
    for (unsigned p = 0; text < end && p < NOCAP_PROCESSOR_COUNT; p++) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ", \r\n");
        if (text >= end || length == 0 || length > NOCAP_WAYPOINT_MAX) {
            break;
        }
        char note[NOTE_MAX];
        struct nocap_note at = {.form = NOCAP_NOTE_AT, .by = nocap_cores[p].agent};
        memcpy(at.code, text, length);
        const struct nocap_waypoint *waypoint = nocap_waypoint_find(at.code);
        unsigned used = nocap_note_print(note, &at);
        if (waypoint != NULL) {
            snprintf(note + used, sizeof note - used, " (%s)", waypoint->meaning);
        }
        RETURN_IF_FAILED(put_note(log, core, note, err));
        text += length;
        text += strspn(text, " ");
        text += *text == ',';
    }
    return NOCAP_OK;
}

/* "k_ids:11|10|12": the kernels of BRISC, NCRISC and the TRISCs; their names come when all cores
 * were reported. */
static void keep_ids(struct log *log, const struct core_line *core, const char *text)
{
    struct ids ids = {.chip = core->chip, .at = core->at};
    if (sscanf(text, "k_ids:%9u|%9u|%9u", &ids.id[0], &ids.id[1], &ids.id[2]) == IDS &&
        log->ids_count < IDS_MAX) {
        log->ids[log->ids_count++] = ids;
    }
}

/* "k_id[12]: path": every core that runs it gets its name. */
static enum nocap_status put_kernel(const struct log *log, const char *text,
                                    struct nocap_error *err)
{
    unsigned id;
    int length = 0;
    char note[NOTE_MAX];
    if (sscanf(text, "k_id[%9u]: %n", &id, &length) != 1 || length == 0 || text[length] == '\0') {
        return NOCAP_OK;
    }
    for (size_t i = 0; i < log->ids_count; i++) {
        const struct ids *ids = &log->ids[i];
        const struct core_line core = {.chip = ids->chip, .at = ids->at};
        for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
            if (ids->id[p < IDS ? p : IDS - 1] == id) {
                snprintf(note, sizeof note, "runs %s %s", nocap_agent_name(nocap_cores[p].agent),
                         text + length);
                RETURN_IF_FAILED(put_note(log, &core, note, err));
            }
        }
    }
    return NOCAP_OK;
}

/* "rmsg:D1D|BNt": dispatch mode, NOC, run state of BRISC; "smsg:DDGD": its subordinates. */
static enum nocap_status put_mailbox(const struct log *log, const struct core_line *core,
                                     const char *rmsg, const char *smsg, bool *right,
                                     struct nocap_error *err)
{
    uint8_t go[NOCAP_GO_WORD_SIZE] = {0}, sync[NOCAP_SYNC_BYTES];
    static const uint8_t index[4] = {0};
    *right = strlen(rmsg) >= 8 && run_state(rmsg[7], &go[NOCAP_GO_SIGNAL_BYTE]);
    for (size_t i = 0; *right && i < NOCAP_SYNC_BYTES; i++) {
        *right = strlen(smsg) > 5 + i && run_state(smsg[5 + i], &sync[i]);
    }
    if (!*right) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(snapshot_memory(log->writer, log->t, core->chip, core->at,
                                     log->layout->go_message_index, index, sizeof index, err));
    RETURN_IF_FAILED(snapshot_memory(log->writer, log->t, core->chip, core->at,
                                     nocap_go_word_address(log->layout, 0), go, sizeof go, err));
    return snapshot_memory(log->writer, log->t, core->chip, core->at, log->layout->sync, sync,
                           sizeof sync, err);
}

static enum nocap_status core_line(struct log *log, const struct core_line *core,
                                   struct nocap_error *err)
{
    const char *rmsg = strstr(core->rest, "rmsg:"), *smsg = strstr(core->rest, "smsg:");
    bool right = false;
    if (rmsg == NULL || smsg == NULL) { /* a sentence about the core */
        return put_note(log, core, core->rest + strspn(core->rest, " "), err);
    }
    log->any = true;
    log->last = *core;
    log->elsewhere += !nocap_is_tensix_tile(NOCAP_BOARD_UNKNOWN, core->at);
    RETURN_IF_FAILED(put_mailbox(log, core, rmsg, smsg, &right, err));
    if (!right) {
        if (log->result->malformed++ == 0) {
            log->result->malformed_line = log->line;
            snprintf(log->result->malformed_why, sizeof log->result->malformed_why,
                     "a run state that is none of D L W S I G R");
        }
        return put_note(log, core, core->rest, err);
    }
    RETURN_IF_FAILED(put_waypoints(log, core, core->rest, rmsg, err));
    const char *ids = strstr(core->rest, "k_ids:");
    if (ids == NULL) {
        return NOCAP_OK;
    }
    keep_ids(log, core, ids);
    return put_note(log, core, ids, err);
}

/* "At 12.345s starting", "Dump #3 at 12.345s": when what follows was seen. */
static bool moment(struct log *log, const char *text)
{
    double seconds;
    if (sscanf(text, "At %20lfs", &seconds) != 1 &&
        sscanf(text, "Dump #%*u at %20lfs", &seconds) != 1) {
        return false;
    }
    log->any = true;
    uint64_t t = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
    log->t = t > log->t ? t : log->t;
    log->ids_count = 0;
    return true;
}

/* The ring buffer of a core stands after the core's line: its name, then a line or more of words.
 */
static bool of_ring(struct log *log, const char *text)
{
    static const char name[] = "debug_ring_buffer(";
    bool begins = strncmp(text, name, sizeof name - 1) == 0;
    bool words = strncmp(text, "[0x", 3) == 0 || strncmp(text, "0x", 2) == 0;
    log->in_ring = log->last.rest != NULL && (begins || (log->in_ring && words));
    return log->in_ring;
}

static enum nocap_status take_line(struct log *log, char *text, struct nocap_error *err)
{
    struct core_line core;
    text[strcspn(text, "\r\n")] = '\0';
    log->line++;
    if (*text == '\0' || moment(log, text)) {
        return NOCAP_OK;
    }
    if (parse_prefix(text, &core)) {
        log->in_ring = false;
        return core_line(log, &core, err);
    }
    RETURN_IF_FAILED(put_note(log, of_ring(log, text) ? &log->last : NULL, text, err));
    return put_kernel(log, text, err);
}

static enum nocap_status read_lines(struct log *log, FILE *stream, const struct nocap_input *input,
                                    struct nocap_error *err)
{
    char *line = malloc(LINE_LIMIT);
    enum nocap_status status =
        line != NULL ? NOCAP_OK : nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    while (status == NOCAP_OK && (log->any || nocap_input_bytes(input) <= HEAD_MAX) &&
           fgets(line, LINE_LIMIT, stream) != NULL) {
        status = take_line(log, line, err);
    }
    if (status == NOCAP_OK && ferror(stream)) {
        status = nocap_input_failed(input, err);
    }
    free(line);
    RETURN_IF_FAILED(status);
    RETURN_ERROR_IF(!log->any, err, NOCAP_E_INPUT,
                    "%s: no line of a watcher's log is in it; give generated/watcher/watcher.log",
                    nocap_input_name(input));
    return NOCAP_OK;
}

static enum nocap_status take_input(struct log *log, struct nocap_input *input,
                                    struct nocap_error *err)
{
    FILE *stream;
    RETURN_IF_FAILED(nocap_input_only_zstd(input, err));
    RETURN_IF_FAILED(nocap_input_unpack(input, err));
    RETURN_IF_FAILED(nocap_input_stream(input, &stream, err));
    enum nocap_status status = read_lines(log, stream, input, err);
    fclose(stream);
    log->result->bytes_in = nocap_input_bytes(input);
    return status;
}

enum nocap_status watcher_import(const char *const *inputs, size_t input_count, int out_fd,
                                 const struct nocap_import_options *options,
                                 struct nocap_import_result *result, struct nocap_error *err)
{
    (void)input_count;
    struct log log = {.result = result, .layout = nocap_layout_find(NULL)};
    struct nocap_input *input;
    RETURN_IF_FAILED(nocap_input_open(&input, inputs[0], options, err));
    log.ids = malloc(IDS_MAX * sizeof *log.ids);
    if (log.ids == NULL) {
        nocap_input_close(input);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    enum nocap_status status =
        snapshot_writer(&log.writer, out_fd, NOCAP_TIME_NS, "watcher.log", err);
    if (status == NOCAP_OK) {
        status = take_input(&log, input, err);
    }
    nocap_input_close(input);
    free(log.ids);
    if (log.elsewhere != 0) {
        result->remarks[result->remark_count++] = (struct nocap_import_remark){
            "lines about cores that are no worker cores of Blackhole: hang leaves them out; the "
            "log is of another machine, or its places are not those on the NOC",
            log.elsewhere};
    }
    return nocap_import_end(log.writer, status, result, err);
}
