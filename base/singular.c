/* SPDX-License-Identifier: Apache-2.0 */
#include "base/singular.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

struct form {
    const char *many, *one; /* no longer than `many` */
};
static const struct form counted[] = {
    {"blocks", "block"},
    {"bytes", "byte"},
    {"commands", "command"},
    {"cores", "core"},
    {"free pages", "free page"},
    {"go messages", "go message"},
    {"jobs", "job"},
    {"launches", "launch"},
    {"messages", "message"},
    {"notifications", "notification"},
    {"notifies", "notify"},
    {"pages", "page"},
    {"polls", "poll"},
    {"requests", "request"},
    {"stores", "store"},
    {"tokens", "token"},
    {"words", "word"},
    {NULL, NULL},
};
static const struct form verbs[] = {
    {"are", "is"},
    {"have", "has"},
    {"were", "was"},
    {NULL, NULL},
};

/* Where `text` begins with one of the forms. What follows it, NULL: it does not. */
static char *make_single(char *text, const struct form *form)
{
    for (; form->many != NULL; form++) {
        size_t many = strlen(form->many), one = strlen(form->one);
        if (strncmp(text, form->many, many) == 0 && !isalnum((unsigned char)text[many])) {
            memcpy(text, form->one, one);
            memmove(text + one, text + many, strlen(text + many) + 1);
            return text + one;
        }
    }
    return NULL;
}

/* "pages that were made ready" */
static void make_phrase_single(char *text)
{
    static const char that[] = " that";
    char *verb = make_single(text, counted);
    if (verb != NULL && strncmp(verb, that, sizeof that - 1) == 0) {
        verb += sizeof that - 1;
    }
    if (verb != NULL && *verb == ' ') {
        (void)make_single(verb + 1, verbs);
    }
}

void text_singular(char *text)
{
    for (char *at = text; (at = strstr(at, "1 ")) != NULL; at += 2) {
        if (at == text || at[-1] == ' ' || at[-1] == '(') {
            make_phrase_single(at + 2);
        }
    }
}
