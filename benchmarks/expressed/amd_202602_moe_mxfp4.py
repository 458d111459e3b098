"""Two layers of experts with MXFP4 weights, chosen by index; weights in one order of their bytes instead of two,
sizes without padding.

signature: moe_mxfp4(x: bf16[tokens, 32 * hidden], up: float4_e2m1fn[experts, 64 * inner, 32 * hidden],
    up_scale: float8_e8m0fnu[experts, 64 * inner, hidden], down: float4_e2m1fn[experts, 32 * hidden, 32 *
    inner], down_scale: float8_e8m0fnu[experts, 32 * hidden, inner], weights: f32[tokens, chosen], place:
    i32[tokens, chosen] < experts) -> out: bf16[tokens, 32 * hidden]
tolerance: 5e-2,5e-2
"""

import torch


def reference(x, up, up_scale, down, down_scale, weights, place, tokens, hidden, experts, inner, chosen):
    first = up * up_scale.repeat_interleave(32, -1)
    second = down * down_scale.repeat_interleave(32, -1)
    x = x.to(weights.dtype)
    out = torch.zeros_like(x)
    for turn in range(chosen):
        gate, value = (first[place[:, turn].long()] @ x.unsqueeze(-1)).chunk(2, dim=1)
        expert = second[place[:, turn].long()] @ (torch.nn.functional.silu(gate) * value)
        out = out + weights[:, turn, None] * expert.squeeze(-1)
    return out
