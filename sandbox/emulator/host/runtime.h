/* Shared by the files of the CUDA runtime. A student's library sees only names that are marked API. */
#ifndef RUNTIME_H
#define RUNTIME_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"

#define API __attribute__((visibility("default")))
#define SHARED_ALL 233472 /* of a multiprocessor */
enum {
    OK = 0,
    INVALID_VALUE = 1,
    NO_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    INVALID_SYMBOL = 13,
    INVALID_DIRECTION = 21,
    INVALID_FUNCTION = 98,
    INVALID_DEVICE = 101,
    INVALID_HANDLE = 400,
    PEER_ENABLED = 704,
    PEER_NOT_ENABLED = 705,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    TOO_LARGE = 720,
    NOT_SUPPORTED = 801,
    STICKY_FROM = 700,
    STICKY_TO = 719
};
enum { HOST_TO_HOST, TO_DEVICE, FROM_DEVICE, ON_DEVICE, AS_POINTERS_SAY };

typedef int error;
typedef struct { uint32_t x, y, z; } dim3;

/* A waiting request of a graph or a stream; ``to``: for its answer. CALL_HOST is a host function. */
enum { CALL_HOST = 1000 };
struct node {
    uint32_t kind, at;
    size_t size;
    uint8_t *data;
    void *to;
    size_t room;
    struct node *next;
    struct order order;
    uint64_t asked;
};
/* ``placed``: chain and clock of the next node are set; else the captured stream has them. */
struct graph {
    struct node *first, **end, *last;
    uint32_t chains, lengths[STREAMS], slots[STREAMS], call, chain;
    bool placed;
    struct clock before;
};
/* ``waits``: its work is done when something waits for it; ``apart``: it is not ordered with the default stream. */
struct stream {
    struct graph work;
    bool waits, apart;
    uint64_t given, done;
    struct stream *next;
    uint32_t slot, chain, gpu;
    struct clock clock, before;
    struct graph *captured;
};
struct event {
    struct stream *stream;
    uint64_t after, at;
    struct clock clock;
    uint32_t call, gpu;
    struct graph *graph;
};
struct call_host {
    void (*function)(void *);
    void *argument;
};

/* calls.c */
extern error lost; /* a fault that ended the context */
error failed(error code);
/* Reports a call that is not done as asked. */
void tell(uint32_t which, const uint64_t numbers[6], const char *name);
#define misused(which, code, ...) (tell(which, (uint64_t[6]){__VA_ARGS__}, ""), failed(code))
/* A request that is not work of the device. */
error request_plain(uint32_t kind, const void *a, size_t a_size, void *answer, size_t room);
/* The place of the present call in the student's library; calls from here keep it. */
#define CALLED came_from(__builtin_return_address(0))
extern uint32_t called_at;
void came_from(void *address);

/* runtime.c */
/* The queue of a stream whose work is done when something waits for it; NULL: work is done at once. */
struct stream *own_stream(void *stream);
/* Like ask_on, for work that has its order. */
error ask_in_order(void *stream, const struct order *, uint32_t kind, const void *a, size_t a_size, const void *b,
        size_t b_size, void *answer, size_t room);
error ask_on(void *stream, uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer,
        size_t room);
error ask(uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room);
error finish(struct stream *);
error catch_up_all(void); /* of the present GPU */
error waited_on(void *stream, error code, int kind);
error launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, int cooperative, void *stream);
/* The direction of a copy, by its pointers. */
int direction(const void *to, const void *from, int kind);
error copy_on(void *stream, void *to, const void *from, size_t size, int kind);
error set_on(void *stream, void *to, int value, size_t size);
error call_on(void *stream, void (*function)(void *), void *argument);

/* order.c: what comes before what */
#define PER_THREAD ((void *)2) /* the stream that is the default one with --default-stream per-thread */
#define ON_THREADS(stream) ((stream) ? (stream) : PER_THREAD)
/* The number of GPUs; the one that cudaSetDevice set; for each, those whose memory its kernels reach, as bits. */
extern uint32_t gpus, gpu, peers[MOST_GPUS];
/* The default stream, and the one of each thread, of the present GPU. */
#define legacy default_streams[gpu]
#define per_thread thread_streams[gpu]
extern struct stream default_streams[MOST_GPUS], thread_streams[MOST_GPUS], *streams;
bool is_default(const struct stream *);
/* Orders a copy in ``stream`` between two GPUs with all work of both, as CUDA does in a default stream. */
void order_between(void *stream, uint32_t one, uint32_t other, bool after);
uint32_t gpu_of(const void *pointer); /* that a device pointer is of */
extern struct graph *capturing; /* NULL: none captures */
struct stream *stream_named(void *stream);
void order_begins(void); /* a call; all before it is done */
bool order_is_told(void);
struct order order_next(void *stream);
void order_waited(void *stream); /* the host did, for all that is in the stream */
void order_waited_for_all(void); /* work of the present GPU */
void order_record(struct event *, void *stream);
void order_reached(const struct event *);
void order_wait(void *stream, const struct event *);
void order_capture(struct graph *, void *stream);
void order_captured(const struct graph *);
void order_place(struct graph *, struct node *const *after, size_t count); /* of the nodes that are added next */
struct order order_node(struct graph *, void *stream);
void order_depends(const struct node *from, struct node *to);
struct launched {
    struct clock base;
    uint32_t slots[STREAMS], starts[STREAMS];
};
void order_launch(struct graph *, void *stream, struct launched *);
struct order order_launched(const struct launched *, const struct order *node);

/* managed.c: memory that host and device both reach at one address */
int managed_any(void);
error managed_allocate(void **pointer, size_t size);
int managed_release(void *pointer); /* false: it is none */
int managed_is(const void *pointer);
/* memory of the host's own, which kernels reach at another address */
error managed_register(void *host, size_t size, void **device);
void managed_unregister(void *host);
void *managed_on_device(const void *pointer); /* where kernels reach what is registered; else the pointer itself */
void managed_variable(void **host, uint64_t address, uint64_t size);
void managed_push(void); /* what the host wrote, before the device works */
void managed_changed(void); /* the device worked */
error managed_pull(error code); /* what the device wrote, where the host waited; ``code`` */
#endif
