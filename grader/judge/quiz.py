"""Questions on an accepted kernel, from an emulated GPU's facts about a public case, often with one changed size.
Drawn before the box sees hidden cases."""

from __future__ import annotations

import hashlib
import hmac
import math
import random
from collections.abc import Iterator, Sequence

from grader.challenge.cases import Case
from grader.challenge.own_case import own_case
from grader.device_kinds import kind_of
from grader.errors import BadRequest, ChallengeInvalid, Conflict
from grader.judge.arena import Arena
from grader.judge.compare import compare, forbidden_write
from grader.judge.messages import QuizFact
from grader.judge.oracle import ask, scalar_values
from grader.judge.request import Request
from grader.judge.runner_client import RunnerClient
from grader.logs import get_logger
from grader.schemas.own_case import OwnCase
from grader.schemas.quiz import MOST_QUESTIONS, DrawnQuestion, QuizChoice, QuizKind

log = get_logger(__name__)

# Elements of all arrays: several blocks, quick to trace.
_ENOUGH, _FEWEST, _MOST = 4_000, 500, 60_000
_LEAST_SIZE = 12
_TRIES = 3
# Each launch is kept, and blocks run again.
_SECONDS = 20.0
# These need more than arithmetic with indices.
_DEEP = ("active", "sectors", "passes", "barrier", "race")
_CODE_CHARS = 80
_WARP = 32
_SECTOR = 32


def draw(request: Request, subject: RunnerClient) -> list[DrawnQuestion]:
    """At most ``MOST_QUESTIONS`` of different kinds; none if no call is right. Raises ChannelError."""
    seed = int.from_bytes(hmac.digest(request.seed_key, b"quiz", hashlib.sha256)[:6], "big") | 1
    dice = random.Random(seed)  # noqa: S311 - its seed is secret
    best: list[DrawnQuestion] = []
    for case, changed in _cases(request, dice):
        chosen = _chosen(_facts(request, subject, case, seed), dice)
        if len(chosen) > len(best):
            words = _Words(request, case, changed, seed)
            best = [words.question(fact) for fact in chosen]
        if len(best) == MOST_QUESTIONS:
            break
    return best


def _chosen(facts: Sequence[QuizFact], dice: random.Random) -> list[QuizFact]:
    """Up to two that need the machine's rules, and others."""
    deep = [fact for fact in facts if fact.kind in _DEEP]
    first = dice.sample(deep, min(len(deep), MOST_QUESTIONS - 1))
    others = [fact for fact in facts if fact not in first]
    return [*first, *dice.sample(others, min(len(others), MOST_QUESTIONS - len(first)))]


def _cases(request: Request, dice: random.Random) -> Iterator[tuple[Case, str]]:
    """Cases to try, with the changed size's name; the last is unchanged."""
    manifest = request.challenge.manifest
    public = [
        case for case in request.cases if not case.hidden and case.on is None and all(case.sizes.values())
    ]
    counts = {
        case.name: sum(math.prod(manifest.shape(arg, case.sizes)) for arg in manifest.buffers)
        for case in public
    }
    if not public:
        return
    fits = [
        [case for case in public if least <= counts[case.name] <= most]
        for least, most in ((_ENOUGH, _MOST), (_FEWEST, _ENOUGH), (0, _MOST))
    ]
    fits = [fit for fit in fits if fit] or [public]
    # Smaller cases follow: a block of the first may be too large to trace.
    for fit in (fits * _TRIES)[: _TRIES - 1]:
        case = dice.choice(fit)
        names = [name for name, size in case.sizes.items() if size >= _LEAST_SIZE]
        if not names:
            continue
        name = dice.choice(names)
        size = case.sizes[name]
        new = dice.randrange(max(_LEAST_SIZE, size * 2 // 3), size * 3 // 2) | 1
        if new == size:
            continue
        try:
            asked = OwnCase(name=case.name, sizes={name: new})
            yield own_case(request.challenge, asked, kind_of(request.device)), name
        except (BadRequest, Conflict):
            continue
    yield dice.choice(fits[0]), ""


def _facts(request: Request, subject: RunnerClient, case: Case, seed: int) -> Sequence[QuizFact]:
    """Empty if results are wrong, which a changed size may cause."""
    challenge, manifest = request.challenge, request.challenge.manifest
    try:
        question = ask(challenge, case, seed)
    except ChallengeInvalid:
        return ()  # the reference has no answer for this size
    arena = Arena(manifest, case.sizes, scalar_values(manifest, case), without=case.without)
    try:
        subject.bind(arena)
        answer = subject.quiz_call(arena, question.inputs, _SECONDS, seed)
        subject.printed()
        wrong = compare(arena, arena.snapshot(), question) or forbidden_write(arena, question)
    finally:
        arena.close()
        if not subject.lost:
            subject.unbind()
    if answer.failure is not None or wrong is not None:
        why = answer.failure.message if answer.failure is not None else "wrong results"
        log.info("quiz_not_drawn", case=case.name, sizes=dict(case.sizes), why=why[:200])
        return ()
    return answer.quiz


class _Words:
    def __init__(self, request: Request, case: Case, changed: str, seed: int) -> None:
        self._request, self._case, self._changed, self._seed = request, case, changed, seed
        self._programs = request.language.programs
        self._lines = request.source.splitlines()

    def question(self, fact: QuizFact) -> DrawnQuestion:
        text, why = getattr(self, f"_{fact.kind}")(fact)
        return DrawnQuestion(
            kind=QuizKind(fact.kind),
            setting=self._setting(),
            text=text,
            lines=[fact.line] if fact.line else [],
            choices=[
                QuizChoice(value=line, text=self._code(line) if line else "None of them")
                for line in fact.choices
            ],
            answer=fact.answer,
            why=why,
            case=self._case.name,
            sizes=dict(self._case.sizes),
            seed=self._seed,
        )

    def _setting(self) -> str:
        sizes = ", ".join(f"{name} = {size:,}" for name, size in self._case.sizes.items())
        if not self._changed:
            return f"Your kernel ran the case `{self._case.name}`: {sizes}."
        return f"Your kernel ran the case `{self._case.name}` with another `{self._changed}`: {sizes}."

    def _code(self, line: int) -> str:
        code = self._lines[line - 1].strip() if line <= len(self._lines) else ""
        shown = code if len(code) <= _CODE_CHARS else f"{code[:_CODE_CHARS]} ..."
        return f"Line {line}: {shown}" if code else f"Line {line}"

    def _of_kernel(self, fact: QuizFact) -> str:
        return f" of `{fact.kernel}`" if fact.kernels > 1 else ""

    def _block(self, fact: QuizFact) -> str:
        kernel = self._of_kernel(fact)
        return f"{'program' if self._programs else 'block'} {_place(fact.block, fact.grid)}{kernel}"

    def _warp(self, fact: QuizFact) -> str:
        first, last = _WARP * fact.warp, min(_WARP * (fact.warp + 1), math.prod(fact.threads)) - 1
        ends = [_place(_index(number, fact.threads), fact.threads) for number in (first, last)]
        return f"warp {fact.warp} (threads {ends[0]} to {ends[1]}) of {self._block(fact)}"

    def _who(self, fact: QuizFact) -> str:
        return self._block(fact) if self._programs else self._warp(fact)

    def _flat(self, fact: QuizFact) -> str:
        shape = next(
            (arg.shape for arg in self._request.challenge.manifest.buffers if arg.name == fact.array), ()
        )
        return " Count through the whole array, row by row, from 0." if len(shape) > 1 else ""

    def _blocks(self, fact: QuizFact) -> tuple[str, str]:
        noun = "programs" if self._programs else "blocks"
        x, y, z = fact.grid
        threads = "" if self._programs else f" of {math.prod(fact.threads):,} threads"
        grid = f"{x:,} x {y:,} x {z:,}"
        return (
            f"How many {noun}{self._of_kernel(fact)} are launched?",
            f"The grid is {grid}: {fact.answer:,} {noun}{threads}.",
        )

    def _first_write(self, fact: QuizFact) -> tuple[str, str]:
        elements = _counted(fact.saw["elements"], "element")
        if self._programs:
            return (
                f"What is the lowest index of `{fact.array}` that {self._block(fact)} writes?{self._flat(fact)}",
                f"It writes {elements}; the lowest index is {fact.answer:,}.",
            )
        thread = _place(fact.thread, fact.threads)
        return (
            f"What is the first index of `{fact.array}` that thread {thread} of {self._block(fact)} writes?"
            f"{self._flat(fact)}",
            f"Its first store, in line {fact.line}, begins at element {fact.answer:,}; its stores write {elements}.",
        )

    def _elements(self, fact: QuizFact) -> tuple[str, str]:
        saw = fact.saw
        return (
            f"How many elements of `{fact.array}` does {self._block(fact)} write?",
            f"It writes {_counted(fact.answer, 'element')}, with indices from {saw['least']:,} to {saw['most']:,}.",
        )

    def _active(self, fact: QuizFact) -> tuple[str, str]:
        return (
            f"How many threads of {self._warp(fact)} {_plural(fact.verb)} `{fact.array}` in line {fact.line}?",
            f"{fact.answer} of the warp's {fact.saw['exist']} threads {'was' if fact.answer == 1 else 'were'} active "
            f"there{_each(fact, ', in each of {} requests')}.",
        )

    def _sectors(self, fact: QuizFact) -> tuple[str, str]:
        bytes_ = fact.saw["bytes"]
        least = -(-bytes_ // _SECTOR)
        if self._programs:
            return (
                f"How many different sectors of 32 bytes of `{fact.array}` does {self._block(fact)} "
                f"{_plural(fact.verb)} in line {fact.line}?",
                f"It {fact.verb} {bytes_:,} different bytes there, in {_counted(fact.answer, 'sector')}; "
                f"{least:,} would be the least.",
            )
        when = f"each time it {fact.verb}" if fact.saw["requests"] > 1 else f"when it {fact.verb}"
        return (
            f"How many sectors of 32 bytes does {self._warp(fact)} touch {when} `{fact.array}` in line {fact.line}?",
            f"Its {_counted(fact.saw['active'], 'active thread')} asked for {bytes_:,} different bytes, in "
            f"{_counted(fact.answer, 'sector')}; {least:,} would be the least.",
        )

    def _passes(self, fact: QuizFact) -> tuple[str, str]:
        when = f"each time it {fact.verb}" if fact.saw["requests"] > 1 else f"when it {fact.verb}"
        words = _counted(fact.saw["words"], "different word")
        return (
            f"How many passes through the banks of shared memory does {self._warp(fact)} need {when} "
            f"`{fact.array}` in line {fact.line}?",
            f"Its {_counted(fact.saw['active'], 'active thread')} asked for {words} of 4 bytes; the busiest bank has "
            f"{fact.answer} of them.",
        )

    def _barrier(self, fact: QuizFact) -> tuple[str, str]:
        found = [f"Without the barrier in line {barrier}, {_race(*lines)}." for barrier, *lines in fact.races]
        if fact.answer:
            found.insert(
                0,
                f"Without the barrier in line {fact.answer}, the engine found no race, and the results were the same "
                "bit for bit.",
            )
        return f"Which barrier{self._of_kernel(fact)} could go in this call, without a race?", " ".join(found)

    def _race(self, fact: QuizFact) -> tuple[str, str]:
        ((_, *lines),) = fact.races
        return (
            f"If the barrier in line {fact.line} is removed, which of these lines takes part in a race?",
            f"Without that barrier, {_race(*lines)}.",
        )


def _race(line: int, other: int) -> str:
    if not other:
        return f"line {line} uses what another thread has not done yet"
    return f"line {line} races with itself" if line == other else f"lines {line} and {other} race"


def _plural(verb: str) -> str:
    return verb.removesuffix("s")


def _each(fact: QuizFact, text: str) -> str:
    return text.format(fact.saw["requests"]) if fact.saw["requests"] > 1 else ""


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _index(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    return number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])


def _place(index: tuple[int, int, int], sizes: tuple[int, int, int]) -> str:
    """As many coordinates as dimensions: 3, (3, 1) or (3, 1, 0)."""
    if sizes[1] == sizes[2] == 1:
        return str(index[0])
    return f"({index[0]}, {index[1]})" if sizes[2] == 1 else str(tuple(index))
