/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/firmware_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/aie/image_private.h"
#include "formats/elf_image_private.h"

/* In `named`: control code of all columns, "uc". */
enum { ALL_COLUMNS = NOCAP_BY_UC0 - 1 };

/* A file that was looked for, or all those that lead out of the folder. */
struct firmware_file {
    char *name;             /* as the header has it */
    char *kernel;           /* of AIE control code; NULL: none is named */
    bool control;           /* AIE control code; else firmware of a core */
    uint64_t device, inode; /* 0: it was not opened */
    struct nocap_elf_image *core;
    struct nocap_aie_image *aie;
    enum nocap_status status;
    struct nocap_error cause; /* NOCAP_OK: unused */
    char first[16];           /* the first core that names it ... */
    size_t others;            /* ... and how many more */
};

/* ---- names ---- */

enum nocap_status firmware_files_open(struct firmware_files *files, const char *trace, bool trusted,
                                      struct nocap_error *err)
{
    const char *slash = strrchr(trace, '/');
    size_t length = slash == NULL ? 0 : slash == trace ? 1 : (size_t)(slash - trace);
    *files = (struct firmware_files){.folder = strndup(trace, length), .trusted = trusted};
    RETURN_ERROR_IF(files->folder == NULL, err, NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

/* What the user trusts: beside the trace or, if nothing is there, as it stands. */
static enum nocap_status open_trusted(const struct firmware_files *files, struct regular_file *file,
                                      const char *name, size_t max, struct nocap_error *err)
{
    char *beside;
    if (name[0] == '/' || files->folder[0] == 0) {
        return regular_file_open(file, name, max, err);
    }
    RETURN_ERROR_IF(asprintf(&beside, "%s/%s", files->folder, name) < 0, err, NOCAP_E_MEMORY,
                    "out of memory");
    enum nocap_status status = regular_file_open(file, beside, max, err);
    free(beside);
    return status == NOCAP_E_INPUT && regular_file_open(file, name, max, NULL) == NOCAP_OK
               ? NOCAP_OK
               : status;
}

static enum nocap_status open_name(const struct firmware_files *files, struct regular_file *file,
                                   const char *name, size_t max, struct nocap_error *err)
{
    return files->trusted ? open_trusted(files, file, name, max, err)
                          : regular_file_open_below(file, files->folder, name, max, err);
}

/* If there is no such file, what follows a colon is a kernel: `kernel` points to it, or is NULL. */
static enum nocap_status open_control(const struct firmware_files *files, struct regular_file *file,
                                      char *name, char **kernel, struct nocap_error *err)
{
    enum nocap_status status = open_name(files, file, name, AIE_FILE_MAX, err);
    *kernel = NULL;
    for (char *colon = strchr(name, ':'); status == NOCAP_E_INPUT && colon != NULL;
         colon = strchr(colon + 1, ':')) {
        char *plain = strndup(name, (size_t)(colon - name));
        RETURN_ERROR_IF(plain == NULL, err, NOCAP_E_MEMORY, "out of memory");
        if (colon[1] != 0 && open_name(files, file, plain, AIE_FILE_MAX, NULL) == NOCAP_OK) {
            *kernel = colon + 1;
            status = NOCAP_OK;
        }
        free(plain);
    }
    return status;
}

/* ---- files ---- */

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static struct firmware_file *find_name(const struct firmware_files *files, const char *name,
                                       bool control)
{
    for (size_t i = 0; i < files->count; i++) {
        struct firmware_file *f = &files->files[i];
        if (f->control == control && strcmp(f->name, name) == 0) {
            return f;
        }
    }
    return NULL;
}

/* The same file under another name. All that lead out of the folder are one. */
static struct firmware_file *find_file(const struct firmware_files *files,
                                       const struct firmware_file *wanted)
{
    for (size_t i = 0; i < files->count; i++) {
        struct firmware_file *f = &files->files[i];
        bool out = wanted->status == NOCAP_E_USAGE && f->status == NOCAP_E_USAGE;
        bool same = wanted->status == NOCAP_OK && f->control == wanted->control &&
                    f->device == wanted->device && f->inode == wanted->inode &&
                    same_text(f->kernel, wanted->kernel);
        if (out || same) {
            return f;
        }
    }
    return NULL;
}

static struct firmware_file *add(struct firmware_files *files, const struct firmware_file *wanted)
{
    struct firmware_file *f = LIST_NEXT(files->files, files->count);
    if (f == NULL) {
        return NULL;
    }
    *f = *wanted;
    f->name = strdup(wanted->name);
    f->kernel = wanted->kernel == NULL ? NULL : strdup(wanted->kernel);
    files->count++;
    return f->name != NULL && (f->kernel != NULL || wanted->kernel == NULL) ? f : NULL;
}

static enum nocap_status read_image(struct firmware_files *files, struct firmware_file *f,
                                    const struct regular_file *opened)
{
    RETURN_ERROR_IF(opened->size > FIRMWARE_BYTES_MAX - files->bytes, &f->cause, NOCAP_E_INPUT,
                    "with %s, the files that the trace names are more than %d MiB", f->name,
                    FIRMWARE_BYTES_MAX >> 20);
    files->bytes += opened->size;
    if (!f->control) {
        return elf_image_read(&f->core, opened, f->name, 0, &f->cause);
    }
    RETURN_IF_FAILED(aie_image_read(&f->aie, opened, f->name, &f->cause));
    return nocap_aie_image_select(f->aie, f->kernel, &f->cause);
}

static enum nocap_status look_at(struct firmware_files *files,
                                 const struct nocap_firmware *firmware, bool control,
                                 struct firmware_file **found, struct nocap_error *err)
{
    struct regular_file opened;
    struct firmware_file wanted = {.name = firmware->path, .control = control};
    wanted.status =
        control ? open_control(files, &opened, firmware->path, &wanted.kernel, &wanted.cause)
                : open_name(files, &opened, firmware->path, ELF_FILE_MAX, &wanted.cause);
    RETURN_ERROR_IF(wanted.status == NOCAP_E_MEMORY, err, NOCAP_E_MEMORY, "out of memory");
    wanted.device = opened.device;
    wanted.inode = opened.inode;
    snprintf(wanted.first, sizeof wanted.first, "%s", firmware->core);
    *found = find_file(files, &wanted);
    if (*found != NULL) {
        (*found)->others++;
    } else if ((*found = add(files, &wanted)) != NULL && wanted.status == NOCAP_OK) {
        (*found)->status = read_image(files, *found, &opened);
    }
    regular_file_close(&opened);
    RETURN_ERROR_IF(*found == NULL || (*found)->status == NOCAP_E_MEMORY, err, NOCAP_E_MEMORY,
                    "out of memory");
    return NOCAP_OK;
}

/* Of each core the first name counts: `agent` says whose it is. */
static enum nocap_status look_for(struct firmware_files *files, unsigned agent,
                                  const struct nocap_firmware *firmware, bool control,
                                  struct firmware_file **found, struct nocap_error *err)
{
    *found = NULL;
    if (agent >= FIRMWARE_CORES || files->named[agent]) {
        return NOCAP_OK;
    }
    files->named[agent] = true;
    *found = find_name(files, firmware->path, control);
    if (*found == NULL) {
        return look_at(files, firmware, control, found, err);
    }
    (*found)->others++;
    return NOCAP_OK;
}

enum nocap_status firmware_files_core(struct firmware_files *files,
                                      const struct nocap_firmware *firmware,
                                      struct nocap_elf_image **image, struct nocap_error *err)
{
    struct firmware_file *f;
    int agent = nocap_agent_from_name(firmware->core, (unsigned)strlen(firmware->core));
    *image = NULL;
    RETURN_IF_FAILED(look_for(files, (unsigned)agent, firmware, false, &f, err));
    *image = f != NULL && f->status == NOCAP_OK ? elf_image_share(f->core) : NULL;
    return NOCAP_OK;
}

enum nocap_status firmware_files_control(struct firmware_files *files,
                                         const struct nocap_firmware *firmware,
                                         struct nocap_aie_image **image, struct nocap_error *err)
{
    struct firmware_file *f;
    int agent = nocap_agent_from_name(firmware->core, (unsigned)strlen(firmware->core));
    *image = NULL;
    RETURN_IF_FAILED(
        look_for(files, agent < 0 ? ALL_COLUMNS : (unsigned)agent, firmware, true, &f, err));
    *image = f != NULL && f->status == NOCAP_OK ? aie_image_share(f->aie) : NULL;
    return NOCAP_OK;
}

enum nocap_status firmware_files_problem(const struct firmware_files *files, size_t i,
                                         struct nocap_error *problem)
{
    char more[48] = "";
    problem->text[0] = 0;
    if (i >= files->count) {
        return NOCAP_END;
    }
    const struct firmware_file *f = &files->files[i];
    if (f->status == NOCAP_OK) {
        return NOCAP_OK;
    }
    if (f->others != 0) {
        snprintf(more, sizeof more, " and %zu more", f->others);
    }
    nocap_fail(problem, f->status,
               "the trace names firmware for %s%s, give it with --elf%s: %.500s", f->first, more,
               f->status == NOCAP_E_USAGE ? ", or trust its names with --trust-paths" : "",
               f->cause.text);
    return NOCAP_OK;
}

void firmware_files_close(struct firmware_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        nocap_elf_close(files->files[i].core);
        nocap_aie_image_close(files->files[i].aie);
        free(files->files[i].kernel);
        free(files->files[i].name);
    }
    free(files->files);
    free(files->folder);
    *files = (struct firmware_files){.folder = NULL};
}
