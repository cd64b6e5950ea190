/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of L1 that were read from a device that hangs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/tile_map.h"
#include "formats/import/input.h"
#include "formats/import/snapshot.h"

enum { PIECE = 4096 };

struct dump {
    uint16_t chip;
    struct nocap_xy at;
    uint64_t addr, end; /* of the bytes; the end is known when they are taken */
    const char *path;
};

/* A number that ends at one of `ends`; false: it is none, or too large. */
static bool number(const char **text, uint64_t limit, const char *ends, uint64_t *value)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9') {
        return false;
    }
    *value = strtoull(*text, &end, 0);
    bool right = errno == 0 && *value <= limit && *end != '\0' && strchr(ends, *end) != NULL;
    *text = end;
    return right;
}

static bool parse(const char *text, struct dump *dump)
{
    uint64_t first, y;
    *dump = (struct dump){0};
    if (!number(&text, UINT16_MAX, ":,", &first)) {
        return false;
    }
    if (*text == ':') {
        dump->chip = (uint16_t)first;
        text++;
        if (!number(&text, UINT8_MAX, ",", &first)) {
            return false;
        }
    }
    text++;
    if (first > UINT8_MAX || !number(&text, UINT8_MAX, "@=", &y)) {
        return false;
    }
    dump->at = (struct nocap_xy){(uint8_t)first, (uint8_t)y};
    if (*text == '@') {
        text++;
        if (!number(&text, NOCAP_L1_SIZE - 1, "=", &dump->addr)) {
            return false;
        }
    }
    dump->path = text + 1;
    return *dump->path != '\0';
}

static enum nocap_status read_piece(struct nocap_input *input, uint8_t *piece, size_t *size,
                                    struct nocap_error *err)
{
    size_t got = 1;
    for (*size = 0; *size < PIECE && got > 0; *size += got) {
        RETURN_IF_FAILED(nocap_input_read(input, piece + *size, PIECE - *size, &got, err));
    }
    return NOCAP_OK;
}

static enum nocap_status copy(struct nocap_writer *writer, struct nocap_input *input,
                              struct dump *dump, uint64_t t, struct nocap_error *err)
{
    uint8_t piece[PIECE];
    uint64_t addr = dump->addr;
    size_t size;
    do {
        RETURN_IF_FAILED(read_piece(input, piece, &size, err));
        RETURN_ERROR_IF(size > NOCAP_L1_SIZE - addr, err, NOCAP_E_INPUT,
                        "%s: more bytes than L1 has from 0x%" PRIx64
                        " on; give a dump of L1, from the address after @",
                        dump->path, dump->addr);
        if (size > 0) {
            RETURN_IF_FAILED(
                snapshot_memory(writer, t, dump->chip, dump->at, addr, piece, size, err));
        }
        addr += size;
    } while (size == PIECE);
    RETURN_ERROR_IF(addr == dump->addr, err, NOCAP_E_INPUT, "%s: it is empty", dump->path);
    dump->end = addr;
    return NOCAP_OK;
}

/* Two dumps that hold the same bytes: which of them holds is not known. */
static enum nocap_status refuse_overlap(const struct dump *dumps, size_t count,
                                        struct nocap_error *err)
{
    const struct dump *last = &dumps[count];
    for (size_t i = 0; i < count; i++) {
        const struct dump *d = &dumps[i];
        bool same = d->chip == last->chip && nocap_xy_equal(d->at, last->at);
        uint64_t both = d->addr > last->addr ? d->addr : last->addr;
        RETURN_ERROR_IF(same && both < d->end && both < last->end, err, NOCAP_E_INPUT,
                        "%s and %s both hold address 0x%" PRIx64 " of core %u,%u: give one",
                        d->path, last->path, both, last->at.x, last->at.y);
    }
    return NOCAP_OK;
}

/* Takes input `t` as dumps[t]. */
static enum nocap_status take(struct nocap_writer *writer, const char *text, uint64_t t,
                              struct dump *dumps, const struct nocap_import_options *options,
                              struct nocap_import_result *result, struct nocap_error *err)
{
    struct dump *dump = &dumps[t];
    struct nocap_input *input;
    RETURN_ERROR_IF(
        !parse(text, dump), err, NOCAP_E_USAGE,
        "'%.100s' is no dump: give x,y=FILE, or x,y@0xADDR=FILE where it does not begin "
        "at address 0",
        text);
    RETURN_ERROR_IF(!nocap_is_tensix_tile(NOCAP_BOARD_UNKNOWN, dump->at), err, NOCAP_E_USAGE,
                    "%u,%u is no worker core: give the place on NOC 0 of the core whose L1 it is",
                    dump->at.x, dump->at.y);
    RETURN_IF_FAILED(nocap_input_open(&input, dump->path, options, err));
    enum nocap_status status = nocap_input_unpack(input, err);
    if (status == NOCAP_OK && nocap_input_is_trace(input)) {
        status = nocap_fail(err, NOCAP_E_INPUT, "%s: it is a trace, and no dump of L1", dump->path);
    }
    if (status == NOCAP_OK) {
        status = copy(writer, input, dump, t, err);
    }
    if (status == NOCAP_OK) {
        status = refuse_overlap(dumps, t, err);
    }
    result->bytes_in += nocap_input_bytes(input);
    nocap_input_close(input);
    return status;
}

enum nocap_status l1_dump_import(const char *const *inputs, size_t input_count, int out_fd,
                                 const struct nocap_import_options *options,
                                 struct nocap_import_result *result, struct nocap_error *err)
{
    struct nocap_writer *writer;
    struct dump dumps[L1_DUMP_INPUTS_MAX];
    RETURN_IF_FAILED(snapshot_writer(&writer, out_fd, NOCAP_TIME_CYCLES, "dump of L1", err));
    enum nocap_status status = NOCAP_OK;
    for (size_t i = 0; i < input_count && status == NOCAP_OK; i++) {
        status = take(writer, inputs[i], i, dumps, options, result, err);
    }
    return nocap_import_end(writer, status, result, err);
}
