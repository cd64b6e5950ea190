/* SPDX-License-Identifier: Apache-2.0 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drive/plan.h"

enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, PAGES_MAX = 1 << 18 };

struct page {
    uint64_t number;
    uint8_t bytes[PAGE_BYTES];
};

static void *pages; /* a tree of tsearch */
static size_t page_count;

/* A page by its first member. */
static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static struct page *find(uint64_t addr)
{
    const uint64_t number = addr >> PAGE_SHIFT;
    struct page *const *found = tfind(&number, &pages, by_number);
    return found != NULL ? *found : NULL;
}

static struct page *make(uint64_t addr)
{
    struct page *page = page_count < PAGES_MAX ? calloc(1, sizeof *page) : NULL;
    if (page == NULL) {
        return NULL;
    }
    page->number = addr >> PAGE_SHIFT;
    if (tsearch(page, &pages, by_number) == NULL) {
        free(page);
        return NULL;
    }
    page_count++;
    return page;
}

enum nocap_status drive_memory_store(uint64_t addr, const void *data, size_t size,
                                     struct nocap_error *err)
{
    const uint8_t *bytes = data;
    while (size > 0) {
        size_t inside = addr % PAGE_BYTES;
        size_t part = size < PAGE_BYTES - inside ? size : PAGE_BYTES - inside;
        struct page *page = find(addr);
        if (page == NULL) {
            page = make(addr);
        }
        RETURN_ERROR_IF(page == NULL, err, NOCAP_E_MEMORY,
                        "the trace's device uses more than %d MiB of the host's memory",
                        PAGES_MAX / 256);
        memcpy(page->bytes + inside, bytes, part);
        addr += part;
        bytes += part;
        size -= part;
    }
    return NOCAP_OK;
}

void drive_memory_load(uint64_t addr, void *data, size_t size)
{
    uint8_t *bytes = data;
    while (size > 0) {
        size_t inside = addr % PAGE_BYTES;
        size_t part = size < PAGE_BYTES - inside ? size : PAGE_BYTES - inside;
        const struct page *page = find(addr);
        if (page != NULL) {
            memcpy(bytes, page->bytes + inside, part);
        } else {
            memset(bytes, 0, part);
        }
        addr += part;
        bytes += part;
        size -= part;
    }
}

/* ---- what the device read ---- */

enum { READS_MAX = 1024, READ_BYTES_MAX = 1 << 16 };

static struct {
    uint64_t addr;
    size_t size;
    uint8_t *data; /* NULL: free */
} reads[READS_MAX];
static size_t next_read;

enum nocap_status drive_memory_expect(uint64_t addr, const void *data, size_t size,
                                      struct nocap_error *err)
{
    RETURN_IF_FAILED(drive_memory_store(addr, data, size, err));
    if (size > READ_BYTES_MAX) {
        return NOCAP_OK;
    }
    uint8_t *copy = malloc(size + 1);
    RETURN_ERROR_IF(copy == NULL, err, NOCAP_E_MEMORY, "out of memory");
    memcpy(copy, data, size);
    free(reads[next_read].data);
    reads[next_read].addr = addr;
    reads[next_read].size = size;
    reads[next_read].data = copy;
    next_read = (next_read + 1) % READS_MAX;
    return NOCAP_OK;
}

void drive_memory_fetch(uint64_t addr, void *data, size_t size)
{
    for (size_t i = 0; i < READS_MAX; i++) {
        size_t at = (next_read + i) % READS_MAX; /* the oldest first */
        if (reads[at].data != NULL && reads[at].addr == addr && reads[at].size == size) {
            memcpy(data, reads[at].data, size);
            free(reads[at].data);
            reads[at].data = NULL;
            return;
        }
    }
    drive_memory_load(addr, data, size);
}
