#include "checker/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character that begins here; 0 if it is none, or one that steers a terminal. */
static size_t character(const unsigned char *s)
{
    if (s[0] < 0x80) {
        return s[0] >= 0x20 && s[0] != 0x7f;
    }
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4) {
        return 0;
    }
    uint32_t code = s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    bool steers = code < 0xa0;
    return code < least[length] || code > 0x10ffff || surrogate || steers ? 0 : length;
}

char *nocap_text_clean(const char *text)
{
    char *copy = strdup(text);
    for (unsigned char *s = (unsigned char *)copy; s != NULL && *s != 0;) {
        size_t length = character(s);
        if (length == 0) {
            *s = '?';
            length = 1;
        }
        s += length;
    }
    return copy;
}

void nocap_text_list(char *text, size_t size, const char *item, size_t i, size_t count,
                     const char *last)
{
    size_t used = strlen(text);
    bool first = i == 0, ends = i + 1 == count;
    snprintf(text + used, size - used, "%s%s%s%s",
             first  ? ""
             : ends ? " "
                    : ", ",
             first || !ends ? "" : last, first || !ends ? "" : " ", item);
}
