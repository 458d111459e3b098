"""The right answer: the reference on float64 copies of the inputs, rounded to each output's dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.challenge import scalars
from grader.challenge.cases import Case, Category
from grader.challenge.checker import Refused
from grader.challenge.draw import Room, draw_inputs
from grader.challenge.dtypes import DType
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Manifest, Workload
from grader.challenge.numbers import comparable, exact, held_type, native, of_reference, rounded
from grader.challenge.overlays import Overlay, overlays
from grader.challenge.scalars import Number
from grader.errors import ChallengeInvalid, GraderError
from grader.judge.phases import phase
from grader.judge.scales import scales_of

if TYPE_CHECKING:
    import torch

# Writes the second tensor to the first, rounded to the dtype.
Put = Callable[["torch.Tensor", "torch.Tensor", DType], None]


def _rounded_to(target: torch.Tensor, values: torch.Tensor, dtype: DType) -> None:
    plain = not dtype.encoded and not dtype.complex and dtype is not DType.BOOL
    target.copy_(values if plain else comparable(rounded(values, dtype), dtype))


def _no_more_than(target: torch.Tensor, values: torch.Tensor, dtype: DType) -> None:
    """A magnitude too large for the target becomes its largest: an infinite one would be ignored."""
    import torch

    target.copy_(values)
    if target.dtype is values.dtype or not target.numel():
        return
    if torch.isfinite(torch.stack(torch.aminmax(target))).all():  # the usual case: one pass, no memory
        return
    too_large = torch.isinf(target) & torch.isfinite(values).to(target.device)
    target.masked_fill_(too_large, torch.finfo(target.dtype).max)


# float64 holds every whole number up to this.
_COUNTED = 1 << 53


@dataclass(frozen=True)
class KindOfResult:
    name: str
    dtype: Callable[[Argument], DType]
    put: Put = _rounded_to

    def rounded(self, arg: Argument, values: torch.Tensor) -> torch.Tensor:
        import torch

        dtype = self.dtype(arg)
        found = torch.empty(values.shape, dtype=held_type(dtype), device=values.device)
        self.put(found, values, dtype)
        return found


OUTPUT = KindOfResult("output", lambda arg: arg.dtype)
SCALE = KindOfResult("scale", lambda _: DType.FLOAT64)
# GPUs are short of memory; enough for a check in single precision.
NARROW_SCALE = KindOfResult(
    "scale", lambda arg: DType.FLOAT64 if arg.dtype is DType.FLOAT64 else DType.FLOAT32, _no_more_than
)


@dataclass(frozen=True)
class Question:
    """Computed before the call, kept in private memory."""

    inputs: dict[str, torch.Tensor]
    #: As held values, see ``grader.challenge.numbers``.
    outputs: dict[str, torch.Tensor]
    #: Scales of errors: float64, or on a GPU float32 unless the output is float64. Default: the output's value.
    magnitudes: dict[str, torch.Tensor]
    #: Asked about results that differ from ``outputs``.
    check: Callable[[Mapping[str, torch.Tensor]], Refused | None] | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)


def scalar_values(manifest: Manifest, case: Case) -> dict[str, Number]:
    """Rounded to their dtype, as a kernel receives them."""
    return {
        arg.name: scalars.rounded(arg.dtype, case.scalars.get(arg.name, arg.value or 0))
        for arg in manifest.scalars
    }


def plain_values(manifest: Manifest, case: Case) -> dict[str, Number | None]:
    """A reference's arguments besides tensors. None for inputs that are left out."""
    return {**scalar_values(manifest, case), **case.sizes, **dict.fromkeys(case.without)}


def arguments(manifest: Manifest, case: Case, tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """A reference's arguments in PyTorch's precision, with strides. ``tensors``: held values."""
    given = laid_out(manifest, natives(manifest, tensors), case.sizes)
    return {**given, **plain_values(manifest, case)}


def ask(
    challenge: Challenge,
    case: Case,
    seed: int,
    device: str = "cpu",
    draw_on: str | None = None,
    room: Room | None = None,
) -> Question:
    """Draw inputs and compute answers on ``device``. Raises ChallengeInvalid.

    ``draw_on``: default CPU, the same on every machine; for GPU-only cases ``device``. ``room``: memory for answers,
    and inputs if possible.
    """
    with phase("draw", enqueues=True):
        inputs = draw_for(challenge, case, seed, device, draw_on, room)
    return answered(challenge, case, inputs, device, room)


def answered(
    challenge: Challenge,
    case: Case,
    inputs: dict[str, torch.Tensor],
    device: str = "cpu",
    room: Room | None = None,
) -> Question:
    """``ask`` with drawn inputs. Raises ChallengeInvalid."""
    with phase("oracle", enqueues=True):
        reference = challenge.reference
        outputs = _results(challenge, case, reference.compute, inputs, OUTPUT, room)
        magnitudes: dict[str, torch.Tensor] = {}
        if (scales := scales_of(challenge)) is not None:
            scale = SCALE if device == "cpu" and case.on is None else NARROW_SCALE
            magnitudes = _results(challenge, case, scales, inputs, scale, room)
        for arg in challenge.manifest.results:
            if arg.dtype.complex and arg.name not in magnitudes:
                magnitudes[arg.name] = _absolute(outputs[arg.name])
    return Question(inputs, outputs, magnitudes, _check(challenge, case, inputs, outputs), dict(case.sizes))


def _absolute(parts: torch.Tensor) -> torch.Tensor:
    """The magnitude, for both parts: one that cancels has the other's error."""
    import torch

    size = torch.view_as_complex(parts.contiguous()).abs()
    return size[..., None].expand(parts.shape).to(parts.dtype).contiguous()


def _check(
    challenge: Challenge,
    case: Case,
    inputs: Mapping[str, torch.Tensor],
    outputs: Mapping[str, torch.Tensor],
) -> Callable[[Mapping[str, torch.Tensor]], Refused | None] | None:
    checker = challenge.checker
    if checker is None:
        return None

    manifest = challenge.manifest

    def check(got: Mapping[str, torch.Tensor]) -> Refused | None:
        given = {**natives(manifest, inputs), **plain_values(manifest, case)}
        return checker(given, natives(manifest, got), natives(manifest, outputs))

    return check


def natives(manifest: Manifest, values: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """In PyTorch's precision, as a reference takes them."""
    dtypes = {arg.name: arg.dtype for arg in manifest.buffers}
    return {name: native(tensor, dtypes[name]) for name, tensor in values.items()}


def draw_for(
    challenge: Challenge,
    case: Case,
    seed: int,
    device: str,
    draw_on: str | None = None,
    room: Room | None = None,
) -> dict[str, torch.Tensor]:
    """Drawn as in ``ask``. Raises ChallengeInvalid."""
    draw_on = draw_on or (device if case.on else "cpu")
    drawn = draw_inputs(challenge.manifest, case, seed, draw_on, room if draw_on == device else None)
    return {name: values.to(device) for name, values in drawn.items()}


def right_answers(
    challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Raises ChallengeInvalid."""
    return _results(challenge, case, challenge.reference.compute, inputs, OUTPUT)


def _results(
    challenge: Challenge,
    case: Case,
    function: Callable[..., Any],
    inputs: Mapping[str, torch.Tensor],
    kind: KindOfResult,
    room: Room | None = None,
) -> dict[str, torch.Tensor]:
    """Computes on float64 copies of the inputs, which ``function`` may overwrite."""
    import torch

    manifest = challenge.manifest
    dtypes = {arg.name: kind.dtype(arg) for arg in manifest.results}
    named = results_of(challenge, case, function, inputs, case.sizes)
    found = {}
    for name, values in named.items():
        device = next((tensor.device for tensor in inputs.values()), values.device)
        found[name] = (
            room(f"{kind.name} {name}", values.to("meta", held_type(dtypes[name])))
            if room is not None
            else torch.empty(values.shape, dtype=held_type(dtypes[name]), device=device)
        )
        kind.put(found[name], values, dtypes[name])
    return found


def results_of(
    challenge: Challenge,
    case: Case,
    function: Callable[..., Any],
    inputs: Mapping[str, torch.Tensor],
    sizes: Mapping[str, int],
) -> dict[str, torch.Tensor]:
    """Computes on float64 copies of the inputs. Raises ChallengeInvalid, and torch's OutOfMemoryError."""
    import torch

    where = f"{challenge.slug}: {getattr(function, '__name__', 'reference')}() on case '{case.name}'"
    copies = {
        arg.name: exact(inputs[arg.name], arg.dtype)
        for arg in challenge.manifest.buffers
        if arg.name in inputs
    }
    given = {**laid_out(challenge.manifest, copies, sizes), **plain_values(challenge.manifest, case), **sizes}
    try:
        returned = function(**given)
    except GraderError:
        raise  # from a reference's box, which knows whose fault it was
    except torch.OutOfMemoryError as error:
        # Keep the class, which callers know: another machine may have more memory.
        amount = str(error).partition(". ")[0]
        raise torch.OutOfMemoryError(
            f"{where} ran out of memory: {amount}. Let it compute in parts (torch.split), or make the sizes smaller."
        ) from error
    except Exception as error:  # staff's code: any exception is the challenge's fault
        raise ChallengeInvalid(f"{where}: {type(error).__name__}: {error}") from error
    tensors = returned if isinstance(returned, tuple) else (returned,)
    wanted = challenge.manifest.results
    if len(tensors) != len(wanted):
        raise ChallengeInvalid(
            f"{where} returned {len(tensors)} tensors; the signature has {len(wanted)} results"
        )
    named = {}
    for arg, tensor in zip(wanted, tensors, strict=True):
        shape = challenge.manifest.shape(arg, sizes)
        if tuple(tensor.shape) != shape:
            raise ChallengeInvalid(
                f"{where}: '{arg.name}' has shape {list(tensor.shape)}, expected {list(shape)}"
            )
        if function is challenge.reference.compute and not arg.dtype.floating and _is_inexact(tensor, arg):
            raise ChallengeInvalid(
                f"{where}: '{arg.name}' is {arg.dtype}, but some returned values are not whole numbers of that type",
                "Round there as kernels should, and return integers.",
            )
        # A magnitude of a complex result may be real.
        parts = arg.dtype.complex and not tensor.is_complex() and function is not challenge.reference.compute
        tensor = tensor[..., None].expand(*shape, 2) if parts else of_reference(tensor, arg.dtype)
        named[arg.name] = tensor.detach()
    return named


def laid_out(
    manifest: Manifest, tensors: Mapping[str, torch.Tensor], sizes: Mapping[str, int]
) -> dict[str, torch.Tensor]:
    """``tensors`` with their arguments' strides; padding is undefined."""
    import torch

    found = dict(tensors)
    for arg in manifest.given:
        values = found.get(arg.name)
        strides = manifest.strides(arg, sizes)
        if values is not None and strides is not None:
            laid = torch.empty_strided(values.shape, strides, dtype=values.dtype, device=values.device)
            found[arg.name] = laid.copy_(values)
    return found


def _is_inexact(values: torch.Tensor, arg: Argument) -> bool:
    """True if an integer result would change these floats, or exact float64 cannot hold them."""

    if not values.is_floating_point() or not values.numel():
        return False
    kept = rounded(values, arg.dtype).to(values.dtype)
    return not bool(((kept == values) & (values.abs() <= _COUNTED)).all())


def workload_case(challenge: Challenge, workload: Workload, overlay: Overlay | None = None) -> Case:
    """Raises ChallengeInvalid."""
    name = f"workload {workload.name}" + (f", {overlay.name}" if overlay else "")
    inputs = {**challenge.inputs, **(overlay.inputs if overlay else {})}
    without = tuple(workload.without)
    return Case(name, Category.LARGE, dict(workload.sizes), inputs, dict(workload.scalars), without=without)


def find_case(challenge: Challenge, name: str) -> Case:
    """Finds a case by name, a workload by ``workload NAME`` or ``workload NAME, OVERLAY``. Raises ChallengeInvalid."""
    for workload in challenge.manifest.workloads:
        if name.startswith(f"workload {workload.name}"):
            for overlay in (None, *overlays(challenge, workload)):
                case = workload_case(challenge, workload, overlay)
                if case.name == name:
                    return case
    return challenge.case(name)


def readable(manifest: Manifest) -> set[str]:
    return {arg.name for arg in manifest.args if arg.kind is Kind.INPUT}
