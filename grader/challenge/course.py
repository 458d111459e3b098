"""A course: a folder of challenges, in the order of its curriculum."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from grader.challenge.curriculum import Curriculum, prerequisite_problems, read_curriculum
from grader.challenge.loader import Challenge, read_manifest
from grader.errors import ChallengeInvalid, UnknownChallenge


@dataclass(frozen=True)
class Course:
    """A folder that holds ``challenges/`` and ``reference/``."""

    root: Path

    def slugs(self) -> list[str]:
        folder = self.root / "challenges"
        return sorted(path.parent.name for path in folder.glob("*/challenge.toml"))

    def load(self, slug: str) -> Challenge:
        """Load one challenge. Raises UnknownChallenge, or ChallengeInvalid naming file and key."""
        if not self._has(slug):
            raise UnknownChallenge(f"There is no challenge '{slug}'.", near(slug, self.slugs()))
        return self._load(slug, self.curriculum)

    def _load(self, slug: str, curriculum: Curriculum) -> Challenge:
        folder = self.root / "challenges" / slug
        manifest = read_manifest(folder / "challenge.toml")
        curriculum.check_track(folder / "challenge.toml", manifest.track)
        return Challenge(slug, manifest, folder, self.root / "reference" / slug)

    def valid(self) -> tuple[list[Challenge], list[ChallengeInvalid]]:
        """Every challenge that loads, in the order of ``in_order``, and what is wrong with the others; none loads where
        tracks.toml is broken."""
        try:
            curriculum = self.curriculum
        except ChallengeInvalid as error:
            return [], [error]
        found, wrong = [], []
        for slug in self.slugs():
            try:
                found.append(self._load(slug, curriculum))
            except ChallengeInvalid as error:
                wrong.append(error)
        return self.in_order(found), wrong

    def _has(self, slug: str) -> bool:
        """Without listing the folder: a page of a course of hundreds loads each of them."""
        if slug in ("", "..") or Path(slug).name != slug:
            return False
        # Whatever was typed: os.path takes what no file can be called for a file that is not there.
        return os.path.isfile(self.root / "challenges" / slug / "challenge.toml")  # noqa: PTH113

    @property
    def curriculum(self) -> Curriculum:
        """The tracks in their order. Raises ChallengeInvalid naming file and key."""
        return read_curriculum(self.root / "challenges" / "tracks.toml")

    def all(self) -> list[Challenge]:
        """Every challenge, in the order of ``in_order``. Raises ChallengeInvalid, also for prerequisites that do not
        exist or go in a circle; one challenge alone loads without those that it builds on.
        """
        challenges, wrong = self.valid()
        for problem in wrong or self.prerequisite_problems(challenges):
            raise problem
        return challenges

    def in_order(self, challenges: Iterable[Challenge]) -> list[Challenge]:
        """By place of the track in the curriculum, place in the track, and slug."""
        curriculum = self.curriculum
        return sorted(
            challenges,
            key=lambda it: (curriculum.place(it.manifest.track), it.manifest.order, it.slug),
        )

    def prerequisite_problems(self, challenges: Sequence[Challenge]) -> list[ChallengeInvalid]:
        """What is wrong with the prerequisites among ``challenges``, which are the whole course."""
        return prerequisite_problems(
            {it.slug: it.manifest.prerequisites for it in challenges},
            {it.slug: it.folder / "challenge.toml" for it in challenges},
        )


def near(slug: str, known: Sequence[str]) -> str:
    """A hint for a slug that does not exist: the one that was probably meant, else all there are."""
    close = get_close_matches(slug.lower().replace("-", "_"), known, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(known) or 'none'}."


def find_course(chosen: Path | None = None) -> Course:
    """The chosen course, else the one of this checkout, else the one that came in the wheel.

    Raises ChallengeInvalid where the chosen folder holds no challenges.
    """
    if chosen is not None:
        if not (chosen / "challenges").is_dir():
            raise ChallengeInvalid(
                f"{chosen} has no folder 'challenges'",
                "GRADER_CHALLENGES names a course folder. For a new one, make 'challenges' and 'reference' in it.",
            )
        return Course(chosen)
    package = Path(__file__).resolve().parent.parent
    for root in (package.parent, package / "course"):
        if (root / "challenges").is_dir() and (root / "reference").is_dir():
            return Course(root)
    raise ChallengeInvalid("no challenges were found", "Set GRADER_CHALLENGES to a course folder.")
