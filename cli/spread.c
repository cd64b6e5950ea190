/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/spread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/standard_input.h"

enum { SHARDS_MAX = 1 << 16, READ_BYTES = 1 << 18 };

/* ---- digests ---- */

static void print_digest(XXH64_hash_t hash, char digest[CLI_DIGEST_TEXT])
{
    snprintf(digest, CLI_DIGEST_TEXT, "%016" PRIx64, (uint64_t)hash);
}

static enum nocap_status digest_all(int fd, const char *path, XXH3_state_t *state, void *room,
                                    uint64_t *bytes, struct nocap_error *err)
{
    ssize_t n;
    while ((n = read(fd, room, READ_BYTES)) != 0) {
        RETURN_ERROR_IF(n < 0 && errno != EINTR, err, NOCAP_E_INPUT, "%s: %s", path,
                        strerror(errno));
        *bytes += n < 0 ? 0 : (uint64_t)n;
        XXH3_64bits_update(state, room, n < 0 ? 0 : (size_t)n);
    }
    return NOCAP_OK;
}

enum nocap_status cli_digest_file(const char *path, char digest[CLI_DIGEST_TEXT], uint64_t *bytes,
                                  struct nocap_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    digest[0] = 0;
    *bytes = 0;
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_INPUT, "cannot open %s: %s", path, strerror(errno));
    XXH3_state_t *state = XXH3_createState();
    void *room = malloc(READ_BYTES);
    enum nocap_status status;
    if (state == NULL || room == NULL) {
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    } else {
        XXH3_64bits_reset(state);
        status = digest_all(fd, path, state, room, bytes, err);
    }
    if (status == NOCAP_OK) {
        print_digest(XXH3_64bits_digest(state), digest);
    }
    XXH3_freeState(state);
    free(room);
    close(fd);
    return status;
}

static void put_file(FILE *out, const char *option, const char *path, struct nocap_error *err,
                     enum nocap_status *status)
{
    char digest[CLI_DIGEST_TEXT] = "";
    uint64_t bytes;
    if (path != NULL && *status == NOCAP_OK) {
        *status = cli_digest_file(path, digest, &bytes, err);
        fprintf(out, " %s %s", option, digest);
    }
}

int cli_check_key(const struct cli_call *call, const struct nocap_check_options *options,
                  const char *waivers, const char *baseline, char **key)
{
    struct nocap_error err;
    enum nocap_status status = NOCAP_OK;
    size_t size;
    FILE *out = open_memstream(key, &size);
    if (out == NULL) {
        nocap_fail(&err, NOCAP_E_MEMORY, "out of memory");
        return cli_fail(call, NOCAP_E_MEMORY, &err);
    }
    fprintf(out, "%s rules %s max %u from %d %" PRIu64 " to %d %" PRIu64 " tile %d %u,%u",
            NOCAP_VERSION, options->rules != NULL ? options->rules : "", options->max_per_rule,
            options->has_from, options->from, options->has_to, options->to, options->has_tile,
            options->tile.x, options->tile.y);
    fprintf(out, " dense %d trust %d profile %s", options->dense, options->trust_paths,
            options->profile != NULL ? options->profile : "");
    put_file(out, "waivers", waivers, &err, &status);
    put_file(out, "baseline", baseline, &err, &status);
    for (size_t i = 0; i < options->elf_count; i++) {
        put_file(out, options->elf[i].name, options->elf[i].path, &err, &status);
    }
    if (fclose(out) != 0 && status == NOCAP_OK) {
        status = nocap_fail(&err, NOCAP_E_MEMORY, "out of memory");
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}

/* ---- shards ---- */

static int out_of_memory(const struct cli_call *call)
{
    struct nocap_error err = {"out of memory"};
    return cli_fail(call, NOCAP_E_MEMORY, &err);
}

static bool parse_part(const char *text, struct nocap_shard *shard)
{
    unsigned part, of;
    char rest;
    if (sscanf(text, "%6u/%6u%c", &part, &of, &rest) != 2 || text[0] == '+' || text[0] == '-' ||
        part == 0 || part > of || of > SHARDS_MAX) {
        return false;
    }
    shard->part = part;
    shard->of = of;
    return true;
}

struct sized {
    uint64_t bytes, at;
};

/* The largest first; equal ones as they stand. */
static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : (x->at < y->at ? -1 : 1);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Deals the traces out and keeps those of the part. `loads` is zero for each of the parts. */
static void deal(struct cli_spread *spread, struct sized *traces, uint64_t *loads)
{
    const struct nocap_shard *shard = &spread->shard;
    qsort(traces, shard->traces, sizeof *traces, by_size);
    for (uint64_t i = 0; i < shard->traces; i++) {
        uint64_t least = 0;
        for (uint64_t p = 1; p < shard->of; p++) {
            least = loads[p] < loads[least] ? p : least;
        }
        loads[least] += traces[i].bytes + 1; /* a trace without bytes is work, too */
        if (least + 1 == shard->part) {
            spread->at[spread->count++] = traces[i].at;
        }
    }
    qsort(spread->at, spread->count, sizeof *spread->at, by_number);
}

/* Sizes of the operands; false: one is no file that can be read twice. */
static bool look_at(const struct cli_call *call, struct cli_spread *spread, struct sized *traces)
{
    for (size_t i = 0; i < call->operands.count; i++) {
        struct stat info;
        const char *path = call->operands.items[i];
        bool there = stat(path, &info) == 0;
        if (standard_input_is(path) ||
            (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
            cli_usage(call, "'%.200s' is no file: --shard and --journal take files", path);
            return false;
        }
        spread->bytes[i] = there && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
        traces[i] = (struct sized){spread->bytes[i], i};
    }
    return true;
}

/* Stands for the names of all traces, and what else matters. */
static void name_list(const struct cli_call *call, const char *options, char list[CLI_DIGEST_TEXT])
{
    XXH64_hash_t hash = options != NULL ? XXH3_64bits(options, strlen(options) + 1) : 0;
    for (size_t i = 0; i < call->operands.count; i++) {
        const char *path = call->operands.items[i];
        hash = XXH3_64bits_withSeed(path, strlen(path) + 1, hash);
    }
    print_digest(hash, list);
}

int cli_spread_open(const struct cli_call *call, const char *text, const char *options,
                    struct cli_spread *spread)
{
    size_t count = call->operands.count;
    bool chosen = text != NULL || options != NULL; /* else each is opened once and may be a pipe */
    *spread = (struct cli_spread){.shard = {.part = 1, .of = 1, .traces = count}};
    if (text != NULL && !parse_part(text, &spread->shard)) {
        return cli_usage(call, "--shard takes I/N, from 1/N to N/N with N up to %d", SHARDS_MAX);
    }
    struct sized *traces = calloc(count + 1, sizeof *traces);
    uint64_t *loads = calloc(spread->shard.of, sizeof *loads);
    spread->at = calloc(count + 1, sizeof *spread->at);
    spread->bytes = calloc(count + 1, sizeof *spread->bytes);
    spread->paths = calloc(count + 1, sizeof *spread->paths);
    int result = CLI_EXIT_OK;
    if (traces == NULL || loads == NULL || spread->at == NULL || spread->bytes == NULL ||
        spread->paths == NULL) {
        result = out_of_memory(call);
    } else if (chosen && !look_at(call, spread, traces)) {
        result = CLI_EXIT_USAGE;
    } else {
        for (size_t i = 0; !chosen && i < count; i++) {
            traces[i].at = i;
        }
        deal(spread, traces, loads);
        for (size_t i = 0; i < spread->count; i++) {
            spread->paths[i] = call->operands.items[spread->at[i]];
        }
        name_list(call, options, spread->list);
    }
    spread->shard.list = spread->list;
    spread->shard.at = spread->at;
    free(traces);
    free(loads);
    return result;
}

void cli_spread_close(struct cli_spread *spread)
{
    free(spread->at);
    free(spread->paths);
    free(spread->bytes);
}
