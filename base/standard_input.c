/* SPDX-License-Identifier: Apache-2.0 */
#include "base/standard_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { START = 64 << 10 };

bool standard_input_is(const char *path)
{
    return strcmp(path, "-") == 0;
}

static enum nocap_status read_on(uint8_t **bytes, size_t *size, struct nocap_error *err)
{
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = capacity == 0 ? START : 2 * capacity;
            uint8_t *more = realloc(*bytes, capacity);
            RETURN_ERROR_IF(more == NULL, err, NOCAP_E_MEMORY, "out of memory");
            *bytes = more;
        }
        ssize_t n = read(STDIN_FILENO, *bytes + *size, capacity - *size);
        RETURN_ERROR_IF(n < 0 && errno != EINTR, err, NOCAP_E_INPUT,
                        "cannot read " STANDARD_INPUT_NAME ": %s", strerror(errno));
        if (n == 0) {
            return NOCAP_OK;
        }
        *size += n > 0 ? (size_t)n : 0;
        RETURN_ERROR_IF(*size > STANDARD_INPUT_MAX, err, NOCAP_E_INPUT,
                        STANDARD_INPUT_NAME " holds more than %d bytes", STANDARD_INPUT_MAX);
    }
}

enum nocap_status standard_input_read(uint8_t **bytes, size_t *size, struct nocap_error *err)
{
    *bytes = NULL;
    *size = 0;
    enum nocap_status status = read_on(bytes, size, err);
    if (status != NOCAP_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}
