/* Reserved memory, threads, and turns for others. WebAssembly has one thread and allocates reserved memory. */
#ifndef HOST_H
#define HOST_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#ifdef __wasm__

typedef int host_thread;
static inline bool host_begin(host_thread *thread, void *(*run)(void *), void *given) {
    (void)thread, (void)run, (void)given;
    return false;
}
static inline void host_join(host_thread thread) { (void)thread; }
static inline void host_yield(void) {}
static inline void *host_reserve(size_t size) { return calloc(size, 1); }
static inline void host_forget(void *reserved, size_t size) { memset(reserved, 0, size); }
static inline void host_release(void *reserved, size_t size) {
    (void)size;
    free(reserved);
}

#else

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

typedef pthread_t host_thread;
static inline bool host_begin(host_thread *thread, void *(*run)(void *), void *given) {
    return pthread_create(thread, NULL, run, given) == 0;
}
static inline void host_join(host_thread thread) { pthread_join(thread, NULL); }
static inline void host_yield(void) { sched_yield(); }

/* Zeros or NULL. Private memory would count against a box's RLIMIT_DATA untouched, so large ones are MAP_SHARED. */
static inline void *host_reserve(size_t size) {
    int sharing = size >= LARGE_REGION ? MAP_SHARED : MAP_PRIVATE;
    void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}
/* Zeros reserved memory and gives its pages back. */
static inline void host_forget(void *reserved, size_t size) {
    madvise(reserved, size, size >= LARGE_REGION ? MADV_REMOVE : MADV_DONTNEED);
}
static inline void host_release(void *reserved, size_t size) { munmap(reserved, size); }

#endif
#endif
