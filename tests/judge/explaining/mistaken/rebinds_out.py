import triton
import triton.language as tl


def solve(a, b, out, n):
    out = a + b
