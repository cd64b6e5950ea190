/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests of golden directories: any bytes are refused with a message, or hold texts that read as
 * the same when they are written down. */
#include <stdint.h>

#include "checker/golden/golden_manifest.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_same(struct golden_manifest *a, const struct golden_manifest *b)
{
    require(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        require(golden_name_is_good(a->entries[i].text[GOLDEN_NAME]));
        for (int key = 0; key < GOLDEN_KEY_COUNT; key++) {
            require(golden_text_is_good(a->entries[i].text[key]));
            require(strcmp(a->entries[i].text[key], b->entries[i].text[key]) == 0);
        }
        require(golden_manifest_find(a, b->entries[i].text[GOLDEN_NAME]) == &a->entries[i]);
    }
    require(golden_manifest_find(a, "") == NULL);
}

static void write_down(const struct golden_manifest *manifest, const char *path)
{
    FILE *file = fopen(path, "w");
    require(file != NULL);
    for (size_t i = 0; i < manifest->count; i++) {
        for (int key = 0; key < GOLDEN_KEY_COUNT; key++) {
            fprintf(file, "%s %s\n", golden_key_name((enum golden_key)key),
                    manifest->entries[i].text[key]);
        }
    }
    require(fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct golden_manifest manifest, again;
    struct nocap_error err = {""};
    char path[sizeof folder + 16];
    folder_make();
    snprintf(path, sizeof path, "%s/manifest.txt", folder);
    folder_put(path, data, size);
    if (golden_manifest_read(&manifest, folder, size % 2 == 0, &err) == NOCAP_OK) {
        write_down(&manifest, path);
        require(golden_manifest_read(&again, folder, false, &err) == NOCAP_OK);
        require_same(&manifest, &again);
        golden_manifest_free(&again);
    } else {
        require(err.text[0] != '\0');
    }
    golden_manifest_free(&manifest);
    unlink(path);
    require(golden_manifest_read(&manifest, folder, true, &err) == NOCAP_OK);
    require(manifest.count == 0);
    require(golden_manifest_read(&manifest, folder, false, &err) == NOCAP_E_INPUT);
    return 0;
}
