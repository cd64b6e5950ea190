/* SPDX-License-Identifier: Apache-2.0 */
#include "base/singular.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *many, *one;
} counted[] = {
    {"blocks", "block"}, {"bytes", "byte"},      {"commands", "command"}, {"cores", "core"},
    {"jobs", "job"},     {"launches", "launch"}, {"messages", "message"}, {"notifies", "notify"},
    {"pages", "page"},   {"polls", "poll"},      {"requests", "request"}, {"stores", "store"},
    {"tokens", "token"}, {"words", "word"},
};

/* `text` begins with what may be counted. */
static void make_single(char *text)
{
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        size_t many = strlen(counted[i].many), one = strlen(counted[i].one);
        if (strncmp(text, counted[i].many, many) == 0 && !isalnum((unsigned char)text[many])) {
            memcpy(text, counted[i].one, one);
            memmove(text + one, text + many, strlen(text + many) + 1);
            return;
        }
    }
}

void text_singular(char *text)
{
    for (char *at = text; (at = strstr(at, "1 ")) != NULL; at += 2) {
        if (at == text || at[-1] == ' ' || at[-1] == '(') {
            make_single(at + 2);
        }
    }
}
