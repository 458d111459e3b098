"""The contract of embedding_backward: what autograd makes of an embedding's table."""

import torch


def summed(
    grad: torch.Tensor, indices: torch.Tensor, padding: int, tokens: int, dim: int, vocab: int
) -> torch.Tensor:
    if tokens == 0 or dim == 0:
        return grad.new_zeros(vocab, dim)
    # The last argument is scale_grad_by_freq.
    return torch.ops.aten.embedding_dense_backward(grad, indices, vocab, padding, False)


def reference(
    grad: torch.Tensor, indices: torch.Tensor, padding: int, tokens: int, dim: int, vocab: int
) -> torch.Tensor:
    """out[vocab, dim]: row v is the sum of grad[t] over all t with indices[t] == v; 0 for v == padding."""
    return summed(grad, indices, padding, tokens, dim, vocab)


def magnitude(
    grad: torch.Tensor, indices: torch.Tensor, padding: int, tokens: int, dim: int, vocab: int
) -> torch.Tensor:
    """The scale of the rounding errors: the same sums over absolute values."""
    return summed(grad.abs(), indices, padding, tokens, dim, vocab)
