"""The contract of cross_entropy: what PyTorch's own cross_entropy does without a reduction."""

import torch

IGNORED = -100


def reference(logits: torch.Tensor, labels: torch.Tensor, rows: int, cols: int) -> torch.Tensor:
    """out[rows] = log(sum over the row of exp(logits)) - logits[row, label]; 0 if the label is -100."""
    return torch.nn.functional.cross_entropy(logits, labels, reduction="none", ignore_index=IGNORED)


def magnitude(logits: torch.Tensor, labels: torch.Tensor, rows: int, cols: int) -> torch.Tensor:
    """The scale of the rounding errors: |maximum| + |logits at the label| + log(sum of exp(logits - maximum)).

    PyTorch adds the maximum to the logarithm on a GPU, and then subtracts the label's element.
    """
    if rows == 0 or cols == 0:
        return logits.new_zeros(rows)
    top = logits.amax(dim=1)
    at_label = logits.gather(1, labels.clamp(min=0)[:, None])[:, 0]
    scale = top.abs() + at_label.abs() + (torch.logsumexp(logits, dim=1) - top)
    return torch.where(labels == IGNORED, torch.zeros_like(scale), scale)
