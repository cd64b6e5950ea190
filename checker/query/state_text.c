/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/state_text.h"

#include <inttypes.h>

#include "base/foreign_text.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tile_map.h"

static const char *const known_names[] = {"unknown", "no", "yes"};

static const char *busy_word(const struct nocap_tile_state *s)
{
    if (s->active == NOCAP_YES || s->go_pending == NOCAP_YES) {
        return "busy";
    }
    return s->active == NOCAP_NO && s->go_pending == NOCAP_NO ? "idle" : "unknown";
}

enum { SYNC_TEXT = 32 };

/* "00 00 00 80 smsg:DDDG": the bytes, and once all are known a letter each, as the watcher's. */
static void sync_word(const struct nocap_tile_state *s, char text[static SYNC_TEXT])
{
    char smsg[NOCAP_SYNC_BYTES];
    size_t at = 0, known = 0;
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        const struct nocap_core_state *c = &s->cores[p];
        if (c->has_sync) {
            at += (size_t)snprintf(text + at, SYNC_TEXT - at, c->sync_known ? "%s%02x" : "%s??",
                                   at > 0 ? " " : "", c->sync);
        }
        if (c->has_sync && c->sync_known) {
            const char *name = nocap_sync_name(c->sync);
            smsg[known++] = name != NULL ? name[0] : '?';
        }
    }
    if (known == NOCAP_SYNC_BYTES) {
        snprintf(text + at, SYNC_TEXT - at, " smsg:%.*s", (int)known, smsg);
    }
}

static void index_text(char text[static 24], uint64_t index)
{
    if (index == UINT64_MAX) {
        snprintf(text, 24, "never");
    } else {
        snprintf(text, 24, "#%" PRIu64, index);
    }
}

static void print_waypoints(FILE *out, const struct nocap_tile_state *s)
{
    bool any = false;
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        any |= s->cores[p].waypoint[0] != '\0';
    }
    for (unsigned p = 0; any && p < NOCAP_PROCESSOR_COUNT; p++) {
        const char *code = s->cores[p].waypoint;
        fputs(p == 0 ? ", at " : " ", out);
        foreign_put(out, code[0] != '\0' ? code : "?");
    }
}

void nocap_state_line(FILE *out, const struct nocap_tile_state *s)
{
    char sync[SYNC_TEXT], rd_ptr[12] = "?";
    sync_word(s, sync);
    if (s->rd_ptr_known) {
        snprintf(rd_ptr, sizeof rd_ptr, "%u", s->rd_ptr);
    }
    char core[NOCAP_CORE_TEXT];
    fputs(nocap_core_text(s->board, s->at, core), out);
    if (s->chip != 0) {
        fprintf(out, " chip %u", s->chip);
    }
    fprintf(out, ": %s, %s, sync %s, rd_ptr %s", s->phase, busy_word(s), sync, rd_ptr);
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        if (s->cores[p].in_kernel == NOCAP_YES) {
            fprintf(out, ", %s in kernel since #%" PRIu64, nocap_agent_name(s->cores[p].agent),
                    s->cores[p].entered);
        }
    }
    print_waypoints(out, s);
    fprintf(out, "%s\n", s->in_scope ? "" : " (not observed inside)");
}

static void print_core(FILE *out, const struct nocap_core_state *c)
{
    char entered[24], left[24], sync[40] = "";
    index_text(entered, c->entered);
    index_text(left, c->left);
    if (c->has_sync && c->sync_known) {
        const char *name = nocap_sync_name(c->sync);
        snprintf(sync, sizeof sync, "0x%02x %s", c->sync, name != NULL ? name : "(no such value)");
    } else if (c->has_sync) {
        snprintf(sync, sizeof sync, "unknown");
    }
    fprintf(out, "  %-7s out of reset: %-7s  in kernel: %-7s  entered %s, left %s%s%s",
            nocap_agent_name(c->agent), known_names[c->running], known_names[c->in_kernel], entered,
            left, sync[0] != '\0' ? ", sync " : "", sync);
    if (c->pc_index != UINT64_MAX) {
        fprintf(out, ", pc 0x%" PRIx64 " at #%" PRIu64, c->pc, c->pc_index);
    }
    foreign_line(out, "%s%s%s%s", c->waypoint[0] != '\0' ? ", waypoint " : "", c->waypoint,
                 c->kernel[0] != '\0' ? ", kernel " : "", c->kernel);
}

static void print_go(FILE *out, const struct nocap_tile_state *s)
{
    char written[24], done[24];
    index_text(written, s->go_written);
    index_text(done, s->last_done);
    fprintf(out, "  go_message_index %s%.0u", s->go_index_known ? "" : "unknown", s->go_index);
    if (s->go_index_known && s->go_index == 0) {
        fputc('0', out);
    }
    unsigned i = s->go_index_known && s->go_index < NOCAP_GO_WORDS ? s->go_index : 0;
    const struct nocap_go_state *go = &s->go[i];
    if (go->known) {
        const char *name = nocap_go_name(go->word.signal);
        fprintf(out, "; go message %u: signal 0x%02x %s, master %u,%u, dispatch offset %u", i,
                go->word.signal, name != NULL ? name : "(no such signal)", go->word.master_x,
                go->word.master_y, go->word.offset);
    } else {
        fprintf(out, "; go message %u unknown", i);
    }
    fprintf(out, "\n  GO pending: %s (written %s); last DONE %s", known_names[s->go_pending],
            written, done);
    fprintf(out, "; reset request: %s; notify pending: %s\n",
            s->request != 0 ? nocap_go_name(s->request) : "none", s->notify_pending ? "yes" : "no");
}

static void print_slots(FILE *out, const struct nocap_tile_state *s)
{
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        const struct nocap_slot_state *slot = &s->slots[i];
        bool active = s->active_slot == (int)i && s->active == NOCAP_YES;
        if (!slot->known) {
            fprintf(out, "  launch[%u] unknown%s\n", i, active ? ", active" : "");
        } else if (slot->message.enables != 0 || slot->message.preload != 0 || active) {
            fprintf(
                out,
                "  launch[%u] enables 0x%02x, mode %s, kernels at 0x%x, host id %u%s, new: %s%s\n",
                i, slot->message.enables, slot->message.mode == NOCAP_MODE_HOST ? "HOST" : "DEV",
                slot->message.kernel_config_base[0], slot->message.host_assigned_id,
                slot->message.preload != 0 ? ", preload" : "", known_names[slot->fresh],
                active ? ", active" : "");
        }
    }
}

static void print_threads(FILE *out, const struct nocap_tile_state *s)
{
    for (unsigned i = 0; i < NOCAP_TENSIX_THREADS; i++) {
        const struct nocap_thread_state *t = &s->threads[i];
        if (t->lost) {
            fprintf(out, "  thread %u: words not followed", i);
        } else if (t->pending > 0 || t->held) {
            fprintf(out, "  thread %u: %u words not issued", i, t->pending);
        } else {
            continue;
        }
        if (t->held) {
            fprintf(out, ", 0x%08x stalled since #%" PRIu64, t->held_word, t->held_index);
        }
        if (t->condition[0] != '\0') {
            fprintf(out, ": %s", t->condition);
        }
        fputc('\n', out);
    }
    if (s->semaphores_known != 0) {
        fputs("  semaphores", out);
        for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
            if ((s->semaphores_known >> i & 1) != 0) {
                fprintf(out, " %u", s->semaphore[i]);
            } else {
                fputs(" ?", out);
            }
        }
        fputc('\n', out);
    }
}

static void print_requests(FILE *out, const struct nocap_tile_state *s)
{
    for (unsigned noc = 0; noc < NOCAP_STATE_NOCS; noc++) {
        bool any = false;
        for (unsigned op = 0; op < NOCAP_STATE_REQUEST_KINDS; op++) {
            const struct nocap_request_state *r = &s->requests[noc][op];
            if (r->issued > 0) {
                fprintf(out, any ? ", " : "  NOC %u: ", noc);
                fprintf(out, "%" PRIu64 " %s issued, %" PRIu64 " known to have ended", r->issued,
                        nocap_request_names[op], r->ended < r->issued ? r->ended : r->issued);
                any = true;
            }
        }
        fputs(any ? "\n" : "", out);
    }
}

static void json_requests(struct nocap_json *json, const struct nocap_tile_state *s)
{
    nocap_json_array(json, "noc");
    for (unsigned noc = 0; noc < NOCAP_STATE_NOCS; noc++) {
        nocap_json_map(json, NULL);
        for (unsigned op = 0; op < NOCAP_STATE_REQUEST_KINDS; op++) {
            nocap_json_map(json, nocap_request_names[op]);
            nocap_json_number(json, "issued", s->requests[noc][op].issued);
            nocap_json_number(json, "ended", s->requests[noc][op].ended);
            nocap_json_map_end(json);
        }
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

void nocap_state_text(FILE *out, const struct nocap_tile_state *s)
{
    nocap_state_line(out, s);
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        print_core(out, &s->cores[p]);
    }
    print_go(out, s);
    print_slots(out, s);
    print_threads(out, s);
    print_requests(out, s);
}

static void json_index(struct nocap_json *json, const char *key, uint64_t index)
{
    nocap_json_number_if(json, key, index != UINT64_MAX, index);
}

static void json_cores(struct nocap_json *json, const struct nocap_tile_state *s)
{
    nocap_json_array(json, "cores");
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        const struct nocap_core_state *c = &s->cores[p];
        nocap_json_map(json, NULL);
        nocap_json_text(json, "core", nocap_agent_name(c->agent));
        nocap_json_text(json, "running", known_names[c->running]);
        nocap_json_text(json, "in_kernel", known_names[c->in_kernel]);
        json_index(json, "entered", c->entered);
        json_index(json, "left", c->left);
        if (c->pc_index != UINT64_MAX) {
            nocap_json_number(json, "pc", c->pc);
            nocap_json_number(json, "pc_index", c->pc_index);
        }
        nocap_json_number_if(json, "sync", c->sync_known, c->sync);
        nocap_json_text_if(json, "waypoint", c->waypoint[0] != '\0', c->waypoint);
        nocap_json_text_if(json, "kernel", c->kernel[0] != '\0', c->kernel);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

static void json_go(struct nocap_json *json, const struct nocap_tile_state *s)
{
    nocap_json_array(json, "go_messages");
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        nocap_json_map(json, NULL);
        nocap_json_bool(json, "known", s->go[i].known);
        if (s->go[i].known) {
            nocap_json_number(json, "signal", s->go[i].word.signal);
            nocap_json_number(json, "master_x", s->go[i].word.master_x);
            nocap_json_number(json, "master_y", s->go[i].word.master_y);
            nocap_json_number(json, "dispatch_message_offset", s->go[i].word.offset);
        }
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
    nocap_json_text(json, "go_pending", known_names[s->go_pending]);
    json_index(json, "go_written", s->go_written);
    json_index(json, "last_done", s->last_done);
    nocap_json_number(json, "reset_request", s->request);
    nocap_json_bool(json, "notify_pending", s->notify_pending);
}

static void json_slots(struct nocap_json *json, const struct nocap_tile_state *s)
{
    nocap_json_array(json, "launch");
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        const struct nocap_slot_state *slot = &s->slots[i];
        nocap_json_map(json, NULL);
        nocap_json_bool(json, "known", slot->known);
        nocap_json_text(json, "fresh", known_names[slot->fresh]);
        if (slot->known) {
            nocap_json_number(json, "enables", slot->message.enables);
            nocap_json_number(json, "mode", slot->message.mode);
            nocap_json_number(json, "preload", slot->message.preload);
            nocap_json_number(json, "kernel_config_base", slot->message.kernel_config_base[0]);
            nocap_json_number(json, "host_assigned_id", slot->message.host_assigned_id);
        }
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
    nocap_json_text(json, "launch_active", known_names[s->active]);
    nocap_json_number_if(json, "launch_slot", s->active_slot >= 0, (uint64_t)s->active_slot);
}

static void json_threads(struct nocap_json *json, const struct nocap_tile_state *s)
{
    nocap_json_array(json, "threads");
    for (unsigned i = 0; i < NOCAP_TENSIX_THREADS; i++) {
        const struct nocap_thread_state *t = &s->threads[i];
        nocap_json_map(json, NULL);
        nocap_json_bool(json, "followed", !t->lost);
        nocap_json_number(json, "pending", t->pending);
        nocap_json_bool(json, "held", t->held);
        if (t->held) {
            nocap_json_number(json, "held_word", t->held_word);
            json_index(json, "held_index", t->held_index);
        }
        nocap_json_text_if(json, "condition", t->condition[0] != '\0', t->condition);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
    nocap_json_map(json, "semaphores");
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        char key[4];
        snprintf(key, sizeof key, "%u", i);
        nocap_json_number_if(json, key, (s->semaphores_known >> i & 1) != 0, s->semaphore[i]);
    }
    nocap_json_map_end(json);
}

void nocap_state_json(struct nocap_json *json, const struct nocap_tile_state *s)
{
    nocap_json_map(json, NULL);
    nocap_json_number(json, "chip", s->chip);
    nocap_json_number(json, "x", s->at.x);
    nocap_json_number(json, "y", s->at.y);
    nocap_json_bool(json, "in_scope", s->in_scope);
    nocap_json_text(json, "phase", s->phase);
    json_cores(json, s);
    nocap_json_number_if(json, "launch_msg_rd_ptr", s->rd_ptr_known, s->rd_ptr);
    nocap_json_number_if(json, "go_message_index", s->go_index_known, s->go_index);
    json_go(json, s);
    json_slots(json, s);
    json_threads(json, s);
    json_requests(json, s);
    nocap_json_map_end(json);
}
