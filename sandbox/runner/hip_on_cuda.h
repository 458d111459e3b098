/* Included before HIP sources: HIP's runtime calls CUDA's.
 *
 * Names that CUDA 13 removed from under earlier HIPs are defined here, or fail with cudaErrorNotSupported. */
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
#include <cstddef>

struct grader_hip_properties : cudaDeviceProp {
    int clockRate, memoryClockRate, computeMode, kernelExecTimeoutEnabled, cooperativeMultiDeviceLaunch;
};
static inline cudaError_t cudaGetDeviceProperties(grader_hip_properties *found, int device) {
    cudaError_t code = cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(found), device);
    const struct {
        int *value;
        cudaDeviceAttr attribute;
    } others[] = {
            {&found->clockRate, cudaDevAttrClockRate},
            {&found->memoryClockRate, cudaDevAttrMemoryClockRate},
            {&found->computeMode, cudaDevAttrComputeMode},
            {&found->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
    };
    for (const auto &other : others) {
        *other.value = 0;
        if (code == cudaSuccess) (void)cudaDeviceGetAttribute(other.value, other.attribute, device);
    }
    found->cooperativeMultiDeviceLaunch = 0;
    return code;
}

static inline cudaMemLocation grader_hip_location(int device) {
    cudaMemLocation place = {};
    place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = device == cudaCpuDeviceId ? 0 : device;
    return place;
}
static inline cudaError_t cudaMemAdvise(const void *memory, size_t size, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(memory, size, advice, grader_hip_location(device));
}
static inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t size, int device, cudaStream_t stream) {
    return cudaMemPrefetchAsync(memory, size, grader_hip_location(device), 0u, stream);
}

static inline CUresult cuCtxCreate(CUcontext *made, unsigned flags, CUdevice device) {
    return cuCtxCreate(made, nullptr, flags, device);
}

static inline cudaError_t cudaGraphAddDependencies(
        cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphRemoveDependencies(
        cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphGetEdges(
        cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
static inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status,
        unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}
static inline cudaError_t cudaStreamUpdateCaptureDependencies(
        cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}

template <class T, int dimensions, enum cudaTextureReadMode mode> struct texture;
template <class... Arguments> static inline cudaError_t grader_hip_gone(Arguments &&...) {
    return cudaErrorNotSupported;
}
#define cudaBindTexture grader_hip_gone
#define cudaBindTexture2D grader_hip_gone
#define cudaBindTextureToArray grader_hip_gone
#define cudaUnbindTexture grader_hip_gone
#define cudaGetTextureAlignmentOffset grader_hip_gone
#define cudaLaunchCooperativeKernelMultiDevice grader_hip_gone
#define cudaDevAttrCooperativeMultiDeviceLaunch cudaDevAttrCooperativeLaunch
#define cudaDeviceProp grader_hip_properties
#endif

#include <hip/hip_runtime.h>

/* Votes of active threads, like HIP's shuffles. */
#ifndef __ballot
#define __any(...) __any_sync(__activemask(), __VA_ARGS__)
#define __all(...) __all_sync(__activemask(), __VA_ARGS__)
#define __ballot(...) static_cast<unsigned long long>(__ballot_sync(__activemask(), __VA_ARGS__))
#endif

#undef cudaBindTexture
#undef cudaBindTexture2D
#undef cudaBindTextureToArray
#undef cudaUnbindTexture
#undef cudaGetTextureAlignmentOffset
#undef cudaLaunchCooperativeKernelMultiDevice
#undef cudaDevAttrCooperativeMultiDeviceLaunch
#undef cudaDeviceProp
