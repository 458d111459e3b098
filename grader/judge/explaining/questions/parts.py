"""Parts of PyTorch's composed operations, such as a softmax's sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

# Names a tensor: words with ``{}``, or others if too long.
Name = Callable[[torch.Tensor, str, str], torch.Tensor]


@dataclass(frozen=True)
class Part:
    """An operation in smaller steps."""

    name: str
    of: tuple[Any, ...]
    compute: Callable[[Name], Any]


def _softmax(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    x, dim = args[0], args[1]
    if not x.numel():
        return None

    def compute(name: Name) -> torch.Tensor:
        top = name(torch.amax(x, dim, keepdim=True), "the maximum of {0}", "the softmax's maximum")
        centred = name(x - top, "{0} - its maximum", "the softmax's argument minus its maximum")
        weights = name(torch.exp(centred), "exp({0} - its maximum)", "the softmax's exp")
        total = torch.sum(weights, dim, keepdim=True)
        total = name(total, "the sum of exp({0} - its maximum)", "the softmax's sum")
        return name(weights / total, "softmax({0})", "the softmax")

    return Part("softmax", (x,), compute)


def _log_softmax(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    x, dim = args[0], args[1]
    if not x.numel():
        return None

    def compute(name: Name) -> torch.Tensor:
        top = name(torch.amax(x, dim, keepdim=True), "the maximum of {0}", "the softmax's maximum")
        centred = name(x - top, "{0} - its maximum", "the softmax's argument minus its maximum")
        total = torch.sum(torch.exp(centred), dim, keepdim=True)
        total = name(total, "the sum of exp({0} - its maximum)", "the softmax's sum")
        return name(centred - torch.log(total), "log_softmax({0})", "the log_softmax")

    return Part("log_softmax", (x,), compute)


def _layer_norm(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    x, shape, weight, bias, eps = args[:5]
    axes = list(range(x.dim() - len(shape), x.dim()))
    if not x.numel():
        return None

    def compute(name: Name) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean = name(torch.mean(x, axes, keepdim=True), "the mean of {0}", "the mean")
        # A kernel may lack it in one of the two.
        deviation = name(x - mean, "{0} - its mean", "the deviation from the mean")
        variance = name(
            torch.mean(deviation * deviation, axes, keepdim=True), "the variance of {0}", "the variance"
        )
        factor = torch.rsqrt(variance + eps)
        found = name(x - mean, "{0} - its mean", "the deviation from the mean") * factor
        found = found * weight if weight is not None else found
        found = found + bias if bias is not None else found
        return found, mean, factor

    return Part("layer_norm", (x,), compute)


def _group_norm(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    x, weight, bias, batch, channels, _, groups, eps = args
    if not x.numel():
        return None
    of_channel = (1, channels, *[1] * (x.dim() - 2))

    def compute(name: Name) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        grouped = x.reshape(batch, groups, -1)
        mean = name(torch.mean(grouped, 2, keepdim=True), "the mean of a group of {0}", "the group's mean")
        deviation = name(grouped - mean, "{0} - its group's mean", "the deviation from the group's mean")
        variance = name(
            torch.mean(deviation * deviation, 2, keepdim=True),
            "the variance of a group of {0}",
            "the group's variance",
        )
        factor = torch.rsqrt(variance + eps)
        # As in layer_norm: a kernel may lack it in one of the two.
        again = name(grouped - mean, "{0} - its group's mean", "the deviation from the group's mean")
        found = (again * factor).reshape(x.shape)
        found = found * weight.reshape(of_channel) if weight is not None else found
        found = found + bias.reshape(of_channel) if bias is not None else found
        return found, mean.reshape(batch, groups), factor.reshape(batch, groups)

    return Part("group_norm", (x,), compute)


def _gelu(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    x = args[0]
    if kwargs.get("approximate", "none") != "none":
        return None
    return Part("gelu", (x,), lambda name: 0.5 * x * (1 + torch.erf(x * 0.5**0.5)))


def _silu(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    x = args[0]
    return Part("silu", (x,), lambda name: x * torch.sigmoid(x))


def _addmm(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    if kwargs:
        return None
    more, a, b = args
    return Part("addmm", (more, a, b), lambda name: more + torch.mm(a, b))


def _addcmul(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    if kwargs:
        return None
    more, a, b = args
    return Part("addcmul", (more, a, b), lambda name: more + a * b)


def _variance(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    x, axes = args[0], args[1] if len(args) > 1 else kwargs.get("dim")
    correction, keep = kwargs.get("correction", 1), kwargs.get("keepdim", False)
    if not x.numel():
        return None
    axes = list(range(x.dim())) if axes is None else axes

    def compute(name: Name) -> torch.Tensor:
        mean = name(torch.mean(x, axes, keepdim=True), "the mean of {0}", "the mean")
        deviation = name(x - mean, "{0} - its mean", "the deviation from the mean")
        if correction == 0:
            found = torch.mean(deviation * deviation, axes, keepdim=keep)
        else:
            count = x.numel() // max(mean.numel(), 1)
            total = torch.sum(deviation * deviation, axes, keepdim=keep)
            found = total / (count - (1 if correction is None else correction))
        return name(found, "the variance of {0}", "the variance")

    return Part("var", (x,), compute)


def _dot(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Part | None:
    a, b = args
    return Part("dot", (a, b), lambda name: torch.sum(a * b, 0))


PARTS: Mapping[str, Callable[[Sequence[Any], Mapping[str, Any]], Part | None]] = {
    "_softmax": _softmax,
    "_log_softmax": _log_softmax,
    "native_layer_norm": _layer_norm,
    "native_group_norm": _group_norm,
    "gelu": _gelu,
    "silu": _silu,
    "addmm": _addmm,
    "addcmul": _addcmul,
    "var": _variance,
    "dot": _dot,
}
