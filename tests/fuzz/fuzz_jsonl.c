/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines from any bytes: no crash, and what is printed of them says the same and prints the
 * same again. */
#include <stddef.h>
#include <stdint.h>

#include "tests/jsonl_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Compressed input may unpack to a lot; what is far beyond a fuzzer's input says nothing new. */
enum { EVENTS_MAX = 100000, TEXT_MAX = 4 << 20 };

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

/* Events in step with what was printed of them; as many as were printed. */
static void compare(const uint8_t *data, size_t size, const struct nocap_text *text, size_t count)
{
    struct stream first, second;
    struct nocap_event a, b;
    require(stream_open(&first, data, size) == NOCAP_OK);
    require(stream_open(&second, text->data, text->size) == NOCAP_OK);
    for (size_t i = 0; i < count; i++) {
        require(stream_next(&first, &a) == NOCAP_OK);
        require(stream_next(&second, &b) == NOCAP_OK);
        require(events_say_the_same(&a, &b));
    }
    require(stream_next(&second, &b) == NOCAP_END);
    stream_close(&first);
    stream_close(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream stream;
    struct nocap_text once = {0}, twice = {0};
    struct nocap_event event;
    size_t count = 0;
    if (size == 0) {
        return 0;
    }
    enum nocap_status status = stream_open(&stream, data, size);
    if (status != NOCAP_OK) {
        require(stream.reader == NULL && stream.err.text[0] != '\0');
        stream_close(&stream);
        return 0;
    }
    require(nocap_jsonl_print_header(&once, nocap_jsonl_header(stream.reader), NULL) == NOCAP_OK);
    while (count < EVENTS_MAX && once.size < TEXT_MAX &&
           (status = stream_next(&stream, &event)) == NOCAP_OK) {
        require(event.index == count++);
        require(nocap_jsonl_print_event(&once, &event, NULL) == NOCAP_OK);
    }
    require(status != NOCAP_E_INPUT || stream.err.text[0] != '\0');
    stream_close(&stream);
    compare(data, size, &once, count);
    require(stream_open(&stream, once.data, once.size) == NOCAP_OK);
    require(stream_print(&stream, &twice) == NOCAP_END);
    stream_close(&stream);
    require(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
    free(once.data);
    free(twice.data);
    return 0;
}
