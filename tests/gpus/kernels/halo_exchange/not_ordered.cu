// Mistake: nothing orders a GPU that overwrites its edge with the one that still reads it.
__global__ void stencil(const float* old, float* u, const float* weights, const float* left, const float* right, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float before = i > 0 ? old[i - 1] : left ? *left : 0.0f, after = i + 1 < n ? old[i + 1] : right ? *right : 0.0f;
    u[i] = weights[0] * before + weights[1] * old[i] + weights[2] * after;
}
__global__ void fetch(const float* from, float* to) { *to = *from; }
__global__ void add(const float* a, const float* b, float* total) { *total = *a + *b; }

static float *old[2], *edge[2];
static int64_t room;
static cudaEvent_t copied[2], done;

void solve(const float* weights, float* const* u, float* total, int64_t n, int64_t gpus) {
    for (int gpu = 0; n > room && gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        if (!edge[gpu]) {
            cudaMalloc(&edge[gpu], sizeof(float));
            cudaEventCreateWithFlags(&copied[gpu], cudaEventDisableTiming);
        }
        if (!done && gpu == 0) cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
        cudaFree(old[gpu]);
        cudaMalloc(&old[gpu], n * sizeof(float));
    }
    if (n > room) room = n;
    for (int gpu = 0; gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        cudaMemcpyAsync(old[gpu], u[gpu], n * sizeof(float), cudaMemcpyDeviceToDevice, 0);
        const float* there = gpu == 0 ? u[1] : u[0] + n - 1;
        fetch<<<1, 1>>>(there, edge[gpu]);
        cudaEventRecord(copied[gpu], 0);
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        stencil<<<(n + 255) / 256, 256>>>(
                old[gpu], u[gpu], weights, gpu == 1 ? edge[1] : nullptr, gpu == 0 ? edge[0] : nullptr, n);
        if (gpu == 0) cudaEventRecord(done, 0);
    }
    cudaStreamWaitEvent(0, done, 0);
    add<<<1, 1>>>(u[0] + n - 1, u[1], total);
}
