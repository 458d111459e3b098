// Mistake: a block begins at the number kept up to and including itself, not before it.
// Says: (past the end|never written|too late|too far|offset|inclusive|begin) ; (past the end|block|inclusive|before|first)
__global__ void counts(const float* x, int64_t* found, int64_t n) {
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    int kept = __syncthreads_count(i < n && x[i] > 0);
    if (threadIdx.x == 0) found[blockIdx.x] = kept;
}
__global__ void offsets(int64_t* found, int64_t* count, int64_t blocks) {
    int64_t s = 0;
    for (int64_t b = 0; b < blocks; b++) s += found[b], found[b] = s;
    *count = s;
}
__global__ void place(const float* x, float* out, const int64_t* found, int64_t n) {
    __shared__ bool kept[256];
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    bool mine = i < n && x[i] > 0;
    kept[threadIdx.x] = mine;
    __syncthreads();
    int before = 0;
    for (int t = 0; t < threadIdx.x; t++) before += kept[t];
    int64_t at = found[blockIdx.x] + before;
    if (mine && at < n) out[at] = x[i];
}
extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    int64_t blocks = (n + 255) / 256;
    cudaMemsetAsync(out, 0, n * sizeof(float));
    cudaMemsetAsync(count, 0, sizeof(int64_t));
    if (!n) return;
    int64_t* found;
    cudaMalloc(&found, blocks * sizeof(int64_t));
    counts<<<blocks, 256>>>(x, found, n);
    offsets<<<1, 1>>>(found, count, blocks);
    place<<<blocks, 256>>>(x, out, found, n);
    cudaFree(found);
}
