"""Does a worker's part for uploads, without a box: a test may run their Python here."""

from __future__ import annotations

import tempfile
from pathlib import Path

from grader.challenge import bundle, examined
from grader.challenge.catalogue import Catalogue
from grader.challenge.examined import Examined
from grader.languages import Language
from grader.records import uploads as records
from grader.records.engine import clock, writing
from grader.schemas.proof import CandidateOutcome, CandidateResult, CandidateRole, Check, Proof, Status
from grader.schemas.upload import CheckState
from grader.service.challenges import uploads
from grader.service.platform import Platform


def examine(platform: Platform) -> None:
    while True:
        with writing(platform.sessions) as session:
            held = records.claim(session, "worker", clock(session), 600.0)
            if held is None:
                return
            session.flush()
            session.expunge(held)
        with tempfile.TemporaryDirectory() as folder:
            bundle.read_archive(held.archive).write(Path(folder))
            loaded = Catalogue(Path(folder)).load(held.challenge)
            hidden = tuple(loaded.hidden_cases)
            said = examined.dump(Examined(tuple(loaded.cases), hidden, loaded.inputs, ("reference",)))
        with writing(platform.sessions) as session:
            assert records.keep(session, held, clock(session), examined=said)
        uploads.take_first(platform, held.challenge, held.number)
        found = Check(name="spec", status=Status.OK, summary="every part is present", remarks=["one"])
        proof = _proof(held.challenge, [found]).model_dump_json()
        with writing(platform.sessions) as session:
            state = CheckState.PROVEN
            assert records.finish(session, held, state, clock(session), check_result=proof)


def _proof(slug: str, checks: list[Check]) -> Proof:
    """With a wrong kernel that a case refuses, and one that none does."""
    mutant = CandidateResult(
        slug=slug,
        role=CandidateRole.MUTANT,
        name="no_mask.py",
        language=Language.TRITON,
        ending=CandidateOutcome.FAILED,
        failed=["odd"],
    )
    alive = mutant.model_copy(
        update={
            "name": "nan_swallowed.py",
            "ending": CandidateOutcome.ACCEPTED,
            "failed": [],
            "proposed": 'case("nan", "nan", n=300, inputs={"x": Sprinkle(NAN, 0.1)}),',
        }
    )
    return Proof(slug=slug, checks=checks, tried=[mutant, alive], cases=["basic", "odd"], seconds=1.0)
