/* A runtime call's place and error. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "runtime.h"

static error last;
error lost;
uint32_t called_at;

void tell(uint32_t which, const uint64_t numbers[6], const char *name) {
    struct misused message = {.which = which, .at = called_at};
    uint64_t spare;
    memcpy(message.numbers, numbers, sizeof message.numbers);
    request(MISUSED, &message, sizeof message, name, strlen(name), &spare, sizeof spare, NULL);
}

void came_from(void *address) {
    Dl_info its, ours;
    if (!dladdr(address, &its) || !dladdr((void *)came_from, &ours) || its.dli_fbase == ours.dli_fbase) return;
    called_at = (uint32_t)((char *)address - (char *)its.dli_fbase - 1); /* within the call, not behind it */
}

error failed(error code) {
    if (code) last = code;
    bool of_call =
            code == ALREADY_REGISTERED || code == NOT_REGISTERED || code == PEER_ENABLED || code == PEER_NOT_ENABLED;
    if (code >= STICKY_FROM && code <= STICKY_TO && !of_call) lost = code;
    return code;
}

error request_plain(uint32_t kind, const void *a, size_t a_size, void *answer, size_t room) {
    uint64_t spare = 0;
    if (lost) return lost;
    return failed(request(kind, a, a_size, NULL, 0, room ? answer : &spare, room ? room : sizeof spare, NULL));
}

static const struct {
    int code;
    const char *name, *text;
} ERRORS[] = {{0, "cudaSuccess", "no error"}, {1, "cudaErrorInvalidValue", "invalid argument"},
        {2, "cudaErrorMemoryAllocation", "out of memory"},
        {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
        {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
        {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
        {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
        {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
        {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
        {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
        {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
        {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
        {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
        {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
        {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
        {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
        {710, "cudaErrorAssert", "device-side assert triggered"},
        {712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
        {713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
        {715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
        {716, "cudaErrorMisalignedAddress", "misaligned address"},
        {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
        {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
        {801, "cudaErrorNotSupported", "operation not supported"},
        {912, "cudaErrorInvalidClusterSize", "cluster misconfiguration"}};
static int error_index(error code) {
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++)
        if (ERRORS[i].code == code) return (int)i;
    return -1;
}
API const char *cudaGetErrorName(error code) {
    int i = error_index(code);
    return i < 0 ? "unrecognized error code" : ERRORS[i].name;
}
API const char *cudaGetErrorString(error code) {
    int i = error_index(code);
    return i < 0 ? "unrecognized error code" : ERRORS[i].text;
}
API error cudaGetLastError(void) {
    error code = lost ? lost : last;
    last = OK;
    return code;
}
API error cudaPeekAtLastError(void) { return lost ? lost : last; }
