"""Cases for a GPU alone, here small and on the processor: judged piece by piece, or left out and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from grader.challenge.cases import NAN, At, Case, case
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Pieces
from grader.judge import pieces
from grader.judge.host_device import HostDevice
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseVerdict, Report, Verdict
from tests.judge.kernels import RIGHT, with_solve
from tests.judge.plenty import Plenty

LARGE = case("large", "large", n=3001, inputs={"x": At(NAN, (-1,))}, on="gpu")
HIDDEN = replace(case("secret_large", "large", n=2999, on="gpu"), hidden=True)


class Lacking(Plenty):
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def case_shortage(self, challenge: Challenge, case: Case) -> str:
        return f"Without case {case.name}: too large." if case.name in self._names else ""


class Card(HostDevice):
    """Makes an untimed call before each case's own, as a GPU does, and lacks memory for ``lacking``."""

    warm_up_cases = True

    def __init__(self, *lacking: str) -> None:
        self.memory_plan = Lacking(lacking)


def judged(catalogue: Catalogue, boxes: BoxMaker, source: str, device: HostDevice) -> Report:
    loaded = catalogue.load("twice")
    manifest = loaded.manifest.model_copy(update={"pieces": Pieces(along="n")})
    challenge = Challenge("twice", manifest, loaded.folder, loaded.reference_folder)
    cases = [challenge.cases[0], LARGE, HIDDEN]
    challenge.__dict__["cases"], challenge.__dict__["hidden_cases"] = cases[:2], cases[2:]
    request = Request(challenge, Language.TRITON, source, "h200", bytes(32), cases, timing=False)
    return Session(request, device, boxes, lambda _: None, lambda: None).run().report


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_ELEMENTS", 512)


def test_a_large_case_is_judged_piece_by_piece(catalogue: Catalogue, boxes: BoxMaker) -> None:
    assert judged(catalogue, boxes, RIGHT, Card()).verdict is Verdict.ACCEPTED
    wrong = with_solve("    torch.mul(x, 2, out=out)\n    if n > 2000:\n        out[1027] = 5")
    report = judged(catalogue, boxes, wrong, Card())
    (found,) = [case for case in report.cases if case.name == "large"]
    assert found.verdict is CaseVerdict.WRONG_ANSWER
    assert found.mismatch is not None
    assert (found.mismatch.index, found.mismatch.wrong, found.mismatch.total) == ([1027], 1, 3001)
    changing = with_solve("    torch.mul(x, 2, out=out)\n    x[-1] = 0")
    (first, found, _) = judged(catalogue, boxes, changing, Card()).cases
    assert {first.verdict, found.verdict} == {CaseVerdict.WRONG_ANSWER}
    assert found.mismatch is not None
    assert (found.mismatch.kind, found.mismatch.index, found.mismatch.expected) == (
        "input_changed",
        [3000],
        "nan",
    )


def test_cases_that_do_not_fit_are_named_and_hidden_ones_counted(
    catalogue: Catalogue, boxes: BoxMaker
) -> None:
    report = judged(catalogue, boxes, RIGHT, Card("large", "secret_large"))
    assert (report.verdict, [case.name for case in report.cases]) == (Verdict.ACCEPTED, ["basic"])
    assert report.left_out == ["large"]
    assert report.remarks == [
        "Without case large: too large.",
        "Without a hidden case: this GPU lacks the memory.",
    ]
    assert "secret" not in report.model_dump_json()
    assert judged(catalogue, boxes, RIGHT, Card()).left_out == []
