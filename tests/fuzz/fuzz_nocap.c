/* SPDX-License-Identifier: Apache-2.0 */
/* The .nocap reader on any bytes: it ends, within its bounds, and every event that it hands out can
 * be printed. The lowest bit of the first byte chooses: the rest is a file, or the contents of its
 * frames (frames.h). The bits above it choose how the file is read. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/trace/jsonl.h"
#include "formats/trace/trace.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_some(struct nocap_reader *reader, struct nocap_text *text)
{
    const struct nocap_event *events;
    size_t count;
    struct nocap_error err;
    uint64_t total = 0, last = 0;
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK && total < 1 << 16) {
        for (size_t i = 0; i < count; i++) {
            if (total + i > 0 && events[i].index <= last) {
                abort(); /* indexes only grow */
            }
            last = events[i].index;
            text->size = 0;
            if (nocap_jsonl_print_event(text, &events[i], &err) != NOCAP_OK) {
                abort();
            }
        }
        total += count;
    }
    return total;
}

static void read_all(struct nocap_reader *reader)
{
    struct nocap_error err;
    struct nocap_text text = {0};
    uint64_t total = read_some(reader, &text);
    if (nocap_reader_seek_index(reader, total / 2, &err) != NOCAP_OK ||
        nocap_reader_seek_time(reader, total, &err) != NOCAP_OK) {
        abort();
    }
    read_some(reader, &text);
    free(text.data);
    nocap_reader_close(reader);
}

/* Through a pipe, whose content the reader has to keep; what does not fit into one is left out. */
static void read_pipe(const uint8_t *file, size_t size)
{
    struct nocap_reader *reader;
    char path[32];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 || (size > 0 && write(ends[1], file, size) <= 0)) {
        abort();
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    if (nocap_reader_open(&reader, path, NULL) == NOCAP_OK) {
        read_all(reader);
    }
    close(ends[0]);
}

/* As a file that has its last quarter only when the rest was read, and is cut when all was. */
static void read_growing(const uint8_t *file, size_t size)
{
    struct nocap_reader *reader;
    struct nocap_text text = {0};
    char path[32];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    size_t first = size - size / 4;
    if (fd < 0 || write(fd, file, first) != (ssize_t)first) {
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nocap_reader_open(&reader, path, NULL) == NOCAP_OK) {
        nocap_reader_limit(reader, first);
        read_some(reader, &text);
        if (write(fd, file + first, size - first) != (ssize_t)(size - first)) {
            abort();
        }
        nocap_reader_limit(reader, size);
        read_some(reader, &text);
        if (ftruncate(fd, (off_t)(size / 4)) != 0) {
            abort();
        }
        (void)nocap_reader_seek_index(reader, 0, NULL);
        read_some(reader, &text);
        nocap_reader_close(reader);
    }
    free(text.data);
    close(fd);
}

static void read_memory(const uint8_t *file, size_t size)
{
    struct nocap_reader *reader;
    if (nocap_reader_open_memory(&reader, file, size, NULL) == NOCAP_OK) {
        read_all(reader);
    }
}

/* The bytes are no matter: a folder, what is not there, and a standard input that cannot be read
 * are refused. */
static void read_no_file(const uint8_t *file, size_t size)
{
    static const char *const paths[] = {"/", "/proc/self/fd/none", "-"};
    struct nocap_reader *reader;
    int ends[2], before = dup(STDIN_FILENO);
    (void)file, (void)size;
    if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[1], STDIN_FILENO) < 0) {
        abort();
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct nocap_error err = {""};
        if (nocap_reader_open(&reader, paths[i], &err) != NOCAP_E_INPUT || err.text[0] == '\0') {
            abort();
        }
    }
    (void)dup2(before, STDIN_FILENO); /* unless it was closed before */
    close(before);
    close(ends[0]);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const ways[])(const uint8_t *file, size_t size) = {read_memory, read_pipe,
                                                                     read_growing, read_no_file};
    uint8_t file[1 << 17];
    if (size == 0) {
        return 0;
    }
    unsigned way = data[0] / 2 % 4;
    if (data[0] % 2 == 0) {
        ways[way](data + 1, size - 1);
    } else {
        ways[way](file, frames_compress(file, sizeof file, data + 1, size - 1));
    }
    return 0;
}
