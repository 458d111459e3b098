"""What is asked of the judge: one submission, the cases it must pass, the key its data is drawn under."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind, Workload
from grader.challenge.pattern import runs_on
from grader.device_kinds import CPU, kind_of
from grader.languages import Language
from grader.schemas.artefact import Artefact

__all__ = ["CPU", "Request"]


@dataclass(frozen=True)
class Request:
    """``cases``: those that the device's boards run; others are left out. ``seeds`` overrides the seed of single cases
    by name (a replay). ``baselines``: workload -> name -> microseconds, what is frozen already; none for one that is
    too short to measure. ``artefact``: what was compiled ahead, see ``Job``. ``public_only``: a run, without hidden
    cases and timing, whatever ``cases`` and ``timing`` say; and the report says so. ``conceals``: what hidden cases
    take is shown in coarse steps only, because somebody who may not know their data watches. ``only_workloads``: the
    names of those that are timed, of any kind of device; none: all of this one's. ``timed``: workloads in place of the
    challenge's own, such as a final has."""

    challenge: Challenge
    language: Language
    source: str
    device: str
    seed_key: bytes
    cases: Sequence[Case]
    baselines: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    timing: bool = True
    artefact: Artefact | None = None
    public_only: bool = False
    conceals: bool = False
    only_workloads: Sequence[str] = ()
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
        """48 bits, so that every JSON reader keeps them: an HMAC of the case's name under the submission's key."""
        if case.name in self.seeds:
            return self.seeds[case.name]
        return int.from_bytes(hmac.digest(self.seed_key, case.name.encode(), hashlib.sha256)[:6], "big")

    @property
    def workloads(self) -> list[Workload]:
        """The workloads that are timed."""
        if self.timed:
            return list(self.timed)
        on, only = kind_of(self.device).workloads, self.only_workloads
        return [
            workload
            for workload in self.challenge.manifest.workloads
            if (workload.name in only if only else workload.on == on)
        ]

    def names(self, kind: Kind) -> list[str]:
        return [arg.name for arg in self.challenge.manifest.args if arg.kind is kind]
