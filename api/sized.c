/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/api.h"

static bool is_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

enum nocap_status api_take(void *to, size_t size, const void *from, const char *name,
                           struct nocap_error *err)
{
    memset(to, 0, size);
    if (from == NULL) {
        return NOCAP_OK;
    }
    size_t given;
    memcpy(&given, from, sizeof given);
    RETURN_ERROR_IF(given < sizeof given, err, NOCAP_E_USAGE,
                    "struct %s does not say its size: set it to sizeof(struct %s)", name, name);
    RETURN_ERROR_IF(given > size && !is_zero((const char *)from + size, given - size), err,
                    NOCAP_E_USAGE,
                    "struct %s has members that this library, version %s, does not know", name,
                    nocap_version());
    memcpy(to, from, given < size ? given : size);
    return NOCAP_OK;
}

enum nocap_status api_give(void *to, const void *from, size_t size)
{
    size_t given;
    memcpy(&given, to, sizeof given);
    if (given < sizeof given) {
        return NOCAP_E_USAGE;
    }
    size_t known = given < size ? given : size;
    memcpy((char *)to + sizeof given, (const char *)from + sizeof given, known - sizeof given);
    memset((char *)to + known, 0, given - known);
    return NOCAP_OK;
}

const struct nocap_event *api_event(struct nocap_event *room, const struct nocap_event *from)
{
    if (from->struct_size == sizeof *room) {
        return from;
    }
    return api_take(room, sizeof *room, from, "nocap_event", NULL) == NOCAP_OK ? room : NULL;
}

int api_line(char *to, size_t size, const char *text, size_t length)
{
    length -= length > 0 && text[length - 1] == '\n';
    if (size > 0) {
        size_t put = length < size ? length : size - 1;
        memcpy(to, text, put);
        to[put] = '\0';
    }
    return (int)length;
}
