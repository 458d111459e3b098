// A mistake for each size of a case: each shows once, and the file is compiled once.
__device__ unsigned flag;

__global__ void add(const float* mine, const float* other, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = mine[i] + other[i];
}
__global__ void fetch(const float* from, float* to, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
__global__ void meet(unsigned* here, unsigned* there) {
    atomicExch_system(there, 1u);
    while (atomicExch_system(here, 0u) == 0) {}
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    int blocks = (n + 255) / 256;
    if (n == 0) return;
    if (n == 1000) { // GPU 1 never gets its result
        add<<<blocks, 256>>>(x[0], x[1], out[0], n);
    } else if (n == 1) { // peer access is turned off
        cudaSetDevice(1);
        cudaDeviceDisablePeerAccess(0);
        add<<<blocks, 256>>>(x[1], x[0], out[1], n);
    } else if (n == 4097) { // GPU 1 reads the sum while GPU 0 may still compute it
        add<<<blocks, 256>>>(x[0], x[1], out[0], n);
        cudaSetDevice(1);
        fetch<<<blocks, 256>>>(out[0], out[1], n);
    } else if (n == 5000) { // one element too many on GPU 1
        for (int gpu = 0; gpu < 2; gpu++) {
            cudaSetDevice(gpu);
            add<<<blocks, 256>>>(x[gpu], x[1 - gpu], out[gpu], n + gpu);
        }
    } else if (n == 256) { // a stream of GPU 0 gets a launch while GPU 1 is set
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaSetDevice(1);
        add<<<blocks, 256, 0, stream>>>(x[1], x[0], out[1], n);
    } else if (n == 128) { // nothing waits for GPU 1's stream
        cudaStream_t apart;
        add<<<blocks, 256>>>(x[0], x[1], out[0], n);
        cudaSetDevice(1);
        cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
        add<<<blocks, 256, 0, apart>>>(x[1], x[0], out[1], n);
    } else { // kernels of both GPUs wait for each other
        unsigned* flags[2];
        for (int gpu = 0; gpu < 2; gpu++) {
            cudaSetDevice(gpu);
            cudaGetSymbolAddress((void**)&flags[gpu], flag);
        }
        for (int gpu = 0; gpu < 2; gpu++) {
            cudaSetDevice(gpu);
            meet<<<1, 1>>>(flags[gpu], flags[1 - gpu]);
        }
    }
}
