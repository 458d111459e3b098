from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.portfolio import Portfolio
from grader.service.boards import portfolio_pdf, portfolio_text
from grader.service.boards.portfolio import portfolio
from grader.web import throttle
from grader.web.access import SIGNED_IN, open_to
from grader.web.answers import answer, file_answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("portfolio", "Your kernels as one document")


def _file(kind: str, about: str) -> dict[str | int | HTTPStatus, type[BaseModel] | dict[Any, Any] | None]:
    return {200: {"description": about, "content": {kind: {}}}}


class PortfolioQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    submission: list[str] = Field(
        default_factory=list,
        max_length=limits.PORTFOLIO_SUBMISSIONS,
        description="an accepted submission of yours; may be repeated. Default: your best for each challenge",
    )


@api.get("/me/portfolio", responses={200: Portfolio})
@open_to(SIGNED_IN)
@throttle.costly_limit
def get_portfolio(query: PortfolioQuery) -> Response:
    """Your accepted kernels: source, time, speedup, rank and note of each. Withdrawn ones only if you name them."""
    return answer(_asked(query))


@api.get("/me/portfolio.md", responses=_file("text/markdown", "the same as Markdown"))
@open_to(SIGNED_IN)
@throttle.costly_limit
def get_markdown(query: PortfolioQuery) -> Response:
    """Your portfolio as Markdown."""
    text = portfolio_text.markdown(_asked(query))
    return file_answer(text.encode(), "text/markdown", "portfolio.md")


@api.get("/me/portfolio.pdf", responses=_file("application/pdf", "the same as PDF"))
@open_to(SIGNED_IN)
@throttle.costly_limit
def get_pdf(query: PortfolioQuery) -> Response:
    """Your portfolio as PDF. 400 if this server has no library for that."""
    return file_answer(portfolio_pdf.pdf(_asked(query)), "application/pdf", "portfolio.pdf")


def _asked(query: PortfolioQuery) -> Portfolio:
    return portfolio(platform(), current_user(), query.submission)
