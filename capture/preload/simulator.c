/* SPDX-License-Identifier: Apache-2.0 */
/* The program's dlopen of a simulator: it gets the proxy, which stands before the library that the
 * program named. So it does not matter where the name came from, nor what lies beside the file. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign_text.h"
#include "capture/live/session.h"
#include "capture/preload/preload.h"

#define PROXY_NAME   "libnocap-ttsim.so"
#define PROXY_ATTACH "nocap_ttsim_attach"
#define SIMULATOR    "libttsim"

/* Handles are the C library's maps of what is loaded. */
enum { SIMULATORS_MAX = 64 };
static struct {
    void *real;
    char proxy[64]; /* as the loader knows it */
} simulators[SIMULATORS_MAX];
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

/* What the program's call becomes where it loads no simulator. */
void *(*shim_next_dlopen)(const char *, int)__attribute__((visibility("hidden")));
void *shim_dlopen(const char *file, int mode) __attribute__((visibility("hidden"), used));

/* A jump, so that the loader sees who called: it looks for names without a folder where the
 * caller's own headers say. */
__asm__(".text\n"
        ".globl dlopen\n"
        ".type dlopen, @function\n"
        "dlopen:\n"
        "    .cfi_startproc\n"
        "    push %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    push %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    sub $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call shim_dlopen\n"
        "    add $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    pop %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    pop %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    test %rax, %rax\n"
        "    jne 1f\n"
        "    jmp *shim_next_dlopen(%rip)\n"
        "1:  ret\n"
        "    .cfi_endproc\n"
        ".size dlopen, . - dlopen\n");

static const struct link_map *map_of(void *handle)
{
    struct link_map *map = NULL;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : NULL;
}

/* Of the library itself, not of one that it needs. */
static bool has_symbol(void *handle, const char *name)
{
    Dl_info info;
    const struct link_map *map = map_of(handle);
    void *symbol = dlsym(handle, name);
    bool own = symbol != NULL && map != NULL && dladdr(symbol, &info) != 0 &&
               (uintptr_t)info.dli_fbase == map->l_addr;
    dlerror(); /* is the program's to ask for */
    return own;
}

/* Whether a name may be a simulator's. One with a folder is loaded to see; names without are left
 * to the caller's call, but for those that are called so. */
static bool may_be(const char *file)
{
    return file != NULL && (strncmp(file, SIMULATOR, strlen(SIMULATOR)) == 0 ||
                            (strchr(file, '/') != NULL && strchr(file, '$') == NULL));
}

/* Beside this library. */
static bool find_proxy(char path[PATH_MAX])
{
    Dl_info info;
    char *slash;
    if (dladdr(simulators, &info) == 0 || realpath(info.dli_fname, path) == NULL ||
        (slash = strrchr(path, '/')) == NULL ||
        (size_t)(slash - path) + sizeof PROXY_NAME + 1 > PATH_MAX) {
        return false;
    }
    strcpy(slash + 1, PROXY_NAME);
    return true;
}

/* A file in memory, which the loader does not know: variables of its own for one more simulator. It
 * stays open: under a number that is used again the loader would find this copy. */
static bool copy_proxy(const char *path, char name[64])
{
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create(PROXY_NAME, MFD_CLOEXEC);
    bool good = from >= 0 && to >= 0 && fstat(from, &st) == 0;
    for (off_t done = 0; good && done < st.st_size;) {
        good = sendfile(to, from, &done, (size_t)(st.st_size - done)) > 0;
    }
    if (from >= 0) {
        close(from);
    }
    snprintf(name, 64, "/proc/self/fd/%d", to);
    return good;
}

/* The proxy of a simulator that was loaded before and is loaded once more. */
static void *proxy_of(void *real)
{
    void *proxy = NULL;
    pthread_mutex_lock(&list);
    for (unsigned i = 0; proxy == NULL && i < SIMULATORS_MAX; i++) {
        if (simulators[i].real == real) {
            proxy = shim_next_dlopen(simulators[i].proxy, RTLD_LAZY | RTLD_NOLOAD);
            simulators[i].real = proxy != NULL ? real : NULL; /* gone meanwhile */
        }
    }
    pthread_mutex_unlock(&list);
    return proxy;
}

static void remember(void *real, void *proxy)
{
    const struct link_map *map = map_of(proxy);
    pthread_mutex_lock(&list);
    for (unsigned i = 0; i < SIMULATORS_MAX; i++) {
        if (simulators[i].real == NULL || simulators[i].real == real) {
            simulators[i].real = real;
            snprintf(simulators[i].proxy, sizeof simulators[i].proxy, "%s",
                     map != NULL ? map->l_name : "");
            break;
        }
    }
    pthread_mutex_unlock(&list);
}

static void *load_proxy(int mode)
{
    char path[PATH_MAX], name[64];
    if (!find_proxy(path)) {
        return NULL;
    }
    void *known = shim_next_dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (known == NULL) {
        return shim_next_dlopen(path, mode);
    }
    dlclose(known);
    return copy_proxy(path, name) ? shim_next_dlopen(name, mode) : NULL;
}

/* What stands before `real`, NULL: nothing can. */
static void *put_before(void *real, const char *file, int mode)
{
    void *proxy = proxy_of(real);
    if (proxy != NULL || (mode & RTLD_NOLOAD) != 0) {
        return proxy;
    }
    bool (*attach)(void *handle, const char *name);
    proxy = load_proxy(mode);
    *(void **)&attach = proxy != NULL ? dlsym(proxy, PROXY_ATTACH) : NULL;
    if (attach == NULL) {
        live_refuse(file, "the proxy " PROXY_NAME " cannot be loaded before it");
        return NULL;
    }
    if (!attach(shim_next_dlopen(file, RTLD_LAZY | RTLD_NOLOAD), file)) {
        dlclose(proxy);
        return NULL;
    }
    remember(real, proxy);
    return proxy;
}

/* A simulator's handle; NULL: the program's call goes on as it is. */
void *shim_dlopen(const char *file, int mode)
{
    *(void **)&shim_next_dlopen = dlsym(RTLD_NEXT, "dlopen");
    if (getenv(LIVE_TRACE) == NULL || !may_be(file)) {
        return NULL;
    }
    void *real = shim_next_dlopen(file, (mode & ~RTLD_GLOBAL) | RTLD_LOCAL);
    if (real == NULL) {
        return NULL;
    }
    void *proxy = has_symbol(real, "libttsim_init") && !has_symbol(real, PROXY_ATTACH)
                      ? put_before(real, file, mode)
                      : NULL;
    void *given = proxy != NULL               ? proxy
                  : (mode & RTLD_GLOBAL) != 0 ? shim_next_dlopen(file, mode)
                                              : real;
    if (given != real) {
        dlclose(real);
    }
    return given;
}
