/* Managed memory, at one address in both processes (registered memory: at two). It goes to the device before work and
 * to the host after waits, as CUDA makes writes visible. While there is any, the default stream's work waits, too,
 * which exposes a forgotten wait.
 *
 * ``seen``: what both had last, so the host wrote what differs. */
#include <stdbool.h>
#include <sys/mman.h>

#include "runtime.h"

#define PAGE 4096ull
#define BLOCK 4096u

struct managed {
    uint64_t address, size;
    uint8_t *host, *seen;
    struct managed *next;
};
static struct managed *first;
static bool changed; /* since the host saw its writes */

int managed_any(void) { return first != NULL; }

int managed_is(const void *pointer) {
    for (struct managed *it = first; it; it = it->next)
        if ((uint64_t)pointer - it->address < it->size) return 1;
    return 0;
}

static struct managed *managed_add(uint64_t address, uint64_t size) {
    uint64_t begin = address / PAGE * PAGE, end = (address + size + PAGE - 1) / PAGE * PAGE;
    struct managed *made = calloc(1, sizeof *made);
    uint8_t *seen = calloc(1, size);
    void *at = mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (!made || !seen || at != (void *)begin) {
        if (at != MAP_FAILED) munmap(at, end - begin);
        free(made);
        free(seen);
        return NULL;
    }
    *made = (struct managed){address, size, (uint8_t *)address, seen, first};
    return first = made;
}

error managed_allocate(void **pointer, size_t size) {
    struct {
        uint64_t size;
        uint32_t at, spare;
    } wanted = {size, called_at, 0};
    uint64_t address = 0;
    *pointer = NULL;
    error code = request_plain(ALLOCATE_MANAGED, &wanted, sizeof wanted, &address, sizeof address);
    if (code) return code;
    if (!managed_add(address, size)) {
        request_plain(RELEASE, &address, sizeof address, NULL, 0);
        return failed(NO_MEMORY);
    }
    *pointer = (void *)address;
    return OK;
}

error managed_register(void *host, size_t size, void **device) {
    struct {
        uint64_t size;
        uint32_t at, spare;
    } wanted = {size, called_at, 0};
    uint64_t address = 0;
    struct managed *made = calloc(1, sizeof *made);
    uint8_t *seen = calloc(1, size);
    error code = made && seen ? request_plain(ALLOCATE_MANAGED, &wanted, sizeof wanted, &address, sizeof address)
                              : failed(NO_MEMORY);
    if (code) {
        free(made);
        free(seen);
        return code;
    }
    *made = (struct managed){address, size, host, seen, first};
    first = made;
    *device = (void *)address;
    return OK;
}
void managed_unregister(void *host) {
    for (struct managed *it = first; it; it = it->next) {
        if (it->host != host) continue;
        uint64_t given[2] = {it->address, 0};
        if (request_plain(RELEASE, given, sizeof given, NULL, 0) == OK) managed_release((void *)it->address);
        return;
    }
}
void *managed_on_device(const void *pointer) {
    for (struct managed *it = first; it; it = it->next)
        if ((uint64_t)pointer - (uint64_t)it->host < it->size)
            return (void *)(it->address + ((uint64_t)pointer - (uint64_t)it->host));
    return (void *)pointer;
}

int managed_release(void *pointer) {
    for (struct managed **at = &first; *at; at = &(*at)->next) {
        struct managed *it = *at;
        if (it->address != (uint64_t)pointer) continue;
        uint64_t begin = it->address / PAGE * PAGE;
        if ((uint64_t)it->host == it->address)
            munmap((void *)begin, (it->address + it->size + PAGE - 1) / PAGE * PAGE - begin);
        *at = it->next;
        free(it->seen);
        free(it);
        return 1;
    }
    return 0;
}

static void fetch(struct managed *it) {
    struct range range = {it->address, it->size};
    uint8_t *now = malloc(it->size);
    size_t got = 0;
    if (now && request(PULL, &range, sizeof range, NULL, 0, now, it->size, &got) == OK && got == it->size) {
        memcpy(it->host, now, it->size);
        memcpy(it->seen, now, it->size);
    }
    free(now);
}

void managed_variable(void **host, uint64_t address, uint64_t size) {
    struct managed *made = managed_add(address, size);
    if (!made) return;
    fetch(made);
    *host = (void *)address;
}

/* Ranges with contents. */
static struct {
    uint8_t *data;
    size_t size, room;
} pushed;

static void push(struct managed *it, uint64_t from, uint64_t to) {
    struct range range = {it->address + from, to - from};
    if (pushed.size + sizeof range + range.size > pushed.room) {
        pushed.room = 2 * (pushed.size + sizeof range + range.size);
        pushed.data = realloc(pushed.data, pushed.room);
        if (!pushed.data) abort();
    }
    memcpy(pushed.data + pushed.size, &range, sizeof range);
    memcpy(pushed.data + pushed.size + sizeof range, it->host + from, range.size);
    pushed.size += sizeof range + range.size;
    memcpy(it->seen + from, it->host + from, range.size);
}

/* By words if the device may have written. */
void managed_push(void) {
    uint32_t step = changed ? 4 : BLOCK;
    pushed.size = 0;
    for (struct managed *it = first; it; it = it->next) {
        const uint8_t *now = it->host;
        uint64_t begun = 0, at = 0;
        bool open = false;
        for (; at < it->size; at += step) {
            uint64_t bytes = it->size - at < step ? it->size - at : step,
                     whole = it->size - at < BLOCK ? it->size - at : BLOCK;
            if (!open && at % BLOCK == 0 && memcmp(now + at, it->seen + at, whole) == 0) {
                at += BLOCK - step;
                continue;
            }
            bool differs = memcmp(now + at, it->seen + at, bytes) != 0;
            if (differs && !open) {
                begun = at;
                open = true;
            }
            if (!differs && open) {
                push(it, begun, at);
                open = false;
            }
        }
        if (open) push(it, begun, it->size);
    }
    if (pushed.size) request(PUSH, pushed.data, pushed.size, NULL, 0, NULL, 0, NULL);
}

void managed_changed(void) { changed = first != NULL; }

error managed_pull(error code) {
    if (changed && !lost) {
        managed_push();
        for (struct managed *it = first; it; it = it->next) fetch(it);
        changed = false;
    }
    return code;
}
