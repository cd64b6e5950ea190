#include "cli/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"

enum { COPY_BYTES = 1 << 16 };

static enum nocap_status copy(struct cli_output *output, int fd, struct nocap_error *err)
{
    char buffer[COPY_BYTES];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        RETURN_IF_FAILED(cli_output_write(output, buffer, (size_t)n, err));
    }
    RETURN_ERROR_IF(n < 0, err, NOCAP_E_OUTPUT, "cannot read the temporary file: %s",
                    strerror(errno));
    return NOCAP_OK;
}

int cli_part(const struct cli_call *call, const char *out_path, cli_make_part *make, void *context)
{
    struct nocap_error err = {{0}};
    struct cli_output output;
    char path[4096];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/nocap-part-XXXXXX",
             directory == NULL || directory[0] == 0 ? "/tmp" : directory);
    enum nocap_status status = cli_output_open(&output, out_path, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int fd = mkstemp(path);
    status = fd < 0 ? nocap_fail(&err, NOCAP_E_OUTPUT, "cannot make a temporary file %s: %s", path,
                                 strerror(errno))
                    : make(context, path, &err);
    if (status == NOCAP_OK) {
        status = copy(&output, fd, &err);
    }
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return cli_output_finish(&output, call, status, &err);
}
