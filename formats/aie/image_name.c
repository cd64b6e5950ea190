/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the sections that hold pages. */
#include <ctype.h>
#include <string.h>

#include "formats/aie/image_private.h"

bool aie_image_take_number(const char **text, uint32_t *number)
{
    enum { DIGITS_MAX = 9 };
    const char *p = *text;
    unsigned digits = 0;
    *number = 0;
    if (*p++ != '.') {
        return false;
    }
    while (isdigit((unsigned char)*p) && digits < DIGITS_MAX) {
        *number = *number * 10 + (uint32_t)(*p++ - '0');
        digits++;
    }
    *text = p;
    return digits != 0;
}

bool aie_image_page_name(const char *name, bool merged, struct aie_page_name *page)
{
    static const char text[] = ".ctrltext", data[] = ".ctrldata";
    *page = (struct aie_page_name){.text = strncmp(name, text, sizeof text - 1) == 0};
    if (!page->text && strncmp(name, data, sizeof data - 1) != 0) {
        return false;
    }
    name += sizeof text - 1;
    if (!aie_image_take_number(&name, &page->uc) ||
        !(merged || aie_image_take_number(&name, &page->index))) {
        return false;
    }
    page->grouped = *name != 0;
    return !page->grouped || (aie_image_take_number(&name, &page->group) && *name == 0);
}
