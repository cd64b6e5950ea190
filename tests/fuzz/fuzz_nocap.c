/* The .nocap reader on any bytes: it ends, within its bounds, and every event that it hands out can
 * be printed. The first byte chooses: the rest is a file, or the contents of the frames, which are
 * then compressed, so that the fuzzer gets past the checksums. */
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "formats/trace/jsonl.h"
#include "formats/trace/trace.h"

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

static void read_all(const uint8_t *data, size_t size)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    if (nocap_reader_open_memory(&reader, data, size, &err) != NOCAP_OK) {
        return;
    }
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

/* Frames as two bytes of length, then the content. */
static void read_frames(const uint8_t *data, size_t size)
{
    uint8_t file[1 << 17];
    size_t used = 0;
    while (size >= 2) {
        size_t n = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        n = n < size ? n : size;
        if (used + ZSTD_compressBound(n) > sizeof file) {
            break;
        }
        used += ZSTD_compress(file + used, sizeof file - used, data, n, 1);
        data += n;
        size -= n;
    }
    read_all(file, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        read_all(data + 1, size - 1);
    } else {
        read_frames(data + 1, size - 1);
    }
    return 0;
}
