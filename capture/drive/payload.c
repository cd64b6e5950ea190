/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/regular_file.h"
#include "capture/drive/plan.h"
#include "formats/elf_image.h"

enum { PAYLOAD_BYTES_MAX = 256 << 20 };

/* A file; `image` where it is an ELF file of RISC-V. */
struct drive_payload {
    uint8_t *bytes;
    size_t size;
    struct nocap_elf_image *image;
};

static enum nocap_status read_one(struct drive_payload *payload, const char *path,
                                  struct nocap_error *err)
{
    struct regular_file file;
    RETURN_IF_FAILED(regular_file_open(&file, path, PAYLOAD_BYTES_MAX, err));
    payload->size = file.size;
    enum nocap_status status = regular_file_read(&file, path, &payload->bytes, err);
    regular_file_close(&file);
    if (status == NOCAP_OK && payload->size >= 4 && memcmp(payload->bytes, "\177ELF", 4) == 0) {
        status =
            nocap_elf_open_memory(&payload->image, payload->bytes, payload->size, path, 0, err);
    }
    return status;
}

enum nocap_status drive_payloads_read(struct drive_payloads *payloads, const char *const *paths,
                                      size_t count, struct nocap_error *err)
{
    payloads->count = 0;
    payloads->items = calloc(count + 1, sizeof *payloads->items);
    RETURN_ERROR_IF(payloads->items == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (; payloads->count < count; payloads->count++) {
        RETURN_IF_FAILED(read_one(&payloads->items[payloads->count], paths[payloads->count], err));
    }
    return NOCAP_OK;
}

void drive_payloads_free(struct drive_payloads *payloads)
{
    for (size_t i = 0; payloads->items != NULL && i <= payloads->count; i++) {
        nocap_elf_close(payloads->items[i].image);
        free(payloads->items[i].bytes);
    }
    free(payloads->items);
    payloads->items = NULL;
}

/* Bytes, then zeros up to `size`. */
static bool matches(const uint8_t *bytes, size_t count, uint64_t hash, size_t size, uint8_t *to)
{
    if (count > size) {
        return false;
    }
    memset(to, 0, size);
    if (count > 0) {
        memcpy(to, bytes, count);
    }
    return nocap_fnv1a64(NOCAP_FNV1A64_START, to, size) == hash;
}

static bool matches_segment(const struct nocap_elf_image *image, uint64_t hash, size_t size,
                            uint8_t *to)
{
    for (size_t i = 0; image != NULL && i < nocap_elf_segment_count(image); i++) {
        const struct nocap_elf_segment *s = nocap_elf_segment(image, i);
        if ((size == s->file_size || size == s->memory_size) &&
            matches(s->bytes, s->file_size, hash, size, to)) {
            return true;
        }
    }
    return false;
}

static bool find(const struct drive_payloads *payloads, uint64_t hash, size_t size, uint8_t *to)
{
    for (size_t i = 0; i < payloads->count; i++) {
        const struct drive_payload *p = &payloads->items[i];
        if ((p->size == size && matches(p->bytes, size, hash, size, to)) ||
            matches_segment(p->image, hash, size, to)) {
            return true;
        }
    }
    return matches(NULL, 0, hash, size, to);
}

bool drive_bytes(const struct drive_payloads *payloads, const struct nocap_event *e, uint8_t *to)
{
    if ((e->has & NOCAP_F_VALUE) != 0 && e->size <= sizeof e->value) {
        memcpy(to, &e->value, e->size);
    } else if ((e->has & NOCAP_F_DATA) != 0 && e->data_size == e->size) {
        memcpy(to, e->data, e->size);
    } else {
        return (e->has & NOCAP_F_HASH) != 0 && find(payloads, e->hash, e->size, to);
    }
    return true;
}
