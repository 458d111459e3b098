from __future__ import annotations

from typing import Any

from flask import Blueprint, Flask, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import NotFound
from grader.schemas.notice import WORDS, NoticeChoice, NoticeChoicesBody, NoticeKind, NoticesRead
from grader.service.messages import digests, notices
from grader.web import forms
from grader.web.access import ANYONE, OWNER, SIGNED_IN, open_to
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages.keys import private, shown_key

pages = Blueprint("notices", __name__)

_PAGE = 50


def init_app(app: Flask) -> None:
    app.context_processor(_for_templates)


def _for_templates() -> dict[str, Any]:
    user = viewer()
    return {"unread_notices": lambda: notices.unread(platform(), user) if user is not None else 0}


@pages.get("/notices")
@open_to(SIGNED_IN)
def index() -> str:
    """Your notices, newest first, and which kinds you get."""
    user = current_user()
    older_than = request.args.get("older_than", type=int)
    found = notices.list_notices(platform(), user, _PAGE + 1, older_than)
    shown = found.notices[:_PAGE]
    return render_template(
        "notices.html",
        notices=shown,
        unread=found.unread,
        older_than=older_than,
        further=shown[-1].id if len(found.notices) > _PAGE else None,
        chosen=notices.choices(platform(), user),
        words=WORDS,
        saved=request.args.get("saved") == "1",
    )


@pages.get("/notices/<int:number>")
@open_to(OWNER)
def follow(number: int) -> Response:
    """Open the page that a notice is about, and mark it as read."""
    user = current_user()
    found = notices.list_notices(platform(), user, 1, min(number, 2**31 - 2) + 1).notices
    if not found or found[0].id != number:
        raise NotFound(f"You have no notice {number}.", "It may be too old.")
    notices.mark_read(platform(), user, NoticesRead(ids=[number]))
    return redirect(found[0].path, 303)


@pages.get("/notices/unsubscribe")
@open_to(ANYONE)
def offer_unsubscribe() -> Response:
    """The page of a mail's unsubscribe link. Opening it changes nothing: mail programs open links, too."""
    key = shown_key()
    found = digests.preview_unsubscribe(platform(), key)
    return private((render_template("unsubscribe.html", found=found, key=key, done=False, words=WORDS), 200))


@pages.post("/notices/unsubscribe")
@open_to(ANYONE)
def unsubscribe() -> Response:
    """Turn mail off; works without signing in."""
    found = digests.unsubscribe(platform(), shown_key())
    return private((render_template("unsubscribe.html", found=found, key="", done=True, words=WORDS), 200))


@pages.post("/notices/read")
@open_to(SIGNED_IN)
def read_all() -> Response:
    """Mark all notices as read."""
    notices.mark_read(platform(), current_user(), NoticesRead())
    return redirect(url_for("notices.index"), 303)


@pages.post("/notices/choices")
@open_to(SIGNED_IN)
def choose() -> Response:
    """Turn kinds of notices on and off. Browsers do not send unticked boxes."""
    chosen = [
        NoticeChoice(kind=kind, site=forms.ticked(f"{kind}-site"), mail=forms.ticked(f"{kind}-mail"))
        for kind in NoticeKind
    ]
    notices.choose(platform(), current_user(), NoticeChoicesBody(choices=chosen))
    return redirect(url_for("notices.index", saved=1), 303)
