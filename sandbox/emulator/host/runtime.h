/* A student's library sees only names marked API. */
#ifndef RUNTIME_H
#define RUNTIME_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"

#define API __attribute__((visibility("default")))
#define SHARED_ALL 233472 /* a multiprocessor's */
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
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_IMPLICIT = 906,
    STICKY_FROM = 700,
    STICKY_TO = 719
};
enum { HOST_TO_HOST, TO_DEVICE, FROM_DEVICE, ON_DEVICE, AS_POINTERS_SAY };

typedef int error;
typedef struct { uint32_t x, y, z; } dim3;

/* Waits in a graph or stream; ``to``: for its answer. CALL_HOST: a host function. */
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
/* ``placed``: the next node's chain and clock are set, not the captured stream's. ``alone``: captured from a stream that
 * the default stream does not wait for. ``invalid``: its capture failed. */
struct graph {
    struct node *first, **end, *last;
    uint32_t chains, lengths[STREAMS], slots[STREAMS], call, chain;
    bool placed, alone, invalid;
    struct clock before;
};
/* ``waits``: done when something waits for it; ``apart``: not ordered with the default stream. */
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
extern error lost; /* ended the context */
error failed(error code);
/* Reports a call that is not done as asked. */
void tell(uint32_t which, const uint64_t numbers[6], const char *name);
#define misused(which, code, ...) (tell(which, (uint64_t[6]){__VA_ARGS__}, ""), failed(code))
/* No work of the device. */
error request_plain(uint32_t kind, const void *a, size_t a_size, void *answer, size_t room);
/* In the student's library; calls from here keep it. */
#define CALLED came_from(__builtin_return_address(0))
extern uint32_t called_at;
void came_from(void *address);

/* runtime.c */
/* Of a stream that waits; NULL: done at once. */
struct stream *own_stream(void *stream);
/* For ordered work. */
error ask_in_order(void *stream, const struct order *, uint32_t kind, const void *a, size_t a_size, const void *b,
        size_t b_size, void *answer, size_t room);
error ask_on(void *stream, uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer,
        size_t room);
error ask(uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room);
error finish(struct stream *);
error catch_up_all(void); /* the present GPU's */
error waited_on(void *stream, error code, int kind);
error launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, int cooperative, void *stream);
/* By its pointers. */
int direction(const void *to, const void *from, int kind);
error copy_on(void *stream, void *to, const void *from, size_t size, int kind);
error set_on(void *stream, void *to, int value, size_t size);
error call_on(void *stream, void (*function)(void *), void *argument);

/* order.c */
#define PER_THREAD ((void *)2) /* default with --default-stream per-thread */
#define ON_THREADS(stream) ((stream) ? (stream) : PER_THREAD)
/* Their number; cudaSetDevice's; whose memory each reaches, as bits. */
extern uint32_t gpus, gpu, peers[MOST_GPUS];
/* The default stream, and each thread's, of the present GPU. */
#define legacy default_streams[gpu]
#define per_thread thread_streams[gpu]
extern struct stream default_streams[MOST_GPUS], thread_streams[MOST_GPUS], *streams;
bool is_default(const struct stream *);
/* A copy between GPUs is ordered with all work of both, as in a default stream. */
void order_between(void *stream, uint32_t one, uint32_t other, bool after);
uint32_t gpu_of(const void *pointer); /* a device pointer's */
extern struct graph *capturing; /* NULL: none */
struct stream *stream_named(void *stream);
void order_begins(void); /* all before the call is done */
bool order_is_told(void);
struct order order_next(void *stream);
void order_waited(void *stream); /* the host, for all in the stream */
void order_waited_for_all(void); /* the present GPU's */
void order_record(struct event *, void *stream);
void order_reached(const struct event *);
void order_wait(void *stream, const struct event *);
void order_capture(struct graph *, void *stream);
void order_captured(const struct graph *);
void order_place(struct graph *, struct node *const *after, size_t count); /* of the next nodes */
struct order order_node(struct graph *, void *stream);
void order_depends(const struct node *from, struct node *to);
struct launched {
    struct clock base;
    uint32_t slots[STREAMS], starts[STREAMS];
};
void order_launch(struct graph *, void *stream, struct launched *);
struct order order_launched(const struct launched *, const struct order *node);

/* managed.c */
int managed_any(void);
error managed_allocate(void **pointer, size_t size);
int managed_release(void *pointer); /* false: not managed */
int managed_is(const void *pointer);
/* host memory; kernels use another address */
error managed_register(void *host, size_t size, void **device);
void managed_unregister(void *host);
void *managed_on_device(const void *pointer); /* a registered pointer's address for kernels; else itself */
void managed_variable(void **host, uint64_t address, uint64_t size);
void managed_push(void); /* the host's writes, before work */
void managed_changed(void); /* by work */
error managed_pull(error code); /* the device's writes, after a wait; returns ``code`` */
#endif
