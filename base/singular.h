/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in sentences: "1 pages were made ready" becomes "1 page was made ready". */
#ifndef NOCAP_BASE_SINGULAR_H
#define NOCAP_BASE_SINGULAR_H

/* In place. A count is a decimal 1 on its own before the plural of what nocap counts, and
 * behind that, or behind "that", its verb. */
void text_singular(char *text);

#endif
