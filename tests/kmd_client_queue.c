/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts of command queues, as the runtime does it that CLIENT_PROFILE names: CLIENT_QUEUES of them,
 * each in a tile of its own, all in one pinned mapping. With CLIENT_MOVED all L1 addresses are so
 * much higher, with CLIENT_ISSUE the issue region has so many bytes: a host may choose both. */
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "formats/profile/profile.h"
#include "tests/kmd_client.h"

static struct nocap_profile profile;
static uint32_t moved;

static uint32_t setting(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 0) : otherwise;
}

static void store(unsigned window, uint32_t addr, uint32_t value)
{
    *(volatile uint32_t *)(windows[window] + addr + moved) = value;
}

static uint8_t *pin_memory(uint32_t queues, uint32_t *device_address)
{
    struct kmd_pin_pages pin = {.output_size = KMD_PIN_OUTPUT_NOC,
                                .flags = setting("CLIENT_PIN", KMD_PIN_NOC),
                                .size = (uint64_t)queues * profile.queue.sysmem_size};
    uint8_t *memory = mmap(NULL, pin.size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE((void *)memory != MAP_FAILED);
    pin.address = (uintptr_t)memory;
    REQUIRE(ioctl(device, KMD_PIN_PAGES, &pin) == 0);
    *device_address = (uint32_t)pin.noc_address;
    return memory;
}

static void set_up(unsigned number, uint32_t device_address)
{
    const struct nocap_queue *q = &profile.queue;
    uint32_t bytes = q->queue_slots * q->entry_bytes;
    client_aim(number, CLIENT_QUEUE_X, CLIENT_QUEUE_Y + 2 * number);
    store(number, 0x1000, 0x1200); /* a pair of words that could begin a queue, and does not */
    store(number, 0x1004, device_address + q->issue);
    store(number, q->rd_ptr_echo, q->queue + bytes + moved);
    store(number, q->pcie_ptr_echo, device_address + q->issue);
    memset(windows[number] + q->queue + moved, 0, bytes);
}

static void put(uint8_t *to, const struct nocap_cq_form *form, uint8_t member, uint32_t value)
{
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0; i++) {
        if (form->fields[i].member == member) {
            memcpy(to + form->fields[i].offset, &value,
                   form->fields[i].width < 4 ? form->fields[i].width : 4);
        }
    }
    to[0] = form->wire;
}

/* A record that writes `length` bytes to a worker, as the bytes lie in memory. */
static uint32_t put_record(uint8_t *to, uint32_t length)
{
    const struct nocap_cq_form *relay =
        &profile.commands.forms[NOCAP_CQ_PREFETCH][NOCAP_CQ_PREFETCH_RELAY_INLINE];
    const struct nocap_cq_form *write =
        &profile.commands.forms[NOCAP_CQ_DISPATCH][NOCAP_CQ_DISPATCH_WRITE_LINEAR];
    const uint32_t relayed = write->header + length, stride = (16 + relayed + 63) / 64 * 64;
    memset(to, 0, 48);
    put(to, relay, NOCAP_CQ_MEMBER_length, relayed);
    put(to, relay, NOCAP_CQ_MEMBER_stride, stride);
    put(to + 16, write, NOCAP_CQ_MEMBER_noc_xy, 2 << 6 | 1);
    put(to + 16, write, NOCAP_CQ_MEMBER_addr, 0x20000);
    put(to + 16, write, NOCAP_CQ_MEMBER_length, length);
    memset(to + 16 + write->header, 0x5A, 64);
    return stride;
}

static void ring(unsigned number, uint32_t slot, uint32_t entry)
{
    uint8_t *at = windows[number] + profile.queue.queue + moved + slot * profile.queue.entry_bytes;
    if (profile.queue.entry_bytes == 2) {
        *(volatile uint16_t *)at = (uint16_t)entry;
    } else {
        *(volatile uint32_t *)at = entry;
    }
}

void client_queues(uint32_t wrong)
{
    const char *name = getenv("CLIENT_PROFILE");
    REQUIRE(nocap_profile_find(&profile, name != NULL ? name : "blackhole-py", NULL) == NOCAP_OK);
    uint32_t queues = setting("CLIENT_QUEUES", 1), device_address, at[CLIENT_THREADS] = {0};
    uint32_t issue_size = setting("CLIENT_ISSUE", profile.queue.issue_size);
    uint8_t *memory = pin_memory(queues, &device_address);
    REQUIRE(queues <= CLIENT_THREADS);
    moved = setting("CLIENT_MOVED", 0);
    for (unsigned k = 0; k < queues; k++) {
        set_up(k, device_address + k * profile.queue.sysmem_size);
    }
    for (uint32_t i = 0; i < CLIENT_RECORDS; i++) {
        uint32_t length = i % 8 == 0 ? 64 + 16 * i : CLIENT_RECORD_DATA;
        for (unsigned k = 0; k < queues; k++) {
            if (at[k] + (16 + 32 + length + 63) / 64 * 64 > issue_size) {
                at[k] = 0;
            }
            uint64_t from = (uint64_t)k * profile.queue.sysmem_size + profile.queue.issue + at[k];
            uint32_t stride = put_record(memory + from, length);
            at[k] += stride;
            ring(k, i, stride / profile.queue.entry_unit + (i + 1 == wrong));
        }
    }
}
