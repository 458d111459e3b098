"""The contract of transformer_block: norm and causal attention, norm and MLP, each added to its input."""

from collections.abc import Iterator

import torch
from torch.nn.functional import gelu, rms_norm, scaled_dot_product_attention

# By default PyTorch lets cuBLAS split a long sum and add the parts in float16.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

# Queries whose scores are held at once: in float64, 2048 x 8192 of them take 128 MiB.
QUERIES_AT_ONCE = 2048
_SQRT_HALF, _DENSITY = 0.5**0.5, (2 * torch.pi) ** -0.5


def reference(
    x: torch.Tensor,
    gamma_1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    gamma_2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    eps: float,
    batch: int,
    seq: int,
    heads: int,
    dim: int,
    hidden: int,
) -> torch.Tensor:
    """out[batch, seq, heads * dim]. In float16 each step rounds its result."""
    if x.numel() == 0:
        return torch.empty_like(x)
    qkv = _norm(x, gamma_1, eps) @ w_qkv
    if x.dtype is torch.float64:
        mixed = torch.empty_like(x)
        for one, columns, queries, weights, _, _, values in _attention(qkv, heads, dim):
            mixed[one, queries, columns] = weights @ values
    else:
        mixed = _fused_attention(qkv, heads, dim)
    middle = x + mixed @ w_out
    return middle + _gelu(_norm(middle, gamma_2, eps) @ w_up) @ w_down


def baseline(
    x: torch.Tensor,
    gamma_1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    gamma_2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    eps: float,
    batch: int,
    seq: int,
    heads: int,
    dim: int,
    hidden: int,
) -> torch.Tensor:
    """The same by PyTorch's fused norm."""
    if x.numel() == 0:
        return torch.empty_like(x)
    qkv = rms_norm(x, x.shape[-1:], gamma_1, eps) @ w_qkv
    middle = x + _fused_attention(qkv, heads, dim) @ w_out
    return middle + gelu(rms_norm(middle, x.shape[-1:], gamma_2, eps) @ w_up) @ w_down


def magnitude(
    x: torch.Tensor,
    gamma_1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    gamma_2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
    eps: float,
    batch: int,
    seq: int,
    heads: int,
    dim: int,
    hidden: int,
) -> torch.Tensor:
    """The scale of rounding errors: what a result is off by, to first order, if each step is off by its result's size.

    Errors are independent, so their squares add up: what ends in _off is the square of an error. float32 is precise
    enough for a scale.
    """
    if x.numel() == 0:
        return torch.empty_like(x)
    x, gamma_1, w_qkv, w_out, gamma_2, w_up, w_down = (
        each.float() for each in (x, gamma_1, w_qkv, w_out, gamma_2, w_up, w_down)
    )
    normed = _norm(x, gamma_1, eps)
    qkv = normed @ w_qkv
    qkv_off = qkv.square() + normed.square() @ w_qkv.square()
    mixed, mixed_off = torch.empty_like(x), torch.empty_like(x)
    for one, columns, queries, weights, query, keys, values in _attention(qkv, heads, dim):
        of_queries, of_keys, of_values = _split(qkv_off[one], columns, x.shape[-1])
        seen = slice(0, queries.stop)
        scores_off = (of_queries[queries] @ keys.square().T + query.square() @ of_keys[seen].T) / dim
        result = weights @ values
        # A score that is off by e moves e times its weight from all values to its own. 1: weights are rounded, too.
        moved = weights.square() * (1 + scores_off)
        off = (
            moved @ values.square()
            - 2 * result * (moved @ values)
            + result.square() * moved.sum(1, keepdim=True)
        )
        mixed[one, queries, columns] = result
        mixed_off[one, queries, columns] = (
            result.square() + off.clamp(min=0) + weights.square() @ of_values[seen]
        )
    added = mixed @ w_out
    middle = x + added
    middle_off = middle.square() + added.square() + mixed_off @ w_out.square()
    normed = _norm(middle, gamma_2, eps)
    normed_off = normed.square() + (_norm_factor(middle, eps) * gamma_2).square() * middle_off
    raised = normed @ w_up
    raised_off = raised.square() + normed_off @ w_up.square()
    below = 0.5 * (1 + torch.erf(raised * _SQRT_HALF))
    slope = below + raised * _DENSITY * torch.exp(-0.5 * raised.square())
    active = raised * below
    active_off = active.square() + slope.square() * raised_off
    added = active @ w_down
    off = (middle + added).square() + middle_off + added.square() + active_off @ w_down.square()
    return off.sqrt()


def _norm_factor(x: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def _norm(x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
    """Squares of float16 would overflow."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * _norm_factor(wide, eps) * gamma).to(x.dtype)


def _gelu(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's own for CPUs gives NaN for +inf."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (0.5 * wide * (1 + torch.erf(wide * _SQRT_HALF))).to(x.dtype)


def _fused_attention(qkv: torch.Tensor, heads: int, dim: int) -> torch.Tensor:
    batch, seq, _ = qkv.shape
    q, k, v = qkv.view(batch, seq, 3, heads, dim).permute(2, 0, 3, 1, 4)
    mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
    return mixed.transpose(1, 2).reshape(batch, seq, heads * dim)


def _split(qkv: torch.Tensor, columns: slice, width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of a sequence, [seq, dim] each: a head's queries, keys and values."""
    q, k, v = (qkv[:, part * width : (part + 1) * width][:, columns] for part in range(3))
    return q, k, v


def _attention(
    qkv: torch.Tensor, heads: int, dim: int
) -> Iterator[tuple[int, slice, slice, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Sequence, columns of a head, queries; weights of the keys up to the last of them; then q, k and v."""
    batch, seq, _ = qkv.shape
    for one in range(batch):
        for head in range(heads):
            columns = slice(head * dim, (head + 1) * dim)
            q, k, v = _split(qkv[one], columns, heads * dim)
            for start in range(0, seq, QUERIES_AT_ONCE):
                queries = slice(start, min(start + QUERIES_AT_ONCE, seq))
                scores = q[queries] @ k[: queries.stop].T
                scores *= dim**-0.5
                key = torch.arange(queries.stop, device=qkv.device)
                scores.masked_fill_(key[None, :] > key[queries, None], float("-inf"))
                weights = torch.softmax(scores, dim=1)
                yield one, columns, queries, weights, q[queries], k[: queries.stop], v[: queries.stop]
