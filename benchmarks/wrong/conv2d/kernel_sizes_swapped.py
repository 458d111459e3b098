# Mistake: the loops over the weights run to kw and kh instead of kh and kw.
# Says: (kh|kw|\bw\b) ; (exchang|swap|past the end|outside|transpos|left out|never read|rows and columns|window)
import triton
import triton.language as tl


@triton.jit
def conv(x, w, out, h, width, kh, kw, BLOCK: tl.constexpr):
    ow = width - kw + 1
    r = tl.program_id(1)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for i in range(kw):
        for j in range(kh):
            inside = (r + i < h) & (c + j < width)
            s += tl.load(x + (r + i) * width + c + j, mask=inside, other=0.0) * tl.load(w + i * kw + j)
    tl.store(out + r.to(tl.int64) * ow + c, s, mask=c < ow)


def solve(x, w, out, h, width, kh, kw):
    oh, ow = h - kh + 1, width - kw + 1
    if oh > 0 and ow > 0:
        conv[(triton.cdiv(ow, 128), oh)](x, w, out, h, width, kh, kw, BLOCK=128)
