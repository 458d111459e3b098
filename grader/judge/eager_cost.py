"""The baseline of modelled times: PyTorch's eager operations, one launch each, as fast as the card allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest, Workload
from grader.challenge.numbers import held_type, native
from grader.judge.boxed_reference import BoxedFunction
from grader.judge.oracle import draw_for, laid_out, natives, plain_values, workload_case
from grader.sandbox.emulator.model import H200

if TYPE_CHECKING:
    import torch

# Besides views.
_NO_KERNEL = (
    "empty",
    "new_empty",
    "_unsafe_view",
    "_local_scalar_dense",
    "_reshape_alias",
    "resize",
    "set_",
    "detach",
)
# The operand whose last size is summed over.
_PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1, "mv": 0, "dot": 0}
_TENSOR_TYPES = {"float16": "f16", "bfloat16": "bf16", "float64": "f64"}

# A card computes it in one kernel.
_ATTENTION = "scaled_dot_product_attention"


def eager_seconds(challenge: Challenge, workload: Workload) -> float:
    """Each operation is a launch, limited by memory or arithmetic."""
    manifest = challenge.manifest
    case = workload_case(challenge, workload)
    rest = plain_values(manifest, case)
    function = challenge.reference.baseline or challenge.reference.compute
    if isinstance(function, BoxedFunction):
        asked = function.operations({**_drawn(challenge, case), **rest})
        counted = (operation for operation in asked if not operation.name.startswith(_NO_KERNEL))
        return max(
            sum(
                _operation_seconds(operation.name, operation.reads, operation.writes) for operation in counted
            ),
            H200.launch,
        )
    return max(
        _seconds_of(function, _shapes(manifest, case) | rest, lambda: _drawn(challenge, case) | rest),
        H200.launch,
    )


def _drawn(challenge: Challenge, case: Case) -> dict[str, Any]:
    return natives(challenge.manifest, draw_for(challenge, case, 0, "cpu"))


def _shapes(manifest: Manifest, case: Case) -> dict[str, Any]:
    import torch

    dense = {
        arg.name: native(
            torch.empty(
                arg.dtype.held_shape(manifest.shape(arg, case.sizes)),
                dtype=held_type(arg.dtype),
                device="meta",
            ),
            arg.dtype,
        )
        for arg in manifest.given
        if arg.name not in case.without
    }
    return dict(laid_out(manifest, dense, case.sizes))


def _seconds_of(
    function: Callable[..., Any], shapes: Mapping[str, Any], drawn: Callable[[], Mapping[str, Any]]
) -> float:
    """``drawn``: with values, which is slower."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self.seconds = 0.0

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Skipping would import torch.compile, which takes a second."""
            return False

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            name = function.overloadpacket.__name__
            if not (getattr(function, "is_view", False) or name.startswith(_NO_KERNEL)):
                self.seconds += _operation_seconds(name, args, result)
            return result

    class Attention(TorchFunctionMode):
        def __torch_function__(self, called: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if getattr(called, "__name__", "") != _ATTENTION:
                return called(*args, **named)
            counting.seconds += _attention_seconds(*args[:3], causal=bool(named.get("is_causal")))
            return torch.empty(*args[0].shape[:-1], args[2].shape[-1], dtype=args[0].dtype, device="meta")

    with torch.no_grad():
        try:
            # A processor takes a minute for a large float16 product.
            with torch.device("meta"), Counting() as counting, Attention():
                function(**shapes)
        except (NotImplementedError, RuntimeError):  # values decide shapes, or tensors are sparse
            with Counting() as counting:
                function(**drawn())
    return float(counting.seconds)


def _attention_seconds(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, causal: bool) -> float:
    """Reads three, writes one, computes two products; half of each if ``causal``."""
    moved = sum(tensor.numel() * tensor.element_size() for tensor in (query, key, value, query))
    flops = (
        2 * query.numel() * key.shape[-2] + 2 * math.prod(query.shape[:-1]) * key.shape[-2] * value.shape[-1]
    )
    seconds = flops / (2 if causal else 1) / _flops_a_second(query)
    return float(H200.launch + H200.latency + max(moved / H200.dram, seconds))


def _operation_seconds(name: str, args: Any, result: Any) -> float:
    tensors = [*_tensors(args), *_tensors(result)]
    moved = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    seconds: float = H200.latency + moved / H200.dram
    if name in _PRODUCTS and not any(
        _is_sparse(operand) for operand in args
    ):  # those read more than they compute
        operands = [*_tensors(args)]
        summed = operands[_PRODUCTS[name]].shape[-1]
        flops = 2 * summed * sum(tensor.numel() for tensor in _tensors(result))
        seconds = max(seconds, H200.latency + flops / _flops_a_second(operands[-1]))
    elif "convolution" in name:
        weight = [*_tensors(args)][1]
        flops = 2 * math.prod(weight.shape[1:]) * sum(tensor.numel() for tensor in _tensors(result))
        seconds = max(seconds, H200.latency + flops / _flops_a_second(weight))
    return H200.launch + seconds


def _flops_a_second(tensor: torch.Tensor) -> float:
    kind = _TENSOR_TYPES.get(str(tensor.dtype).removeprefix("torch."))
    a_cycle = 2 * 32 * H200.rates["float"] if kind is None else H200.flops[kind]
    return float(a_cycle * H200.multiprocessors * H200.clock)


def _is_sparse(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.layout is torch.sparse_csr


def _tensors(values: Any) -> list[torch.Tensor]:
    import torch

    if isinstance(values, torch.Tensor):
        if _is_sparse(values):  # its shape is that of the dense matrix
            return [values.crow_indices(), values.col_indices(), values.values()]
        return [values]
    return (
        [found for value in values for found in _tensors(value)] if isinstance(values, (list, tuple)) else []
    )
