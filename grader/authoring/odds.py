"""The probability that a wrong answer passes a grading, from rounds drawn and compared as the judge does.

An approximation may recognise sizes, so it counts as right everywhere else. It passes if none of the fewest
rounds of one workload shows it.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.authoring.approximations import Approximation, Draw, Tensors, approximations
from grader.authoring.calibrate import native_results
from grader.authoring.checked import accepted
from grader.authoring.reduced import Reduced, reduced
from grader.challenge.cases import Case, Integers
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.challenge.overlays import Overlay, drawn_specials, overlays
from grader.errors import ChallengeInvalid
from grader.judge.compare import counted
from grader.judge.device import GPU_PLAN, HOST_PLAN, TimingPlan
from grader.judge.oracle import Question, answered, ask, draw_for, scalar_values, workload_case
from grader.judge.timing import fewest_rounds, rare_counts
from grader.judge.worst import wrong_elements
from grader.schemas.proof import ApproximationOutcome, ApproximationResult

if TYPE_CHECKING:
    import torch

# Boards without a GPU have few rounds per workload.
PASSES = {"gpu": 0.01, "emulated": 0.5, "cpu": 0.5}
# Less likely approximations are not tried further.
_SURE = 0.001
# Ordinary rounds to learn from; then of each kind at first, of special kinds, and more if one may pass.
_LEARNT, _FIRST, _SPECIAL, _MORE = 6, 3, 2, 21
# Rounds assumed to have passed, because few were drawn.
_BENEFIT = 2
_SAMPLES = 300
# More wrong elements in a round are not chance.
_MANY = 64


@dataclass
class _Tally:
    drawn: int = 0
    passed: int = 0
    hopeless: bool = False

    @property
    def probability(self) -> float:
        """Too high if few were drawn, 1 if none."""
        if self.hopeless:
            return 0.0
        benefit = 0 if self.drawn > _FIRST else _BENEFIT
        return (self.passed + benefit) / (self.drawn + benefit) if self.drawn else 1.0


@dataclass
class Tried:
    approximation: Approximation
    same: bool = True
    tallies: dict[str, _Tally] = field(default_factory=dict)
    probability: float = 1.0
    limit: float = PASSES["gpu"]

    @property
    def shown_by(self) -> list[str]:
        return [name for name, tally in self.tallies.items() if tally.passed < tally.drawn]

    @property
    def by_chance(self) -> bool:
        shown = any(tally.passed < tally.drawn and not tally.hopeless for tally in self.tallies.values())
        return shown or (self.approximation.lucky and not self.same)

    @property
    def passes(self) -> bool:
        return self.probability > self.limit


ORDINARY = "ordinary"
_UNFAIR = ". Give the case's recipes a base that the operation takes, or the case timed=False"


@dataclass(frozen=True)
class Odds:
    results: list[ApproximationResult] = field(default_factory=list)
    misfits: list[str] = field(default_factory=list)
    unfair: list[str] = field(default_factory=list)


def odds(challenge: Challenge, workload: Workload, device: str, *, whole: bool) -> Odds:
    """On "cpu" or "cuda"; ``whole``: at the workload's own sizes, which must fit. Raises ChallengeInvalid if
    the reference or an ordinary round fails.
    """
    sized = Reduced(workload, 1.0) if whole else reduced(challenge, workload)
    rounds = Rounds(challenge, sized, device)
    tried = rounds.try_all(approximations(challenge, workload, sized.workload))
    return Odds(
        [_result(challenge, sized, result) for result in tried],
        [
            f"{workload.name}: '{name}' does not fit {sized.text}: {why}"
            for name, why in rounds.misfits.items()
        ],
        [
            f"{workload.name}, {name}: native PyTorch is wrong in {wrong} elements, at {sized.text}"
            + ("" if name == ORDINARY else _UNFAIR)
            for name, wrong in rounds.unfair.items()
        ],
    )


def _result(challenge: Challenge, sized: Reduced, tried: Tried) -> ApproximationResult:
    name, workload = tried.approximation.name, sized.workload
    reasons = [
        allowed.reason for allowed in challenge.manifest.approximations if allowed.allows(name, workload.name)
    ]
    outcome = ApproximationOutcome.CAUGHT
    if tried.passes:
        outcome = ApproximationOutcome.ALLOWED if reasons else ApproximationOutcome.PASSES
        right = tried.same and not tried.approximation.lucky
        outcome = ApproximationOutcome.NOT_APPLICABLE if right else outcome
    return ApproximationResult(
        workload=workload.name,
        name=name,
        words=tried.approximation.words,
        tried_at=workload.sizes,
        factor=sized.factor,
        outcome=outcome,
        probability=tried.probability,
        shown_by=tried.shown_by,
        reason=reasons[0] if outcome is ApproximationOutcome.ALLOWED else "",
    )


@dataclass(frozen=True)
class _Kind:
    name: str
    case: Case
    overlay: Overlay | None

    @property
    def counts(self) -> bool:
        return self.overlay is None or self.overlay.counts


class Rounds:
    """At sizes that fit ``device``. ``misfits``: special inputs that do not, with reasons. ``unfair``: kinds
    of rounds in which the native reference is wrong, with counts.
    """

    def __init__(self, challenge: Challenge, sized: Reduced, device: str) -> None:
        self.challenge = challenge
        self.workload = sized.workload
        self.factor = sized.factor
        self.device = device
        self.misfits: dict[str, str] = {}
        self.unfair: dict[str, int] = {}
        self._checked: set[str] = set()
        self._learnt: tuple[Question, dict[str, torch.Tensor], dict[str, float]] | None = None
        found = overlays(challenge, self.workload)
        self.ordinary = _Kind(ORDINARY, workload_case(challenge, self.workload), None)
        self.outliers = [self._kind(overlay) for overlay in found if overlay.counts]
        self.specials = [self._kind(overlay) for overlay in found if not overlay.counts]
        dice = random.Random(challenge.slug)  # noqa: S311 - it simulates dice
        asked = [overlay for overlay in found if not overlay.counts]
        self._samples = [drawn_specials(asked, dice) for _ in range(_SAMPLES)]

    def _kind(self, overlay: Overlay) -> _Kind:
        return _Kind(overlay.name, workload_case(self.challenge, self.workload, overlay), overlay)

    def _draws(self, kind: _Kind, first: int, count: int) -> Iterator[tuple[Draw, Draw | None]]:
        """For shorter sums than the workload's, a round with outliers comes with the same one without. Raises
        ChallengeInvalid if a round that counts cannot be made.
        """
        previous, expected, means = self._what_is_learnt()
        for number in range(first, first + count):
            seed = self._seed(kind, number)
            try:
                question = self._ask(kind, seed)
            except ChallengeInvalid as error:
                if kind.counts:
                    raise
                self.misfits[kind.name] = error.message
                return
            draw = Draw(self.challenge, kind.case, question, previous, expected, means)
            if self.factor == 1 or not kind.counts or kind is self.ordinary:
                yield draw, None
                continue
            case = self.ordinary.case
            plain = ask(self.challenge, case, seed, self.device, self.device)
            yield draw, replace(draw, case=case, question=plain)

    def _ask(self, kind: _Kind, seed: int) -> Question:
        """Raises ChallengeInvalid, also for an index beyond an array, which on a GPU would end PyTorch's process: whole
        numbers that this workload does not draw are first tried on the CPU, at the sizes of its workload.
        """
        inputs = draw_for(self.challenge, kind.case, seed, self.device, self.device)
        if self.device != "cpu" and self._beyond(kind, inputs):
            small = next(iter(self.challenge.manifest.timed_on("cpu")), self.workload)
            ask(self.challenge, workload_case(self.challenge, small, kind.overlay), seed)
        return answered(self.challenge, kind.case, inputs, self.device)

    def _beyond(self, kind: _Kind, inputs: Mapping[str, torch.Tensor]) -> bool:
        manifest, sizes = self.challenge.manifest, self.workload.sizes
        for arg in manifest.given:
            values = inputs.get(arg.name)
            if values is None or arg.dtype.floating or not values.numel() or kind.overlay is None:
                continue
            usual = default_recipe(manifest, arg, sizes)
            if arg.name in kind.overlay.inputs and isinstance(usual, Integers):
                wide = values.long()  # torch has no min() of uint16
                if int(wide.min()) < usual.low or int(wide.max()) >= usual.high:
                    return True
        return False

    def _what_is_learnt(self) -> tuple[Question, dict[str, torch.Tensor], dict[str, float]]:
        if self._learnt is None:
            sums: dict[str, torch.Tensor] = {}
            means: dict[str, float] = {}
            for number in range(_LEARNT):
                seed = self._seed(self.ordinary, -1 - number)
                question = ask(self.challenge, self.ordinary.case, seed, self.device, self.device)
                for name, values in question.outputs.items():
                    part = values.double() / _LEARNT
                    sums[name] = part if name not in sums else sums[name].add_(part)
                for name, values in question.inputs.items():
                    mean = float(values.double().mean()) if values.numel() else 0.0
                    means[name] = means.get(name, 0.0) + mean / _LEARNT
            self._learnt = question, sums, means
        return self._learnt

    def _seed(self, kind: _Kind, number: int) -> int:
        text = f"{self.challenge.slug}:{self.workload.name}:{kind.name}:{number}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")

    def try_all(self, wrong: Sequence[Approximation]) -> list[Tried]:
        tried = [Tried(approximation, limit=PASSES[self.workload.on]) for approximation in wrong]
        plan = GPU_PLAN if self.workload.on == "gpu" else HOST_PLAN
        self._round_up(tried, self.ordinary, 0, _FIRST, plan)
        for kind in self.outliers:
            self._round_up(tried, kind, 0, _FIRST, plan)
        for kind in self.specials:
            self._round_up(tried, kind, 0, _SPECIAL, plan)
        self._hold_against_cases([result for result in tried if result.same])
        chance = [result for result in tried if result.by_chance]
        for kind in (self.ordinary, *self.outliers):
            self._round_up(chance, kind, _FIRST, _MORE, plan)
        return tried

    def _round_up(
        self, tried: Sequence[Tried], kind: _Kind, first: int, count: int, plan: TimingPlan
    ) -> None:
        """Draws at least one round: it must fit and be fair."""
        left = [result for result in tried if result.probability > _SURE]
        if not left and kind.name in self._checked:
            return
        count = count if left else 1
        for draw, plain in self._draws(kind, first, count):
            if kind.name not in self._checked:
                self._check_fair(kind, draw)
            for result in left:
                tally = result.tallies.setdefault(kind.name, _Tally())
                if not tally.hopeless:
                    self._hold(result, tally, draw, plain)
        for result in left:
            result.probability = self._probability(result, plan)

    def _hold_against_cases(self, tried: Sequence[Tried]) -> None:
        """Try those always right on public cases, at the workload's sizes."""
        drawn = {kind.name for kind in self.specials}
        for case in self.challenge.cases:
            if case.name in drawn or case.scalars or dict(case.inputs) == self.challenge.inputs or not tried:
                continue
            kind = self._kind(Overlay(case.name, case.inputs, counts=False))
            with suppress(ChallengeInvalid):
                question = self._ask(kind, self._seed(kind, 0))
                draw = Draw(self.challenge, kind.case, question, *self._what_is_learnt())
                for result in tried:
                    if not _same(result.approximation.answer(draw), question.outputs):
                        result.same = False

    def _check_fair(self, kind: _Kind, draw: Draw) -> None:
        """A kernel as exact as PyTorch passes such a round."""
        self._checked.add(kind.name)
        compute = self.challenge.reference.compute
        native = native_results(self.challenge, kind.case, draw.question, compute)
        if (wrong := _wrong(draw, native)) and not accepted(draw.question, native):
            self.unfair[kind.name] = wrong

    def _hold(self, tried: Tried, tally: _Tally, draw: Draw, plain: Draw | None) -> None:
        tally.drawn += 1
        try:
            answer = tried.approximation.answer(draw)
            beside = tried.approximation.answer(plain) if plain and self.factor != 1 else None
        except ChallengeInvalid:  # its inputs break the reference, such as a label that was cut
            tried.same, tally.hopeless = False, True
            return
        tried.same &= _same(answer, draw.question.outputs)
        if self.factor != 1:
            answer = _as_in_longer_sums(draw, answer, plain, beside, self.factor**-tried.approximation.relief)
        wrong = _wrong(draw, answer)
        if wrong and accepted(draw.question, answer):
            wrong = 0
        tally.passed += not wrong
        tally.hopeless = wrong >= _MANY

    def _probability(self, tried: Tried, plan: TimingPlan) -> float:
        def of(kind: _Kind) -> float:
            tally = tried.tallies.get(kind.name)
            if tally is None or kind.counts:
                return tally.probability if tally else 1.0
            return tally.passed / tally.drawn

        fewest = fewest_rounds(plan, len(self.outliers))
        counts = rare_counts(fewest, len(self.outliers))
        rare = math.prod(of(kind) ** count for kind, count in zip(self.outliers, counts, strict=True))
        chances = {kind.overlay: of(kind) for kind in self.specials}
        special = sum(math.prod(chances[kind] for kind in sample) for sample in self._samples) / _SAMPLES
        # Warm-up rounds are compared too.
        ordinary = plan.warm_up + fewest - sum(counts)
        return float(of(self.ordinary) ** ordinary * rare * special)


def _as_in_longer_sums(
    draw: Draw, answer: Tensors, plain: Draw | None, beside: Tensors | None, share: float
) -> Tensors:
    """Reduce ordinary errors of ``answer`` to ``share``, as in longer sums relative to the tolerance.
    ``plain``, the round without outliers, gives them. The outliers' part grows with the tolerance, so it
    stays, like anything not finite.
    """
    import torch

    found = {}
    for name, want in draw.question.outputs.items():
        got = answer[name]
        if not want.is_floating_point():
            found[name] = got
            continue
        error = got.double() - want.double()
        usual = error
        if plain is not None and beside is not None:
            usual = beside[name].double() - plain.question.outputs[name].double()
        near = (want.double() + (error - usual) + usual * share).to(want.dtype)
        found[name] = torch.where(near.isfinite() & got.isfinite() & want.isfinite(), near, got)
    return found


def _same(answer: Tensors, right: Mapping[str, torch.Tensor]) -> bool:
    import torch

    return all(
        answer[name] is want
        or torch.equal(answer[name].reshape(-1).view(torch.uint8), want.reshape(-1).view(torch.uint8))
        for name, want in right.items()
    )


def _wrong(draw: Draw, answer: Tensors) -> int:
    manifest, question = draw.challenge.manifest, draw.question
    wrong = 0
    for arg in manifest.results:
        got, want = answer[arg.name].reshape(-1), question.outputs[arg.name].reshape(-1)
        number = counted(manifest, arg, question, want.numel())
        magnitude = question.magnitudes.get(arg.name)
        scale = magnitude.reshape(-1)[:number] if magnitude is not None else None
        allowance = manifest.allowance(arg, draw.case.sizes, scalar_values(manifest, draw.case))
        wrong += int(wrong_elements(got[:number], want[:number], allowance, scale).sum())
    return wrong
