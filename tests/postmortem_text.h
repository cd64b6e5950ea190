/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: what is left of AIE control code that hung, from texts that the test has. */
#ifndef NOCAP_TESTS_POSTMORTEM_TEXT_H
#define NOCAP_TESTS_POSTMORTEM_TEXT_H

#include "tests/temp_dir.h"

#include "formats/aie/postmortem.h"

static struct nocap_aie_postmortem postmortem;

static int fresh(void **state)
{
    (void)state;
    nocap_aie_postmortem_clear(&postmortem);
    return 0;
}

static enum nocap_status read_text(const char *text, uint32_t column, struct nocap_error *err)
{
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    enum nocap_status status = nocap_aie_postmortem_read(&postmortem, stream, "log", column, err);
    fclose(stream);
    return status;
}

#endif
