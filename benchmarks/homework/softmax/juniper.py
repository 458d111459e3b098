import triton
import triton.language as tl


@triton.jit
def persistent_rows(a, b, rows, cols, B: tl.constexpr):
    # rows are dealt out to the programs like cards
    for r in range(tl.program_id(0), rows, tl.num_programs(0)):
        p = a + r.to(tl.int64) * cols
        q = b + r.to(tl.int64) * cols
        o = tl.arange(0, B)
        if B >= cols:
            v = tl.load(p + o, mask=o < cols, other=float("-inf"))
            w = tl.exp(v - tl.max(v))
            tl.store(q + o, w / tl.sum(w), mask=o < cols)
        else:
            m = float("-inf")
            for c in range(0, cols, B):
                m = tl.maximum(m, tl.max(tl.load(p + c + o, mask=c + o < cols, other=float("-inf"))))
            z = tl.zeros((B,), tl.float32)
            for c in range(0, cols, B):
                z += tl.exp(tl.load(p + c + o, mask=c + o < cols, other=float("-inf")) - m)
            d = tl.sum(z)
            for c in range(0, cols, B):
                u = tl.load(p + c + o, mask=c + o < cols, other=0.0)
                tl.store(q + c + o, tl.exp(u - m) / d, mask=c + o < cols)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    persistent_rows[(min(rows, 132),)](x, out, rows, cols, B=min(1024, triton.next_power_of_2(cols)))
