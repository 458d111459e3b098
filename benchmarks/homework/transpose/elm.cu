#include <cstdint>
#include <cuda_runtime.h>

// Each thread turns a 4 x 4 patch in registers. Vector loads where the matrix allows them, single ones elsewhere.
__device__ void loadRow(float (&v)[4], const float* p, int64_t left, bool vec) {
    if (vec && left >= 4) {
        const float4 q = *reinterpret_cast<const float4*>(p);
        v[0] = q.x; v[1] = q.y; v[2] = q.z; v[3] = q.w;
    } else {
        for (int e = 0; e < 4; e++) v[e] = e < left ? p[e] : 0.f;
    }
}

__global__ void patch4(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t c = 4 * (blockIdx.x * (int64_t)blockDim.x + threadIdx.x);
    int64_t r = 4 * (blockIdx.y * (int64_t)blockDim.y + threadIdx.y);
    if (c >= cols || r >= rows) return;
    float m[4][4];
    for (int a = 0; a < 4; a++)
        if (r + a < rows) loadRow(m[a], x + (r + a) * cols + c, cols - c, cols % 4 == 0);
    for (int b = 0; b < 4 && c + b < cols; b++) {
        float* o = out + (c + b) * rows + r;
        if (rows % 4 == 0) {
            *reinterpret_cast<float4*>(o) = make_float4(m[0][b], m[1][b], m[2][b], m[3][b]);
        } else {
            for (int a = 0; a < 4 && r + a < rows; a++) o[a] = m[a][b];
        }
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows * cols < 1) return;
    dim3 t(8, 16);
    patch4<<<dim3((cols + 31) / 32, (rows + 63) / 64), t>>>(x, out, rows, cols);
}
