"""Which step of the reference a wrong result does differently, or lacks.

``_Watch`` notes the reference's operations, or computes one differently (see ``variants``). Needs a reference in this
process.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.errors import GraderError
from grader.judge.explaining.questions.budget import Budget
from grader.judge.explaining.questions.fitting import fits
from grader.judge.explaining.questions.parts import PARTS, Part
from grader.judge.explaining.questions.variants import (
    UNCLEAR,
    Change,
    Step,
    Variant,
    factors_omitted,
    inner,
    named_factor,
    omissions,
    partial_variants,
    variants,
)
from grader.judge.explaining.wrong import FEWEST, Pattern, Wrong
from grader.judge.oracle import OUTPUT, results_of, scalar_values

# For one submission.
_SECONDS = 0.45
_MOST_ELEMENTS = 1 << 17
_MOST_OPERATIONS = 2000
_MOST_STEPS = 60
_LONGEST = 70
_LONGEST_OF_PART = 32
_MOST_TRIES = 14
_SOLVED = 1e-7
# Some hundred answers are tried.
_CLOSER = 1e5
# In last digits: a right kernel's errors, and the least effect.
_ROUNDINGS = 40
_EFFECT = 40
# 16-bit types round once, when stored.
_NARROW = 1e-5
_ROUNDINGS_OF_NARROW = 2
_EFFECT_OF_NARROW = 8

# Function, place, and which operation there.
Site = tuple[str, int, int]
Group = tuple[list[Site], Step, str]
_ORDER = {op: place for place, op in enumerate(("masked_fill", "where", "gt", "lt", "ge", "le", "_softmax"))}

_VIEWS = frozenset(
    (
        "view _unsafe_view reshape select slice t transpose permute unsqueeze squeeze expand clone detach alias "
        "_to_copy contiguous narrow as_strided split unbind lift_fresh"
    ).split()
)
_WORDS = {
    "exp": "exp({})",
    "log": "log({})",
    "sqrt": "sqrt({})",
    "rsqrt": "1 / sqrt({})",
    "reciprocal": "1 / {}",
    "neg": "-{}",
    "abs": "the absolute value of {}",
    "square": "{} squared",
    "sum": "the sum of {}",
    "mean": "the mean of {}",
    "amax": "the maximum of {}",
    "max": "the maximum of {}",
    "amin": "the minimum of {}",
    "cumsum": "the running sum of {}",
}
_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "gt": ">",
    "ge": ">=",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
    "mm": "@",
    "bmm": "@",
    "mv": "@",
}


class _TooMuch(Exception):
    pass


@dataclass
class _Known:
    tensor: torch.Tensor
    text: str
    inputs: frozenset[str]
    site: Site | None = None


@dataclass
class _Record:
    numbers: Mapping[float, str]
    known: dict[int, _Known] = field(default_factory=dict)
    steps: dict[Site, Step] = field(default_factory=dict)
    users: dict[Site, list[Site]] = field(default_factory=dict)

    def words(self, value: object) -> str:
        if isinstance(value, torch.Tensor):
            known = self.known.get(id(value))
            if known is None:
                return "a constant"
            if len(known.text) <= _LONGEST:
                return known.text
            return f"{UNCLEAR}of {_and(sorted(known.inputs))}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return ""
        return self.numbers.get(float(value)) or f"{value:g}"

    def name(self, value: torch.Tensor, text: str, part: str) -> None:
        known = self.known.get(id(value))
        if known is not None:
            known.text = text
            if known.site in self.steps:
                self.steps[known.site] = replace(self.steps[known.site], text=text, part=part)

    def note(self, site: Site, op: str, args: Sequence[Any], kwargs: Mapping[str, Any], found: Any) -> None:
        made = found[0] if isinstance(found, tuple | list) and found else found
        if not isinstance(made, torch.Tensor):
            return
        sources = [
            known for each in args if isinstance(each, torch.Tensor) and (known := self.known.get(id(each)))
        ]
        if op in _VIEWS:
            for each in found if isinstance(found, tuple | list) else (found,):
                if sources and isinstance(each, torch.Tensor):
                    self.known[id(each)] = _Known(each, sources[0].text, sources[0].inputs, sources[0].site)
            return
        operands = tuple(self.words(each) for each in args)
        inputs = frozenset().union(*(known.inputs for known in sources)) if sources else frozenset()
        text = _text(op, operands)
        self.known[id(made)] = _Known(made, text, inputs, site)
        if site not in self.steps:
            parents = tuple(self._parent(each) for each in args)
            shape, floating = tuple(made.shape), made.is_floating_point()
            step = Step(op, operands, text, shape, tuple(args), dict(kwargs), inputs, parents, floating)
            self.steps[site] = replace(step, names=self.numbers)
        for source in sources:
            if source.site is not None and site not in self.users.setdefault(source.site, []):
                self.users[source.site].append(site)

    def composed(
        self, site: Site, op: str, part: Part, args: Sequence[Any], kwargs: Mapping[str, Any], found: Any
    ) -> None:
        made = found[0] if isinstance(found, tuple | list) else found
        known = self.known.get(id(made))
        if known is not None:
            operands = tuple(self.words(each) for each in args)
            shape, floating = tuple(made.shape), made.is_floating_point()
            step = Step(
                op, operands, known.text, shape, tuple(args), dict(kwargs), known.inputs, (), floating
            )
            self.steps.setdefault(site, replace(step, whole=True))

    def _parent(self, value: object) -> Step | None:
        known = self.known.get(id(value))
        return self.steps.get(known.site) if known is not None and known.site is not None else None


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1] if names else "")))


def _text(op: str, operands: Sequence[str]) -> str:
    if op in ("sum", "mean", "amax", "amin", "cumsum", "max"):
        return _WORDS[op].format(inner(operands[0]) if operands[0].startswith("the ") else operands[0])
    if op == "sub" and operands[0] == operands[1]:
        return "0"  # as in ``f - f.detach()``, which only has a derivative
    if op == "add" and "0" in operands[:2]:
        return operands[operands.index("0") == 0]
    if op == "sub" and operands[1] == "0":
        return operands[0]
    if op == "mul" and "0" in operands[:2]:
        return "0"
    if op in _SIGNS and len(operands) >= 2:
        return f"{inner(operands[0])} {_SIGNS[op]} {inner(operands[1])}"
    if op == "pow" and len(operands) >= 2:
        return (
            f"{inner(operands[0])} squared"
            if operands[1] == "2"
            else f"{operands[0]} to the power {operands[1]}"
        )
    if op in _WORDS:
        word = _WORDS[op]
        return word.format(operands[0] if word.endswith("({})") else inner(operands[0]))
    return f"{op}({', '.join(operands[:2])})"


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """``changed``: steps to compute differently."""

    def __init__(self, file: str, changed: Mapping[Site, Change], record: _Record | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._file, self._changed, self._record = file, changed, record
        self._at: tuple[str, int] | None = None
        self._nth = self._count = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to skip it, PyTorch would import all of its compiler

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        op = func.overloadpacket.__name__
        in_place = op.endswith("_") and not op.endswith("__")
        op = op.rstrip("_") if in_place else op
        if op in _VIEWS:
            found = func(*args, **kwargs)
            self._record.note(("", 0, 0), op, args, kwargs, found) if self._record is not None else None
            return found
        self._count += 1
        if self._count > _MOST_OPERATIONS:
            raise _TooMuch
        site = self._site()
        if site not in self._changed and op in PARTS and (part := PARTS[op](args, kwargs)) is not None:
            with self:
                found = self._whole(part)
            if self._record is not None:
                self._record.composed(site, op, part, args, kwargs, found)
            return self._put(args[0], found) if in_place else found
        if self._record is not None:
            found = func(*args, **kwargs)
            if in_place or op not in ("empty", "empty_like", "copy", "zeros", "fill", "arange", "zeros_like"):
                self._record.note(site, op, args, kwargs, found)
            return found
        change = self._changed.get(site)
        if change is None:
            return func(*args, **kwargs)
        before = args[0].clone() if in_place else None
        right = func(*args, **kwargs)
        made = right[0] if isinstance(right, tuple | list) else right
        other = change((before, *args[1:]) if in_place else args, kwargs, made)
        other = torch.broadcast_to(other, made.shape).to(made.dtype)
        if in_place:
            return args[0].copy_(other)
        return (
            type(right)((other.contiguous(), *right[1:]))
            if isinstance(right, tuple | list)
            else other.contiguous()
        )

    def _whole(self, part: Part) -> Any:
        def name(value: torch.Tensor, text: str, if_long: str) -> torch.Tensor:
            if self._record is not None:
                of = [self._record.words(each) for each in part.of]
                words = text.format(*of) if max(map(len, of)) <= _LONGEST_OF_PART else if_long
                self._record.name(value, words, part.name)
            return value

        return part.compute(name)

    def _put(self, target: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
        target.copy_(found)
        if self._record is not None:
            known = self._record.known.get(id(found))
            if known is not None:
                self._record.known[id(target)] = replace(known, tensor=target)
        return target

    def _site(self) -> Site:
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        at = frame.f_code.co_name, frame.f_lasti
        if frame.f_code.co_filename != self._file:
            at = "", 0
        self._nth = self._nth + 1 if at == self._at else 0
        self._at = at
        return (*at, self._nth)


@dataclass
class Steps:
    challenge: Challenge
    #: Seconds of this thread.
    _left: float = _SECONDS

    def find(
        self, case: Case, inputs: Mapping[str, torch.Tensor], result: Wrong, known: Pattern | None
    ) -> Pattern | None:
        """``known``: what the numbers alone show."""
        most = max((values.numel() for values in (result.want, *inputs.values())), default=0)
        if (
            self._left <= 0
            or most > _MOST_ELEMENTS
            or any(arg.dtype.complex for arg in self.challenge.manifest.buffers)
        ):
            return None
        few = torch.unique(result.want[result.wrong]).numel() < FEWEST
        if few and not (result.want.is_floating_point() and bool((result.got[result.wrong] != 0).all())):
            return None  # these fit several steps
        budget = Budget(self._left)
        # On a GPU, an index outside an array would end the judge's context.
        given = {name: values.cpu() for name, values in inputs.items()}
        try:
            return _Search(self.challenge, case, given, result.on_host, budget).find(known)
        except (GraderError, RuntimeError, _TooMuch, ArithmeticError):
            return None
        finally:
            self._left -= budget.used


@dataclass
class _Search:
    challenge: Challenge
    case: Case
    inputs: Mapping[str, torch.Tensor]
    result: Wrong
    budget: Budget

    def find(self, known: Pattern | None) -> Pattern | None:
        record = _Record(self._numbers())
        right = self._run({}, record)
        groups = self._living(_groups(record), right)
        return (
            self._varied(groups, omissions)
            or self._varied(groups, factors_omitted)
            or self._varied(groups, variants)
            or self._solved(groups, known)
            or self._varied(groups, partial_variants)
        )

    def _varied(
        self, groups: Sequence[Group], choices: Callable[[Step], Iterator[Variant]]
    ) -> Pattern | None:
        for sites, step, where in groups:
            for words, change in choices(step):
                if self.budget.spent:
                    return None
                if self._is_answer(dict.fromkeys(sites, change)):
                    return self._named(words, where)
        return None

    def _living(self, groups: Sequence[Group], right: torch.Tensor | None) -> list[Group]:
        """Steps that the result depends on, likely ones first."""
        found = []
        for sites, step, where in sorted(groups, key=lambda group: _ORDER.get(group[1].op, len(_ORDER))):
            if self.budget.spent:
                break
            other = self._other(dict.fromkeys(sites, _broken))
            if other is None or right is None or not torch.equal(other, right):
                found.append((sites, step, where))
        return found

    def _named(self, words: str, where: str, number: float = 0) -> Pattern:
        end = "" if words.endswith("?") else "."
        return Pattern(
            "step", f"{self.result.argument.name} is what you get {words}{where if end else ''}{end}", number
        )

    def _numbers(self) -> dict[float, str]:
        found: dict[float, str] = {}
        for name, size in self.case.sizes.items():
            if size > 2:
                found.setdefault(float(size), name)
        for name, value in scalar_values(self.challenge.manifest, self.case).items():
            if value not in (0, 1, 2):
                found[float(value)] = name
        return found

    def _run(self, changed: Mapping[Site, Change], record: _Record | None = None) -> torch.Tensor | None:
        compute = self.challenge.reference.compute
        code = getattr(compute, "__code__", None)
        file = code.co_filename if code is not None else ""

        def watched(**given: Any) -> Any:
            if record is not None:
                for name, value in given.items():
                    if isinstance(value, torch.Tensor):
                        record.known[id(value)] = _Known(value, name, frozenset({name}))
            with _Watch(file, changed, record):
                return compute(**given)

        name = self.result.argument.name
        values = results_of(self.challenge, self.case, watched, self.inputs, self.case.sizes)[name]
        return OUTPUT.rounded(self.result.argument, values).reshape(-1)[: self.result.got.numel()]

    def _other(self, changed: Mapping[Site, Change]) -> torch.Tensor | None:
        try:
            return self._run(changed)
        except (GraderError, RuntimeError, ArithmeticError, TypeError, ValueError, IndexError):
            return None  # not every change fits

    def _is_answer(self, changed: Mapping[Site, Change]) -> bool:
        answer = self._other(changed)
        if answer is None or not fits(self.result, answer):
            return False
        wrong = self.result.wrong
        got, want, other = (values[wrong].double() for values in (self.result.got, self.result.want, answer))
        if torch.unique(want).numel() < FEWEST:
            return bool(((got - other).abs() * _CLOSER <= (got - want).abs()).all())
        finite = got.isfinite() & want.isfinite() & other.isfinite()
        if not self.result.want.is_floating_point() or not bool(finite.any()):
            return True
        # Rounding may hide which of two steps it was.
        off, left = (got - want).abs()[finite].max(), (got - other).abs()[finite].max()
        digit = torch.finfo(self.result.want.dtype).eps
        roundings, effect = (
            (_ROUNDINGS, _EFFECT) if digit < _NARROW else (_ROUNDINGS_OF_NARROW, _EFFECT_OF_NARROW)
        )
        rounding = roundings * digit * want[finite].abs().max()
        return bool(left <= rounding) and bool(off >= effect * rounding)

    def _solved(self, groups: Sequence[Group], known: Pattern | None) -> Pattern | None:
        """A step's factor, or an amount added to a sum."""
        if not self.result.want.is_floating_point():
            return None
        if known is not None and known.kind in ("factor", "offset"):
            return None  # any step explains it then
        if torch.unique(self.result.want[self.result.wrong]).numel() < FEWEST:
            return None  # these fit any number
        names = self._numbers()
        for sites, step, where in groups:
            for begins, change in ((1.0, _scaled), (0.0, _moved)) if step.floating and not step.whole else ():
                if self.budget.spent or (change is _moved and step.op != "sum"):
                    continue
                found = self._root(begins, partial(self._with, sites, change))
                if found is None or not self._is_answer(dict.fromkeys(sites, change(found))):
                    continue
                words = named_factor(step, found, names)
                if change is _moved:
                    words = f"if {found:.4g} is added to {step.text}"
                if words:
                    return self._named(words, where, found)
        return None

    def _with(
        self, sites: Sequence[Site], change: Callable[[float], Change], number: float
    ) -> torch.Tensor | None:
        return self._other(dict.fromkeys(sites, change(number)))

    def _root(self, begins: float, answer: Callable[[float], torch.Tensor | None]) -> float | None:
        """By secants, at the largest error."""
        got, want = self.result.got.double(), self.result.want.double()
        off = torch.where(self.result.wrong & got.isfinite() & want.isfinite(), (got - want).abs(), -1.0)
        place = int(off.argmax())
        aim = float(got[place])
        if float(off[place]) <= 0:
            return None
        x0, y0 = begins, float(want[place]) - aim
        x1 = begins + 0.05
        for _ in range(_MOST_TRIES):
            if self.budget.spent:
                return None
            found = answer(x1)
            if found is None:
                return None
            y1 = float(found.double()[place]) - aim
            if not math.isfinite(y1):
                return None
            if abs(y1) <= max(_SOLVED * abs(aim), 1e-6 * float(off[place])):
                return x1
            if y1 == y0:
                return None
            x0, y0, x1 = x1, y1, x1 - y1 * (x1 - x0) / (y1 - y0)
            if not math.isfinite(x1) or abs(x1) > 1e9:
                return None
        return None


def _broken(args: Sequence[Any], kwargs: Mapping[str, Any], made: torch.Tensor) -> torch.Tensor:
    return ~made if made.dtype is torch.bool else made * 3 + 1


def _scaled(factor: float) -> Change:
    return lambda args, kwargs, made: made * factor


def _moved(amount: float) -> Change:
    return lambda args, kwargs, made: made + amount


def _groups(record: _Record) -> list[Group]:
    """Equal steps together, then each."""
    alike: dict[tuple[str, tuple[str, ...]], list[Site]] = {}
    for site, step in record.steps.items():
        alike.setdefault((step.op, step.operands), []).append(site)
    found: list[Group] = []
    for sites in alike.values():
        step = record.steps[sites[0]]
        if not step.counts:
            continue
        found.append((sites, step, _where(record, sites[0]) if step.op == "neg" and len(sites) == 1 else ""))
        if len(sites) > 1:
            found += [([site], record.steps[site], _where(record, site)) for site in sites]
    return found[:_MOST_STEPS]


def _where(record: _Record, site: Site) -> str:
    """``, in the variance of x``: the value that the step is for."""
    for _ in range(4):
        users = record.users.get(site, [])
        if len(users) != 1:
            return ""
        site = users[0]
        known = next((each for each in record.known.values() if each.site == site), None)
        if known is not None and known.text.startswith("the ") and len(known.text) <= _LONGEST:
            return f", in {known.text}"
    return ""
