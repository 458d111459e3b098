// By NCCL, whose communicators are kept from call to call.
#include <nccl.h>
#include <cstdio>

static ncclComm_t communicators[2];

static void check(ncclResult_t code) {
    if (code != ncclSuccess) printf("NCCL: %s; %s\n", ncclGetErrorString(code), ncclGetLastError(nullptr));
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    static const int devices[2] = {0, 1};
    if (n == 0) return;
    if (!communicators[0]) check(ncclCommInitAll(communicators, 2, devices));
    check(ncclGroupStart());
    for (int gpu = 0; gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        check(ncclAllReduce(x[gpu], out[gpu], n, ncclFloat, ncclSum, communicators[gpu], 0));
    }
    check(ncclGroupEnd());
}
