"""The contract of adam_step: what torch.optim.AdamW does to one parameter in one step."""

import math

import torch


def reference(
    p: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    grad: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    bias1: float,
    bias2: float,
    n: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The new p[n], m[n] and v[n], by the operations of torch.optim.AdamW in their order."""
    new_p = p * (1 - lr * weight_decay)
    new_m = torch.lerp(m, grad, 1 - beta1)
    new_v = (v * beta2).addcmul_(grad, grad, value=1 - beta2)
    root = new_v.sqrt().div_(math.sqrt(bias2)).add_(eps)
    return new_p.addcdiv_(new_m, root, value=-lr / bias1), new_m, new_v


def magnitude(
    p: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    grad: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    bias1: float,
    bias2: float,
    n: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The scale of the rounding errors: the same step with the terms of each sum made positive."""
    new_m = beta1 * m.abs() + (1 - beta1) * grad.abs()
    new_v = beta2 * v + (1 - beta2) * grad.square()
    root = new_v.sqrt() / math.sqrt(bias2) + eps
    update = (lr / bias1) * new_m / root
    return abs(1 - lr * weight_decay) * p.abs() + update, new_m, new_v
