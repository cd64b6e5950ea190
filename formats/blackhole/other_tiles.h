/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and memory of tiles that are no workers, as the host and the NOC reach them: Ethernet
 * tiles, by address of the tile; the ARC, by address of its tile too. Sizes are bytes. Source: NOC
 * fact sheet, section 4.7; register list of the simulator for this chip. */
#ifndef NOCAP_BLACKHOLE_OTHER_TILES_H
#define NOCAP_BLACKHOLE_OTHER_TILES_H

#include <stdint.h>

/* Ethernet tile */
#define NOCAP_ETHERNET_STREAMS    UINT64_C(0xFFB40000)
#define NOCAP_ETHERNET_NO_STREAMS UINT64_C(0xFFB60000) /* from here on a worker has some more */
#define NOCAP_ETHERNET_STREAM_END UINT64_C(0xFFB80000)
#define NOCAP_ETHERNET_SEND       UINT64_C(0xFFB90000) /* queue q at + q * STRIDE */
#define NOCAP_ETHERNET_RECEIVE    UINT64_C(0xFFB94000)
enum nocap_ethernet {
    NOCAP_ETHERNET_STREAM_COUNT = 32,
    NOCAP_ETHERNET_QUEUES = 3,
    NOCAP_ETHERNET_QUEUE_STRIDE = 0x1000,
    NOCAP_ETHERNET_QUEUE_SLOTS = 4, /* between the first of one kind and what follows */
    NOCAP_ETHERNET_COMMAND = 0x04,  /* of a queue that sends */
    NOCAP_ETHERNET_START = 0x14,
    NOCAP_ETHERNET_SIZE = 0x18,
    NOCAP_ETHERNET_TARGET = 0x1C,
    NOCAP_ETHERNET_SEND_DATA = 2, /* COMMAND */
};

/* ARC */
#define NOCAP_ARC_MEMORY       UINT64_C(0x10000000)
#define NOCAP_ARC_MEMORY_SIZE  UINT64_C(0x80000)
#define NOCAP_ARC_REGISTERS    UINT64_C(0x80000000)
#define NOCAP_ARC_BAR0_FIRST   UINT64_C(0x1FF00000) /* the registers once more */
#define NOCAP_ARC_CONTROL      UINT64_C(0x80030100) /* bit IRQ: there are messages */
#define NOCAP_ARC_QUEUES_AT    UINT64_C(0x8003042C) /* where the control block of the queues is */
#define NOCAP_ARC_DOORBELL     UINT64_C(0x800B0000) /* any store: there are messages */
#define NOCAP_ARC_DOORBELL_END UINT64_C(0x800B1000)
enum nocap_arc {
    NOCAP_ARC_IRQ = 1 << 16,
    /* control block: address of the first queue, then in bits 7:0 the messages that each holds */
    NOCAP_ARC_BLOCK_ENTRIES = 4,
    NOCAP_ARC_ENTRIES_MASK = 0xFF,
    /* a queue: pointers, which run to twice its messages; then requests, then answers */
    NOCAP_ARC_WRITTEN = 0x00,
    NOCAP_ARC_FETCHED = 0x10,
    NOCAP_ARC_QUEUE_HEAD = 32,
    NOCAP_ARC_MESSAGE = 32,
};

#endif
