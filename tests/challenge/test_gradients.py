"""References of backward passes against autograd and small differences."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.challenge.catalogue import find_catalogue
from grader.challenge.draw import draw_inputs

CHALLENGE = find_catalogue().load("layernorm_backward")
EPS = 1e-5


class LayerNorm(torch.autograd.Function):
    """The challenge's reference is the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
        mean = x.mean(1)
        rstd = ((x - mean[:, None]).square().mean(1) + EPS).rsqrt()
        ctx.save_for_backward(x, gamma, mean, rstd)
        return (x - mean[:, None]) * rstd[:, None] * gamma + beta

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> Any:
        x, gamma, mean, rstd = (tensor.clone() for tensor in ctx.saved_tensors)
        rows, cols = x.shape
        return CHALLENGE.reference.compute(dy.clone(), x, gamma, mean, rstd, rows, cols)


def leaves(rows: int, cols: int, seed: int = 1, mean: float = 0.0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = [(rows, cols), (cols,), (cols,)]
    drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [(drawn[0] * 2 + mean).requires_grad_(), *(tensor.requires_grad_() for tensor in drawn[1:])]


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 7), (5, 3), (4, 16)])
def test_the_reference_matches_finite_differences(rows: int, cols: int) -> None:
    assert torch.autograd.gradcheck(LayerNorm.apply, leaves(rows, cols))


@pytest.mark.parametrize("mean", [0.0, 1000.0])
@pytest.mark.parametrize(("rows", "cols"), [(0, 4), (3, 5), (33, 129)])
def test_the_reference_matches_autograd(rows: int, cols: int, mean: float) -> None:
    dy = torch.randn(rows, cols, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    own = leaves(rows, cols, mean=mean)
    theirs = torch.autograd.grad(
        torch.nn.functional.layer_norm(own[0], [cols], own[1], own[2], EPS), own, dy, materialize_grads=True
    )
    ours = torch.autograd.grad(LayerNorm.apply(*own), own, dy)
    for got, want in zip(ours, theirs, strict=True):
        assert torch.allclose(got, want, rtol=1e-9, atol=1e-9)


def test_pytorch_s_fused_operation_is_the_same_function() -> None:
    """On a GPU this operation is the reference in float32, so it must use the given mean and rstd."""
    x, gamma, _ = (tensor.detach() for tensor in leaves(6, 33))
    mean, rstd = torch.full((6,), 0.3, dtype=torch.float64), torch.full((6,), 0.7, dtype=torch.float64)
    dy = torch.randn(6, 33, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    fused = torch.ops.aten.native_layer_norm_backward
    theirs = fused(dy, x, [33], mean[:, None], rstd[:, None], gamma, gamma, [True, True, True])
    ours = CHALLENGE.reference.compute(dy, x.clone(), gamma.clone(), mean, rstd, 6, 33)
    for got, want in zip(ours, theirs, strict=True):
        assert torch.allclose(got, want, rtol=1e-9, atol=1e-9)


def test_results_do_not_depend_on_the_number_of_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    case = CHALLENGE.case("odd")
    inputs = {name: tensor.double() for name, tensor in draw_inputs(CHALLENGE.manifest, case, 3).items()}
    compute, scale = CHALLENGE.reference.compute, CHALLENGE.reference.magnitude
    assert scale is not None
    whole = [*compute(**inputs, **case.sizes), *scale(**inputs, **case.sizes)]
    monkeypatch.setitem(compute.__globals__, "ROWS_AT_ONCE", 2)  # type: ignore[attr-defined]
    monkeypatch.setitem(scale.__globals__, "ROWS_AT_ONCE", 2)  # type: ignore[attr-defined]
    parts = [*compute(**inputs, **case.sizes), *scale(**inputs, **case.sizes)]
    assert all(torch.allclose(one, other, rtol=1e-12) for one, other in zip(whole, parts, strict=True))


def test_the_magnitude_bounds_the_result() -> None:
    """Sums of absolute values are never smaller than the sums."""
    case = CHALLENGE.case("large_mean")
    inputs = {name: tensor.double() for name, tensor in draw_inputs(CHALLENGE.manifest, case, 3).items()}
    scale = CHALLENGE.reference.magnitude
    assert scale is not None
    results = CHALLENGE.reference.compute(**inputs, **case.sizes)
    for result, size in zip(results, scale(**inputs, **case.sizes), strict=True):
        assert (result.abs() <= size * (1 + 1e-9)).all()
