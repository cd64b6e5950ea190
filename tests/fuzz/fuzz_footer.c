/* SPDX-License-Identifier: Apache-2.0 */
/* Footers that say what is not so: the input changes that of a sound trace. Whatever it says, an
 * index that is sought is found, a time that is sought is found or the lie is reported, where times
 * are in order, and who reads all reads all. Three bytes a change: what, of which block, to what.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/trace/trace.h"
#include "tests/footer_lie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS = 96, BLOCK = 12, CHANGE = 3 };

struct input {
    const uint8_t *data;
    size_t size;
};

/* Times as they were written: those of the first trace only grow. */
static uint64_t time_of(uint64_t i, bool ordered)
{
    return ordered || i % 7 != 0 ? 2 * i : i;
}

static void change(Nocap__Footer *footer, const void *context)
{
    const struct input *in = context;
    for (size_t i = 0; i + CHANGE <= in->size; i += CHANGE) {
        size_t block = in->data[i + 1] % footer->blocks;
        uint8_t v = in->data[i + 2];
        switch (in->data[i] % 7) {
        case 0: footer->block_events[block] = v; break;
        case 1: footer->block_first_time[block] = v; break;
        case 2: footer->block_last_time[block] = v; break;
        case 3: footer->time_ordered = v % 2; break;
        case 4: footer->events = v; break;
        case 5: footer->block_events[block] += v; break;
        default: footer->block_events[block] = UINT32_MAX - v; break;
        }
    }
}

static uint8_t *make(bool ordered, size_t *size)
{
    const struct nocap_writer_options options = {.size = sizeof options, .block_events = BLOCK};
    struct nocap_header header;
    struct nocap_writer *writer;
    struct nocap_error err;
    int fd = memfd_create("footer", 0);
    nocap_header_init(&header);
    lie_require(fd >= 0 && nocap_writer_open_fd(&writer, fd, &header, &options, &err) == NOCAP_OK);
    for (uint64_t i = 0; i < EVENTS; i++) {
        const struct nocap_event e = {
            .kind = NOCAP_EV_DROP, .has = NOCAP_F_DROPPED, .value = i, .t = time_of(i, ordered)};
        lie_require(nocap_writer_add(writer, &e, &err) == NOCAP_OK);
    }
    lie_require(nocap_writer_close(writer, NULL, &err) == NOCAP_OK);
    *size = (size_t)lseek(fd, 0, SEEK_END);
    uint8_t *bytes = malloc(*size);
    lie_require(bytes != NULL && pread(fd, bytes, *size, 0) == (ssize_t)*size);
    close(fd);
    return bytes;
}

/* How many events come, and of these those of time `t` or later. */
static uint64_t count(struct nocap_reader *reader, uint64_t t, uint64_t *late)
{
    const struct nocap_event *events;
    struct nocap_error err;
    uint64_t total = 0;
    *late = 0;
    for (size_t n; nocap_reader_next(reader, &events, &n, &err) == NOCAP_OK; total += n) {
        for (size_t i = 0; i < n; i++) {
            lie_require(events[i].value == events[i].index);
            *late += events[i].t >= t;
        }
    }
    return total;
}

static struct nocap_reader *open_bytes(const uint8_t *bytes, size_t size)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    lie_require(nocap_reader_open_memory(&reader, bytes, size, &err) == NOCAP_OK);
    return reader;
}

/* Each by a reader that has not found the footer out yet. */
static void seek_everything(const uint8_t *bytes, size_t size, bool ordered)
{
    struct nocap_error err;
    uint64_t late;
    for (uint64_t i = 0; i < EVENTS; i += 5) {
        struct nocap_reader *reader = open_bytes(bytes, size);
        lie_require(nocap_reader_seek_index(reader, i, &err) == NOCAP_OK);
        lie_require(count(reader, 0, &late) == EVENTS - i);
        nocap_reader_close(reader);
    }
    for (uint64_t t = 0; ordered && t < 2 * EVENTS + 2; t += 9) {
        struct nocap_reader *reader = open_bytes(bytes, size);
        lie_require(nocap_reader_seek_time(reader, t, &err) == NOCAP_OK);
        count(reader, t, &late);
        lie_require(late == (t < 2 * EVENTS ? EVENTS - (t + 1) / 2 : 0) ||
                    nocap_reader_integrity(reader)->count != 0);
        nocap_reader_close(reader);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    bool ordered = data[0] % 2 == 0;
    const struct input in = {data + 1, size - 1};
    size_t old, told;
    uint64_t late;
    uint8_t *bytes = make(ordered, &old), *lied = lie_told(bytes, old, change, &in, &told);
    struct nocap_reader *reader = open_bytes(lied, told);
    lie_require(count(reader, 0, &late) == EVENTS);
    nocap_reader_close(reader);
    seek_everything(lied, told, ordered);
    free(bytes);
    free(lied);
    return 0;
}
