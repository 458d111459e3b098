"""Judges one case of one source after the other."""

from __future__ import annotations

from pathlib import Path

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import EMULATED
from grader.judge.compilation import compile_source, request_of
from grader.judge.correctness import Suite
from grader.judge.device import make_device
from grader.judge.explaining.mistakes import Mistakes
from grader.judge.launch import Launcher
from grader.judge.request import Request
from grader.judge.runner_client import RunnerClient
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseReport

ROOT = Path(__file__).parents[2]


class CaseJudge:
    """Sources in one ``language``, on the emulated board; in one box as long as it lives."""

    def __init__(self, boxes: BoxMaker, language: Language) -> None:
        self._boxes, self._language = boxes, language
        self._device = make_device(EMULATED)
        self._client: RunnerClient | None = None
        self._catalogue = Catalogue(ROOT)

    def judge(self, source: str, slug: str, name: str) -> CaseReport:
        challenge = self._catalogue.load(slug)
        cases = [case for case in challenge.cases if case.name == name]
        request = Request(challenge, self._language, source, EMULATED, seed_key=bytes(32), cases=cases)
        artefact = None
        if self._language.compiled:
            asked = request_of(challenge, self._language, source, self._device.architecture)
            compiled = compile_source(self._boxes, asked)
            assert compiled.ok, compiled.log
            artefact = compiled.artefact
        launcher = Launcher(request, self._device, self._boxes, lambda: None, artefact)
        if self._client is None:
            self._client = launcher.submission()
        else:
            launcher.load(self._client)
        suite = Suite(
            challenge=challenge,
            cases=cases,
            seed_of=request.seed_of,
            start=launcher.submission,
            on_case=lambda *_: None,
            device=self._device,
            mistakes=Mistakes(challenge, self._language, source),
        )
        self._client = suite.run(self._client)
        return suite.reports[0]

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
