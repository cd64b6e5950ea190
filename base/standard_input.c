/* SPDX-License-Identifier: Apache-2.0 */
#include "base/standard_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { START = 64 << 10 };

bool standard_input_is(const char *path)
{
    return strcmp(path, "-") == 0;
}

static enum nocap_status read_on(int fd, const char *name, size_t max, uint8_t **bytes,
                                 size_t *size, struct nocap_error *err)
{
    size_t capacity = 0;
    for (;;) {
        if (*size + 1 >= capacity) {
            capacity = capacity == 0 ? START : 2 * capacity;
            uint8_t *more = realloc(*bytes, capacity);
            RETURN_ERROR_IF(more == NULL, err, NOCAP_E_MEMORY, "out of memory");
            *bytes = more;
        }
        ssize_t n = read(fd, *bytes + *size, capacity - 1 - *size);
        RETURN_ERROR_IF(n < 0 && errno != EINTR, err, NOCAP_E_INPUT, "cannot read %s: %s", name,
                        strerror(errno));
        if (n == 0) {
            (*bytes)[*size] = 0;
            return NOCAP_OK;
        }
        *size += n > 0 ? (size_t)n : 0;
        RETURN_ERROR_IF(*size > max, err, NOCAP_E_INPUT,
                        "cannot read %s: it holds more than %zu bytes", name, max);
    }
}

enum nocap_status whole_input_read(uint8_t **bytes, size_t *size, const char *path, size_t max,
                                   struct nocap_error *err)
{
    bool own = !standard_input_is(path);
    const char *name = own ? path : STANDARD_INPUT_NAME;
    int fd = own ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    *bytes = NULL;
    *size = 0;
    RETURN_ERROR_IF(fd < 0, err, NOCAP_E_INPUT, "cannot read %s: %s", name, strerror(errno));
    enum nocap_status status = read_on(fd, name, max, bytes, size, err);
    if (own) {
        close(fd);
    }
    if (status != NOCAP_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

enum nocap_status standard_input_read(uint8_t **bytes, size_t *size, struct nocap_error *err)
{
    return whole_input_read(bytes, size, "-", STANDARD_INPUT_MAX, err);
}
