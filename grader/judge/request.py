"""One submission, its cases, and the key for its data."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind, Workload
from grader.challenge.pattern import runs_on
from grader.device_kinds import CPU, kind_of
from grader.judge.own_run import case_and_seed
from grader.languages import Language
from grader.schemas.artefact import Artefact
from grader.schemas.own_case import OwnCase

__all__ = ["CPU", "Request"]


@dataclass(frozen=True)
class Request:
    challenge: Challenge
    language: Language
    source: str
    device: str
    seed_key: bytes
    #: Cases that the board does not run are removed.
    cases: Sequence[Case]
    #: Frozen: workload -> name -> microseconds (None: too short to measure).
    baselines: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    #: For a replay.
    seeds: Mapping[str, int] = field(default_factory=dict)
    timing: bool = True
    #: See ``Job``.
    artefact: Artefact | None = None
    #: Overrides ``cases`` and ``timing``.
    public_only: bool = False
    #: One public case with its author's sizes and inputs: keeps results, prints name block and thread.
    own: OwnCase | None = None
    #: On an emulated GPU only.
    quiz: bool = False
    #: Check ``[constructs]``.
    holds_to_rules: bool = True
    #: Show coarse times of hidden cases: exact ones reveal something of their data.
    conceals: bool = False
    #: Workloads to time, of any kind of device; empty: all of this kind.
    only_workloads: Sequence[str] = ()
    #: Instead of the challenge's, such as a final's.
    timed: Sequence[Workload] = ()

    def __post_init__(self) -> None:
        kind, manifest = kind_of(self.device), self.challenge.manifest
        cases = [
            case
            for case in self.cases
            if runs_on(manifest, case, kind) and not (self.public_only and case.hidden)
        ]
        object.__setattr__(self, "cases", cases)
        if self.public_only:
            object.__setattr__(self, "timing", False)

    def seed_of(self, case: Case) -> int:
        """48 bits of an HMAC: every JSON reader keeps them."""
        if case.name in self.seeds:
            return self.seeds[case.name]
        return int.from_bytes(hmac.digest(self.seed_key, case.name.encode(), hashlib.sha256)[:6], "big")

    def with_own(self, asked: OwnCase) -> Request:
        """For a run of ``asked`` alone. Raises BadRequest, Conflict."""
        case, seed = case_and_seed(self.challenge, asked, self.device)
        return replace(self, own=asked, cases=[case], seeds={case.name: seed}, public_only=True)

    @property
    def tags_prints(self) -> bool:
        return self.own is not None

    @property
    def workloads(self) -> list[Workload]:
        if self.timed:
            return list(self.timed)
        manifest, only = self.challenge.manifest, self.only_workloads
        if only:
            return [workload for workload in manifest.workloads if workload.name in only]
        return manifest.timed_on(kind_of(self.device).workloads)

    def names(self, *kinds: Kind) -> list[str]:
        return [arg.name for arg in self.challenge.manifest.args if arg.kind in kinds]
