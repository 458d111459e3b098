"""One challenge with its editor. The list of all is in ``home``."""

from __future__ import annotations

import hashlib
import secrets

from flask import Blueprint, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import GraderError
from grader.languages import LANGUAGES
from grader.schemas.challenge import ChallengeDetail
from grader.schemas.submission import SubmitBody
from grader.service import catalogue
from grader.service import run as running
from grader.service import submit as submitting
from grader.web import assets, forms, throttle
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages import code, markdown, workspace

pages = Blueprint("challenges", __name__)

_REASON = "no device of this server can run it"


@pages.get("/challenges/<slug>")
def show(slug: str) -> str:
    """Spec, signature, cases, and an editor that holds what the viewer had in it last, else the starter. What the
    compiler said of the last submission, or of the one that ``from`` names, stands at its lines.
    """
    challenge = catalogue.get_challenge(platform(), slug)
    return _page(_workspace(challenge), None)


@pages.post("/challenges/<slug>")
@throttle.editor_limit
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
            filename=f"{slug}{LANGUAGES[language].suffix}" if language in LANGUAGES else "solution",
            device=request.form.get("device") or None,
            reuse=forms.ticked("reuse"),
        )
        if request.form.get("action") == "run":
            # Without a key: pressed twice, the newest run is the one that counts.
            view = running.run(platform(), user, body)
        else:
            view = submitting.submit(platform(), user, body, _key(body))
    except GraderError as error:
        return _page(workspace.Workspace(challenge, sources, language), error), error.status
    reused = "1" if view.reused else None
    return redirect(url_for("submissions.show", submission=view.id, reused=reused), 303)


def _workspace(challenge: ChallengeDetail) -> workspace.Workspace:
    user = viewer()
    if user is None:
        return workspace.empty(challenge)
    return workspace.of_user(platform(), user, challenge, request.args.get("from"))


def _page(workspace: workspace.Workspace, error: GraderError | None) -> str:
    challenge, user = workspace.challenge, viewer()
    g.style_nonce = secrets.token_urlsafe(16)
    return render_template(
        "challenge.html",
        challenge=challenge,
        spec=markdown.render(markdown.without_title(challenge.spec, challenge.title)),
        sources=workspace.sources,
        kept=workspace.kept,
        said=workspace.said,
        chosen=workspace.language,
        reasons={name: "" if name in challenge.served else _REASON for name in challenge.languages},
        devices=platform().settings.device_list,
        nonce=secrets.token_urlsafe(16),
        style_nonce=g.style_nonce,
        bundle=assets.built("editor.js"),
        vim=user is not None and user.preferences.vim,
        error=error,
        can_run=True,
        mark=code.inline,
        prerequisites=catalogue.titles(platform(), challenge.prerequisites),
    )


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
