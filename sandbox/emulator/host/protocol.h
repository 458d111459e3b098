/* A header, then ``size`` bytes; a reply for each. */
#ifndef PROTOCOL_H
#define PROTOCOL_H
#include <stddef.h>
#include <stdint.h>

#include "../engine/names.h"

/* Requests and replies. names.py reads the lists.
 *
 * MODULE: a fatbin; reply: u32 number
 * KERNEL: u32 module, name; reply: struct kernel_facts, pairs of offset and size
 * SYMBOL: u32 module, name; reply: u64 address, u64 size
 * ALLOCATE, ALLOCATE_MANAGED: u64 size, u32 at; reply: u64 address
 * RELEASE: u64 address, u32 at
 * COPY: struct copy, the host's source; reply: the host's target
 * SET: struct set
 * LAUNCH: struct launching, arguments; reply: u64 instructions of warps
 * LOADED: an error or nothing; reply: the first call
 * RETURNED: i32 result, i32 works that nothing waited for; reply: the next call's values
 * PUSH: managed memory: struct ranges, each with bytes
 * PULL: struct range; reply: its bytes, or nothing if unchanged
 * HEAP: u64 bytes for malloc of kernels
 * TEXTURE: struct texture; reply: u64 object
 * MISUSED: struct misused, a name
 * TIME (the runner's): u32 1: count launches; u32 0: end, reply: f64 modelled seconds
 * UNWRITTEN (the runner's): struct range, and unwritten host memory's contents
 * ORDER: struct order of the next work; default: after all
 * GPU: u32 the next requests' GPU, u32 GPUs that its kernels reach, as bits */
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
/* ptx: such as 80 */
struct kernel_facts { uint32_t shared, local, threads, registers, ptx, count; };
/* at: the call's offset in the library; 0: unknown */
/* kind: cudaMemcpyKind: 1 to, 2 from the device, 3 within */
struct copy {
    uint64_t to, from, size;
    uint32_t kind, at;
};
struct range { uint64_t address, size; };
/* ``bits`` by channel; kind: 0 signed, 1 unsigned, 2 float; modes by axis: 0 wrap, 1 clamp, 2 mirror, 3 border. */
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
struct order {
    uint32_t stream;
    struct clock known;
    uint32_t gpu;
};
/* Numbers of struct misused:
 *
 * TOO_MUCH_SHARED: dynamic bytes, static bytes, their limit
 * SYMBOL_TOO_SMALL: a copy's bytes, its offset, the variable's bytes
 * BAD_SHAPE: grid, block
 * OTHER_DIRECTION: stated direction, to, from; the copy is done
 * NOT_WAITED_FOR: none; work on an own stream is left out
 * ON_HOST: address, enum access; the process ends
 * NOT_HERE: none; the name is a CUDA call
 * OTHER_GPU: a stream's GPU; the one that is set, or an event's; whether it is an event */
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

void connect_to(int socket);
/* 0, or CUDA's error. ``answer``: more than ``room`` bytes is an error; ``got``: received. */
int request(uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room,
        size_t *got);
void order_begins(void);
void gpus_are(uint32_t count);
uint32_t runtime_forget(void);
int on_device(const void *pointer);
const char *cudaGetErrorName(int code);
const char *cudaGetErrorString(int code);
#endif
