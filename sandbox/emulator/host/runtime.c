/* The CUDA runtime of the emulated GPU, as far as programs use it: every call becomes a request to the device's process.
 *
 * Work is done when it is asked for, but for that of streams that are not ordered with the default one. Layouts and numbers
 * are those of CUDA 13's runtime API; no header of it is needed. */
#include <stdlib.h>
#include <string.h>

#include "protocol.h"

#define API __attribute__((visibility("default")))
#define MULTIPROCESSORS 16 /* as in engine/launch.c */
#define SHARED_STATIC 49152
#define SHARED_MOST 166912
enum { OK = 0, INVALID_VALUE = 1, NO_MEMORY = 2, INVALID_CONFIGURATION = 9, INVALID_SYMBOL = 13, INVALID_FUNCTION = 98,
       INVALID_HANDLE = 400, TOO_LARGE = 720, NOT_SUPPORTED = 801, STICKY_FROM = 700, STICKY_TO = 719 };

typedef int error;
typedef struct { uint32_t x, y, z; } dim3;
typedef struct { int magic, version; const void *data; void *more; } fatbin_wrapper;

struct function { const void *host; const char *name; uint32_t module, known; struct kernel_facts facts; uint32_t layout[2 * 1024]; uint32_t number; int shared_limit; };
struct variable { const void *host; const char *name; uint32_t module; uint64_t address, size; };
static struct function **functions;
static struct variable *variables;
static size_t function_count, variable_count;
static error last, lost;

static error failed(error code) {
    if (code) last = code;
    if (code >= STICKY_FROM && code <= STICKY_TO) lost = code;
    return code;
}

/* ---- work that waits: of graphs, and of streams that are not ordered with the default one ----
 *
 * Such a stream's work is done when something waits for it, so that a program that forgets to wait is seen to. */
struct node { uint32_t kind; size_t size; uint8_t *data; struct node *next; };
struct graph { struct node *first, **end; };
struct stream { struct graph work; int own; uint64_t given, done; struct stream *next; };
struct event { struct stream *stream; uint64_t after; };
static struct graph *capturing;
static struct stream *streams;

static struct stream *own_stream(void *stream) { return (uint64_t)stream > 2 && ((struct stream *)stream)->own ? stream : NULL; }

static error later(struct graph *graph, uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size) {
    struct node *node = calloc(1, sizeof *node);
    if (!node || !(node->data = malloc(a_size + b_size + 1))) return failed(NO_MEMORY);
    node->kind = kind; node->size = a_size + b_size;
    memcpy(node->data, a, a_size);
    if (b_size) memcpy(node->data + a_size, b, b_size);
    if (!graph->end) graph->end = &graph->first;
    *graph->end = node; graph->end = &node->next;
    return OK;
}

static struct node *take(struct stream *stream) {
    struct node *node = stream->work.first;
    stream->work.first = node->next;
    if (!node->next) stream->work.end = &stream->work.first;
    stream->done++;
    return node;
}

/* Does what a stream was given, up to the piece number ``until``. */
static error catch_up(struct stream *stream, uint64_t until) {
    while (stream && stream->done < until) {
        struct node *node = take(stream);
        uint64_t spare; /* what a launch is answered with is of no use here */
        if (!lost) failed(request(node->kind, node->data, node->size, NULL, 0, &spare, sizeof spare, NULL));
        free(node->data);
        free(node);
    }
    return lost;
}
static error finish(struct stream *stream) { return stream ? catch_up(stream, stream->given) : lost; }
static error catch_up_all(void) { for (struct stream *it = streams; it; it = it->next) finish(it); return lost; }

/* Work that nobody waited for when the entry point returned; it is not done any more. */
uint32_t runtime_forget(void) {
    uint32_t count = 0;
    for (struct stream *it = streams; it; it = it->next)
        for (; it->done < it->given; count++) { struct node *node = take(it); free(node->data); free(node); }
    return count;
}

static error ask_on(void *on, uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room) {
    if (lost) return lost;
    if (kind == LAUNCH || kind == SET || (kind == COPY && ((const struct copy *)a)->kind != 2)) {
        struct stream *stream = own_stream(on);
        if (capturing) return later(capturing, kind, a, a_size, b, b_size);
        if (stream) { stream->given++; return later(&stream->work, kind, a, a_size, b, b_size); }
    } else if (kind == COPY) finish(own_stream(on));
    uint64_t spare; /* as above */
    if (room == 0) { answer = &spare; room = sizeof spare; }
    return failed(request(kind, a, a_size, b, b_size, answer, room, NULL));
}
static error ask(uint32_t kind, const void *a, size_t a_size, const void *b, size_t b_size, void *answer, size_t room) { return ask_on(NULL, kind, a, a_size, b, b_size, answer, room); }

/* ---- what the compiler's code calls ---- */
API void **__cudaRegisterFatBinary(void *given) {
    const fatbin_wrapper *wrapper = given;
    const uint64_t *head = wrapper->data;
    size_t size = 16 + (size_t)head[1]; /* magic, version and header's size; then what follows it */
    uint32_t *number = calloc(1, 16);
    request(MODULE, wrapper->data, size, NULL, 0, number, 4, NULL);
    return (void **)number;
}
API void __cudaRegisterFatBinaryEnd(void **module) { (void)module; }
API void __cudaUnregisterFatBinary(void **module) { (void)module; }
API void __cudaInitModule(void **module) { (void)module; }
API void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit, void *a, void *b, void *c, void *d, int *e) {
    (void)device; (void)limit; (void)a; (void)b; (void)c; (void)d; (void)e;
    struct function *made = calloc(1, sizeof *made);
    made->host = host; made->name = name; made->module = *(uint32_t *)module; made->shared_limit = SHARED_STATIC;
    functions = realloc(functions, (function_count + 1) * sizeof *functions);
    functions[function_count++] = made;
}
API void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int external, size_t size, int constant, int global) {
    (void)device; (void)external; (void)constant; (void)global;
    variables = realloc(variables, (variable_count + 1) * sizeof *variables);
    variables[variable_count++] = (struct variable){host, name, *(uint32_t *)module, 0, size};
}
API void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name, int external, size_t size, int constant, int global) {
    __cudaRegisterVar(module, (char *)host, device, name, external, size, constant, global);
}

static struct { dim3 grid, block; size_t shared; void *stream; } configurations[64];
static int depth;
API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    if (depth == 64) return 1;
    configurations[depth].grid = grid; configurations[depth].block = block;
    configurations[depth].shared = shared; configurations[depth++].stream = stream;
    return 0;
}
API error __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (depth == 0) return INVALID_CONFIGURATION;
    depth--;
    *grid = configurations[depth].grid; *block = configurations[depth].block; *shared = configurations[depth].shared;
    *(void **)stream = configurations[depth].stream;
    return OK;
}
API error __cudaGetKernel(void **kernel, const void *host) { *kernel = (void *)host; return OK; }

static error find(const void *host, struct function **found) {
    *found = NULL;
    for (size_t i = 0; i < function_count; i++) if (functions[i]->host == host) *found = functions[i];
    if (!*found) return failed(INVALID_FUNCTION);
    struct function *it = *found;
    if (it->known) return OK;
    struct { struct kernel_facts facts; uint32_t layout[2 * 1024]; } answer;
    error code = lost ? lost : failed(request(KERNEL, &it->module, 4, it->name, strlen(it->name), &answer, sizeof answer, NULL));
    if (code) return code;
    it->facts = answer.facts;
    memcpy(it->layout, answer.layout, sizeof it->layout);
    return it->known = 1, OK;
}

static error launch_cluster(const void *host, dim3 grid, dim3 block, dim3 cluster, void **arguments, size_t shared, int cooperative, void *stream) {
    struct function *it;
    error code = find(host, &it);
    if (code) return code;
    if (shared + it->facts.shared > (size_t)(it->shared_limit > SHARED_STATIC ? it->shared_limit + (int)it->facts.shared : SHARED_STATIC)) return failed(INVALID_VALUE);
    uint8_t packed[4096 * 8] = {0};
    size_t size = 0;
    for (uint32_t i = 0; i < it->facts.count; i++) {
        uint32_t at = it->layout[2 * i], bytes = it->layout[2 * i + 1];
        if (at + bytes > sizeof packed) return failed(INVALID_VALUE);
        memcpy(packed + at, arguments[i], bytes);
        if (at + bytes > size) size = at + bytes;
    }
    struct { struct launching head; char name[2048]; } message = {.head = {it->module, (uint32_t)strlen(it->name), (uint32_t)cooperative, (uint32_t)shared,
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {cluster.x, cluster.y, cluster.z}}};
    size_t name = message.head.kernel < sizeof message.name ? message.head.kernel : sizeof message.name;
    memcpy(message.name, it->name, name);
    return ask_on(stream, LAUNCH, &message, sizeof message.head + name, packed, size, NULL, 0);
}
static error launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, int cooperative, void *stream) {
    return launch_cluster(host, grid, block, (dim3){0, 0, 0}, arguments, shared, cooperative, stream);
}
API error __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) { return launch(kernel, grid, block, arguments, shared, 0, stream); }
API error __cudaLaunchKernel_ptsz(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) { return launch(kernel, grid, block, arguments, shared, 0, stream); }
API error cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) { return launch(kernel, grid, block, arguments, shared, 0, stream); }
API error cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) { return launch(kernel, grid, block, arguments, shared, 1, stream); }
struct launch_attribute { uint32_t id, pad; uint8_t value[64]; };
struct launch_config { dim3 grid, block; size_t shared; void *stream; struct launch_attribute *attributes; uint32_t count; };
API error cudaLaunchKernelExC(const struct launch_config *c, const void *kernel, void **arguments) {
    int cooperative = 0;
    dim3 cluster = {0, 0, 0};
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->attributes[i].id == 2) cooperative = *(int *)c->attributes[i].value;
        if (c->attributes[i].id == 4) memcpy(&cluster, c->attributes[i].value, sizeof cluster);
    }
    return launch_cluster(kernel, c->grid, c->block, cluster, arguments, c->shared, cooperative, c->stream);
}
API error cudaOccupancyMaxPotentialClusterSize(int *size, const void *kernel, const struct launch_config *c) { (void)kernel; (void)c; *size = 8; return OK; }
API error cudaOccupancyMaxActiveClusters(int *count, const void *kernel, const struct launch_config *c) {
    uint32_t size = 1;
    (void)kernel;
    for (uint32_t i = 0; i < c->count; i++) if (c->attributes[i].id == 4) { uint32_t each[3]; memcpy(each, c->attributes[i].value, sizeof each); size = each[0] * each[1] * each[2]; }
    *count = size ? MULTIPROCESSORS / (int)size : 0;
    return OK;
}

/* ---- memory ---- */
API error cudaMalloc(void **pointer, size_t size) {
    uint64_t wanted = size, address = 0;
    if (!pointer) return failed(INVALID_VALUE);
    *pointer = NULL;
    if (size == 0) return OK;
    error code = ask(ALLOCATE, &wanted, sizeof wanted, NULL, 0, &address, sizeof address);
    *pointer = (void *)address;
    return code;
}
API error cudaFree(void *pointer) { uint64_t address = (uint64_t)pointer; return pointer ? ask(RELEASE, &address, sizeof address, NULL, 0, NULL, 0) : lost; }
API error cudaMallocAsync(void **pointer, size_t size, void *stream) { (void)stream; return cudaMalloc(pointer, size); }
API error cudaMallocAsync_ptsz(void **pointer, size_t size, void *stream) { (void)stream; return cudaMalloc(pointer, size); }
API error cudaFreeAsync(void *pointer, void *stream) { (void)stream; return cudaFree(pointer); }
API error cudaFreeAsync_ptsz(void *pointer, void *stream) { (void)stream; return cudaFree(pointer); }
API error cudaMallocManaged(void **pointer, size_t size, unsigned flags) { (void)size; (void)flags; *pointer = NULL; return failed(NOT_SUPPORTED); }
API error cudaMallocHost(void **pointer, size_t size) { return (*pointer = malloc(size + 1)) ? OK : failed(NO_MEMORY); }
API error cudaHostAlloc(void **pointer, size_t size, unsigned flags) { (void)flags; return cudaMallocHost(pointer, size); }
API error cudaFreeHost(void *pointer) { free(pointer); return OK; }
API error cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) { *pitch = (width + 511) / 512 * 512; return cudaMalloc(pointer, *pitch * height); }

static int on_device(const void *pointer) { uint64_t a = (uint64_t)pointer; return a >= 0x700000000000ull && a < 0x780000000000ull; }
static error copy_on(void *stream, void *to, const void *from, size_t size, int kind) {
    if (kind == 4) kind = on_device(to) ? (on_device(from) ? 3 : 1) : on_device(from) ? 2 : 0;
    if (size == 0) return lost;
    if (kind == 0) { memmove(to, from, size); return lost; }
    struct copy copy = {(uint64_t)to, (uint64_t)from, size, (uint32_t)kind, 0};
    return ask_on(stream, COPY, &copy, sizeof copy, kind == 1 ? from : NULL, kind == 1 ? size : 0, kind == 2 ? to : NULL, kind == 2 ? size : 0);
}
API error cudaMemcpy(void *to, const void *from, size_t size, int kind) { return copy_on(NULL, to, from, size, kind); }
API error cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) { return copy_on(stream, to, from, size, kind); }
API error cudaMemcpyAsync_ptsz(void *to, const void *from, size_t size, int kind, void *stream) { return copy_on(stream, to, from, size, kind); }
API error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind, void *stream) {
    (void)stream;
    for (size_t row = 0; row < height; row++) { error code = cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind); if (code) return code; }
    return lost;
}
API error cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) { return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL); }
static error set_on(void *stream, void *to, int value, size_t size) {
    struct set set = {(uint64_t)to, size, (uint32_t)value & 255, 1};
    return size ? ask_on(stream, SET, &set, sizeof set, NULL, 0, NULL, 0) : lost;
}
API error cudaMemset(void *to, int value, size_t size) { return set_on(NULL, to, value, size); }
API error cudaMemsetAsync(void *to, int value, size_t size, void *stream) { return set_on(stream, to, value, size); }
API error cudaMemsetAsync_ptsz(void *to, int value, size_t size, void *stream) { return set_on(stream, to, value, size); }
API error cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream) {
    (void)stream;
    for (size_t row = 0; row < height; row++) { error code = cudaMemset((char *)to + row * pitch, value, width); if (code) return code; }
    return lost;
}
API error cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) { return cudaMemset2DAsync(to, pitch, value, width, height, NULL); }
API error cudaMemGetInfo(size_t *left, size_t *total) { *left = *total = (size_t)1 << 30; return lost; }

static error symbol(const void *host, uint64_t *address, uint64_t *size) {
    for (size_t i = 0; i < variable_count; i++) {
        struct variable *it = &variables[i];
        if (it->host != host) continue;
        if (!it->address) {
            uint64_t answer[2];
            error code = lost ? lost : failed(request(SYMBOL, &it->module, 4, it->name, strlen(it->name), answer, sizeof answer, NULL));
            if (code) return code;
            it->address = answer[0];
            it->size = answer[1];
        }
        *address = it->address;
        *size = it->size;
        return OK;
    }
    return failed(INVALID_SYMBOL);
}
API error cudaGetSymbolAddress(void **pointer, const void *host) { uint64_t address = 0, size; error code = symbol(host, &address, &size); *pointer = (void *)address; return code; }
API error cudaGetSymbolSize(size_t *size, const void *host) { uint64_t address, bytes = 0; error code = symbol(host, &address, &bytes); *size = bytes; return code; }
API error cudaMemcpyToSymbol(const void *host, const void *from, size_t size, size_t offset, int kind) {
    uint64_t address, bytes; error code = symbol(host, &address, &bytes);
    if (code) return code;
    if (offset + size > bytes) return failed(INVALID_VALUE);
    return cudaMemcpy((void *)(address + offset), from, size, kind);
}
API error cudaMemcpyFromSymbol(void *to, const void *host, size_t size, size_t offset, int kind) {
    uint64_t address, bytes; error code = symbol(host, &address, &bytes);
    if (code) return code;
    if (offset + size > bytes) return failed(INVALID_VALUE);
    return cudaMemcpy(to, (void *)(address + offset), size, kind);
}
API error cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t size, size_t offset, int kind, void *stream) { (void)stream; return cudaMemcpyToSymbol(host, from, size, offset, kind); }
API error cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t size, size_t offset, int kind, void *stream) { (void)stream; return cudaMemcpyFromSymbol(to, host, size, offset, kind); }

/* ---- errors ---- */
static const struct { int code; const char *name, *text; } ERRORS[] = {
    {0, "cudaSuccess", "no error"}, {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"}, {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"}, {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"}, {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"}, {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"}, {710, "cudaErrorAssert", "device-side assert triggered"},
    {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"}, {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"}, {801, "cudaErrorNotSupported", "operation not supported"},
    {912, "cudaErrorInvalidClusterSize", "cluster misconfiguration"}};
static int error_index(error code) { for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) if (ERRORS[i].code == code) return (int)i; return -1; }
API const char *cudaGetErrorName(error code) { int i = error_index(code); return i < 0 ? "unrecognized error code" : ERRORS[i].name; }
API const char *cudaGetErrorString(error code) { int i = error_index(code); return i < 0 ? "unrecognized error code" : ERRORS[i].text; }
API error cudaGetLastError(void) { error code = lost ? lost : last; last = OK; return code; }
API error cudaPeekAtLastError(void) { return lost ? lost : last; }

/* ---- devices ---- */
API error cudaDeviceSynchronize(void) { return catch_up_all(); }
API error cudaGetDevice(int *device) { *device = 0; return OK; }
API error cudaSetDevice(int device) { return device ? failed(101) : OK; }
API error cudaGetDeviceCount(int *count) { *count = 1; return OK; }
API error cudaDeviceReset(void) { return OK; }
API error cudaDeviceSetLimit(int limit, size_t value) { (void)limit; (void)value; return OK; }
API error cudaDeviceSetCacheConfig(int value) { (void)value; return OK; }
API error cudaRuntimeGetVersion(int *version) { *version = 13000; return OK; }
API error cudaDriverGetVersion(int *version) { *version = 13000; return OK; }
API error cudaDeviceGetAttribute(int *value, int attribute, int device) {
    static const int known[][2] = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {8, SHARED_STATIC}, {9, 65536}, {10, 32},
        {12, 65536}, {13, 1410000}, {16, MULTIPROCESSORS}, {31, 1}, {36, 1215000}, {37, 5120}, {38, 40 << 20}, {39, 2048}, {40, 3}, {41, 1}, {75, 8}, {76, 0}, {78, 1},
        {81, 167936}, {82, 65536}, {95, 1}, {97, SHARED_MOST}, {106, 32}, {115, 1}};
    if (device) return failed(101);
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) if (known[i][0] == attribute) *value = known[i][1];
    return OK;
}
/* struct cudaDeviceProp of CUDA 13, as far as programs print it: where an attribute's value goes, and in how many bytes. */
enum { PROPERTIES_BYTES = 1008, TOTAL_MEMORY_AT = 288 };
API error cudaGetDeviceProperties(void *into, int device) {
    static const uint16_t places[][3] = {{296, 8, 8}, {304, 4, 12}, {308, 4, 10}, {320, 4, 1}, {324, 4, 2}, {328, 4, 3}, {332, 4, 4}, {336, 4, 5}, {340, 4, 6},
        {344, 4, 7}, {352, 8, 9}, {360, 4, 75}, {364, 4, 76}, {384, 4, 16}, {560, 4, 31}, {584, 4, 40}, {588, 4, 41}, {592, 4, 37}, {596, 4, 38}, {604, 4, 39},
        {608, 4, 78}, {624, 8, 81}, {632, 4, 82}, {668, 4, 95}, {672, 8, 97}, {688, 4, 106}};
    if (device) return failed(101);
    memset(into, 0, PROPERTIES_BYTES);
    strcpy(into, "emulated GPU");
    *(size_t *)((char *)into + TOTAL_MEMORY_AT) = (size_t)1 << 30;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int value;
        cudaDeviceGetAttribute(&value, places[i][2], device);
        memcpy((char *)into + places[i][0], &value, sizeof value); /* the upper half of a wide one is 0 */
    }
    return OK;
}
API error cudaFuncSetAttribute(const void *host, int attribute, int value) {
    struct function *it;
    error code = find(host, &it);
    if (code) return code;
    if (attribute == 8) { if (value < 0 || value + (int)it->facts.shared > SHARED_MOST) return failed(INVALID_VALUE); it->shared_limit = value; }
    return OK;
}
API error cudaFuncSetCacheConfig(const void *host, int value) { (void)host; (void)value; return OK; }
struct function_attributes { size_t shared, constant, local; int threads, registers, ptx, binary, cache, dynamic, carveout, rest[32]; };
API error cudaFuncGetAttributes(struct function_attributes *into, const void *host) {
    struct function *it;
    error code = find(host, &it);
    if (code) return code;
    memset(into, 0, 56);
    into->shared = it->facts.shared; into->local = it->facts.local; into->threads = (int)it->facts.threads; into->registers = (int)it->facts.registers;
    into->ptx = into->binary = 80; into->dynamic = it->shared_limit;
    return OK;
}
API error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads, size_t shared, unsigned flags) {
    struct function *it;
    error code = find(host, &it);
    (void)flags;
    if (code) return code;
    if (threads < 1 || threads > 1024) { *blocks = 0; return failed(INVALID_VALUE); }
    int most = 2048 / ((threads + 31) / 32 * 32), by_shared = (int)(167936 / (it->facts.shared + shared + 1024));
    *blocks = most < by_shared ? most : by_shared;
    if (*blocks > 32) *blocks = 32;
    return OK;
}
API error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared) { return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0); }

/* ---- streams and events ---- */
static error new_stream(void **into, int own) {
    struct stream *made = calloc(1, sizeof *made);
    if (!made) return failed(NO_MEMORY);
    made->own = own; made->next = streams;
    streams = *into = made;
    return lost;
}
API error cudaStreamCreate(void **stream) { return new_stream(stream, 0); }
API error cudaStreamCreateWithFlags(void **stream, unsigned flags) { return new_stream(stream, flags & 1); }
API error cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) { (void)priority; return new_stream(stream, flags & 1); }
API error cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return OK; }
API error cudaStreamDestroy(void *stream) { (void)stream; return lost; } /* its work goes on */
API error cudaStreamSynchronize(void *stream) { return finish(own_stream(stream)); }
API error cudaStreamSynchronize_ptsz(void *stream) { return finish(own_stream(stream)); }
API error cudaStreamQuery(void *stream) { return finish(own_stream(stream)); }
static error reach(struct event *event) { return event ? catch_up(event->stream, event->after) : lost; }
API error cudaStreamWaitEvent(void *stream, void *event, unsigned flags) { (void)stream; (void)flags; return capturing ? OK : reach(event); }
static error new_event(void **event) { *event = calloc(1, sizeof(struct event)); return *event ? lost : failed(NO_MEMORY); }
API error cudaEventCreate(void **event) { return new_event(event); }
API error cudaEventCreateWithFlags(void **event, unsigned flags) { (void)flags; return new_event(event); }
API error cudaEventRecord(void *event, void *stream) {
    struct event *it = event;
    it->stream = own_stream(stream);
    it->after = it->stream ? it->stream->given : 0;
    return lost;
}
API error cudaEventRecordWithFlags(void *event, void *stream, unsigned flags) { (void)flags; return cudaEventRecord(event, stream); }
API error cudaEventSynchronize(void *event) { return reach(event); }
API error cudaEventQuery(void *event) { return reach(event); }
API error cudaEventDestroy(void *event) { free(event); return lost; }
API error cudaEventElapsedTime(float *ms, void *from, void *to) { (void)from; (void)to; *ms = 0.001f; return lost; }
API error cudaStreamBeginCapture(void *stream, int mode) {
    (void)stream; (void)mode;
    if (capturing) return failed(INVALID_VALUE);
    capturing = calloc(1, sizeof *capturing);
    return capturing ? OK : failed(NO_MEMORY);
}
API error cudaStreamEndCapture(void *stream, void **graph) { (void)stream; *graph = capturing; capturing = NULL; return *graph ? OK : failed(INVALID_VALUE); }
API error cudaStreamIsCapturing(void *stream, int *status) { (void)stream; *status = capturing != NULL; return OK; }
API error cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags) { (void)flags; *executable = graph; return OK; }
API error cudaGraphLaunch(void *executable, void *stream) {
    for (struct node *node = ((struct graph *)executable)->first; node; node = node->next) {
        error code = ask_on(stream, node->kind, node->data, node->size, NULL, 0, NULL, 0);
        if (code) return code;
    }
    return lost;
}
API error cudaGraphDestroy(void *graph) { (void)graph; return OK; }
API error cudaGraphExecDestroy(void *executable) { (void)executable; return OK; }
