/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in JSON: any bytes are refused with a message, or make a profile that its own JSON makes
 * again, and by which any bytes can be decoded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void use(const struct nocap_profile *p, const uint8_t *data, size_t size)
{
    char text[NOCAP_CQ_TEXT_MAX], name[64];
    nocap_cq_text(&p->commands, NOCAP_CQ_PREFETCH, data, size, text, sizeof text);
    nocap_cq_text(&p->commands, NOCAP_CQ_DISPATCH, data, size, text, sizeof text);
    for (uint32_t at = 0; at < 0x620; at += 4) {
        nocap_mailbox_field_name(&p->mailbox, at, 4, name, sizeof name);
    }
    uint8_t message[NOCAP_LAUNCH_SIZE_MAX] = {0};
    struct nocap_launch launch;
    nocap_launch_decode(&p->mailbox, message, &launch);
    nocap_launch_encode(&p->mailbox, &launch, message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nocap_profile p, back;
    struct nocap_error err = {{0}};
    char *json = malloc(size + 1), *text;
    require(json != NULL);
    memcpy(json, data, size);
    json[size] = '\0';
    if (nocap_profile_read(&p, json, &err) != NOCAP_OK) {
        require(err.text[0] != '\0');
    } else {
        struct nocap_profile_value a, b;
        require(nocap_profile_text(&text, &p, &err) == NOCAP_OK);
        require(nocap_profile_read(&back, text, &err) == NOCAP_OK);
        free(text);
        for (size_t i = 0; nocap_profile_value(&p, i, &a); i++) {
            require(nocap_profile_value(&back, i, &b) && strcmp(a.value, b.value) == 0);
        }
        use(&p, data, size);
    }
    free(json);
    return 0;
}
