from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StrictBool, field_validator

from grader import limits
from grader.oidc_settings import check_endpoint
from grader.schemas.strict import Strict

_ID = Annotated[str, Field(min_length=1, max_length=limits.SUBJECT_CHARS)]
_HOST = Annotated[str, Field(min_length=1, max_length=limits.EMAIL_CHARS, pattern=r"^[a-zA-Z0-9.:\-\[\]]+$")]
_URL = Annotated[str, Field(max_length=limits.URL_CHARS)]
# Issuer and client id together name people's identities.
_ISSUER_CHARS = 250


class PlatformKind(StrEnum):
    """For Canvas and Moodle, the site's URL determines all others."""

    CANVAS = "canvas"
    MOODLE = "moodle"
    OTHER = "other"


class Teachers(StrEnum):
    """The role here of a platform's instructors."""

    INSTRUCTOR = "instructor"
    ASSISTANT = "assistant"
    NOTHING = "nothing"


class LtiScoreState(StrEnum):
    """``pending``: to be sent, perhaps again; ``sent``: the platform has it; ``failed``: not retried automatically."""

    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"


class LtiPlatformBody(Strict):
    """For Canvas and Moodle ``site`` is enough; others need issuer and URLs."""

    name: str = Field(min_length=1, max_length=limits.NAME_CHARS)
    kind: PlatformKind = PlatformKind.OTHER
    site: _URL = ""
    client_id: _ID
    deployments: list[_ID] = Field(default_factory=list, max_length=limits.LTI_ENTRIES)
    issuer: str = Field(default="", max_length=_ISSUER_CHARS)
    auth_url: _URL = ""
    token_url: _URL = ""
    jwks_url: _URL = ""
    token_audience: _URL = ""
    hosts: list[_HOST] = Field(default_factory=list, max_length=limits.LTI_ENTRIES)
    accounts: Literal["none", "roster", "anyone"] = Field(
        default="anyone",
        description="who gets an account: nobody, people on a roster (with trust_email), or all of a linked course",
    )
    trust_email: StrictBool = False

    @field_validator("site", "issuer", "auth_url", "token_url", "jwks_url")
    @classmethod
    def _over_tls(cls, value: str) -> str:
        return check_endpoint(value) if value else value


class LtiPlatformChange(Strict):
    """Omitted fields stay unchanged."""

    name: str | None = Field(default=None, min_length=1, max_length=limits.NAME_CHARS)
    deployments: list[_ID] | None = Field(default=None, max_length=limits.LTI_ENTRIES)
    hosts: list[_HOST] | None = Field(default=None, max_length=limits.LTI_ENTRIES)
    accounts: Literal["none", "roster", "anyone"] | None = None
    trust_email: StrictBool | None = None


class LtiPlatformView(Strict):
    id: int
    name: str
    issuer: str
    client_id: str
    deployments: list[str]
    auth_url: str
    token_url: str
    jwks_url: str
    token_audience: str
    hosts: list[str]
    accounts: Literal["none", "roster", "anyone"]
    trust_email: bool
    courses: int
    created_at: datetime


class LtiTool(Strict):
    """URLs for the learning platform."""

    login_url: str
    launch_url: str
    select_url: str
    jwks_url: str
    canvas_url: str


class LtiPlatformList(Strict):
    tool: LtiTool
    platforms: list[LtiPlatformView]


class LtiScoreView(Strict):
    """A student's grade for a link."""

    student: str
    full_name: str
    points: float
    most: float
    state: LtiScoreState
    tries: int
    error: str = Field(description="why the platform refused it")
    changed_at: datetime
    next_at: datetime | None = Field(default=None, description="when it is tried again")
    sent_points: float | None = None
    sent_at: datetime | None = None


class LtiLinkView(Strict):
    id: int
    assignment: str
    title: str
    graded: bool
    why_not: str
    released_at: datetime | None = None
    scores: list[LtiScoreView] = Field(default_factory=list)
    unknown: list[str] = Field(
        default_factory=list,
        description="students whom the platform never signed in here, so it cannot get their grades",
    )


class LtiContextView(Strict):
    id: int
    platform: str
    title: str
    teachers: Teachers
    linked_by: str | None = None
    created_at: datetime
    links: list[LtiLinkView]


class LtiCourse(Strict):
    """A course's links with learning platforms."""

    course: str
    contexts: list[LtiContextView]


class LtiReleaseBody(Strict):
    """Starts or stops sending the grades of a link."""

    released: StrictBool = Field(description="true: send each change from now on")


class LtiSendBody(Strict):
    """Sends failed grades again."""

    student: str | None = Field(
        default=None, max_length=limits.NAME_CHARS, description="null: of all students"
    )
