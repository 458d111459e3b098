// Sparse matrix times vector: CSR with a row a thread, CSR with a row a warp, ELL, and COO with atomics.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void csr_scalar(const int* starts, const int* columns, const int* values, const int* x, int* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}
__global__ void csr_vector(const int* starts, const int* columns, const int* values, const int* x, int* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= rows) return;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) sum += values[k] * x[columns[k]];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) y[row] = sum;
}
__global__ void ell(const int* columns, const int* values, const int* x, int* y, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int sum = 0;
    for (int k = 0; k < width; k++) {
        int column = columns[k * rows + row];
        if (column >= 0) sum += values[k * rows + row] * x[column];
    }
    y[row] = sum;
}
__global__ void coo(const int* row_of, const int* columns, const int* values, const int* x, int* y, int count) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) atomicAdd(&y[row_of[k]], values[k] * x[columns[k]]);
}

template <typename T>
T* on_device(const std::vector<T>& host) {
    T* device;
    cudaMalloc(&device, host.size() * sizeof(T));
    cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

int main() {
    const int rows = 1200;
    std::vector<int> starts{0}, columns, values, row_of, x(rows);
    int width = 0;
    for (int row = 0; row < rows; row++) {
        int length = row % 100 == 7 ? 90 : row % 9;
        for (int k = 0; k < length; k++) {
            columns.push_back((row * 17 + k * 29) % rows);
            values.push_back((row + k) % 13 - 6);
            row_of.push_back(row);
        }
        if (length > width) width = length;
        starts.push_back(static_cast<int>(columns.size()));
        x[row] = row % 21 - 10;
    }
    std::vector<int> ell_columns(width * rows, -1), ell_values(width * rows), expected(rows), y(rows);
    for (int row = 0; row < rows; row++)
        for (int k = starts[row]; k < starts[row + 1]; k++) {
            ell_columns[(k - starts[row]) * rows + row] = columns[k];
            ell_values[(k - starts[row]) * rows + row] = values[k];
            expected[row] += values[k] * x[columns[k]];
        }
    int *d_starts = on_device(starts), *d_columns = on_device(columns), *d_values = on_device(values), *d_rows = on_device(row_of);
    int *d_x = on_device(x), *d_y = on_device(y), *d_ell_columns = on_device(ell_columns), *d_ell_values = on_device(ell_values);
    int count = static_cast<int>(columns.size()), wrong = 0;
    for (int which = 0; which < 4; which++) {
        cudaMemset(d_y, 0, rows * sizeof(int));
        if (which == 0) csr_scalar<<<(rows + 127) / 128, 128>>>(d_starts, d_columns, d_values, d_x, d_y, rows);
        if (which == 1) csr_vector<<<(rows * 32 + 127) / 128, 128>>>(d_starts, d_columns, d_values, d_x, d_y, rows);
        if (which == 2) ell<<<(rows + 127) / 128, 128>>>(d_ell_columns, d_ell_values, d_x, d_y, rows, width);
        if (which == 3) coo<<<(count + 127) / 128, 128>>>(d_rows, d_columns, d_values, d_x, d_y, count);
        cudaMemcpy(y.data(), d_y, rows * sizeof(int), cudaMemcpyDeviceToHost);
        unsigned checksum = 0;
        for (int it : y) checksum = checksum * 31 + static_cast<unsigned>(it);
        printf("spmv %d: %d numbers, checksum %u\n", which, count, checksum);
        wrong += y != expected;
    }
    for (int* it : {d_starts, d_columns, d_values, d_rows, d_x, d_y, d_ell_columns, d_ell_values}) cudaFree(it);
    return wrong;
}
