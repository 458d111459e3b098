/* Captured streams or single nodes, in the order of their making. */
#include "runtime.h"

API error cudaStreamBeginCapture(void *stream, int mode) {
    (void)mode;
    if (capturing) return failed(INVALID_VALUE);
    struct stream *from = stream_named(stream);
    if (from == &legacy) return failed(CAPTURE_UNSUPPORTED);
    capturing = calloc(1, sizeof *capturing);
    if (!capturing) return failed(NO_MEMORY);
    capturing->alone = from->apart;
    order_capture(capturing, stream);
    return OK;
}
API error cudaStreamBeginCapture_ptsz(void *stream, int mode) {
    return cudaStreamBeginCapture(ON_THREADS(stream), mode);
}
API error cudaStreamEndCapture(void *stream, void **graph) {
    (void)stream;
    struct graph *captured = capturing;
    *graph = NULL;
    if (!captured) return failed(INVALID_VALUE);
    order_captured(captured);
    capturing = NULL;
    if (captured->invalid) return failed(CAPTURE_INVALIDATED);
    *graph = captured;
    return OK;
}
API error cudaStreamEndCapture_ptsz(void *stream, void **graph) { return cudaStreamEndCapture(stream, graph); }
API error cudaStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = capturing != NULL;
    return OK;
}
API error cudaStreamGetCaptureInfo(
        void *stream, int *status, uint64_t *id, void **graph, void ***nodes, void **edges, size_t *count) {
    (void)stream;
    *status = capturing != NULL;
    if (id) *id = (uint64_t)capturing;
    if (graph) *graph = capturing;
    if (nodes) *nodes = NULL;
    if (edges) *edges = NULL;
    if (count) *count = 0;
    return OK;
}
API error cudaThreadExchangeStreamCaptureMode(int *mode) {
    (void)mode;
    return OK;
}

API error cudaGraphCreate(void **graph, unsigned flags) {
    (void)flags;
    return (*graph = calloc(1, sizeof(struct graph))) ? OK : failed(NO_MEMORY);
}
API error cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags) {
    (void)flags;
    *executable = graph;
    return graph ? OK : failed(INVALID_VALUE);
}
API error cudaGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    return cudaGraphInstantiate(executable, graph, flags);
}
API error cudaGraphUpload(void *executable, void *stream) {
    (void)executable;
    (void)stream;
    return OK;
}
API error cudaGraphLaunch(void *executable, void *stream) {
    struct launched launched = {0};
    if (!executable) return failed(INVALID_VALUE);
    if (!capturing) order_launch(executable, stream, &launched);
    for (struct node *node = ((struct graph *)executable)->first; node; node = node->next) {
        struct order order = order_launched(&launched, &node->order);
        error code = capturing ? ask_on(stream, node->kind, node->data, node->size, NULL, 0, node->to, node->room)
                : lost
                ? lost
                : ask_in_order(stream, &order, node->kind, node->data, node->size, NULL, 0, node->to, node->room);
        if (code) return code;
    }
    return lost;
}
API error cudaGraphLaunch_ptsz(void *executable, void *stream) {
    return cudaGraphLaunch(executable, ON_THREADS(stream));
}
API error cudaGraphDestroy(void *graph) {
    (void)graph;
    return OK;
}
API error cudaGraphExecDestroy(void *executable) {
    (void)executable;
    return OK;
}

static struct graph *interrupted;
static void begin(void *graph, void *const *after, size_t count) {
    interrupted = capturing;
    capturing = graph;
    order_place(graph, (struct node *const *)after, count);
}
static error end(void **node, error code) {
    if (node) *node = capturing->last;
    capturing->placed = false;
    capturing = interrupted;
    return code;
}

struct kernel_node {
    void *function;
    dim3 grid, block;
    uint32_t shared;
    void **arguments, **extra;
};
struct set_node {
    void *to;
    size_t pitch;
    uint32_t value, width;
    size_t columns, rows;
};
struct host_node {
    void (*function)(void *);
    void *argument;
};
static error kernel(const struct kernel_node *it) {
    return it->arguments ? launch(it->function, it->grid, it->block, it->arguments, it->shared, 0, NULL)
                         : failed(NOT_SUPPORTED);
}

API error cudaGraphAddKernelNode(
        void **node, void *graph, void *const *after, size_t count, const struct kernel_node *it) {
    begin(graph, after, count);
    return end(node, kernel(it));
}
API error cudaGraphAddMemcpyNode1D(
        void **node, void *graph, void *const *after, size_t count, void *to, const void *from, size_t size, int kind) {
    begin(graph, after, count);
    return end(node, copy_on(NULL, to, from, size, kind));
}
API error cudaGraphAddMemsetNode(
        void **node, void *graph, void *const *after, size_t count, const struct set_node *it) {
    if (it->width != 1 && it->value) return failed(NOT_SUPPORTED);
    begin(graph, after, count);
    error code = OK;
    for (size_t row = 0; row < it->rows && code == OK; row++)
        code = set_on(NULL, (char *)it->to + row * it->pitch, (int)it->value, it->columns * it->width);
    return end(node, code);
}
API error cudaGraphAddHostNode(void **node, void *graph, void *const *after, size_t count, const struct host_node *it) {
    begin(graph, after, count);
    return end(node, call_on(NULL, it->function, it->argument));
}
static void nothing(void *argument) { (void)argument; }
API error cudaGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count) {
    begin(graph, after, count);
    return end(node, call_on(NULL, nothing, NULL));
}
API error cudaGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count, void *child) {
    begin(graph, after, count);
    return end(node, cudaGraphLaunch(child, NULL));
}
/* Nodes are almost always made after those they depend on. */
API error cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *edges, size_t count) {
    (void)edges;
    for (size_t i = 0; i < count; i++) {
        for (struct node *node = ((struct graph *)graph)->first; node; node = node->next) {
            if (node == from[i]) break;
            if (node == to[i]) return failed(NOT_SUPPORTED);
        }
        order_depends(from[i], to[i]);
    }
    return OK;
}
static error replaced(struct node *node, const struct kernel_node *it) {
    struct graph made = {0};
    begin(&made, NULL, 0);
    error code = kernel(it);
    end(NULL, code);
    if (code || !made.first) return code;
    free(node->data);
    node->data = made.first->data;
    node->size = made.first->size;
    free(made.first);
    return OK;
}
API error cudaGraphKernelNodeSetParams(void *node, const struct kernel_node *it) { return replaced(node, it); }
API error cudaGraphExecKernelNodeSetParams(void *executable, void *node, const struct kernel_node *it) {
    (void)executable;
    return replaced(node, it);
}
struct update {
    int result;
    void *node, *from;
};
API error cudaGraphExecUpdate(void *executable, void *graph, struct update *update) {
    *(struct graph *)executable = *(struct graph *)graph;
    if (update) *update = (struct update){0, NULL, NULL};
    return OK;
}
API error cudaGraphClone(void **clone, void *graph) {
    *clone = graph;
    return OK;
}
API error cudaGraphGetNodes(void *graph, void **nodes, size_t *count) {
    size_t found = 0;
    for (struct node *node = ((struct graph *)graph)->first; node; node = node->next, found++)
        if (nodes && found < *count) nodes[found] = node;
    if (!nodes || found < *count) *count = found;
    return OK;
}
