/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unpack.h"
#include "formats/trace/trace.h"

enum {
    AHEAD_SIZE =
        256 << 10, /* more than a zstd block takes, so that the beginning can be decompressed */
    STREAM_BUFFER = 256 << 10,
    LOOK_SIZE = 64, /* decompressed bytes that tell the form */
};

struct nocap_input {
    int fd;
    bool owns_fd, is_file, at_end;
    const char *name;
    uint64_t total, bytes_read;
    struct nocap_import_options options;
    struct unpack packed;        /* not open: the bytes are handed out as they stand */
    size_t ahead_size, ahead_at; /* what was looked at and not yet read */
    uint8_t ahead[AHEAD_SIZE];
};

enum nocap_status nocap_input_open(struct nocap_input **input, const char *path,
                                   const struct nocap_import_options *options,
                                   struct nocap_error *err)
{
    struct stat st;
    bool is_stdin = strcmp(path, "-") == 0;
    struct nocap_input *in = malloc(sizeof *in);
    RETURN_ERROR_IF(in == NULL, err, NOCAP_E_MEMORY, "out of memory");
    memset(in, 0, offsetof(struct nocap_input, ahead));
    in->name = is_stdin ? "standard input" : path;
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    in->owns_fd = !is_stdin;
    if (options != NULL) {
        in->options = *options;
    }
    enum nocap_status status = NOCAP_OK;
    if (in->fd < 0 || fstat(in->fd, &st) != 0) {
        status = nocap_fail(err, NOCAP_E_INPUT, "cannot read %s: %s", in->name, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        status = nocap_fail(err, NOCAP_E_INPUT,
                            "cannot read %s: it is a directory; name a trace in it", in->name);
    } else if (S_ISREG(st.st_mode)) {
        in->is_file = true;
        in->total = (uint64_t)st.st_size;
    }
    if (status != NOCAP_OK) {
        nocap_input_close(in);
        return status;
    }
    *input = in;
    return NOCAP_OK;
}

void nocap_input_close(struct nocap_input *in)
{
    if (in == NULL) {
        return;
    }
    if (in->owns_fd && in->fd >= 0) {
        close(in->fd);
    }
    unpack_close(&in->packed);
    free(in);
}

enum nocap_status nocap_import_end(struct nocap_writer *writer, enum nocap_status status,
                                   struct nocap_import_result *result, struct nocap_error *err)
{
    struct nocap_trace_totals totals;
    if (status != NOCAP_OK) {
        nocap_writer_abandon(writer);
        return status;
    }
    RETURN_IF_FAILED(nocap_writer_close(writer, &totals, err));
    result->events = totals.events;
    result->bytes_out = totals.bytes;
    return NOCAP_OK;
}

const char *nocap_input_name(const struct nocap_input *in)
{
    return in->name;
}

bool nocap_input_is_file(const struct nocap_input *in)
{
    return in->is_file;
}

bool nocap_input_is_trace(const struct nocap_input *in)
{
    struct nocap_reader *reader;
    if (!in->is_file || nocap_reader_open(&reader, in->name, NULL) != NOCAP_OK) {
        return false;
    }
    nocap_reader_close(reader);
    return true;
}

uint64_t nocap_input_bytes(const struct nocap_input *in)
{
    return in->bytes_read;
}

static ssize_t read_some(struct nocap_input *in, void *to, size_t size)
{
    ssize_t n;
    do {
        n = read(in->fd, to, size);
    } while (n < 0 && errno == EINTR);
    in->at_end |= n == 0;
    return n;
}

static bool is_compressed(const struct nocap_input *in)
{
    return unpack_begins(in->ahead, in->ahead_size);
}

static enum nocap_status read_ahead(struct nocap_input *in, struct nocap_error *err)
{
    ssize_t n = read_some(in, in->ahead + in->ahead_size, AHEAD_SIZE - in->ahead_size);
    RETURN_ERROR_IF(n < 0, err, NOCAP_E_INPUT, "cannot read %s: %s", in->name, strerror(errno));
    in->ahead_size += (size_t)n;
    return NOCAP_OK;
}

static ssize_t nothing_more(void *context, void *to, size_t size)
{
    (void)context, (void)to, (void)size;
    return 0;
}

/* The decompressed beginning of what lies ahead; false if more bytes are needed to have it. */
static bool look(const struct nocap_input *in, char *text, size_t *size)
{
    struct unpack packed;
    if (!is_compressed(in)) {
        *size = in->ahead_size < LOOK_SIZE ? in->ahead_size : LOOK_SIZE;
        memcpy(text, in->ahead, *size);
        return *size == LOOK_SIZE;
    }
    if (!unpack_open(&packed, in->ahead, in->ahead_size, nothing_more, NULL)) {
        return true; /* nothing is reported; whoever reads on will fail */
    }
    ssize_t n = 1;
    while (n > 0 && *size < LOOK_SIZE) {
        n = unpack_read(&packed, text + *size, LOOK_SIZE - *size);
        *size += n > 0 ? (size_t)n : 0;
    }
    bool bad = n < 0 && !packed.cut;
    unpack_close(&packed);
    return *size > 0 || bad;
}

static size_t skip_space(const char *text, size_t size, size_t at)
{
    while (at < size && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0') {
        at++;
    }
    return at;
}

/* "At 0.000s starting", or the first line of a log whose beginning is lost. */
static bool is_watcher(const char *text, size_t size)
{
    static const char *const words[] = {"At ", "Dump #", "Device ", "Core (x="};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        bool counts = text[length - 1] != '=';
        if (size > length && memcmp(text, words[i], length) == 0 &&
            (!counts || (text[length] >= '0' && text[length] <= '9'))) {
            return true;
        }
    }
    return false;
}

/* JSON Lines begin with an object; a .nocap file can have neither a quote nor a space after a byte
 * 0x7B there. */
static enum nocap_input_form form_of(const char *text, size_t size)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t at = size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    at = skip_space(text, size, at);
    if (at < size && text[at] == '{') {
        at = skip_space(text, size, at + 1);
        if (at == size || text[at] == '"' || text[at] == '}') {
            return NOCAP_INPUT_JSON_LINES;
        }
    }
    if (size > 0 && text[0] == '[') {
        at = skip_space(text, size, 1);
        if (at == size || text[at] == '{') {
            return NOCAP_INPUT_JSON_LIST;
        }
    }
    return is_watcher(text, size) ? NOCAP_INPUT_WATCHER : NOCAP_INPUT_OTHER;
}

enum nocap_status nocap_input_only_zstd(struct nocap_input *in, struct nocap_error *err)
{
    static const struct {
        const char *magic, *with, *unpack;
    } forms[] = {{"\x1F\x8B", "gzip", "gzip -dc"},
                 {"\xFD"
                  "7zXZ",
                  "xz", "xz -dc"},
                 {"BZh", "bzip2", "bzip2 -dc"},
                 {"PK\x03\x04", "zip", "unzip -p"}};
    while (in->ahead_size < UNPACK_MAGIC && !in->at_end) {
        RETURN_IF_FAILED(read_ahead(in, err));
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t length = strlen(forms[i].magic);
        RETURN_ERROR_IF(in->ahead_size >= length && memcmp(in->ahead, forms[i].magic, length) == 0,
                        err, NOCAP_E_INPUT,
                        "%s is compressed with %s, not with zstd: give what `%s` makes of it",
                        in->name, forms[i].with, forms[i].unpack);
    }
    return NOCAP_OK;
}

enum nocap_status nocap_input_form(struct nocap_input *in, enum nocap_input_form *form,
                                   struct nocap_error *err)
{
    char text[LOOK_SIZE];
    size_t size = 0;
    while (!look(in, text, &size) && !in->at_end && in->ahead_size < AHEAD_SIZE) {
        RETURN_IF_FAILED(read_ahead(in, err));
    }
    RETURN_IF_FAILED(nocap_input_only_zstd(in, err));
    *form = form_of(text, size);
    if (*form == NOCAP_INPUT_OTHER && in->ahead_size < UNPACK_MAGIC) {
        *form = NOCAP_INPUT_SHORT;
    } else if (*form == NOCAP_INPUT_OTHER && is_compressed(in)) {
        *form = NOCAP_INPUT_PACKED;
    }
    return NOCAP_OK;
}

/* -1 with errno set on failure. */
static ssize_t take(void *context, void *to, size_t size)
{
    struct nocap_input *in = context;
    ssize_t n;
    if (in->ahead_at < in->ahead_size) {
        size_t left = in->ahead_size - in->ahead_at;
        size = size < left ? size : left;
        memcpy(to, in->ahead + in->ahead_at, size);
        in->ahead_at += size;
        n = (ssize_t)size;
    } else {
        n = in->at_end ? 0 : read_some(in, to, size);
    }
    if (n > 0) {
        in->bytes_read += (uint64_t)n;
        if (in->options.progress != NULL) {
            in->options.progress(in->options.context, in->bytes_read, in->total);
        }
    }
    return n;
}

enum nocap_status nocap_input_unpack(struct nocap_input *in, struct nocap_error *err)
{
    while (in->ahead_size < UNPACK_MAGIC && !in->at_end) {
        RETURN_IF_FAILED(read_ahead(in, err));
    }
    if (is_compressed(in)) {
        RETURN_ERROR_IF(!unpack_open(&in->packed, NULL, 0, take, in), err, NOCAP_E_MEMORY,
                        "out of memory");
    }
    return NOCAP_OK;
}

static ssize_t hand_out(struct nocap_input *in, void *to, size_t size)
{
    return in->packed.zstd != NULL ? unpack_read(&in->packed, to, size) : take(in, to, size);
}

enum nocap_status nocap_input_failed(const struct nocap_input *in, struct nocap_error *err)
{
    RETURN_ERROR_IF(in->packed.damage != NULL, err, NOCAP_E_INPUT,
                    "%s: the zstd data is damaged: %s", in->name, in->packed.damage);
    return nocap_fail(err, NOCAP_E_INPUT, "cannot read %s: %s", in->name, strerror(errno));
}

enum nocap_status nocap_input_read(struct nocap_input *in, void *to, size_t size, size_t *got,
                                   struct nocap_error *err)
{
    ssize_t n = hand_out(in, to, size);
    if (n < 0) {
        return nocap_input_failed(in, err);
    }
    *got = (size_t)n;
    return NOCAP_OK;
}

static ssize_t stream_read(void *cookie, char *to, size_t size)
{
    return hand_out(cookie, to, size);
}

enum nocap_status nocap_input_stream(struct nocap_input *in, FILE **stream, struct nocap_error *err)
{
    *stream = fopencookie(in, "r", (cookie_io_functions_t){.read = stream_read});
    RETURN_ERROR_IF(*stream == NULL, err, NOCAP_E_MEMORY, "out of memory");
    setvbuf(*stream, NULL, _IOFBF, STREAM_BUFFER);
    return NOCAP_OK;
}
