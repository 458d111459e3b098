"""Blames the host.

Mechanism: raises, while it is loaded, what a broken driver would raise.
Surface: failures that are ours, and cost a student nothing.
Gain: an attempt that does not count, and three more for nothing.
Challenge: twice
Defence: compile_error
"""


class CudaError(Exception):
    code, name, out_of_memory = 100, "CUDA_ERROR_NO_DEVICE", False


def solve(x, out, n):
    pass


raise CudaError("no CUDA-capable device is detected")
