/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/import/snapshot.h"

#include <string.h>

enum nocap_status snapshot_writer(struct nocap_writer **writer, int out_fd,
                                  enum nocap_time_unit unit, const char *producer,
                                  struct nocap_error *err)
{
    struct nocap_header header;
    nocap_header_init(&header);
    header.arch = NOCAP_ARCH_BLACKHOLE;
    header.has_observes = true; /* and nothing is */
    header.has_time_unit = true;
    header.time_unit = unit;
    header.producer = strdup(producer);
    enum nocap_status status = header.producer == NULL
                                   ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                                   : nocap_writer_open_fd(writer, out_fd, &header, NULL, err);
    nocap_header_free(&header);
    return status;
}

enum nocap_status snapshot_memory(struct nocap_writer *writer, uint64_t t, uint16_t chip,
                                  struct nocap_xy at, uint64_t addr, const void *bytes, size_t size,
                                  struct nocap_error *err)
{
    const struct nocap_event e = {
        .kind = NOCAP_EV_MEM,
        .has = NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_DATA,
        .t = t,
        .chip = chip,
        .at = at,
        .addr = addr,
        .data = bytes,
        .data_size = (uint32_t)size,
    };
    return nocap_writer_add(writer, &e, err);
}
