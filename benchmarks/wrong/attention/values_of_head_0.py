# Mistake: the offset of the head is missing for v.
# Says: \bv\b ; (head|\[0\])
import triton
import triton.language as tl


@triton.jit
def attn(q, k, v, o, scale, seq, dim, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    h = tl.program_id(1)
    base = h.to(tl.int64) * seq * dim
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    qm = (m[:, None] < seq) & (d[None, :] < dim)
    qq = tl.load(q + base + m[:, None] * dim + d[None, :], mask=qm, other=0.0)
    mx = tl.full((BM,), float("-inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for s in range(0, seq, BN):
        n = s + tl.arange(0, BN)
        nm = (n[:, None] < seq) & (d[None, :] < dim)
        kk = tl.load(k + base + n[:, None] * dim + d[None, :], mask=nm, other=0.0)
        vv = tl.load(v + n[:, None] * dim + d[None, :], mask=nm, other=0.0)
        s2 = tl.dot(qq, tl.trans(kk), input_precision="ieee") * scale
        s2 = tl.where(n[None, :] < seq, s2, float("-inf"))
        new = tl.maximum(mx, tl.max(s2, axis=1))
        p = tl.exp(s2 - new[:, None])
        l = l * tl.exp(mx - new) + tl.sum(p, axis=1)
        acc = acc * tl.exp(mx - new)[:, None] + tl.dot(p, vv, input_precision="ieee")
        mx = new
    tl.store(o + base + m[:, None] * dim + d[None, :], acc / l[:, None], mask=qm)


def solve(q, k, v, out, scale, heads, seq, dim):
    if heads and seq and dim:
        D = max(16, triton.next_power_of_2(dim))
        attn[(triton.cdiv(seq, 16), heads)](q, k, v, out, scale, seq, dim, BM=16, BN=16, D=D)
