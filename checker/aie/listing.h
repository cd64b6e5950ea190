/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of AIE control code as one JSON object, for programs to read. */
#ifndef NOCAP_CHECKER_AIE_LISTING_H
#define NOCAP_CHECKER_AIE_LISTING_H

#include <stdio.h>

#include "formats/aie/image.h"

/* `path` is printed as it is. `complete`: false if something could not be decoded: the listing has
 * then an entry without an opcode, which ends its page. Fails with NOCAP_E_OUTPUT or
 * NOCAP_E_MEMORY. */
enum nocap_status nocap_aie_listing(FILE *out, const struct nocap_aie_image *image,
                                    enum nocap_aie_dialect dialect, const char *path,
                                    bool *complete, struct nocap_error *err);

/* listing_txn.c: the member that transaction streams have in it. */
struct nocap_json;
enum nocap_status nocap_aie_put_streams(struct nocap_json *json,
                                        const struct nocap_aie_image *image, bool *complete,
                                        struct nocap_error *err);

#endif
