from __future__ import annotations

from flask import Blueprint, Response, render_template, request

from grader.schemas.portfolio import Portfolio
from grader.service.boards import portfolio as kernels
from grader.service.boards import portfolio_pdf, portfolio_text
from grader.web import throttle
from grader.web.access import SIGNED_IN, open_to
from grader.web.answers import file_answer
from grader.web.auth.identity import current_user
from grader.web.current import platform

pages = Blueprint("portfolio", __name__)


@pages.get("/account/portfolio")
@open_to(SIGNED_IN)
def show() -> str:
    """Your best accepted kernel for each challenge, to choose from and download."""
    found = kernels.portfolio(platform(), current_user())
    return render_template("portfolio.html", found=found, writes_pdf=portfolio_pdf.can_write())


@pages.get("/account/portfolio.md")
@open_to(SIGNED_IN)
@throttle.costly_limit
def markdown() -> Response:
    """Your portfolio as Markdown."""
    return file_answer(portfolio_text.markdown(_chosen()).encode(), "text/markdown", "portfolio.md")


@pages.get("/account/portfolio.pdf")
@open_to(SIGNED_IN)
@throttle.costly_limit
def pdf() -> Response:
    """Your portfolio as PDF."""
    return file_answer(portfolio_pdf.pdf(_chosen()), "application/pdf", "portfolio.pdf")


def _chosen() -> Portfolio:
    return kernels.portfolio(platform(), current_user(), request.args.getlist("submission"))
