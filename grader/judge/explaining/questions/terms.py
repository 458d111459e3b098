"""Which terms of a sum a wrong result has. Each has one element of an input as a factor.

Autograd gives the terms, which needs a reference in this process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind
from grader.challenge.numbers import exact
from grader.judge.explaining.questions.budget import Budget
from grader.judge.explaining.wrong import Pattern, Wrong
from grader.judge.oracle import laid_out, plain_values
from grader.judge.worst import allowed_error

if TYPE_CHECKING:
    import torch

_FEWEST_TERMS = 4
_PROBES = 6
# Float32 rounding, relative to the sum of absolute values.
_ROUNDING = 1e-5
_EXPLAINED = 16.0
_GROUPS = (*range(2, 33), 48, 64, 96, 128, 192, 256, 384, 512, 1024)
_LARGE_GROUPS = (2048, 4096, 8192, 16384, 32768, 65536)
# Of this thread, for the terms of one element.
_SECONDS = 0.25
_TILES = (8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass
class Terms:
    """A single sum fits something by chance: two cases must agree."""

    challenge: Challenge
    _fitted: dict[str, set[str]] = field(default_factory=dict)

    def find(self, case: Case, inputs: Mapping[str, torch.Tensor], result: Wrong) -> Pattern | None:
        import torch

        if not result.want.is_floating_point() or any(
            arg.dtype.complex for arg in self.challenge.manifest.buffers
        ):
            return None
        usable = result.wrong & torch.isfinite(result.got) & torch.isfinite(result.want)
        places = torch.nonzero(usable).reshape(-1).tolist()
        if not places:
            return None
        probes = list(
            dict.fromkeys(places[at * (len(places) - 1) // max(_PROBES - 1, 1)] for at in range(_PROBES))
        )
        for arg in self.challenge.manifest.given:
            if arg.kind is Kind.INPUT and arg.dtype.floating and arg.name in inputs:
                sums = self._sums(case, inputs, result, arg, probes)
                if sums is not None:
                    return self._chosen(result, arg, probes, sums)
        return None

    def _sums(
        self,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
        result: Wrong,
        arg: Argument,
        probes: list[int],
    ) -> list[torch.Tensor] | None:
        """None if the result is no such sum."""
        import torch

        manifest = self.challenge.manifest
        copies = {
            each.name: exact(inputs[each.name].cpu(), each.dtype)
            for each in manifest.buffers
            if each.name in inputs
        }
        given = laid_out(manifest, copies, case.sizes)
        leaf = given[arg.name]
        if not leaf.is_floating_point():
            return None
        leaf.requires_grad_()
        try:
            with torch.enable_grad():
                returned = self.challenge.reference.compute(**{**given, **plain_values(manifest, case)})
                tensors = returned if isinstance(returned, tuple) else (returned,)
                at = [each.name for each in manifest.results].index(result.argument.name)
                flat = tensors[at].reshape(-1)
                found = []
                for probe in probes:
                    (slope,) = torch.autograd.grad(flat[probe], leaf, retain_graph=True)
                    terms = (slope * leaf).detach().reshape(-1)
                    off = float((terms.sum() - flat[probe].detach()).abs())
                    if not off <= 1e-7 * float(terms.abs().sum()):
                        return None
                    found.append(terms[slope.reshape(-1) != 0])
        except Exception:  # staff's code may not allow gradients
            return None
        return found if all(len(terms) for terms in found) else None

    def _chosen(
        self, result: Wrong, arg: Argument, probes: list[int], sums: list[torch.Tensor]
    ) -> Pattern | None:
        fitting: set[str] | None = None
        # Likely ones first.
        order: list[str] = []
        allowed = allowed_error(result.want, result.allowance, result.magnitude)
        used = 0
        for probe, terms in sorted(zip(probes, sums, strict=True), key=lambda one: len(one[1])):
            if len(terms) < _FEWEST_TERMS:
                continue
            got, want = float(result.got[probe]), float(result.want[probe])
            near = max(float(allowed[probe]), _ROUNDING * float(terms.abs().sum()))
            if abs(got - want) < _EXPLAINED * near:
                continue
            totals = list(_totals(terms))
            order = [words for words, _ in totals]
            own = {words for words, total in totals if abs(total - got) <= near}
            fitting = own if fitting is None else fitting & own
            used += 1
            if not fitting:
                return None
        if not fitting:
            return None
        if used == 1:
            earlier = self._fitted.get(result.argument.name)
            self._fitted[result.argument.name] = fitting if earlier is None else fitting & earlier
            if earlier is None or not fitting & earlier:
                return None
            fitting = fitting & earlier
        words = next(words for words in order if words in fitting)
        each = "the sum" if result.want.numel() == 1 else f"each sum of {result.argument.name}"
        return Pattern(
            "terms", f"The result is right if of {each}, over {arg.name}, {words}.", names=(arg.name,)
        )


def _totals(terms: torch.Tensor) -> Iterator[tuple[str, float]]:
    import torch

    count = len(terms)
    whole, place = float(terms.sum()), torch.arange(count)
    yield "the last term is left out", whole - float(terms[-1])
    yield "the first term is left out", whole - float(terms[0])
    yield "the last term counts twice", whole + float(terms[-1])
    yield "the first term counts twice", whole + float(terms[0])
    yield "only the first term counts", float(terms[0])
    yield "only the last term counts", float(terms[-1])
    ends = torch.cumsum(terms, 0)
    for tile in _TILES:
        if tile < count:
            yield f"only the first {tile} terms count", float(ends[tile - 1])
            yield f"the first {tile} terms count twice", whole + float(ends[tile - 1])
            yield f"the terms from number {tile} on count twice", 2 * whole - float(ends[tile - 1])
        if count % tile and count > tile:
            yield (
                f"the terms of the last, partial tile of {tile} are left out",
                float(ends[count // tile * tile - 1]),
            )
        last = (count - 1) // tile * tile
        if last:
            yield f"only the last tile of {tile} terms counts", whole - float(ends[last - 1])
    budget = Budget(_SECONDS)
    for group in _LARGE_GROUPS:
        half = group // 2
        if half < count:
            kept = float(terms[place % group < half].sum())
            which = f"whose number modulo {group:,} is below {half:,}"
            yield f"only the terms {which} count", kept
            yield f"only the terms {which} are left out", whole - kept
    for group in _GROUPS:
        if group >= count or budget.spent:
            break
        parts = torch.zeros(group, dtype=terms.dtype).index_add_(0, place % group, terms)
        for rest, part in enumerate(parts.tolist()):
            which = f"whose number modulo {group} is {rest}"
            yield f"the terms {which} are left out", whole - part
            yield f"only the terms {which} count", part
            yield f"only the terms {which} count, {group} times each", group * part
        below = torch.cumsum(parts, 0).tolist()
        for kept in {group // 2, group // 4, 32, 16, group - group % 2, 64, 128} - {0}:
            if kept < group:
                which = f"whose number modulo {group} is below {kept}"
                yield f"only the terms {which} count", below[kept - 1]
                yield f"the terms {which} are left out", whole - below[kept - 1]
