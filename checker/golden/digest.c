/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/golden/digest.h"

#include <stdlib.h>

#include "base/list.h"
#include "checker/compare/event_key.h"
#include "formats/import/import.h"

struct chain {
    uint64_t hash;
    struct nocap_repeats repeats;
};

struct run {
    struct nocap_reader *reader;
    struct nocap_event_key event_key;
    struct nocap_stream_table table;
    struct chain *chains; /* by number of the table */
    size_t count;
};

static enum nocap_status add_event(struct run *run, const struct nocap_event *event,
                                   struct nocap_error *err)
{
    struct nocap_item item;
    size_t number;
    if (!nocap_event_key_of(&run->event_key, event, &item)) {
        return NOCAP_OK;
    }
    struct nocap_stream_key key = nocap_stream_key(event);
    RETURN_IF_FAILED(nocap_stream_find(&run->table, &key, &number, err));
    if (number == run->count) {
        RETURN_ERROR_IF(LIST_NEXT(run->chains, run->count) == NULL, err, NOCAP_E_MEMORY,
                        "out of memory for the digest");
        run->count++;
    }
    struct chain *chain = &run->chains[number];
    if (!nocap_repeats_drop(&chain->repeats, &item)) {
        chain->hash = nocap_hash_mix(chain->hash, item.hash);
    }
    return NOCAP_OK;
}

/* One pass to learn what is polled, one for the rest. */
static enum nocap_status read_twice(struct run *run, struct nocap_places *places,
                                    struct nocap_error *err)
{
    for (int pass = 0; pass < 2; pass++) {
        const struct nocap_event *events;
        size_t count;
        enum nocap_status status;
        RETURN_IF_FAILED(nocap_reader_seek_index(run->reader, 0, err));
        while ((status = nocap_reader_next(run->reader, &events, &count, err)) == NOCAP_OK) {
            for (size_t i = 0; i < count; i++) {
                if (pass == 0) {
                    nocap_places_add(places, &events[i]);
                } else {
                    RETURN_IF_FAILED(add_event(run, &events[i], err));
                }
            }
        }
        RETURN_IF_FAILED(status == NOCAP_END ? NOCAP_OK : status);
    }
    return NOCAP_OK;
}

/* The order in which streams began is one of time: they are summed up without it. */
static void sum_up(const struct run *run, struct nocap_digest *digest)
{
    *digest = (struct nocap_digest){.total = 0};
    for (size_t i = 0; i < run->table.count; i++) {
        const struct nocap_stream_key *key = &run->table.rows[i];
        uint64_t hash =
            nocap_hash_mix(nocap_hash_mix(key->word[0], key->word[1]), run->chains[i].hash);
        digest->kind[nocap_stream_key_kind(key)] += hash;
    }
    for (unsigned kind = 0; kind < NOCAP_STREAM_OBJECT; kind++) {
        digest->total = nocap_hash_mix(digest->total, digest->kind[kind]);
    }
}

enum nocap_status nocap_digest(struct nocap_digest *digest, const char *path, bool dense,
                               const char *profile, struct nocap_error *err)
{
    struct nocap_places *places = NULL;
    struct run *run = calloc(1, sizeof *run);
    enum nocap_status status = run == NULL
                                   ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                                   : nocap_import_open(&run->reader, path, dense, NULL, err);
    if (status == NOCAP_OK && profile != NULL) {
        status = nocap_header_replace_profile(nocap_reader_own_header(run->reader), profile, err);
    }
    if (status == NOCAP_OK) {
        run->event_key.header = nocap_reader_header(run->reader);
        status = nocap_places_new(&places, run->event_key.header, err);
    }
    if (status == NOCAP_OK) {
        run->event_key.places = places;
        status = read_twice(run, places, err);
    }
    if (status == NOCAP_OK) {
        sum_up(run, digest);
    }
    for (size_t i = 0; run != NULL && i < run->count; i++) {
        nocap_repeats_free(&run->chains[i].repeats);
    }
    if (run != NULL) {
        nocap_reader_close(run->reader);
        MAP_FREE(&run->table);
        free(run->chains);
    }
    nocap_places_free(places);
    free(run);
    return status;
}
