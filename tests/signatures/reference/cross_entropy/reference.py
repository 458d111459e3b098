"""What PyTorch does."""

import torch


def reference(logits, labels, rows, cols):
    return torch.nn.functional.cross_entropy(logits, labels.long(), reduction="none")
