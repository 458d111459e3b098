"""Each result's scale of errors: the reference's ``magnitude``, or the step that ``[tolerance.NAME]`` takes from an
argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from grader.challenge.loader import Challenge
from grader.challenge.model import Argument
from grader.challenge.tolerance import ResultTolerance, step_argument
from grader.errors import ChallengeInvalid

if TYPE_CHECKING:
    import torch


def scales_of(challenge: Challenge) -> Callable[..., Any] | None:
    """A function of inputs, scalars and sizes that returns a scale per result, NaN if its values are the scale. None
    if all are."""
    manifest = challenge.manifest
    values = dict.fromkeys((*manifest.sizes, *(arg.name for arg in manifest.scalars)), 1)
    steps = {
        name: argument
        for name, own in manifest.tolerance.results.items()
        if (argument := step_argument(own, values)) is not None
    }
    if not steps:
        return challenge.reference.magnitude

    def magnitude(**given: Any) -> Any:
        import torch

        results = {arg.name: arg for arg in manifest.results}
        # The functions may overwrite their arguments.
        kept = {name: given[name].clone() for name in steps.values() if name not in results}
        if len(kept) < len(set(steps.values())) or challenge.reference.magnitude is None:
            copies = {name: _copy(value) for name, value in given.items()}
            kept |= _named(challenge, challenge.reference.compute(**copies))
        if challenge.reference.magnitude is not None:
            found = _named(challenge, challenge.reference.magnitude(**given))
        else:
            found = {name: torch.full_like(kept[name], torch.nan, dtype=torch.float64) for name in results}
        for name, argument in steps.items():
            own, shape = manifest.tolerance.results[name], tuple(found[name].shape)
            found[name] = _spread(challenge, results[name], own, kept[argument], shape)
        return tuple(found[arg.name] for arg in manifest.results)

    return magnitude


def _copy(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value


def _named(challenge: Challenge, returned: Any) -> dict[str, torch.Tensor]:
    tensors = returned if isinstance(returned, tuple) else (returned,)
    return {arg.name: tensor for arg, tensor in zip(challenge.manifest.results, tensors, strict=True)}


def _spread(
    challenge: Challenge, arg: Argument, own: ResultTolerance, step: torch.Tensor, shape: tuple[int, ...]
) -> torch.Tensor:
    """Each element's step (float64). Dimensions of ``step`` are the first of ``shape``. Infinite or NaN steps allow
    nothing."""
    import torch

    step = step.double().abs()
    step = torch.where(step.isfinite(), step, torch.zeros_like(step))
    fitting = step
    if own.block > 1:
        last = step.dim() - 1
        extent = shape[last]
        fitting = step.repeat_interleave(own.block, dim=last)
        if 0 <= fitting.shape[last] - extent < own.block:
            fitting = fitting.narrow(last, 0, extent)
    fitting = fitting.reshape(*fitting.shape, *(1,) * (len(shape) - fitting.dim()))
    try:
        return fitting.expand(shape).clone()
    except RuntimeError as error:
        raise ChallengeInvalid(
            f"{challenge.slug}: tolerance.{arg.name}: step = '{own.step}' has shape {list(step.shape)}, which does not "
            f"fit {list(shape)} with blocks of {own.block}",
            "Its dimensions are those of the result, from the first on, 1, or with `block` the number of blocks.",
        ) from error
