/* SPDX-License-Identifier: Apache-2.0 */
/* Any events, well formed or not, of any architecture, through all that reads events: no crash, no
 * table that a number of the file leaves, no sum that overflows. The first byte chooses the header;
 * then each event takes a byte for its kind, one for its op, two for fields that it need not have,
 * and one a field: small numbers as they stand, above that the places and the ends of ranges that
 * the models know. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checker/compare/diff.h"
#include "checker/core/checker.h"
#include "checker/hang/hang.h"
#include "checker/query/noc_requests.h"
#include "formats/export/dump.h"
#include "formats/export/info.h"
#include "formats/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS_MAX = 400, NUMBERS_FROM = 192 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

struct input {
    const uint8_t *at, *end;
};

static uint8_t take(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint64_t number(struct input *in)
{
    static const uint64_t numbers[] = {
        0x68,       0x370,      0x374,      0x3E8,      0x1000,     0x17FFF0,   0x19600,
        0x30000,    0xFFB00000, 0xFFB10000, 0xFFB12000, 0xFFB20000, 0xFFB2001C, 0xFFB20040,
        0xFFB20204, 0xFFB30000, 0xFFB40000, 0xFFB70438, 0xFFE00000, 0xFFE40000, 0xFFE80000,
        0xFFEC0000, 0xFFEF0000, 0xFFFFFFFF, 0x80000000, 0x40000000, 256,        257,
        65535,      65536,      UINT64_MAX, INT64_MAX};
    uint8_t b = take(in);
    return b < NUMBERS_FROM ? b
                            : numbers[(b - NUMBERS_FROM) % (sizeof numbers / sizeof numbers[0])];
}

/* Fields without which an event of this kind and op is none. */
static void require_fields(struct nocap_event *e)
{
    for (const char *problem; (problem = nocap_event_problem(e)) != NULL;) {
        unsigned f = 0;
        const char *missing = strstr(problem, "\" is missing");
        size_t length = missing == NULL ? 0 : (size_t)(missing - problem - 1);
        while (f < NOCAP_FIELD_COUNT && (length == 0 || strlen(nocap_fields[f].key) != length ||
                                         memcmp(nocap_fields[f].key, problem + 1, length) != 0 ||
                                         (nocap_fields[f].kinds >> e->kind & 1) == 0)) {
            f++;
        }
        if (f == NOCAP_FIELD_COUNT || (e->has >> f & 1) != 0) {
            return;
        }
        e->has |= UINT64_C(1) << f;
    }
}

static void make_event(struct nocap_event *e, struct input *in)
{
    static const uint8_t bytes[16] = {0, 0, 0, 0x80, 1, 2, 3, 0xFF};
    memset(e, 0, sizeof *e);
    e->kind = take(in) % NOCAP_EV_COUNT;
    e->op = take(in) % NOCAP_OP_COUNT;
    e->data = bytes;
    require_fields(e);
    for (unsigned i = 0; i < 2; i++) {
        unsigned field = take(in) % (2 * NOCAP_FIELD_COUNT);
        e->has |= field < NOCAP_FIELD_COUNT ? UINT64_C(1) << field : 0;
    }
    e->has &= nocap_kind_fields((enum nocap_kind)e->kind);
    for (unsigned f = 0; f < NOCAP_FIELD_COUNT; f++) {
        if ((e->has >> f & 1) != 0 && nocap_fields[f].home != NOCAP_HOME_PAYLOAD) {
            nocap_event_set_number(e, (enum nocap_field)f, number(in));
        } else if ((e->has >> f & 1) != 0) {
            e->data_size = take(in) % (sizeof bytes + 1);
        }
    }
    uint8_t where = take(in); /* often a worker tile */
    if ((e->has & NOCAP_F_AT) != 0 && where % 4 != 0) {
        e->at = (struct nocap_xy){1, (uint8_t)(2 + where / 4 % 2)};
    }
    e->src = take(in) % 3;
}

static void make_header(struct nocap_header *header, uint8_t way)
{
    nocap_header_init(header);
    header->arch = (enum nocap_arch)(way % NOCAP_ARCH_COUNT);
    header->board = (enum nocap_board)(way / 4 % NOCAP_BOARD_COUNT);
    header->has_observes = true;
    header->observes = (1 << NOCAP_CLASS_COUNT) - 1;
    header->complete = way >= 128 ? NOCAP_TRUE : NOCAP_ABSENT;
    header->cq.present = (way & 64) != 0;
}

static int make_trace(struct input *in)
{
    int fd = memfd_create("events", 0);
    struct nocap_writer *writer;
    struct nocap_header header;
    struct nocap_error err;
    struct nocap_event e;
    require(fd >= 0);
    make_header(&header, take(in));
    require(nocap_writer_open_fd(&writer, fd, &header, NULL, &err) == NOCAP_OK);
    for (uint64_t i = 0; in->at < in->end && i < EVENTS_MAX; i++) {
        make_event(&e, in);
        e.t = i;
        require(nocap_writer_add(writer, &e, &err) == NOCAP_OK);
    }
    require(nocap_writer_close(writer, NULL, &err) == NOCAP_OK);
    nocap_header_free(&header);
    return fd;
}

/* What the trace amounts to: the file's own words are counted with. */
static void count(const char *path, FILE *out)
{
    struct nocap_reader *reader;
    struct nocap_requests *requests;
    struct nocap_info info;
    struct nocap_error err;
    const struct nocap_info_file file = {.path = path};
    struct nocap_noc_stats *noc = nocap_noc_stats_new();
    require(nocap_reader_open(&reader, path, &err) == NOCAP_OK);
    require(nocap_requests_new(&requests, nocap_reader_header(reader), noc, &err) == NOCAP_OK);
    require(nocap_info_collect(&info, nocap_requests_feed, requests, reader, &err) == NOCAP_OK);
    nocap_info_print_text(out, &info, &file, reader, noc);
    nocap_requests_free(requests);
    nocap_noc_stats_free(noc);
    nocap_info_free(&info);
    nocap_reader_close(reader);
}

static enum nocap_status put(void *out, const char *text, size_t size, struct nocap_error *err)
{
    (void)err;
    require(fwrite(text, 1, size, out) == size);
    return NOCAP_OK;
}

/* Every form in which events are printed. */
static void print(const char *path, FILE *out)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    for (int format = 0; format < 3; format++) {
        const struct nocap_dump_options options = {.size = sizeof options,
                                                   .format = (enum nocap_dump_format)format};
        require(nocap_reader_open(&reader, path, &err) == NOCAP_OK);
        require(nocap_dump(reader, &options, put, out, &err) == NOCAP_OK);
        nocap_reader_close(reader);
    }
}

static void judge(const char *path, FILE *out)
{
    struct nocap_report *report;
    struct nocap_hang *hang;
    struct nocap_diff *diff;
    struct nocap_error err;
    require(nocap_check(&report, path, NULL, &err) == NOCAP_OK);
    require(nocap_report_json(out, report, &err) == NOCAP_OK);
    nocap_report_free(report);
    require(nocap_hang(&hang, path, NULL, &err) == NOCAP_OK);
    require(nocap_hang_text(out, hang, false, &err) == NOCAP_OK);
    nocap_hang_free(hang);
    require(nocap_diff(&diff, path, path, NULL, &err) == NOCAP_OK);
    require(diff->count == 0);
    nocap_diff_free(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *out;
    struct input in = {data, data + size};
    char path[64];
    if (out == NULL) {
        require((out = fopen("/dev/null", "w")) != NULL);
    }
    int fd = make_trace(&in);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    judge(path, out);
    count(path, out);
    print(path, out);
    close(fd);
    return 0;
}
