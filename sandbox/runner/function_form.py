"""Makes ``solve`` of a ``torch.autograd.Function``: calls it, asks for gradients, and copies into the judge's
arrays by a Triton kernel, which an emulated GPU sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

# ``forward``: its arguments. ``results``: its outputs. ``upstream``: input -> the output whose gradient it
# is. ``gradients``: output -> the input whose gradient it is.
Form = dict[str, Any]
_BLOCK = 4096


def functions_of(module: ModuleType) -> list[Any]:
    import torch

    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, torch.autograd.Function)
        and value.__module__ == module.__name__
    ]


def solve_of(function: Any, form: Form, parameters: Sequence[str]) -> Callable[..., None]:
    """``parameters``: of ``solve``, which raises ValueError for a wrong result."""
    import torch

    name = function.__name__
    of = list(form["gradients"].values())

    def solve(*values: Any) -> None:
        given = dict(zip(parameters, values, strict=True))
        leaves = {name: given[name].detach().requires_grad_() for name in of}
        # autograd's own threads would hide compilations.
        with torch.enable_grad(), torch.autograd.set_multithreading_enabled(False):
            made = function.apply(*({**given, **leaves}[each] for each in form["forward"]))
            made = made if isinstance(made, tuple) else (made,)
            if len(made) != len(form["results"]):
                raise ValueError(
                    f"{name}.forward returns {len(made)} results, expected: {', '.join(form['results'])}"
                )
            results = dict(zip(form["results"], made, strict=True))
            for result, value in results.items():
                _check(value, given[result], f"{name}.forward: {result}")
            found = torch.autograd.grad(
                [results[result] for result in form["upstream"].values()],
                list(leaves.values()),
                [given[each] for each in form["upstream"]],
                allow_unused=True,
            )
        results |= dict(zip(form["gradients"], found, strict=True))
        for result, value in results.items():
            of_what = form["gradients"].get(result)
            if of_what is not None:
                _check(value, given[result], f"{name}.backward: the gradient of {of_what}")
            _copy(value.detach(), given[result])

    return solve


def _check(value: Any, wanted: Any, where: str) -> None:
    import torch

    if not isinstance(value, torch.Tensor):
        raise ValueError(f"{where} is {'None' if value is None else type(value).__name__}, not a tensor")
    if value.shape != wanted.shape or value.dtype is not wanted.dtype:
        raise ValueError(
            f"{where} is {value.dtype} {list(value.shape)}, expected {wanted.dtype} {list(wanted.shape)}"
        )


def _copy(value: Any, target: Any) -> None:
    from copy_kernel import copy

    if value.numel():
        copy[(-(-value.numel() // _BLOCK),)](value.contiguous(), target, value.numel(), BLOCK=_BLOCK)
