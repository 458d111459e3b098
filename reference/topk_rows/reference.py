"""The contract of topk_rows: torch.topk with one order of ties, the smaller column first."""

import torch


def reference(x: torch.Tensor, rows: int, cols: int, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """values[rows, k] and indices[rows, k], int32. NaN counts as the largest; -0.0 and 0.0 are equal."""
    # One more than asked for, so that a tie between the last winner and the first loser shows.
    found = torch.topk(x, min(k + 1, cols), dim=1)
    values, indices = found.values[:, :k].contiguous(), found.indices[:, :k].int()
    former, latter = found.values[:, :-1], found.values[:, 1:]
    # torch.topk leaves the order of ties open, so their rows are done again.
    tied = ((former == latter) | latter.isnan()).any(dim=1)
    if tied.any():
        indices[tied] = _first_of_equals(x[tied], k)
        values[tied] = x[tied].gather(1, indices[tied].long())
    return values, indices


def _first_of_equals(x: torch.Tensor, k: int) -> torch.Tensor:
    """The columns of each row's k largest; of equal elements the one with the smaller column first.

    No stable sort: on a GPU that orders NaN by its sign.
    """
    bits = (x.float() + 0.0).view(torch.int32)  # -0.0 + 0.0 is 0.0
    order = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = torch.where(x.isnan(), 0x7FFFFFFF, order).long()
    last = x.shape[1] - 1
    # Value and column in one number: no two are equal.
    keys = (order << 32) + last - torch.arange(x.shape[1], device=x.device)
    return (last - (torch.topk(keys, k, dim=1).values & 0xFFFFFFFF)).int()
