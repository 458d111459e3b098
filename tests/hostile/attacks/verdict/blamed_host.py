"""Blames the host.

Mechanism: while it is loaded, raises a broken driver's error.
Surface: platform failures, which cost a student nothing.
Gain: an attempt that does not count, and three free retries.
Challenge: twice
Defence: compile_error
"""


class CudaError(Exception):
    code, name, out_of_memory = 100, "CUDA_ERROR_NO_DEVICE", False


def solve(x, out, n):
    pass


raise CudaError("no CUDA-capable device is detected")
