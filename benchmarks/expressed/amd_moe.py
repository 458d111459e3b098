"""A mixture of experts with a router and a shared expert; the experts' weights are one array each, not a dict.

signature: moe(x: f16[tokens, hidden], router: f16[experts, hidden], gate: f16[experts, hidden, inner], up:
    f16[experts, hidden, inner], down: f16[experts, inner, hidden], shared_gate: f16[hidden, shared], shared_up:
    f16[hidden, shared], shared_down: f16[shared, hidden], chosen: size) -> out: f16[tokens, hidden]
tolerance: 1e-2,1e-2
constraints: 1 <= chosen, chosen <= experts
"""

import torch

silu = torch.nn.functional.silu


def wide(*values):
    return [value.to(torch.promote_types(value.dtype, torch.float32)) for value in values]


def reference(x, router, gate, up, down, shared_gate, shared_up, shared_down, chosen, **sizes):
    x, router, gate, up, down = wide(x, router, gate, up, down)
    shared_gate, shared_up, shared_down = wide(shared_gate, shared_up, shared_down)
    scores, places = (x @ router.T).softmax(-1).topk(chosen, dim=-1)
    out = (silu(x @ shared_gate) * (x @ shared_up)) @ shared_down
    for turn in range(chosen):
        at, row = places[:, turn], x.unsqueeze(1)
        inner = silu(row @ gate[at]) * (row @ up[at])
        out = out + scores[:, turn, None] * (inner @ down[at]).squeeze(1)
    return out
