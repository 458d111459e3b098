import torch
import triton
import triton.language as tl


@triton.jit
def last_one_adds(x, parts, ticket, out, n, G: tl.constexpr, B: tl.constexpr):
    g = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    off = g.to(tl.int64) * B + tl.arange(0, B)
    for _ in range(tl.cdiv(n, G * B)):
        acc += tl.load(x + off, mask=off < n, other=0.0)
        off += G * B
    tl.atomic_xchg(parts + g, tl.sum(acc))
    # whoever draws the last ticket adds the others' sums
    drawn = tl.atomic_add(ticket, 1)
    if drawn == G - 1:
        all_parts = tl.load(parts + tl.arange(0, G), volatile=True)
        tl.store(out, tl.sum(all_parts))


@triton.jit
def new_ticket(ticket):
    tl.store(ticket, 0)


def solve(x, out, n):
    groups = 128
    parts = torch.empty(groups, dtype=torch.float32, device=x.device)
    ticket = torch.empty(1, dtype=torch.int32, device=x.device)
    new_ticket[(1,)](ticket)
    last_one_adds[(groups,)](x, parts, ticket, out, n, G=groups, B=512)
