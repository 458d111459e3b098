"""Challenges of the server, or of this machine's catalogue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import login, names
from grader.cli.client import Client, connect, segment, understood
from grader.cli.terminal import say
from grader.errors import BadRequest, Unreachable
from grader.schemas.challenge import ChallengeDetail, ChallengeList

if TYPE_CHECKING:
    from grader.challenge.catalogue import Catalogue
    from grader.challenge.loader import Challenge

# People add _v2 or _3 for another attempt.
_VERSION = re.compile(r"_v?\d+$")
# A starting shell waits for the names.
_AT_ONCE_SECONDS = 2.0


def local_catalogue(beginning: bool = False) -> Catalogue:
    """GRADER_CHALLENGES, else the checkout's, else the installation's. ``beginning``: it may be empty."""
    import os

    from grader.challenge.catalogue import Catalogue, find_catalogue

    chosen = os.environ.get("GRADER_CHALLENGES")
    folder = Path(chosen) if chosen else None
    found = Catalogue(folder) if beginning and folder else find_catalogue(folder)
    return replace(found, on_this_machine=True)


def all_challenges(local: bool) -> ChallengeList:
    """Raises Unreachable."""
    if not local:
        try:
            return _keep_names(understood(ChallengeList, connect().get("/challenges")))
        except Unreachable as error:
            _fall_back(error)
    from grader.challenge import views

    here = local_catalogue()
    return views.listing(here, here.all())


def one(slug: str, local: bool) -> ChallengeDetail:
    if not local:
        try:
            return understood(ChallengeDetail, connect().get(f"/challenges/{segment(slug)}"))
        except Unreachable as error:
            _fall_back(error)
    from grader.challenge import views

    challenge: Challenge = local_catalogue().load(slug)
    return views.detail(challenge)


def challenge_of(file: Path, chosen: str | None, local: bool) -> str:
    """The chosen slug, else the file name's (``vector_add_v2.cu``). Raises BadRequest for a name that only
    begins like a slug: an attempt for another challenge would count.
    """
    if chosen is not None:
        return chosen
    from grader.challenge.catalogue import near

    slugs = (
        local_catalogue().slugs()
        if local
        else [challenge.slug for challenge in all_challenges(local=False).challenges]
    )
    stem = file.stem.lower().replace("-", "_").replace(" ", "_").replace(".", "_")
    slug = stem if stem in slugs else _VERSION.sub("", stem)
    if slug not in slugs:
        raise BadRequest(
            f"'{file.name}' does not name a challenge.", f"Name one with -c SLUG. {near(slug, slugs)}"
        )
    say(f"Using challenge {slug} (from the file's name).", "dim")
    return slug


def refresh_names() -> None:
    """For completion. Raises GraderError if the server does not answer at once."""
    client = Client(login.server(), login.token(), seconds=_AT_ONCE_SECONDS)
    _keep_names(understood(ChallengeList, client.get("/challenges")))


def _keep_names(found: ChallengeList) -> ChallengeList:
    names.keep(names.CHALLENGES, [challenge.slug for challenge in found.challenges])
    return found


def _fall_back(error: Unreachable) -> None:
    if login.chosen_server() is not None:
        raise Unreachable(
            error.message, f"{error.hint} --local reads the catalogue on this machine."
        ) from error
    say("No server chosen and none runs here: using the catalogue on this machine.", "dim")
