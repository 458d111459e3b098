import triton
import triton.language as tl


@triton.jit
def grouped_tiles(A, B, M, N, TM: tl.constexpr, TN: tl.constexpr, GROUP: tl.constexpr):
    # The order of programs of the matmul tutorial: GROUP tiles downwards, then to the right. Keeps lines in the L2.
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, TM)
    tiles_n = tl.cdiv(N, TN)
    in_group = GROUP * tiles_n
    group = pid // in_group
    first_m = group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    pm = first_m + (pid % in_group) % height
    pn = (pid % in_group) // height

    offs_m = (pm * TM + tl.arange(0, TM)).to(tl.int64)
    offs_n = (pn * TN + tl.arange(0, TN)).to(tl.int64)
    m2 = offs_m[:, None]
    n2 = offs_n[None, :]
    block = tl.load(A + m2 * N + n2, mask=(m2 < M) & (n2 < N), other=0.0)
    # the same block, addressed the other way round: no trans() needed
    tl.store(B + n2 * M + m2, block, mask=(m2 < M) & (n2 < N))


def solve(x, out, rows, cols):
    programs = triton.cdiv(rows, 64) * triton.cdiv(cols, 64)
    if programs == 0:
        return
    grouped_tiles[(programs,)](x, out, rows, cols, TM=64, TN=64, GROUP=8, num_warps=4)
