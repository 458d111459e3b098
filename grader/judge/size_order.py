"""Finds submissions that take sizes in another order than the signature, as kernels from other platforms do.

Evidence: cases pass in another order, or exactly if certain sizes are equal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from grader import limits
from grader.challenge.model import Manifest
from grader.challenge.signature import declaration
from grader.judge.correctness import Suite
from grader.judge.faults import COMING
from grader.judge.launch import LoadFailed
from grader.judge.runner_client import RunnerClient
from grader.languages import Language
from grader.schemas.report import CaseReport, CaseVerdict

# Some wrong orders pass by luck, e.g. if all is zero.
_FEWEST = 3
_SHARE = 0.8
_TRIED_CASES = 2
_FAILED = (CaseVerdict.WRONG_ANSWER, CaseVerdict.RUNTIME_ERROR)

# Size of the signature -> size whose value is passed instead.
Order = Mapping[str, str]
Passes = Callable[[Sequence[str], Order], bool]


def size_order_hint(suite: Suite, language: Language) -> str:
    """Empty without evidence. Trials run in separate boxes, which never see a hidden case."""
    trial = _Trial(suite, time.perf_counter() + limits.CASE_SECONDS)
    try:
        return explain(suite.challenge.manifest, language, suite.reports, trial.passes)
    except LoadFailed:
        return ""
    finally:
        trial.close()


@dataclass
class _Trial:
    """``deadline``: by ``time.perf_counter``."""

    suite: Suite
    deadline: float
    boxes: int = 0
    client: RunnerClient | None = None

    def passes(self, names: Sequence[str], order: Order) -> bool:
        """Raises LoadFailed, BoxUnavailable."""
        if time.perf_counter() > self.deadline:
            return False
        if self.client is None:
            if self.boxes == limits.FRESH_BOXES:
                return False
            self.boxes += 1
            self.client = self.suite.start()
        trial = replace(
            self.suite,
            cases=[case for case in self.suite.cases if case.name in names],
            told_sizes=lambda sizes: {name: sizes[order[name]] for name in sizes},
            on_case=lambda *_: None,
            fresh_boxes=0,
            stop_at_failure=True,
            mistakes=None,
            reports=[],
            own_seconds=[],
            endless="",
            _ended=[],
        )
        self.client = trial.run(self.client)
        return trial.passed

    def close(self) -> None:
        if self.client is not None:
            self.client.close()


def explain(manifest: Manifest, language: Language, cases: Sequence[CaseReport], passes: Passes) -> str:
    """Empty without evidence. ``passes`` says if cases (by name) pass with an order."""
    names = manifest.sizes
    signature = f"The signature is: {declaration(manifest, language)}. {COMING}"
    if (tried := _worth_trying(manifest, cases)) and (order := _right_order(names, tried, passes)):
        listed = ", ".join(order[name] for name in names)
        return (
            f"The kernel takes the sizes in another order: called with {listed} instead of {', '.join(names)}, it "
            f"passes the cases {' and '.join(case.name for case in tried)}. {signature}"
        )
    if mixed := _mixed_up(names, cases):
        listed = f"{', '.join(mixed[:-1])} and {mixed[-1]}"
        return (
            f"Cases in which {listed} are equal pass, but those in which they differ fail: the kernel may take the "
            f"sizes in another order, or use one for another. {signature}"
        )
    return ""


def _worth_trying(manifest: Manifest, cases: Sequence[CaseReport]) -> list[CaseReport]:
    """The smallest cases whose sizes differ from each other, if nearly all of these fail."""
    differ = [case for case in cases if _tells_orders_apart(manifest, case)]
    failing = [case for case in differ if case.verdict in _FAILED]
    left = [case for case in differ if case.verdict is CaseVerdict.NOT_RUN]
    if not failing or len(failing) < _SHARE * (len(differ) - len(left)):
        return []
    if sum(case.verdict in _FAILED for case in cases) < _FEWEST:
        return []
    # Cases that did not run come last: an order must pass at least one that failed.
    ordered = [
        sorted(each, key=lambda case: math.prod((case.sizes or {}).values())) for each in (failing, left)
    ]
    return [*ordered[0], *ordered[1]][:_TRIED_CASES]


def _tells_orders_apart(manifest: Manifest, case: CaseReport) -> bool:
    sizes = case.sizes or {}
    values = _values(case, manifest.sizes)
    if len(values) < 2 or min(values) < 2 or len(set(values)) < len(values):
        return False
    return all(math.prod(manifest.shape(arg, sizes)) for arg in manifest.results)


def _right_order(names: Sequence[str], tried: Sequence[CaseReport], passes: Passes) -> Order | None:
    """First those that exchange only two sizes."""
    orders = [dict(zip(names, order, strict=True)) for order in permutations(names)]
    orders.sort(key=lambda order: sum(name != value for name, value in order.items()))
    cases = [case.name for case in tried]
    # The first is the signature's.
    return next((order for order in orders[1 : 1 + limits.SIZE_ORDERS] if passes(cases, order)), None)


def _mixed_up(names: Sequence[str], cases: Sequence[CaseReport]) -> Sequence[str]:
    for number in range(2, len(names) + 1):
        found = {
            name for chosen in combinations(names, number) if _must_agree(chosen, cases) for name in chosen
        }
        if found:
            return [name for name in names if name in found]
    return ()


def _must_agree(names: Sequence[str], cases: Sequence[CaseReport]) -> bool:
    """True if cases with equal ``names`` pass and others fail. With sizes of 0 and 1, others may pass by luck."""
    equal: list[bool] = []
    different: list[bool] = []
    for case in cases:
        values, failed = _values(case, names), case.verdict in _FAILED
        if case.verdict is not CaseVerdict.NOT_RUN and (failed or min(values) > 1):
            (equal if len(set(values)) == 1 else different).append(failed)
    return bool(equal) and not any(equal) and sum(different) >= max(_FEWEST, _SHARE * len(different))


def _values(case: CaseReport, names: Sequence[str]) -> list[int]:
    sizes = case.sizes or {}
    return [sizes.get(name, 0) for name in names]
