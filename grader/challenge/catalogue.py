from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from grader.challenge import fingerprint
from grader.challenge.chapters import FOLDER, Chapter, read_chapters
from grader.challenge.course_plan import FOLDER as PLANS
from grader.challenge.curriculum import Curriculum, prerequisite_problems, read_curriculum
from grader.challenge.loader import Challenge, read_manifest
from grader.challenge.model import Manifest
from grader.errors import ChallengeInvalid, UnknownChallenge

MANIFEST = "challenge.toml"
TRACKS = "tracks.toml"
_TITLE, _TRACK = (
    re.compile(rf'^\s*{key}\s*=\s*"([^"\n]{{1,100}})"\s*$', re.MULTILINE) for key in ("title", "track")
)
_NO_TRACK = "unavailable"
_MOST_NEAR = 3


@dataclass(frozen=True)
class Broken:
    """``slug`` is "tracks.toml" for that file, "chapters/SLUG" for a chapter. Without a readable manifest,
    ``title`` and ``track`` are the slug and "unavailable".
    """

    slug: str
    title: str
    track: str
    error: ChallengeInvalid

    @property
    def hint(self) -> str:
        is_challenge = self.slug != TRACKS and not self.slug.startswith(f"{FOLDER}/")
        check = f" Then: grader challenge check {self.slug}" if is_challenge else ""
        return f"Fix the file, or restore git's version. {self.error.hint}".strip() + check


class UploadedFolders(Protocol):
    def roots(self) -> Mapping[str, Path]:
        """By slug, a folder on this host that holds ``challenges/SLUG`` and ``reference/SLUG``."""


@dataclass(frozen=True)
class Catalogue:
    """``challenges/`` and ``reference/``, and a platform's uploads, which replace folders of the same name."""

    root: Path
    uploads: UploadedFolders | None = field(default=None, compare=False)
    #: Errors name the folder: whoever reads them chose it.
    on_this_machine: bool = field(default=False, compare=False)

    def slugs(self) -> list[str]:
        folder = self.root / "challenges"
        return sorted({path.parent.name for path in folder.glob(f"*/{MANIFEST}")} | set(self._uploaded))

    @property
    def _uploaded(self) -> Mapping[str, Path]:
        return self.uploads.roots() if self.uploads is not None else {}

    def root_of(self, slug: str) -> Path:
        return self._uploaded.get(slug, self.root)

    def is_uploaded(self, slug: str) -> bool:
        return slug in self._uploaded

    def has_folder(self, slug: str) -> bool:
        return (self.root / "challenges" / slug / MANIFEST).is_file()

    def check_track(self, slug: str, manifest: Manifest) -> None:
        """Raises ChallengeInvalid."""
        self.known_curriculum.check_track(Path(f"challenges/{slug}/{MANIFEST}"), manifest.track)

    def folders(self) -> list[str]:
        """Includes those that do not load."""
        return sorted({*self.slugs(), *self._without_manifest()})

    def _without_manifest(self) -> list[str]:
        """Without a manifest (moved, misspelt or never copied), or unreadable."""
        folders = [
            folder
            for folder in (self.root / "challenges").glob("[!._]*")
            if folder.is_dir() and folder.name not in (FOLDER, PLANS)
        ]
        return sorted(
            folder.name for folder in folders if not self.is_uploaded(folder.name) and _lacks_manifest(folder)
        )

    def load(self, slug: str) -> Challenge:
        """Ignores a broken tracks.toml. Raises UnknownChallenge, or ChallengeInvalid with file and key."""
        if not self._has(slug):
            where = f" in {self.root / 'challenges'}" if self.on_this_machine else ""
            raise UnknownChallenge(f"There is no challenge '{slug}'{where}.", near(slug, self.slugs()))
        return self._load(self.root_of(slug), slug, self.known_curriculum)

    def load_at(self, root: Path, slug: str) -> Challenge:
        """As if the challenge were in this course."""
        return self._load(root, slug, self.known_curriculum)

    def _load(self, root: Path, slug: str, curriculum: Curriculum) -> Challenge:
        folder = root / "challenges" / slug
        manifest = read_manifest(folder / MANIFEST)
        curriculum.check_track(folder / MANIFEST, manifest.track)
        return Challenge(slug, manifest, folder, root / "reference" / slug)

    def valid(self) -> tuple[list[Challenge], list[Broken]]:
        """Challenges in order, and those that do not load, perhaps with tracks.toml."""
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
        """Challenges that do not load, or cannot be shown or judged. Cheap if no file changed since the last
        call.
        """
        found, broken = self.valid()
        # A challenge whose prerequisite is broken is not itself broken.
        known = {challenge.slug for challenge in found} | {challenge.slug for challenge in broken}
        for challenge in found:
            try:
                _ = challenge.drawings
                fingerprint.content(challenge)
                if strange := [slug for slug in challenge.manifest.prerequisites if slug not in known]:
                    where = f"{challenge.folder / MANIFEST}: prerequisites"
                    raise ChallengeInvalid(f"{where}: there is no challenge {strange}")
            except ChallengeInvalid as error:
                broken.append(self.describe_broken(challenge.slug, error))
        _, chapters = read_chapters(self.root)
        broken += [Broken(f"{FOLDER}/{slug}", slug, _NO_TRACK, error) for slug, error in chapters.items()]
        return broken

    def describe_broken(self, slug: str, error: ChallengeInvalid) -> Broken:
        try:
            path = self.root_of(slug) / "challenges" / slug / MANIFEST
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        title, track = _TITLE.search(text), _TRACK.search(text)
        return Broken(slug, title[1] if title else slug, track[1] if track else _NO_TRACK, error)

    def _has(self, slug: str) -> bool:
        """Does not list the folder: pages load hundreds of challenges."""
        if slug in ("", "..") or Path(slug).name != slug:
            return False
        # os.path takes impossible file names, which users type, for missing files.
        folder = self.root / "challenges" / slug
        return (
            slug in self._uploaded
            or os.path.isfile(folder / MANIFEST)  # noqa: PTH113
            or (os.path.isdir(folder) and slug in self._without_manifest())  # noqa: PTH112
        )

    @property
    def curriculum(self) -> Curriculum:
        """Raises ChallengeInvalid with file and key."""
        return read_curriculum(self._tracks_file)

    @property
    def known_curriculum(self) -> Curriculum:
        """Empty if the file is broken."""
        try:
            return self.curriculum
        except ChallengeInvalid:
            return Curriculum(self._tracks_file)

    @property
    def _tracks_file(self) -> Path:
        return self.root / "challenges" / TRACKS

    def chapters(self) -> list[Chapter]:
        """Those that can be shown, in order; ``broken`` names the others."""
        return read_chapters(self.root)[0]

    def all(self) -> list[Challenge]:
        """Raises ChallengeInvalid, also for unknown or circular prerequisites, which ``load`` ignores."""
        challenges, wrong = self.valid()
        for problem in [broken.error for broken in wrong] or self.prerequisite_problems(challenges):
            raise problem
        return challenges

    def in_order(self, challenges: Iterable[Challenge]) -> list[Challenge]:
        curriculum = self.known_curriculum
        return sorted(
            challenges,
            key=lambda challenge: (
                curriculum.place(challenge.manifest.track),
                challenge.manifest.order,
                challenge.slug,
            ),
        )

    def prerequisite_problems(self, challenges: Sequence[Challenge]) -> list[ChallengeInvalid]:
        """``challenges`` must be the whole catalogue."""
        return prerequisite_problems(
            {challenge.slug: challenge.manifest.prerequisites for challenge in challenges},
            {challenge.slug: challenge.folder / MANIFEST for challenge in challenges},
        )


def near(slug: str, known: Sequence[str]) -> str:
    """The likely slugs, else all."""
    close = [f"'{each}'" for each in get_close_matches(slug.lower().replace("-", "_"), known, n=_MOST_NEAR)]
    if not close:
        return f"There are: {', '.join(known) or 'none'}."
    *others, last = close
    return f"Did you mean {' or '.join([', '.join(others), last] if others else [last])}?"


def _lacks_manifest(folder: Path) -> bool:
    try:
        files = [
            entry.name
            for entry in os.scandir(folder)
            if not entry.name.startswith(".") and not entry.is_dir()
        ]
    except OSError:
        return True
    return bool(files) and MANIFEST not in files


def find_catalogue(chosen: Path | None = None) -> Catalogue:
    """The chosen catalogue, else this checkout's, else the wheel's. Raises ChallengeInvalid."""
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
