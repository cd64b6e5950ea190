/* SPDX-License-Identifier: Apache-2.0 */
/* The program's calls with a set of signals to block. A blocked SIGSEGV that happens all the same,
 * at an access to the device, would end the process: the signals of the shim stay out of every set,
 * also of those for the time of a call, in which handlers of the program run. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "capture/preload/preload.h"

/* NULL stays NULL. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *changed)
{
    if (set == NULL) {
        return NULL;
    }
    *changed = *set;
    signals_keep_deliverable(changed);
    return changed;
}

static int change_mask(int (*call)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old)
{
    sigset_t changed;
    return call(how, how == SIG_UNBLOCK ? set : without_ours(set, &changed), old);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(next()->sigprocmask, how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(next()->pthread_sigmask, how, set, old);
}

EXPORT int sigsuspend(const sigset_t *set)
{
    sigset_t changed;
    return next()->sigsuspend(without_ours(set, &changed));
}

EXPORT int ppoll(struct pollfd *list, nfds_t count, const struct timespec *timeout,
                 const sigset_t *set)
{
    sigset_t changed;
    return next()->ppoll(list, count, timeout, without_ours(set, &changed));
}

EXPORT int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                   const struct timespec *restrict timeout, const sigset_t *restrict set)
{
    sigset_t changed;
    return next()->pselect(count, in, out, other, timeout, without_ours(set, &changed));
}

EXPORT int epoll_pwait(int fd, struct epoll_event *list, int count, int timeout,
                       const sigset_t *set)
{
    sigset_t changed;
    return next()->epoll_pwait(fd, list, count, timeout, without_ours(set, &changed));
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *list, int count, const struct timespec *timeout,
                        const sigset_t *set)
{
    sigset_t changed;
    return next()->epoll_pwait2(fd, list, count, timeout, without_ours(set, &changed));
}

/* ---- as programs built with _FORTIFY_SOURCE call them ---- */

int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

EXPORT int __ppoll_chk(struct pollfd *list, nfds_t count, const struct timespec *timeout,
                       const sigset_t *set, size_t room)
{
    check_room(count * sizeof *list, room);
    return ppoll(list, count, timeout, set);
}
