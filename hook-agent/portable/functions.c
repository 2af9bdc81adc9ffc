/* Functions that the agent carries itself when it is built for every C library of Linux.
 *
 * Such an agent names no C library: its functions are found in that of the JVM, which is musl or any glibc from 2.17
 * on. Their names have no versions. So a function must not be newer than glibc 2.17, and glibc must not keep an older
 * function of the same name for old programs, because the agent would get that one. The functions here are exceptions.
 *
 * The layout of each structure is that of the kernel, which both libraries have for x86-64 and arm64. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OURS __attribute__((visibility("hidden")))

/* glibc has `stat` and its relatives since 2.33, and `gettid` since 2.30. */

OURS int fstatat(int folder, const char *restrict path, struct stat *restrict found, int flags) {
    return (int)syscall(SYS_newfstatat, folder, path, found, flags);
}

OURS int stat(const char *restrict path, struct stat *restrict found) {
    return fstatat(AT_FDCWD, path, found, 0);
}

OURS int lstat(const char *restrict path, struct stat *restrict found) {
    return fstatat(AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}

OURS int fstat(int file, struct stat *found) {
    return (int)syscall(SYS_fstat, file, found);
}

OURS pid_t gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* glibc has it since 2.29. The standard library calls it for a process that starts in another folder, of which the agent
 * has none. */
OURS int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *restrict actions, const char *restrict folder) {
    int (*found)(posix_spawn_file_actions_t *, const char *);
    *(void **)&found = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addchdir_np");
    return found ? found(actions, folder) : ENOSYS;
}

/* The `realpath` that glibc keeps for programs of before 2.3 refuses to allocate the result. `dlsym` finds the newer
 * one. */
OURS char *realpath(const char *restrict path, char *restrict resolved) {
    char *(*newest)(const char *, char *);
    *(void **)&newest = dlsym(RTLD_DEFAULT, "realpath");
    if (!newest) {
        errno = ENOSYS;
        return 0;
    }
    return newest(path, resolved);
}
