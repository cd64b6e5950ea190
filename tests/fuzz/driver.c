/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over its corpus once, without a fuzzer: build/tests/replay_fuzz_NAME takes
 * every file of tests/fuzz/corpus/NAME, or the files that are named on the command line. A file
 * that crashes it is the last one told. What a target prints goes nowhere, as tests/fuzz/run has it
 * too. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Of the sanitizers' library, where there is one. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static FILE *told; /* the standard output that this program was given */

static bool set_streams_aside(void)
{
    int out = dup(STDOUT_FILENO), reports = dup(STDERR_FILENO), none = open("/dev/null", O_WRONLY);
    told = out >= 0 ? fdopen(out, "w") : NULL;
    if (told == NULL || dup2(none, STDOUT_FILENO) < 0 || dup2(none, STDERR_FILENO) < 0) {
        return false;
    }
    if (__sanitizer_set_report_fd != NULL) {
        __sanitizer_set_report_fd((void *)(intptr_t)reports);
    }
    return close(none) == 0;
}

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(told, "# cannot read %s\n", path);
        return false;
    }
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(
        size == 0 ? 1 : size); /* of its very size, so that a sanitizer sees what lies beyond */
    bool ok = data != NULL && fread(data, 1, size, file) == size;
    fclose(file);
    fprintf(told, "# %s\n", path);
    fflush(told);
    if (ok) {
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return ok;
}

static int run_corpus(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "tests/fuzz/corpus/%s", name);
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    int files = 0, failures = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            snprintf(path, sizeof path, "tests/fuzz/corpus/%s/%s", name, entries[i]->d_name);
            files++;
            failures += run_file(path) ? 0 : 1;
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    bool ok = files > 0 && failures == 0;
    fprintf(told, "%sok 1 - %s: %d files\n1..1\n", ok ? "" : "not ", name, files);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static const char prefix[] = "replay_fuzz_";
    if (!set_streams_aside()) {
        return EXIT_FAILURE;
    }
    if (argc > 1) {
        bool ok = true;
        for (int i = 1; i < argc; i++) {
            ok &= run_file(argv[i]);
        }
        return ok ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    const char *name = strstr(argv[0], prefix);
    return run_corpus(name != NULL ? name + sizeof prefix - 1 : argv[0]);
}
