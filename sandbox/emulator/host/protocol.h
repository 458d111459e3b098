/* The protocol between a student's process and the GPU's process (device.py), over a socket: a header, then ``size``
 * bytes. Every request has one reply. */
#ifndef PROTOCOL_H
#define PROTOCOL_H
#include <stddef.h>
#include <stdint.h>

#include "../engine/names.h"

/* Bodies of requests, and replies. names.py reads the lists.
 *
 * MODULE: a fatbin; reply: u32 number
 * KERNEL: u32 module, name; reply: struct kernel_facts, then pairs of offset and size
 * SYMBOL: u32 module, name; reply: u64 address, u64 size
 * ALLOCATE, ALLOCATE_MANAGED: u64 size, u32 at; reply: u64 address
 * RELEASE: u64 address, u32 at
 * COPY: struct copy, then the bytes of a host's source; reply: the bytes for a host's target
 * SET: struct set
 * LAUNCH: struct launching, the arguments; reply: u64 instructions of its warps
 * LOADED: an error's text, or nothing; no reply but the first call
 * RETURNED: i32 result of the entry point, i32 works that nothing waited for; reply: the next call's values
 * PUSH: of managed memory, again and again: struct range, and its bytes
 * PULL: struct range; reply: its bytes, or nothing if they did not change
 * HEAP: u64 bytes that malloc of kernels may give out
 * TEXTURE: struct texture; reply: u64 the object
 * MISUSED: struct misused, a name
 * TIME: not from the host program. u32 1: begin to count launches; u32 0: end, reply: f64 seconds by the model
 * UNWRITTEN: not from the host program. struct range, and what the host's memory holds there if nothing was written
 * ORDER: struct order of the next LAUNCH, COPY or SET; without it, that comes after all before it
 * GPU: u32 the GPU that the next requests are for, u32 the GPUs whose memory its kernels reach, as bits */
/* clang-format off */
#define MESSAGES(X) \
    X(MODULE, 1) X(KERNEL) X(SYMBOL) X(ALLOCATE) X(RELEASE) X(COPY) X(SET) X(LAUNCH) X(LOADED) X(RETURNED) \
    X(ALLOCATE_MANAGED, 16) X(PUSH) X(PULL) X(HEAP) X(TEXTURE) X(MISUSED) X(TIME, 32) X(UNWRITTEN) X(ORDER, 40) \
    X(GPU)
/* clang-format on */
enum message { MESSAGES(NUMBERED) };
struct header { uint32_t kind, size; };
struct reply {
    int32_t status;
    uint32_t size;
};
/* ptx: the architecture that it was compiled for, such as 80 */
struct kernel_facts { uint32_t shared, local, threads, registers, ptx, count; };
/* at: offset in the library of the call; 0: unknown */
/* kind: as cudaMemcpyKind: 1 to, 2 from the device, 3 within */
struct copy {
    uint64_t to, from, size;
    uint32_t kind, at;
};
struct range { uint64_t address, size; };
/* A texture or surface, as in engine/texture.c. ``bits`` of each channel; kind: 0 signed, 1 unsigned, 2 float; modes
 * of each axis: 0 wrap, 1 clamp, 2 mirror, 3 border. */
struct texture {
    uint64_t address, pitch;
    uint32_t width, height, depth, element, bits[4], kind, modes[3], linear, fractions, normalized;
    float border[4];
};
struct set {
    uint64_t to, size;
    uint32_t value, at;
};
/* cluster: zeros: as compiled */
struct launching { uint32_t module, kernel, cooperative, shared, grid[3], block[3], cluster[3], at; };
struct clock { uint32_t at[STREAMS]; };
/* A work's stream, and its clock, which includes itself. */
struct order {
    uint32_t stream;
    struct clock known;
    uint32_t gpu;
};
/* Numbers of struct misused.
 *
 * TOO_MUCH_SHARED: dynamic bytes, static bytes, what both may be
 * SYMBOL_TOO_SMALL: bytes of the copy, its offset, bytes of the variable
 * BAD_SHAPE: grid, block
 * OTHER_DIRECTION: a copy's direction as it was stated, to, from; the copy is done
 * NOT_WAITED_FOR: nothing; work on a stream of its own was left out
 * ON_HOST: address, enum access; the process ends
 * NOT_HERE: nothing; the name is a call's of CUDA
 * OTHER_GPU: the GPU of a stream, the GPU that is set, or that an event was made on; whether it is an event */
/* clang-format off */
#define MISUSES(X) \
    X(TOO_MUCH_SHARED, 1) X(SYMBOL_TOO_SMALL) X(NO_SUCH_KERNEL) X(NO_SUCH_SYMBOL) X(BAD_SHAPE) X(OTHER_DIRECTION) \
    X(NOT_WAITED_FOR) X(ON_HOST) X(NOT_HERE) X(OTHER_GPU)
/* clang-format on */
enum misuse { MISUSES(NUMBERED) };
enum access { ACCESSES, READS, WRITES };
struct misused {
    uint32_t which, at;
    uint64_t numbers[6];
};

/* connection.c */
void connect_to(int socket);
/* 0, or the error's number in CUDA. ``answer``: at most ``room`` bytes, more is an error; ``got``: how many came. */
int request(uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room,
        size_t *got);
/* See order.c and runtime.c. */
void order_begins(void);
void gpus_are(uint32_t count);
uint32_t runtime_forget(void);
int on_device(const void *pointer);
const char *cudaGetErrorName(int code);
const char *cudaGetErrorString(int code);
#endif
