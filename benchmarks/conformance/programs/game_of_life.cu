// Conway's Game of Life on a torus, with two boards in turn and halo cells in shared memory.
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int SIZE = 96, TILE = 16;

__global__ void generation(const unsigned char* now, unsigned char* next) {
    __shared__ unsigned char room[TILE + 2][TILE + 2];
    int left = blockIdx.x * TILE - 1 + SIZE, top = blockIdx.y * TILE - 1 + SIZE;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        int x = i % (TILE + 2), y = i / (TILE + 2);
        room[y][x] = now[(top + y) % SIZE * SIZE + (left + x) % SIZE];
    }
    __syncthreads();
    int around = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) around += room[threadIdx.y + dy][threadIdx.x + dx];
    bool alive = room[threadIdx.y + 1][threadIdx.x + 1];
    around -= alive;
    next[(blockIdx.y * TILE + threadIdx.y) * SIZE + blockIdx.x * TILE + threadIdx.x] = around == 3 || (alive && around == 2);
}

int main() {
    std::vector<unsigned char> board(SIZE * SIZE);
    unsigned state = 2024;
    for (unsigned char& it : board) it = (state = state * 1664525 + 1013904223) >> 30 == 0;
    const char* glider[3] = {".#.", "..#", "###"};
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) board[(y + 2) * SIZE + x + 2] = glider[y][x] == '#';
    unsigned char *now, *next;
    cudaMalloc(&now, board.size());
    cudaMalloc(&next, board.size());
    cudaMemcpy(now, board.data(), board.size(), cudaMemcpyHostToDevice);
    for (int i = 0; i < 20; i++) {
        generation<<<dim3(SIZE / TILE, SIZE / TILE), dim3(TILE, TILE)>>>(now, next);
        std::swap(now, next);
    }
    cudaMemcpy(board.data(), now, board.size(), cudaMemcpyDeviceToHost);
    unsigned checksum = 0, alive = 0;
    for (unsigned char it : board) { checksum = checksum * 31 + it; alive += it; }
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 48; x++) putchar(board[y * SIZE + x] ? '#' : '.');
        putchar('\n');
    }
    printf("life: %u alive, checksum %u\n", alive, checksum);
    cudaFree(now);
    cudaFree(next);
    return 0;
}
