"""Products of NVFP4 matrices in groups: each row of one array has its group's number in place of a list of arrays;
n and k are common, as in all of its benchmarks.

signature: nvfp4_group_gemm(a: float4_e2m1fn[rows, 16 * blocks], b: float4_e2m1fn[groups, n, 16 * blocks],
    scale_a: float8_e4m3fn[rows, blocks], scale_b: float8_e4m3fn[groups, n, blocks], group: i32[rows] < groups)
    -> c: f16[rows, n]
tolerance: 1e-3,1e-3
"""


def reference(a, b, scale_a, scale_b, group, rows, blocks, groups, n):
    wide = a * scale_a.repeat_interleave(16, -1)
    other = b * scale_b.repeat_interleave(16, -1)
    return (other[group.long()] @ wide.unsqueeze(-1)).squeeze(-1)


def magnitude(**given):
    floats = {name: value.abs() for name, value in given.items() if not isinstance(value, int)}
    return reference(**{**given, **floats})
