// Mistake: the guard of the store compares with the input's limits, not the transposed ones.
// Says: (guard|compare|rows|cols|limit|past the end|never written)
__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    __shared__ float tile[32][33];
    int64_t c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
    __syncthreads();
    int64_t oc = blockIdx.y * 32 + threadIdx.x, orow = blockIdx.x * 32 + threadIdx.y;
    if (r < rows && c < cols) out[orow * rows + oc] = tile[threadIdx.x][threadIdx.y];  // HERE
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(x, out, rows, cols);
}
