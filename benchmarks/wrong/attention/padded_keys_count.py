# Mistake: keys beyond seq are not set to -inf: each adds exp(0 - top) to the sum.
# Says: (mask|padding|padded|beyond|lanes|-inf) ; (key|seq|sum|exp|lane|softmax)
import triton
import triton.language as tl


@triton.jit
def attn(q, k, v, o, scale, seq, dim, B: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(1).to(tl.int64) * seq * dim
    m = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, D)
    qm = (m[:, None] < seq) & (d[None, :] < dim)
    qq = tl.load(q + base + m[:, None] * dim + d[None, :], mask=qm, other=0.0)
    top = tl.full((B,), float("-inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for first in range(0, seq, B):
        n = first + tl.arange(0, B)
        nm = (n[:, None] < seq) & (d[None, :] < dim)
        kk = tl.load(k + base + n[:, None] * dim + d[None, :], mask=nm, other=0.0)
        vv = tl.load(v + base + n[:, None] * dim + d[None, :], mask=nm, other=0.0)
        s = tl.dot(qq, tl.trans(kk), input_precision="ieee") * scale
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        old = tl.exp(top - new)
        total = total * old + tl.sum(p, axis=1)
        acc = acc * old[:, None] + tl.dot(p, vv, input_precision="ieee")
        top = new
    tl.store(o + base + m[:, None] * dim + d[None, :], acc / total[:, None], mask=qm)


def solve(q, k, v, out, scale, heads, seq, dim):
    if heads and seq and dim:
        attn[(triton.cdiv(seq, 16), heads)](q, k, v, out, scale, seq, dim, B=16, D=max(16, triton.next_power_of_2(dim)))
