// A header of faults.cu: what goes wrong in here is named at the line that calls it.
#pragma once

__device__ __forceinline__ float third_after(const float* from, int i) {
    return from[i + 3];
}
