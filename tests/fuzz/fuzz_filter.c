/* SPDX-License-Identifier: Apache-2.0 */
/* Filter expressions: the first part of the input is compiled, the rest are events that it is run
 * on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct nocap_event event_from(const uint8_t *data, size_t size)
{
    struct nocap_event event = {.data = data, .data_size = (uint32_t)size};
    uint64_t numbers[2] = {0};
    memcpy(numbers, data, size < sizeof numbers ? size : sizeof numbers);
    event.kind = (uint8_t)(numbers[0] % NOCAP_EV_COUNT);
    event.has = numbers[1];
    event.t = numbers[0];
    memset(event.slot, size > 0 ? data[0] : 0, sizeof event.slot);
    return event;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nocap_filter *filter = NULL;
    struct nocap_error err = {{0}};
    char *expression = malloc(size + 1);
    if (expression == NULL) {
        return 0;
    }
    memcpy(expression, data, size);
    expression[size] = '\0';
    size_t used = strlen(expression);
    enum nocap_status status = nocap_filter_compile(&filter, expression, &err);
    if (status == NOCAP_OK) {
        struct nocap_event event = event_from(data + used, size - used);
        nocap_filter_match(filter, &event);
        nocap_filter_free(filter);
    } else if (filter != NULL || err.text[0] == '\0' ||
               memchr(err.text, '\0', sizeof err.text) == NULL) {
        abort(); /* a refusal without a reason */
    }
    free(expression);
    return 0;
}
