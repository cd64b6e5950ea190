/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/profile_option.h"

#include <stdlib.h>

#include "formats/profile/profile.h"

int cli_profile_json(const struct cli_call *call, const char *name, char **json)
{
    struct nocap_error err = {{0}};
    struct nocap_profile profile;
    *json = NULL;
    if (name == NULL) {
        return CLI_EXIT_OK;
    }
    enum nocap_status status = nocap_profile_load(&profile, name, &err);
    if (status == NOCAP_OK) {
        status = nocap_profile_text(json, &profile, &err);
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}

int cli_profile_set(const struct cli_call *call, const char *name, struct nocap_reader *reader)
{
    struct nocap_error err = {{0}};
    char *json;
    int result = cli_profile_json(call, name, &json);
    if (json == NULL) {
        return result;
    }
    enum nocap_status status =
        nocap_header_replace_profile(nocap_reader_own_header(reader), json, &err);
    free(json);
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}
