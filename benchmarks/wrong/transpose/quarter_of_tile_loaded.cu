// Mistake: the loop that fills the tile ends at 24, so its last 8 rows hold what was there before.
// Says: (shared|tile) ; (uninitiali|never (written|set|filled)|before .*written|without a value|no value)
__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    __shared__ float tile[32][33];
    int64_t c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 24; j += 8)
        if (c < cols && r + j < rows) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * cols + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (c < rows && r + j < cols) out[(r + j) * rows + c] = tile[threadIdx.x][threadIdx.y + j]; // HERE
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(x, out, rows, cols);
}
