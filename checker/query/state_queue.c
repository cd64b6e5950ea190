/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "checker/query/state_text.h"

static void print_counters(FILE *out, const struct nocap_queue_state *s)
{
    for (unsigned i = 0; i < NOCAP_QUEUE_COUNTERS; i++) {
        const struct nocap_counter_state *c = &s->counters[i];
        if (c->read || c->goes > 0 || c->missing > 0) {
            fprintf(out, "  notify stream %u: ", NOCAP_NOTIFY_STREAM + i);
            if (c->read) {
                fprintf(out, "%u counted, ", c->value);
            }
            fprintf(out, "%" PRIu64 " go messages, %u workers have not sent their notify\n",
                    c->goes, c->missing);
        }
    }
}

static void print_tile(FILE *out, const char *what, bool known, struct nocap_xy at)
{
    if (known) {
        fprintf(out, "%s %u,%u", what, at.x, at.y);
    } else {
        fprintf(out, "%s not seen", what);
    }
}

static void print_count(FILE *out, bool known, uint64_t count, const char *what)
{
    if (known) {
        fprintf(out, ", %" PRIu64 " %s", count, what);
    }
}

void nocap_queue_text(FILE *out, const struct nocap_queue_state *s)
{
    if (s->chip != 0) {
        fprintf(out, "chip %u ", s->chip);
    }
    print_tile(out, "command queue: prefetcher", s->has_prefetch, s->prefetch);
    print_tile(out, ", dispatcher", s->has_dispatch, s->dispatch);
    fprintf(out, "%s\n", s->ended ? ", ended" : "");
    fprintf(out, "  prefetch commands: %" PRIu64 " submitted", s->published);
    print_count(out, s->device_known, s->fetched, "read");
    print_count(out, s->device_known, s->landed, "landed");
    print_count(out, s->device_known && s->relayed != UINT64_MAX, s->relayed, "relayed");
    if (s->slot_known) {
        fprintf(out, "; next entry %u", s->next_slot);
    }
    fputc('\n', out);
    if (s->pages_known) {
        fprintf(out,
                "  pages: %" PRIu64 " taken, %" PRIu64 " made ready, %" PRIu64 " finished, %" PRIu64
                " released\n",
                s->pages_taken, s->pages_published, s->pages_finished, s->pages_released);
    }
    if (s->command_index != UINT64_MAX) {
        fprintf(out, "  last command: %s at 0x%x, begun at #%" PRIu64 "\n",
                s->command != NULL ? s->command : "unknown", s->command_at, s->command_index);
    }
    print_counters(out, s);
    fprintf(out, "  completions: %" PRIu64 " asked for", s->events_asked);
    print_count(out, s->taken_known, s->events_returned, "taken by the host");
    if (s->wr_known) {
        fprintf(out, "; write pointer 0x%x", s->wr);
    }
    if (s->rd_known) {
        fprintf(out, "%s read pointer 0x%x", s->wr_known ? "," : ";", s->rd);
    }
    fputc('\n', out);
}

static void put_counters(struct nocap_json *json, const struct nocap_queue_state *s)
{
    nocap_json_array(json, "counters");
    for (unsigned i = 0; i < NOCAP_QUEUE_COUNTERS; i++) {
        const struct nocap_counter_state *c = &s->counters[i];
        if (!c->read && c->goes == 0 && c->missing == 0) {
            continue;
        }
        nocap_json_map(json, NULL);
        nocap_json_number(json, "stream", NOCAP_NOTIFY_STREAM + i);
        nocap_json_number_if(json, "value", c->read, c->value);
        nocap_json_number(json, "go_words", c->goes);
        nocap_json_number(json, "missing", c->missing);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

static void put_tile(struct nocap_json *json, const char *key, bool known, struct nocap_xy at)
{
    if (known) {
        nocap_json_array(json, key);
        nocap_json_number(json, NULL, at.x);
        nocap_json_number(json, NULL, at.y);
        nocap_json_array_end(json);
    }
}

void nocap_queue_json(struct nocap_json *json, const char *key, const struct nocap_queue_state *s)
{
    nocap_json_map(json, key);
    nocap_json_number(json, "records_published", s->published);
    nocap_json_number_if(json, "records_read", s->device_known, s->fetched);
    nocap_json_number_if(json, "records_landed", s->device_known, s->landed);
    nocap_json_number_if(json, "records_relayed", s->device_known && s->relayed != UINT64_MAX,
                         s->relayed);
    nocap_json_number_if(json, "next_slot", s->slot_known, s->next_slot);
    if (s->pages_known) {
        nocap_json_number(json, "pages_taken", s->pages_taken);
        nocap_json_number(json, "pages_published", s->pages_published);
        nocap_json_number(json, "pages_finished", s->pages_finished);
        nocap_json_number(json, "pages_released", s->pages_released);
    }
    if (s->command_index != UINT64_MAX) {
        nocap_json_text(json, "command", s->command != NULL ? s->command : "unknown");
        nocap_json_number(json, "command_at", s->command_at);
        nocap_json_number(json, "command_index", s->command_index);
    }
    put_counters(json, s);
    nocap_json_number(json, "events_asked", s->events_asked);
    nocap_json_number_if(json, "events_returned", s->taken_known, s->events_returned);
    nocap_json_number_if(json, "completion_wr", s->wr_known, s->wr);
    nocap_json_number_if(json, "completion_rd", s->rd_known, s->rd);
    nocap_json_bool(json, "ended", s->ended);
    nocap_json_number(json, "chip", s->chip);
    put_tile(json, "prefetch", s->has_prefetch, s->prefetch);
    put_tile(json, "dispatch", s->has_dispatch, s->dispatch);
    nocap_json_map_end(json);
}
