/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/temporary.h"
#include "cli/output.h"

enum { COPY_BYTES = 1 << 16 };

static enum nocap_status copy(struct cli_output *output, const char *path, struct nocap_error *err)
{
    char buffer[COPY_BYTES];
    ssize_t n = -1;
    enum nocap_status status = NOCAP_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (status == NOCAP_OK && fd >= 0 && (n = read(fd, buffer, sizeof buffer)) > 0) {
        status = cli_output_write(output, buffer, (size_t)n, err);
    }
    if (status == NOCAP_OK && n < 0) {
        status = nocap_fail(err, NOCAP_E_OUTPUT, "cannot read the temporary file %s: %s", path,
                            strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

int cli_part(const struct cli_call *call, const char *out_path, cli_make_part *make, void *context)
{
    struct nocap_error err = {{0}};
    struct cli_output output;
    char path[PATH_MAX];
    enum nocap_status status = cli_output_open(&output, out_path, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    status = temporary_make(path, "nocap-part", &err);
    if (status == NOCAP_OK) {
        status = make(context, path, &err);
    }
    if (status == NOCAP_OK) {
        status = copy(&output, path, &err);
    }
    temporary_remove(path);
    return cli_output_finish(&output, call, status, &err);
}
