"""A catalogue: a folder of challenges, in the order of its curriculum."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from grader.challenge import fingerprint
from grader.challenge.curriculum import Curriculum, prerequisite_problems, read_curriculum
from grader.challenge.loader import Challenge, read_manifest
from grader.challenge.model import Manifest
from grader.errors import ChallengeInvalid, UnknownChallenge

MANIFEST = "challenge.toml"
TRACKS = "tracks.toml"
# How a challenge whose manifest cannot be parsed is still called.
_TITLE, _TRACK = (
    re.compile(rf'^\s*{key}\s*=\s*"([^"\n]{{1,100}})"\s*$', re.MULTILINE) for key in ("title", "track")
)
_NO_TRACK = "unavailable"


@dataclass(frozen=True)
class Broken:
    """A challenge's folder that does not load; ``slug`` is "tracks.toml" for that file. ``title`` and ``track`` are
    what its manifest says as far as that can be read, else its slug and "unavailable"."""

    slug: str
    title: str
    track: str
    error: ChallengeInvalid

    @property
    def hint(self) -> str:
        """What its author does."""
        check = "" if self.slug == TRACKS else f" Then: grader challenge check {self.slug}"
        return f"Fix the file, or restore git's version. {self.error.hint}".strip() + check


class UploadedFolders(Protocol):
    """Challenges that were uploaded and are in use."""

    def roots(self) -> Mapping[str, Path]:
        """Slug -> a folder that holds ``challenges/SLUG`` and ``reference/SLUG``, there on this host."""


@dataclass(frozen=True)
class Catalogue:
    """A folder that holds ``challenges/`` and ``reference/``. What was uploaded to a platform stands beside it, and in
    place of a folder of the same name."""

    root: Path
    uploads: UploadedFolders | None = field(default=None, compare=False)

    def slugs(self) -> list[str]:
        folder = self.root / "challenges"
        return sorted({path.parent.name for path in folder.glob(f"*/{MANIFEST}")} | set(self._uploaded))

    @property
    def _uploaded(self) -> Mapping[str, Path]:
        return self.uploads.roots() if self.uploads is not None else {}

    def root_of(self, slug: str) -> Path:
        """The folder whose ``challenges`` and ``reference`` hold this challenge: this course's, or an upload's."""
        return self._uploaded.get(slug, self.root)

    def is_uploaded(self, slug: str) -> bool:
        return slug in self._uploaded

    def has_folder(self, slug: str) -> bool:
        """Whether the course's own folder has a challenge of this slug."""
        return (self.root / "challenges" / slug / MANIFEST).is_file()

    def check_track(self, slug: str, manifest: Manifest) -> None:
        """Raises ChallengeInvalid where this course has no such track."""
        self.known_curriculum.check_track(Path(f"challenges/{slug}/{MANIFEST}"), manifest.track)

    def folders(self) -> list[str]:
        """The slugs of all that is there, also of what does not load."""
        return sorted({*self.slugs(), *self._without_manifest()})

    def _without_manifest(self) -> list[str]:
        """Folders with files in them, none of which is a manifest (it was moved, misspelt or never copied), and those
        that cannot be looked into."""
        folders = [it for it in (self.root / "challenges").glob("[!._]*") if it.is_dir()]
        return sorted(it.name for it in folders if not self.is_uploaded(it.name) and _lacks_manifest(it))

    def load(self, slug: str) -> Challenge:
        """Load one challenge. Raises UnknownChallenge, or ChallengeInvalid naming file and key. A broken tracks.toml is
        as good as none: it must not stop every challenge."""
        if not self._has(slug):
            raise UnknownChallenge(f"There is no challenge '{slug}'.", near(slug, self.slugs()))
        return self._load(self.root_of(slug), slug, self.known_curriculum)

    def load_at(self, root: Path, slug: str) -> Challenge:
        """The same of a challenge that lies below another root, as if it were in this course."""
        return self._load(root, slug, self.known_curriculum)

    def _load(self, root: Path, slug: str, curriculum: Curriculum) -> Challenge:
        folder = root / "challenges" / slug
        manifest = read_manifest(folder / MANIFEST)
        curriculum.check_track(folder / MANIFEST, manifest.track)
        return Challenge(slug, manifest, folder, root / "reference" / slug)

    def valid(self) -> tuple[list[Challenge], list[Broken]]:
        """Every challenge that loads, in the order of ``in_order``, and those that do not. A broken tracks.toml is
        among the latter, and nothing else is the worse for it but the order."""
        found, wrong = [], []
        try:
            curriculum = self.curriculum
        except ChallengeInvalid as error:
            curriculum = self.known_curriculum
            wrong.append(Broken(TRACKS, TRACKS, _NO_TRACK, error))
        uploaded = self._uploaded
        for slug in self.folders():
            try:
                found.append(self._load(uploaded.get(slug, self.root), slug, curriculum))
            except ChallengeInvalid as error:
                wrong.append(self.describe_broken(slug, error))
        return self.in_order(found), wrong

    def broken(self) -> list[Broken]:
        """What does not load, and what loads and cannot be shown or judged by: a file is missing, cases.py fails, a
        prerequisite does not exist. Costs little where no file has changed since the last look."""
        found, broken = self.valid()
        # Those that need a broken one are well themselves.
        known = {it.slug for it in found} | {it.slug for it in broken}
        for challenge in found:
            try:
                _ = challenge.spec
                fingerprint.content(challenge)
                if strange := [it for it in challenge.manifest.prerequisites if it not in known]:
                    where = f"{challenge.folder / MANIFEST}: prerequisites"
                    raise ChallengeInvalid(f"{where}: there is no challenge {strange}")
            except ChallengeInvalid as error:
                broken.append(self.describe_broken(challenge.slug, error))
        return broken

    def describe_broken(self, slug: str, error: ChallengeInvalid) -> Broken:
        """What can still be said of a challenge that does not load."""
        try:
            path = self.root_of(slug) / "challenges" / slug / MANIFEST
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        title, track = _TITLE.search(text), _TRACK.search(text)
        return Broken(slug, title[1] if title else slug, track[1] if track else _NO_TRACK, error)

    def _has(self, slug: str) -> bool:
        """Without listing the folder: a page of a catalogue of hundreds loads each of them."""
        if slug in ("", "..") or Path(slug).name != slug:
            return False
        # Whatever was typed: os.path takes what no file can be called for a file that is not there.
        folder = self.root / "challenges" / slug
        return (
            slug in self._uploaded
            or os.path.isfile(folder / MANIFEST)  # noqa: PTH113
            or (os.path.isdir(folder) and slug in self._without_manifest())  # noqa: PTH112
        )

    @property
    def curriculum(self) -> Curriculum:
        """The tracks in their order. Raises ChallengeInvalid naming file and key."""
        return read_curriculum(self._tracks_file)

    @property
    def known_curriculum(self) -> Curriculum:
        """The same, and none where the file is broken."""
        try:
            return self.curriculum
        except ChallengeInvalid:
            return Curriculum(self._tracks_file)

    @property
    def _tracks_file(self) -> Path:
        return self.root / "challenges" / TRACKS

    def all(self) -> list[Challenge]:
        """Every challenge, in the order of ``in_order``. Raises ChallengeInvalid, also for prerequisites that do not
        exist or go in a circle; one challenge alone loads without those that it builds on.
        """
        challenges, wrong = self.valid()
        for problem in [it.error for it in wrong] or self.prerequisite_problems(challenges):
            raise problem
        return challenges

    def in_order(self, challenges: Iterable[Challenge]) -> list[Challenge]:
        """By place of the track in the curriculum, place in the track, and slug."""
        curriculum = self.known_curriculum
        return sorted(
            challenges,
            key=lambda it: (curriculum.place(it.manifest.track), it.manifest.order, it.slug),
        )

    def prerequisite_problems(self, challenges: Sequence[Challenge]) -> list[ChallengeInvalid]:
        """What is wrong with the prerequisites among ``challenges``, which are the whole catalogue."""
        return prerequisite_problems(
            {it.slug: it.manifest.prerequisites for it in challenges},
            {it.slug: it.folder / MANIFEST for it in challenges},
        )


def near(slug: str, known: Sequence[str]) -> str:
    """A hint for a slug that does not exist: the one that was probably meant, else all there are."""
    close = get_close_matches(slug.lower().replace("-", "_"), known, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(known) or 'none'}."


def _lacks_manifest(folder: Path) -> bool:
    try:
        files = [it.name for it in os.scandir(folder) if not it.name.startswith(".") and not it.is_dir()]
    except OSError:
        return True
    return bool(files) and MANIFEST not in files


def find_catalogue(chosen: Path | None = None) -> Catalogue:
    """The chosen catalogue, else the one of this checkout, else the one that came in the wheel.

    Raises ChallengeInvalid where the chosen folder holds no challenges.
    """
    if chosen is not None:
        if not (chosen / "challenges").is_dir():
            raise ChallengeInvalid(
                f"{chosen} has no folder 'challenges'",
                "GRADER_CHALLENGES names a catalogue folder. `grader challenge new NAME` begins one there.",
            )
        return Catalogue(chosen)
    package = Path(__file__).resolve().parent.parent
    for root in (package.parent, package / "catalogue"):
        if (root / "challenges").is_dir() and (root / "reference").is_dir():
            return Catalogue(root)
    raise ChallengeInvalid("no challenges were found", "Set GRADER_CHALLENGES to a catalogue folder.")
