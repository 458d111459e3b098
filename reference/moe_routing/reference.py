"""The contract of moe_routing: torch.topk with one order of ties, softmax of the chosen, a stable sort by expert."""

import torch


def reference(
    logits: torch.Tensor, tokens: int, experts: int, k: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """chosen[tokens, k], weights[tokens, k], counts[experts], offsets[experts + 1] and order[tokens * k].

    NaN counts as the largest; -0.0 and 0.0 are equal; of equal logits the lower expert comes first.
    """
    # One more than asked for, so that a tie between the last winner and the first loser shows.
    found = torch.topk(logits, min(k + 1, experts), dim=1)
    best, chosen = found.values[:, :k].contiguous(), found.indices[:, :k].contiguous()
    former, latter = found.values[:, :-1], found.values[:, 1:]
    # torch.topk leaves the order of ties open, so their rows are done again.
    tied = ((former == latter) | latter.isnan()).any(dim=1)
    if tied.any():
        chosen[tied] = _first_of_equals(logits[tied], k)
        best[tied] = logits[tied].gather(1, chosen[tied])
    weights = torch.softmax(best, dim=1)

    expert_of = chosen.int().flatten()
    counts = torch.bincount(expert_of, minlength=experts)
    offsets = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    order = expert_of.sort(stable=True).indices
    return chosen.int(), weights, counts.int(), offsets, order.int()


def _first_of_equals(logits: torch.Tensor, k: int) -> torch.Tensor:
    """The experts of each token's k largest logits; of equal ones the lower expert first.

    No stable sort: on a GPU that orders NaN by its sign.
    """
    bits = (logits.float() + 0.0).view(torch.int32)  # -0.0 + 0.0 is 0.0
    order = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    order = torch.where(logits.isnan(), 0x7FFFFFFF, order).long()
    last = logits.shape[1] - 1
    # Value and expert in one number: no two are equal.
    keys = (order << 32) + last - torch.arange(logits.shape[1], device=logits.device)
    return last - (torch.topk(keys, k, dim=1).values & 0xFFFFFFFF)
