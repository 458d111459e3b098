"""Every suite that this branch changed, and always a small sample, is proven by the real judge.

``GRADER_PROVE=all`` proves every challenge; so does a checkout without git.
"""

from __future__ import annotations

import os

import pytest

from grader.authoring.changed import changed_slugs
from grader.authoring.proof import Options, prove
from grader.challenge.catalogue import find_catalogue
from grader.schemas.proof import Proof

CATALOGUE = find_catalogue()
# One with floats and one with integers alone, to try the judge's part for both in every run.
SAMPLE = ("histogram", "vector_add")
# At most two, the cores of the machine whose budget this is.
JOBS = min(2, os.cpu_count() or 1)
# All of them, on two slow cores with other work.
SECONDS = 1800


def _wanted() -> list[str]:
    every = CATALOGUE.slugs()
    if os.environ.get("GRADER_PROVE") == "all":
        return every
    changed = changed_slugs(CATALOGUE.root, every)
    return every if changed is None else sorted({*changed, *SAMPLE})


# Asked once: a commit during the tests would change the answer.
WANTED = _wanted()


@pytest.fixture(scope="module")
def proofs() -> dict[str, Proof]:
    found = prove(CATALOGUE.root, WANTED, Options(jobs=JOBS), lambda *_: None)
    return {challenge.slug: challenge for challenge in found.challenges}


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("slug", WANTED)
def test_each_suite_is_proven(slug: str, proofs: dict[str, Proof]) -> None:
    """Protects students against a challenge whose cases accept wrong kernels or refuse right ones."""
    assert [check for check in proofs[slug].checks if check.status.fails] == []
