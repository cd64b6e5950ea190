/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay_into.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json_text.h"
#include "capture/drive/drive.h"
#include "checker/query/state.h"
#include "cli/live.h"
#include "cli/profile_option.h"

struct into {
    const struct cli_call *call;
    const struct cli_into_form *form;
    const char *trace;
    struct nocap_drive_result result;
};

static const char *const outcomes[] = {"agrees", "differs", "ended", "no-data"};
enum { ACCESS_TEXT = 128, BYTES_TEXT = 3 * NOCAP_DRIVE_SHOWN + 4 };

static void describe_access(const struct nocap_event *e, char text[ACCESS_TEXT])
{
    int n =
        snprintf(text, ACCESS_TEXT,
                 "event #%" PRIu64 ", t %" PRIu64 ": %s of %" PRIu64 " bytes at 0x%" PRIx64 " of ",
                 e->index, e->t, nocap_kind_name(e->kind), e->size, e->addr);
    size_t left = ACCESS_TEXT - (size_t)n;
    if (e->space != NOCAP_SPACE_TILE) {
        snprintf(text + n, left, "%s", nocap_space_name(e->space));
    } else if ((e->has & NOCAP_F_TO) != 0) {
        snprintf(text + n, left, "cores %u,%u to %u,%u", e->at.x, e->at.y, e->to.x, e->to.y);
    } else {
        snprintf(text + n, left, "core %u,%u", e->at.x, e->at.y);
    }
}

/* A number as one, anything else byte by byte. */
static void describe_bytes(const struct nocap_drive_result *r, const uint8_t *bytes,
                           char text[BYTES_TEXT])
{
    uint64_t value = 0;
    if (r->at.size == 1 || r->at.size == 2 || r->at.size == 4 || r->at.size == 8) {
        memcpy(&value, bytes, r->at.size);
        snprintf(text, BYTES_TEXT, "0x%0*" PRIx64, (int)r->at.size * 2, value);
        return;
    }
    for (uint32_t i = 0; i < r->shown; i++) {
        snprintf(text + 3 * i, BYTES_TEXT - 3 * i, "%02x ", bytes[i]);
    }
    text[3 * r->shown - 1] = '\0';
}

static void describe_end(int wait_status, char *text, size_t size)
{
    if (WIFSIGNALED(wait_status)) {
        snprintf(text, size, "signal %d (%s)", WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)));
    } else {
        snprintf(text, size, "status %d", WEXITSTATUS(wait_status));
    }
}

/* ---- text ---- */

static void print_text(const struct into *into)
{
    const struct nocap_drive_result *r = &into->result;
    char access[ACCESS_TEXT], expected[BYTES_TEXT], found[BYTES_TEXT], end[64];
    describe_access(&r->at, access);
    switch (r->outcome) {
    case NOCAP_DRIVE_AGREES: puts("the simulator answers as recorded"); break;
    case NOCAP_DRIVE_DIFFERS:
        describe_bytes(r, r->found, found);
        printf("first difference at %s\n", access);
        if (r->differs > 0) {
            printf("  from byte %" PRIu64 " on\n", r->differs);
        }
        if (r->expected_known) {
            describe_bytes(r, r->expected, expected);
        } else {
            snprintf(expected, sizeof expected, "hash 0x%016" PRIx64, r->at.hash);
        }
        printf("  expected %s\n  found    %s\n", expected, found);
        break;
    case NOCAP_DRIVE_DIED:
        describe_end(r->wait_status, end, sizeof end);
        printf("the simulator ended with %s at %s\n", end, access);
        break;
    case NOCAP_DRIVE_NO_DATA:
        printf("the trace does not have the bytes of %s; a file that has them: --payload FILE\n",
               access);
        break;
    }
    printf("%" PRIu64 " accesses in %" PRIu64 " clocks: %" PRIu64 " stores, %" PRIu64
           " reads compared, %" PRIu64 " polls before them",
           r->accesses, r->clocks, r->stores, r->compared, r->polls);
    if (r->late > 0) {
        printf("; %" PRIu64 " answers came up to %" PRIu64 " clocks later", r->late, r->late_most);
    }
    if (r->passed > 0) {
        printf("; %" PRIu64 " polled places had moved on from what was recorded", r->passed);
    }
    putchar('\n');
}

/* The tile of the access as the model has it before that. */
static enum nocap_status print_tile(const struct into *into, struct nocap_error *err)
{
    const struct nocap_event *at = &into->result.at;
    char *profile;
    if (at->space != NOCAP_SPACE_TILE || at->index == 0) {
        return NOCAP_OK;
    }
    RETURN_ERROR_IF(cli_profile_json(into->call, into->form->profile, &profile) != CLI_EXIT_OK, err,
                    NOCAP_E_INPUT, "the state of the core is not shown");
    const struct nocap_replay_options options = {
        .size = sizeof options,
        .has_until = true,
        .has_tile = true,
        .dense = into->form->dense,
        .until = at->index - 1,
        .tile = at->at,
        .profile = profile,
    };
    enum nocap_status status = nocap_replay_print(stdout, into->trace, &options, NULL, NULL, err);
    free(profile);
    return status == NOCAP_E_USAGE ? NOCAP_OK : status; /* the tile was not touched before */
}

/* ---- JSON ---- */

static void print_bytes(struct nocap_json *json, const char *key, const uint8_t *bytes, uint32_t n)
{
    char text[2 * NOCAP_DRIVE_SHOWN + 1] = "";
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", bytes[i]);
    }
    nocap_json_text(json, key, text);
}

static enum nocap_status print_json(const struct into *into, struct nocap_error *err)
{
    const struct nocap_drive_result *r = &into->result;
    struct nocap_json json;
    char access[ACCESS_TEXT], end[64];
    RETURN_IF_FAILED(nocap_json_open(&json, stdout, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_replay_into", 1);
    nocap_json_text(&json, "outcome", outcomes[r->outcome]);
    nocap_json_number(&json, "accesses", r->accesses);
    nocap_json_number(&json, "stores", r->stores);
    nocap_json_number(&json, "compared", r->compared);
    nocap_json_number(&json, "polls", r->polls);
    nocap_json_number(&json, "late", r->late);
    nocap_json_number(&json, "late_most", r->late_most);
    nocap_json_number(&json, "passed", r->passed);
    nocap_json_number(&json, "clocks", r->clocks);
    if (r->outcome != NOCAP_DRIVE_AGREES) {
        describe_access(&r->at, access);
        nocap_json_number(&json, "index", r->at.index);
        nocap_json_text(&json, "access", access);
    }
    if (r->outcome == NOCAP_DRIVE_DIFFERS) {
        nocap_json_number(&json, "offset", r->differs);
        if (r->expected_known) {
            print_bytes(&json, "expected", r->expected, r->shown);
        }
        print_bytes(&json, "found", r->found, r->shown);
    } else if (r->outcome == NOCAP_DRIVE_DIED) {
        describe_end(r->wait_status, end, sizeof end);
        nocap_json_text(&json, "ended", end);
    }
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}

/* ---- the command ---- */

int cli_replay_into(const struct cli_call *call, const struct cli_into_settings *settings,
                    const struct cli_into_form *form)
{
    struct into into = {call, form, call->operands.items[0], {0}};
    struct nocap_error err = {{0}};
    if (strcmp(into.trace, "-") == 0) {
        return cli_usage(call, "--into reads the trace twice: it must be a file");
    }
    if (form->record != NULL && strcmp(form->record, "-") == 0) {
        return cli_usage(call, "with --into, -o names a file for the trace of the replay");
    }
    const struct nocap_drive_options options = {
        .size = sizeof options,
        .library = settings->library,
        .record = form->record,
        .payloads = settings->payloads.items,
        .payload_count = settings->payloads.count,
        .patience = settings->patience.given ? settings->patience.value : NOCAP_DRIVE_PATIENCE,
        .dense = form->dense,
        .perturb = settings->perturb.given,
        .seed = settings->perturb.value,
    };
    enum nocap_status status = nocap_drive(into.trace, &options, &into.result, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    if (into.result.outcome == NOCAP_DRIVE_DIED && form->record != NULL) {
        cli_recover(call, form->record, NULL);
    }
    if (form->json) {
        status = print_json(&into, &err);
    } else {
        print_text(&into);
        if (into.result.outcome != NOCAP_DRIVE_AGREES) {
            status = print_tile(&into, &err);
        }
    }
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    return into.result.outcome == NOCAP_DRIVE_AGREES    ? CLI_EXIT_OK
           : into.result.outcome == NOCAP_DRIVE_NO_DATA ? CLI_EXIT_INPUT
                                                        : CLI_EXIT_FINDINGS;
}
