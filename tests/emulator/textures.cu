// Textures and surfaces. Each entry returns 0, or the number of the line where it was not right.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(it) do { if (!(it)) return __LINE__; } while (0)
#define RAN(it) CHECK((it) == cudaSuccess)

constexpr int W = 17, H = 9, D = 5, N = 512;

__global__ void sample_2d(cudaTextureObject_t texture, const float2* at, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}
__global__ void sample_3d(cudaTextureObject_t texture, const float2* at, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex3D<float>(texture, at[i].x, at[i].y, at[i].x * 0.25f);
}
__global__ void fetch_1d(cudaTextureObject_t texture, float* out) {
    uchar4 it = tex1Dfetch<uchar4>(texture, threadIdx.x);
    out[threadIdx.x] = it.x + 256 * it.w;
}
__global__ void fetch_normalised(cudaTextureObject_t texture, float* out) { out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x); }
__global__ void layers(cudaTextureObject_t texture, float* out) {
    out[threadIdx.x] = tex2DLayered<float>(texture, 2.5f, 1.5f, threadIdx.x);
}
__global__ void turns(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = threadIdx.x, y = blockIdx.x;
    float it = surf2Dread<float>(from, x * sizeof(float), y);
    surf2Dwrite(it * 2 + 1, to, (W - 1 - x) * sizeof(float), H - 1 - y);
    surf2Dwrite(99.0f, to, (W + x) * sizeof(float), y, cudaBoundaryModeZero);
}
__global__ void behind(cudaSurfaceObject_t to) {
    surf2Dwrite(1.0f, to, W * sizeof(float), 0);
}

static float element(const std::vector<float>& data, int x, int y, int z, cudaTextureAddressMode mode) {
    auto place = [&](int at, int size) {
        if (at >= 0 && at < size) return at;
        if (mode == cudaAddressModeBorder) return -1;
        if (mode == cudaAddressModeWrap) return (at % size + size) % size;
        if (mode == cudaAddressModeMirror) { int turn = (at % (2 * size) + 2 * size) % (2 * size); return turn < size ? turn : 2 * size - 1 - turn; }
        return at < 0 ? 0 : size - 1;
    };
    int i = place(x, W), j = place(y, H), k = place(z, D);
    return i < 0 || j < 0 || k < 0 ? 0.0f : data[(k * H + j) * W + i];
}
// A filter's weights have 8 bits.
static void weigh(float at, int& low, float& upper) {
    low = static_cast<int>(std::floor(at - 0.5f));
    upper = std::rint((at - 0.5f - low) * 256) / 256;
}

static int run(int which) {
    float2* at;
    float* out;
    RAN(cudaMalloc(&at, N * sizeof(float2)));
    RAN(cudaMalloc(&out, N * sizeof(float)));
    std::vector<float2> places(N);
    for (int i = 0; i < N; i++) places[i] = {(i * 37 % 521) / 521.0f * 40 - 10, (i * 91 % 509) / 509.0f * 30 - 10};
    std::vector<float> data(W * H * D), found(N);
    for (size_t i = 0; i < data.size(); i++) data[i] = (i * 7919 % 1009) / 8.0f;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    cudaArray_t array, other;
    resource.resType = cudaResourceTypeArray;
    switch (which) {
        case 0:  // two axes: point and linear, all modes
            RAN(cudaMallocArray(&array, &format, W, H));
            RAN(cudaMemcpy2DToArray(array, 0, 0, data.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
            resource.res.array.array = array;
            for (auto mode : {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror})
                for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
                    bool normal = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
                    std::vector<float2> given = places;
                    if (normal) for (auto& it : given) it = {it.x / 32, it.y / 16};  // exact
                    how.addressMode[0] = how.addressMode[1] = mode;
                    how.filterMode = filter;
                    how.normalizedCoords = normal;
                    RAN(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
                    RAN(cudaMemcpy(at, given.data(), N * sizeof(float2), cudaMemcpyHostToDevice));
                    sample_2d<<<N / 128, 128>>>(texture, at, out);
                    RAN(cudaMemcpy(found.data(), out, N * 4, cudaMemcpyDeviceToHost));
                    for (int i = 0; i < N; i++) {
                        float x = given[i].x * (normal ? W : 1), y = given[i].y * (normal ? H : 1), want = 0;
                        if (filter == cudaFilterModePoint) {
                            want = element(data, std::floor(x), std::floor(y), 0, mode);
                        } else {
                            int column, row;
                            float a, b;
                            weigh(x, column, a);
                            weigh(y, row, b);
                            for (int k = 0; k < 4; k++)
                                want += (k & 1 ? a : 1 - a) * (k & 2 ? b : 1 - b) * element(data, column + (k & 1), row + k / 2, 0, mode);
                        }
                        CHECK(std::fabs(found[i] - want) <= 1e-4f * std::fabs(want));
                    }
                    RAN(cudaDestroyTextureObject(texture));
                }
            RAN(cudaFreeArray(array));
            break;
        case 1: {  // three axes
            cudaMemcpy3DParms copy = {};
            copy.extent = make_cudaExtent(W, H, D);
            RAN(cudaMalloc3DArray(&array, &format, copy.extent));
            copy.srcPtr = make_cudaPitchedPtr(data.data(), W * 4, W, H);
            copy.dstArray = array;
            copy.kind = cudaMemcpyHostToDevice;
            RAN(cudaMemcpy3D(&copy));
            resource.res.array.array = array;
            how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
            how.filterMode = cudaFilterModeLinear;
            RAN(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
            RAN(cudaMemcpy(at, places.data(), N * sizeof(float2), cudaMemcpyHostToDevice));
            sample_3d<<<N / 128, 128>>>(texture, at, out);
            RAN(cudaMemcpy(found.data(), out, N * 4, cudaMemcpyDeviceToHost));
            for (int i = 0; i < N; i++) {
                int place[3];
                float upper[3], want = 0;
                weigh(places[i].x, place[0], upper[0]);
                weigh(places[i].y, place[1], upper[1]);
                weigh(places[i].x * 0.25f, place[2], upper[2]);
                for (int k = 0; k < 8; k++) {
                    float weight = 1;
                    for (int axis = 0; axis < 3; axis++) weight *= k >> axis & 1 ? upper[axis] : 1 - upper[axis];
                    want += weight * element(data, place[0] + (k & 1), place[1] + (k >> 1 & 1), place[2] + (k >> 2), cudaAddressModeClamp);
                }
                CHECK(std::fabs(found[i] - want) <= 1e-4f * std::fabs(want));
            }
            RAN(cudaDestroyTextureObject(texture));
            RAN(cudaFreeArray(array));
            break;
        }
        case 2: {  // memory as a texture of bytes, whole and as fractions; layers
            uint8_t bytes[128];
            for (int i = 0; i < 128; i++) bytes[i] = i * 5;
            RAN(cudaMemcpy(at, bytes, sizeof bytes, cudaMemcpyHostToDevice));
            resource.resType = cudaResourceTypeLinear;
            resource.res.linear.devPtr = at;
            resource.res.linear.desc = cudaCreateChannelDesc<uchar4>();
            resource.res.linear.sizeInBytes = sizeof bytes;
            RAN(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
            fetch_1d<<<1, 32>>>(texture, out);
            RAN(cudaMemcpy(found.data(), out, 128, cudaMemcpyDeviceToHost));
            for (int i = 0; i < 32; i++) CHECK(found[i] == bytes[4 * i] + 256 * bytes[4 * i + 3]);
            resource.res.linear.desc = cudaCreateChannelDesc<uchar1>();
            how.readMode = cudaReadModeNormalizedFloat;
            RAN(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
            fetch_normalised<<<1, 128>>>(texture, out);
            RAN(cudaMemcpy(found.data(), out, 512, cudaMemcpyDeviceToHost));
            for (int i = 0; i < 128; i++) CHECK(found[i] == bytes[i] / 255.0f);
            RAN(cudaMalloc3DArray(&array, &format, make_cudaExtent(W, H, D), cudaArrayLayered));
            cudaMemcpy3DParms copy = {};
            copy.extent = make_cudaExtent(W, H, D);
            copy.srcPtr = make_cudaPitchedPtr(data.data(), W * 4, W, H);
            copy.dstArray = array;
            copy.kind = cudaMemcpyHostToDevice;
            RAN(cudaMemcpy3D(&copy));
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array;
            how.readMode = cudaReadModeElementType;
            RAN(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
            layers<<<1, D>>>(texture, out);
            RAN(cudaMemcpy(found.data(), out, D * 4, cudaMemcpyDeviceToHost));
            for (int i = 0; i < D; i++) CHECK(found[i] == data[(i * H + 1) * W + 2]);
            RAN(cudaFreeArray(array));
            break;
        }
        case 3: case 4: {  // surfaces; and beyond one
            cudaSurfaceObject_t from, to;
            RAN(cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore));
            RAN(cudaMallocArray(&other, &format, W, H, cudaArraySurfaceLoadStore));
            RAN(cudaMemcpy2DToArray(array, 0, 0, data.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
            resource.res.array.array = array;
            RAN(cudaCreateSurfaceObject(&from, &resource));
            resource.res.array.array = other;
            RAN(cudaCreateSurfaceObject(&to, &resource));
            if (which == 4) {
                behind<<<1, 1>>>(to);
                CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
                return 0;
            }
            turns<<<H, W>>>(from, to);
            RAN(cudaMemcpy2DFromArray(found.data(), W * 4, other, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) CHECK(found[(H - 1 - y) * W + W - 1 - x] == data[y * W + x] * 2 + 1);
            RAN(cudaFreeArray(array));
            RAN(cudaFreeArray(other));
            break;
        }
        default: return -1;
    }
    RAN(cudaGetLastError());
    RAN(cudaFree(at));
    RAN(cudaFree(out));
    return 0;
}
extern "C" int grader_entry(void** a) { return run(*static_cast<int*>(a[0])); }
