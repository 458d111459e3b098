"""Questions on an accepted kernel, from the judge's own boxes: in Outcome.quiz, never in the report."""

from __future__ import annotations

import re

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import EMULATED
from grader.judge.device import make_device
from grader.judge.job import Outcome
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.quiz import MOST_QUESTIONS, DrawnQuestion, QuizKind
from grader.schemas.report import Verdict
from tests.components import need
from tests.judge.test_own_run import TRITON, cuda

BLOCK = {Language.CUDA: 4, Language.TRITON: 32}


def judged(catalogue: Catalogue, boxes: BoxMaker, source: str, language: Language) -> Outcome:
    challenge = catalogue.load("twice")
    cases = [*challenge.cases, *challenge.hidden_cases]
    request = Request(
        challenge, language, source, EMULATED, b"key", cases, only_workloads=["small"], quiz=True
    )
    return Session(request, make_device(EMULATED), boxes, lambda _: None, lambda: None).run()


def expected(question: DrawnQuestion, language: Language) -> int:
    """By the kernels' own indices: element i by thread i, ``BLOCK`` threads a block or elements a program."""
    n, size = question.sizes["n"], BLOCK[language]
    if question.kind is QuizKind.BLOCKS:
        return -(-n // size)
    found = re.search(r"(?:block|program) (\d+)", question.text)
    assert found is not None, question.text
    block = int(found[1])
    here = range(size * block, min(size * block + size, n))
    if question.kind is QuizKind.FIRST_WRITE:
        thread = re.search(r"thread (\d+)", question.text)
        return here[int(thread[1]) if thread else 0]
    if question.kind is QuizKind.SECTORS:
        return len({4 * element // 32 for element in here})
    assert question.kind in (QuizKind.ELEMENTS, QuizKind.ACTIVE), question.kind
    return len(here)


@pytest.mark.parametrize("language", [Language.CUDA, pytest.param(Language.TRITON, marks=pytest.mark.matrix)])
def test_questions_have_the_answers_that_the_source_computes(
    catalogue: Catalogue, boxes: BoxMaker, language: Language
) -> None:
    need("emulator")
    if language is Language.CUDA:
        need("nvcc")
    source = cuda() if language is Language.CUDA else TRITON.replace('tl.device_print("value", values)', "")
    outcome = judged(catalogue, boxes, source, language)
    assert outcome.report.verdict is Verdict.ACCEPTED, outcome.report
    assert len(outcome.quiz) == MOST_QUESTIONS
    for question in outcome.quiz:
        assert question.answer == expected(question, language), question
        assert question.text not in outcome.report.model_dump_json()
        assert question.case in ("basic", "prime", "nan")
