"""The list of challenges, and one challenge with its editor."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from itertools import groupby

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import GraderError
from grader.schemas.challenge import ChallengeDetail, ChallengeSummary
from grader.schemas.progress import TrackProgress
from grader.schemas.report import Language
from grader.schemas.submission import SubmitBody
from grader.service import catalogue
from grader.service import submit as submitting
from grader.service.progress import progress
from grader.web import throttle
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages import code, markdown

pages = Blueprint("challenges", __name__)

_REASON = "no device of this server can run it"


@dataclass(frozen=True)
class Track:
    """``progress`` is the viewer's own; none where nobody is signed in."""

    title: str
    description: str
    challenges: list[ChallengeSummary]
    progress: TrackProgress | None


@pages.get("/")
def index() -> str:
    """Every challenge by track, with marks on what the viewer has solved."""
    found = catalogue.list_challenges(platform())
    user = viewer()
    mine = progress(platform(), user) if user is not None else None
    about = {track.title: track.description for track in found.tracks}
    done = {track.title: track for track in mine.tracks} if mine is not None else {}
    tracks = [
        Track(title, about.get(title, ""), list(members), done.get(title))
        for title, members in groupby(found.challenges, key=lambda each: each.track)
    ]
    lines = {line.slug: line for track in done.values() for line in track.challenges}
    return render_template("challenges.html", tracks=tracks, progress=mine, lines=lines)


@pages.get("/challenges/<slug>")
def show(slug: str) -> str:
    """Spec, signature, cases, and an editor that holds the starter."""
    challenge = catalogue.get_challenge(platform(), slug)
    return _page(challenge, dict(challenge.starters), _first_served(challenge), None)


@pages.post("/challenges/<slug>")
@throttle.submit_limit
def submit(slug: str) -> Response | tuple[str, int]:
    """Hand in what the editor holds. A refused source comes back in the editor, with the reason."""
    user = current_user()
    challenge = catalogue.get_challenge(platform(), slug)
    language = request.form.get("language", "")
    sources = {name: request.form.get(f"source-{name}", text) for name, text in challenge.starters.items()}
    try:
        body = SubmitBody(
            challenge=slug,
            language=language,
            source=_unix_lines(sources.get(language, "")),
            filename=f"{slug}{Language(language).suffix}" if language in set(Language) else "solution",
            device=request.form.get("device") or None,
            reuse=request.form.get("reuse") == "1",
        )
        view = submitting.submit(platform(), user, body, _key(body))
    except GraderError as error:
        return _page(challenge, sources, language, error), error.status
    reused = "1" if view.reused else None
    return redirect(url_for("submissions.show", submission=view.id, reused=reused), 303)


def _page(challenge: ChallengeDetail, sources: dict[str, str], chosen: str, error: GraderError | None) -> str:
    return render_template(
        "challenge.html",
        challenge=challenge,
        spec=markdown.render(markdown.without_title(challenge.spec, challenge.title)),
        sources=sources,
        chosen=chosen,
        reasons={name: "" if name in challenge.served else _REASON for name in challenge.languages},
        devices=platform().settings.device_list,
        nonce=secrets.token_urlsafe(16),
        error=error,
        mark=code.inline,
        prerequisites=catalogue.titles(platform(), challenge.prerequisites),
    )


def _first_served(challenge: ChallengeDetail) -> str:
    return str(next(iter(challenge.served), challenge.languages[0]))


def _unix_lines(source: str) -> str:
    """Forms send CRLF whatever was typed; compilers' columns and a copied-out source should not show it."""
    return source.replace("\r\n", "\n")


def _key(body: SubmitBody) -> str | None:
    """One form, one text, one submission: a double click is harmless, and an edited text after Back is a new one."""
    nonce = request.form.get("nonce", "")[:64]
    if not nonce:
        return None
    told = f"{nonce}\0{body.language}\0{body.device}\0{body.source}"
    return "form-" + hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
