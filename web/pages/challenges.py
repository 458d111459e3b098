from __future__ import annotations

import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field

from flask import Blueprint, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.challenge.own_case import RECIPES
from grader.errors import GraderError
from grader.languages import LANGUAGES
from grader.schemas.challenge import ChallengeDetail
from grader.schemas.diagnostic import DiagnosticList
from grader.schemas.submission import RunBody, SourceBody, SubmitBody
from grader.service.accounts.accounts import User
from grader.service.challenges import catalogue, chapters, publication
from grader.service.platform import Platform
from grader.service.submissions import diagnostics, drafts, formatting, quotas, submissions
from grader.service.submissions import run as running
from grader.service.submissions import submit as submitting
from grader.web import assets, forms, throttle
from grader.web.access import ANYONE, SIGNED_IN, open_to
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages import code, glossary, markdown, own_cases

pages = Blueprint("challenges", __name__)

_REASON = "no device of this server can run it"


@pages.get("/challenges/<slug>")
@open_to(ANYONE)
def show(slug: str) -> str:
    """Spec, signature, cases, and an editor with the viewer's last text, else the starter. Compiler messages of the
    last submission, or of the one that ``from`` names, appear at their lines."""
    challenge = catalogue.get_challenge(platform(), slug, viewer())
    return _page(_workspace(challenge), None)


@pages.post("/challenges/<slug>")
@open_to(SIGNED_IN)
@throttle.editor_limit
def submit(slug: str) -> Response | tuple[str, int]:
    """Submit or run the editor's text. A refused source comes back in the editor, with the reason."""
    user = current_user()
    challenge = catalogue.get_challenge(platform(), slug, viewer())
    language = request.form.get("language", "")
    sources = {name: request.form.get(f"source-{name}", text) for name, text in challenge.starters.items()}
    try:
        sent = SourceBody(
            challenge=slug,
            language=language,
            source=_unix_lines(sources.get(language, "")),
            filename=f"{slug}{LANGUAGES[language].suffix}" if language in LANGUAGES else "solution",
            device=request.form.get("device") or None,
        )
        action = request.form.get("action")
        if action in throttle.RUNS:
            own = own_cases.asked(challenge) if action == "run-case" else None
            # No key: after a double click the newest run counts.
            view = running.run(platform(), user, RunBody(**sent.model_dump(), case=own))
        else:
            body = SubmitBody(
                **sent.model_dump(),
                competition=request.form.get("competition") or None,
                reuse=forms.ticked("reuse"),
            )
            view = submitting.submit(platform(), user, body, _key(body))
    except GraderError as error:
        return _page(Workspace(challenge, sources, language), error), error.status
    reused = "1" if view.reused else None
    return redirect(url_for("submissions.show", submission=view.id, reused=reused), 303)


def _workspace(challenge: ChallengeDetail) -> Workspace:
    user = viewer()
    if user is None:
        return empty(challenge)
    return of_user(platform(), user, challenge, request.args.get("from"))


def _page(workspace: Workspace, error: GraderError | None) -> str:
    challenge, user = workspace.challenge, viewer()
    g.style_nonce = secrets.token_urlsafe(16)
    return render_template(
        "challenge.html",
        challenge=challenge,
        spec=markdown.with_drawings(
            markdown.without_title(challenge.spec, challenge.title), challenge.drawings, glossary.spec
        ),
        sources=workspace.sources,
        kept=workspace.kept,
        said=workspace.said,
        chosen=workspace.language,
        reasons={name: "" if name in challenge.served else _REASON for name in challenge.languages},
        devices=platform().settings.device_list,
        nonce=secrets.token_urlsafe(16),
        style_nonce=g.style_nonce,
        bundle=assets.built("editor.js"),
        formats=" ".join(name for name in challenge.languages if formatting.can_format(name)) if user else "",
        words=assets.built("triton.json"),
        arguments=json.dumps([argument.model_dump(mode="json") for argument in challenge.arguments]),
        vim=user is not None and user.preferences.vim,
        error=error,
        can_run=True,
        recipes=RECIPES,
        card_tools=own_cases.card_tools(platform().settings.device_list),
        own_chars=own_cases.FIELD_CHARS,
        mark=code.inline,
        prerequisites=catalogue.titles(platform(), challenge.prerequisites, user),
        chapters=chapters.explaining(platform(), [challenge.slug]),
        state=publication.mark_of(platform(), user, challenge.slug),
        assigned=quotas.get_quotas(platform(), user, challenge.slug).assignments if user else [],
    )


def _unix_lines(source: str) -> str:
    """CRLF would change compilers' columns."""
    return source.replace("\r\n", "\n")


def _key(body: SubmitBody) -> str | None:
    """Double clicks are harmless, and edited text after Back is new."""
    nonce = request.form.get("nonce", "")[:64]
    if not nonce:
        return None
    identity = f"{nonce}\0{body.language}\0{body.device}\0{body.source}"
    return "form-" + hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Workspace:
    """``sources`` by language, ``language`` first. ``kept``: drafts' ``updated_at``."""

    challenge: ChallengeDetail
    sources: dict[str, str]
    language: str
    kept: dict[str, str] = field(default_factory=dict)
    said: DiagnosticList | None = None


def empty(challenge: ChallengeDetail) -> Workspace:
    first = str(next(iter(challenge.served), challenge.languages[0]))
    return Workspace(challenge, dict(challenge.starters), first)


def of_user(platform: Platform, user: User, challenge: ChallengeDetail, submission: str | None) -> Workspace:
    """With messages on ``submission``, else the last one."""
    workspace = empty(challenge)
    own = drafts.of_challenge(platform, user, challenge.slug)
    said = _said(platform, user, challenge.slug, submission)
    latest = max(own.values(), key=lambda draft: draft.updated_at, default=None)
    language = (
        said.language if said is not None else latest.language if latest is not None else workspace.language
    )
    return Workspace(
        challenge,
        workspace.sources
        | {str(name): draft.source for name, draft in own.items() if name in workspace.sources},
        language if language in challenge.served else workspace.language,
        {str(name): draft.model_dump(mode="json")["updated_at"] for name, draft in own.items()},
        said,
    )


def _said(platform: Platform, user: User, slug: str, submission: str | None) -> DiagnosticList | None:
    if submission is not None:
        # An old or invented address still opens the editor.
        with suppress(GraderError):
            if submissions.get_submission(platform, user, submission).challenge == slug:
                return diagnostics.of_submission(platform, user, submission)
    return diagnostics.latest(platform, user, slug)
