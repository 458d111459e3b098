/* The CUDA runtime: calls become requests to the device's process.
 *
 * Work is done at once, except in streams apart from the default one. Layouts and numbers are CUDA 13's, without its
 * headers. */
#include "runtime.h"

typedef struct {
    int magic, version;
    const void *data;
    void *more;
} fatbin_wrapper;

struct function {
    const void *host;
    const char *name;
    uint32_t module, known;
    struct kernel_facts facts;
    uint32_t layout[2 * 1024];
    uint32_t number;
    int shared_limit;
};
struct variable {
    const void *host;
    const char *name;
    uint32_t module;
    uint64_t address[MOST_GPUS], size;
};
static struct function **functions;
static struct variable *variables;
static size_t function_count, variable_count;

/* Work of graphs, and of streams apart from the default one, is done when something waits for it, which exposes a
 * forgotten wait. */
static uint64_t instructions; /* all launches', for events */
static uint64_t asked;

/* The default stream's work waits only if there is managed memory, where the host may see results. */
struct stream *own_stream(void *stream) {
    struct stream *it = stream_named(stream);
    if (!is_default(it) && it->waits) return it;
    it = &default_streams[it->gpu];
    return managed_any() || it->done < it->given ? it : NULL;
}

static error later(struct graph *graph, const struct order *order, uint32_t kind, const void *a, size_t a_size,
        const void *b, size_t b_size, void *to, size_t room) {
    struct node *node = calloc(1, sizeof *node);
    if (!node || !(node->data = malloc(a_size + b_size + 1))) return failed(NO_MEMORY);
    node->kind = kind;
    node->size = a_size + b_size;
    node->to = to;
    node->room = room;
    node->order = *order;
    node->asked = ++asked;
    node->at = called_at;
    memcpy(node->data, a, a_size);
    if (b_size) memcpy(node->data + a_size, b, b_size);
    if (!graph->end) graph->end = &graph->first;
    *graph->end = node;
    graph->end = &node->next;
    graph->last = node;
    return OK;
}

static struct node *take(struct stream *stream) {
    struct node *node = stream->work.first;
    stream->work.first = node->next;
    if (!node->next) stream->work.end = &stream->work.first;
    stream->done++;
    return node;
}

static bool works(uint32_t kind) { return kind == LAUNCH || kind == COPY || kind == SET; }

/* For the next request. */
static void for_gpu(uint32_t number) {
    static uint32_t told = MOST_GPUS, reached;
    uint64_t spare;
    if (gpus <= 1 || (told == number && reached == peers[number])) return;
    uint32_t words[2] = {told = number, reached = peers[number]};
    request(GPU, words, sizeof words, NULL, 0, &spare, sizeof spare, NULL);
}
static uint64_t ask_symbol(uint32_t module, const char *name, uint64_t answer[2]) {
    for_gpu(gpu);
    return (uint64_t)request(SYMBOL, &module, 4, name, strlen(name), answer, 16, NULL);
}

static error perform(const struct order *order, uint32_t kind, const void *a, size_t a_size, const void *b,
        size_t b_size, void *answer, size_t room) {
    uint64_t spare = 0;
    if (lost) return lost;
    if (kind == CALL_HOST) {
        const struct call_host *it = a;
        it->function(it->argument);
        return lost;
    }
    for_gpu(order->gpu);
    if (works(kind)) managed_push();
    if (works(kind) && order_is_told()) request(ORDER, order, sizeof *order, NULL, 0, &spare, sizeof spare, NULL);
    error code = failed(request(kind, a, a_size, b, b_size, room ? answer : &spare, room ? room : sizeof spare, NULL));
    if (kind == LAUNCH && code == OK) instructions += spare;
    if (works(kind)) managed_changed();
    return code;
}

/* Up to number ``until``. */
static error catch_up(struct stream *stream, uint64_t until) {
    while (stream && stream->done < until) {
        struct node *node = take(stream);
        perform(&node->order, node->kind, node->data, node->size, NULL, 0, node->to, node->room);
        free(node->data);
        free(node);
    }
    return lost;
}
error finish(struct stream *stream) { return stream ? catch_up(stream, stream->given) : lost; }
/* In the order of the calls. */
static void catch_up_gpu(uint32_t number) {
    for (struct stream *next = streams; next;) {
        next = NULL;
        for (struct stream *it = streams; it; it = it->next)
            if (it->gpu == number && it->done < it->given && (!next || it->work.first->asked < next->work.first->asked))
                next = it;
        if (next) catch_up(next, next->done + 1);
    }
}
error catch_up_all(void) {
    catch_up_gpu(gpu);
    order_waited_for_all();
    return lost;
}

/* Drops work that nothing waited for, except releases of memory. */
uint32_t runtime_forget(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < gpus; i++) finish(&default_streams[i]);
    for (struct stream *it = streams; it; it = it->next)
        while (it->done < it->given) {
            struct node *node = take(it);
            if (node->kind == RELEASE) perform(&node->order, RELEASE, node->data, node->size, NULL, 0, NULL, 0);
            else {
                count++;
                called_at = node->at;
                tell(NOT_WAITED_FOR, (uint64_t[6]){0}, "");
            }
            free(node->data);
            free(node);
        }
    return count;
}

error ask_in_order(void *on, const struct order *order, uint32_t kind, const void *a, size_t a_size, const void *b,
        size_t b_size, void *answer, size_t room) {
    bool fetches = kind == COPY && ((const struct copy *)a)->kind == FROM_DEVICE;
    struct stream *stream = own_stream(on);
    if (stream && !fetches) {
        stream->given++;
        return later(&stream->work, order, kind, a, a_size, b, b_size, NULL, 0);
    }
    finish(stream);
    error code = perform(order, kind, a, a_size, b, b_size, answer, room);
    /* a copy to pageable memory is done when the call returns */
    if (fetches) order_waited(on);
    return code;
}
/* The default stream's work goes on while a stream is captured that it does not wait for. */
static bool captured(void *on) {
    return capturing && (capturing->placed || !capturing->alone || stream_named(on) != &legacy);
}
error ask_on(void *on, uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer,
        size_t room) {
    struct order order = {.gpu = stream_named(on)->gpu};
    if (lost) return lost;
    if (kind != RELEASE && captured(on)) {
        if (!capturing->placed && stream_named(on) == &legacy) {
            capturing->invalid = true;
            return failed(CAPTURE_IMPLICIT);
        }
        order = order_node(capturing, on);
        return later(capturing, &order, kind, a, a_size, b, b_size, answer, room);
    }
    if (works(kind)) order = order_next(on);
    return ask_in_order(on, &order, kind, a, a_size, b, b_size, answer, room);
}
error ask(uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room) {
    struct order order = {.gpu = gpu};
    return perform(&order, kind, a, a_size, b, b_size, answer, room);
}
error call_on(void *stream, void (*function)(void *), void *argument) {
    struct call_host call = {function, argument};
    return ask_on(stream, CALL_HOST, &call, sizeof call, NULL, 0, NULL, 0);
}

/* compile.py makes a function for each call that is declared but not here. */
API error grader_not_here(const char *name, void *caller) {
    came_from(caller);
    tell(NOT_HERE, (uint64_t[6]){0}, name);
    return failed(NOT_SUPPORTED);
}

API void **__cudaRegisterFatBinary(void *given) {
    const fatbin_wrapper *wrapper = given;
    const uint64_t *head = wrapper->data;
    size_t size = 16 + (size_t)head[1]; /* magic, version, header's size; size of the rest */
    uint32_t *number = calloc(1, 16);
    request(MODULE, wrapper->data, size, NULL, 0, number, 4, NULL);
    return (void **)number;
}
API void __cudaRegisterFatBinaryEnd(void **module) { (void)module; }
API void __cudaUnregisterFatBinary(void **module) { (void)module; }
API void __cudaInitModule(void **module) { (void)module; }
API void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit, void *a,
        void *b, void *c, void *d, int *e) {
    (void)device;
    (void)limit;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    (void)e;
    struct function *made = calloc(1, sizeof *made);
    made->host = host;
    made->name = name;
    made->module = *(uint32_t *)module;
    made->shared_limit = (int)MOST_STATIC_SHARED;
    functions = realloc(functions, (function_count + 1) * sizeof *functions);
    functions[function_count++] = made;
}
API void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int external, size_t size,
        int constant, int global) {
    (void)device;
    (void)external;
    (void)constant;
    (void)global;
    variables = realloc(variables, (variable_count + 1) * sizeof *variables);
    variables[variable_count++] = (struct variable){host, name, *(uint32_t *)module, {0}, size};
}
API void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name, int external, size_t size,
        int constant, int global) {
    uint64_t answer[2] = {0, 0};
    __cudaRegisterVar(module, (char *)host, device, name, external, size, constant, global);
    if (ask_symbol(*(uint32_t *)module, name, answer) == OK) managed_variable(host, answer[0], answer[1]);
}

static struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
    uint32_t at;
} configurations[64];
static int depth;
API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    if (depth == 64) return 1;
    CALLED;
    configurations[depth].at = called_at;
    configurations[depth].grid = grid;
    configurations[depth].block = block;
    configurations[depth].shared = shared;
    configurations[depth++].stream = stream;
    return 0;
}
API error __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (depth == 0) return INVALID_CONFIGURATION;
    depth--;
    called_at = configurations[depth].at;
    *grid = configurations[depth].grid;
    *block = configurations[depth].block;
    *shared = configurations[depth].shared;
    *(void **)stream = configurations[depth].stream;
    return OK;
}
API error __cudaGetKernel(void **kernel, const void *host) {
    *kernel = (void *)host;
    return OK;
}

static error find(const void *host, struct function **found) {
    *found = NULL;
    for (size_t i = 0; i < function_count; i++)
        if (functions[i]->host == host) *found = functions[i];
    if (!*found) return misused(NO_SUCH_KERNEL, INVALID_FUNCTION, 0);
    struct function *it = *found;
    if (it->known) return OK;
    struct {
        struct kernel_facts facts;
        uint32_t layout[2 * 1024];
    } answer;
    error code = lost
            ? lost
            : failed(request(KERNEL, &it->module, 4, it->name, strlen(it->name), &answer, sizeof answer, NULL));
    if (code) return code;
    it->facts = answer.facts;
    memcpy(it->layout, answer.layout, sizeof it->layout);
    return it->known = 1, OK;
}

static error launch_cluster(const void *host, dim3 grid, dim3 block, dim3 cluster, void **arguments, size_t shared,
        int cooperative, void *stream) {
    struct function *it;
    error code = find(host, &it);
    if (code) return code;
    size_t most =
            it->shared_limit > (int)MOST_STATIC_SHARED ? it->shared_limit + it->facts.shared : (int)MOST_STATIC_SHARED;
    if (shared + it->facts.shared > most)
        return misused(TOO_MUCH_SHARED, INVALID_VALUE, shared, it->facts.shared, most);
    uint32_t of_stream = stream_named(stream)->gpu;
    if (of_stream != gpu) return misused(OTHER_GPU, INVALID_HANDLE, of_stream, gpu, 0);
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!grid.x || !grid.y || !grid.z || !threads || threads > 1024 || block.z > 64 || grid.x > INT32_MAX ||
            grid.y > 65535 || grid.z > 65535)
        return misused(BAD_SHAPE, INVALID_VALUE, grid.x, grid.y, grid.z, block.x, block.y, block.z);
    uint8_t packed[4096 * 8] = {0};
    size_t size = 0;
    for (uint32_t i = 0; i < it->facts.count; i++) {
        uint32_t at = it->layout[2 * i], bytes = it->layout[2 * i + 1];
        if (at + bytes > sizeof packed) return failed(INVALID_VALUE);
        memcpy(packed + at, arguments[i], bytes);
        if (at + bytes > size) size = at + bytes;
    }
    struct {
        struct launching head;
        char name[2048];
    } message = {.head = {it->module, (uint32_t)strlen(it->name), (uint32_t)cooperative, (uint32_t)shared,
                         {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {cluster.x, cluster.y, cluster.z},
                         called_at}};
    size_t name = message.head.kernel < sizeof message.name ? message.head.kernel : sizeof message.name;
    memcpy(message.name, it->name, name);
    return ask_on(stream, LAUNCH, &message, sizeof message.head + name, packed, size, NULL, 0);
}
error launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, int cooperative, void *stream) {
    return launch_cluster(host, grid, block, (dim3){0, 0, 0}, arguments, shared, cooperative, stream);
}
API error __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return launch(kernel, grid, block, arguments, shared, 0, stream);
}
API error __cudaLaunchKernel_ptsz(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    return launch(kernel, grid, block, arguments, shared, 0, ON_THREADS(stream));
}
API error cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    CALLED;
    return launch(kernel, grid, block, arguments, shared, 0, stream);
}
API error cudaLaunchKernel_ptsz(
        const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    CALLED;
    return launch(kernel, grid, block, arguments, shared, 0, ON_THREADS(stream));
}
API error cudaLaunchCooperativeKernel_ptsz(
        const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    CALLED;
    return launch(kernel, grid, block, arguments, shared, 1, ON_THREADS(stream));
}
API error cudaLaunchCooperativeKernel(
        const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    CALLED;
    return launch(kernel, grid, block, arguments, shared, 1, stream);
}
struct launch_attribute {
    uint32_t id, pad;
    uint8_t value[64];
};
struct launch_config {
    dim3 grid, block;
    size_t shared;
    void *stream;
    struct launch_attribute *attributes;
    uint32_t count;
};
static error launch_configured(const struct launch_config *c, const void *kernel, void **arguments, void *stream) {
    int cooperative = 0;
    dim3 cluster = {0, 0, 0};
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->attributes[i].id == 2) cooperative = *(int *)c->attributes[i].value;
        if (c->attributes[i].id == 4) memcpy(&cluster, c->attributes[i].value, sizeof cluster);
    }
    return launch_cluster(kernel, c->grid, c->block, cluster, arguments, c->shared, cooperative, stream);
}
API error cudaLaunchKernelExC(const struct launch_config *c, const void *kernel, void **arguments) {
    CALLED;
    return launch_configured(c, kernel, arguments, c->stream);
}
API error cudaLaunchKernelExC_ptsz(const struct launch_config *c, const void *kernel, void **arguments) {
    CALLED;
    return launch_configured(c, kernel, arguments, ON_THREADS(c->stream));
}
API error cudaOccupancyMaxPotentialClusterSize(int *size, const void *kernel, const struct launch_config *c) {
    (void)kernel;
    (void)c;
    *size = 8;
    return OK;
}
API error cudaOccupancyMaxActiveClusters(int *count, const void *kernel, const struct launch_config *c) {
    uint32_t size = 1;
    (void)kernel;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->attributes[i].id == 4) {
            uint32_t each[3];
            memcpy(each, c->attributes[i].value, sizeof each);
            size = each[0] * each[1] * each[2];
        }
    *count = size ? MULTIPROCESSORS / (int)size : 0;
    return OK;
}

API error cudaMalloc(void **pointer, size_t size) {
    uint64_t address = 0;
    CALLED;
    if (!pointer) return failed(INVALID_VALUE);
    *pointer = NULL;
    if (size == 0) return OK;
    struct {
        uint64_t size;
        uint32_t at, spare;
    } wanted = {size, called_at, 0};
    error code = ask(ALLOCATE, &wanted, sizeof wanted, NULL, 0, &address, sizeof address);
    *pointer = (void *)address;
    return code;
}
API error cudaFree(void *pointer) {
    CALLED;
    struct {
        uint64_t address;
        uint32_t at, spare;
    } given = {(uint64_t)pointer, called_at, 0};
    if (!pointer) return lost;
    managed_pull(catch_up_all()); /* cudaFree waits for the whole device */
    error code = ask(RELEASE, &given, sizeof given, NULL, 0, NULL, 0);
    if (code == OK) managed_release(pointer);
    return code;
}
API error cudaMallocAsync(void **pointer, size_t size, void *stream) {
    CALLED;
    (void)stream;
    return cudaMalloc(pointer, size);
}
API error cudaMallocAsync_ptsz(void **pointer, size_t size, void *stream) {
    CALLED;
    (void)stream;
    return cudaMalloc(pointer, size);
}
API error cudaMallocFromPoolAsync_ptsz(void **pointer, size_t size, void *pool, void *stream) {
    CALLED;
    (void)pool;
    (void)stream;
    return cudaMalloc(pointer, size);
}
API error cudaFreeAsync(void *pointer, void *stream) {
    CALLED;
    struct {
        uint64_t address;
        uint32_t at, spare;
    } given = {(uint64_t)pointer, called_at, 0};
    if (managed_is(pointer)) return cudaFree(pointer);
    return pointer ? ask_on(stream, RELEASE, &given, sizeof given, NULL, 0, NULL, 0) : lost;
}
API error cudaFreeAsync_ptsz(void *pointer, void *stream) {
    CALLED;
    return cudaFreeAsync(pointer, ON_THREADS(stream));
}
API error cudaMallocManaged(void **pointer, size_t size, unsigned flags) {
    CALLED;
    if (!pointer || size == 0 || (flags != 1 && flags != 2)) return failed(INVALID_VALUE);
    return managed_allocate(pointer, size);
}
API error cudaMallocHost(void **pointer, size_t size) { return (*pointer = malloc(size + 1)) ? OK : failed(NO_MEMORY); }
/* Kernels reach it at its own address, so it is managed memory. */
API error cudaHostAlloc(void **pointer, size_t size, unsigned flags) {
    CALLED;
    return flags & 2 && size ? managed_allocate(pointer, size) : cudaMallocHost(pointer, size);
}
API error cudaFreeHost(void *pointer) {
    CALLED;
    if (managed_is(pointer)) return cudaFree(pointer);
    free(pointer);
    return OK;
}

int on_device(const void *pointer) {
    uint64_t a = (uint64_t)pointer;
    return a >= FIRST_ADDRESS && a < LAST_ADDRESS;
}
uint32_t gpu_of(const void *pointer) {
    return gpus > 1 && on_device(pointer) ? (uint32_t)(((uint64_t)pointer - FIRST_ADDRESS) / GPU_ADDRESSES) : 0;
}
/* Unified addressing: a device pointer counts as one whatever is stated. A host pointer instead is refused. */
int direction(const void *to, const void *from, int kind) {
    bool into = on_device(managed_on_device(to)) || kind == TO_DEVICE || kind == ON_DEVICE;
    bool out_of = on_device(managed_on_device(from)) || kind == FROM_DEVICE || kind == ON_DEVICE;
    return into ? out_of ? ON_DEVICE : TO_DEVICE : out_of ? FROM_DEVICE : HOST_TO_HOST;
}
error copy_on(void *stream, void *to, const void *from, size_t size, int kind) {
    if (kind < HOST_TO_HOST || kind > AS_POINTERS_SAY) return failed(INVALID_DIRECTION);
    if (size == 0) return lost;
    int stated = kind;
    kind = direction(to, from, kind);
    to = managed_on_device(to);
    from = managed_on_device(from);
    if (stated != kind && stated != AS_POINTERS_SAY && !managed_is(to) && !managed_is(from))
        tell(OTHER_DIRECTION, (uint64_t[6]){(uint64_t)stated, (uint64_t)to, (uint64_t)from}, "");
    if (kind == HOST_TO_HOST && managed_any()) managed_pull(finish(&legacy));
    if (kind == HOST_TO_HOST) {
        memmove(to, from, size);
        return lost;
    }
    struct copy copy = {(uint64_t)to, (uint64_t)from, size, (uint32_t)kind, called_at};
    bool lies = (kind != FROM_DEVICE && !on_device(to)) || (kind != TO_DEVICE && !on_device(from));
    if (lies) return ask(COPY, &copy, sizeof copy, NULL, 0, NULL, 0);
    uint32_t one = gpu_of(from), other = gpu_of(to);
    if (kind == ON_DEVICE && one != other && is_default(stream_named(stream)) && !capturing) {
        catch_up_gpu(one);
        catch_up_gpu(other);
        order_between(stream, one, other, false);
        error code = ask_on(stream, COPY, &copy, sizeof copy, NULL, 0, NULL, 0);
        order_between(stream, one, other, true);
        return code;
    }
    return ask_on(stream, COPY, &copy, sizeof copy, kind == 1 ? from : NULL, kind == 1 ? size : 0,
            kind == 2 ? to : NULL, kind == 2 ? size : 0);
}
/* Waits if the host takes part. */
error waited_on(void *stream, error code, int kind) {
    if (captured(stream)) return code;
    code = managed_pull(code ? code : finish(own_stream(stream)));
    if (kind != ON_DEVICE) order_waited(stream);
    return code;
}
static error copied_on(void *stream, void *to, const void *from, size_t size, int kind) {
    return waited_on(stream, copy_on(stream, to, from, size, kind), direction(to, from, kind));
}
API error cudaMemcpy(void *to, const void *from, size_t size, int kind) {
    CALLED;
    return copied_on(NULL, to, from, size, kind);
}
API error cudaMemcpy_ptds(void *to, const void *from, size_t size, int kind) {
    CALLED;
    return copied_on(PER_THREAD, to, from, size, kind);
}
API error cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) {
    CALLED;
    return copy_on(stream, to, from, size, kind);
}
API error cudaMemcpyAsync_ptsz(void *to, const void *from, size_t size, int kind, void *stream) {
    CALLED;
    return copy_on(ON_THREADS(stream), to, from, size, kind);
}
error set_on(void *stream, void *to, int value, size_t size) {
    struct set set = {(uint64_t)to, size, (uint32_t)value & 255, called_at};
    return size ? ask_on(stream, SET, &set, sizeof set, NULL, 0, NULL, 0) : lost;
}
API error cudaMemset(void *to, int value, size_t size) {
    CALLED;
    return set_on(NULL, to, value, size);
}
API error cudaMemsetAsync(void *to, int value, size_t size, void *stream) {
    CALLED;
    return set_on(stream, to, value, size);
}
API error cudaMemset_ptds(void *to, int value, size_t size) {
    CALLED;
    return set_on(PER_THREAD, to, value, size);
}
API error cudaMemsetAsync_ptsz(void *to, int value, size_t size, void *stream) {
    CALLED;
    return set_on(ON_THREADS(stream), to, value, size);
}
API error cudaMemGetInfo(size_t *left, size_t *total) {
    *left = *total = (size_t)1 << 30;
    return lost;
}

static error symbol(const void *host, uint64_t *address, uint64_t *size) {
    for (size_t i = 0; i < variable_count; i++) {
        struct variable *it = &variables[i];
        if (it->host != host) continue;
        if (!it->address[gpu]) {
            uint64_t answer[2];
            error code = lost ? lost : failed((error)ask_symbol(it->module, it->name, answer));
            if (code) return code;
            it->address[gpu] = answer[0];
            it->size = answer[1];
        }
        *address = it->address[gpu];
        *size = it->size;
        return OK;
    }
    return misused(NO_SUCH_SYMBOL, INVALID_SYMBOL, 0);
}
API error cudaGetSymbolAddress(void **pointer, const void *host) {
    uint64_t address = 0, size;
    error code = symbol(host, &address, &size);
    *pointer = (void *)address;
    return code;
}
API error cudaGetSymbolSize(size_t *size, const void *host) {
    uint64_t address, bytes = 0;
    error code = symbol(host, &address, &bytes);
    *size = bytes;
    return code;
}
/* ``waits``: like cudaMemcpy. */
static error copy_of_symbol(
        void *stream, bool waits, const void *host, void *to, const void *from, size_t size, size_t offset, int kind) {
    uint64_t address, bytes;
    error code = symbol(host, &address, &bytes);
    if (code) return code;
    if (offset > bytes || size > bytes - offset) return misused(SYMBOL_TOO_SMALL, INVALID_VALUE, size, offset, bytes);
    void *target = to ? to : (void *)(address + offset);
    const void *source = to ? (void *)(address + offset) : from;
    code = copy_on(stream, target, source, size, kind);
    return waits ? waited_on(stream, code, direction(target, source, kind)) : code;
}
API error cudaMemcpyToSymbol(const void *host, const void *from, size_t size, size_t offset, int kind) {
    CALLED;
    return copy_of_symbol(NULL, true, host, NULL, from, size, offset, kind);
}
API error cudaMemcpyToSymbol_ptds(const void *host, const void *from, size_t size, size_t offset, int kind) {
    CALLED;
    return copy_of_symbol(PER_THREAD, true, host, NULL, from, size, offset, kind);
}
API error cudaMemcpyFromSymbol(void *to, const void *host, size_t size, size_t offset, int kind) {
    CALLED;
    return copy_of_symbol(NULL, true, host, to, NULL, size, offset, kind);
}
API error cudaMemcpyFromSymbol_ptds(void *to, const void *host, size_t size, size_t offset, int kind) {
    CALLED;
    return copy_of_symbol(PER_THREAD, true, host, to, NULL, size, offset, kind);
}
API error cudaMemcpyToSymbolAsync(
        const void *host, const void *from, size_t size, size_t offset, int kind, void *stream) {
    CALLED;
    return copy_of_symbol(stream, false, host, NULL, from, size, offset, kind);
}
API error cudaMemcpyToSymbolAsync_ptsz(
        const void *host, const void *from, size_t size, size_t offset, int kind, void *stream) {
    CALLED;
    return copy_of_symbol(ON_THREADS(stream), false, host, NULL, from, size, offset, kind);
}
API error cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t size, size_t offset, int kind, void *stream) {
    CALLED;
    return copy_of_symbol(stream, false, host, to, NULL, size, offset, kind);
}
API error cudaMemcpyFromSymbolAsync_ptsz(
        void *to, const void *host, size_t size, size_t offset, int kind, void *stream) {
    CALLED;
    return copy_of_symbol(ON_THREADS(stream), false, host, to, NULL, size, offset, kind);
}

API error cudaDeviceSynchronize(void) { return managed_pull(catch_up_all()); }
API error cudaGetDevice(int *device) {
    *device = (int)gpu;
    return OK;
}
API error cudaSetDevice(int device) {
    if (device < 0 || (uint32_t)device >= gpus) return failed(INVALID_DEVICE);
    gpu = (uint32_t)device;
    return OK;
}
API error cudaGetDeviceCount(int *count) {
    *count = (int)gpus;
    return OK;
}
API error cudaDeviceReset(void) { return OK; }
API error cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return OK;
}
API error cudaDriverGetVersion(int *version) {
    *version = 13000;
    return OK;
}
API error cudaFuncSetAttribute(const void *host, int attribute, int value) {
    struct function *it;
    error code = find(host, &it);
    if (code) return code;
    if (attribute == 8) {
        if (value < 0 || value + (int)it->facts.shared > (int)MOST_SHARED) return failed(INVALID_VALUE);
        it->shared_limit = value;
    }
    return OK;
}
API error cudaFuncSetCacheConfig(const void *host, int value) {
    (void)host;
    (void)value;
    return OK;
}
struct function_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout, rest[32];
};
API error cudaFuncGetAttributes(struct function_attributes *into, const void *host) {
    struct function *it;
    error code = find(host, &it);
    if (code) return code;
    memset(into, 0, 56);
    into->shared = it->facts.shared;
    into->local = it->facts.local;
    into->threads = (int)it->facts.threads;
    into->registers = (int)it->facts.registers;
    into->ptx = (int)it->facts.ptx;
    into->binary = 90;
    into->dynamic = it->shared_limit;
    return OK;
}
API error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        int *blocks, const void *host, int threads, size_t shared, unsigned flags) {
    struct function *it;
    error code = find(host, &it);
    (void)flags;
    if (code) return code;
    if (threads < 1 || threads > 1024) {
        *blocks = 0;
        return failed(INVALID_VALUE);
    }
    int warps = (threads + 31) / 32, by_shared = (int)(SHARED_ALL / (it->facts.shared + shared + 1024));
    *blocks = 64 / warps < by_shared ? 64 / warps : by_shared;
    if (*blocks > 32) *blocks = 32;
    if (it->facts.registers) { /* in units of 256 for each of a multiprocessor's four parts */
        uint32_t of_warp = (32 * it->facts.registers + 255) / 256 * 256;
        int by_registers = (int)(65536 / 4 / of_warp * 4) / warps;
        if (by_registers < *blocks) *blocks = by_registers;
    }
    return OK;
}
API error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

static error new_stream(void **into, bool apart) {
    struct stream *made = calloc(1, sizeof *made);
    if (!made) return failed(NO_MEMORY);
    made->waits = made->apart = apart;
    made->gpu = gpu;
    made->next = streams;
    streams = *into = made;
    return lost;
}
API error cudaStreamCreate(void **stream) { return new_stream(stream, false); }
API error cudaStreamCreateWithFlags(void **stream, unsigned flags) { return new_stream(stream, flags & 1); }
API error cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    (void)priority;
    return new_stream(stream, flags & 1);
}
API error cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return OK;
}
API error cudaStreamDestroy(void *stream) {
    (void)stream;
    return lost;
}
API error cudaStreamSynchronize(void *stream) {
    error code = managed_pull(finish(own_stream(stream)));
    order_waited(stream);
    return code;
}
API error cudaStreamSynchronize_ptsz(void *stream) { return cudaStreamSynchronize(ON_THREADS(stream)); }
API error cudaStreamQuery(void *stream) { return cudaStreamSynchronize(stream); }
API error cudaStreamQuery_ptsz(void *stream) { return cudaStreamSynchronize(ON_THREADS(stream)); }
static error reach(struct event *event) { return event ? catch_up(event->stream, event->after) : lost; }
API error cudaStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    order_wait(stream, event);
    return capturing ? OK : reach(event);
}
API error cudaStreamWaitEvent_ptsz(void *stream, void *event, unsigned flags) {
    return cudaStreamWaitEvent(ON_THREADS(stream), event, flags);
}
static error new_event(void **event) {
    struct event *made = *event = calloc(1, sizeof(struct event));
    if (!made) return failed(NO_MEMORY);
    made->gpu = gpu;
    return lost;
}
API error cudaEventCreate(void **event) { return new_event(event); }
API error cudaEventCreateWithFlags(void **event, unsigned flags) {
    (void)flags;
    return new_event(event);
}
API error cudaEventRecord(void *event, void *stream) {
    struct event *it = event;
    CALLED;
    uint32_t of_stream = stream_named(stream)->gpu;
    if (of_stream != it->gpu) return misused(OTHER_GPU, INVALID_HANDLE, of_stream, it->gpu, 1);
    it->stream = own_stream(stream);
    it->after = it->stream ? it->stream->given : 0;
    it->at = instructions;
    order_record(it, stream);
    return lost;
}
API error cudaEventRecord_ptsz(void *event, void *stream) { return cudaEventRecord(event, ON_THREADS(stream)); }
API error cudaEventRecordWithFlags(void *event, void *stream, unsigned flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}
API error cudaEventRecordWithFlags_ptsz(void *event, void *stream, unsigned flags) {
    return cudaEventRecordWithFlags(event, ON_THREADS(stream), flags);
}
API error cudaEventSynchronize(void *event) {
    error code = managed_pull(reach(event));
    order_reached(event);
    return code;
}
API error cudaEventQuery(void *event) { return cudaEventSynchronize(event); }
API error cudaEventDestroy(void *event) {
    free(event);
    return lost;
}
API error cudaEventElapsedTime(float *ms, void *from, void *to) {
    reach(from);
    reach(to);
    order_reached(from);
    order_reached(to);
    *ms = 0.001f + 1e-6f * (float)(((struct event *)to)->at - ((struct event *)from)->at);
    return managed_pull(lost);
}
