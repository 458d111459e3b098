/* Between a student's process and the process that is the GPU, over a socket: a header, then ``size`` bytes.
 * Every request has one reply. ``device.py`` is the other end. */
#ifndef PROTOCOL_H
#define PROTOCOL_H
#include <stddef.h>
#include <stdint.h>

enum message {
    MODULE = 1, /* a fatbin; reply: u32 number */
    KERNEL,     /* u32 module, name; reply: struct kernel_facts, then pairs of offset and size */
    SYMBOL,     /* u32 module, name; reply: u64 address, u64 size */
    ALLOCATE,   /* u64 size, u32 at; reply: u64 address */
    RELEASE,    /* u64 address, u32 at */
    COPY,       /* struct copy, then the bytes of a host's source; reply: the bytes for a host's target */
    SET,        /* struct set */
    LAUNCH,     /* struct launching, the arguments; reply: u64 instructions of its warps */
    LOADED,     /* an error's text, or nothing; no reply but the first CALL */
    RETURNED,   /* i32: what the entry point returned, i32: how much of its work nobody waited for; reply: the next CALL's values */
    ALLOCATE_MANAGED = 16, /* as ALLOCATE */
    PUSH = 17,             /* of managed memory, again and again: struct range, and its bytes */
    PULL = 18,             /* struct range; reply: its bytes, or nothing where they are as they were */
    HEAP = 19,             /* u64: bytes that malloc of kernels may give out */
    TEXTURE = 20,          /* struct texture; reply: u64 the object */
    ORDER = 40,            /* struct order: of the next LAUNCH, COPY or SET; without it, that comes after all before it */
    MISUSED = 21           /* struct misused, a name; reply: nothing */
};
struct header { uint32_t kind, size; };
struct reply { int32_t status; uint32_t size; };
/* ptx: the architecture that it was compiled for, such as 80 */
struct kernel_facts { uint32_t shared, local, threads, registers, ptx, count; };
/* at: where in the library the request was made, from its beginning; 0: not known */
struct copy { uint64_t to, from, size; uint32_t kind, at; }; /* kind: as cudaMemcpyKind: 1 to, 2 from the device, 3 within */
struct range { uint64_t address, size; };
/* Of a texture or a surface. ``bits`` of each channel, ``kind``: 0 signed, 1 unsigned, 2 float. modes, of each axis: 0 wrap,
 * 1 clamp, 2 mirror, 3 border. engine/texture.c has the same. */
struct texture {
    uint64_t address, pitch;
    uint32_t width, height, depth, element, bits[4], kind, modes[3], linear, fractions, normalized;
    float border[4];
};
struct set { uint64_t to, size; uint32_t value, at; };
struct launching { uint32_t module, kernel, cooperative, shared, grid[3], block[3], cluster[3], at; }; /* cluster: zeros: as compiled */
#define STREAMS 32 /* engine/engine.h says the same */
struct clock { uint32_t at[STREAMS]; };
/* A work's stream, and what it comes after of each: itself, too. */
struct order { uint32_t stream; struct clock known; };
enum misuse {
    TOO_MUCH_SHARED = 1, /* numbers: dynamic bytes, static bytes, what both may be */
    SYMBOL_TOO_SMALL,    /* numbers: bytes of the copy, its offset, bytes of the variable */
    NO_SUCH_KERNEL,
    NO_SUCH_SYMBOL,
    BAD_SHAPE,       /* numbers: grid, block */
    OTHER_DIRECTION, /* numbers: a copy's direction as it was stated, to, from; the copy is done */
    NOT_WAITED_FOR,  /* work on a stream of its own that was left out */
    ON_HOST,         /* numbers: address, enum access; the process ends */
    NOT_HERE         /* the name of a call of CUDA's */
};
enum access { ACCESSES, READS, WRITES };
struct misused { uint32_t which, at; uint64_t numbers[6]; };

/* connection.c */
void connect_to(int socket);
/* 0, or the error's number in CUDA. ``answer``: at most ``room`` bytes, more is an error; ``got``: how many came. */
int request(uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room, size_t *got);
/* See order.c and runtime.c. */
void order_begins(void);
uint32_t runtime_forget(void);
int on_device(const void *pointer);
const char *cudaGetErrorName(int code);
const char *cudaGetErrorString(int code);
#endif
